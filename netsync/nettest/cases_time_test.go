package nettest_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/systems/movement"
	"github.com/stretchr/testify/require"
)

// Case 1.
func TestClientAtOrBehindTheServersTimeIsCorrected(t *testing.T) {
	for _, behind := range []components.Ticks{0, second / 60, second, 3600 * second} {
		t.Run(fmt.Sprintf("%.2f s behind", behind.Seconds()), func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{Start: 3600 * second, Seed: 1})
			o.Server.Hz = 60
			o.Time = func(_ int, now components.Ticks) components.Ticks { return now - behind }
			s := session(t, o)
			drive(s, straight)
			s.Advance(second)
			require.Zero(t, s.Corrections(), correctionsBy(s))

			id := owned(t, s, 0)
			stateOf(s.Clients[0], id).Location[1] += 50
			s.Advance(second)
			require.Positive(t, s.Corrections(), "the wrong place was seen")
			settled(t, s, "after the correction")
		})
	}
}

// Case 1, the other half.
func TestVerdictForAnUnknownOrFutureMoveIsIgnored(t *testing.T) {
	t.Parallel()
	s := session(t, on(flat(t), nettest.Options{Seed: 2}))
	drive(s, straight)
	s.Advance(second)
	c, id := s.Clients[0], owned(t, s, 0)
	pos := part[components.Possession](c, id)
	q := queueOf(c)
	newest := part[components.ClientPrediction](c, id).CurrentTimeStamp
	wrong := *stateOf(c, id)
	wrong.Location = components.Vec3{1e5, 1e5, 1e5}
	for i, stamp := range []components.Stamp{newest + 1, newest + components.Stamp(10*second), 1} {
		q.Responses[i] = components.MoveResponse{State: wrong, Stamp: stamp, Epoch: pos.Epoch, Reason: components.CorrectPosition}
	}
	q.NumResponses = 3
	before := c.Stats.Ignored[components.IgnoreUnknownMove]
	s.Advance(second / 10)
	require.Equal(t, before+3, c.Stats.Ignored[components.IgnoreUnknownMove])
	require.Zero(t, s.Corrections())
	settled(t, s, "after verdicts for unknown moves")
}

// Case 2.
func TestNothingIsTakenForOldAtAWrap(t *testing.T) {
	for _, w := range wraps {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := session(t, w.options(on(flat(t), nettest.Options{Clients: 1, Onlookers: 1, Seed: 3, Link: rtt(80*ms, 10*ms, 2)})))
			drive(s, straight)
			id := owned(t, s, 0)
			last, stalls := -1.0, 0
			eachFrame(s, func(i int) {
				if i != 0 {
					return
				}
				if x := stateOf(s.Clients[0], id).Location[0]; x <= last {
					stalls++
				} else {
					last = x
				}
			})
			s.Advance(6 * second)
			require.Zero(t, s.Corrections(), correctionsBy(s))
			require.Zero(t, stalls, "frames in which the owner did not move")
			require.Zero(t, s.Server.Stats.MovesDropped[components.DropExpired])
			require.Zero(t, s.Server.Stats.MovesDropped[components.DropTooFarAhead])
			require.Greater(t, s.Clients[1].Stats.Snapshots, uint64(100), "20 a second for 6 s")
			settled(t, s, w.name)
		})
	}
}

// Case 2: more than half of the range of the 24-bit times, twice that of the
// stamps, in which an entity does nothing.
func TestIdleForHalfARangeThenMoving(t *testing.T) {
	t.Parallel()
	s := session(t, on(flat(t), nettest.Options{Clients: 1, Onlookers: 1, FPS: 20, Seed: 4, Link: rtt(80*ms, 0, 0)}))
	id := owned(t, s, 0)
	s.Advance(160 * second)
	seen := stateOf(s.Clients[1], id).Location
	drive(s, straight)
	s.Advance(second)
	require.Greater(t, exact.Dist(seen, stateOf(s.Clients[1], id).Location), 300.0, "the onlooker sees it go")
	require.Zero(t, s.Corrections(), correctionsBy(s))
	settled(t, s, "after having been idle")
}

// Case 3.
func TestEachDrawnStepIsVelocityTimesItsOwnFrame(t *testing.T) {
	for _, hz := range []int64{30, 60} {
		for _, fps := range []float64{50, 59.94, 75, 144, 165, 240} {
			t.Run(fmt.Sprintf("%d Hz drawn at %v", hz, fps), func(t *testing.T) {
				t.Parallel()
				o := on(flat(t), nettest.Options{FPS: fps, Seed: 5, Link: rtt(60*ms, 0, 0)})
				o.Client.FixedHz = hz
				s := session(t, o)
				drive(s, straight)
				s.Advance(second)
				worst, n := steadySteps(s, owned(t, s, 0))
				s.Advance(2 * second)
				require.Greater(t, *n, int(fps))
				require.LessOrEqual(t, *worst, 0.005, "share by which a drawn step is off")
				require.Zero(t, s.Corrections(), correctionsBy(s))
			})
		}
	}
}

// steadySteps follows the drawn mesh of client 0's character: by how large a
// share of velocity times frame time its steps are off at worst.
func steadySteps(s *nettest.Session, id components.NetID) (worst *float64, n *int) {
	worst, n = new(float64), new(int)
	var last components.Vec3
	var lastAt components.Ticks
	eachFrame(s, func(i int) {
		if i != 0 {
			return
		}
		at := meshOf(s.Clients[0], id).Location
		if lastAt > 0 {
			want := runSpeed * (s.Now - lastAt).Seconds()
			*worst = max(*worst, math.Abs(exact.Dist(at, last)-want)/want)
			*n++
		}
		last, lastAt = at, s.Now
	})
	return worst, n
}

