package movement

import (
	"fmt"
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/stretchr/testify/require"
)

func wall(yaw, d float64) halfSpace {
	s, c := exact.SinCosDeg(yaw)
	return halfSpace{n: Vec3{c, s, 0}, d: d}
}

func TestSlidesAlongAWall(t *testing.T) {
	for _, hz := range rates {
		w := newWalker(newPlanes(floorAt0, wall(180, -100)), hz)
		for i := 0; i < 2*hz; i++ {
			w.move(Vec3{1448.2, 1448.2, 0}, 0)
			require.LessOrEqual(t, w.s.Location[0], 66.0, "%d Hz: outside the wall", hz)
		}
		require.InDelta(t, 66, w.s.Location[0], 0.05, "%d Hz: at the wall", hz)
		require.Greater(t, w.s.Velocity[1], 380.0, "%d Hz: goes along it", hz)
		require.Zero(t, w.s.Velocity[0])
	}
}

func TestCornersDoNotJitter(t *testing.T) {
	for _, corner := range []float64{30, 60, 89, 91, 120, 179} {
		for _, push := range []float64{-80, -40, -10, 0, 3, 25, 60, 85} {
			t.Run(fmt.Sprintf("%v_pushed_%v", corner, push), func(t *testing.T) {
				// Two walls meet at the origin, symmetric about the x axis, solid ahead.
				half := corner / 2
				g := newPlanes(floorAt0, wall(180+90-half, 0), wall(180-90+half, 0))
				w := newWalker(g, 60)
				w.s.Location[0] = -34/math.Sin(half*math.Pi/180) - 60
				sin, cos := exact.SinCosDeg(push)
				a := RoundAcceleration(Vec3{2048 * cos, 2048 * sin, 0})
				for i := 0; i < 300; i++ {
					at := w.s.Location
					w.move(a, 0)
					for _, h := range g.solid {
						require.GreaterOrEqual(t, exact.Dot(h.n, w.s.Location)-34*math.Hypot(h.n[0], h.n[1]), -1e-9, "outside both walls")
					}
					if i > 120 && math.Abs(push) < 90-half {
						require.Less(t, exact.Dist(at, w.s.Location), 0.01, "at rest in the corner")
					}
				}
			})
		}
	}
}

func TestCeilingStopsAJump(t *testing.T) {
	for _, hz := range rates {
		g := newPlanes(floorAt0, halfSpace{n: Vec3{0, 0, -1}, d: -(176 + 10)})
		w := newWalker(g, hz)
		w.move(Vec3{}, jump)
		n := w.until(2*hz, Vec3{}, jump, func() bool { return w.s.Mode == components.ModeWalking })
		require.LessOrEqual(t, g.reached, 98.0, "%d Hz: head below the ceiling", hz)
		require.Less(t, float64(n)/float64(hz), 0.35, "%d Hz: falls at once", hz)
		require.InDelta(t, 2.15, w.feet(), 1e-9, "%d Hz: on the floor, not in it", hz)
	}
}

func TestSlopedCeilingBumps(t *testing.T) {
	s, c := exact.SinCosDeg(30)
	w := newWalker(newPlanes(floorAt0, halfSpace{n: Vec3{-s, 0, -c}, d: -210}), 60)
	for i := 0; i < 300; i++ {
		w.move(east, jump*components.MoveFlags(i&1))
		require.GreaterOrEqual(t, w.feet(), 0.0, "never pushed into the floor")
	}
	w.until(60, Vec3{}, 0, func() bool { return w.s.Mode == components.ModeWalking })
	require.Equal(t, components.ModeWalking, w.s.Mode)
}

func TestAPressMakesOneJump(t *testing.T) {
	w := newWalker(newPlanes(floorAt0), 60)
	jumps := 0
	for i := 0; i < 180; i++ {
		w.move(Vec3{}, jump)
		if w.has(EventJumped) {
			jumps++
		}
	}
	require.Equal(t, 1, jumps, "held through the landing")
	w.move(Vec3{}, 0)
	w.move(Vec3{}, jump)
	require.True(t, w.has(EventJumped), "pressed again")
}

func TestJumpCounts(t *testing.T) {
	count := func(most uint8, mode components.MovementMode) int {
		w := newWalker(newPlanes(floorAt0), 60)
		w.p.JumpMaxCount = most
		w.s.Mode = mode
		if mode == components.ModeFalling {
			w.s.Location[2] += 1000
		}
		jumps := 0
		for i := 0; i < 20; i++ {
			w.move(Vec3{}, jump*components.MoveFlags(i&1))
			if w.has(EventJumped) {
				jumps++
			}
		}
		return jumps
	}
	require.Equal(t, 1, count(1, components.ModeWalking))
	require.Equal(t, 3, count(3, components.ModeWalking))
	require.Equal(t, 0, count(1, components.ModeFalling), "falling uses up the first")
	require.Equal(t, 1, count(2, components.ModeFalling))
}

