package levelfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gaitnet/gait/systems/collision"
	"github.com/qmuntal/gltf"
)

// reader goes through a document. The document's types are the library's; its
// Decoder is not used, since it allocates what a buffer claims to be.
type reader struct {
	*sink
	doc     gltf.Document
	raw     rawDocument
	bin     []byte // of a .glb, nil in JSON
	buffers map[int][]byte
	// bytesRead from files beside the level.
	bytesRead int64
	// primitives met, instances counted one by one.
	primitives int
}

// rawDocument is what the library's types do not tell apart: what is missing
// or unknown from what has its default, and how long an array was.
type rawDocument struct {
	Accessors []*struct {
		ComponentType *int    `json:"componentType"`
		Type          *string `json:"type"`
	} `json:"accessors"`
	Meshes []*struct {
		Primitives []*struct {
			Mode *int `json:"mode"`
		} `json:"primitives"`
	} `json:"meshes"`
	Nodes []*rawNode `json:"nodes"`
}

type rawNode struct {
	Matrix      []float64 `json:"matrix"`
	Rotation    []float64 `json:"rotation"`
	Scale       []float64 `json:"scale"`
	Translation []float64 `json:"translation"`
}

// compressions are extensions that put geometry elsewhere.
var compressions = [...]string{"KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"}

const (
	instancing   = "EXT_mesh_gpu_instancing"
	quantization = "KHR_mesh_quantization"
)

// harmless tells whether an extension that a file requires leaves geometry as
// it is.
func harmless(name string) bool {
	switch name {
	case quantization, "KHR_texture_transform", "KHR_texture_basisu", "EXT_texture_webp", "EXT_texture_avif", "KHR_lights_punctual":
		return true
	}
	return strings.HasPrefix(name, "KHR_materials_")
}

// pick is element i of a list that may be too short or have holes.
func pick[T any](list []*T, i int, what string) (*T, error) {
	if i < 0 || i >= len(list) {
		return nil, bad("", "there is no %s %d; there are %d", what, i, len(list))
	}
	if list[i] == nil {
		return nil, bad("", "%s %d is null", what, i)
	}
	return list[i], nil
}

func parseGLTF(text, bin []byte, s *sink) error {
	g := &reader{sink: s, bin: bin, buffers: map[int][]byte{}}
	if err := json.Unmarshal(text, &g.raw); err != nil {
		return jsonError(text, err)
	}
	if err := json.Unmarshal(text, &g.doc); err != nil {
		// The library reads parts on their own: a place in one says nothing.
		return bad("JSON", "%v", err)
	}
	if v := g.doc.Asset.Version; v != "" && !strings.HasPrefix(v, "2.") {
		return bad("asset", "version %q, must be 2.0", v)
	} else if v == "" {
		return bad("asset", "it has no version: this is no glTF")
	}
	if v := g.doc.Asset.MinVersion; v != "" && v != "2.0" {
		return bad("asset", "it needs version %q, this reads 2.0", v)
	}
	for _, x := range g.doc.ExtensionsRequired {
		if !harmless(x) {
			return bad("extensionsRequired", "%s is not supported", oneLine(x))
		}
	}
	// Both were read from the same text; a text with a name twice could still
	// make two lists of it.
	if len(g.raw.Nodes) != len(g.doc.Nodes) || len(g.raw.Accessors) != len(g.doc.Accessors) || len(g.raw.Meshes) != len(g.doc.Meshes) {
		return bad("", "a list is there twice")
	}
	return g.scene()
}

// jsonError tells the line, as far as it is known.
func jsonError(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(-1)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	if at < 0 || at > int64(len(text)) {
		return bad("JSON", "%v", err)
	}
	return bad(fmt.Sprintf("JSON, line %d, byte %d", 1+bytes.Count(text[:at], []byte("\n")), at), "%v", err)
}

// visit is a node that waits for its turn.
type visit struct {
	node  int
	at    affine
	marks marks
}

