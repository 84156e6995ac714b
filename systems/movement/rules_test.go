package movement

import (
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/stretchr/testify/require"
)

func TestFallingIntoASteepSlopeDoesNotRise(t *testing.T) {
	for _, hz := range rates {
		w := newWalker(newPlanes(tilted(60)), hz)
		w.s.Location = Vec3{-300, 0, 200}
		w.s.Mode = components.ModeFalling
		w.s.Velocity = Vec3{900, 0, -50}
		for i := 0; i < hz; i++ {
			z := w.s.Location[2]
			w.move(east, 0)
			require.LessOrEqual(t, w.s.Location[2], z+1e-9, "%d Hz", hz)
		}
	}
}

func TestLongMovesAreSubStepped(t *testing.T) {
	run := func(hz, n int) Vec3 {
		w := newWalker(newPlanes(floorAt0), hz)
		for range n {
			w.move(east, 0)
		}
		return w.s.Location
	}
	require.InDelta(t, run(30, 2)[0], run(15, 1)[0], 1e-9, "1/15 s is two halves, not 0.05 and a rest")
	require.InDelta(t, run(20, 4)[0], run(5, 1)[0], 1.5, "0.2 s: three of 0.05 at most, the rest halved")

	w := newWalker(newPlanes(floorAt0), 1)
	w.p.MaxSimulationIterations = 3
	w.s.Velocity = Vec3{600, 0, 0}
	w.move(east, 0)
	require.InDelta(t, 600, w.s.Location[0], 1e-6, "the last sub-step takes the rest")
}

func TestLandingInALongMoveWalksTheRest(t *testing.T) {
	w := newWalker(newPlanes(floorAt0), 5)
	w.p.MaxSimulationIterations = 1
	w.s.Location[2], w.s.Mode, w.s.Velocity = 90, components.ModeFalling, Vec3{600, 0, -500}
	w.move(east, 0)
	require.Equal(t, components.ModeWalking, w.s.Mode)
	require.True(t, w.has(EventLanded))
	require.InDelta(t, 120, w.s.Location[0], 0.5, "no time is lost")
}

func TestFootOfASteepFaceIsStoodOn(t *testing.T) {
	w := newWalker(newPlanes(floorAt0, tilted(60)), 60)
	w.s.Location[0] = -200
	for i := 0; i < 90; i++ {
		w.move(east, 0)
		require.Equal(t, components.ModeWalking, w.s.Mode)
	}
	f := w.c.FindFloor(&w.s, &w.p, 0)
	require.True(t, f.Walkable)
	require.InDelta(t, 2.15, w.feet(), 0.3)

	// Lowered onto the face, as a landing does: the ray finds the ground beside it.
	w.s.Location[0] += 1
	w.s.Location[2] += 1
	f = w.c.FindFloor(&w.s, &w.p, 0)
	require.True(t, f.Walkable && f.Line, "by the ray: %+v", f)
}

func TestCatchAirIsARuleOfTheProfile(t *testing.T) {
	run := func(catch bool) bool {
		l := build(t, collision.NewBuilder().Ramp(Vec3{0, -300, 0}, Vec3{600, 600, 200}, 0).Box(Vec3{900, 0, 80}, Vec3{300, 300, 80}, 0).Floor(0, 3000))
		w := newWalker(l, 60)
		w.p.CatchAir = catch
		w.s.Location = Vec3{100, 0, 140}
		air := false
		for i := 0; i < 90; i++ {
			w.move(east, 0)
			if w.s.Mode == components.ModeFalling && w.s.Location[0] > 500 {
				air = true
			}
		}
		return air
	}
	require.False(t, run(false))
	require.True(t, run(true))
}

