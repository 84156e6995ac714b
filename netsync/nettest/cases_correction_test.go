package nettest_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/stretchr/testify/require"
)

// Case 4.
func TestFrameAfterACorrectionIsTheFrameBeforeAdvanced(t *testing.T) {
	for _, mode := range []components.SmoothingMode{components.SmoothExponential, components.SmoothLinear, components.SmoothBuffered} {
		for _, fixed := range []int64{0, 30} {
			t.Run(fmt.Sprintf("%v, fixed %d", mode, fixed), func(t *testing.T) {
				t.Parallel()
				o := on(flat(t), nettest.Options{FPS: 60, Seed: 30, Link: rtt(100*ms, 0, 0)})
				o.Client.FixedHz = fixed
				o = with(o, func(s *components.Settings) { s.Smoothing = mode })
				s := session(t, o)
				drive(s, straight)
				s.Advance(second)
				id := owned(t, s, 0)
				last, lastAt := meshOf(s.Clients[0], id).Location, s.Now
				eachFrame(s, func(int) {
					at := meshOf(s.Clients[0], id).Location
					dt := (s.Now - lastAt).Seconds()
					require.InDelta(t, runSpeed*dt, at[0]-last[0], 0.5, "along the way it goes on")
					aside := at[1] - last[1]
					require.GreaterOrEqual(t, aside, -0.01, "and never back")
					// The law itself takes up 50 cm within 0.1 s at most.
					require.LessOrEqual(t, aside, 50*dt/0.1+0.5, "nor at once to the corrected place")
					last, lastAt = at, s.Now
				})
				onServer[components.MovementState](s, id).Location[1] += 50
				s.Advance(second)
				require.Positive(t, s.Corrections())
				// Until it hears of it the owner goes on claiming the old place.
				require.LessOrEqual(t, s.Corrections(), uint64(3), correctionsBy(s))
				s.Advance(second)
				require.InDelta(t, 50, last[1], 0.01, "in the end it is there")
			})
		}
	}
}

// Case 5.
func TestSmoothedPlacesAreNeverSent(t *testing.T) {
	t.Parallel()
	o := nettest.Options{Clients: 2, Onlookers: 1, Seed: 31, Link: rtt(100*ms, 20*ms, 1)}
	o.Server.Listen = true
	o.Client.Input = humans(t)[0]
	s := session(t, o)
	ids := []components.NetID{owned(t, s, 0), owned(t, s, 1)}
	smoothed, gathered := 0, 0
	eachTick(s, func() {
		for _, id := range ids {
			st, rep := onServer[components.MovementState](s, id), onServer[components.ReplicatedMovement](s, id)
			if mesh := onServer[components.MeshSmoothing](s, id); !mesh.Complete {
				smoothed++
			}
			if rep.ServerTime != s.Server.App.Clock().Now {
				continue
			}
			gathered++
			want := st.Location
			if st.Base != 0 {
				want = st.BaseLocation
			}
			require.Equal(t, want, rep.Location, "a snapshot's place is the simulated one")
		}
	})
	s.Advance(span(10*minute, 20*second))
	require.Positive(t, smoothed, "there were offsets that could have been sent")
	require.Positive(t, gathered)
	require.Zero(t, s.Corrections(), correctionsBy(s))
	settled(t, s, "with everybody smoothed")
}

// Case 6.
func TestTwoAnswersToOneMoveMakeOneReplay(t *testing.T) {
	t.Run("duplicated packets", func(t *testing.T) {
		t.Parallel()
		o := on(flat(t), nettest.Options{Seed: 32, Link: rtt(80*ms, 20*ms, 0)})
		o.Link.Up.Duplicate, o.Link.Down.Duplicate = 100, 100
		o = with(o, func(s *components.Settings) { s.MinTimeBetweenAdjustments = 0 })
		o.Server.Debug = &components.Debug{ForceClientAdjustmentPercent: 50}
		s := session(t, o)
		drive(s, func(_ int, at components.Ticks) keys { return keys{forward: 1, yaw: 60 * at.Seconds()} })
		stats := s.Clients[0].Stats
		last := stats.Replays
		eachFrame(s, func(int) {
			require.LessOrEqual(t, stats.Replays-last, uint64(1))
			last = stats.Replays
		})
		s.Advance(3 * second)
		require.Greater(t, stats.Replays, uint64(10))
		require.Positive(t, s.Clients[0].Net.Session().Stats().Refused.Total(), "duplicates were refused")
		settled(t, s, "under duplicates")
	})
	for name, ackFirst := range map[string]bool{"acknowledged, then corrected": true, "corrected, then acknowledged": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := session(t, on(flat(t), nettest.Options{Seed: 33, Link: rtt(100*ms, 0, 0)}))
			drive(s, straight)
			s.Advance(second)
			c, id := s.Clients[0], owned(t, s, 0)
			q := queueOf(c)
			require.Greater(t, q.Len(), 3)
			m := q.At(2)
			right := m.End
			right.Location[1] += 20
			epoch := part[components.Possession](c, id).Epoch
			ack := components.MoveResponse{Stamp: m.Cmd.Stamp, Epoch: epoch, AckGood: true}
			adjust := components.MoveResponse{State: right, Stamp: m.Cmd.Stamp, Epoch: epoch, Reason: components.CorrectPosition}
			q.Responses[0], q.Responses[1] = adjust, ack
			if ackFirst {
				q.Responses[0], q.Responses[1] = ack, adjust
			}
			q.NumResponses = 2
			replays, ignored := c.Stats.Replays, c.Stats.Ignored[components.IgnoreUnknownMove]
			s.Advance(second / 20) // three frames
			want := uint64(1)
			if ackFirst {
				want = 0 // the move was answered
			}
			require.Equal(t, want, c.Stats.Replays-replays)
			require.Equal(t, uint64(1), c.Stats.Ignored[components.IgnoreUnknownMove]-ignored)
			// The made-up correction is corrected by the real server.
			settled(t, s, name)
		})
	}
}

