package levelfile

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"
	"github.com/stretchr/testify/require"
)

func TestBadGLTFIsRefusedWithItsPlace(t *testing.T) {
	edit := func(old, new string) []byte { return with(t, old, new) }
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "it is empty"},
		{"blank", []byte(" \n\t"), "it is empty"},
		{"something else", []byte("\x7fELF\x02\x01\x01\x00"), "it is neither glTF, glb nor OBJ"},
		{"a text", []byte("Dear reader,\n"), "it is neither glTF, glb nor OBJ"},
		{"cut off", text(triangle, oneTriangle)[:300], "JSON, line 3, byte 300: unexpected end of JSON input"},
		{"no JSON", []byte("{\n\nhello"), "JSON, line 3, byte 4: invalid character 'h' looking for beginning of object key string"},
		{"not glTF", []byte("{}"), "asset: it has no version: this is no glTF"},
		{"glTF 1", []byte(`{"asset":{"version":"1.0"}}`), `asset: version "1.0", must be 2.0`},
		{"a later one", []byte(`{"asset":{"version":"2.1","minVersion":"2.1"}}`), `asset: it needs version "2.1", this reads 2.0`},
		{"nothing in it", []byte(`{"asset":{"version":"2.0"}}`), "it has no triangles"},
		{"infinite number", edit(`"mesh":0`, `"mesh":0,"translation":[1e999,0,0]`), "JSON, line 4, byte "},
		{"a node that is not there", edit(`"nodes":[0]`, `"nodes":[5]`), "scene 0: there is no node 5; there are 1"},
		{"a scene that is not there", edit(`"scene":0`, `"scene":-1`), "there is no scene -1; there are 1"},
		{"a node below itself", edit(`"mesh":0`, `"mesh":0,"children":[0]`), "node 0: node 0 is reached twice"},
		{"a node twice", edit(`"nodes":[0]`, `"nodes":[0,0]`), "scene 0: node 0 is reached twice"},
		{"null node", edit(`{"mesh":0}`, `null`), "scene 0: node 0 is null"},
		{"null accessor", edit(`[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}]`, `[null]`), "node 0, mesh 0, primitive 0: accessor 0 is null"},
		{"a mesh that is not there", edit(`"mesh":0`, `"mesh":1`), "node 0: there is no mesh 1; there are 1"},
		{"a material that is not there", edit(`{"attributes"`, `{"material":3,"attributes"`), "node 0, mesh 0, primitive 0: there is no material 3; there are 0"},
		{"an accessor that is not there", edit(`"POSITION":0`, `"POSITION":1`), "node 0, mesh 0, primitive 0: there is no accessor 1; there are 1"},
		{"no positions", edit(`"POSITION"`, `"NORMAL"`), "node 0, mesh 0, primitive 0: it has no POSITION"},
		{"unknown mode", edit(`{"attributes"`, `{"mode":7,"attributes"`), "node 0, mesh 0, primitive 0: mode 7 is unknown"},
		{"huge count", edit(`"count":3`, `"count":2000000000`), "node 0, mesh 0, primitive 0: accessor 0: its 2000000000 elements from byte 0 on are not within the 36 bytes of bufferView 0"},
		{"count of none", edit(`"count":3`, `"count":0`), "accessor 0: its count is 0"},
		{"four corners", edit(`"componentType":5126,"count":3`, `"componentType":5120,"count":4`), "accessor 0: positions must be FLOAT"},
		{"offset below 0", edit(`"bufferView":0`, `"bufferView":0,"byteOffset":-4`), "accessor 0: its 3 elements from byte -4 on"},
		{"offset", edit(`"bufferView":0`, `"bufferView":0,"byteOffset":4`), "accessor 0: its 3 elements from byte 4 on"},
		{"view too long", edit(`"byteLength":36`, `"byteLength":37`), "bufferView 0: its 37 bytes from 0 on are not within the 36 of buffer 0"},
		{"view past the end", edit(`"byteLength":36`, `"byteLength":36,"byteOffset":4`), "bufferView 0: its 36 bytes from 4 on"},
		{"view far away", edit(`"byteLength":36`, `"byteLength":36,"byteOffset":2147483647`), "bufferView 0: its 36 bytes from 2147483647 on"},
		{"stride", edit(`"byteLength":36`, `"byteLength":36,"byteStride":8`), "bufferView 0: its byteStride is 8, must lie within 12..252"},
		{"a buffer that is not there", edit(`"buffer":0`, `"buffer":9`), "there is no buffer 9; there are 1"},
		{"component type", edit(`5126`, `5124`), "accessor 0: its componentType is unknown"},
		{"type", edit(`"VEC3"`, `"VEC2"`), "accessor 0: its type must be VEC3"},
		{"sparse", edit(`"count":3`, `"sparse":{"count":1},"count":3`), "accessor 0: sparse accessors are not supported"},
		{"no view", edit(`"bufferView":0,`, ``), "accessor 0: it has no bufferView"},
		{"Draco", edit(`{"attributes"`, `{"extensions":{"KHR_draco_mesh_compression":{}},"attributes"`), "node 0, mesh 0, primitive 0: not supported: KHR_draco_mesh_compression"},
		{"required", edit(`"scene":0`, `"scene":0,"extensionsRequired":["KHR_draco_mesh_compression"]`), "extensionsRequired: KHR_draco_mesh_compression is not supported"},
		{"meshopt", edit(`"byteLength":36`, `"byteLength":36,"extensions":{"EXT_meshopt_compression":{}}`), "bufferView 0: EXT_meshopt_compression is not supported"},
		{"skin", edit(`"mesh":0`, `"mesh":0,"skin":0`), "not supported: skins"},
		{"morph", edit(`{"attributes"`, `{"targets":[{"POSITION":0}],"attributes"`), "not supported: morph targets"},
		{"instancing", edit(`"mesh":0`, `"mesh":0,"extensions":{"EXT_mesh_gpu_instancing":{}}`), "not supported: EXT_mesh_gpu_instancing"},
		{"two corners", edit(`"count":3`, `"count":2`), "node 0, mesh 0, primitive 0: 2 corners make no triangles"},
		{"a short strip", edit(`"count":3,"type":"VEC3"}],
"meshes":[{"primitives":[{`, `"count":2,"type":"VEC3"}],
"meshes":[{"primitives":[{"mode":5,`), "2 corners make no strip"},
		{"NaN", text(floats(0, 0, 0, float32(math.NaN()), 0, 0, 0, 0, -1), oneTriangle), "node 0, mesh 0, primitive 0: vertex 1, [NaN 0 0], lies at"},
		{"infinite", text(floats(0, 0, 0, 1, 0, 0, 0, inf, -1), oneTriangle), "vertex 2, [0 +Inf -1], lies at"},
		{"far away", text(floats(0, 0, 0, 1, 0, 0, 0, 2e6, -1), oneTriangle), "must lie within 1e+08"},
		{"rotation", edit(`"mesh":0`, `"mesh":0,"rotation":[0,0,0,0]`), "node 0: its rotation [0 0 0 0] is no unit quaternion"},
		{"rotation of three", edit(`"mesh":0`, `"mesh":0,"rotation":[0,0,1]`), "node 0: its rotation has 3 numbers, must have 4"},
		{"matrix", edit(`"mesh":0`, `"mesh":0,"matrix":[1,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1]`), "node 0: the last row of its matrix is 1 0 0 1, must be 0 0 0 1"},
		{"both", edit(`"mesh":0`, `"mesh":0,"scale":[1,1,1],"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]`), "node 0: it has a matrix and rotation, scale or translation beside it"},
		{"short buffer", []byte(strings.Replace(string(text(triangle, oneTriangle)), `"byteLength":36`, `"byteLength":99`, 1)), "buffer 0: it has 36 bytes, byteLength is 99"},
		{"base64", []byte(strings.Replace(string(text(triangle, oneTriangle)), "base64,AAAA", "base64,A?AA", 1)), "buffer 0: its base64: illegal base64 data at input byte 1"},
		{"no uri", []byte(`{"asset":{"version":"2.0"},"buffers":[{"byteLength":36}],` + oneTriangle + "}"), "buffer 0: it has no uri"},
	} {
		require.Contains(t, refusal(t, c.data, Options{}), c.want, c.name)
	}
}

