package systems

import (
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/stretchr/testify/require"
)

// rigBounds are the extremes of what was drawn along x: the longest way back
// from a place once drawn, and the most that mesh and capsule were ahead of what
// the server has reached by then.
func rigBounds(r *onlookerRig) (back, meshAhead, capsuleAhead float64) {
	far := math.Inf(-1)
	for _, f := range r.drawn {
		far = max(far, f.mesh[0])
		back = max(back, far-f.mesh[0])
		truth := r.path(f.at).Location[0]
		meshAhead, capsuleAhead = max(meshAhead, f.mesh[0]-truth), max(capsuleAhead, f.capsule[0]-truth)
	}
	return back, meshAhead, capsuleAhead
}

// rigPop is the most that a drawn step differs from velocity times frame time.
func rigPop(r *onlookerRig, speed float64) float64 {
	pop := 0.0
	for i := 1; i < len(r.drawn); i++ {
		f := r.drawn[i]
		pop = max(pop, math.Abs(f.mesh[0]-r.drawn[i-1].mesh[0]-speed*f.dt.Seconds()))
	}
	return pop
}

func TestSpawnedProxyStandsWhereTheServerHasItFromItsFirstFrame(t *testing.T) {
	for _, mode := range rigModes {
		r := newOnlooker(t, rigFlat(t), mode, 1000, func(components.Ticks) components.ReplicatedMovement { return rigWalker(700, 0) }, nil)
		require.Equal(t, rigVec(700, 0, rigStanding(0)), r.transform().Location, "%v", mode)
		r.run(60, 1)
		for _, f := range r.drawn {
			require.Equal(t, rigVec(700, 0, rigStanding(0)), f.mesh, "%v", mode)
		}
	}
}

// A steady runner without loss or jitter: what remains is the law's own.
func TestSteadyRunIsDrawnEvenly(t *testing.T) {
	// Exponential and linear: the capsule stands still in the frame of an
	// update, 10 cm, and of those the law gives back its share of that frame.
	// Buffered: while the delay settles, 4 % of those 10 cm.
	bound := map[components.SmoothingMode]float64{
		components.SmoothExponential: 10, components.SmoothLinear: 10, components.SmoothBuffered: 0.4,
	}
	for mode, most := range bound {
		r := newOnlooker(t, rigFlat(t), mode, 0, rigSteady(0, 600), nil)
		r.run(60, 2)
		r.forget()
		r.run(60, 3)
		require.LessOrEqual(t, rigPop(r, 600), most, "%v", mode)
	}
}

func TestProxyPredictedInEveryFrameRunsEvenlyInEveryMode(t *testing.T) {
	for _, mode := range rigModes {
		r := newOnlooker(t, rigFlat(t), mode, 0, rigSteady(0, 600), func(s *components.Settings) { s.SkipProxyPredictionOnNetUpdate = false })
		r.run(60, 2)
		r.forget()
		r.run(60, 3)
		require.LessOrEqual(t, rigPop(r, 600), map[bool]float64{true: 0.4, false: 0.02}[mode == components.SmoothBuffered], "%v", mode)
	}
}

func TestMotionIsAsSmoothLongAfterTheStart(t *testing.T) {
	const inMs = 16777216 * components.TicksPerSecond / 1000
	for _, mode := range rigModes {
		var pops []float64
		for _, start := range []components.Ticks{0, 100000 * components.Second, inMs - components.Second} {
			r := newOnlooker(t, rigFlat(t), mode, start, rigSteady(start, 600), nil)
			r.run(60, 2)
			r.forget()
			r.run(60, 2)
			pops = append(pops, rigPop(r, 600))
		}
		require.InDelta(t, pops[0], pops[1], 1e-3, "%v", mode)
		require.InDelta(t, pops[0], pops[2], 1e-3, "%v", mode)
	}
}