// scene walks the default scene, or every root where the file has no scenes.
func (g *reader) scene() error {
	var roots []int
	where := "scene"
	switch {
	case len(g.doc.Scenes) > 0:
		i := 0
		if g.doc.Scene != nil {
			i = *g.doc.Scene
		}
		sc, err := pick(g.doc.Scenes, i, "scene")
		if err != nil {
			return err
		}
		roots, where = sc.Nodes, fmt.Sprintf("scene %d", i)
	default:
		child := make([]bool, len(g.doc.Nodes))
		for _, n := range g.doc.Nodes {
			if n == nil {
				continue // refused when its turn comes
			}
			for _, c := range n.Children {
				if c >= 0 && c < len(child) {
					child[c] = true
				}
			}
		}
		for i := range child {
			if !child[i] {
				roots = append(roots, i)
			}
		}
	}
	seen := make([]bool, len(g.doc.Nodes))
	var stack []visit
	push := func(nodes []int, at affine, m marks, where func() string) error {
		for _, i := range slices.Backward(nodes) {
			if _, err := pick(g.doc.Nodes, i, "node"); err != nil {
				return bad(where(), "%v", err)
			}
			if seen[i] {
				return bad(where(), "node %d is reached twice", i)
			}
			seen[i] = true
			stack = append(stack, visit{i, at, m})
		}
		return nil
	}
	if err := push(roots, identity, marks{}, func() string { return where }); err != nil {
		return err
	}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := g.doc.Nodes[v.node]
		place := func() string { return named("node", v.node, n.Name) }
		raw := g.raw.Nodes[v.node]
		if raw == nil {
			return bad(place(), "it is null")
		}
		own, err := local(n, raw, place)
		if err != nil {
			return err
		}
		v.at = v.at.after(&own)
		if err := g.node(n, &v, place); err != nil {
			return err
		}
		if err := push(n.Children, v.at, v.marks, place); err != nil {
			return err
		}
	}
	return nil
}

// node reads one node's mesh and marks.
func (g *reader) node(n *gltf.Node, v *visit, place func() string) (err error) {
	var spawn bool
	if v.marks, err = v.marks.mark(n.Extras, &spawn, place); err != nil {
		return err
	}
	if spawn {
		if n.Mesh != nil {
			return bad(place(), "a spawn point is an empty node, and it has a mesh")
		}
		feet := toLevel(v.at.apply(collision.Vec3{}))
		if !inside(feet) {
			return bad(place(), "the spawn point lies at %v cm, must lie within %g", feet, collision.MaxCoordinate)
		}
		g.builder.Spawn(feet)
		g.report.Spawns++
	}
	if n.Mesh == nil {
		return nil
	}
	m, err := pick(g.doc.Meshes, *n.Mesh, "mesh")
	if err != nil {
		return bad(place(), "%v", err)
	}
	at := func() string { return place() + ", " + named("mesh", *n.Mesh, m.Name) }
	inner, err := v.marks.mark(m.Extras, nil, at)
	if err != nil {
		return err
	}
	raw := g.raw.Meshes[*n.Mesh]
	if raw == nil || len(raw.Primitives) != len(m.Primitives) {
		return bad(at(), "a list is there twice")
	}
	for i, p := range m.Primitives {
		where := func() string { return fmt.Sprintf("%s, primitive %d", at(), i) }
		if p == nil || raw.Primitives[i] == nil {
			return bad(where(), "it is null")
		}
		// Without this a few nodes could go through a long mesh of nothing again
		// and again.
		if g.primitives++; g.primitives > g.opts.MaxTriangles {
			return bad(where(), "the level has more than %d primitives", g.opts.MaxTriangles)
		}
		marks, err := inner.mark(p.Extras, nil, where)
		if err != nil {
			return err
		}
		if p.Material != nil {
			mat, err := pick(g.doc.Materials, *p.Material, "material")
			if err != nil {
				return bad(where(), "%v", err)
			}
			marks, err = marks.mark(mat.Extras, nil, func() string {
				return where() + ", " + named("material", *p.Material, mat.Name)
			})
			if err != nil {
				return err
			}
		}
		mode := modeTriangles
		if m := raw.Primitives[i].Mode; m != nil {
			mode = *m
		}
		if mode < 0 || mode > modeFan {
			return bad(where(), "mode %d is unknown", mode)
		}
		if mode < modeTriangles {
			g.report.Skipped++
			continue
		}
		if !marks.off {
			for _, u := range [...]struct {
				is   bool
				name string
			}{
				{n.Skin != nil, "skins"}, {len(p.Targets) > 0, "morph targets"}, {n.Extensions[instancing] != nil, instancing},
				{p.Extensions[compressions[0]] != nil, compressions[0]},
			} {
				if u.is {
					return bad(where(), "not supported: %s", u.name)
				}
			}
		}
		if err := g.primitive(p, mode, v.at, marks, where); err != nil {
			return err
		}
	}
	return nil
}