func TestIndexOutOfRangeIsRefusedWithItsPlace(t *testing.T) {
	d := doc(quadVerts, []uint16{0, 1, 2, 0, 2, 4})
	d.Nodes[0].Name, d.Meshes[0].Name = "hall", "floor\n\x1b"
	require.Equal(t, `node 0 "hall", mesh 0 "floor\n\x1b", primitive 0: index 5 is 4, there are 4 vertices`, refusal(t, encode(t, d, true), Options{}))
	d = doc(quadVerts, []uint16{0, 1, 2, 0})
	require.Contains(t, refusal(t, encode(t, d, true), Options{}), "4 corners make no triangles")
}

func TestBoundOfTrianglesCountsInstances(t *testing.T) {
	d := quad()
	d.Nodes = append(d.Nodes, &gltf.Node{Mesh: gltf.Index(0), Translation: [3]float64{0, 5, 0}})
	d.Scenes[0].Nodes = []int{0, 1}
	data := encode(t, d, true)
	_, _, err := Parse("", data, Options{MaxTriangles: 4})
	require.NoError(t, err)
	require.Equal(t, "node 1, mesh 0, primitive 0: the level has more than 3 triangles", refusal(t, data, Options{MaxTriangles: 3}))
	d.Meshes[0].Primitives[0].Mode, d.Meshes[0].Primitives[0].Indices = gltf.PrimitivePoints, nil
	require.Equal(t, "node 1, mesh 0, primitive 0: the level has more than 1 primitives", refusal(t, encode(t, d, true), Options{MaxTriangles: 1}))
}