func TestSquareWaveNeverOvershootsByMoreThanOneInterval(t *testing.T) {
	for _, mode := range rigModes {
		r := newOnlooker(t, rigFlat(t), mode, 0, rigSquare(0, 600), nil)
		r.run(60, 10)
		back, mesh, capsule := rigBounds(r)
		require.LessOrEqual(t, mesh, 60.0, "%v: mesh", mode)
		require.LessOrEqual(t, capsule, 60.0, "%v: capsule", mode)
		limit := 45.0
		switch mode {
		case components.SmoothBuffered:
			limit = 1
		case components.SmoothDisabled:
			limit = 60
		}
		require.LessOrEqual(t, back, limit, "%v: way back", mode)
	}
}

// With loss and jitter the capsule may be carried on for as long as news fails
// to come, and no further.
func TestSquareWaveUnderLossAndJitterStaysWithinWhatWasLost(t *testing.T) {
	for _, mode := range rigModes {
		r := newOnlooker(t, rigFlat(t), mode, 0, rigSquare(0, 600), nil)
		r.loss, r.jitter = 0.2, rigTicks(0.04)
		r.run(60, 20)
		_, mesh, capsule := rigBounds(r)
		bound := 600 * (MaxProxyExtrapolation.Seconds() + 0.1)
		require.LessOrEqual(t, capsule, bound, "%v: capsule", mode)
		require.LessOrEqual(t, mesh, bound, "%v: mesh", mode)
	}
}

func TestBufferedModeDrawsThroughLossAndJitter(t *testing.T) {
	r := newOnlooker(t, rigFlat(t), components.SmoothBuffered, 0, rigSteady(0, 600), func(s *components.Settings) { s.NetUpdateFrequency = 20 })
	r.interval, r.loss, r.jitter = components.Second/20, 0.2, rigTicks(0.04)
	r.run(60, 5)
	r.forget()
	r.run(60, 20)
	// 4 % of the speed is 0.4 cm a frame; the rest are gaps of more than the
	// buffer and its extrapolation hold.
	even := 0
	for i := 1; i < len(r.drawn); i++ {
		if math.Abs(r.drawn[i].mesh[0]-r.drawn[i-1].mesh[0]-10) < 0.5 {
			even++
		}
	}
	require.Greater(t, float64(even)/float64(len(r.drawn)), 0.97)
}

func TestMeshEndsExactlyOnTheReplicatedPlace(t *testing.T) {
	for _, mode := range rigModes {
		for _, seed := range []float64{1234.56, -0.07, 88.15} {
			stop := components.Second * 2
			path := func(at components.Ticks) components.ReplicatedMovement {
				if at < stop {
					return rigWalker(600*at.Seconds(), 600)
				}
				rep := rigWalker(1200+seed, 0)
				rep.Rotation.Yaw = 33.3
				return rep
			}
			r := newOnlooker(t, rigFlat(t), mode, 0, path, nil)
			r.loss, r.jitter = 0.2, rigTicks(0.04)
			r.run(60, 2)
			r.loss = 0
			r.run(60, 1.5)
			require.Equal(t, r.rep().Location, r.transform().Location, "%v", mode)
			require.Equal(t, 33.3, r.transform().Rotation.Yaw, "%v", mode)
			require.True(t, r.mesh().Complete, "%v", mode)
		}
	}
}

func TestStopOnASlopeIsSeenWithinOneInterval(t *testing.T) {
	// A ramp of 40 degrees along x.
	rise := 2000 * math.Tan(40*math.Pi/180)
	geo := rigWorld(t, collision.NewBuilder().Floor(0, 1e5).Ramp(rigVec(0, -500, 0), rigVec(2000, 1000, rise), 0))
	slope := func(x float64) float64 { // a rounded foot on the slope
		n := 1 / math.Cos(40*math.Pi/180)
		return x*math.Tan(40*math.Pi/180) + 34*n - 34 + 88 + 2.15*n
	}
	for _, mode := range rigModes {
		path := func(at components.Ticks) components.ReplicatedMovement {
			t := min(at.Seconds(), 1)
			rep := rigWalker(300+300*t, 300)
			rep.Location[2] = slope(rep.Location[0])
			if at >= components.Second {
				rep.Velocity = components.Vec3{}
			}
			return rep
		}
		r := newOnlooker(t, geo, mode, 0, path, nil)
		r.run(60, 1.1+0.05) // one interval after the stop, and the way of the snapshot
		r.forget()
		r.run(60, 1)
		for _, f := range r.drawn {
			require.Equal(t, path(components.Second).Location, f.capsule, "%v", mode)
		}
		r.forget()
		r.run(60, 1)
		for _, f := range r.drawn {
			require.Equal(t, path(components.Second).Location, f.mesh, "%v", mode)
		}
	}
}

