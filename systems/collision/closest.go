package collision

import (
	"math"

	"github.com/gaitnet/gait/components/exact"
)

// nearest is the closest pair of a triangle and an upright segment.
type nearest struct {
	dist         float64
	onTri, onSeg Vec3
	// feature of the triangle: 0 its inside, 1+k the edge from v[k], 4+k v[k].
	feature int
}

// way is the normal out of the triangle and how far the capsule is in. Where
// the segment pierces the triangle no distance tells: out is the side of the
// capsule's centre.
func (o *nearest) way(t *tri, w *work) (n Vec3, depth float64) {
	if o.dist > 1e-9 {
		d := exact.Sub(o.onSeg, o.onTri)
		l := exact.Len(d)
		return Vec3{d[0] / l, d[1] / l, d[2] / l}, w.r - o.dist
	}
	s := exact.Dot(exact.Sub(w.p, t.v[0]), t.n)
	n = t.n
	if s < 0 {
		n, s = exact.Neg(n), -s
	}
	o.feature = 0
	return n, w.r + float64(w.h*math.Abs(t.n[2])) - s
}

// closest finds the nearest pair of the triangle and the segment p ± h.
func (t *tri) closest(p Vec3, h float64) nearest {
	s := exact.Dot(exact.Sub(p, t.v[0]), t.n)
	if lean := float64(h * math.Abs(t.n[2])); math.Abs(s) <= lean && lean > 0 {
		x := p
		x[2] -= s / t.n[2]
		if t.containsExactly(x) {
			return nearest{0, x, x, 0}
		}
	}
	best := nearest{dist: math.Inf(1)}
	keep := func(onTri, onSeg Vec3, feature int) {
		if d := exact.DistSq(onTri, onSeg); d < best.dist {
			best = nearest{d, onTri, onSeg, feature}
		}
	}
	lo, hi := p, p
	lo[2], hi[2] = p[2]-h, p[2]+h
	x, f := t.closestPoint(lo)
	keep(x, lo, f)
	if h > 0 {
		x, f = t.closestPoint(hi)
		keep(x, hi, f)
		for k := range 3 {
			a, b := t.v[k], t.v[(k+1)%3]
			onEdge, onSeg, s, ok := closestUpright(p, h, a, exact.Sub(b, a))
			switch {
			case !ok:
			case s == 0:
				keep(a, onSeg, 4+k)
			case s == 1:
				keep(b, onSeg, 4+(k+1)%3)
			default:
				keep(onEdge, onSeg, 1+k)
			}
		}
	}
	best.dist = math.Sqrt(best.dist)
	return best
}

func (t *tri) containsExactly(p Vec3) bool {
	for k := range 3 {
		e := exact.Sub(t.v[(k+1)%3], t.v[k])
		if exact.Dot(exact.Cross(t.n, e), exact.Sub(p, t.v[k])) < 0 {
			return false
		}
	}
	return true
}

// closestPoint is the point of the triangle nearest to p, and its feature. The
// regions are told by the signs of the corners' projections.
func (t *tri) closestPoint(p Vec3) (Vec3, int) {
	a, b, c := t.v[0], t.v[1], t.v[2]
	ab, ac := exact.Sub(b, a), exact.Sub(c, a)
	ap := exact.Sub(p, a)
	d1, d2 := exact.Dot(ab, ap), exact.Dot(ac, ap)
	if d1 <= 0 && d2 <= 0 {
		return a, 4
	}
	bp := exact.Sub(p, b)
	d3, d4 := exact.Dot(ab, bp), exact.Dot(ac, bp)
	if d3 >= 0 && d4 <= d3 {
		return b, 5
	}
	vc := float64(d1*d4) - float64(d3*d2)
	if vc <= 0 && d1 >= 0 && d3 <= 0 {
		return exact.AddScaled(a, ab, d1/(d1-d3)), 1
	}
	cp := exact.Sub(p, c)
	d5, d6 := exact.Dot(ab, cp), exact.Dot(ac, cp)
	if d6 >= 0 && d5 <= d6 {
		return c, 6
	}
	vb := float64(d5*d2) - float64(d1*d6)
	if vb <= 0 && d2 >= 0 && d6 <= 0 {
		return exact.AddScaled(a, ac, d2/(d2-d6)), 3
	}
	va := float64(d3*d6) - float64(d5*d4)
	if va <= 0 && d4-d3 >= 0 && d5-d6 >= 0 {
		return exact.AddScaled(b, exact.Sub(c, b), (d4-d3)/((d4-d3)+(d5-d6))), 2
	}
	// Inside: down the normal, which is exact for level floors.
	return exact.AddScaled(p, t.n, -exact.Dot(ap, t.n)), 0
}

// closestUpright is the nearest pair of the edge a + s*d (s in 0..1) and the
// upright segment p ± h; false where that is at an end of the segment, which is
// looked at as a point.
func closestUpright(p Vec3, h float64, a, d Vec3) (onEdge, onSeg Vec3, s float64, ok bool) {
	r := exact.Sub(p, a)
	if flat := exact.Dot2(d, d); flat > float64(1e-20*exact.Dot(d, d)) {
		s = min(max(exact.Dot2(r, d)/flat, 0), 1)
	} else {
		s = min(max(r[2]/d[2], 0), 1)
	}
	up := float64(s*d[2]) - r[2]
	if up < -h || up > h {
		return Vec3{}, Vec3{}, 0, false
	}
	onSeg = p
	onSeg[2] += up
	return exact.AddScaled(a, d, s), onSeg, s, true
}