func TestEveryTruncationOfAGLBIsRefused(t *testing.T) {
	data := encode(t, quad(), true)
	for n := range data {
		refusal(t, data[:n], Options{})
	}
	require.Equal(t, "header: it ends after 12 bytes", refusal(t, data[:12], Options{}))
	require.Contains(t, refusal(t, data[:len(data)-1], Options{}), "header: it ends after ")
	set := func(at int, v uint32) []byte {
		b := append([]byte{}, data...)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	require.Equal(t, "header: version 1, must be 2", refusal(t, set(4, 1), Options{}))
	require.Equal(t, "header: its length is 7", refusal(t, set(8, 7), Options{}))
	require.Contains(t, refusal(t, set(12, 0xfffffff0), Options{}), "chunk 0 at byte 12: it ends after ")
	require.Equal(t, "chunk 0 at byte 12: the first chunk is not JSON", refusal(t, set(16, 5), Options{}))
	long := binary.LittleEndian.Uint32(data[12:])
	require.Contains(t, refusal(t, set(20+int(long)+4, 5), Options{}), "buffer 0: it has 0 bytes, byteLength is 60")
}

func TestMessageIsOneShortLineWhateverTheFileSays(t *testing.T) {
	line := refusal(t, []byte(`{"asset":{"version":"`+strings.Repeat(`x\n\u2028`, 9000)+`"}}`), Options{})
	require.Less(t, len(line), 600)
	require.NotContains(t, line, "\u2028")
	for _, unit := range []float64{math.NaN(), -1, math.Inf(1)} {
		require.Contains(t, refusal(t, text(triangle, oneTriangle), Options{Unit: unit}), "the unit is")
	}
}
