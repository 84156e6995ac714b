package levelfile

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gaitnet/gait/systems/collision"
	"github.com/qmuntal/gltf"
)

// FuzzParse: whatever a file holds, it is a level with triangles or one line.
func FuzzParse(f *testing.F) {
	f.Add(encode(f, quad(), true))
	f.Add(encode(f, quad(), false))
	f.Add(text(triangle, oneTriangle))
	d := doc(quadVerts, []uint32{0, 1, 2, 3})
	d.Meshes[0].Primitives[0].Mode = gltf.PrimitiveTriangleStrip
	d.Nodes = append(d.Nodes, &gltf.Node{Children: []int{0}, Rotation: [4]float64{0, 0.6, 0, 0.8}, Extras: gait(object{"spawn": true})})
	d.Scenes = nil
	d.Materials = []*gltf.Material{{Extras: gait(object{"walkable": true, "user": 3})}}
	d.Meshes[0].Primitives[0].Material = gltf.Index(0)
	f.Add(encode(f, d, true))
	d.Buffers[0].URI = "a.bin"
	f.Add(encode2(f, d))
	f.Add([]byte("v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 \\\n -1//1\nl 1 2\n"))
	f.Add([]byte("v 0 0 0 # 1\r\nv 1e3 -2.5 .5\r\nv 7 7 7\r\nv 8 9 8\r\nf 4 3 2 1\r\n"))
	files := fstest.MapFS{"a.bin": {Data: floats(0, 0, 0, 1, 0, 0, 0, 0, -1, 5, 5, 5, 1, 2, 3, 4)}}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, r, err := Parse("x", data, Options{FS: files, MaxTriangles: 2000, MaxExternal: 1 << 16})
		if err != nil {
			if l != nil || !errors.Is(err, collision.ErrLevel) || strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > maxMessage+3 {
				t.Fatalf("%v", err)
			}
			return
		}
		if r.Given > 2000 || r.Stats.Triangles < 1 || r.Stats.Triangles+r.Stats.Degenerate+r.Stats.Doubled != r.Given {
			t.Fatalf("%+v", r)
		}
		lo, hi := l.Bounds()
		if !inside(lo) || !inside(hi) {
			t.Fatalf("bounds %v, %v", lo, hi)
		}
	})
}
