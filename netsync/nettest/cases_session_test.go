package nettest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/nettest"
	conns "github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

// nothingOfBefore requires that a client holds what one session needs and no
// more, and that the server does.
func nothingOfBefore(t testing.TB, s *nettest.Session, client int) {
	t.Helper()
	c := s.Clients[client]
	w := c.App.World()
	require.Len(t, c.Net.Owned(), 1)
	require.Equal(t, 1, ecs.Need[components.MoveQueues](w).Len(), "one queue")
	entities := 0
	s.Server.Net.Characters(func(components.NetID, components.PlayerID, *components.MovementState) { entities++ })
	require.Equal(t, entities, entitiesWith[components.Character](w), "the client's characters are the server's")
	require.Equal(t, s.Server.Net.Players(), s.Server.Net.Session().Slots(), "no slot too many")
	require.Equal(t, entities, ecs.Need[components.ReceivedQueues](s.Server.App.World()).Len())
	require.Equal(t, entities, ecs.Need[components.PoseRings](s.Server.App.World()).Len())
	require.LessOrEqual(t, queueOf(c).Len(), 20, "no old moves")
}

// Case 12.
func TestSecondSessionInTheSameProcessIsLiveAtOnce(t *testing.T) {
	for _, start := range []components.Ticks{0, 1<<24 - 20*second} {
		t.Run(fmt.Sprintf("from %.0f s", start.Seconds()), func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{Clients: 1, Start: start, Seed: 100, Link: rtt(100*ms, 10*ms, 1)})
			world := newWorld()
			o.Client.World = world // the same one for both sessions
			first := session(t, o)
			drive(first, func(_ int, at components.Ticks) keys { return keys{forward: 1, yaw: 90 * at.Seconds()} })
			first.Advance(span(minute, 15*second))
			p := *first.Server.Profiles.Get(first.Server.Ref)
			p.MaxWalkSpeed = 900
			require.NoError(t, first.Server.Net.Revise(first.Server.Ref.ID, p))
			first.Advance(second)
			require.Zero(t, first.Corrections(), correctionsBy(first))
			first.Clients[0].Net.Disconnect()
			first.Advance(second)
			require.Zero(t, first.Server.Net.Players())
			require.Zero(t, entitiesWith[components.Character](world))
			first.Close()

			// Another server, whose time begins elsewhere.
			o.Start, o.Seed = start+7*second, 101
			second2 := session(t, o)
			began := second2.Now
			stats := second2.Clients[0].Stats
			made, corrected := stats.MovesMade, stats.TotalCorrections()
			drive(second2, straight)
			second2.Advance(second)
			require.Greater(t, stats.MovesMade-made, uint64(25), "it is live at once")
			require.Less(t, second2.Now-began, 2*second)
			nothingOfBefore(t, second2, 0)
			id := owned(t, second2, 0)
			require.EqualValues(t, 1, part[components.ProfileRef](second2.Clients[0], id).Revision, "the old revision is gone")
			p.MaxWalkSpeed = 750
			require.NoError(t, second2.Server.Net.Revise(second2.Server.Ref.ID, p))
			second2.Advance(2 * second)
			ref := *part[components.ProfileRef](second2.Clients[0], id)
			require.EqualValues(t, 2, ref.Revision)
			require.Equal(t, 750.0, second2.Clients[0].Profiles.Get(ref).MaxWalkSpeed, "and in nobody's way")
			require.Equal(t, corrected, stats.TotalCorrections(), correctionsBy(second2))
			live(t, driven(second2), 0, "in the second session")
			settled(t, second2, "in the second session")
		})
	}
}

// driven makes sure that there is a frame hook to add to.
func driven(s *nettest.Session) *nettest.Session {
	eachFrame(s, func(int) {})
	return s
}

