package systems

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/collision"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// basesRig is a world with Bases alone.
type basesRig struct {
	app *ecs.App
	net *components.NetClock
	sp  *Spawner
	geo *collision.World
	now components.Ticks
}

func newBasesRig(t testing.TB, role ecs.Roles, net components.NetClock, opts ...ecs.Option) *basesRig {
	r := &basesRig{app: ecs.New(role, opts...), net: &net, geo: liftWorld(t), now: 5000}
	w := r.app.World()
	arche.AddResource(w, &Geometry{r.geo})
	arche.AddResource(w, r.net)
	r.app.Add(new(Bases), new(ObstaclePoses))
	r.app.Initialize()
	r.sp = NewSpawner(w)
	r.app.Frame(r.now)
	return r
}

// frame passes dt here and lets the estimate of the server's time be what is given.
func (r *basesRig) frame(dt, server components.Ticks) components.Ticks {
	before := r.net.ObstacleTime
	r.now += dt
	r.net.ServerNow = server
	r.app.Frame(r.now)
	return r.net.ObstacleTime - before
}

func TestObstacleTimeOfAnAuthorityIsItsOwnTime(t *testing.T) {
	for _, role := range []ecs.Roles{ecs.Server, ecs.ListenServer, ecs.Standalone} {
		r := newBasesRig(t, role, components.NetClock{Authority: true})
		r.frame(960, 0)
		require.Equal(t, r.now, r.net.ObstacleTime, "%v", role)
		require.Equal(t, r.now, r.net.ServerNow, "%v", role)
		r.app.Finalize()
	}
}

func TestFirstEstimateOfTheServersTimeIsTakenOver(t *testing.T) {
	r := newBasesRig(t, ecs.Client, components.NetClock{})
	defer r.app.Finalize()
	r.frame(960, 0)
	require.Equal(t, r.now, r.net.ObstacleTime)
	r.net.Synced = true
	r.frame(960, 100)
	require.EqualValues(t, 100, r.net.ObstacleTime)
}

func TestObstacleTimeFollowsTheEstimateWithoutJumping(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newBasesRig(t, ecs.Client, components.NetClock{Synced: true})
		defer r.app.Finalize()
		server := components.Ticks(1e6)
		r.frame(960, server)
		for range 100 {
			dt := components.Ticks(rapid.IntRange(100, 4000).Draw(rt, "dt"))
			server += dt
			noise := components.Ticks(rapid.IntRange(-5000, 5000).Draw(rt, "noise"))
			step := r.frame(dt, server+noise)
			if step < dt-dt/20 || step > dt+dt/20 {
				rt.Fatalf("a step of %d ticks for %d", step, dt)
			}
		}
		for range 1200 { // 20 s with a calm estimate
			server += 960
			r.frame(960, server)
		}
		if off := server - r.net.ObstacleTime; off > 40 || off < -40 {
			rt.Fatalf("%d ticks off", off)
		}
	})
}

func TestLateObstacleTimeJumpsAndEarlyOneWaits(t *testing.T) {
	r := newBasesRig(t, ecs.Client, components.NetClock{Synced: true})
	defer r.app.Finalize()
	r.frame(960, 1e6)
	require.EqualValues(t, 960+20000, r.frame(960, 1e6+960+20000), "0.35 s late")
	require.Zero(t, r.frame(960, 1e6), "0.35 s early")
}

func TestObstacleTimeRunsOnWithoutAServer(t *testing.T) {
	r := newBasesRig(t, ecs.Client, components.NetClock{Synced: true})
	defer r.app.Finalize()
	r.frame(960, 1e6)
	r.net.Synced = false
	require.EqualValues(t, 960, r.frame(960, 1e6))
	r.net.Synced = true
	require.InDelta(t, 960, int64(r.frame(960, 1e6+1920+500)), 48, "the same session goes on")
	r.net.Synced = false
	r.frame(960, 0)
	r.net.Synced = true
	r.frame(960, 777)
	require.EqualValues(t, 777, r.net.ObstacleTime, "another session's time is taken over")
}

func TestFixedStepStandsBehindTheFrameByWhatIsNotSimulated(t *testing.T) {
	r := newBasesRig(t, ecs.Client, components.NetClock{Synced: true, ServerNow: 1e6}, ecs.Fixed(ecs.Hz(60)))
	defer r.app.Finalize()
	r.frame(1000, 1e6)
	require.EqualValues(t, 1e6-40, r.net.ObstacleTime)
}

func TestObstaclesAreShownWhereTheyStand(t *testing.T) {
	r := newBasesRig(t, ecs.Client, components.NetClock{Synced: true})
	defer r.app.Finalize()
	e := r.sp.Obstacle(components.Obstacle{ID: 9})
	r.frame(960, 57600)
	want, _ := r.geo.BasePose(9, r.net.ObstacleTime)
	require.Equal(t, want, *(*components.Pose)(r.app.World().Get(e, r.sp.pose)))
}

func TestObstaclesAreDrawnBetweenTwoFixedSteps(t *testing.T) {
	r := newBasesRig(t, ecs.Client, components.NetClock{Synced: true, ServerNow: 57600}, ecs.Fixed(ecs.Hz(30)))
	defer r.app.Finalize()
	e := r.sp.Obstacle(components.Obstacle{ID: 9})
	server := components.Ticks(57600)
	z := func() float64 { return (*components.Pose)(r.app.World().Get(e, r.sp.pose)).Location[2] }
	for range 10 {
		server += 400
		r.frame(400, server)
	}
	for range 50 {
		before := z()
		server += 400
		r.frame(400, server)
		require.InDelta(t, 150*components.Ticks(400).Seconds(), z()-before, 0.02)
	}
}
