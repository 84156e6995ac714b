package movement

import (
	"fmt"
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/stretchr/testify/require"
)

// The figures of the behaviour's table, each at the rates it is given for.

func TestRestTo600(t *testing.T) {
	for _, k := range []struct {
		hz, ticks int
		cm        float64
	}{{20, 6, 106.8}, {30, 9, 101.92}, {60, 18, 97.04}, {120, 36, 94.60}} {
		w := newWalker(newPlanes(floorAt0), k.hz)
		n := w.until(100, east, 0, func() bool { return w.s.Velocity[0] >= 600 })
		require.Equal(t, k.ticks, n, "%d Hz: moves to 600 cm/s", k.hz)
		require.InDelta(t, k.cm, w.s.Location[0], 0.01, "%d Hz: way to 600 cm/s", k.hz)
	}
	w := newWalker(newPlanes(floorAt0), 57600)
	n := w.until(57600, east, 0, func() bool { return w.s.Velocity[0] >= 600 })
	require.InDelta(t, 0.2930, float64(n)/57600, 0.0001, "time in the limit")
	require.InDelta(t, 87.89, w.s.Location[0], 0.02, "way in the limit")
}

func TestBrakingFrom600(t *testing.T) {
	for _, k := range []struct {
		hz, ticks int
		cm        float64
	}{{30, 3, 11.54}, {60, 6, 15.62}, {120, 12, 19.53}} {
		w := newWalker(newPlanes(floorAt0), k.hz)
		w.s.Velocity = Vec3{600, 0, 0}
		n := w.until(100, Vec3{}, 0, func() bool { return w.s.Velocity[0] == 0 })
		require.InDelta(t, k.cm, w.s.Location[0], 0.02, "%d Hz: braking way", k.hz)
		require.LessOrEqual(t, n, k.ticks+1, "%d Hz: moves to rest", k.hz)
		require.GreaterOrEqual(t, n, k.ticks, "%d Hz: moves to rest", k.hz)
	}
	w := newWalker(newPlanes(floorAt0), 28800)
	w.s.Velocity = Vec3{600, 0, 0}
	n := w.until(28800, Vec3{}, 0, func() bool { return w.s.Velocity[0] == 0 })
	// The limit is that of the whole curve; its last 10 cm/s, which would take
	// 0.0047 s more, are cut off by the stop.
	require.InDelta(t, 0.1086, float64(n)/28800+0.0047, 0.0002, "time in the limit")
	require.InDelta(t, 23.59, w.s.Location[0], 0.05, "way in the limit")
}

var rates = []int{20, 30, 60, 120, 240}

func TestJumpApexIs90AtAnyRate(t *testing.T) {
	for _, hz := range append([]int{7, 50, 144}, rates...) {
		g := newPlanes(floorAt0)
		w := newWalker(g, hz)
		start := w.s.Location[2]
		air := components.Ticks(0)
		w.move(Vec3{}, jump)
		require.True(t, w.has(EventJumped), "%d Hz", hz)
		n := 1 + w.until(hz*2, Vec3{}, 0, func() bool { return w.s.Mode == components.ModeWalking })
		air = w.dt * components.Ticks(n)
		require.InDelta(t, 90.0, g.reached-start, 0.0005, "%d Hz: height of the apex", hz)
		require.InDelta(t, 0.8571, air.Seconds(), 1.01/float64(hz)+0.02, "%d Hz: time in the air", hz)
	}
}

func TestHeldJumpReaches195(t *testing.T) {
	for _, hz := range append([]int{7, 144}, rates...) {
		g := newPlanes(floorAt0)
		w := newWalker(g, hz)
		w.p.JumpMaxHoldTime = 0.25
		start := w.s.Location[2]
		w.until(hz*2, Vec3{}, jump, func() bool { return w.s.Mode == components.ModeWalking })
		require.InDelta(t, 195.0, g.reached-start, 0.0005, "%d Hz: height of the held jump", hz)
	}
}

