package movement

import (
	"math/rand/v2"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/stretchr/testify/require"
)

// obstacleCourse has all that a step can meet, from boxes to a turntable.
func obstacleCourse(t testing.TB) *collision.World {
	b := collision.NewBuilder().Floor(0, 1500).
		Stairs(Vec3{200, -200, 0}, 40, 400, 30, 6, 20).
		Ramp(Vec3{-600, -300, 0}, Vec3{500, 300, 250}, 10).
		Ramp(Vec3{-600, 200, 0}, Vec3{200, 300, 250}, 0).
		Box(Vec3{0, 500, 20}, Vec3{100, 100, 20}, 30).Box(Vec3{100, -500, 200}, Vec3{200, 100, 60}, 0).
		Box(Vec3{700, 0, 200}, Vec3{20, 700, 200}, 5).Box(Vec3{-800, 0, 200}, Vec3{20, 700, 200}, -5).
		Box(Vec3{0, 800, 200}, Vec3{900, 20, 200}, 0).Box(Vec3{0, -800, 200}, Vec3{900, 20, 200}, 0).
		Obstacle(components.Obstacle{ID: 3, HalfExtents: Vec3{100, 100, 10}},
			components.ObstacleMotion{Kind: components.MotionShuttle, Origin: Vec3{-200, 600, 10}, Travel: Vec3{0, 0, 400}, Period: 4 * components.Second}).
		Obstacle(components.Obstacle{ID: 4, HalfExtents: Vec3{150, 150, 10}},
			components.ObstacleMotion{Origin: Vec3{450, 550, 10}, YawRate: 60}).
		Obstacle(components.Obstacle{ID: 5, HalfExtents: Vec3{80, 80, 15}},
			components.ObstacleMotion{Kind: components.MotionShuttle, Origin: Vec3{-500, -600, 15}, Travel: Vec3{900, 0, 0}, Period: 6 * components.Second})
	w := collision.NewWorld()
	require.NoError(t, w.AddLevel(0, build(t, b)))
	return w
}

// playCourse runs seeded players over the course and chains their states.
func playCourse(t testing.TB, players, seconds int) (h uint64, c *Context) {
	g := obstacleCourse(t)
	c = &Context{Geometry: g}
	p := components.DefaultProfile()
	p.JumpMaxHoldTime, p.JumpMaxCount = 0.1, 2
	for k := range players {
		r := rand.New(rand.NewPCG(11, uint64(k)))
		p.Rotation = components.RotationMode(k % 3)
		s := InitialState(&p, Vec3{float64(k*97%600) - 300, float64(k*61%500) - 250, 400}, float64(k))
		s.Mode = components.ModeFalling
		if k%7 == 6 {
			s.Mode = components.ModeFlying
		}
		var cmd components.MoveCommand
		hz := []int{30, 60, 144, 240}[k%4]
		for i := 0; i < seconds*hz; i++ {
			if r.IntN(hz/2) == 0 {
				yaw := r.Float64() * 360
				cmd.Control = components.Rotator{Yaw: yaw, Pitch: r.Float64()*90 - 45}.Pack()
				in := Vec3{1, r.Float64() - 0.5, r.Float64() - 0.5}
				if r.IntN(6) == 0 {
					in = Vec3{}
				}
				cmd.Acceleration = ScaleInput(in, cmd.Control.Unpack().Yaw, s.Mode, &p)
				cmd.Flags = components.MoveFlags(r.IntN(4))
			}
			cmd.Dt = components.Ticks(components.TicksPerSecond / hz)
			cmd.ObstacleTime += cmd.Dt
			c.Move(&s, &cmd, &p)
			require.Zero(t, c.Stats.Invalid)
			require.True(t, exact.Finite(s.Location))
			require.Greater(t, s.Location[2]-s.HalfHeight, -0.1, "player %d at %v of mode %d after %d moves", k, s.Location, s.Mode, i)
			h = HashState(h, &s)
		}
	}
	return h, c
}

// TestCourseHashIsPinned holds every target to the same bits: run it with
// GOAMD64=v3 and with GOARCH=386, arm64, riscv64 and wasm. A change of
// behaviour changes the number.
func TestCourseHashIsPinned(t *testing.T) {
	h, c := playCourse(t, 28, 6)
	require.Equal(t, uint64(0x8d8bb92abc63a377), h)
	require.Greater(t, c.Stats.StepUps, uint64(50), "steps were climbed")
	require.Greater(t, c.Stats.Depenetrations, uint64(0), "obstacles pushed")
}
