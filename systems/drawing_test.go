package systems

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

// Smoothing only draws: whatever the mode, the capsules are the same bits.
func TestSmoothingChangesNoCapsule(t *testing.T) {
	run := func(mode components.SmoothingMode) (h uint64) {
		r := newOnlooker(t, rigFlat(t), mode, 0, rigSquare(0, 600), nil)
		r.loss, r.jitter = 0.2, rigTicks(0.04)
		for range 1200 {
			r.frame(960)
			h = movement.HashState(h, r.state())
		}
		return h
	}
	want := run(components.SmoothDisabled)
	for _, mode := range rigModes {
		require.Equal(t, want, run(mode), "%v", mode)
	}
}

func TestMeshSmoothOnlyReadsTheState(t *testing.T) {
	r := newCorrectedRig(t, components.SmoothExponential, 5)
	for range 8 {
		r.frame(960)
	}
	before := *r.state()
	r.frame(0) // no step: Visual alone
	require.Equal(t, before, *r.state())
}

func TestFrameOfOnlookersAllocatesNothing(t *testing.T) {
	for _, mode := range rigModes {
		for name, opts := range map[string][]ecs.Option{"variable": nil, "fixed": {ecs.Fixed(ecs.Hz(60))}} {
			geo := liftWorld(t)
			r := newOnlooker(t, geo, mode, 0, rigSteady(0, 600), nil, opts...)
			table := ecs.Need[components.ProfileTable](r.app.World())
			var proxies []arche.Entity
			for i := range 20 {
				proxies = append(proxies, r.spawn.Proxy(SpecAt(components.NetID(i+2), table, components.ProfileRef{Revision: 1}, rigVec(0, float64(200*i), rigStanding(0)), 0)))
			}
			r.spawn.Obstacle(components.Obstacle{ID: 9})
			r.silent, r.queue = true, nil
			frame := func() {
				r.now += 960
				for i, e := range proxies {
					rep := (*components.ReplicatedMovement)(r.app.World().Get(e, r.spawn.rep))
					*rep = rigWalker(600*r.now.Seconds(), 600)
					rep.Location[1] = float64(200 * i)
					rep.ServerTime, rep.TransformTime = r.now, r.now
					if i == 0 {
						rep.Base, rep.Location, rep.Velocity = 9, rigVec(0, 0, 100.15), components.Vec3{}
					}
					(*components.NetUpdate)(r.app.World().Get(e, r.spawn.update)).Received = true
				}
				r.app.Frame(r.now - r.shift)
			}
			for range 50 {
				frame()
			}
			applied := r.stats.Snapshots
			require.Zero(t, testing.AllocsPerRun(50, frame), "%v, %s", mode, name)
			require.Greater(t, r.stats.Snapshots, applied)
		}
	}
}

// A server's and two clients' worlds, components registered in different orders,
// frames interleaved.
func TestWorldsInOneProcessDoNotMixUp(t *testing.T) {
	alone := newOnlooker(t, rigFlat(t), components.SmoothLinear, 0, rigSteady(0, 600), nil)
	alone.run(60, 2)

	type first struct{ a, b float64 }
	server := ecs.New(ecs.Server)
	ecs.RegisterComponent[first](server.World())
	arche.AddResource(server.World(), &Geometry{rigFlat(t)})
	server.Add(new(Bases), new(MeshSmooth))
	server.Initialize()
	defer server.Finalize()
	a := newOnlooker(t, rigFlat(t), components.SmoothLinear, 0, rigSteady(0, 600), nil)
	b := newOnlooker(t, rigFlat(t), components.SmoothBuffered, 0, rigSteady(0, -300), nil)
	for i := range 120 {
		a.frame(960)
		server.Frame(components.Ticks(960 * i))
		b.frame(960)
	}
	require.Equal(t, alone.drawn, a.drawn)
}

func TestChangeToExponentialDoesNotMakeTheMeshJump(t *testing.T) {
	for _, from := range []components.SmoothingMode{components.SmoothLinear, components.SmoothBuffered} {
		r := newOnlooker(t, rigFlat(t), from, 0, rigSteady(0, 600), func(s *components.Settings) { s.SkipProxyPredictionOnNetUpdate = false })
		r.run(60, 1.28)
		last := r.frame(960).mesh[0]
		r.mesh().Mode = components.SmoothExponential
		for range 60 {
			own := -float64(r.mesh().TranslationOffset[0]) / 6 // the law's share of a frame
			at := r.frame(960).mesh[0]
			require.InDelta(t, 10+own, at-last, 0.02, "%v", from)
			last = at
		}
	}
}

// spawnRemote is a remote player's character that the host of a listen server sees.
func spawnRemote(s *Spawner, c components.CharacterSpec) arche.Entity { return s.Remote(c, true) }

func TestListenServersMeshRunsEvenlyAlthoughMovesComeInBursts(t *testing.T) {
	n := 0
	var r *drawnRig
	set := components.DefaultSettings()
	r = newDrawnRig(t, ecs.ListenServer, spawnRemote, func(st *components.MovementState, dt components.Ticks) {
		st.Velocity = rigVec(600, 0, 0)
		if n++; n%3 == 0 { // three moves at once
			before := st.Location
			st.Location[0] += 30
			ListenServerSmooth(r.mesh(), before, st.Location, 0, 0, &set, r.now)
		}
	})
	last := r.frame(960)
	for i := range 120 {
		at := r.frame(960)
		if i > 30 {
			require.Greater(t, at[0]-last[0], 4.0)
			require.Less(t, at[0]-last[0], 18.0)
		}
		last = at
	}
}