func TestReleaseEndsAHeldJump(t *testing.T) {
	g := newPlanes(floorAt0)
	w := newWalker(g, 60)
	w.p.JumpMaxHoldTime = 0.25
	z := w.s.Location[2]
	for i := 0; i < 6; i++ {
		w.move(Vec3{}, jump)
	}
	w.move(Vec3{}, 0)
	w.until(120, Vec3{}, jump, func() bool { return w.s.Mode == components.ModeWalking })
	require.InDelta(t, 42+90, g.reached-z, 0.0005, "0.1 s held; pressing again in the air does not resume it")
}

func TestCrouchKeepsFeetOnTheGroundAndTheCentreInTheAir(t *testing.T) {
	w := newWalker(newPlanes(floorAt0), 60)
	w.move(Vec3{}, components.FlagWantsToCrouch)
	require.True(t, w.has(EventCrouched))
	require.Equal(t, 40.0, w.s.HalfHeight)
	require.InDelta(t, 2.15, w.feet(), 1e-9)
	for i := 0; i < 60; i++ {
		w.move(east, components.FlagWantsToCrouch)
	}
	require.InDelta(t, 300, w.s.Velocity[0], 1e-9, "crouched speed")
	w.move(east, 0)
	require.True(t, w.has(EventUncrouched))
	require.Equal(t, 88.0, w.s.HalfHeight)
	require.InDelta(t, 2.15, w.feet(), 1e-9)

	w = newWalker(newPlanes(floorAt0), 60)
	w.s.Location[2], w.s.Mode, w.s.Velocity[2] = 500, components.ModeFalling, 980.0/120
	w.move(Vec3{}, components.FlagWantsToCrouch)
	require.InDelta(t, 500, w.s.Location[2], 0.1, "the centre is kept in the air")
	require.Equal(t, 40.0, w.s.HalfHeight)
}

func TestCrouchedUnderALowCeilingStaysDown(t *testing.T) {
	g := newPlanes(floorAt0)
	w := newWalker(g, 60)
	w.move(Vec3{}, components.FlagWantsToCrouch)
	g.solid = append(g.solid, halfSpace{n: Vec3{0, 0, -1}, d: -100})
	for i := 0; i < 60; i++ {
		w.move(Vec3{}, 0)
		require.True(t, w.s.Crouched)
	}
	w.move(Vec3{}, jump)
	require.Equal(t, components.ModeWalking, w.s.Mode, "a crouched character does not jump")
	g.solid = g.solid[:1]
	w.move(Vec3{}, jump)
	require.False(t, w.s.Crouched, "stands up as soon as it fits")
}

func TestStandsStillOnASlopeWithoutCreeping(t *testing.T) {
	w := newWalker(newPlanes(tilted(44.5)), 60)
	w.s.Location[2] += 34/math.Cos(44.5*math.Pi/180) - 34
	w.move(Vec3{}, 0)
	at := w.s.Location
	for i := 0; i < 36000; i++ {
		w.move(Vec3{}, 0)
	}
	require.Equal(t, at, w.s.Location)
	require.Equal(t, components.ModeWalking, w.s.Mode)
}

func TestSlidesOffASteepSlope(t *testing.T) {
	w := newWalker(newPlanes(tilted(46)), 60)
	w.s.Location[2] += 34/math.Cos(46*math.Pi/180) - 34
	for i := 0; i < 120; i++ {
		z := w.s.Location[2]
		w.move(east, 0)
		require.LessOrEqual(t, w.s.Location[2], z+1e-9, "never rises, although it pushes uphill")
	}
	require.Less(t, w.s.Location[2], -100.0)
	require.Equal(t, components.ModeFalling, w.s.Mode)
}

func TestDitchOfTwoSteepFaces(t *testing.T) {
	for _, deg := range []float64{50, 60, 75} {
		s, c := exact.SinCosDeg(deg)
		g := newPlanes(halfSpace{n: Vec3{-s, 0, c}}, halfSpace{n: Vec3{s, 0, c}})
		w := newWalker(g, 60)
		w.s.Location = Vec3{10, 0, 400}
		w.s.Mode = components.ModeFalling
		for i := 0; i < 300; i++ {
			w.move(Vec3{}, 0)
		}
		at := w.s.Location
		for i := 0; i < 60; i++ {
			w.move(Vec3{}, 0)
			require.Equal(t, components.ModeWalking, w.s.Mode, "%v degrees: no flicker between modes", deg)
		}
		require.Less(t, exact.Dist(at, w.s.Location), 0.01, "%v degrees: at rest", deg)
		w.move(Vec3{}, jump)
		require.True(t, w.has(EventJumped), "%v degrees: can jump out", deg)
		g.reached = math.Inf(-1)
		for i := 0; i < 30; i++ {
			w.move(Vec3{}, 0)
		}
		require.InDelta(t, 90, g.reached-at[2], 3, "%v degrees: jumps as high as elsewhere", deg)
	}
}

