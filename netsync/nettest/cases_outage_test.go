package nettest_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	conns "github.com/gaitnet/gait/netsync/session"
	"github.com/stretchr/testify/require"
)

// bounded checks after every frame of every client that it made one move at
// most, or as many as a fixed tick may, and replayed no more than a queue.
func bounded(t testing.TB, s *nettest.Session, moves uint64) {
	t.Helper()
	type counts struct{ made, replays, replayed, sent, packets uint64 }
	last := make([]counts, len(s.Clients))
	eachFrame(s, func(i int) {
		c := s.Clients[i]
		now := counts{c.Stats.MovesMade, c.Stats.Replays, c.Stats.ReplayedMoves, c.Stats.ContainersSent, c.Net.Session().Stats().PacketsOut}
		was := last[i]
		last[i] = now
		if was == (counts{}) || now.packets < was.packets {
			return // another session
		}
		require.LessOrEqual(t, now.made-was.made, moves, "moves in one frame")
		require.LessOrEqual(t, now.replays-was.replays, uint64(1), "replays in one frame")
		require.LessOrEqual(t, now.replayed-was.replayed, uint64(components.MaxSavedMoves), "moves replayed in one frame")
		require.LessOrEqual(t, now.sent-was.sent, uint64(components.MaxSends), "containers in one frame")
		require.LessOrEqual(t, now.packets-was.packets, uint64(components.MaxSends)+2, "packets in one frame")
	})
}

// live requires that a client's character is moved by its owner again: the
// server executes its moves, and has it where the owner had it.
func live(t testing.TB, s *nettest.Session, client int, why string) {
	t.Helper()
	id := owned(t, s, client)
	var path nettest.Path
	worst := 0.0
	executed, corrected := s.Server.Stats.Moves, s.Clients[client].Stats.TotalCorrections()
	before := s.OnClientFrame
	s.OnClientFrame = func(i int) {
		before(i)
		if i == client {
			path.Push(s.Now, stateOf(s.Clients[i], id).Location, false)
		}
	}
	s.Advance(second / 2)
	for range 10 {
		s.Advance(second / 30)
		_, d, _, ok := path.Nearest(s.Now, onServer[components.MovementState](s, id).Location)
		require.True(t, ok)
		worst = max(worst, d)
	}
	s.OnClientFrame = before
	require.Greater(t, s.Server.Stats.Moves-executed, uint64(15), "%s: its moves are executed", why)
	require.LessOrEqual(t, worst, 2.0, "%s: cm between the server's place and the owner's path", why)
	require.Equal(t, corrected, s.Clients[client].Stats.TotalCorrections(), "%s: nothing is corrected any more", why)
}

// Case 11.
func TestFrozenClientIsLiveAgainWithinASecond(t *testing.T) {
	for _, fixed := range []int64{0, 60} {
		for _, freeze := range []components.Ticks{second / 5, second, 3 * second, 10 * second} {
			t.Run(fmt.Sprintf("%.1f s, fixed %d", freeze.Seconds(), fixed), func(t *testing.T) {
				t.Parallel()
				o := on(flat(t), nettest.Options{Clients: 2, Seed: 60, Link: rtt(100*ms, 10*ms, 1)})
				o.Client.FixedHz = fixed
				s := session(t, o)
				drive(s, func(i int, at components.Ticks) keys { return keys{forward: 1, yaw: 90 * at.Seconds()} })
				s.Advance(second)
				moves := uint64(1)
				if fixed > 0 {
					moves = 8 // ecs.DefaultMaxSteps
				}
				bounded(t, s, moves)
				s.Paused[0] = true
				s.Advance(freeze)
				s.Paused[0] = false
				s.Advance(second)
				live(t, s, 0, "after the freeze")
				require.Zero(t, s.Clients[1].Stats.TotalCorrections(), "the other client")
				settled(t, s, "after the freeze")
			})
		}
	}
}

// Case 26.
func TestOneFrameLongerThanTheTimeOutEndsCleanlyAndResumes(t *testing.T) {
	for name, linger := range map[string]components.Ticks{"characters gone": 0, "characters kept": minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{Clients: 2, Seed: 61, Link: rtt(100*ms, 10*ms, 1)})
			o.Server.Linger = linger
			o.Client.Reconnect = true
			s := session(t, o)
			drive(s, func(i int, at components.Ticks) keys { return keys{forward: 1, yaw: 90 * at.Seconds()} })
			s.Advance(2 * second)
			before := owned(t, s, 0)
			place := onServer[components.MovementState](s, before).Location
			bounded(t, s, 1)
			s.Paused[0] = true
			s.Advance(30 * second)
			require.Equal(t, 1, s.Server.Net.Players(), "the server has let it go")
			_, there := s.Server.Net.Entity(before)
			require.Equal(t, linger > 0, there)
			s.Paused[0] = false
			s.Advance(3 * second)
			require.NoError(t, s.Clients[0].Net.Err())
			require.Equal(t, conns.Connected, s.Clients[0].Net.Session().State())
			after := owned(t, s, 0)
			require.Equal(t, linger > 0, before == after, "the same character, if it was kept")
			if linger > 0 {
				require.LessOrEqual(t, exact.Dist(place, onServer[components.MovementState](s, after).Location), 6*runSpeed)
			}
			live(t, s, 0, "after the reconnect")
			require.Zero(t, s.Clients[1].Stats.TotalCorrections(), "the other client")
			settled(t, s, "after the reconnect")
		})
	}
}