// The modes of a primitive that has a surface, as the file numbers them.
const (
	modeTriangles = 4
	modeStrip     = 5
	modeFan       = 6
)

// primitive adds the triangles of one primitive.
func (g *reader) primitive(p *gltf.Primitive, mode int, at affine, m marks, where func() string) error {
	within := func(err error) error { return bad(where(), "%v", err) }
	pos, ok := p.Attributes[gltf.POSITION]
	if !ok {
		if m.off {
			return nil
		}
		return bad(where(), "it has no POSITION")
	}
	if m.off {
		g.report.Off = min(g.report.Off+g.claimed(p, mode, pos), maxClaim)
		return nil
	}
	verts, err := g.view(pos, gltf.AccessorVec3, "VEC3")
	if err != nil {
		return within(err)
	}
	if verts.kind == gltf.ComponentUint {
		return bad(where(), "%s: positions cannot be UNSIGNED_INT", verts.place)
	}
	if verts.kind != gltf.ComponentFloat && !slices.Contains(g.doc.ExtensionsUsed, quantization) {
		return bad(where(), "%s: positions must be FLOAT, unless %s is used", verts.place, quantization)
	}
	n := verts.count
	var indices view
	if p.Indices != nil {
		if indices, err = g.view(*p.Indices, gltf.AccessorScalar, "SCALAR"); err != nil {
			return within(err)
		}
		switch indices.kind {
		case gltf.ComponentUbyte, gltf.ComponentUshort, gltf.ComponentUint:
		default:
			return bad(where(), "%s: indices must be UNSIGNED_BYTE, UNSIGNED_SHORT or UNSIGNED_INT", indices.place)
		}
		n = indices.count
	}
	count := triangles(n, mode)
	if mode == modeTriangles && n%3 != 0 || count < 1 {
		return bad(where(), "%d corners make no %s", n, [...]string{"triangles", "strip", "fan"}[mode-modeTriangles])
	}
	if !g.room(count) {
		return g.tooMany(where())
	}
	corner := func(i int) (collision.Vec3, error) {
		k := i
		if p.Indices != nil {
			x := indices.index(i)
			if uint64(x) >= uint64(verts.count) {
				return collision.Vec3{}, bad(where(), "index %d is %d, there are %d vertices", i, x, verts.count)
			}
			k = int(x)
		}
		v := verts.vec(k)
		out := toLevel(at.apply(v))
		if !inside(out) {
			return out, bad(where(), "vertex %d, %v, lies at %v cm, must lie within %g", k, v, out, collision.MaxCoordinate)
		}
		return out, nil
	}
	mirrored := at.mirrors()
	for i := range count {
		var k [3]int
		switch mode {
		case modeTriangles:
			k = [3]int{3 * i, 3*i + 1, 3*i + 2}
		case modeStrip: // every other one is wound the other way
			k = [3]int{i, i + 1 + i%2, i + 2 - i%2}
		default:
			k = [3]int{i + 1, i + 2, 0}
		}
		if mirrored { // the front stays the front
			k[1], k[2] = k[2], k[1]
		}
		var v [3]collision.Vec3
		for j := range v {
			if v[j], err = corner(k[j]); err != nil {
				return err
			}
		}
		g.triangle(v[0], v[1], v[2], m.surface)
	}
	return nil
}

// triangles that n corners make.
func triangles(n, mode int) int {
	if mode == modeTriangles {
		return n / 3
	}
	return max(n-2, 0)
}

// maxClaim is as far as counting goes where only claims are counted.
const maxClaim = 1 << 29

// claimed is how many triangles a primitive says it has that is left out: its
// bytes are not looked at.
func (g *reader) claimed(p *gltf.Primitive, mode, pos int) int {
	i := pos
	if p.Indices != nil {
		i = *p.Indices
	}
	a, err := pick(g.doc.Accessors, i, "accessor")
	if err != nil {
		return 0
	}
	return triangles(min(max(a.Count, 0), maxClaim), mode)
}

// named is a thing with its number and, where it has one, its name.
func named(what string, i int, name string) string {
	if name == "" {
		return fmt.Sprintf("%s %d", what, i)
	}
	if len(name) > 60 {
		name = name[:60]
	}
	return fmt.Sprintf("%s %d %q", what, i, name)
}