func TestGravityDuringTheHoldsLastStep(t *testing.T) {
	g := newPlanes(floorAt0)
	w := newWalker(g, 20)
	w.p.JumpMaxHoldTime, w.p.ApplyGravityWhileJumping = 0.11, false
	z := w.s.Location[2]
	w.until(60, Vec3{}, jump, func() bool { return w.s.Mode == components.ModeWalking })
	require.InDelta(t, 420*0.15+90, g.reached-z, 0.0005, "none until the step is over")
}

func TestPerchThreshold(t *testing.T) {
	l := build(t, collision.NewBuilder().Box(Vec3{-500, 0, -500}, Vec3{500, 500, 500}, 0))
	stays := func(past, threshold float64) bool {
		w := newWalker(l, 60)
		w.p.PerchRadiusThreshold = threshold
		w.s.Location = Vec3{past, 0, 90.15 - 34 + math.Sqrt(34*34-past*past)}
		w.move(Vec3{}, 0)
		return w.s.Mode == components.ModeWalking
	}
	require.True(t, stays(20, 0))
	require.False(t, stays(20, 20), "only the inner 14 cm carry")
	require.True(t, stays(13, 20))
}

func TestSurfaceFlags(t *testing.T) {
	reach := func(s collision.Surface, deg float64) float64 {
		sin, cos := exact.SinCosDeg(deg)
		l := build(t, collision.NewBuilder().Floor(0, 2000).SetSurface(s).Quad(Vec3{0, -500, 0}, Vec3{800 * cos, -500, 800 * sin}, Vec3{800 * cos, 500, 800 * sin}, Vec3{0, 500, 0}))
		w := newWalker(l, 60)
		w.s.Location[0] = -100
		for i := 0; i < 60; i++ {
			w.move(east, 0)
		}
		return w.feet()
	}
	require.Greater(t, reach(0, 30), 50.0)
	require.Less(t, reach(collision.SurfaceUnwalkable, 30), 5.0, "never walkable")
	require.Less(t, reach(0, 50), 5.0)
	require.Greater(t, reach(collision.SurfaceWalkable, 50), 50.0, "walkable however steep")

	step := func(s collision.Surface) float64 {
		l := build(t, collision.NewBuilder().Floor(0, 2000).SetSurface(s).Box(Vec3{500, 0, 20}, Vec3{400, 400, 20}, 0))
		w := newWalker(l, 60)
		for i := 0; i < 60; i++ {
			w.move(east, 0)
		}
		return w.feet()
	}
	require.Greater(t, step(0), 40.0)
	require.Less(t, step(collision.SurfaceNoStepUp), 5.0, "no step up onto it")
}

func TestFlyingStepsAndSlides(t *testing.T) {
	l := build(t, collision.NewBuilder().Floor(0, 2000).Box(Vec3{500, 0, 15}, Vec3{100, 400, 15}, 0).Box(Vec3{900, 0, 500}, Vec3{50, 5000, 500}, 0))
	w := newWalker(l, 60)
	w.s.Mode = components.ModeFlying
	for i := 0; i < 180; i++ {
		w.move(Vec3{1448.1, 1448.1, 0}, 0)
	}
	require.Greater(t, w.s.Location[1], 400.0)
	require.LessOrEqual(t, w.s.Location[0], 816.0)
	require.Equal(t, components.ModeFlying, w.s.Mode)
	w.s.Location = Vec3{200, 0, 92}
	w.s.Velocity = Vec3{}
	w.until(120, east, 0, func() bool { return w.s.Location[0] > 500 })
	require.Greater(t, w.s.Location[0], 500.0, "over the low step")
}

