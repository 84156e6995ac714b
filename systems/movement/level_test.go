package movement

import (
	"fmt"
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/stretchr/testify/require"
)

func build(t testing.TB, b *collision.Builder) *collision.Level {
	t.Helper()
	l, err := b.Build()
	require.NoError(t, err)
	return l
}

// direction is a full acceleration towards a yaw, on the wire's grid.
func direction(yaw float64) Vec3 {
	s, c := exact.SinCosDeg(yaw)
	return RoundAcceleration(Vec3{2048 * c, 2048 * s, 0})
}

func TestStep44PassesAnd46DoesNot(t *testing.T) {
	for _, hz := range append([]int{144}, rates...) {
		for _, k := range []struct {
			rise float64
			ok   bool
		}{{10, true}, {20, true}, {30, true}, {44, true}, {46, false}, {60, false}} {
			for _, run := range []float64{0, 200} {
				t.Run(fmt.Sprintf("%vcm_%dHz_run%v", k.rise, hz, run), func(t *testing.T) {
					l := build(t, collision.NewBuilder().Floor(0, 2000).Box(Vec3{500, 0, k.rise / 2}, Vec3{400, 400, k.rise / 2}, 0))
					w := newWalker(l, hz)
					w.s.Location[0] = 100 - 34.5 - run
					for i := 0; i < hz; i++ {
						w.move(east, 0)
						require.Equal(t, components.ModeWalking, w.s.Mode, "never airborne going up")
					}
					if k.ok {
						require.InDelta(t, k.rise+2.15, w.feet(), 0.3)
						require.Greater(t, w.s.Location[0], 150.0)
					} else {
						require.Less(t, w.feet(), 3.0)
						require.Less(t, w.s.Location[0], 100.0)
					}
				})
			}
		}
	}
}

func TestStairsUpAndDown(t *testing.T) {
	for _, hz := range []int{30, 60, 144} {
		for _, rise := range []float64{10, 20, 30, 44} {
			for _, yaw := range []float64{0, 30} {
				t.Run(fmt.Sprintf("%vcm_%dHz_%vdeg", rise, hz, yaw), func(t *testing.T) {
					l := build(t, collision.NewBuilder().Floor(0, 5000).
						Stairs(Vec3{100, -1000, 0}, 40, 2000, rise, 10, 0).
						Box(Vec3{1500, 0, rise * 5}, Vec3{1000, 1000, rise * 5}, 0))
					w := newWalker(l, hz)
					n := w.until(hz*8, direction(yaw), 0, func() bool {
						require.Equal(t, components.ModeWalking, w.s.Mode, "never airborne going up")
						return w.s.Location[0] > 700
					})
					require.Less(t, n, hz*5, "not stuck going up")
					require.InDelta(t, rise*10+2.15, w.feet(), 0.3, "at the top")
					n = w.until(hz*8, direction(180+yaw), 0, func() bool {
						require.Equal(t, components.ModeWalking, w.s.Mode, "on the stairs going down")
						return w.s.Location[0] < 0
					})
					require.Less(t, n, hz*5, "not stuck going down")
					require.InDelta(t, 2.15, w.feet(), 0.3, "at the foot")
				})
			}
		}
	}
}

func TestLedgeHoldsUntilTheEdgeTolerance(t *testing.T) {
	l := build(t, collision.NewBuilder().Box(Vec3{-500, 0, -500}, Vec3{500, 500, 500}, 0))
	for past := 30.0; past < 36; past += 0.05 {
		w := newWalker(l, 60)
		// Where a sphere that touches the edge is at rest.
		drop := 0.0
		if past < 34 {
			drop = 34 - math.Sqrt(34*34-past*past)
		}
		w.s.Location = Vec3{past, 0, 90.15 - drop}
		for i := 0; i < 120; i++ {
			w.move(Vec3{}, 0)
		}
		if past < 33.85-1e-6 {
			require.Equal(t, components.ModeWalking, w.s.Mode, "%v past the edge", past)
			require.InDelta(t, past, w.s.Location[0], 1e-6, "does not creep")
		} else if past > 33.85+1e-6 {
			require.Equal(t, components.ModeFalling, w.s.Mode, "%v past the edge", past)
		}
	}
}

