package levelfile

import (
	"testing"

	"github.com/gaitnet/gait/systems/collision"
	"github.com/qmuntal/gltf"
	"github.com/stretchr/testify/require"
)

type object = map[string]any

func gait(o object) object { return object{"gait": o} }

func TestExtrasAreFlagsOfTheSurface(t *testing.T) {
	d := quad()
	d.Meshes[0].Extras = gait(object{"walkable": true, "unwalkable": true, "no_step_up": true, "user": 0xa5})
	require.Equal(t, collision.SurfaceWalkable|collision.SurfaceUnwalkable|collision.SurfaceNoStepUp|0xa500, surface(t, d))
	d.Meshes[0].Extras = gait(object{"walkable": false, "no_step_up": true})
	require.Equal(t, collision.SurfaceNoStepUp, surface(t, d))
	d.Meshes[0].Extras = object{"other": 1.0}
	require.Zero(t, surface(t, d))
	d.Meshes[0].Extras = "not an object"
	require.Zero(t, surface(t, d))
}

func TestNearerExtrasWin(t *testing.T) {
	d := quad()
	d.Nodes = append(d.Nodes, &gltf.Node{Children: []int{0}, Extras: gait(object{"unwalkable": true, "no_step_up": true, "user": 7})})
	d.Scenes[0].Nodes = []int{1}
	require.Equal(t, collision.SurfaceUnwalkable|collision.SurfaceNoStepUp|7<<8, surface(t, d), "from the node above")
	d.Nodes[0].Extras = gait(object{"walkable": true})
	require.Equal(t, collision.SurfaceWalkable|collision.SurfaceNoStepUp|7<<8, surface(t, d))
	d.Meshes[0].Extras = gait(object{"no_step_up": false})
	require.Equal(t, collision.SurfaceWalkable|7<<8, surface(t, d))
	d.Meshes[0].Primitives[0].Extras = gait(object{"user": 8})
	require.Equal(t, collision.SurfaceWalkable|8<<8, surface(t, d))
	d.Materials = []*gltf.Material{{Extras: gait(object{"user": 9, "unwalkable": true})}}
	d.Meshes[0].Primitives[0].Material = gltf.Index(0)
	require.Equal(t, collision.SurfaceUnwalkable|9<<8, surface(t, d))
}

func TestGeometryWithoutCollisionIsLeftOutAndCounted(t *testing.T) {
	d := quad()
	d.Materials = []*gltf.Material{{Extras: gait(object{"collision": false})}}
	d.Meshes[0].Primitives = append(d.Meshes[0].Primitives, &gltf.Primitive{
		Attributes: d.Meshes[0].Primitives[0].Attributes, Material: gltf.Index(0), Mode: gltf.PrimitiveTriangleFan,
		Targets: []gltf.PrimitiveAttributes{{}},
	})
	l, r := loadDoc(t, d)
	require.Equal(t, 2, r.Off)
	require.Equal(t, builtQuad(t).Hash(), l.Hash())

	d = quad()
	d.Nodes[0].Extras = gait(object{"collision": false})
	require.Equal(t, "it has no triangles with collision", refusal(t, encode(t, d, true), Options{}))
	d.Meshes[0].Extras = gait(object{"collision": true})
	_, r = loadDoc(t, d)
	require.Equal(t, 2, r.Given, "turned on again further in")
}

func TestEmptyNodesAreSpawnPoints(t *testing.T) {
	d := quad()
	d.Nodes = append(d.Nodes,
		&gltf.Node{Translation: [3]float64{1, 0, 0}, Children: []int{2}, Extras: gait(object{"spawn": true})},
		&gltf.Node{Translation: [3]float64{0, 2, 3}, Extras: gait(object{"spawn": true})},
		&gltf.Node{Extras: gait(object{"spawn": false})})
	d.Scenes[0].Nodes = []int{0, 1, 3}
	l, r := loadDoc(t, d)
	require.Equal(t, []vec{{100, 0, 0}, {100, -300, 200}}, l.Spawns())
	require.Equal(t, 2, r.Spawns)
	require.Equal(t, builtQuad(t).Hash(), l.Hash(), "where players begin is the server's affair")
	d.Nodes[1].Mesh = gltf.Index(0)
	require.Equal(t, "node 1: a spawn point is an empty node, and it has a mesh", refusal(t, encode(t, d, true), Options{}))
	d.Nodes[1].Mesh, d.Nodes[1].Translation[0] = nil, 1e7
	require.Contains(t, refusal(t, encode(t, d, true), Options{}), "node 1: the spawn point lies at [1e+09 0 0] cm")
}

func TestWrongExtrasAreRefusedByName(t *testing.T) {
	for _, c := range []struct {
		gait any
		want string
	}{
		{true, `node 0 "floor": its extras: gait is not an object`},
		{object{"walkable": 1}, `node 0 "floor": its extras: gait.walkable is not true or false`},
		{object{"spawn": "yes"}, `node 0 "floor": its extras: gait.spawn is not true or false`},
		{object{"user": 256}, `node 0 "floor": its extras: gait.user is 256, must be a whole number within 0..255`},
		{object{"user": 1.5}, `node 0 "floor": its extras: gait.user is 1.5, must be a whole number within 0..255`},
		{object{"walkabel": true}, `node 0 "floor": its extras: gait has 1 names that mean nothing here; there are walkable, unwalkable, no_step_up, user, collision, spawn`},
	} {
		d := quad()
		d.Nodes[0].Name, d.Nodes[0].Extras = "floor", object{"gait": c.gait}
		require.Equal(t, c.want, refusal(t, encode(t, d, true), Options{}))
	}
	d := quad()
	d.Meshes[0].Extras = gait(object{"spawn": true})
	require.Contains(t, refusal(t, encode(t, d, true), Options{}), "node 0, mesh 0: its extras: gait has 1 names that mean nothing here")
}
