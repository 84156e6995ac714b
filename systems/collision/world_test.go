package collision

import (
	"math"
	"math/rand"
	"sync"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const second = components.Second

func shuttleMotion() components.ObstacleMotion {
	return components.ObstacleMotion{Kind: components.MotionShuttle, Origin: Vec3{100, 0, 0}, Travel: Vec3{0, 0, 400},
		Period: 10 * second, Dwell: 3 * second}
}

func TestShuttleRestsAtBothEnds(t *testing.T) {
	m := shuttleMotion()
	for _, c := range []struct {
		at components.Ticks
		z  float64
	}{{0, 0}, {3 * second, 0}, {4 * second, 200}, {5 * second, 400}, {8 * second, 400}, {9 * second, 200}, {10 * second, 0}, {-second, 200}} {
		require.Equal(t, Vec3{100, 0, c.z}, PoseAt(&m, c.at).Location, "at %v", c.at)
	}
}

func TestShuttleHasConstantSpeed(t *testing.T) {
	m := shuttleMotion()
	m.Period++ // odd
	for at := 3*second + 1; at < 5*second; at += 997 {
		up := PoseAt(&m, at).Location[2] - PoseAt(&m, at-1).Location[2]
		require.InDelta(t, 400.0/(2*57600+0.5), up, 1e-9)
	}
}

func TestPosesDoNotDriftInWeeks(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := shuttleMotion()
		m.Period = components.Ticks(rapid.Int64Range(7*int64(second), 1e7).Draw(r, "period"))
		m.Phase = components.Ticks(rapid.Int64Range(-1e9, 1e9).Draw(r, "phase"))
		at := components.Ticks(rapid.Int64Range(0, 1e7).Draw(r, "at"))
		turns := components.Ticks(rapid.Int64Range(-1e6, 1e6).Draw(r, "turns"))
		require.Equal(r, PoseAt(&m, at), PoseAt(&m, at+turns*m.Period))
	})
}

func TestTurningIsExactAfterDays(t *testing.T) {
	for _, rate := range []float64{12, -12, 45, 0.5, 7, -33} {
		m := components.ObstacleMotion{Yaw: 10, YawRate: rate}
		for _, s := range []int64{0, 1, 30, 100000, 86400 * 30} {
			want := math.Remainder(10+rate*float64(s), 360)
			off := math.Remainder(PoseAt(&m, components.Ticks(s)*second).Yaw-want, 360)
			require.InDelta(t, 0, off, 1e-9, "rate %v after %v s", rate, s)
		}
	}
	// Rates with many digits keep their angle to rounding.
	m := components.ObstacleMotion{YawRate: 12.3456789}
	a, b := PoseAt(&m, 100000*second).Yaw, PoseAt(&m, 100000*second+second/10).Yaw
	require.InDelta(t, 1.23456789, b-a, 1e-9)
}

func TestBaseVelocityIsTheDerivativeOfThePose(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := NewWorld()
		m := shuttleMotion()
		m.Travel = drawVec(r, 500, "travel")
		m.YawRate = rapid.Float64Range(-90, 90).Draw(r, "rate")
		require.NoError(r, w.AddObstacle(components.Obstacle{ID: 7, HalfExtents: Vec3{50, 50, 10}}, m))
		at := components.Ticks(rapid.Int64Range(0, 20*int64(second)).Draw(r, "at"))
		local := drawVec(r, 200, "point")
		place := func(at components.Ticks) Vec3 {
			p, _ := w.BasePose(7, at)
			return exact.Add(p.Location, exact.RotateYaw(local, p.Yaw))
		}
		const d = 16
		for _, corner := range []components.Ticks{0, 3 * second, 5 * second, 8 * second, 10 * second} {
			if k := wrap(at, 10*second) - corner; k > -2*d && k < 2*d {
				return
			}
		}
		v, ok := w.BaseVelocity(7, at, place(at))
		require.True(r, ok)
		diff := exact.Scale(exact.Sub(place(at+d), place(at-d)), components.TicksPerSecond/(2*d))
		require.InDelta(r, 0, exact.Dist(v, diff), 1e-3)
	})
}