// liftWorld has a lift (obstacle 9) of 150 cm/s and a turntable (10).
func liftWorld(t testing.TB) *collision.World {
	w := rigFlat(t)
	require.NoError(t, w.AddObstacle(components.Obstacle{ID: 9, HalfExtents: rigVec(200, 200, 10)}, components.ObstacleMotion{
		Kind: components.MotionShuttle, Origin: rigVec(0, 0, 100), Travel: rigVec(0, 0, 600), Period: 8 * components.Second,
	}))
	require.NoError(t, w.AddObstacle(components.Obstacle{ID: 10, HalfExtents: rigVec(300, 300, 10)}, components.ObstacleMotion{
		Origin: rigVec(2000, 0, 100), YawRate: 45,
	}))
	return w
}

// rider stands on a base at a place in the base's frame.
func rigRider(base components.NetID, at components.Vec3) func(components.Ticks) components.ReplicatedMovement {
	return func(components.Ticks) components.ReplicatedMovement {
		return components.ReplicatedMovement{Location: at, Base: base, GravityDir: rigVec(0, 0, -1), Mode: components.ModeWalking}
	}
}

func TestRiderOnALiftDoesNotJitterAgainstIt(t *testing.T) {
	const height = 10 + 88 + 2.15
	for _, mode := range rigModes {
		for name, opts := range map[string][]ecs.Option{"variable": nil, "fixed": {ecs.Fixed(ecs.Hz(60))}} {
			geo := liftWorld(t)
			r := newOnlooker(t, geo, mode, 0, rigRider(9, rigVec(50, 20, height)), nil, opts...)
			lift := r.spawn.Obstacle(components.Obstacle{ID: 9})
			r.loss, r.jitter = 0.2, rigTicks(0.04)
			r.run(60, 1)
			for range 400 {
				r.frame(components.Second / 97)
				pose := (*components.Pose)(r.app.World().Get(lift, r.spawn.pose))
				require.InDelta(t, height, r.transform().Location[2]-pose.Location[2], 1e-3, "%v, %s", mode, name)
			}
		}
	}
}

// The lift's places themselves come at 10 Hz, late and by the network.
func TestRiderOnALiftOf10HzDoesNotJitterAgainstIt(t *testing.T) {
	const height = 10 + 88 + 2.15
	for _, mode := range rigModes {
		for name, opts := range map[string][]ecs.Option{"variable": nil, "fixed": {ecs.Fixed(ecs.Hz(60))}} {
			geo := rigFlat(t)
			require.NoError(t, geo.AddObstacle(components.Obstacle{ID: 9, HalfExtents: rigVec(200, 200, 10)}, components.ObstacleMotion{Kind: components.MotionKeyframes}))
			key := func(at components.Ticks) {
				geo.PushKeyframe(9, at, components.Pose{Location: rigVec(0, 0, 100+150*at.Seconds()), Yaw: 20 * at.Seconds()})
			}
			key(0)
			r := newOnlooker(t, geo, mode, 0, rigRider(9, rigVec(50, 20, height)), nil, opts...)
			lift := r.spawn.Obstacle(components.Obstacle{ID: 9})
			keyed := components.Ticks(0)
			r.before = func(r *onlookerRig) {
				if r.now-keyed >= components.Second/10 {
					keyed = r.now
					key(r.now - rigTicks(0.05))
				}
			}
			r.run(60, 1)
			low := math.Inf(1)
			for range 400 {
				r.frame(components.Second / 97)
				pose := (*components.Pose)(r.app.World().Get(lift, r.spawn.pose))
				require.InDelta(t, height, r.transform().Location[2]-pose.Location[2], 1e-3, "%v, %s", mode, name)
				low = min(low, r.transform().Location[2])
			}
			require.Greater(t, r.transform().Location[2], low+100, "it rides up")
		}
	}
}

