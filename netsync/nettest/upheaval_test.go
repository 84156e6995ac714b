package nettest_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/nettest"
	conns "github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/wire"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

// reaper is a user's system that removes characters in one phase: at once, or
// from within a query through the App's commands.
type reaper struct {
	phase    ecs.Phase
	deferred bool
	due      func() bool
	commands *ecs.Commands
	filter   arche.Filter
	done     int
}

func (r *reaper) Phase() ecs.Phase { return r.phase }
func (r *reaper) Roles() ecs.Roles { return ecs.AllRoles }

func (r *reaper) Initialize(w *arche.World) {
	m := arche.All(ecs.RegisterComponent[components.Character](w))
	r.filter = &m
	r.commands = ecs.Need[ecs.Commands](w)
}

func (r *reaper) Update(w *arche.World) {
	if !r.due() {
		return
	}
	var gone []arche.Entity
	q := w.Query(r.filter)
	for q.Next() {
		r.done++
		if r.deferred {
			r.commands.Despawn(q.Entity())
		} else {
			gone = append(gone, q.Entity())
		}
	}
	for _, e := range gone {
		w.RemoveEntity(e)
	}
}

func (r *reaper) Finalize(*arche.World) {}

// slotsOf is how many slots of all slabs are taken.
func slotsOf(w *arche.World) int {
	n := 0
	if s := ecs.Maybe[components.MoveQueues](w); s != nil {
		n += s.Len()
	}
	if s := ecs.Maybe[components.ReceivedQueues](w); s != nil {
		n += s.Len()
	}
	if s := ecs.Maybe[components.PoseRings](w); s != nil {
		n += s.Len()
	}
	if s := ecs.Maybe[components.SnapshotBuffers](w); s != nil {
		n += s.Len()
	}
	return n
}

// TestCharactersMayGoInAnyPhase: a user's system removes every character, in
// each phase, on the server, on an owner or on an onlooker, without telling
// anybody; all ends go on.
func TestCharactersMayGoInAnyPhase(t *testing.T) {
	for _, where := range []string{"server", "clients"} {
		for phase := ecs.Receive; phase <= ecs.Send; phase++ {
			for _, deferred := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %v, deferred %v", where, phase, deferred), func(t *testing.T) {
					t.Parallel()
					now := false
					o := on(flat(t), nettest.Options{Clients: 2, Onlookers: 1, Seed: 140, Link: rtt(60*ms, 10*ms, 2)})
					extend := func(app *ecs.App) {
						app.Add(&reaper{phase: phase, deferred: deferred, due: func() bool { return now }})
					}
					if where == "server" {
						o.Server.Extend = extend
					} else {
						o.Client.Extend = extend
					}
					o = with(o, func(s *components.Settings) { s.Smoothing = components.SmoothBuffered })
					s := session(t, o)
					drive(s, straight)
					s.Advance(second)
					now = true
					s.Advance(second / 10)
					now = false
					s.Advance(4 * second)
					worlds := []*arche.World{s.Server.App.World()}
					for _, c := range s.Clients {
						require.Equal(t, conns.Connected, c.Net.Session().State())
						worlds = append(worlds, c.App.World())
					}
					if where == "clients" {
						worlds = worlds[1:]
						require.Equal(t, 2, entitiesWith[components.Character](s.Server.App.World()))
					}
					for _, w := range worlds {
						require.Zero(t, entitiesWith[components.Character](w))
						require.Zero(t, slotsOf(w), "slots are given back")
					}
				})
			}
		}
	}
}

// TestCharacterThatComesBackUnderItsIDStays: two characters go, one of them
// comes back under its ID before anybody was told, and lies in another place of
// the server's list.
func TestCharacterThatComesBackUnderItsIDStays(t *testing.T) {
	t.Parallel()
	s := session(t, on(flat(t), nettest.Options{Onlookers: 1, Seed: 141, Link: rtt(60*ms, 0, 0)}))
	var all [3]arche.Entity
	for i := range all {
		spec := s.Server.SpawnAt(components.Vec3{float64(300 * i), 0, 0}, 0)
		spec.ID = components.NetID(1000 + i)
		all[i] = s.Server.Spawner.Local(spec, false)
	}
	s.Advance(second)
	require.Equal(t, 3, entitiesWith[components.Character](s.Clients[0].App.World()))
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		for _, i := range order {
			s.Server.Spawner.Despawn(all[i])
			s.Server.Net.Characters(func(components.NetID, components.PlayerID, *components.MovementState) {})
		}
		for _, back := range order {
			spec := s.Server.SpawnAt(components.Vec3{float64(300 * back), 500, 0}, 0)
			spec.ID = components.NetID(1000 + back)
			all[back] = s.Server.Spawner.Local(spec, false)
			s.Server.Net.Characters(func(components.NetID, components.PlayerID, *components.MovementState) {})
		}
		s.Advance(second)
		for i := range all {
			id := components.NetID(1000 + i)
			st := stateOf(s.Clients[0], id)
			require.NotNil(t, st, "character %d", id)
			require.InDelta(t, onServer[components.MovementState](s, id).Location[1], st.Location[1], 0.02)
		}
	}
}

