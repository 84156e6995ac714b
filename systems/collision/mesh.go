package collision

import (
	"cmp"
	"math"
	"slices"

	"github.com/gaitnet/gait/components/exact"
)

// Lengths that the build works with, cm.
const (
	// minHeight: a triangle that is thinner is dropped as degenerate.
	minHeight = 1e-5
	// flatSine: two faces whose planes differ by less are one flat surface.
	flatSine = 1e-7
	// flatReach is how far a face reaches over an edge inside a flat surface.
	// Nobody tests that edge, so nothing may fall between the two faces.
	flatReach = 1e-4
)

// tri is one triangle as the queries read it; 128 bytes, two cache lines.
type tri struct {
	v [3]Vec3
	n Vec3
	// edge and vert index mesh.edges and mesh.verts; -1 where the edge from
	// v[i] lies inside a flat surface, or v[i] has only such edges.
	edge, vert [3]int32
	id         uint32
	surface    Surface
	// own has bit i where this triangle is the one that tests edge i, bit 3+i
	// for vertex i.
	own uint8
	_   uint8
}

// edge is a shared or border edge that can be touched.
type edge struct {
	a, u Vec3 // start and unit direction
	len  float64
	// into are the directions from the edge into its (first two) faces; out
	// their normals turned to the convex side.
	into, out [2]Vec3
	tri       [2]uint32 // triangle ids; equal for a border edge
	// folded: two faces with a convex side, so out can be trusted.
	folded bool
	// open: more than two faces meet, into cannot be trusted either.
	open bool
}

// vert is a corner that can be touched. spokes are the unit directions of its
// edges, fan the triangles around it.
type vert struct {
	p             Vec3
	spoke, spokeN uint32
	fan, fanN     uint32
}

// mesh is triangles with their adjacency, in the order of ids: a level's, or
// an obstacle's twelve.
type mesh struct {
	tris   []tri
	edges  []edge
	verts  []vert
	spokes []Vec3
	fans   []uint32
	// slot maps a triangle's id to its place in tris.
	slot     []uint32
	min, max Vec3
}

type rawTri struct {
	v       [3]Vec3
	surface Surface
	source  uint32
}

func cmpVec(a, b Vec3) int {
	for i := range a {
		if c := cmp.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// canonical drops degenerate and doubled triangles and brings the rest into an
// order that does not depend on the order they were given in: the least
// vertex first in each, then by vertices. So the ids, and with them every
// answer, follow from the surface alone.
func canonical(in []rawTri) (out []rawTri, degenerate, doubled int) {
	out = make([]rawTri, 0, len(in))
	for _, t := range in {
		for i := range t.v {
			for k := range t.v[i] {
				t.v[i][k] += 0 // -0 becomes 0
			}
		}
		if _, ok := triNormal(t.v); !ok {
			degenerate++
			continue
		}
		first := 0
		for i := 1; i < 3; i++ {
			if cmpVec(t.v[i], t.v[first]) < 0 {
				first = i
			}
		}
		t.v = [3]Vec3{t.v[first], t.v[(first+1)%3], t.v[(first+2)%3]}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b rawTri) int {
		for i := range a.v {
			if c := cmpVec(a.v[i], b.v[i]); c != 0 {
				return c
			}
		}
		if c := cmp.Compare(a.surface, b.surface); c != 0 {
			return c
		}
		return cmp.Compare(a.source, b.source)
	})
	// A triangle and its mirror (two windings) both block both sides: one is enough.
	seen := make(map[[3]Vec3]struct{}, len(out))
	kept := out[:0]
	for _, t := range out {
		key := t.v
		if cmpVec(key[2], key[1]) < 0 {
			key[1], key[2] = key[2], key[1]
		}
		if _, dup := seen[key]; dup {
			doubled++
			continue
		}
		seen[key] = struct{}{}
		kept = append(kept, t)
	}
	return kept, degenerate, doubled
}

// triNormal is the unit normal; false for a degenerate triangle.
func triNormal(v [3]Vec3) (Vec3, bool) {
	e0, e1, e2 := exact.Sub(v[1], v[0]), exact.Sub(v[2], v[1]), exact.Sub(v[0], v[2])
	longest := max(exact.Len(e0), exact.Len(e1), exact.Len(e2))
	c := exact.Cross(e0, exact.Neg(e2))
	l := exact.Len(c)
	if !(l > float64(longest*minHeight)) {
		return Vec3{}, false
	}
	return Vec3{c[0] / l, c[1] / l, c[2] / l}, true
}

// newMesh finds the adjacency of canonical triangles.
func newMesh(raw []rawTri) *mesh {
	m := &mesh{
		tris: make([]tri, len(raw)),
		slot: make([]uint32, len(raw)),
		min:  Vec3{math.Inf(1), math.Inf(1), math.Inf(1)},
		max:  Vec3{math.Inf(-1), math.Inf(-1), math.Inf(-1)},
	}
	weld := make(map[Vec3]int32, len(raw)/2+3)
	var points []Vec3
	corner := make([][3]int32, len(raw))
	for i, r := range raw {
		t := &m.tris[i]
		t.v, t.surface, t.id = r.v, r.surface, uint32(i)
		t.n, _ = triNormal(r.v)
		t.edge, t.vert = [3]int32{-1, -1, -1}, [3]int32{-1, -1, -1}
		m.slot[i] = uint32(i)
		for k, p := range r.v {
			id, ok := weld[p]
			if !ok {
				id = int32(len(points))
				weld[p] = id
				points = append(points, p)
			}
			corner[i][k] = id
			for x := range p {
				m.min[x], m.max[x] = min(m.min[x], p[x]), max(m.max[x], p[x])
			}
		}
	}
	m.linkEdges(corner)
	m.linkVerts(corner, points)
	return m
}

// side is one triangle's view of an edge.
type side struct {
	lo, hi int32 // welded ends, lo < hi
	tri    uint32
	k      uint8 // the edge goes from v[k]
}

func (m *mesh) linkEdges(corner [][3]int32) {
	sides := make([]side, 0, 3*len(corner))
	for i, c := range corner {
		for k := range c {
			lo, hi := c[k], c[(k+1)%3]
			sides = append(sides, side{min(lo, hi), max(lo, hi), uint32(i), uint8(k)})
		}
	}
	slices.SortFunc(sides, func(a, b side) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi), cmp.Compare(a.tri, b.tri))
	})
	for from := 0; from < len(sides); {
		to := from + 1
		for to < len(sides) && sides[to].lo == sides[from].lo && sides[to].hi == sides[from].hi {
			to++
		}
		m.addEdge(sides[from:to])
		from = to
	}
}