func TestRiderTurnsOnceWithItsBase(t *testing.T) {
	for _, mode := range rigModes {
		geo := liftWorld(t)
		r := newOnlooker(t, geo, mode, 0, rigRider(10, rigVec(200, 0, 10+88+2.15)), nil)
		r.run(60, 3)
		pose, _ := geo.BasePose(10, r.net.ObstacleTime)
		want := exact.Add(pose.Location, exact.RotateYaw(rigVec(200, 0, 10+88+2.15), pose.Yaw))
		require.Less(t, exact.Dist(want, r.state().Location), 1e-6, "%v", mode)
		require.Less(t, exact.Dist(want, r.transform().Location), 1e-3, "%v", mode)
		require.InDelta(t, exact.NormalizeDeg(pose.Yaw), r.transform().Rotation.Yaw, 1e-3, "%v", mode)
	}
}

func TestSnapshotOnAnUnknownBaseWaitsForIt(t *testing.T) {
	geo := rigFlat(t)
	r := newOnlooker(t, geo, components.SmoothExponential, 0, func(components.Ticks) components.ReplicatedMovement { return rigWalker(0, 0) }, nil)
	r.run(60, 0.5)
	r.silent = true
	r.run(60, 0.2)
	rep := rigRider(77, rigVec(0, 0, 100))(0)
	rep.ServerTime, rep.TransformTime = r.now, r.now
	r.deliver(rep)
	r.run(60, 0.1)
	require.Equal(t, rigVec(0, 0, rigStanding(0)), r.state().Location)
	require.NoError(t, geo.AddObstacle(components.Obstacle{ID: 77, HalfExtents: rigVec(100, 100, 10)}, components.ObstacleMotion{Origin: rigVec(500, 0, 50)}))
	r.frame(960)
	require.Equal(t, rigVec(500, 0, 150), r.state().Location)
}

func TestTeleportDrawsNoPlaceInBetween(t *testing.T) {
	for _, mode := range rigModes {
		for name, opts := range map[string][]ecs.Option{"variable": nil, "fixed": {ecs.Fixed(ecs.Hz(30))}} {
			for _, speed := range []float64{0, 600} {
				path := func(at components.Ticks) components.ReplicatedMovement {
					rep := rigWalker(speed*at.Seconds(), speed)
					if at >= components.Second {
						rep.Location[1] += 9000
						rep.Teleports = 1
					}
					return rep
				}
				r := newOnlooker(t, rigFlat(t), mode, 0, path, nil, opts...)
				r.run(144, 3)
				for _, f := range r.drawn {
					for _, y := range []float64{f.mesh[1], f.capsule[1]} {
						require.True(t, y == 0 || y == 9000, "%v, %s, at %v cm/s: y %v", mode, name, speed, y)
					}
				}
				require.EqualValues(t, 9000, r.drawn[len(r.drawn)-1].mesh[1])
				require.EqualValues(t, 1, r.stats.Teleports)
			}
		}
	}
}

func TestShortTeleportIsNotSmoothedEither(t *testing.T) {
	for _, mode := range rigModes {
		path := func(at components.Ticks) components.ReplicatedMovement {
			rep := rigWalker(0, 0)
			if at >= components.Second {
				rep.Location[0], rep.Teleports = 100, 1
			}
			return rep
		}
		r := newOnlooker(t, rigFlat(t), mode, 0, path, nil)
		r.run(60, 2)
		for _, f := range r.drawn {
			require.True(t, f.mesh[0] == 0 || f.mesh[0] == 100, "%v: x %v", mode, f.mesh[0])
		}
	}
}

