package collision

import (
	"math"
	"math/rand"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawVec(t *rapid.T, size float64, name string) Vec3 {
	f := rapid.Float64Range(-size, size)
	return Vec3{f.Draw(t, name+".x"), f.Draw(t, name+".y"), f.Draw(t, name+".z")}
}

func drawSweep(t *rapid.T) Query {
	q := Query{Start: drawVec(t, 400, "start"), Delta: drawVec(t, 800, "delta")}
	q.Radius = rapid.Float64Range(5, 50).Draw(t, "radius")
	q.HalfHeight = q.Radius + rapid.Float64Range(0, 60).Draw(t, "half")
	return q
}

func drawSoup(t *rapid.T) [][3]Vec3 {
	return soupOf(rand.New(rand.NewSource(rapid.Int64Range(1, 1<<40).Draw(t, "seed"))), rapid.IntRange(1, 12).Draw(t, "triangles"))
}

func TestSweptCapsuleTouchesAndDoesNotTunnel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		soup := drawSoup(r)
		l := buildSoup(t, soup)
		q := drawSweep(r)
		h := q.HalfHeight - q.Radius
		if surfaceDistance(q.Start, h, soup) < q.Radius+1e-6 {
			return
		}
		l.Sweep(&q)
		if q.Hit.Blocking {
			require.InDelta(r, q.Radius, surfaceDistance(q.Hit.Location, h, soup), 1e-5)
			require.False(r, q.Hit.StartPenetrating)
		}
		for i := 1; i <= 16; i++ {
			p := exact.AddScaled(q.Start, q.Delta, q.Hit.Fraction*float64(i)/16)
			require.Greater(r, surfaceDistance(p, h, soup), q.Radius-1e-5)
		}
	})
}

func TestShorterSweepHasTheSameContact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := buildSoup(t, drawSoup(r))
		q := drawSweep(r)
		l.Sweep(&q)
		s := q
		k := rapid.Float64Range(0.05, 0.95).Draw(r, "share")
		s.Delta = exact.Scale(q.Delta, k)
		l.Sweep(&s)
		if math.Abs(q.Hit.Fraction-k) < 1e-9 {
			return
		}
		require.Equal(r, q.Hit.Fraction < k, s.Hit.Blocking)
		if s.Hit.Blocking {
			require.InDelta(r, q.Hit.Fraction, float64(s.Hit.Fraction*k), 1e-9)
		}
	})
}

func TestOrderOfTrianglesChangesNoBit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		soup := drawSoup(r)
		l := buildSoup(t, soup)
		turned := make([][3]Vec3, len(soup))
		for i, k := range rapid.Permutation(indices(len(soup))).Draw(r, "order") {
			v := soup[k]
			turned[i] = [3]Vec3{v[(i+1)%3], v[(i+2)%3], v[i%3]}
		}
		other := buildSoup(t, turned)
		require.Equal(r, l.Hash(), other.Hash())
		for range 8 {
			q := drawSweep(r)
			o := q
			l.Sweep(&q)
			other.Sweep(&o)
			require.Equal(r, q, o)
			l.Overlap(&q)
			other.Overlap(&o)
			require.Equal(r, q, o)
		}
	})
}

// treeless asks every triangle, last first.
func treeless(l *Level, q *Query) {
	var w work
	w.begin(q)
	for id := len(l.mesh.tris) - 1; id >= 0; id-- {
		l.mesh.sweepTri(&w, &l.mesh.tris[l.mesh.slot[id]], 0)
	}
	w.finish(q)
}