func TestKeyframesInterpolateAndHold(t *testing.T) {
	w := NewWorld()
	o := components.Obstacle{ID: 4, HalfExtents: Vec3{50, 50, 10}}
	require.NoError(t, w.AddObstacle(o, components.ObstacleMotion{Kind: components.MotionKeyframes, Origin: Vec3{5, 5, 5}}))
	p, _ := w.BasePose(4, 0)
	require.Equal(t, Vec3{5, 5, 5}, p.Location)
	require.True(t, w.PushKeyframe(4, 100, components.Pose{Location: Vec3{0, 0, 0}, Yaw: 170}))
	require.True(t, w.PushKeyframe(4, 200, components.Pose{Location: Vec3{100, 0, 0}, Yaw: -170}))
	for _, c := range []struct {
		at     components.Ticks
		x, yaw float64
	}{{50, 0, 170}, {100, 0, 170}, {125, 25, 175}, {150, 50, 180}, {175, 75, -175}, {200, 100, -170}, {900, 100, -170}} {
		p, ok := w.BasePose(4, c.at)
		require.True(t, ok)
		require.Equal(t, components.Pose{Location: Vec3{c.x, 0, 0}, Yaw: c.yaw}, p, "at %v", c.at)
	}
	v, _ := w.BaseVelocity(4, 150, Vec3{50, 0, 0})
	require.InDelta(t, 57600, v[0], 1e-6)
	require.False(t, w.PushKeyframe(4, 200, components.Pose{}), "not newer")
	require.False(t, w.PushKeyframe(4, 150, components.Pose{}), "older")
	require.False(t, w.PushKeyframe(5, 300, components.Pose{}), "unknown")
	require.False(t, w.PushKeyframe(4, 300, components.Pose{Yaw: math.NaN()}))
	require.Equal(t, Counts{LateKeyframes: 2, BadKeyframes: 2}, w.Counts())
}

func TestKeyframeHistoryKeepsTheNewest(t *testing.T) {
	w := NewWorld()
	require.NoError(t, w.AddObstacle(components.Obstacle{ID: 4, HalfExtents: Vec3{50, 50, 10}}, components.ObstacleMotion{Kind: components.MotionKeyframes}))
	for i := range 3 * NumKeyframes {
		w.PushKeyframe(4, components.Ticks(i*10), components.Pose{Location: Vec3{float64(i), 0, 0}})
	}
	first := 2 * NumKeyframes
	for i := first; i < 3*NumKeyframes; i++ {
		p, _ := w.BasePose(4, components.Ticks(i*10))
		require.Equal(t, float64(i), p.Location[0])
	}
	p, _ := w.BasePose(4, 0)
	require.Equal(t, float64(first), p.Location[0], "held at the old end")
	// The broad check follows the history.
	q := Query{Start: Vec3{3*NumKeyframes - 1, 0, 300}, Delta: Vec3{0, 0, -400}, Time: 1e6}
	require.True(t, w.Ray(&q))
}

func TestTurnedObstacleIsHitLikeATurnedBox(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		half := Vec3{rapid.Float64Range(20, 200).Draw(r, "x"), rapid.Float64Range(20, 200).Draw(r, "y"), rapid.Float64Range(20, 200).Draw(r, "z")}
		yaw := rapid.Float64Range(-180, 180).Draw(r, "yaw")
		centre := drawVec(r, 100, "centre")
		l, err := NewBuilder().Box(centre, half, yaw).Build()
		require.NoError(r, err)
		w := NewWorld()
		require.NoError(r, w.AddObstacle(components.Obstacle{ID: 9, HalfExtents: half}, components.ObstacleMotion{Origin: centre, Yaw: yaw}))
		q := drawSweep(r)
		if l.Overlap(&q) {
			return // a centre in the surface itself has no side that survives a turn
		}
		o := q
		for _, ray := range []bool{false, true} {
			if ray {
				l.Ray(&q)
				w.Ray(&o)
			} else {
				l.Sweep(&q)
				w.Sweep(&o)
			}
			if graze := -exact.Dot(q.Hit.Normal, q.Delta) < 1e-3*exact.Len(q.Delta); q.Hit.Blocking && graze {
				return
			}
			if q.Hit.Blocking != o.Hit.Blocking {
				h := o.Hit
				if q.Hit.Blocking {
					h = q.Hit
				}
				require.Less(r, -exact.Dot(h.Normal, q.Delta), 1e-3*exact.Len(q.Delta), "%+v %+v", q.Hit, o.Hit)
				return
			}
			if !q.Hit.Blocking || q.Hit.StartPenetrating {
				continue
			}
			require.InDelta(r, 0, exact.Dist(q.Hit.Location, o.Hit.Location), 1e-6)
			// A wall is met along an upright line: any of its points may be told.
			require.InDelta(r, 0, exact.Len2(exact.Sub(q.Hit.Point, o.Hit.Point)), 1e-3)
			if math.Abs(o.Hit.Normal[2]) > 1e-6 {
				require.InDelta(r, q.Hit.Point[2], o.Hit.Point[2], 1e-3)
			}
			require.Equal(r, components.NetID(9), o.Hit.Base)
		}
	})
}

func TestObstacleIsAskedAtTheQuerysTime(t *testing.T) {
	w := NewWorld()
	require.NoError(t, w.AddObstacle(components.Obstacle{ID: 3, HalfExtents: Vec3{100, 100, 10}}, shuttleMotion()))
	for _, c := range []struct {
		at components.Ticks
		z  float64
	}{{0, 10}, {4 * second, 210}, {6 * second, 410}, {9 * second, 210}} {
		q := capsuleAt(Vec3{100, 0, 900})
		q.Delta, q.Time = Vec3{0, 0, -1000}, c.at
		require.True(t, w.Sweep(&q))
		require.InDelta(t, c.z+88, q.Hit.Location[2], 1e-9)
		require.Equal(t, components.NetID(3), q.Hit.Base)
		q.Ignore = 3
		require.False(t, w.Sweep(&q))
	}
}