func TestDelayIsBackToNormalAfterAPause(t *testing.T) {
	for _, mode := range rigModes {
		r := newOnlooker(t, rigFlat(t), mode, 0, rigSteady(0, 600), nil)
		lag := func() float64 { // s behind the server, mean of half a second
			r.forget()
			r.run(60, 0.5)
			sum := 0.0
			for _, f := range r.drawn {
				sum += f.at.Seconds() - f.mesh[0]/600
			}
			return sum / float64(len(r.drawn))
		}
		r.run(60, 3)
		before := lag()
		r.frame(2 * components.Second)
		r.run(60, 2.5)
		require.InDelta(t, before, lag(), 0.02, "%v", mode)
	}
}

// The client's clock itself stood still for the pause: only its estimate of the
// server's time tells of it.
func TestBufferedDelayIsBackToNormalWhenTheClientsClockStoodStill(t *testing.T) {
	r := newOnlooker(t, rigFlat(t), components.SmoothBuffered, 0, rigSteady(0, 600), nil)
	r.run(60, 3)
	var b = r.buffer()
	before := b.Delay
	r.now += 2 * components.Second
	r.shift += 2 * components.Second
	r.run(60, 3)
	require.InDelta(t, before, b.Delay, 0.02)
}

func TestBufferedDelayFollowsTheJitterAndStaysWithinItsBounds(t *testing.T) {
	delay := func(jitter float64) float64 {
		r := newOnlooker(t, rigFlat(t), components.SmoothBuffered, 0, rigSteady(0, 600), nil)
		r.jitter = rigTicks(jitter)
		r.run(60, 10)
		return r.buffer().Delay
	}
	calm, rough, wild := delay(0), delay(0.05), delay(3)
	require.InDelta(t, 0.05+0.1, calm, 0.03) // transit and interval
	require.Greater(t, rough, calm+0.03)
	require.LessOrEqual(t, rough, 0.5)
	require.Less(t, wild, 4.0)
}

func TestBufferedPlayingNeverRunsBackwardsAndAtMostAFewPercentOff(t *testing.T) {
	r := newOnlooker(t, rigFlat(t), components.SmoothBuffered, 0, rigSteady(0, 600), nil)
	r.run(60, 1)
	b := r.buffer()
	r.jitter, r.loss = rigTicks(0.04), 0.2
	last := b.PlayTime
	for range 1200 {
		r.frame(960)
		step := b.PlayTime - last
		require.True(t, step >= 960*96/100 && step <= 960*104/100, "a step of %d ticks", step)
		last = b.PlayTime
	}
}

func (r *onlookerRig) buffer() *components.SnapshotBuffer {
	return ecs.Need[components.SnapshotBuffers](r.app.World()).Get(r.mesh().Buffer)
}

func TestProxyDoesNotRunAwayWithoutNews(t *testing.T) {
	for _, mode := range rigModes {
		r := newOnlooker(t, rigFlat(t), mode, 0, rigSteady(0, 600), nil)
		r.run(60, 2)
		r.silent = true
		at := r.state().Location[0]
		r.run(60, 5)
		require.InDelta(t, at+600*0.5, r.state().Location[0], 600*0.2, "%v", mode)
		far := r.state().Location[0]
		r.run(60, 5)
		require.Equal(t, far, r.state().Location[0], "%v", mode)
	}
}

func TestOneHugeFrameCarriesAProxyNoFurtherThanItsBound(t *testing.T) {
	r := newOnlooker(t, rigFlat(t), components.SmoothExponential, 0, rigSteady(0, 600), nil)
	r.run(60, 2)
	at := r.state().Location[0]
	r.silent, r.queue = true, nil
	r.frame(30 * components.Second)
	require.LessOrEqual(t, r.state().Location[0], at+600*MaxProxyExtrapolation.Seconds())
}

