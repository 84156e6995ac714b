package collision

import (
	"math"
	"math/rand"
	"testing"

	"github.com/gaitnet/gait/components/exact"
	"github.com/stretchr/testify/require"
)

// The truth for strangers: the distance of the capsule's segment to a triangle
// by golden sections over the segment (it is convex), the contact by a search
// for the least distance along the way and halving before it. Slow, and with
// nothing in common with the closed form.

const golden = 0.6180339887498949

// least finds the place of the least value of a convex f within lo..hi.
func least(lo, hi float64, n int, f func(float64) float64) float64 {
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := f(a), f(b)
	for range n {
		if fa < fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}

// pointTri is the distance of a point to a triangle by its parts: the plane
// where the foot lies inside, else the least over the three edges.
func pointTri(p Vec3, v [3]Vec3) float64 {
	n := v[1].Sub(v[0]).Cross(v[2].Sub(v[0])).Normalize()
	inside := true
	best := math.Inf(1)
	for k := range 3 {
		a, e := v[k], v[(k+1)%3].Sub(v[k])
		if n.Cross(e).Dot(p.Sub(a)) < 0 {
			inside = false
		}
		s := min(max(p.Sub(a).Dot(e)/e.Dot(e), 0), 1)
		best = min(best, p.Sub(a.Add(e.Mul(s))).Len())
	}
	if inside {
		return math.Abs(n.Dot(p.Sub(v[0])))
	}
	return best
}

func bruteDistance(p Vec3, h float64, v [3]Vec3) float64 {
	f := func(e float64) float64 { return pointTri(p.Add(Vec3{0, 0, e}), v) }
	// The ends are looked at themselves: sections never reach them.
	return min(f(-h), f(h), f(least(-h, h, 36, f)))
}

func surfaceDistance(p Vec3, h float64, soup [][3]Vec3) float64 {
	d := math.Inf(1)
	for _, v := range soup {
		d = min(d, bruteDistance(p, h, v))
	}
	return d
}

// bruteSweep is the fraction of the first contact, 2 if none. least is how near
// the way comes to the triangles that it does not touch.
func bruteSweep(p, d Vec3, r, h float64, soup [][3]Vec3) (fraction, nearest float64) {
	fraction, nearest = 2, math.Inf(1)
	for _, v := range soup {
		f := func(t float64) float64 { return bruteDistance(p.Add(d.Mul(t)), h, v) }
		at := least(0, 1, 40, f)
		if f(1) < f(at) {
			at = 1
		}
		nearest = min(nearest, math.Abs(f(at)-r))
		if f(at) > r || f(0) < r {
			continue
		}
		lo, hi := 0.0, at
		for range 40 {
			if mid := (lo + hi) / 2; f(mid) > r {
				lo = mid
			} else {
				hi = mid
			}
		}
		fraction = min(fraction, hi)
	}
	return fraction, nearest
}

func randVec(rng *rand.Rand, size float64) Vec3 {
	return Vec3{(rng.Float64()*2 - 1) * size, (rng.Float64()*2 - 1) * size, (rng.Float64()*2 - 1) * size}
}

// soupOf makes triangles of all kinds: any, upright, level, sharing edges.
func soupOf(rng *rand.Rand, n int) [][3]Vec3 {
	var soup [][3]Vec3
	for len(soup) < n {
		c := randVec(rng, 250)
		a, b, d := c.Add(randVec(rng, 150)), c.Add(randVec(rng, 150)), c.Add(randVec(rng, 150))
		switch rng.Intn(4) {
		case 0: // an upright wall of two
			b = Vec3{a[0], a[1], b[2]}
			soup = append(soup, [3]Vec3{a, b, d}, [3]Vec3{b, a, Vec3{2*a[0] - d[0], 2*a[1] - d[1], d[2]}})
		case 1: // a level floor of two
			b[2], d[2] = a[2], a[2]
			soup = append(soup, [3]Vec3{a, b, d}, [3]Vec3{a, d, d.Add(a.Sub(b))})
		case 2: // a fold
			soup = append(soup, [3]Vec3{a, b, d}, [3]Vec3{a, d, c.Add(randVec(rng, 150))})
		default:
			soup = append(soup, [3]Vec3{a, b, d})
		}
	}
	return soup
}

func buildSoup(t testing.TB, soup [][3]Vec3) *Level {
	b := NewBuilder()
	for _, v := range soup {
		b.Triangle(v[0], v[1], v[2], 0)
	}
	l, err := b.Build()
	require.NoError(t, err)
	require.Zero(t, l.Stats().Degenerate)
	return l
}

func TestSweepsAgreeWithSearchedContacts(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	hits, misses := 0, 0
	for range 30 {
		soup := soupOf(rng, 5)
		l := buildSoup(t, soup)
		for range 5 {
			q := Query{Start: randVec(rng, 500), Radius: 10 + 40*rng.Float64()}
			q.Delta = randVec(rng, 200).Sub(q.Start.Mul(1.4))
			q.HalfHeight = q.Radius + 60*rng.Float64()
			if rng.Intn(3) == 0 {
				q.Delta[rng.Intn(3)] = 0
			}
			h := q.HalfHeight - q.Radius
			if surfaceDistance(q.Start, h, soup) < q.Radius+1e-3 {
				continue
			}
			want, nearest := bruteSweep(q.Start, q.Delta, q.Radius, h, soup)
			if nearest < 1e-5 {
				continue // a graze: both answers are right
			}
			if got := l.Sweep(&q); want > 1 {
				require.False(t, got, "%+v", q.Hit)
				misses++
				continue
			}
			require.True(t, q.Hit.Blocking, "missed %v in %v", want, soup)
			require.InDelta(t, want*exact.Len(q.Delta), q.Hit.Fraction*exact.Len(q.Delta), 1e-4)
			// The normal joins the surface and the segment.
			on := q.Hit.Point.Add(q.Hit.Normal.Mul(q.Radius))
			off := on.Sub(q.Hit.Location)
			require.InDelta(t, 0, exact.Len2(off), 1e-6)
			require.LessOrEqual(t, math.Abs(off[2]), h+1e-6)
			hits++
		}
	}
	require.Greater(t, hits, 40)
	require.Greater(t, misses, 10)
}

func TestOverlapsAgreeWithSearchedDistances(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	inside, outside := 0, 0
	for range 80 {
		soup := soupOf(rng, 5)
		l := buildSoup(t, soup)
		for range 30 {
			q := Query{Start: randVec(rng, 300), Radius: 10 + 40*rng.Float64()}
			q.HalfHeight = q.Radius + 60*rng.Float64()
			want := surfaceDistance(q.Start, q.HalfHeight-q.Radius, soup)
			if math.Abs(want-q.Radius) < 1e-5 {
				continue
			}
			got := l.Overlap(&q)
			require.Equal(t, want < q.Radius, got)
			if !got {
				outside++
				continue
			}
			inside++
			if want > 1e-3 { // the segment pierces nothing
				require.InDelta(t, q.Radius-want, q.Planes[0].Depth, 1e-5)
			}
			for i := 1; i < q.NumPlanes; i++ {
				require.GreaterOrEqual(t, q.Planes[i-1].Depth, q.Planes[i].Depth)
			}
		}
	}
	require.Greater(t, inside, 100)
	require.Greater(t, outside, 100)
}