// Case 22 in brief; cheats_test.go has every kind.
func TestFastClocksGainNothingAndHonestOnesAreNotNoticed(t *testing.T) {
	for _, c := range []struct {
		name    string
		rate    float64 // of the client's clock
		noticed bool
		quiet   components.Ticks // an outage after which everything arrives at once
	}{
		{name: "1.02 times", rate: 1.02, noticed: true},
		{name: "1.1 times", rate: 1.1, noticed: true},
		{name: "twice", rate: 2, noticed: true},
		{name: "honest", rate: 1},
		{name: "honest after an outage of 2 s", rate: 1, quiet: 2 * second},
		{name: "honest with 200 ppm of drift", rate: 1.0002},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{Seed: 102, Link: rtt(80*ms, 10*ms, 0)})
			o = with(o, func(s *components.Settings) { s.AntiCheat() })
			o.Time = func(_ int, now components.Ticks) components.Ticks {
				return now + components.Ticks(float64(now)*(c.rate-1))
			}
			s := session(t, o)
			drive(s, straight)
			s.Advance(second)
			id := owned(t, s, 0)
			from, at := onServer[components.MovementState](s, id).Location[0], s.Now
			if c.quiet > 0 {
				held := o.Link
				held.Up.Delay += c.quiet.Duration()
				setLink(t, s, 0, held)
				s.Advance(second / 60)
				setLink(t, s, 0, o.Link) // order is kept: all wait for that one
			}
			// 2 % need 60 s to pass the margin of 1 s.
			length := span(10*minute, 80*second)
			if c.name == "twice" {
				length = span(10*minute, 20*second)
			}
			s.Advance(length)
			way := onServer[components.MovementState](s, id).Location[0] - from
			due := runSpeed * (s.Now - at).Seconds()
			// (margin + one tick) x speed + 0.1 % of the way, and what one way of
			// the link still holds.
			require.LessOrEqual(t, way-due, (1+1.0/30)*runSpeed+0.001*due+0.1*runSpeed, "cm gained")
			d := onServer[components.ServerPrediction](s, id).Discrepancy
			if c.noticed {
				require.Positive(t, d.Detections)
				require.Positive(t, s.Server.Stats.Discrepancies)
			} else {
				require.Zero(t, d.Detections)
				require.Greater(t, way, due-3*runSpeed, "an honest client is not held back")
			}
		})
	}
}

// Promise 11: the same player comes back before the server has noticed that it
// was gone, and after.
func TestReconnectUnderTheSamePlayer(t *testing.T) {
	for _, c := range []struct {
		name   string
		gone   components.Ticks
		linger components.Ticks
		same   bool
	}{
		{"at once", 0, 0, true},
		{"before the time-out", 5 * second, 0, true},
		{"after the time-out", 25 * second, 0, false},
		{"after the time-out, characters kept", 25 * second, minute, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{Clients: 2, Onlookers: 1, Seed: 103, Link: rtt(100*ms, 10*ms, 1)})
			o.Server.Linger = c.linger
			s := session(t, o)
			drive(s, func(_ int, at components.Ticks) keys { return keys{forward: 1, yaw: 90 * at.Seconds()} })
			s.Advance(3 * second)
			before := owned(t, s, 0)
			epoch := part[components.Possession](s.Clients[0], before).Epoch
			if c.gone > 0 {
				s.Paused[0] = true
				s.Advance(c.gone)
				s.Paused[0] = false
			}
			require.NoError(t, s.Restart(0))
			require.NoError(t, s.Connect(5*second))
			s.Advance(second)
			after := owned(t, s, 0)
			require.Equal(t, c.same, before == after)
			if c.same {
				require.Greater(t, part[components.Possession](s.Clients[0], after).Epoch, epoch, "in a new epoch")
			}
			require.Equal(t, 3, s.Server.Net.Players())
			nothingOfBefore(t, s, 0)
			live(t, s, 0, "after the reconnect")
			require.Zero(t, s.Clients[1].Stats.TotalCorrections(), "the other player")
			settled(t, s, "after the reconnect")
		})
	}
}