func TestTreeFindsWhatAskingEveryTriangleFinds(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	l := Arena()
	hits := 0
	for range 2000 {
		q := capsuleAt(Vec3{rng.Float64()*5600 - 2800, rng.Float64()*5600 - 2800, rng.Float64() * 400})
		q.Delta = randVec(rng, math.Pow(10, 4*rng.Float64()))
		o := q
		l.Sweep(&q)
		treeless(l, &o)
		require.Equal(t, o, q)
		if q.Hit.Blocking {
			hits++
		}
	}
	require.Greater(t, hits, 500)
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// manyFloor is a level floor at z 0 of 2 n² triangles with uneven lines.
func manyFloor(t *testing.T, n int, offset Vec3) *Level {
	rng := rand.New(rand.NewSource(4))
	lines := make([]float64, n+1)
	for i := range lines {
		lines[i] = float64(i)*40 + 30*rng.Float64()
	}
	b := NewBuilder()
	for i := range n {
		for k := range n {
			at := func(i, k int) Vec3 { return exact.Add(Vec3{lines[i], lines[k], 0}, offset) }
			p, q, r, s := at(i, k), at(i+1, k), at(i+1, k+1), at(i, k+1)
			if (i+k)%2 == 0 {
				b.Triangle(p, q, r, 0).Triangle(r, s, p, 0)
			} else {
				b.Triangle(q, p, s, 0).Triangle(q, r, s, 0) // the other winding and the other diagonal
			}
		}
	}
	l, err := b.Build()
	require.NoError(t, err)
	return l
}

func TestFloorOfManyTrianglesIsSmooth(t *testing.T) {
	l := manyFloor(t, 20, Vec3{})
	require.Equal(t, 80, l.Stats().Edges, "only the border can be touched")
	rng := rand.New(rand.NewSource(5))
	for range 3000 {
		q := capsuleAt(Vec3{100 + 600*rng.Float64(), 100 + 600*rng.Float64(), 88 + 3*rng.Float64()})
		q.Delta = Vec3{40 * rng.NormFloat64(), 40 * rng.NormFloat64(), -10}
		require.True(t, l.Sweep(&q))
		require.Equal(t, Vec3{0, 0, 1}, q.Hit.Normal)
		require.Equal(t, Vec3{0, 0, 1}, q.Hit.FaceNormal)
		require.InDelta(t, 88, q.Hit.Location[2], 1e-9)
	}
}

func TestFloorOfManyTrianglesLetsSlideAlong(t *testing.T) {
	l := manyFloor(t, 20, Vec3{})
	rng := rand.New(rand.NewSource(6))
	for _, in := range []float64{0, 1e-9, 1e-3, 1, 20} {
		for range 500 {
			q := capsuleAt(Vec3{100 + 600*rng.Float64(), 100 + 600*rng.Float64(), 88 - in})
			q.Delta = Vec3{30 * rng.NormFloat64(), 30 * rng.NormFloat64(), 0}
			require.False(t, l.Sweep(&q), "%v in: %+v", in, q.Hit)
		}
	}
}

func TestRestingCapsuleIsNotInside(t *testing.T) {
	l := manyFloor(t, 20, Vec3{})
	q := capsuleAt(Vec3{300, 300, 150})
	q.Delta = Vec3{11, 7, -100}
	require.True(t, l.Sweep(&q))
	q.Start, q.Delta = q.Hit.Location, Vec3{0, 0, -5}
	require.False(t, l.Overlap(&q))
	require.True(t, l.Sweep(&q))
	require.False(t, q.Hit.StartPenetrating)
	require.InDelta(t, 0, q.Hit.Fraction, 1e-9)
}

func TestStartInsideBlocksOnlyTheWayIn(t *testing.T) {
	l, err := NewBuilder().Box(Vec3{}, Vec3{100, 100, 100}, 0).Build()
	require.NoError(t, err)
	q := capsuleAt(Vec3{129, 0, 0}) // 5 cm inside the +x face
	q.Delta = Vec3{-10, 0, 0}
	require.True(t, l.Sweep(&q))
	require.True(t, q.Hit.StartPenetrating)
	require.Zero(t, q.Hit.Fraction)
	require.Equal(t, Vec3{1, 0, 0}, q.Hit.Normal)
	require.InDelta(t, 5, q.Hit.Depth, 1e-9)
	for _, d := range []Vec3{{10, 0, 0}, {0, 30, 0}, {5, -30, 2}} {
		q.Delta = d
		require.False(t, l.Sweep(&q), "%v", d)
	}
	require.True(t, l.Overlap(&q))
	require.Equal(t, 1, q.NumPlanes)
	require.Equal(t, Plane{Normal: Vec3{1, 0, 0}, Depth: q.Planes[0].Depth}, q.Planes[0])
}

func TestZeroLengthSweepHitsNothing(t *testing.T) {
	l, err := NewBuilder().Floor(0, 1000).Build()
	require.NoError(t, err)
	for _, z := range []float64{200, 88, 50} {
		q := capsuleAt(Vec3{0, 0, z})
		require.False(t, l.Sweep(&q))
		require.Equal(t, Hit{Fraction: 1, Location: q.Start}, q.Hit)
	}
}

func TestBothSidesOfAFaceBlock(t *testing.T) {
	l, err := NewBuilder().Floor(0, 1000).Build()
	require.NoError(t, err)
	q := capsuleAt(Vec3{0, 0, -200})
	q.Delta = Vec3{0, 0, 300}
	require.True(t, l.Sweep(&q))
	require.Equal(t, Vec3{0, 0, -1}, q.Hit.Normal)
	require.InDelta(t, -88, q.Hit.Location[2], 1e-9)
}

func TestLedgeUnderTheFeetGivesItsTop(t *testing.T) {
	l, err := NewBuilder().Box(Vec3{0, 0, -50}, Vec3{100, 100, 50}, 0).Build()
	require.NoError(t, err)
	q := capsuleAt(Vec3{120, 0, 150}) // 20 cm past the edge
	q.Delta = Vec3{0, 0, -100}
	require.True(t, l.Sweep(&q))
	require.Equal(t, Vec3{0, 0, 1}, q.Hit.FaceNormal)
	require.InDelta(t, 20.0/34, q.Hit.Normal[0], 1e-9)
	require.InDelta(t, 100, q.Hit.Point[0], 1e-9)
	q.Start, q.Delta = Vec3{200, 0, 30}, Vec3{-100, 0, 0} // against the same edge from the side
	q.HalfHeight = 34
	q.Start[2] = 10
	require.True(t, l.Sweep(&q))
	require.Equal(t, Vec3{1, 0, 0}, q.Hit.FaceNormal)
}

func TestUprightWallIsMetAtItsLowestPoint(t *testing.T) {
	l, err := NewBuilder().Box(Vec3{}, Vec3{50, 300, 300}, 0).Build()
	require.NoError(t, err)
	for _, d := range []Vec3{{-300, 0, 0}, {300, 0, 0}, {-300, 30, 0}} {
		q := capsuleAt(Vec3{-d[0], 10, 20})
		q.Delta = d
		require.True(t, l.Sweep(&q))
		require.Equal(t, 20-54.0, q.Hit.Point[2], "%v", d)
	}
}

func TestUprightWallOfEitherWindingIsMetAtItsLowestPoint(t *testing.T) {
	a, b, c := Vec3{0, -900, -500}, Vec3{0, 900, -500}, Vec3{0, 0, 2000}
	for _, v := range [][3]Vec3{{a, b, c}, {a, c, b}} {
		l := buildSoup(t, [][3]Vec3{v})
		for _, x := range []float64{-300, 300} {
			q := capsuleAt(Vec3{x, 0, 20})
			q.Delta = Vec3{-2 * x, 0, 0}
			require.True(t, l.Sweep(&q))
			require.Equal(t, 20-54.0, q.Hit.Point[2], "from %v", x)
		}
	}
}

func TestTiesOfOneTriangleAreKeptInOneOrder(t *testing.T) {
	f := &tri{id: 5}
	ties := []contact{
		{0.5, Vec3{0, 0, 1}, Vec3{1, 2, 3}, 0},
		{0.5, Vec3{0, 0, 1}, Vec3{1, 2, 3}, 1},
		{0.5, Vec3{0, 0, 1}, Vec3{0, 2, 3}, 1},
		{0.5, Vec3{0, 1, 0}, Vec3{0, 2, 3}, 1},
	}
	kept := func(a, b contact) (Vec3, Vec3, uint8) {
		w := work{t: 1}
		w.take(a.t, 0, &a, 0, f, a.n)
		w.take(b.t, 0, &b, 0, f, b.n)
		return w.n, w.point, w.rank
	}
	for i, a := range ties {
		for _, b := range ties[i+1:] {
			n, p, r := kept(a, b)
			n2, p2, r2 := kept(b, a)
			require.Equal(t, []any{n, p, r}, []any{n2, p2, r2}, "%v %v", a, b)
		}
	}
}

func TestSurfaceFlagsComeBack(t *testing.T) {
	b := NewBuilder().SetSurface(SurfaceNoStepUp).Box(Vec3{0, 0, 0}, Vec3{50, 50, 50}, 0)
	b.SetSurface(SurfaceWalkable|0x100).Box(Vec3{300, 0, 0}, Vec3{50, 50, 50}, 0)
	l, err := b.Build()
	require.NoError(t, err)
	q := capsuleAt(Vec3{0, 0, 200})
	q.Delta = Vec3{0, 0, -200}
	require.True(t, l.Sweep(&q))
	require.Equal(t, SurfaceNoStepUp, q.Hit.Surface)
	require.Equal(t, 0, l.Source(q.Hit.Triangle))
	q.Start[0] = 300
	require.True(t, l.Ray(&q))
	require.Equal(t, SurfaceWalkable|0x100, q.Hit.Surface)
	require.Equal(t, 1, l.Source(q.Hit.Triangle))
}

func TestFarFromTheOriginIsTheSame(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	offset := Vec3{2e6, -2e6, 1e5} // 20 km
	soup := soupOf(rng, 60)
	moved := make([][3]Vec3, len(soup))
	for i, v := range soup {
		for k := range v {
			moved[i][k] = exact.Add(v[k], offset)
		}
	}
	near, far := buildSoup(t, soup), buildSoup(t, moved)
	hits := 0
	for range 2000 {
		q := capsuleAt(randVec(rng, 400))
		q.Delta = randVec(rng, 300)
		o := q
		o.Start = exact.Add(q.Start, offset)
		if near.Overlap(&q) {
			continue
		}
		near.Sweep(&q)
		far.Sweep(&o)
		if !q.Hit.Blocking || -exact.Dot(q.Hit.Normal, q.Delta) < 1e-3*exact.Len(q.Delta) {
			continue
		}
		hits++
		require.InDelta(t, 0, exact.Dist(exact.Add(q.Hit.Location, offset), o.Hit.Location), 1e-3)
	}
	require.Greater(t, hits, 200)
}

func TestAbsurdQueriesAreRefusedAndCounted(t *testing.T) {
	w := arenaWorld(t)
	good := capsuleAt(Vec3{0, 0, 200})
	good.Delta = Vec3{0, 0, -500}
	n := uint64(0)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300} {
		for i := range 8 {
			q := good
			switch {
			case i < 3:
				q.Start[i] = bad
			case i < 6:
				q.Delta[i-3] = bad
			case i == 6:
				q.Radius = bad
			default:
				q.HalfHeight = bad
			}
			require.False(t, w.Sweep(&q), "%v in part %d", bad, i)
			require.False(t, w.Overlap(&q))
			if n += 2; i < 6 {
				require.False(t, w.Ray(&q))
				n++
			}
		}
	}
	require.Equal(t, n, w.Counts().Queries)
	require.True(t, w.Sweep(&good))
}