func TestListenServersMeshComesBackInItsOwnTime(t *testing.T) {
	set := components.DefaultSettings()
	r := newDrawnRig(t, ecs.ListenServer, spawnRemote, func(st *components.MovementState, _ components.Ticks) { st.Velocity = rigVec(1, 0, 0) })
	ListenServerSmooth(r.mesh(), rigVec(0, 0, 0), rigVec(40, 0, 0), 0, 0, &set, r.now)
	r.frame(rigTicks(0.01))
	require.InDelta(t, -30, r.mesh().TranslationOffset[0], 1e-4) // 0.01 of 0.04 s
}

func TestStandaloneMeshIsItsCapsule(t *testing.T) {
	r := newDrawnRig(t, ecs.Standalone, spawnLocal, alongX(600))
	for range 10 {
		require.Equal(t, r.frame(960), r.state().Location)
	}
}

// A place 50 m off, on a base at the place's own place or in the world's axes,
// with another base beside it, changing with every snapshot.
func TestBoardingAndLeavingTenTimesASecondDrawsOnePlace(t *testing.T) {
	at := rigVec(5000, 300, 110+88+2.15)
	for _, mode := range rigModes {
		for name, opts := range map[string][]ecs.Option{"variable": nil, "fixed": {ecs.Fixed(ecs.Hz(30))}} {
			geo := rigFlat(t)
			require.NoError(t, geo.AddObstacle(components.Obstacle{ID: 3, HalfExtents: rigVec(400, 400, 10)}, components.ObstacleMotion{Origin: rigVec(4900, 300, 100), Yaw: 30}))
			require.NoError(t, geo.AddObstacle(components.Obstacle{ID: 4, HalfExtents: rigVec(10, 10, 10)}, components.ObstacleMotion{Origin: rigVec(-700, 0, 100)}))
			n := 0
			path := func(components.Ticks) components.ReplicatedMovement {
				rep := components.ReplicatedMovement{Location: at, GravityDir: rigVec(0, 0, -1), Mode: components.ModeWalking}
				n++
				if n%3 > 0 {
					rep.Base = components.NetID(2 + n%3)
					pose, _ := geo.BasePose(rep.Base, 0)
					rep.Location = exact.RotateYaw(exact.Sub(at, pose.Location), -pose.Yaw)
					rep.Rotation.Yaw = -pose.Yaw
				}
				return rep
			}
			r := newOnlooker(t, geo, mode, 0, path, nil, opts...)
			r.state().Location = at
			r.loss, r.jitter = 0.2, rigTicks(0.04)
			r.run(144, 1)
			r.forget()
			r.run(144, 5)
			for _, f := range r.drawn {
				require.Less(t, exact.Dist(at, f.mesh), 1e-3, "%v, %s", mode, name)
				require.InDelta(t, 0, f.yaw, 1e-3, "%v, %s", mode, name)
			}
		}
	}
}

func TestTwoSnapshotsInOneFrameLoseNothing(t *testing.T) {
	for _, mode := range rigModes {
		r := newOnlooker(t, rigFlat(t), mode, 0, func(components.Ticks) components.ReplicatedMovement { return rigWalker(0, 0) }, nil)
		r.run(60, 1)
		r.silent, r.queue = true, nil
		rep := rigWalker(800, 0)
		rep.ServerTime, rep.TransformTime, rep.Teleports = r.now, r.now, 1
		r.deliver(rep)
		rep.ServerTime, rep.TransformTime = r.now+1, r.now+1
		rep.Crouched, rep.Rotation.Yaw, rep.Location[2] = true, 45, rep.Location[2]-48
		r.deliver(rep)
		f := r.frame(960)
		require.Equal(t, rep.Location, f.mesh, "%v: the first one's teleport", mode)
		require.Equal(t, 45.0, f.yaw, "%v: the second one's yaw", mode)
		require.True(t, r.state().Crouched, "%v: the second one's stance", mode)
	}
}

func TestBufferedDelayAimsAboveTheMeanWithinItsBounds(t *testing.T) {
	set := components.DefaultSettings() // 0.05 to 0.5 s
	aim := func(mean, deviation float64) float64 {
		b := components.SnapshotBuffer{Jitter: deviation}
		ms := components.MeshSmoothing{LastCorrectionDelta: rigTicks(mean)}
		return bufferAim(&b, &ms, &set).Seconds()
	}
	require.InDelta(t, 0.16, aim(0.1, 0.02), 1e-4)
	require.InDelta(t, 0.05, aim(0.01, 0.002), 1e-4, "the least")
	require.InDelta(t, 0.5, aim(0.2, 0.3), 1e-4, "the most")
	require.InDelta(t, 0.7, aim(0.7, 0.3), 1e-4, "a long link gets its mean")
}

func TestPauseIsNoMeasureOfTheLink(t *testing.T) {
	r := newOnlooker(t, rigFlat(t), components.SmoothBuffered, 0, rigSteady(0, 600), nil)
	r.run(60, 3)
	before := r.buffer().Jitter
	r.frame(2 * components.Second)
	r.run(60, 0.2)
	require.InDelta(t, before, r.buffer().Jitter, 0.005)
}
