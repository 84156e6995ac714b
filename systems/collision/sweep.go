package collision

import (
	"math"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// sweepTri meets the capsule's way with one triangle: the ray of the centre
// against the triangle stretched by the segment and rounded by the radius.
// That body is convex, so a hit of a stretched face is the entry and nothing
// else needs a look; otherwise the entry is the least over the edges and
// corners that this triangle owns.
func (m *mesh) sweepTri(w *work, t *tri, base components.NetID) {
	s := exact.Dot(exact.Sub(w.p, t.v[0]), t.n)
	approach := -exact.Dot(w.d, t.n)
	side := 1.0
	if s < 0 {
		side, s, approach = -1, -s, -approach
	}
	lean := float64(w.h * math.Abs(t.n[2]))
	gap := s - (w.r + lean)
	if gap > 0 && (approach <= w.along || gap/approach > w.t+w.late) {
		return
	}
	if t.off(w) {
		return
	}
	inside := false
	if gap <= 0 && t.near(w.p, w.r, w.h) {
		var blocks bool
		if inside, blocks = m.startInside(w, t, base); blocks {
			return
		}
	}
	if !inside && approach > w.along {
		// The end of the segment that is nearer to the plane comes first.
		end := -float64(side * w.h)
		if t.n[2] < 0 {
			end = -end
		} else if t.n[2] == 0 {
			end = -w.h // together: the lower one stands for both
		}
		if m.sweepFace(w, t, base, side, end, gap/approach, gap) {
			return
		}
		// On an upright wall the two ends meet the plane together, and rounding
		// says which one is first: a neighbour may say it otherwise.
		if w.h > 0 && math.Abs(t.n[2]) < 1e-3 {
			g := gap + float64(2*lean)
			if at := g / approach; at <= w.t {
				m.sweepFace(w, t, base, side, -end, at, g)
			}
		}
	}
	for k := range 3 {
		if t.own>>k&1 != 0 {
			m.sweepEdge(w, t, k, base, inside)
		}
	}
	for k := range 3 {
		if t.own>>k&8 != 0 {
			m.sweepVert(w, t, k, base, inside)
		}
	}
}

// off is a quick no for the whole way.
func (t *tri) off(w *work) bool {
	for i := range 3 {
		a, b, c := t.v[0][i], t.v[1][i], t.v[2][i]
		lo, hi := w.lo[i], w.hi[i]
		if (a > hi && b > hi && c > hi) || (a < lo && b < lo && c < lo) {
			return true
		}
	}
	return false
}

// near is a quick no for the capsule at a place.
func (t *tri) near(p Vec3, r, h float64) bool {
	for i := range p {
		reach := r
		if i == 2 {
			reach += h
		}
		a, b, c := t.v[0][i]-p[i], t.v[1][i]-p[i], t.v[2][i]-p[i]
		if min(a, b, c) > reach || max(a, b, c) < -reach {
			return false
		}
	}
	return true
}

// startInside handles a capsule that overlaps the triangle at the start. It
// blocks a way further in; a way out or along is free of this triangle.
func (m *mesh) startInside(w *work, t *tri, base components.NetID) (inside, blocks bool) {
	o := t.closest(w.p, w.h)
	if !(o.dist < w.r) {
		return false, false
	}
	n, depth := o.way(t, w)
	if exact.Dot(w.d, n) >= -w.along || !m.visible(t, o.feature, n) {
		return true, false
	}
	f, fn := m.face(w, t, o.feature, n)
	w.take(0, depth, &contact{0, n, o.onTri, min(uint8(o.feature), 1)}, base, f, fn)
	return true, true
}

// sweepFace: one end of the segment against the plane; true where it meets the
// triangle, even if too late: what is true of a triangle must not depend on
// which one was asked before.
func (m *mesh) sweepFace(w *work, t *tri, base components.NetID, side, end, at, gap float64) bool {
	if gap < 0 {
		if gap < -touch {
			return false
		}
		at = 0
	}
	n := exact.Scale(t.n, side)
	c := exact.AddScaled(w.p, w.d, at)
	c[2] += end
	c = exact.AddScaled(c, n, -w.r)
	if !t.contains(c) {
		return false
	}
	w.take(at, 0, &contact{at, n, c, 0}, base, t, n)
	return true
}

// contains tells whether a point of the plane lies in the triangle, which
// reaches a little over edges inside a flat surface.
func (t *tri) contains(p Vec3) bool {
	for k := range 3 {
		a := t.v[k]
		e := exact.Sub(t.v[(k+1)%3], a)
		in := exact.Dot(exact.Cross(t.n, e), exact.Sub(p, a))
		if in >= 0 {
			continue
		}
		if t.edge[k] >= 0 || float64(in*in) > float64(flatReach*flatReach*exact.Dot(e, e)) {
			return false
		}
	}
	return true
}

// enter is the fraction at which a point at x with the way d comes within r of
// the origin; b = x.d, a = d.d. A start inside counts only as rounding, at 0.
func enter(xx, b, a, r float64, inside bool) (float64, bool) {
	if b >= 0 {
		return 0, false
	}
	c := xx - float64(r*r)
	if c <= 0 {
		return 0, !inside && c >= -float64(2*touch*r)
	}
	disc := float64(b*b) - float64(a*c)
	if disc < 0 {
		return 0, false
	}
	return c / (math.Sqrt(disc) - b), true
}

// sweepEdge: along the edge's direction the stretched and rounded edge looks
// like a stadium: two circles (the ends of the segment) and two flats.
func (m *mesh) sweepEdge(w *work, t *tri, k int, base components.NetID, inside bool) {
	e := &m.edges[t.edge[k]]
	if e.folded && exact.Dot(w.d, e.out[0]) >= 0 && exact.Dot(w.d, e.out[1]) >= 0 {
		return // only the hollow side is met: the faces come first
	}
	p := exact.Sub(w.p, e.a)
	// The distance of the two lines against the stadium's width across them.
	ne := exact.Cross(w.d, e.u)
	a := exact.Dot(ne, ne)
	if a <= float64(w.along*w.along) {
		return // along the edge: the corners are met, if anything
	}
	x := math.Abs(exact.Dot(p, ne)) - float64(w.h*math.Abs(ne[2]))
	if x > 0 && float64(x*x) > float64(float64(w.r*w.r)*a) {
		return
	}
	du, pu := exact.Dot(w.d, e.u), exact.Dot(p, e.u)
	d2, p2 := exact.AddScaled(w.d, e.u, -du), exact.AddScaled(p, e.u, -pu)
	a = exact.Dot(d2, d2)
	uz := e.u[2]
	z2 := Vec3{-float64(e.u[0] * uz), -float64(e.u[1] * uz), 1 - float64(uz*uz)}
	q := float64(e.u[0]*e.u[0]) + float64(e.u[1]*e.u[1])

	best := contact{t: w.t}
	found := false
	if w.h == 0 || q < 1e-14 {
		// A sphere, or an upright edge: both circles are one.
		reach := float64(w.h * math.Abs(uz))
		if at, ok := enter(exact.Dot(p2, p2), exact.Dot(p2, d2), a, w.r, inside); ok && at <= best.t {
			if s := pu + float64(at*du); s >= -touch-reach && s <= e.len+reach+touch {
				found = true
				best = contact{at, exact.AddScaled(p2, d2, at), exact.AddScaled(e.a, e.u, min(max(s, 0), e.len)), 1}
			}
		}
	} else {
		for _, end := range [2]float64{-w.h, w.h} {
			x2 := exact.AddScaled(p2, z2, end)
			at, ok := enter(exact.Dot(x2, x2), exact.Dot(x2, d2), a, w.r, inside)
			if !ok || at > best.t {
				continue
			}
			if s := pu + float64(end*uz) + float64(at*du); s >= -touch && s <= e.len+touch {
				found = true
				best = contact{at, exact.AddScaled(x2, d2, at), exact.AddScaled(e.a, e.u, s), 1}
			}
		}
		root := math.Sqrt(q)
		f := Vec3{-e.u[1] / root, e.u[0] / root, 0}
		g, dg := exact.Dot2(p, f), -exact.Dot2(w.d, f)
		if g < 0 {
			f, g, dg = Vec3{-f[0], -f[1], 0}, -g, -dg
		}
		if gap := g - w.r; dg > w.along && (gap >= 0 || (!inside && gap >= -touch)) {
			at := max(gap, 0) / dg
			if at <= best.t {
				c := exact.AddScaled(p, w.d, at)
				cu := exact.Dot(c, e.u)
				up := (c[2] - float64(cu*uz)) / q // c is s along the edge and up upright
				s := cu - float64(up*uz)
				if math.Abs(up) <= w.h+touch && s >= -touch && s <= e.len+touch {
					found = true
					best = contact{at, f, exact.AddScaled(e.a, e.u, s), 1}
				}
			}
		}
	}
	if found {
		best.n = unit(best.n)
		m.takeFeature(w, t, 1+k, base, &best)
	}
}

// sweepVert: a corner stretched and rounded is an upright capsule, which lies
// within its endless cylinder: where the way enters that tells which part.
func (m *mesh) sweepVert(w *work, t *tri, k int, base components.NetID, inside bool) {
	p := exact.Sub(w.p, t.v[k])
	a, b := exact.Dot2(w.d, w.d), exact.Dot2(p, w.d)
	pp := exact.Dot2(p, p)
	c := pp - float64(w.r*w.r)
	z := p[2]
	if c > 0 {
		if a <= float64(w.along*w.along) || b >= 0 {
			return
		}
		disc := float64(b*b) - float64(a*c)
		if disc < 0 {
			return
		}
		at := c / (math.Sqrt(disc) - b)
		if at > w.t {
			return
		}
		z += float64(at * w.d[2])
		if math.Abs(z) <= w.h {
			n := unit(Vec3{p[0] + float64(at*w.d[0]), p[1] + float64(at*w.d[1]), 0})
			m.takeFeature(w, t, 4+k, base, &contact{at, n, t.v[k], 1})
			return
		}
	} else if math.Abs(z) <= w.h {
		if !inside && b < 0 && c >= -float64(2*touch*w.r) {
			m.takeFeature(w, t, 4+k, base, &contact{0, unit(Vec3{p[0], p[1], 0}), t.v[k], 1})
		}
		return
	}
	x := p
	if z > 0 {
		x[2] -= w.h
	} else {
		x[2] += w.h
	}
	at, ok := enter(exact.Dot(x, x), exact.Dot(x, w.d), exact.Dot(w.d, w.d), w.r, inside)
	if !ok || at > w.t {
		return
	}
	m.takeFeature(w, t, 4+k, base, &contact{at, unit(exact.AddScaled(x, w.d, at)), t.v[k], 1})
}

func (m *mesh) takeFeature(w *work, t *tri, feature int, base components.NetID, c *contact) {
	if !m.visible(t, feature, c.n) {
		return
	}
	f, fn := m.face(w, t, feature, c.n)
	w.take(c.t, 0, c, base, f, fn)
}

// visible is false for a contact with an edge or a corner whose normal leans
// over a face beside it: that face is nearer, so it was met before, or the
// capsule is in it and leaving.
func (m *mesh) visible(t *tri, feature int, n Vec3) bool {
	switch {
	case feature == 0:
		return true
	case feature <= 3:
		k := feature - 1
		if t.edge[k] < 0 {
			return !leans(t, n)
		}
		e := &m.edges[t.edge[k]]
		return e.open || (exact.Dot(n, e.into[0]) <= awaySine && exact.Dot(n, e.into[1]) <= awaySine)
	default:
		i := t.vert[feature-4]
		if i < 0 {
			return !leans(t, n)
		}
		v := &m.verts[i]
		for _, s := range m.spokes[v.spoke : v.spoke+v.spokeN] {
			if exact.Dot(n, s) > awaySine {
				return false
			}
		}
		return true
	}
}

// leans: on a flat surface only its own normal is a contact's.
func leans(t *tri, n Vec3) bool {
	return exact.LenSq(exact.Cross(t.n, n)) > awaySine*awaySine
}

// face is the face that a contact stands for, with its normal turned to the
// capsule's side. At an edge or a corner it is the one that opposes the way
// most: a step down onto a ledge finds the top, a walk against it the front.
func (m *mesh) face(w *work, t *tri, feature int, n Vec3) (*tri, Vec3) {
	best, bestN := t, t.n
	if exact.Dot(n, t.n) < 0 {
		bestN = exact.Neg(t.n)
	}
	var ids []uint32
	var e *edge
	switch {
	case feature >= 4 && t.vert[feature-4] >= 0:
		v := &m.verts[t.vert[feature-4]]
		ids = m.fans[v.fan : v.fan+v.fanN]
	case feature >= 1 && feature <= 3 && t.edge[feature-1] >= 0:
		e = &m.edges[t.edge[feature-1]]
		ids = e.tri[:]
	default:
		return best, bestN
	}
	least := math.Inf(1)
	for i, id := range ids {
		f := &m.tris[m.slot[id]]
		fn := f.n
		cosine := exact.Dot(n, fn)
		switch {
		case e != nil && e.folded:
			fn = e.out[i]
		case cosine < 0:
			fn = exact.Neg(fn)
		}
		if math.Abs(cosine) <= awaySine {
			continue // the contact lies in this face's plane
		}
		if against := exact.Dot(w.d, fn); against < least {
			least, best, bestN = against, f, fn
		}
	}
	return best, bestN
}