// Promise 11: two builds that cannot play together say so in one sentence.
func TestDisagreeingBuildsAreRefusedWithASentence(t *testing.T) {
	other := components.DefaultProfile()
	other.MaxWalkSpeed = 601
	for _, c := range []struct {
		name   string
		change func(o *nettest.ClientOptions)
		says   []string
	}{
		{"level", func(o *nettest.ClientOptions) { o.Level = flat(t) }, []string{"level"}},
		{"profile", func(o *nettest.ClientOptions) { o.Profile = &other }, []string{"movement profiles"}},
		{"version", func(o *nettest.ClientOptions) { o.Session.Version = 77 }, []string{"version"}},
		{"registry", func(o *nettest.ClientOptions) {
			// A game that replicates a type which the server does not have.
			reg := components.NewRegistry()
			components.RegisterReplicated(reg, "health", components.ToAll, components.ExactCodec[health]())
			o.World = newWorld()
			arche.AddResource(o.World, reg)
		}, []string{"registered types and modes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := nettest.Options{Clients: 1, Seed: 104, Link: rtt(50*ms, 0, 0)}
			o.Server.Level = collision.Arena()
			c.change(&o.Client)
			s, err := nettest.NewSession(o)
			require.NoError(t, err)
			defer s.Close()
			err = s.Connect(2 * second)
			var refused *conns.RefusedError
			require.True(t, errors.As(err, &refused), "%v", err)
			for _, word := range c.says {
				require.Contains(t, refused.Text, word)
			}
			require.Contains(t, refused.Text, ".")
			require.NotContains(t, refused.Text, "\n")
			require.Zero(t, s.Server.Net.Players())
			require.Zero(t, s.Server.Net.Session().Slots())
			s.Advance(3 * second)
			require.Equal(t, conns.Ended, s.Clients[0].Net.Session().State(), "it does not try for ever")
		})
	}
}

// Promise 11: a speed buff while everybody runs, on a bad link, corrects
// nobody.
func TestBuffedProfileCorrectsNobody(t *testing.T) {
	t.Parallel()
	o := nettest.Options{Clients: 4, Onlookers: 1, Seed: 105, Link: rtt(100*ms, 20*ms, 5)}
	o.Client.Input = humans(t)[0]
	s := session(t, o)
	s.Advance(2 * second)
	p := *s.Server.Profiles.Get(s.Server.Ref)
	faster := 0.0
	eachTick(s, func() {
		s.Server.Net.Characters(func(_ components.NetID, _ components.PlayerID, st *components.MovementState) {
			if st.Mode == components.ModeWalking {
				faster = max(faster, exact.Len(st.Velocity))
			}
		})
	})
	for i := range 6 {
		buffed := p
		if i%2 == 0 {
			buffed.MaxWalkSpeed, buffed.MaxAcceleration, buffed.JumpZVelocity = 1200, 4096, 500
		}
		require.NoError(t, s.Server.Net.Revise(s.Server.Ref.ID, buffed))
		s.Advance(span(20*second, 3*second))
	}
	require.Greater(t, faster, 900.0, "they ran faster")
	require.Zero(t, s.Corrections(), correctionsBy(s))
	settled(t, s, "after the buffs")
}

// Promise 11: settings that change while the session runs reach the clients.
func TestChangedSettingsReachTheClients(t *testing.T) {
	t.Parallel()
	o := nettest.Options{Clients: 2, Onlookers: 1, Seed: 106, Link: rtt(100*ms, 20*ms, 5)}
	o.Client.Input = humans(t)[0]
	s := session(t, o)
	s.Advance(second)
	set := s.Server.Settings
	set.NetUpdateFrequency, set.MaxMoveDeltaTime, set.SendDelta = 10, 0.1, 0.033
	set.Redundancy, set.MaxPositionErrorSquared = components.RedundancyReference, 9
	s.Advance(second)
	for i, c := range s.Clients {
		require.Equal(t, 10.0, c.Settings.NetUpdateFrequency, "client %d", i)
		require.Equal(t, 0.1, c.Settings.MaxMoveDeltaTime, "client %d", i)
		require.Equal(t, 0.033, c.Settings.SendDelta, "client %d", i)
		require.Equal(t, components.RedundancyReference, c.Settings.Redundancy, "client %d", i)
		require.Equal(t, 9.0, c.Settings.MaxPositionErrorSquared, "client %d", i)
	}
	before := s.Clients[2].Stats.Snapshots
	s.Advance(4 * second)
	require.InDelta(t, 2*40, s.Clients[2].Stats.Snapshots-before, 15, "10 a second of two characters")
	set.Redundancy = components.RedundancyFull
	s.Advance(2 * second)
	before = s.Corrections()
	s.Advance(4 * second)
	require.Equal(t, before, s.Corrections(), correctionsBy(s))
	settledNear(t, s, "after changed settings")
}