func TestQueriesAllocateNothing(t *testing.T) {
	w := arenaWorld(t)
	var g Geometry = w
	q := capsuleAt(Vec3{1500, 100, 80})
	q.Time = 3 * components.Second
	require.Zero(t, testing.AllocsPerRun(200, func() {
		q.Start, q.Delta = Vec3{1500, 100, 300}, Vec3{200, 100, -400}
		g.Sweep(&q)
		g.Ray(&q)
		g.BasePose(ArenaLift, q.Time)
		q.Start = Vec3{1500, 152, 60}
		g.Overlap(&q)
	}))
}

func FuzzQuery(f *testing.F) {
	f.Add(0.0, 0.0, 200.0, 0.0, 0.0, -500.0, 34.0, 88.0, int64(0))
	f.Add(1500.0, 0.0, 88.0, 100.0, 0.0, -1.0, 34.0, 40.0, int64(200000))
	f.Add(-1500.0, 424.0, 20.0, 1e-9, 0.0, 0.0, 34.0, 88.0, int64(-1))
	f.Add(math.NaN(), math.Inf(1), 1e308, -1e308, 1e-308, 0.0, 5e-324, -1.0, int64(math.MaxInt64))
	w := NewWorld()
	if err := w.AddLevel(0, Arena()); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, x, y, z, dx, dy, dz, r, h float64, at int64) {
		q := Query{Start: Vec3{x, y, z}, Delta: Vec3{dx, dy, dz}, Radius: r, HalfHeight: h, Time: components.Ticks(at)}
		for _, ask := range []func(*Query) bool{w.Sweep, w.Ray} {
			got := ask(&q)
			if got != q.Hit.Blocking || !(q.Hit.Fraction >= 0 && q.Hit.Fraction <= 1) {
				t.Fatalf("%v %+v", got, q.Hit)
			}
			if !got {
				continue
			}
			for _, v := range []Vec3{q.Hit.Normal, q.Hit.FaceNormal} {
				if math.Abs(exact.Len(v)-1) > 1e-6 {
					t.Fatalf("no unit vector: %+v", q.Hit)
				}
			}
		}
		w.Overlap(&q)
		for _, p := range q.Planes[:q.NumPlanes] {
			if !(p.Depth > 0) || math.Abs(exact.Len(p.Normal)-1) > 1e-6 {
				t.Fatalf("plane %+v", p)
			}
		}
	})
}
