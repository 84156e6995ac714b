package collision

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/stretchr/testify/require"
)

func TestBuildNamesTheShapeThatCannotBe(t *testing.T) {
	nan, huge := math.NaN(), 1e9
	for want, b := range map[string]*Builder{
		"shape 1, box: a coordinate is NaN":      NewBuilder().Floor(0, 1).Box(Vec3{nan, 0, 0}, Vec3{1, 1, 1}, 0),
		"shape 0, box: a size is -1":             NewBuilder().Box(Vec3{}, Vec3{1, -1, 1}, 0),
		"shape 0, box: yaw is +Inf":              NewBuilder().Box(Vec3{}, Vec3{1, 1, 1}, math.Inf(1)),
		"shape 0, ramp: a coordinate is 1e+09":   NewBuilder().Ramp(Vec3{huge, 0, 0}, Vec3{1, 1, 1}, 0),
		"shape 0, stairs: 0 steps":               NewBuilder().Stairs(Vec3{}, 1, 1, 1, 0, 0),
		"shape 2, triangle: a coordinate is NaN": NewBuilder().Floor(0, 1).Floor(1, 1).Triangle(Vec3{}, Vec3{0, nan, 0}, Vec3{}, 0),
		"shape 0, plane: a size is +Inf":         NewBuilder().Floor(0, math.Inf(1)),
		"shape 1, obstacle: id 3 is taken": NewBuilder().Obstacle(components.Obstacle{ID: 3, HalfExtents: Vec3{1, 1, 1}}, components.ObstacleMotion{}).
			Obstacle(components.Obstacle{ID: 3, HalfExtents: Vec3{1, 1, 1}}, components.ObstacleMotion{}),
		"shape 0, spawn: a coordinate is NaN": NewBuilder().Spawn(Vec3{0, 0, nan}),
	} {
		_, err := b.Floor(nan, 1).Build() // the first complaint stays
		require.ErrorIs(t, err, ErrLevel)
		require.ErrorContains(t, err, want)
	}
}

func TestDegenerateAndDoubledTrianglesAreDroppedAndCounted(t *testing.T) {
	a, b, c := Vec3{0, 0, 0}, Vec3{100, 0, 0}, Vec3{0, 100, 0}
	l, err := NewBuilder().Triangle(a, b, c, 0).
		Triangle(a, a, c, 0).Triangle(a, b, Vec3{50, 0, 0}, 0).Triangle(a, b, Vec3{50, 1e-9, 0}, 0).
		Triangle(b, c, a, 0).Triangle(c, b, a, 0).Build()
	require.NoError(t, err)
	require.Equal(t, BuildStats{Triangles: 1, Degenerate: 3, Doubled: 2, Edges: 3, Corners: 3}, l.Stats())
}

func TestBoxEdgesInsideItsFacesAreNotTested(t *testing.T) {
	for _, yaw := range []float64{0, 30, 77.7} {
		l, err := NewBuilder().Box(Vec3{123, -45, 67}, Vec3{11, 22, 33}, yaw).Build()
		require.NoError(t, err)
		require.Equal(t, BuildStats{Triangles: 12, Edges: 12, Corners: 8}, l.Stats(), "yaw %v", yaw)
	}
}

func TestEmptyLevelIsLegal(t *testing.T) {
	l, err := NewBuilder().Build()
	require.NoError(t, err)
	q := capsuleAt(Vec3{})
	q.Delta = Vec3{0, 0, -100}
	require.False(t, l.Sweep(&q))
	require.False(t, l.Ray(&q))
	require.False(t, l.Overlap(&q))
	_, ok := l.Closest(Vec3{}, 1e6)
	require.False(t, ok)
}

func TestHashCoversSurfaceFlagsAndObstacles(t *testing.T) {
	build := func(s Surface, z float64, rate float64) uint64 {
		l, err := NewBuilder().SetSurface(s).Floor(z, 100).
			Obstacle(components.Obstacle{ID: 1, HalfExtents: Vec3{1, 1, 1}}, components.ObstacleMotion{YawRate: rate}).Build()
		require.NoError(t, err)
		return l.Hash()
	}
	base := build(0, 0, 1)
	require.Equal(t, base, build(0, 0, 1))
	require.Equal(t, base, build(0, math.Copysign(0, -1), 1), "-0 is 0")
	require.NotEqual(t, base, build(1, 0, 1))
	require.NotEqual(t, base, build(0, 1e-9, 1))
	require.NotEqual(t, base, build(0, 0, 1.0000000001))
}

func TestHashDoesNotDependOnTheOrderOfShapes(t *testing.T) {
	a, err := NewBuilder().Box(Vec3{}, Vec3{1, 2, 3}, 20).Ramp(Vec3{50, 0, 0}, Vec3{10, 20, 5}, 90).Stairs(Vec3{0, 90, 0}, 3, 20, 2, 5, 10).Build()
	require.NoError(t, err)
	b, err := NewBuilder().Stairs(Vec3{0, 90, 0}, 3, 20, 2, 5, 10).Ramp(Vec3{50, 0, 0}, Vec3{10, 20, 5}, 90).Box(Vec3{}, Vec3{1, 2, 3}, 20).Build()
	require.NoError(t, err)
	require.Equal(t, a.Hash(), b.Hash())
}

