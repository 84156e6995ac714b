package collision

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// rayTri meets a line with one triangle, from either side. Every edge reaches
// out by a micrometre's hundredth, so that no ray falls between two faces.
func (m *mesh) rayTri(w *work, t *tri, base components.NetID) {
	dn := exact.Dot(w.d, t.n)
	if dn == 0 {
		return
	}
	s := exact.Dot(exact.Sub(w.p, t.v[0]), t.n)
	at := -s / dn
	if !(at >= 0 && at <= w.t) {
		return
	}
	x := exact.AddScaled(w.p, w.d, at)
	for k := range 3 {
		a := t.v[k]
		e := exact.Sub(t.v[(k+1)%3], a)
		in := exact.Dot(exact.Cross(t.n, e), exact.Sub(x, a))
		if in < 0 && float64(in*in) > float64(touch*touch*exact.Dot(e, e)) {
			return
		}
	}
	n := t.n
	if dn > 0 {
		n = exact.Neg(n)
	}
	w.take(at, 0, &contact{at, n, x, 0}, base, t, n)
}
