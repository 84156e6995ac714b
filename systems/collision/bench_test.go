package collision

import (
	"testing"

	"github.com/gaitnet/gait/components"
)

func benchQueries(b *testing.B, kind func(i int) bool) (*Level, []Query) {
	l := loadOracle(b)
	var out []Query
	for i, r := range records[sweepRecord](b, "sweeps.bin.gz", 20) {
		if kind(i%8) && len(out) < 8192 {
			out = append(out, Query{Start: r.P.gait(), Delta: r.D.gait(), Radius: oracleRadius, HalfHeight: oracleHalf})
		}
	}
	return l, out
}

// The sweeps of a walking step on the oracle's level of 111,000 triangles.
func BenchmarkSweep(b *testing.B) {
	for _, c := range []struct {
		name string
		kind func(i int) bool
	}{
		{"horizontal_0.1m", func(k int) bool { return k < 2 }},
		{"down_0.5m", func(k int) bool { return k == 3 }},
		{"up_0.45m", func(k int) bool { return k == 4 }},
		{"any_20m", func(k int) bool { return k == 6 }},
	} {
		b.Run(c.name, func(b *testing.B) {
			l, qs := benchQueries(b, c.kind)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				l.Sweep(&qs[i%len(qs)])
			}
		})
	}
}

func BenchmarkRay(b *testing.B) {
	l, qs := benchQueries(b, func(k int) bool { return k == 3 })
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		l.Ray(&qs[i%len(qs)])
	}
}

// A sweep among 300 obstacles that are all moving.
func BenchmarkSweepAmongObstacles(b *testing.B) {
	w := arenaWorld(b)
	for i := range 300 {
		o := components.Obstacle{ID: components.NetID(i + 10), HalfExtents: Vec3{50, 50, 50}}
		m := components.ObstacleMotion{Kind: components.MotionShuttle, Origin: Vec3{float64(i%20)*250 - 2500, float64(i/20)*250 - 2000, 300},
			Travel: Vec3{100, 0, 0}, YawRate: 12, Period: 10 * second, Dwell: second}
		if err := w.AddObstacle(o, m); err != nil {
			b.Fatal(err)
		}
	}
	q := capsuleAt(Vec3{0, 0, 200})
	q.Delta = Vec3{10, 0, -50}
	b.ReportAllocs()
	for i := range b.N {
		q.Time = components.Ticks(i)
		w.Sweep(&q)
	}
}