func TestTerminalVelocity(t *testing.T) {
	for _, hz := range rates {
		w := newWalker(newPlanes(floorAt0), hz)
		w.s.Location[2] = 100000
		w.s.Mode = components.ModeFalling
		start, reached := w.s.Location[2], 0.0
		for i := 0; i < hz*6; i++ {
			z, v := w.s.Location[2], w.s.Velocity[2]
			w.move(Vec3{}, 0)
			require.GreaterOrEqual(t, w.s.Velocity[2], -4000.0, "%d Hz", hz)
			if reached == 0 && w.s.Velocity[2] == -4000 {
				_ = z
				reached = float64(i)/float64(hz) + (v+4000)/980
				fallen := start - z + (4000*4000-v*v)/1960
				require.InDelta(t, 4.0816, reached, 0.001, "%d Hz: time to terminal velocity", hz)
				require.InDelta(t, 8163.3, fallen, 0.1, "%d Hz: way to terminal velocity", hz)
			}
		}
		require.InDelta(t, 8163.27+4000*(6-4000.0/980), start-w.s.Location[2], 0.01, "%d Hz: way in 6 s", hz)
	}
}

func TestAirControlFromAStandingJump(t *testing.T) {
	w := newWalker(newPlanes(floorAt0), 60)
	w.move(east, jump)
	for i := 1; i < 51; i++ { // 0.85 s: the last whole move before the landing
		w.move(east, 0)
	}
	require.Equal(t, components.ModeFalling, w.s.Mode)
	require.InDelta(t, 100.7, w.s.Velocity[0], 0.05)
	require.InDelta(t, 48.5, w.s.Location[0], 0.05)
}

func TestCoastingInFluids(t *testing.T) {
	for _, k := range []struct {
		mode      components.MovementMode
		hz        int
		from, end float64
	}{{components.ModeFlying, 60, 600, 382.2}, {components.ModeSwimming, 60, 300, 191.1}, {components.ModeFlying, 7200, 600, 382.6}} {
		w := newWalker(newPlanes(floorAt0), k.hz)
		w.s.Location[2], w.s.Mode, w.s.Velocity = 1000, k.mode, Vec3{k.from, 0, 0}
		for i := 0; i < k.hz; i++ {
			w.move(Vec3{}, 0)
		}
		require.InDelta(t, k.end, w.s.Velocity[0], 0.06, "mode %d at %d Hz", k.mode, k.hz)
	}
}

func TestWalkableSlope(t *testing.T) {
	for _, hz := range rates {
		for _, k := range []struct {
			deg float64
			ok  bool
		}{{12, true}, {30, true}, {44.5, true}, {45, false}, {45.5, false}, {60, false}} {
			t.Run(fmt.Sprintf("%vdeg_%dHz", k.deg, hz), func(t *testing.T) {
				w := newWalker(newPlanes(floorAt0, tilted(k.deg)), hz)
				w.s.Location[0] = -200
				for i := 0; i < hz*2; i++ {
					w.move(east, 0)
				}
				if k.ok {
					require.Greater(t, w.feet(), 100.0, "climbs")
					require.Equal(t, components.ModeWalking, w.s.Mode)
				} else {
					require.Less(t, w.feet(), 5.0, "stays below")
				}
			})
		}
	}
}

func TestRampOf30DegreesAt600(t *testing.T) {
	for _, hz := range rates {
		w := newWalker(newPlanes(tilted(30)), hz)
		w.s.Location[2] += 34/math.Cos(math.Pi/6) - 34
		for i := 0; i < hz; i++ {
			w.move(east, 0)
		}
		at := w.s.Location
		for i := 0; i < hz; i++ {
			w.move(east, 0)
			require.InDelta(t, 600, w.s.Velocity[0], 1e-9, "%d Hz: horizontal speed", hz)
			require.Zero(t, w.s.Velocity[2])
		}
		require.InDelta(t, 600, w.s.Location[0]-at[0], 0.01, "%d Hz: horizontal way in a second", hz)
		require.InDelta(t, 346.4, w.s.Location[2]-at[2], 0.05, "%d Hz: climb in a second", hz)
	}
}

func TestFloorDistanceAtRest(t *testing.T) {
	for _, hz := range rates {
		for _, off := range []float64{-2, 0, 1, 1.8, 1.95, 2.3, 2.5, 10, 40} {
			w := newWalker(newPlanes(floorAt0), hz)
			w.s.Location[2] = 88 + off
			w.move(Vec3{}, 0)
			if off >= minFloorDist && off <= maxFloorDist {
				require.InDelta(t, off, w.feet(), 1e-9, "within its bounds it is left")
			} else {
				require.InDelta(t, 2.15, w.feet(), 1e-9, "from %v", off)
			}
			z := w.s.Location[2]
			for i := 0; i < hz; i++ {
				w.move(Vec3{}, 0)
			}
			require.Equal(t, z, w.s.Location[2], "nothing moves at rest")
		}
	}
}