func TestPushedOutOfGeometry(t *testing.T) {
	for _, depth := range []float64{1, 20, 60} {
		w := newWalker(newPlanes(floorAt0, wall(180, -100)), 60)
		w.s.Location[0] = 66 + depth
		w.move(Vec3{}, 0)
		require.LessOrEqual(t, w.s.Location[0], 66.0)
		require.Zero(t, w.s.Velocity, "not launched")
	}
}

func TestCrushedReportsStuck(t *testing.T) {
	g := newPlanes(floorAt0, halfSpace{n: Vec3{0, 0, -1}, d: -150})
	w := newWalker(g, 60)
	at := w.s.Location
	for i := 0; i < 60; i++ {
		w.move(east, jump*components.MoveFlags(i&1))
		require.True(t, w.has(EventStuck))
	}
	require.Less(t, exact.Dist(at, w.s.Location), 60.0, "not launched")
	require.True(t, exact.Finite(w.s.Location))
}

func TestRotationModes(t *testing.T) {
	w := newWalker(newPlanes(floorAt0), 60)
	w.move(Vec3{0, 2048, 0}, 0)
	require.InDelta(t, 6, w.s.Rotation.Yaw, 1e-9, "360 degrees/s toward the acceleration")
	for i := 0; i < 30; i++ {
		w.move(Vec3{0, 2048, 0}, 0)
	}
	require.InDelta(t, 90, w.s.Rotation.Yaw, 1e-9)
	look := func(deg float64) {
		cmd := components.MoveCommand{Dt: w.dt, Control: components.Rotator{Yaw: deg, Pitch: 30}.Pack()}
		w.c.Move(&w.s, &cmd, &w.p)
	}
	w.p.Rotation = components.RotateToControl
	look(-90)
	require.InDelta(t, 6, math.Abs(w.s.Rotation.Yaw-90), 0.01)
	w.p.Rotation = components.RotateWithControl
	look(-90)
	require.Equal(t, -90.0, w.s.Rotation.Yaw)
	require.Zero(t, w.s.Rotation.Pitch)
}

func TestAnalogInput(t *testing.T) {
	p := components.DefaultProfile()
	for yaw := -180.0; yaw < 180; yaw += 7 {
		require.Equal(t, 1.0, AnalogModifier(ScaleInput(Vec3{1, 0, 0}, yaw, components.ModeWalking, &p), &p), "a full stick at %v", yaw)
	}
	w := newWalker(newPlanes(floorAt0), 60)
	for i := 0; i < 120; i++ {
		w.move(ScaleInput(Vec3{0.5, 0, 0}, 0, components.ModeWalking, &w.p), 0)
	}
	require.InDelta(t, 300, w.s.Velocity[0], 1e-9)
	require.Equal(t, Vec3{0, 2048, 0}, ScaleInput(Vec3{1, 0, 1}, 90, components.ModeWalking, &p))
	require.Equal(t, Vec3{0, 0, 2048}, ScaleInput(Vec3{0, 0, 5}, 90, components.ModeFlying, &p))
	require.Equal(t, Vec3{0.3, -0.3, 0}, RoundAcceleration(Vec3{0.26, -0.26, -0.01}))
	require.Equal(t, Vec3{0, 1e6, 0}, RoundAcceleration(Vec3{math.NaN(), math.MaxFloat64, math.Inf(-1)}))
}

func TestCommandOverTheMaximumIsClamped(t *testing.T) {
	w := newWalker(newPlanes(floorAt0), 60)
	w.move(Vec3{90000, 0, 0}, 0)
	require.InDelta(t, 2048.0/60, w.s.Velocity[0], 1e-9)
}

func TestNotFiniteIsRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	spoil := map[string]func(*components.MovementState, *components.MoveCommand){
		"location":  func(s *components.MovementState, _ *components.MoveCommand) { s.Location[1] = nan },
		"velocity":  func(s *components.MovementState, _ *components.MoveCommand) { s.Velocity[2] = inf },
		"huge":      func(s *components.MovementState, _ *components.MoveCommand) { s.Velocity[2] = 1e300 },
		"yaw":       func(s *components.MovementState, _ *components.MoveCommand) { s.Rotation.Yaw = nan },
		"dilation":  func(s *components.MovementState, _ *components.MoveCommand) { s.TimeDilation = nan },
		"radius":    func(s *components.MovementState, _ *components.MoveCommand) { s.Radius = 0 },
		"mode":      func(s *components.MovementState, _ *components.MoveCommand) { s.Mode = 99 },
		"input":     func(_ *components.MovementState, c *components.MoveCommand) { c.Acceleration[0] = nan },
		"infinites": func(_ *components.MovementState, c *components.MoveCommand) { c.Acceleration[0] = -inf },
	}
	for name, f := range spoil {
		w := newWalker(newPlanes(floorAt0), 60)
		cmd := components.MoveCommand{Acceleration: east, Dt: w.dt}
		f(&w.s, &cmd)
		h := HashState(1, &w.s)
		w.c.Move(&w.s, &cmd, &w.p)
		require.Equal(t, h, HashState(1, &w.s), "%s: the state is left", name)
		require.True(t, w.has(EventInvalid), name)
		require.EqualValues(t, 1, w.c.Stats.Invalid, name)
	}
}

func TestNoTimeDoesNothing(t *testing.T) {
	for _, dt := range []components.Ticks{0, -1, math.MinInt64} {
		w := newWalker(newPlanes(floorAt0), 60)
		w.s.Velocity[0] = 100
		h := HashState(0, &w.s)
		w.c.Move(&w.s, &components.MoveCommand{Dt: dt, Acceleration: east, Flags: jump}, &w.p)
		require.Equal(t, h, HashState(0, &w.s))
	}
}

func TestTimeDilation(t *testing.T) {
	w := newWalker(newPlanes(floorAt0), 60)
	w.s.TimeDilation = 0.5
	w.move(east, 0)
	require.InDelta(t, 2048.0/120, w.s.Velocity[0], 1e-9)
}

func TestModesTable(t *testing.T) {
	m := NewModes()
	require.PanicsWithValue(t, `movement.Modes: ID 1 of "moonwalk" (movement.moonwalk) is taken by "walking" (movement.walking)`,
		func() { m.Register(moonwalk{1}) })
	require.Panics(t, func() { m.Register(moonwalk{0}) })
	m.Register(moonwalk{16})
	m.Seal()
	require.Panics(t, func() { m.Register(moonwalk{17}) })

	w := newWalker(newPlanes(floorAt0), 60)
	w.c.Modes = m
	w.s.Mode = 16
	w.move(east, 0)
	require.InDelta(t, -10, w.s.Location[0], 1e-9, "a game's mode runs, with its own top speed")
}

type moonwalk struct{ id components.MovementMode }

func (m moonwalk) ID() components.MovementMode { return m.id }
func (m moonwalk) Name() string                { return "moonwalk" }
func (m moonwalk) MaxSpeed(*components.MovementState, *components.MovementProfile) float64 {
	return 600
}
func (m moonwalk) Step(c *Context, st *StepState, dt float64) {
	c.SweepMove(st, Vec3{-c.MaxSpeed(st) * dt, 0, 0})
}

func TestHashSeesEveryField(t *testing.T) {
	p := components.DefaultProfile()
	s := InitialState(&p, Vec3{1, 2, 3}, 4)
	h := HashState(0, &s)
	change := []func(s *components.MovementState){
		func(s *components.MovementState) { s.Location[2] = math.Nextafter(s.Location[2], 9) },
		func(s *components.MovementState) { s.Velocity[0] = math.Copysign(0, -1) },
		func(s *components.MovementState) { s.Acceleration[1] = 1 },
		func(s *components.MovementState) { s.GravityDir[2] = 1 },
		func(s *components.MovementState) { s.Rotation.Roll = 1 },
		func(s *components.MovementState) { s.Base = 1 },
		func(s *components.MovementState) { s.BaseLocation[0] = 1 },
		func(s *components.MovementState) { s.BaseYaw = 1 },
		func(s *components.MovementState) { s.Radius++ },
		func(s *components.MovementState) { s.HalfHeight++ },
		func(s *components.MovementState) { s.TimeDilation++ },
		func(s *components.MovementState) { s.JumpHold = 1 },
		func(s *components.MovementState) { s.JumpCount = 1 },
		func(s *components.MovementState) { s.WasJumping = true },
		func(s *components.MovementState) { s.Mode = 3 },
		func(s *components.MovementState) { s.Crouched = true },
	}
	seen := map[uint64]int{h: -1}
	for i, f := range change {
		c := s
		f(&c)
		k := HashState(0, &c)
		old, dup := seen[k]
		require.False(t, dup, "change %d hashes as %d", i, old)
		seen[k] = i
	}
	require.Equal(t, uint64(0), HashState(0, &s)^h)
}