func TestScenesDoNotMeet(t *testing.T) {
	w := NewWorld()
	floor, err := NewBuilder().Floor(0, 1000).
		Obstacle(components.Obstacle{ID: 1, HalfExtents: Vec3{100, 100, 100}}, components.ObstacleMotion{}).Build()
	require.NoError(t, err)
	require.NoError(t, w.AddLevel(5, floor))
	require.Error(t, w.AddLevel(5, floor), "a scene has one level")
	require.ErrorIs(t, w.AddLevel(6, floor), ErrObstacle, "ids are taken")
	q := capsuleAt(Vec3{0, 0, 500})
	q.Delta, q.Scene = Vec3{0, 0, -1000}, 5
	require.True(t, w.Sweep(&q))
	require.Equal(t, components.NetID(1), q.Hit.Base)
	for _, other := range []components.SceneID{0, 4, 6} {
		q.Scene = other
		require.False(t, w.Sweep(&q))
		require.False(t, w.Overlap(&q))
		require.False(t, w.Ray(&q))
	}
}

func TestOrderOfAddingObstaclesChangesNoBit(t *testing.T) {
	rng := rand.New(rand.NewSource(8))
	worlds := [2]*World{NewWorld(), NewWorld()}
	type ob struct {
		o components.Obstacle
		m components.ObstacleMotion
	}
	var obs []ob
	for i := range 60 {
		obs = append(obs, ob{components.Obstacle{ID: components.NetID(i + 1), HalfExtents: Vec3{60, 60, 60}},
			components.ObstacleMotion{Origin: Vec3{float64(i%8) * 120, float64(i/8) * 120, 0}, YawRate: float64(i % 3)}})
	}
	for k, w := range worlds {
		for _, i := range rng.Perm(len(obs)) {
			require.NoError(t, w.AddObstacle(obs[i].o, obs[i].m), "world %d", k)
		}
	}
	require.True(t, worlds[0].RemoveObstacle(30))
	require.True(t, worlds[1].RemoveObstacle(30))
	require.False(t, worlds[1].RemoveObstacle(30))
	require.Equal(t, 59, worlds[0].NumObstacles())
	hits := 0
	for range 1000 {
		q := capsuleAt(Vec3{rng.Float64() * 900, rng.Float64() * 900, rng.Float64() * 200})
		q.Delta = randVec(rng, 200)
		q.Time = components.Ticks(rng.Int63n(1e6))
		o := q
		if worlds[0].Sweep(&q) {
			hits++
		}
		worlds[1].Sweep(&o)
		require.Equal(t, q, o)
		worlds[0].Overlap(&q)
		worlds[1].Overlap(&o)
		require.Equal(t, q, o)
	}
	require.Greater(t, hits, 300)
}

func TestBadObstaclesAreRefused(t *testing.T) {
	w := NewWorld()
	good := components.Obstacle{ID: 1, HalfExtents: Vec3{1, 1, 1}}
	for name, c := range map[string]struct {
		o components.Obstacle
		m components.ObstacleMotion
	}{
		"no id":     {components.Obstacle{HalfExtents: Vec3{1, 1, 1}}, components.ObstacleMotion{}},
		"flat":      {components.Obstacle{ID: 1, HalfExtents: Vec3{1, 1, 0}}, components.ObstacleMotion{}},
		"NaN":       {good, components.ObstacleMotion{Origin: Vec3{math.NaN(), 0, 0}}},
		"yaw rate":  {good, components.ObstacleMotion{YawRate: math.Inf(1)}},
		"kind":      {good, components.ObstacleMotion{Kind: 99}},
		"backwards": {good, components.ObstacleMotion{Period: -1}},
	} {
		require.ErrorIs(t, w.AddObstacle(c.o, c.m), ErrObstacle, name)
	}
	require.NoError(t, w.AddObstacle(good, components.ObstacleMotion{}))
	require.ErrorIs(t, w.AddObstacle(good, components.ObstacleMotion{}), ErrObstacle, "taken")
}

func TestQueriesFromManyGoroutinesAgree(t *testing.T) {
	w := arenaWorld(t)
	ask := func() (sum float64) {
		rng := rand.New(rand.NewSource(9))
		for range 300 {
			q := capsuleAt(Vec3{rng.Float64()*4000 - 2000, rng.Float64()*4000 - 2000, rng.Float64() * 300})
			q.Delta, q.Time = randVec(rng, 300), components.Ticks(rng.Int63n(1e6))
			w.Sweep(&q)
			sum += q.Hit.Fraction
		}
		return sum
	}
	want := ask()
	var wg sync.WaitGroup
	var got [4]float64
	for i := range got {
		wg.Go(func() { got[i] = ask() })
	}
	wg.Wait()
	require.Equal(t, [4]float64{want, want, want, want}, got)
}
