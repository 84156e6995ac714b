package collision

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// overlapTri adds the plane of one triangle that the capsule is inside of.
func (m *mesh) overlapTri(w *work, t *tri, base components.NetID, yaw float64, q *Query) {
	if !t.near(w.p, w.r, w.h) {
		return
	}
	o := t.closest(w.p, w.h)
	if !(o.dist < w.r-touch) {
		return
	}
	n, depth := o.way(t, w)
	switch {
	case o.feature == 0:
	case o.feature <= 3:
		// A shared edge is reported once, by its owner, which sees it as well.
		if k := o.feature - 1; t.edge[k] >= 0 && t.own>>k&1 == 0 {
			return
		}
	default:
		if k := o.feature - 4; t.vert[k] >= 0 && t.own>>k&8 == 0 {
			return
		}
	}
	if !m.visible(t, o.feature, n) {
		return
	}
	addPlane(q, Plane{positive(exact.RotateYaw(n, yaw)), depth, base})
}

// before is the order of the planes: deepest first, then obstacle and normal.
// Planes that are equal in it are equal.
func (p *Plane) before(o *Plane) bool {
	if p.Depth != o.Depth {
		return p.Depth > o.Depth
	}
	if p.Base != o.Base {
		return p.Base < o.Base
	}
	return cmpVec(p.Normal, o.Normal) < 0
}

// addPlane keeps the deepest of each direction and the deepest MaxPlanes of
// them, sorted, so that the order of the calls does not matter.
func addPlane(q *Query, p Plane) {
	for i := range q.NumPlanes {
		if o := &q.Planes[i]; o.Base == p.Base && o.Normal == p.Normal {
			if o.Depth >= p.Depth {
				return
			}
			copy(q.Planes[i:q.NumPlanes], q.Planes[i+1:q.NumPlanes])
			q.NumPlanes--
			break
		}
	}
	at := q.NumPlanes
	for at > 0 && p.before(&q.Planes[at-1]) {
		at--
	}
	if at == MaxPlanes {
		return
	}
	if q.NumPlanes < MaxPlanes {
		q.NumPlanes++
	}
	copy(q.Planes[at+1:q.NumPlanes], q.Planes[at:])
	q.Planes[at] = p
}

// finishPlanes drops planes that differ from a deeper one of the same body
// only by rounding: a turned wall of several triangles is one plane.
func finishPlanes(q *Query) {
	n := 0
next:
	for i := range q.NumPlanes {
		p := q.Planes[i]
		for k := range n {
			if o := &q.Planes[k]; o.Base == p.Base && exact.DistSq(o.Normal, p.Normal) < 1e-12 {
				continue next
			}
		}
		q.Planes[n] = p
		n++
	}
	q.NumPlanes = n
}