// TestServerThatStartsAnewIsFoundByItsClients: the server's process ends under
// its clients, without a word, and another with another secret takes its place.
func TestServerThatStartsAnewIsFoundByItsClients(t *testing.T) {
	t.Parallel()
	o := on(flat(t), nettest.Options{Clients: 2, Onlookers: 1, Seed: 142, Link: rtt(60*ms, 10*ms, 2)})
	o.Client.Reconnect = true
	s := session(t, o)
	drive(s, straight)
	s.Advance(2 * second)
	old := s.Server
	require.NoError(t, old.Conn.Close()) // it crashed: nobody hears a goodbye
	old.App.Finalize()
	mem, err := s.Network.Listen(nettest.ServerAddr)
	require.NoError(t, err)
	o.Server.Session.Secret = [16]byte{77}
	s.Server, err = nettest.NewServerNode(mem, o.Server)
	require.NoError(t, err)
	s.Advance(10 * second)
	require.Positive(t, s.Server.Net.Session().Stats().Refused[conns.UnknownConnection], "what belongs to the old one is refused")
	require.Zero(t, s.Server.Net.Players())
	s.Advance(15 * second)
	require.NoError(t, s.Connect(5*second))
	require.Equal(t, 3, s.Server.Net.Players())
	s.Advance(second)
	for i := range s.Clients {
		require.Equal(t, 2, entitiesWith[components.Character](s.Clients[i].App.World()), "client %d", i)
	}
	live(t, s, 0, "with the new server")
	settled(t, s, "with the new server")
}

// TestWorldResetOnTheServerIsSurvived: arche's World.Reset takes every entity
// and resource away and tells nobody.
func TestWorldResetOnTheServerIsSurvived(t *testing.T) {
	t.Parallel()
	s := session(t, on(flat(t), nettest.Options{Clients: 2, Onlookers: 1, Seed: 143, Link: rtt(60*ms, 10*ms, 2)}))
	drive(s, straight)
	s.Advance(2 * second)
	w := s.Server.App.World()
	received, poses := ecs.Need[components.ReceivedQueues](w), ecs.Need[components.PoseRings](w)
	w.Reset()
	mark := arche.ComponentID[health](w)
	for range 4 { // a user's own, under the old entities' numbers
		w.NewEntity(mark)
	}
	s.Advance(3 * second)
	require.Equal(t, 4, entitiesWith[health](w))
	for i, c := range s.Clients {
		require.Equal(t, conns.Connected, c.Net.Session().State(), "client %d", i)
		require.Zero(t, entitiesWith[components.Character](c.App.World()), "client %d", i)
		require.Zero(t, slotsOf(c.App.World()), "client %d", i)
	}
	require.Zero(t, received.Len()+poses.Len(), "the slots of what was reset")
}

// TestAckForAnEntityThatIsGoneIsStale: the entity of a character has gone since
// the last tick, and its number is a user's entity by now.
func TestAckForAnEntityThatIsGoneIsStale(t *testing.T) {
	t.Parallel()
	s := session(t, on(flat(t), nettest.Options{Onlookers: 1, Seed: 147}))
	n := enter(t, s, 0, 77)
	require.Len(t, n.owned, 1)
	var buf [32]byte
	var w bits.Writer
	w.Reset(buf[:])
	wire.WritePossessAck(&w, &n.owned[0])
	w.Align()
	require.NoError(t, n.SendReliable(w.Bytes()))
	n.Flush(s.Now)
	world := s.Server.App.World()
	world.Reset()
	mark := arche.ComponentID[health](world)
	for range 4 {
		world.NewEntity(mark)
	}
	s.Advance(second / 10)
	require.EqualValues(t, 1, s.Server.Net.Net.Stale)
	require.Equal(t, 2, s.Server.Net.Players())
}

// TestWorldResetOnAClientIsSurvived: the others and the server go on, and a new
// session over the same world works.
func TestWorldResetOnAClientIsSurvived(t *testing.T) {
	t.Parallel()
	s := session(t, on(flat(t), nettest.Options{Clients: 2, Onlookers: 1, Seed: 144, Link: rtt(60*ms, 10*ms, 2)}))
	s.Advance(2 * second)
	w := s.Clients[0].App.World()
	queues := ecs.Need[components.MoveQueues](w)
	w.Reset()
	mark := arche.ComponentID[health](w)
	var mine []arche.Entity
	for range 4 { // a user's own, under the old entities' numbers
		mine = append(mine, w.NewEntity(mark))
	}
	s.Advance(3 * second)
	require.Zero(t, queues.Len(), "the slots of what was reset")
	s.Clients[0].Net.Disconnect()
	s.Advance(second)
	for _, e := range mine {
		require.True(t, w.Alive(e), "the network removes nothing that is not its own")
	}
	require.Equal(t, 2, s.Server.Net.Players())
	live(t, driven(s), 1, "the other player")
}