// addEdge keeps the edge that the sides share, unless it lies inside a flat
// surface.
func (m *mesh) addEdge(s []side) {
	owner := &m.tris[s[0].tri]
	a, b := owner.v[s[0].k], owner.v[(s[0].k+1)%3]
	d := exact.Sub(b, a)
	e := edge{a: a, len: exact.Len(d), tri: [2]uint32{s[0].tri, s[0].tri}, open: len(s) > 2}
	e.u = Vec3{d[0] / e.len, d[1] / e.len, d[2] / e.len}
	e.into[0] = m.inward(s[0])
	if len(s) == 2 {
		other := &m.tris[s[1].tri]
		e.tri[1] = s[1].tri
		e.into[1] = m.inward(s[1])
		bend0, bend1 := exact.Dot(owner.n, e.into[1]), exact.Dot(other.n, e.into[0])
		if math.Abs(bend0) <= flatSine && math.Abs(bend1) <= flatSine {
			if exact.Dot(e.into[0], e.into[1]) < 0 {
				return
			}
			// Folded back onto itself: no convex side to tell.
		} else {
			e.folded = true
			e.out[0], e.out[1] = owner.n, other.n
			if bend0 > 0 {
				e.out[0] = exact.Neg(owner.n)
			}
			if bend1 > 0 {
				e.out[1] = exact.Neg(other.n)
			}
		}
	}
	for _, x := range s {
		m.tris[x.tri].edge[x.k] = int32(len(m.edges))
	}
	owner.own |= 1 << s[0].k
	m.edges = append(m.edges, e)
}

// inward is the unit direction in the face, square to the edge, to its inside.
func (m *mesh) inward(s side) Vec3 {
	t := &m.tris[s.tri]
	c := exact.Cross(t.n, exact.Sub(t.v[(s.k+1)%3], t.v[s.k]))
	l := exact.Len(c)
	return Vec3{c[0] / l, c[1] / l, c[2] / l}
}

// linkVerts keeps the corners at which an edge ends that can be touched.
func (m *mesh) linkVerts(corner [][3]int32, points []Vec3) {
	active := make([]bool, len(points))
	count := make([]uint32, len(points)+1)
	for i, c := range corner {
		for k := range c {
			count[c[k]+1]++
			if m.tris[i].edge[k] >= 0 {
				active[c[k]], active[c[(k+1)%3]] = true, true
			}
		}
	}
	for i := range points {
		count[i+1] += count[i]
	}
	around := make([]uint32, 3*len(corner)) // triangles around each point, ids ascending
	fill := slices.Clone(count)
	for i, c := range corner {
		for _, p := range c {
			around[fill[p]] = uint32(i)
			fill[p]++
		}
	}
	var ends []int32
	for p := range points {
		if !active[p] {
			continue
		}
		fan := around[count[p]:count[p+1]]
		ends = ends[:0]
		for _, t := range fan {
			for _, q := range corner[t] {
				if q != int32(p) {
					ends = append(ends, q)
				}
			}
		}
		slices.Sort(ends)
		ends = slices.Compact(ends)
		v := vert{p: points[p], spoke: uint32(len(m.spokes)), spokeN: uint32(len(ends)),
			fan: uint32(len(m.fans)), fanN: uint32(len(fan))}
		for _, q := range ends {
			d := exact.Sub(points[q], points[p])
			l := exact.Len(d)
			m.spokes = append(m.spokes, Vec3{d[0] / l, d[1] / l, d[2] / l})
		}
		m.fans = append(m.fans, fan...)
		for i, t := range fan {
			for k, q := range corner[t] {
				if q == int32(p) {
					m.tris[t].vert[k] = int32(len(m.verts))
					if i == 0 {
						m.tris[t].own |= 8 << k
					}
				}
			}
		}
		m.verts = append(m.verts, v)
	}
}