func TestOlderSnapshotIsCountedAndIgnored(t *testing.T) {
	r := newOnlooker(t, rigFlat(t), components.SmoothExponential, 0, func(components.Ticks) components.ReplicatedMovement { return rigWalker(0, 0) }, nil)
	r.run(60, 1)
	r.silent, r.queue = true, nil
	applied := r.stats.Snapshots
	rep := rigWalker(500, 0)
	rep.ServerTime = components.Second / 2
	r.deliver(rep)
	r.frame(960)
	require.Zero(t, r.state().Location[0])
	require.EqualValues(t, 1, r.stats.SnapshotsStale)
	require.Equal(t, applied, r.stats.Snapshots)
}

func TestGravityModeAndStanceComeWithTheSnapshot(t *testing.T) {
	for _, mode := range rigModes {
		r := newOnlooker(t, rigFlat(t), mode, 0, func(at components.Ticks) components.ReplicatedMovement {
			rep := rigWalker(0, 0)
			if at >= components.Second {
				rep.Location[2] -= 48
				rep.Crouched, rep.Mode, rep.GravityDir = true, components.ModeFlying, rigVec(0, -1, 0)
			}
			return rep
		}, nil)
		r.run(60, 2)
		st := r.state()
		require.True(t, st.Crouched)
		require.Equal(t, 40.0, st.HalfHeight)
		require.Equal(t, components.ModeFlying, st.Mode)
		require.Equal(t, rigVec(0, -1, 0), st.GravityDir)
		for _, f := range r.drawn {
			feet := f.mesh[2] - 88
			if f.at >= components.Second+r.delay {
				feet = f.mesh[2] - 40
			}
			require.InDelta(t, rigStanding(0)-88, feet, 1e-9, "%v: feet stay on the floor", mode)
		}
	}
}

func TestProxysAccelerationIsTheReplicatedOneOrItsDirection(t *testing.T) {
	accel := components.Vec3{}
	r := newOnlooker(t, rigFlat(t), components.SmoothExponential, 0, func(at components.Ticks) components.ReplicatedMovement {
		rep := rigSteady(0, 600)(at)
		rep.Acceleration, rep.HasAcceleration = accel, accel != components.Vec3{}
		return rep
	}, nil)
	r.run(60, 1)
	require.Equal(t, rigVec(1, 0, 0), r.state().Acceleration)
	accel = rigVec(0, 2048, 0)
	r.run(60, 1)
	require.Equal(t, accel, r.state().Acceleration)
}

func TestProxyFallsBetweenSnapshots(t *testing.T) {
	r := newOnlooker(t, rigFlat(t), components.SmoothExponential, 0, func(components.Ticks) components.ReplicatedMovement {
		rep := rigWalker(0, 0)
		rep.Location[2], rep.Mode = 1000, components.ModeFalling
		return rep
	}, nil)
	r.run(60, 1)
	r.silent, r.queue = true, nil
	z := r.state().Location[2]
	r.frame(5760)
	require.Less(t, r.state().Location[2], z-4)
}

func TestSpikeOnTheLinkLeavesABoundedStutter(t *testing.T) {
	for _, mode := range rigModes {
		r := newOnlooker(t, rigFlat(t), mode, 0, rigSteady(0, 600), nil)
		r.delay = rigTicks(0.02)
		r.before = func(r *onlookerRig) {
			r.delay = rigTicks(0.02)
			if r.now%(2*components.Second) < components.Second/6 {
				r.delay = rigTicks(0.17)
			}
		}
		r.run(60, 4)
		r.forget()
		r.run(60, 6)
		// A snapshot that is 0.15 s late puts the capsule back by 90 cm. From
		// there the exponential law has the mesh go back by 6 cm at most: 90 cm
		// within 0.1 s against 600 cm/s.
		back, _, _ := rigBounds(r)
		limit := map[components.SmoothingMode]float64{
			components.SmoothExponential: 6, components.SmoothLinear: 40, components.SmoothDisabled: 90, components.SmoothBuffered: 1,
		}[mode]
		require.LessOrEqual(t, back, limit, "%v", mode)
	}
}