func TestDropsOverAnEdge(t *testing.T) {
	for _, hz := range append([]int{144}, rates...) {
		for _, speed := range []float64{100, 600} {
			for _, k := range []struct {
				drop  float64
				falls bool
			}{{20, false}, {44, false}, {46, true}, {100, true}} {
				l := build(t, collision.NewBuilder().Floor(-k.drop, 3000).Box(Vec3{-500, 0, -k.drop / 2}, Vec3{500, 500, k.drop / 2}, 0))
				w := newWalker(l, hz)
				w.s.Location[0] = -150
				w.p.MaxWalkSpeed = speed
				fell := false
				w.until(hz*8, east, 0, func() bool {
					fell = fell || w.s.Mode == components.ModeFalling
					return w.s.Location[0] > 120
				})
				require.Equal(t, k.falls, fell, "%v cm at %d Hz and %v cm/s", k.drop, hz, speed)
			}
		}
	}
}

func TestLedgesThatMayNotBeWalkedOff(t *testing.T) {
	l := build(t, collision.NewBuilder().Box(Vec3{-500, 0, -500}, Vec3{500, 500, 500}, 0))
	w := newWalker(l, 60)
	w.s.Location[0] = -100
	for i := 0; i < 120; i++ {
		w.move(east, components.FlagWantsToCrouch)
	}
	require.Equal(t, components.ModeWalking, w.s.Mode, "crouched it is held back")
	require.Less(t, w.s.Location[0], 34.0)
	for i := 0; i < 60; i++ {
		w.move(east, 0)
	}
	require.Equal(t, components.ModeFalling, w.s.Mode, "standing it walks off")
}

func TestFloorOfManyTrianglesHasNoBumps(t *testing.T) {
	b := collision.NewBuilder()
	for x := -6; x < 6; x++ {
		for y := -6; y < 6; y++ {
			fx, fy := float64(x*50), float64(y*50)
			p, q, r, s := Vec3{fx, fy, 0}, Vec3{fx + 50, fy, 0}, Vec3{fx + 50, fy + 50, 0}, Vec3{fx, fy + 50, 0}
			if (x+y)&1 == 0 {
				b.Quad(p, q, r, s)
			} else {
				b.Quad(q, r, s, p)
			}
		}
	}
	l := build(t, b)
	for _, speed := range []float64{1, 7, 60, 300, 600} {
		for yaw := 0.0; yaw < 360; yaw += 22.5 {
			w := newWalker(l, 60)
			w.p.MaxWalkSpeed = speed
			s, c := exact.SinCosDeg(yaw)
			w.s.Location[0], w.s.Location[1] = -c*200, -s*200
			w.s.Velocity = Vec3{c * speed, s * speed, 0}
			for i := 0; i < 40; i++ {
				w.move(direction(yaw), 0)
				require.InDelta(t, speed, exact.Len(w.s.Velocity), 1e-3, "speed unchanged")
				require.Equal(t, 90.15, w.s.Location[2], "no bump")
			}
		}
	}
}

func TestStandsUpWhereItFirstFits(t *testing.T) {
	l := build(t, collision.NewBuilder().Floor(0, 2000).Box(Vec3{0, 0, 150}, Vec3{100, 500, 50}, 0))
	w := newWalker(l, 60)
	w.s.Location[0] = -300
	w.until(120, east, components.FlagWantsToCrouch, func() bool { return w.s.Location[0] > 0 })
	require.True(t, w.s.Crouched)
	n := w.until(300, Vec3{400, 0, 0}, 0, func() bool { return !w.s.Crouched })
	require.Less(t, n, 300)
	require.Greater(t, w.s.Location[0], 100+33.9, "clear of the slab")
	require.Less(t, w.s.Location[0], 100+34+300.0/60+0.1, "in the first move in which it fits")
	require.InDelta(t, 2.15, w.feet(), 0.3)
}

