package levelfile

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/gaitnet/gait/systems/collision"
	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"
	"github.com/stretchr/testify/require"
)

type vec = collision.Vec3

// quadVerts is a square of 2 x 2 m around the middle, on the ground, in glTF's
// axes.
var quadVerts = [][3]float32{{-1, 0, 1}, {1, 0, 1}, {1, 0, -1}, {-1, 0, -1}}

var quadIndices = []uint16{0, 1, 2, 0, 2, 3}

// doc is a document with one mesh on one node.
func doc(verts [][3]float32, indices any) *gltf.Document {
	d := gltf.NewDocument()
	p := &gltf.Primitive{Attributes: gltf.PrimitiveAttributes{gltf.POSITION: modeler.WritePosition(d, verts)}}
	if indices != nil {
		p.Indices = gltf.Index(modeler.WriteIndices(d, indices))
	}
	d.Meshes = []*gltf.Mesh{{Primitives: []*gltf.Primitive{p}}}
	d.Nodes = []*gltf.Node{{Mesh: gltf.Index(0)}}
	d.Scenes[0].Nodes = []int{0}
	return d
}

func quad() *gltf.Document { return doc(quadVerts, quadIndices) }

func encode(t testing.TB, d *gltf.Document, binary bool) []byte {
	t.Helper()
	var b bytes.Buffer
	e := gltf.NewEncoder(&b)
	e.AsBinary = binary
	if !binary {
		for _, buf := range d.Buffers {
			buf.EmbeddedResource()
		}
	}
	require.NoError(t, e.Encode(d))
	return b.Bytes()
}

func load(t testing.TB, data []byte) (*collision.Level, *Report) {
	t.Helper()
	l, r, err := Parse("test", data, Options{})
	require.NoError(t, err)
	return l, r
}

func loadDoc(t testing.TB, d *gltf.Document) (*collision.Level, *Report) {
	t.Helper()
	return load(t, encode(t, d, true))
}

// refusal is the one line that a file is refused with.
func refusal(t testing.TB, data []byte, o Options) string {
	t.Helper()
	l, r, err := Parse("x.glb", data, o)
	require.Error(t, err)
	require.Nil(t, l)
	require.Nil(t, r)
	require.ErrorIs(t, err, collision.ErrLevel)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.NotContains(t, err.Error(), "\n")
	line, ok := strings.CutPrefix(err.Error(), "x.glb: ")
	require.True(t, ok, err.Error())
	return line
}

// text is a .gltf by hand: one buffer, and what else there is.
func text(buffer []byte, rest string) []byte {
	uri := "data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(buffer)
	b, _ := json.Marshal(uri)
	n, _ := json.Marshal(len(buffer))
	return []byte(`{"asset":{"version":"2.0"},"buffers":[{"uri":` + string(b) + `,"byteLength":` + string(n) + `}],` + rest + `}`)
}

func floats(f ...float32) (b []byte) {
	for _, x := range f {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// triangle is a buffer of one triangle's corners: 1 m along x and along -z.
var triangle = floats(0, 0, 0, 1, 0, 0, 0, 0, -1)

// oneTriangle is the rest of a .gltf around it, as it should be.
const oneTriangle = `"bufferViews":[{"buffer":0,"byteLength":36}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
"nodes":[{"mesh":0}],"scenes":[{"nodes":[0]}],"scene":0`

// with replaces a part of oneTriangle, which must be there.
func with(t testing.TB, old, new string) []byte {
	t.Helper()
	require.Equal(t, 1, strings.Count(oneTriangle, old), old)
	return text(triangle, strings.Replace(oneTriangle, old, new, 1))
}

// corners are all triangles' corners in the order of ids.
func corners(l *collision.Level) (out [][3]vec) {
	for i := range l.NumTriangles() {
		a, b, c, _ := l.Triangle(uint32(i))
		out = append(out, [3]vec{a, b, c})
	}
	return out
}

func surface(t testing.TB, d *gltf.Document) collision.Surface {
	t.Helper()
	l, _ := loadDoc(t, d)
	_, _, _, s := l.Triangle(0)
	return s
}

// encode2 writes JSON alone: buffers stay where their URIs say.
func encode2(t testing.TB, d *gltf.Document) []byte {
	t.Helper()
	b, err := json.Marshal(d)
	require.NoError(t, err)
	return b
}

// replace puts numbers in for words.
func replace(t testing.TB, s string, pairs ...any) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, s, pairs[i])
		s = strings.ReplaceAll(s, pairs[i].(string), strconv.Itoa(pairs[i+1].(int)))
	}
	return s
}

func scan(t testing.TB, s string, into []float64) {
	t.Helper()
	for i, f := range strings.Split(s, ",") {
		v, err := strconv.ParseFloat(f, 64)
		require.NoError(t, err)
		into[i] = v
	}
}
