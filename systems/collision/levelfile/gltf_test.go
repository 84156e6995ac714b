package levelfile

import (
	"encoding/binary"
	"testing"
	"testing/fstest"

	"github.com/gaitnet/gait/systems/collision"
	"github.com/qmuntal/gltf"
	"github.com/stretchr/testify/require"
)

// builtQuad is quad by hand.
func builtQuad(t *testing.T) *collision.Level {
	t.Helper()
	b := collision.NewBuilder()
	b.Quad(vec{-100, -100, 0}, vec{100, -100, 0}, vec{100, 100, 0}, vec{-100, 100, 0})
	l, err := b.Build()
	require.NoError(t, err)
	return l
}

func TestMetresWithYUpBecomeCentimetresWithZUp(t *testing.T) {
	l, _ := load(t, text(floats(1, 2, 3, 4, 2, 3, 1, 2, -5), oneTriangle))
	require.Equal(t, [][3]vec{{{100, -300, 200}, {400, -300, 200}, {100, 500, 200}}}, corners(l))
}

func TestAllFormatsOfOneLevelHaveItsHash(t *testing.T) {
	want := builtQuad(t).Hash()
	l, r := load(t, encode(t, quad(), true))
	require.Equal(t, want, l.Hash())
	require.Equal(t, GLB, r.Format)
	l, r = load(t, encode(t, quad(), false))
	require.Equal(t, want, l.Hash())
	require.Equal(t, GLTF, r.Format)
	l, r = load(t, []byte("v -1 0 1\nv 1 0 1\nv 1 0 -1\nv -1 0 -1\nf 1 2 3 4\n"))
	require.Equal(t, want, l.Hash())
	require.Equal(t, OBJ, r.Format)
}

func TestBufferBesideTheLevelIsRead(t *testing.T) {
	d := quad()
	bytes := d.Buffers[0].Data
	d.Buffers[0].URI, d.Buffers[0].Data = "sub/some%20bytes.bin", nil
	data := encode2(t, d)
	l, r, err := Parse("", data, Options{FS: fstest.MapFS{"sub/some bytes.bin": {Data: append(bytes, 1, 2, 3)}}})
	require.NoError(t, err)
	require.Equal(t, builtQuad(t).Hash(), l.Hash())
	require.Equal(t, []string{"sub/some bytes.bin"}, r.External)

	require.Equal(t, `node 0, mesh 0, primitive 0: buffer 0: it is in the file "sub/some bytes.bin", and files beside the level are not read here`,
		refusal(t, data, Options{}))
	require.Contains(t, refusal(t, data, Options{FS: fstest.MapFS{}}), "buffer 0: open sub/some bytes.bin: file does not exist")
	short := fstest.MapFS{"sub/some bytes.bin": {Data: bytes[:20]}}
	require.Contains(t, refusal(t, data, Options{FS: short}), "buffer 0: it has 20 bytes, byteLength is 60")
	require.Contains(t, refusal(t, data, Options{FS: short, MaxExternal: 50}), "the level has more than 50 bytes")
	for _, uri := range []string{"../up.bin", "/etc/passwd", "http://host/a.bin", "file:///a", `..\up.bin`, "a/../../b"} {
		d.Buffers[0].URI = uri
		require.Regexp(t, "leads out of the level's directory|is no relative path", refusal(t, encode2(t, d), Options{FS: short}), uri)
	}
}