func TestGapNarrowerThanTheCapsule(t *testing.T) {
	l := build(t, collision.NewBuilder().Box(Vec3{-120, 0, -100}, Vec3{100, 500, 100}, 0).Box(Vec3{120, 0, -100}, Vec3{100, 500, 100}, 0))
	for _, x := range []float64{0, 3, -7} {
		w := newWalker(l, 60)
		w.s.Location = Vec3{x, 0, 300}
		w.s.Mode = components.ModeFalling
		for i := 0; i < 240; i++ {
			w.move(Vec3{}, 0)
		}
		at := w.s.Location
		for i := 0; i < 60; i++ {
			w.move(Vec3{}, 0)
			require.Equal(t, components.ModeWalking, w.s.Mode, "no flicker between modes")
		}
		require.Less(t, exact.Dist(at, w.s.Location), 0.01, "at rest")
		w.move(Vec3{}, jump)
		require.True(t, w.has(EventJumped), "can jump out")
		w.until(120, east, 0, func() bool { return w.s.Mode == components.ModeWalking })
		w.until(120, east, 0, func() bool { return w.s.Location[0] > 100 })
		require.Greater(t, w.s.Location[0], 100.0, "walks on over the gap")
	}
}

func TestWorldObstaclesCarry(t *testing.T) {
	w := collision.NewWorld()
	require.NoError(t, w.AddLevel(0, build(t, collision.NewBuilder().Floor(0, 3000).
		Obstacle(components.Obstacle{ID: 3, HalfExtents: Vec3{150, 150, 10}},
			components.ObstacleMotion{Kind: components.MotionShuttle, Origin: Vec3{0, 0, 10}, Travel: Vec3{0, 0, 600}, Period: 4 * components.Second}).
		Obstacle(components.Obstacle{ID: 4, HalfExtents: Vec3{300, 300, 10}},
			components.ObstacleMotion{Origin: Vec3{1000, 0, 10}, YawRate: 90}))))
	for _, k := range []struct {
		base components.NetID
		at   Vec3
	}{{3, Vec3{50, 20, 110.15}}, {4, Vec3{1200, 0, 110.15}}} {
		c := newWalker(w, 60)
		c.s.Location = k.at
		c.move(Vec3{}, 0)
		require.Equal(t, k.base, c.s.Base)
		for i := 0; i < 30; i++ {
			c.move(Vec3{}, 0)
		}
		rel := c.s.BaseLocation
		for i := 0; i < 3600; i++ {
			c.move(Vec3{}, 0)
			require.Equal(t, components.ModeWalking, c.s.Mode, "no flicker between modes")
		}
		require.Less(t, exact.Dist(rel, c.s.BaseLocation), 0.01, "stays put on base %d", k.base)
	}
}

func TestFarFromTheOriginAsAtIt(t *testing.T) {
	run := func(o Vec3) Vec3 {
		l := build(t, collision.NewBuilder().Box(exact.Add(o, Vec3{0, 0, -10}), Vec3{3000, 3000, 10}, 0).
			Box(exact.Add(o, Vec3{500, 0, 20}), Vec3{200, 400, 20}, 30).Ramp(exact.Add(o, Vec3{900, -300, 0}), Vec3{600, 600, 200}, 0))
		w := newWalker(l, 60)
		w.s.Location = exact.Add(w.s.Location, o)
		for i := 0; i < 180; i++ {
			w.move(direction(float64(i%20)), jump*components.MoveFlags(i/50&1))
		}
		return exact.Sub(w.s.Location, o)
	}
	require.Less(t, exact.Dist(run(Vec3{}), run(Vec3{2e6, -2e6, 0})), 0.01)
}