func TestDoorThatClosesPushesAside(t *testing.T) {
	w := collision.NewWorld()
	require.NoError(t, w.AddLevel(0, build(t, collision.NewBuilder().Floor(0, 2000).
		Obstacle(components.Obstacle{ID: 3, HalfExtents: Vec3{10, 100, 100}},
			components.ObstacleMotion{Kind: components.MotionShuttle, Origin: Vec3{-200, 0, 105}, Travel: Vec3{400, 0, 0}, Period: 4 * components.Second}))))
	c := newWalker(w, 60)
	for i := 0; i < 115; i++ {
		c.move(Vec3{}, 0)
		pose, _ := w.BasePose(3, c.time)
		require.GreaterOrEqual(t, c.s.Location[0]-pose.Location[0], 43.9, "outside the door")
		require.False(t, c.has(EventStuck))
	}
	require.Greater(t, c.s.Location[0], 200.0)
	require.Zero(t, c.s.Velocity, "not launched")
	require.Equal(t, components.ModeWalking, c.s.Mode)
}

func TestCrusherNeverLaunches(t *testing.T) {
	w := collision.NewWorld()
	require.NoError(t, w.AddLevel(0, build(t, collision.NewBuilder().Floor(0, 2000).Box(Vec3{150, 0, 200}, Vec3{50, 500, 200}, 0).
		Obstacle(components.Obstacle{ID: 3, HalfExtents: Vec3{50, 500, 200}},
			components.ObstacleMotion{Kind: components.MotionShuttle, Origin: Vec3{-200, 0, 205}, Travel: Vec3{200, 0, 0}, Period: 4 * components.Second}))))
	c := newWalker(w, 60)
	c.s.Location[0] = 60
	stuck := false
	for i := 0; i < 480; i++ {
		at := c.s.Location
		c.move(Vec3{}, 0)
		stuck = stuck || c.has(EventStuck)
		require.True(t, validState(&c.s))
		require.Less(t, exact.Dist(at, c.s.Location), 50.0, "not launched")
		require.Less(t, exact.Len(c.s.Velocity), 1000.0)
	}
	require.True(t, stuck, "reported")
}

func TestStepsBetweenTrains(t *testing.T) {
	for _, other := range []float64{1000, 700} {
		w := collision.NewWorld()
		for i, v := range []float64{1000, other} {
			require.NoError(t, w.AddObstacle(components.Obstacle{ID: components.NetID(i + 1), HalfExtents: Vec3{5000, 200, 50}},
				components.ObstacleMotion{Kind: components.MotionShuttle, Origin: Vec3{0, float64(i) * 402, 50}, Travel: Vec3{v * 20, 0, 0}, Period: 40 * components.Second}))
		}
		c := newWalker(w, 60)
		c.s.Location[2] += 100
		c.s.Velocity = Vec3{1000, 0, 0}
		for i := 0; i < 30; i++ {
			c.move(Vec3{}, 0)
		}
		require.EqualValues(t, 1, c.s.Base)
		require.InDelta(t, 0, c.s.Velocity[0], 0.01, "at rest on the train")
		changes := 0
		for i := 0; i < 60; i++ {
			c.move(Vec3{0, 2048, 0}, 0)
			require.Equal(t, components.ModeWalking, c.s.Mode)
			if c.has(EventBaseChanged) {
				changes++
				require.InDelta(t, 1000-other, c.s.Velocity[0], 0.01, "the old train's speed relative to the new one")
			}
		}
		require.Equal(t, 1, changes, "once")
		require.EqualValues(t, 2, c.s.Base)
	}
}

func TestEventsOverflowIsCounted(t *testing.T) {
	c := &Context{Geometry: newPlanes()}
	p := components.DefaultProfile()
	s := InitialState(&p, Vec3{}, 0)
	st := &StepState{S: &s, P: &p}
	for range MaxEvents + 3 {
		c.emit(EventJumped, st, 0, Vec3{})
	}
	require.Equal(t, MaxEvents, c.NumEvents)
	require.EqualValues(t, 3, c.Stats.EventsDropped)
}