func TestListsStripsAndFansOfEveryWidthAreOneSurface(t *testing.T) {
	want := builtQuad(t)
	modes := map[int][]byte{4: {0, 1, 2, 0, 2, 3}, 5: {3, 0, 2, 1}, 6: {0, 1, 2, 3}}
	for mode, list := range modes {
		for _, width := range []int{1, 2, 4} {
			buf := floats(-1, 0, 1, 1, 0, 1, 1, 0, -1, -1, 0, -1)
			for _, i := range list {
				var w [4]byte
				binary.LittleEndian.PutUint32(w[:], uint32(i))
				buf = append(buf, w[:width]...)
			}
			l, r := load(t, text(buf, replace(t, `"bufferViews":[{"buffer":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":LEN}],
"accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},{"bufferView":1,"componentType":WIDTH,"count":COUNT,"type":"SCALAR"}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1,"mode":MODE}]}],"nodes":[{"mesh":0}]`,
				"LEN", len(list)*width, "WIDTH", map[int]int{1: 5121, 2: 5123, 4: 5125}[width], "COUNT", len(list), "MODE", mode)))
			require.Equal(t, 2, r.Given, "mode %d, width %d", mode, width)
			lo, hi := l.Bounds()
			wantLo, wantHi := want.Bounds()
			require.Equal(t, []vec{wantLo, wantHi}, []vec{lo, hi})
			for _, c := range corners(l) { // every one is wound the same way
				area := (c[1][0]-c[0][0])*(c[2][1]-c[0][1]) - (c[1][1]-c[0][1])*(c[2][0]-c[0][0])
				require.Equal(t, 40000.0, area, "mode %d", mode)
			}
		}
	}
}

func TestCornersWithoutIndicesAndWithAStride(t *testing.T) {
	buf := floats(9, 0, 0, 0, 9, 9, 1, 0, 0, 9, 9, 0, 0, -1)
	l, _ := load(t, text(buf, `"bufferViews":[{"buffer":0,"byteOffset":4,"byteLength":52,"byteStride":20}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"nodes":[{"mesh":0}]`))
	require.Equal(t, [][3]vec{{{0, 0, 0}, {100, 0, 0}, {0, 100, 0}}}, corners(l))
}

func TestTransformsOfNodesMultiply(t *testing.T) {
	d := quad()
	// Seen from the inside: scaled, a quarter turn about the vertical, moved; the
	// outer one a matrix that moves by 10 m along x.
	d.Nodes[0].Scale = [3]float64{2, 1, 0.5}
	d.Nodes[0].Rotation = [4]float64{0, 0.7071068, 0, 0.7071068}
	d.Nodes[0].Translation = [3]float64{1, 2, 3}
	d.Nodes = append(d.Nodes, &gltf.Node{Children: []int{0}, Matrix: [16]float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 10, 0, 0, 1}})
	d.Scenes[0].Nodes = []int{1}
	l, _ := loadDoc(t, d)
	lo, hi := l.Bounds()
	require.Equal(t, vec{1100 - 50, -300 - 200, 200}, lo, "a quarter turn is exact")
	require.Equal(t, vec{1100 + 50, -300 + 200, 200}, hi)
	a, b, c, _ := l.Triangle(0)
	require.Positive(t, (b[0]-a[0])*(c[1]-a[1])-(b[1]-a[1])*(c[0]-a[0]), "its front is above")
}

func TestRotationTurnsTheWayThatGLTFSays(t *testing.T) {
	// A quarter turn about +y takes +z to +x, about +x takes +y to +z, about +z +x to +y.
	for _, c := range []struct{ quaternion, from, to string }{
		{"0,0.5,0,0.5", "0,0,1", "1,0,0"}, {"0.5,0,0,0.5", "0,1,0", "0,0,1"}, {"0,0,0.5,0.5", "1,0,0", "0,1,0"},
	} {
		var q [4]float64
		var from, to vec
		scan(t, c.quaternion, q[:])
		scan(t, c.from, from[:])
		scan(t, c.to, to[:])
		for i := range q {
			q[i] *= 1.4142
		}
		m, err := local(&gltf.Node{Rotation: q, Scale: [3]float64{1, 1, 1}}, &rawNode{}, nil)
		require.NoError(t, err)
		require.Equal(t, to, m.apply(from), c.quaternion)
	}
}

func TestMirroredMeshKeepsItsFront(t *testing.T) {
	d := quad()
	d.Nodes[0].Scale = [3]float64{-1, 1, 1}
	l, _ := loadDoc(t, d)
	for _, c := range corners(l) {
		require.Positive(t, (c[1][0]-c[0][0])*(c[2][1]-c[0][1])-(c[1][1]-c[0][1])*(c[2][0]-c[0][0]))
	}
}