// Case 16: whatever is answered when, the owner's path is the one that it has
// without any answer, and the server executes each move once.
func TestEachMoveIsAppliedOnceWhereverAnAckFalls(t *testing.T) {
	type frame struct {
		place, velocity components.Vec3
	}
	// Three distinct moves, again and again: ahead, aside, a jump.
	play := func(t *testing.T, delay components.Ticks, forced float64) (path []frame) {
		o := on(flat(t), nettest.Options{Seed: 34, FPS: 60, Link: rtt(delay.Duration(), 0, 0)})
		o.Server.Hz = 60
		o = with(o, func(s *components.Settings) {
			s.EnableMoveCombining = false
			s.MinTimeBetweenAcks, s.MinTimeBetweenAdjustments, s.MinTimeBetweenLargeAdjustments = 0, 0, 0
		})
		o.Server.Debug = &components.Debug{ForceClientAdjustmentPercent: forced}
		s := session(t, o)
		id := owned(t, s, 0)
		n := 0
		hold(s.Clients[0], keys{})
		drive(s, func(int, components.Ticks) keys {
			n++
			return [3]keys{{forward: 1}, {right: 1}, {forward: -1, jump: n%60 == 2}}[n%3]
		})
		eachFrame(s, func(int) {
			st := stateOf(s.Clients[0], id)
			path = append(path, frame{st.Location, st.Velocity})
		})
		made := s.Clients[0].Stats.MovesMade
		executed := s.Server.Stats.Moves
		s.Advance(2 * second)
		if forced > 0 {
			require.Greater(t, s.Clients[0].Stats.Replays, uint64(5))
		}
		// What is under way is executed after some time without new moves.
		s.Paused[0] = true
		s.Advance(second / 4)
		made, executed = s.Clients[0].Stats.MovesMade-made, s.Server.Stats.Moves-executed
		require.InDelta(t, made, executed, 2+delay.Seconds()*60, "moves that the server executed")
		require.Zero(t, s.Server.Stats.MovesDropped[components.DropExpired])
		return path
	}
	want := play(t, 400*msec, 0)
	require.NotEmpty(t, want)
	for _, delay := range []components.Ticks{0, 17 * msec, 34 * msec, 50 * msec, 67 * msec, 100 * msec} {
		for _, forced := range []float64{0, 50} {
			t.Run(fmt.Sprintf("%.0f ms, %v %% corrected", delay.Seconds()*1000, forced), func(t *testing.T) {
				t.Parallel()
				got := play(t, delay, forced)
				n := min(len(got), len(want))
				require.Equal(t, want[:n], got[:n])
			})
		}
	}
}

// Case 19 for the owner; its proxies are in cases_onlooker_test.go.
func TestOwnerTeleportsWithNothingInBetween(t *testing.T) {
	for name, speed := range map[string]float64{"standing": 0, "running": 1} {
		for _, fixed := range []int64{0, 60} {
			t.Run(fmt.Sprintf("%s, fixed %d", name, fixed), func(t *testing.T) {
				t.Parallel()
				o := on(flat(t), nettest.Options{FPS: 60, Seed: 35, Link: rtt(100*ms, 0, 0)})
				o.Client.FixedHz = fixed
				s := session(t, o)
				drive(s, func(int, components.Ticks) keys { return keys{forward: speed} })
				s.Advance(second)
				id := owned(t, s, 0)
				const far = 9000.0 // 90 m aside
				between := func(at components.Vec3) bool { return math.Abs(at[1]) > 1 && math.Abs(at[1]-far) > 1 }
				eachFrame(s, func(int) {
					require.False(t, between(meshOf(s.Clients[0], id).Location), "drawn at %v", meshOf(s.Clients[0], id).Location)
					require.False(t, between(stateOf(s.Clients[0], id).Location), "simulated at %v", stateOf(s.Clients[0], id).Location)
				})
				e, _ := s.Server.Net.Entity(id)
				to := onServer[components.MovementState](s, id).Location
				to[1] = far
				s.Server.Spawner.Teleport(e, to, 0)
				s.Advance(second)
				require.InDelta(t, far, stateOf(s.Clients[0], id).Location[1], 1)
				require.InDelta(t, far, meshOf(s.Clients[0], id).Location[1], 1)
				settled(t, s, "after the teleport")
			})
		}
	}
}