// Case 13.
func TestRoundTripsOfZeroAndCoarseClocksMakeNoNaN(t *testing.T) {
	granularities := []components.Ticks{1, 100, second * 156 / 10000}
	for _, g := range granularities {
		t.Run(fmt.Sprintf("granularity %d", g), func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{Clients: 1, Onlookers: 1, Seed: 6, FPS: 200, Start: second})
			o.Time = func(_ int, now components.Ticks) components.Ticks {
				t := now - now%g
				if now%7 == 0 {
					t -= g // and sometimes back
				}
				return t
			}
			s := session(t, o)
			drive(s, func(_ int, at components.Ticks) keys { return keys{forward: 1, yaw: 90 * at.Seconds()} })
			id := owned(t, s, 0)
			bad := ""
			eachFrame(s, func(i int) {
				c := s.Clients[i]
				for _, v := range []any{
					stateOf(c, id), meshOf(c, id), part[components.MeshSmoothing](c, id), part[components.VisualInterpolation](c, id),
					part[components.ReplicatedMovement](c, id), c.Clock, part[components.Intent](c, id),
				} {
					if why := finite(v); bad == "" {
						bad = why
					}
				}
				if c.Clock.RTT < 0 || c.Clock.Jitter < 0 {
					bad = fmt.Sprintf("RTT %d, jitter %d", c.Clock.RTT, c.Clock.Jitter)
				}
			})
			s.Advance(3 * second)
			require.Empty(t, bad)
			require.Positive(t, s.Server.Stats.Moves)
			settled(t, s, "with a coarse clock")
		})
	}
}

// Case 25.
func TestLateInTheProcessMotionIsAsSmooth(t *testing.T) {
	// Under a variable tick an onlooker's capsule waits in the frame of an
	// update, so its drawn steps are compared with those at 0 s.
	type smoothness struct{ owner, mean, worst float64 }
	play := func(t *testing.T, start components.Ticks, fixed int64) (m smoothness) {
		o := on(flat(t), nettest.Options{Clients: 1, Onlookers: 1, FPS: 144, Seed: 7, Start: start, Link: rtt(60*ms, 0, 0)})
		o.Client.FixedHz = fixed
		s := session(t, o)
		drive(s, straight)
		s.Advance(2 * second)
		id := owned(t, s, 0)
		worst, _ := steadySteps(s, id)
		var seen nettest.ProxyProbe
		last := s.Now
		eachFrame(s, func(i int) {
			if i == 1 {
				seen.Frame(new(nettest.Path), &nettest.ProxyFrame{
					Now: s.Now, Dt: s.Now - last, Mesh: meshOf(s.Clients[1], id).Location, Velocity: components.Vec3{runSpeed, 0, 0},
				})
				last = s.Now
			}
		})
		s.Advance(2 * second)
		require.Zero(t, s.Corrections(), correctionsBy(s))
		return smoothness{*worst, seen.Pop.Mean(), seen.Pop.Max()}
	}
	for _, fixed := range []int64{0, 60} {
		early := play(t, 0, fixed)
		for _, start := range []components.Ticks{100_000 * second, components.Ticks(16_777_216) * second / 1000} {
			t.Run(fmt.Sprintf("from %.0f s, fixed %d", start.Seconds(), fixed), func(t *testing.T) {
				late := play(t, start, fixed)
				require.LessOrEqual(t, late.owner, 0.005, "share by which a drawn step of the owner is off")
				require.InDelta(t, early.mean, late.mean, 0.1, "mean cm by which an onlooker's drawn step is off")
				require.InDelta(t, early.worst, late.worst, 0.5, "largest cm by which it is off")
			})
		}
	}
}

// Case 15.
func TestJumpPressedAndReleasedBetweenTwoTicksHappens(t *testing.T) {
	for _, c := range []struct {
		name     string
		serverHz int64
		fps      float64
		fixed    int64
	}{
		{"both moves in one server tick", 10, 60, 0},
		{"several moves in one packet", 30, 240, 0},
		{"no step of the client between", 30, 240, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{FPS: c.fps, Seed: 8, Link: rtt(50*ms, 0, 0)})
			o.Server.Hz, o.Client.FixedHz = c.serverHz, c.fixed
			s := session(t, o)
			id := owned(t, s, 0)
			pressed, client, server := 0, 0, 0
			frame := 0
			drive(s, func(int, components.Ticks) keys {
				frame++
				// One frame in each 1.5 s: a jump lasts 0.86 s.
				down := frame%int(1.5*c.fps) == 1 && pressed < 4
				if down {
					pressed++
				}
				return keys{forward: 0.5, jump: down}
			})
			eachFrame(s, func(int) { client += events(s.Clients[0].App.World(), id, movement.EventJumped) })
			eachTick(s, func() { server += events(s.Server.App.World(), id, movement.EventJumped) })
			s.Advance(7 * second)
			require.Equal(t, 4, pressed)
			require.Equal(t, pressed, client, "jumps that the owner saw")
			require.Equal(t, pressed, server, "jumps that the server made")
			require.Zero(t, s.Corrections(), correctionsBy(s))
		})
	}
}