func TestOneMeshStandsAtEveryNodeAndPrimitivesAdd(t *testing.T) {
	d := quad()
	d.Meshes[0].Primitives = append(d.Meshes[0].Primitives, &gltf.Primitive{
		Attributes: d.Meshes[0].Primitives[0].Attributes, Mode: gltf.PrimitiveTriangleStrip,
	}, &gltf.Primitive{Attributes: d.Meshes[0].Primitives[0].Attributes, Mode: gltf.PrimitiveLines})
	d.Nodes = append(d.Nodes, &gltf.Node{Mesh: gltf.Index(0), Translation: [3]float64{0, 5, 0}})
	d.Scenes[0].Nodes = []int{0, 1}
	l, r := loadDoc(t, d)
	require.Equal(t, 8, r.Given)
	require.Equal(t, 2, r.Skipped)
	_, hi := l.Bounds()
	require.Equal(t, 500.0, hi[2])
}

func TestDegenerateTrianglesAreCountedAndDropped(t *testing.T) {
	l, r := loadDoc(t, doc(quadVerts, []uint16{0, 1, 2, 0, 2, 3, 1, 1, 2, 0, 2, 1}))
	require.Equal(t, 2, l.NumTriangles())
	require.Equal(t, 4, r.Given)
	require.Equal(t, 1, r.Stats.Degenerate)
	require.Equal(t, 1, r.Stats.Doubled)
	require.Equal(t, "glb, 2 triangles, 1 degenerate dropped, 1 doubled dropped", r.String())
	require.Equal(t, "all of its 1 triangles are degenerate", refusal(t, encode(t, doc(quadVerts, []uint16{0, 1, 1}), true), Options{}))
}

func TestQuantizedPositionsAreReadWhereTheFileSaysSo(t *testing.T) {
	var buf []byte
	for _, x := range []int16{0, 0, 0, 0, 32767, 0, 0, 0, 0, 0, -32768, 0} {
		buf = binary.LittleEndian.AppendUint16(buf, uint16(x))
	}
	rest := `"bufferViews":[{"buffer":0,"byteLength":24,"byteStride":8}],
"accessors":[{"bufferView":0,"componentType":5122,"normalized":true,"count":3,"type":"VEC3"}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"nodes":[{"mesh":0}]`
	require.Contains(t, refusal(t, text(buf, rest), Options{}), "positions must be FLOAT, unless KHR_mesh_quantization is used")
	l, _ := load(t, text(buf, rest+`,"extensionsUsed":["KHR_mesh_quantization"],"extensionsRequired":["KHR_mesh_quantization"]`))
	require.Equal(t, [][3]vec{{{0, 0, 0}, {100, 0, 0}, {0, 100, 0}}}, corners(l))
}

// A level that goes through every rounding there is: its hash is what
// every target must get.
func TestHashIsTheSameOnEveryTarget(t *testing.T) {
	d := quad()
	d.Nodes[0].Scale = [3]float64{1.1, 0.7, 1.3}
	d.Nodes[0].Rotation = [4]float64{0.18257418, 0.36514837, 0.54772256, 0.73029674}
	d.Nodes[0].Translation = [3]float64{0.1, 0.2, 0.3}
	d.Nodes = append(d.Nodes, &gltf.Node{Children: []int{0}, Rotation: [4]float64{0.1, -0.2, 0.3, 0.9273618},
		Scale: [3]float64{0.3, 3.3, 1}, Translation: [3]float64{-7.7, 0.01, 1e3}})
	d.Scenes[0].Nodes = []int{1}
	l, _ := loadDoc(t, d)
	require.Equal(t, pinnedGLTF, l.Hash())
	l, _ = load(t, []byte("v 0.1 0.2 0.3\nv 1.1e1 -3.3 7\nv .7 1e-3 2.9999999999999999\nv 5 5 -5.05\nf -4 -3 -2 -1\n"))
	require.Equal(t, pinnedOBJ, l.Hash())
}

const (
	pinnedGLTF uint64 = 0x481215be7efec84e
	pinnedOBJ  uint64 = 0x35329d8bac9f176c
)