// Case 29.
func TestSpikesOfDelayAreNotFelt(t *testing.T) {
	t.Parallel()
	o := on(flat(t), nettest.Options{Clients: 1, Onlookers: 1, FPS: 60, Seed: 62, Link: rtt(40*ms, 0, 0)})
	s := session(t, o)
	drive(s, straight)
	s.Advance(second)
	id := owned(t, s, 0)
	owner, _ := steadySteps(s, id)
	var pops nettest.Histogram
	last, lastAt := meshOf(s.Clients[1], id).Location, s.Now
	eachFrame(s, func(i int) {
		if i != 1 {
			return
		}
		at := meshOf(s.Clients[1], id).Location
		pops.Add(math.Abs(at[0] - last[0] - runSpeed*(s.Now-lastAt).Seconds()))
		last, lastAt = at, s.Now
	})
	spike := rtt(40*ms, 0, 0)
	spike.Up.Delay += 75 * ms
	spike.Down.Delay += 75 * ms
	for range 6 {
		for i := range 2 {
			setLink(t, s, i, spike)
		}
		s.Advance(second / 20)
		for i := range 2 {
			setLink(t, s, i, o.Link)
		}
		s.Advance(2*second - second/20)
	}
	require.Zero(t, s.Corrections(), correctionsBy(s))
	require.LessOrEqual(t, *owner, 0.005, "share by which a drawn step of the owner is off")
	// A capsule waits in the frame of an update (10 cm at 60 fps); a spike adds
	// what the exponential law takes of the way of 150 ms in one frame.
	require.LessOrEqual(t, pops.Max(), 10+0.150*runSpeed/6, "cm by which an onlooker's drawn step is off")
	settled(t, s, "after the spikes")
}

// Case 30.
func TestAcksLostForThreeSecondsAreMadeUpForByTheNext(t *testing.T) {
	for _, red := range []components.Redundancy{components.RedundancyFull, components.RedundancyReference} {
		t.Run(fmt.Sprintf("redundancy %d", red), func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{Seed: 63, FPS: 60, Link: rtt(100*ms, 0, 0)})
			o = with(o, func(s *components.Settings) { s.Redundancy = red })
			s := session(t, o)
			drive(s, func(_ int, at components.Ticks) keys { return keys{forward: 1, yaw: 90 * at.Seconds()} })
			s.Advance(second)
			bounded(t, s, 1)
			deaf := o.Link
			deaf.Down.Loss = 100
			setLink(t, s, 0, deaf)
			executed := s.Server.Stats.Moves
			s.Advance(3 * second)
			require.Equal(t, components.MaxSavedMoves, queueOf(s.Clients[0]).Len(), "the queue is full")
			require.Greater(t, s.Clients[0].Stats.SavedDropped, uint64(5), "the oldest went and were counted")
			require.Greater(t, s.Server.Stats.Moves-executed, uint64(100), "the server goes on")
			setLink(t, s, 0, o.Link)
			s.Advance(second / 2)
			require.Zero(t, s.Corrections(), correctionsBy(s))
			require.LessOrEqual(t, queueOf(s.Clients[0]).Len(), 20, "one answer mends all")
			live(t, s, 0, "after the acks came again")
			settled(t, s, "after the acks came again")
		})
	}
}

// The kind of 11, 26 and 30: nothing arrives either way for a while.
func TestOutagesHealWithinASecond(t *testing.T) {
	for _, red := range []components.Redundancy{components.RedundancyFull, components.RedundancyReference} {
		for _, gone := range []time.Duration{300 * ms, time.Second, 5 * time.Second, 15 * time.Second} {
			t.Run(fmt.Sprintf("%v, redundancy %d", gone, red), func(t *testing.T) {
				t.Parallel()
				o := on(flat(t), nettest.Options{Clients: 1, Onlookers: 1, Seed: 64, Link: rtt(100*ms, 10*ms, 0)})
				o = with(o, func(s *components.Settings) { s.Redundancy = red })
				s := session(t, o)
				drive(s, func(_ int, at components.Ticks) keys { return keys{forward: 1, yaw: 90 * at.Seconds()} })
				s.Advance(second)
				bounded(t, s, 1)
				for i := range 2 {
					setLink(t, s, i, link.Config{Up: link.Path{Loss: 100}, Down: link.Path{Loss: 100}})
				}
				s.Advance(components.TicksOf(gone))
				for i := range 2 {
					setLink(t, s, i, o.Link)
				}
				s.Advance(second)
				require.Less(t, s.Clients[0].Clock.SendScale, 1.6, "it sends as before")
				live(t, s, 0, "after the outage")
				settledNear(t, s, "after the outage")
			})
		}
	}
}

// A link that carries nothing any more ends in a time-out that says so.
func TestCutLinkTimesOutCleanly(t *testing.T) {
	t.Parallel()
	s := session(t, on(flat(t), nettest.Options{Clients: 2, Seed: 65, Link: rtt(100*ms, 0, 0)}))
	id := owned(t, s, 0)
	setLink(t, s, 0, link.Config{Up: link.Path{Loss: 100}, Down: link.Path{Loss: 100}})
	drive(s, straight)
	s.Advance(25 * second)
	var ended *conns.EndedError
	require.True(t, errors.As(s.Clients[0].Net.Err(), &ended), "%v", s.Clients[0].Net.Err())
	require.Equal(t, conns.ReasonTimeout, ended.Reason)
	require.Empty(t, s.Clients[0].Net.Owned())
	require.Equal(t, 1, s.Server.Net.Players())
	_, there := s.Server.Net.Entity(id)
	require.False(t, there, "its character is gone")
	require.Nil(t, stateOf(s.Clients[1], id), "for the others as well")
	require.Zero(t, s.Corrections(), correctionsBy(s))
}
