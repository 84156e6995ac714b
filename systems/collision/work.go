package collision

import (
	"cmp"
	"math"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

const (
	// touch: what is in by less is touching, not inside, cm. A sweep that ends
	// in contact leaves the capsule within rounding of the surface.
	touch = 1e-6
	// alongSine: a direction that meets a plane at less goes along it. Over
	// 20 m that lets 2e-6 cm through.
	alongSine = 1e-9
	// awaySine: a contact whose normal leans over a neighbouring face by more
	// is that face's.
	awaySine = 1e-6
	// leastMove: a shorter way is no way, cm.
	leastMove = 1e-9
	// The largest parts of a query, cm.
	maxStart, maxDelta, maxCapsule = 1e9, 1e9, 1e6
)

// work is a query on its way through the geometry: the capsule in the frame of
// the mesh that is being asked, and the best contact so far in that frame.
type work struct {
	p, d   Vec3
	r, h   float64 // h is half the segment, without the caps
	len    float64 // of d
	lo, hi Vec3    // what the capsule covers on its way
	along  float64 // alongSine * len
	late   float64 // the fraction of touch: nothing that begins later than t by it can tie

	t      float64
	hit    bool
	inside bool
	depth  float64
	base   components.NetID
	tri    uint32
	surf   Surface
	rank   uint8
	n, fn  Vec3
	point  Vec3
}

func inRange(v Vec3, most float64) bool {
	for _, f := range v {
		if !(math.Abs(f) <= most) {
			return false
		}
	}
	return true
}

// begin reads a capsule query; false if a part is no number or absurd.
func (w *work) begin(q *Query) bool {
	if !(q.Radius > 0 && q.Radius <= maxCapsule && math.Abs(q.HalfHeight) <= maxCapsule) {
		q.Hit = Hit{Fraction: 1, Location: q.Start}
		return false
	}
	if !w.beginRay(q) {
		return false
	}
	w.r, w.h = q.Radius, max(q.HalfHeight-q.Radius, 0)
	w.cover() // again, with its size
	return true
}

// cover finds lo and hi.
func (w *work) cover() {
	for i := range 3 {
		reach := w.r + slack
		if i == 2 {
			reach += w.h
		}
		a, b := w.p[i], w.p[i]+w.d[i]
		w.lo[i], w.hi[i] = min(a, b)-reach, max(a, b)+reach
	}
}

func (w *work) beginRay(q *Query) bool {
	q.Hit = Hit{Fraction: 1, Location: q.Start}
	if !inRange(q.Start, maxStart) || !inRange(q.Delta, maxDelta) {
		return false
	}
	q.Hit.Location = exact.Add(q.Start, q.Delta)
	w.p, w.d, w.t = q.Start, q.Delta, 1
	w.len = exact.Len(q.Delta)
	w.along = float64(alongSine * w.len)
	w.late = touch / max(w.len, leastMove)
	w.cover()
	return true
}

// finish writes the contact into the query.
func (w *work) finish(q *Query) bool {
	if !w.hit {
		return false
	}
	q.Hit = Hit{
		Blocking: true, StartPenetrating: w.inside, Fraction: w.t,
		Location: exact.AddScaled(q.Start, q.Delta, w.t), Point: w.point,
		Normal: w.n, FaceNormal: w.fn, Depth: w.depth,
		Base: w.base, Triangle: w.tri, Surface: w.surf,
	}
	return true
}

// contact is a candidate of one feature.
type contact struct {
	t        float64
	n, point Vec3
	rank     uint8 // 0 the triangle's face, 1 an edge or a corner of it
}

// take keeps a contact if it comes before the best: least fraction; inside
// before touching and the deepest first where both are 0; then the least
// obstacle; the lowest point, for a wall is met along an upright line; the
// least triangle. Where one triangle stands for two contacts (its face and an
// edge, two corners) the face and then the least point is kept, so the order is
// total and nothing depends on who was asked first.
func (w *work) take(t, depth float64, c *contact, base components.NetID, f *tri, fn Vec3) {
	if t > w.t {
		return
	}
	inside := depth > touch
	point, n := positive(c.point), positive(c.n)
	if w.hit && t == w.t {
		var order int
		switch {
		case inside != w.inside:
			order = -1
			if w.inside {
				order = 1
			}
		case inside && depth != w.depth:
			order = cmp.Compare(w.depth, depth)
		default:
			order = cmp.Or(cmp.Compare(base, w.base), cmp.Compare(point[2], w.point[2]), cmp.Compare(f.id, w.tri), cmp.Compare(c.rank, w.rank))
			if order == 0 {
				order = cmp.Or(cmpVec(point, w.point), cmpVec(n, w.n))
			}
		}
		if order >= 0 {
			return
		}
	}
	w.hit, w.t, w.inside, w.depth, w.base = true, t, inside, depth, base
	w.tri, w.surf, w.rank, w.n, w.fn, w.point = f.id, f.surface, c.rank, n, positive(fn), point
}

// positive makes -0 into 0, so that equal vectors have equal bits.
func positive(v Vec3) Vec3 { return Vec3{v[0] + 0, v[1] + 0, v[2] + 0} }

// unit divides by the length; the caller knows that it is not tiny.
func unit(v Vec3) Vec3 {
	l := exact.Len(v)
	return Vec3{v[0] / l, v[1] / l, v[2] / l}
}