func TestStairsRiseByTheirStep(t *testing.T) {
	l, err := NewBuilder().Stairs(Vec3{}, 30, 200, 20, 6, 0).Build()
	require.NoError(t, err)
	for i := range 6 {
		q := Query{Start: Vec3{float64(i)*30 + 15, 100, 500}, Delta: Vec3{0, 0, -600}}
		require.True(t, l.Ray(&q))
		require.InDelta(t, float64(i+1)*20, q.Hit.Point[2], 1e-9)
		require.Equal(t, Vec3{0, 0, 1}, q.Hit.Normal)
	}
	lo, hi := l.Bounds()
	require.Equal(t, Vec3{0, 0, 0}, lo)
	require.Equal(t, Vec3{180, 200, 120}, hi)
}

func TestSolidsAreClosed(t *testing.T) {
	for name, b := range map[string]*Builder{
		"box":  NewBuilder().Box(Vec3{}, Vec3{50, 60, 70}, 33),
		"ramp": NewBuilder().Ramp(Vec3{}, Vec3{300, 100, 80}, 33),
	} {
		l, err := b.Build()
		require.NoError(t, err)
		for i := range l.mesh.edges {
			e := &l.mesh.edges[i]
			require.True(t, e.folded, "%s has a border", name)
			// Outward normals: the convex side is the front.
			for k, id := range e.tri {
				require.Equal(t, l.mesh.tris[l.mesh.slot[id]].n, e.out[k], name)
			}
		}
	}
}

func TestClosestFindsTheNearestSurface(t *testing.T) {
	l := Arena()
	n, ok := l.Closest(Vec3{10, 20, 30}, 100)
	require.True(t, ok)
	require.Equal(t, Vec3{10, 20, 0}, n.Point)
	require.Equal(t, Vec3{0, 0, 1}, n.Normal)
	require.Equal(t, 30.0, n.Distance)
	_, ok = l.Closest(Vec3{10, 20, 30}, 29)
	require.False(t, ok)
	soup := make([][3]Vec3, l.NumTriangles())
	for i := range soup {
		soup[i][0], soup[i][1], soup[i][2], _ = l.Triangle(uint32(i))
	}
	for _, p := range []Vec3{{-2000, -2000, 250}, {1480, 160, 40}, {2000, 2000, 300}, {-100, 1800, 100}} {
		n, ok := l.Closest(p, 1e4)
		require.True(t, ok)
		want := math.Inf(1)
		for _, v := range soup {
			want = min(want, pointTri(p, v))
		}
		require.InDelta(t, want, n.Distance, 1e-9)
		require.InDelta(t, n.Distance, exact.Dist(p, n.Point), 1e-12)
	}
}

func FuzzBuilder(f *testing.F) {
	seed := func(v ...float64) []byte {
		var out []byte
		for _, x := range v {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(x))
		}
		return out
	}
	f.Add(seed(0, 0, 0, 100, 0, 0, 0, 100, 0, 0, 0, 50, 10, 20, 30, 45))
	f.Add(seed(0, 0, 0, 0, 0, 0, math.NaN(), 1e8, -1e8, 1e300, 1e-300, math.Inf(1)))
	f.Add(seed(1e8, 1e8, 1e8, -1e8, 1e8, 1e8, 1e8, -1e8, 1e8, 5, 5, 5))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := NewBuilder()
		next := func() (v float64) {
			if len(data) >= 8 {
				v = math.Float64frombits(binary.LittleEndian.Uint64(data))
				data = data[8:]
			}
			return v
		}
		vec := func() Vec3 { return Vec3{next(), next(), next()} }
		for i := 0; len(data) >= 8 && i < 64; i++ {
			switch i % 5 {
			case 0:
				b.Triangle(vec(), vec(), vec(), Surface(i))
			case 1:
				b.Box(vec(), vec(), next())
			case 2:
				b.Ramp(vec(), vec(), next())
			case 3:
				b.Stairs(vec(), next(), next(), next(), 3, next())
			default:
				b.Floor(next(), next())
			}
		}
		l, err := b.Build()
		if err != nil {
			return
		}
		lo, hi := l.Bounds()
		q := capsuleAt(Vec3{(lo[0] + hi[0]) / 2, (lo[1] + hi[1]) / 2, hi[2] + 200})
		q.Delta = exact.Sub(lo, q.Start)
		l.Sweep(&q)
		if !(q.Hit.Fraction >= 0 && q.Hit.Fraction <= 1) || !exact.Finite(q.Hit.Location) || !exact.Finite(q.Hit.Normal) {
			t.Fatalf("%+v", q.Hit)
		}
		l.Overlap(&q)
		l.Ray(&q)
	})
}