// Promise 11: the debug switches through the loop.
func TestDebugSwitchesConverge(t *testing.T) {
	for _, red := range []components.Redundancy{components.RedundancyFull, components.RedundancyReference} {
		t.Run(fmt.Sprintf("redundancy %d", red), func(t *testing.T) {
			t.Parallel()
			o := nettest.Options{Clients: 2, Onlookers: 1, Seed: 107, Link: rtt(100*ms, 10*ms, 0)}
			o = with(o, func(s *components.Settings) { s.Redundancy = red })
			o.Server.Debug = &components.Debug{ForceClientAdjustmentPercent: 5}
			o.Client.Debug = &components.Debug{MoveLossPercent: 10, ShowCorrections: true, CorrectionLifetime: 4}
			o.Client.Input = humans(t)[0]
			s := session(t, o)
			s.Advance(span(5*minute, 8*second))
			for i := range 2 {
				c := s.Clients[i]
				require.Positive(t, c.Stats.Corrections[components.CorrectForced], "client %d", i)
				require.Positive(t, c.Stats.MovesDropped[components.DropSimulatedLoss], "client %d", i)
				log := ecs.Need[components.CorrectionLog](c.App.World())
				require.Positive(t, log.N)
				require.LessOrEqual(t, uint64(log.N), c.Stats.TotalCorrections())
				if red == components.RedundancyFull {
					require.Equal(t, c.Stats.Corrections[components.CorrectForced], c.Stats.TotalCorrections(), correctionsBy(s))
				}
			}
			// Switched off while running.
			ecs.Need[components.Debug](s.Server.App.World()).ForceClientAdjustmentPercent = 0
			for i := range 2 {
				ecs.Need[components.Debug](s.Clients[i].App.World()).MoveLossPercent = 0
			}
			s.Advance(second)
			before := s.Corrections()
			s.Advance(3 * second)
			require.Equal(t, before, s.Corrections(), correctionsBy(s))
			settled(t, s, "after the switches")
		})
	}
}

// A jump that a correction replays is told once.
func TestReplayedJumpIsToldOnce(t *testing.T) {
	t.Parallel()
	o := on(flat(t), nettest.Options{Seed: 108, Link: rtt(150*ms, 0, 0)})
	o = with(o, func(s *components.Settings) { s.MinTimeBetweenAdjustments = 0 })
	o.Server.Debug = &components.Debug{ForceClientAdjustmentPercent: 100}
	s := session(t, o)
	id := owned(t, s, 0)
	jumps, pressed := 0, 0
	drive(s, func(_ int, at components.Ticks) keys {
		down := at%(3*second/2) < second/10
		return keys{jump: down}
	})
	eachFrame(s, func(int) { jumps += events(s.Clients[0].App.World(), id, movement.EventJumped) })
	eachTick(s, func() { pressed += events(s.Server.App.World(), id, movement.EventJumped) })
	s.Advance(6 * second)
	require.Equal(t, 4, pressed)
	require.Equal(t, 4, jumps)
	require.Greater(t, s.Clients[0].Stats.ReplayedMoves, uint64(500))
}

// Promise 11 and "bad input": whoever vanishes, whenever, leaves no entity, no
// slot and no queue behind, with the server or with the others.
func TestVanishedClientLeavesNothing(t *testing.T) {
	for step := range 24 {
		at := components.Ticks(step) * 25 * msec
		t.Run(fmt.Sprintf("after %.0f ms", at.Seconds()*1000), func(t *testing.T) {
			t.Parallel()
			s, err := nettest.NewSession(on(flat(t), nettest.Options{Clients: 2, Seed: 109, FPS: 30, Link: rtt(100*ms, 20*ms, 10)}))
			require.NoError(t, err)
			t.Cleanup(s.Close)
			drive(s, straight)
			s.Advance(at)
			s.Paused[0] = true // in the middle of a handshake, of a message, of a jump
			s.Advance(25 * second)
			require.Equal(t, 1, s.Server.Net.Players())
			require.Equal(t, 1, s.Server.Net.Session().Slots())
			w := s.Server.App.World()
			require.Equal(t, 1, entitiesWith[components.Character](w))
			require.Equal(t, 1, ecs.Need[components.ReceivedQueues](w).Len())
			require.Equal(t, 1, ecs.Need[components.PoseRings](w).Len())
			require.Equal(t, 1, entitiesWith[components.Character](s.Clients[1].App.World()))
			require.Zero(t, s.Clients[1].Stats.TotalCorrections())
		})
	}
}