func TestMeshWithDoubledFlippedAndSliverTriangles(t *testing.T) {
	clean := collision.NewBuilder().Floor(0, 1000).Box(Vec3{300, 0, 15}, Vec3{100, 300, 15}, 10)
	dirty := collision.NewBuilder().Floor(0, 1000).Box(Vec3{300, 0, 15}, Vec3{100, 300, 15}, 10).
		Triangle(Vec3{-1000, -1000, 0}, Vec3{1000, 1000, 0}, Vec3{1000, -1000, 0}, 0).
		Triangle(Vec3{0, 0, 0}, Vec3{100, 1e-8, 0}, Vec3{200, 0, 0}, 0).
		Quad(Vec3{-200, -200, 0}, Vec3{0, -200, 0}, Vec3{0, 200, 0}, Vec3{-200, 200, 0})
	run := func(b *collision.Builder) Vec3 {
		w := newWalker(build(t, b), 60)
		w.s.Location[0] = -300
		for i := 0; i < 100; i++ {
			w.move(direction(float64(i%30)), 0)
		}
		return w.s.Location
	}
	require.Less(t, exact.Dist(run(clean), run(dirty)), 0.15)
}

func TestWaysAlongAWallStayInTheFloorsPlane(t *testing.T) {
	for yaw := 0.0; yaw < 360; yaw += 17 {
		for _, steep := range []float64{-60, -20, 0, 50, 80} {
			s, c := exact.SinCosDeg(yaw)
			up, flat := exact.SinCosDeg(steep)
			wall := Vec3{c * flat, s * flat, up}
			fs, fc := exact.SinCosDeg(25)
			floor := Vec3{fs * 0.6, fs * 0.8, fc}
			n := wallOnFloor(wall, floor)
			require.InDelta(t, 1, exact.Len(n), 1e-9)
			along := groundWay(Vec3{-n[1], n[0], 0}, floor, true)
			require.InDelta(t, 0, exact.Dot(along, wall), 1e-9, "neither into the wall nor off it")
			require.InDelta(t, 0, exact.Dot(along, floor), 1e-9, "in the floor")
			require.Greater(t, exact.Dot(groundWay(n, floor, true), wall), 0.0, "its normal leads off the wall")
		}
	}
	require.Zero(t, wallOnFloor(Vec3{0, 0, -1}, Vec3{0, 0, 1}), "a ceiling over a level floor bars nothing")
}

func TestLiftIntoACeiling(t *testing.T) {
	w := collision.NewWorld()
	require.NoError(t, w.AddLevel(0, build(t, collision.NewBuilder().Floor(0, 2000).Box(Vec3{0, 0, 450}, Vec3{500, 500, 50}, 0).
		Obstacle(components.Obstacle{ID: 3, HalfExtents: Vec3{100, 100, 10}},
			components.ObstacleMotion{Kind: components.MotionShuttle, Origin: Vec3{0, 0, 10}, Travel: Vec3{0, 0, 300}, Period: 4 * components.Second}))))
	c := newWalker(w, 60)
	c.s.Location[2] += 20
	stuck := false
	for i := 0; i < 600; i++ {
		c.move(Vec3{}, 0)
		stuck = stuck || c.has(EventStuck)
		require.Less(t, exact.Len2(c.s.Velocity), 1.0, "never launched")
		require.LessOrEqual(t, c.s.Velocity[2], 0.0, "never launched")
		require.LessOrEqual(t, c.s.Location[2]+88, 400.01, "never into the ceiling")
		require.Greater(t, c.feet(), -0.01, "never through the floor")
	}
	require.True(t, stuck, "being crushed is reported")
}

func TestWithoutAStepHeightSlopesAreStillWalkedDown(t *testing.T) {
	l := build(t, collision.NewBuilder().Floor(0, 3000).Ramp(Vec3{0, -300, 0}, Vec3{900, 600, 100}, 0))
	w := newWalker(l, 60)
	w.p.MaxStepHeight = 0
	w.s.Location = Vec3{700, 0, 170}
	for i := 0; i < 60; i++ {
		w.move(Vec3{-2048, 0, 0}, 0)
	}
	require.Equal(t, components.ModeWalking, w.s.Mode)
	require.Less(t, w.s.Location[0], 300.0)
}