// TestPlayerTheGameDoesNotWantReadsWhy: and gets neither a slot nor a character.
func TestPlayerTheGameDoesNotWantReadsWhy(t *testing.T) {
	t.Parallel()
	o := on(flat(t), nettest.Options{Clients: 2, Seed: 148, Link: rtt(60*ms, 0, 0)})
	o.Server.Admit = func(p components.PlayerID, _ netip.AddrPort) (string, bool) {
		return "Player 2 is banned until Sunday.", p != 2
	}
	s, err := nettest.NewSession(o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	s.Advance(3 * second)
	require.NoError(t, s.Clients[0].Net.Err())
	var refused *conns.RefusedError
	require.ErrorAs(t, s.Clients[1].Net.Err(), &refused)
	require.Equal(t, "Player 2 is banned until Sunday.", refused.Text)
	require.Equal(t, 1, s.Server.Net.Session().Slots())
	require.Equal(t, 1, entitiesWith[components.Character](s.Server.App.World()))
	require.Positive(t, s.Server.Net.Session().Stats().Refused[conns.RefusedByGame])
}

// TestKickWithinJoinLeavesNothing: the game throws a player out while it is
// being let in.
func TestKickWithinJoinLeavesNothing(t *testing.T) {
	t.Parallel()
	o := on(flat(t), nettest.Options{Clients: 1, Seed: 145, Link: rtt(60*ms, 0, 0)})
	kicked := 0
	o.Server.Join = func(s *nettest.ServerNode, p components.PlayerID) []components.CharacterSpec {
		if s.Net.Kick(p, conns.ReasonKicked) {
			kicked++
		}
		return []components.CharacterSpec{s.Spawn()}
	}
	s, err := nettest.NewSession(o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	s.Advance(3 * second)
	require.Equal(t, 1, kicked)
	require.Error(t, s.Clients[0].Net.Err())
	require.Zero(t, s.Server.Net.Players())
	require.Zero(t, s.Server.Net.Session().Slots())
	require.Zero(t, entitiesWith[components.Character](s.Server.App.World()))
	require.Zero(t, slotsOf(s.Server.App.World()))
}

// TestCrowdThatVanishesLeavesNothing: 300 players join at once and all are
// gone without a word; then again.
func TestCrowdThatVanishesLeavesNothing(t *testing.T) {
	t.Parallel()
	const crowd = 300
	o := on(flat(t), nettest.Options{Onlookers: 1, Seed: 146, Link: rtt(60*ms, 0, 0)})
	o.Server.Session.MaxPeers, o.Server.Session.Timeout = 512, 5*second
	o = with(o, func(s *components.Settings) { s.NetUpdateFrequency = 1 }) // 90,000 pairs
	s := session(t, o)
	w := s.Server.App.World()
	for wave := range 2 {
		all := make([]*intruder, crowd)
		for i := range all {
			conn, err := s.Network.Listen(intruderAddr(wave*crowd + i))
			require.NoError(t, err)
			cfg := agreed(s)
			cfg.Secret = [16]byte{8, byte(wave), byte(i), byte(i >> 8)}
			all[i] = &intruder{Client: conns.NewClient(conn, nettest.ServerAddr, components.PlayerID(1000+i), cfg), s: s}
			require.NoError(t, all[i].Connect(s.Now))
			t.Cleanup(func() { conn.Close() })
		}
		for range 90 {
			s.Advance(components.Second / 30)
			for _, n := range all {
				n.Receive(s.Now, n)
				n.Flush(s.Now)
			}
		}
		require.Equal(t, crowd+1, s.Server.Net.Players(), "wave %d", wave)
		require.Equal(t, crowd, entitiesWith[components.Character](w), "wave %d", wave)
		require.Equal(t, 2*crowd, slotsOf(w), "wave %d", wave)
		require.Equal(t, crowd, entitiesWith[components.Character](s.Clients[0].App.World()), "wave %d", wave)
		for _, n := range all {
			require.Len(t, n.owned, 1, "wave %d", wave)
		}
		s.Advance(6 * second)
		require.Equal(t, 1, s.Server.Net.Players(), "wave %d", wave)
		require.Equal(t, 1, s.Server.Net.Session().Slots(), "wave %d", wave)
		require.Zero(t, entitiesWith[components.Character](w), "wave %d", wave)
		require.Zero(t, slotsOf(w), "wave %d", wave)
		require.Zero(t, entitiesWith[components.Character](s.Clients[0].App.World()), "wave %d", wave)
	}
}
