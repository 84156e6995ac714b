package nettest_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/nettest"
	conns "github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/wire"
	"github.com/stretchr/testify/require"
)

// intruder is a client that shakes hands like any other and then sends
// whatever it likes, sealed as it should be.
type intruder struct {
	*conns.Client
	s   *nettest.Session
	rng *rand.Rand
	// owned are the characters that the server gave it, with their epochs.
	owned []wire.PossessAck
}

func (*intruder) Connected()                         {}
func (*intruder) Disconnected(error)                 {}
func (*intruder) Payload(*wire.Header, *bits.Reader) {}
func (*intruder) Acked(uint16)                       {}
func (n *intruder) Reliable(msg []byte) {
	var m wire.Spawn
	if k, body, err := wire.SplitReliable(msg); err == nil && k == wire.ReliableSpawn && wire.ReadSpawn(body, &m) == nil && m.Owner {
		n.owned = append(n.owned, wire.PossessAck{ID: m.Spec.ID, Epoch: m.Spec.Possession.Epoch})
	}
}

// agreed is the session's configuration with which its server lets clients in.
func agreed(s *nettest.Session) conns.Config {
	w := s.Server.App.World()
	c := conns.Config{Version: netsync.ProtocolVersion << 16}
	c.Hashes[0].Hash = s.Server.Level.Hash()
	c.Hashes[1].Hash = ecs.Need[components.ProfileTable](w).Hash()
	c.Hashes[2].Hash = ecs.Need[components.Registry](w).Hash()
	return c
}

func intruderAddr(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 9, byte(i >> 8), byte(i)}), 9000)
}

// enter lets an intruder into a session.
func enter(t testing.TB, s *nettest.Session, i int, player components.PlayerID) *intruder {
	t.Helper()
	conn, err := s.Network.Listen(intruderAddr(i))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	cfg := agreed(s)
	cfg.Secret = [16]byte{9, byte(i), byte(i >> 8)}
	n := &intruder{Client: conns.NewClient(conn, nettest.ServerAddr, player, cfg), s: s, rng: rand.New(rand.NewPCG(uint64(i), 7))}
	require.NoError(t, n.Connect(s.Now))
	for range 60 {
		n.step(nil)
	}
	require.Equal(t, conns.Connected, n.State())
	return n
}

// step is one frame of an intruder: send fills its datagram.
func (n *intruder) step(send func(w *bits.Writer)) {
	n.s.Advance(components.Second / 60)
	n.Receive(n.s.Now, n)
	if send != nil && n.State() == conns.Connected {
		send(n.Begin(n.s.Now))
		n.End()
	}
	n.Flush(n.s.Now)
}

// noise is a payload of random bits.
func (n *intruder) noise(w *bits.Writer) {
	for range n.rng.IntN(100) {
		w.WriteBits(n.rng.Uint64(), 64)
	}
}

// moves is a container that decodes, of moves no honest client makes. The
// stamps go up by each of them, if they do not jump.
func (n *intruder) moves(w *bits.Writer, id components.NetID, epoch uint16, stamp *components.Ticks) {
	r := n.rng
	var q components.MoveQueue
	count := 1 + r.IntN(20)
	for range count {
		m, _ := q.Push()
		dt := components.Ticks(1 + r.IntN(7200))
		*stamp += dt
		if *stamp > components.StampResetPeriod {
			*stamp -= components.StampResetPeriod
		}
		m.Cmd.Dt, m.Cmd.Stamp = dt, components.Stamp(*stamp)
		m.Cmd.Flags = components.MoveFlags(r.Uint32())
		m.Cmd.Profile = components.ProfileRef{ID: components.ProfileID(r.IntN(2)), Revision: uint16(1 + r.IntN(2))}
		m.Cmd.Control = components.PackedRotator{Pitch: uint16(r.Uint32()), Yaw: uint16(r.Uint32()), Roll: uint16(r.Uint32())}
		m.Cmd.ObstacleTime = n.s.Now + components.Ticks(r.IntN(1<<22)-1<<21)
		for k := range 2 {
			m.Cmd.Acceleration[k] = float64(r.IntN(40961)-20480) / 10
		}
		m.End.Mode = components.MovementMode(r.IntN(8))
		for k := range 3 {
			m.End.Location[k] = float64(r.IntN(1<<30) - 1<<29)
		}
		if r.IntN(3) == 0 {
			m.End.Base, m.End.BaseLocation = components.NetID(r.IntN(300)), m.End.Location
		}
	}
	plan := wire.ContainerPlan{ID: id, Epoch: epoch, New: q.Len() - 1, Pending: -1, Old: -1, Full: true, Budget: 500}
	mark := w.Mark()
	if _, err := wire.WriteContainer(w, &q, &plan, wire.ContainerContext{ViewTime: n.s.Now}); err != nil || w.Err() != nil {
		w.Rollback(mark)
	}
}

// everybody is the state of all characters of the session's own clients.
func everybody(s *nettest.Session) map[components.NetID]components.MovementState {
	out := map[components.NetID]components.MovementState{}
	for _, c := range s.Clients {
		for _, id := range c.Net.Owned() {
			if st, ok := s.Server.State(id); ok {
				out[id] = st
			}
		}
	}
	return out
}

// TestHostilePacketsChangeNothingForTheOthers: two runs of one session, in one
// of which a client that has the right seal sends everything it should not.
func TestHostilePacketsChangeNothingForTheOthers(t *testing.T) {
	for _, c := range []struct {
		name   string
		player components.PlayerID
	}{
		{"an onlooker", 77 | nettest.Onlooker},
		{"a player", 77},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var ends [2]map[components.NetID]components.MovementState
			for run := range ends {
				o := nettest.Options{Clients: 2, Seed: 130, Link: rtt(60*ms, 0, 0)}
				o.Client.Input = humans(t)[0]
				s := session(t, o)
				n := enter(t, s, 0, c.player)
				victim := owned(t, s, 0)
				stamp := components.Ticks(0)
				for i := range 60 * 10 {
					if run == 0 {
						n.step(nil)
						continue
					}
					n.step(func(w *bits.Writer) {
						switch n.rng.IntN(5) {
						case 0:
							n.noise(w)
						case 1: // another's character, in any epoch
							n.moves(w, victim, uint16(n.rng.IntN(3)), &stamp)
						case 2: // one that is not there
							n.moves(w, components.NetID(n.rng.Uint32()>>n.rng.IntN(32)), 1, &stamp)
						default:
							for _, own := range n.owned {
								if n.rng.IntN(20) == 0 {
									stamp = components.Ticks(n.rng.Int64N(int64(components.StampResetPeriod)))
								}
								n.moves(w, own.ID, own.Epoch, &stamp)
							}
						}
					})
					if i%3 == 0 {
						n.hostileMessage(victim)
					}
				}
				require.Equal(t, conns.Connected, n.State(), "it is refused, not thrown out")
				s.Server.Net.Characters(func(id components.NetID, _ components.PlayerID, st *components.MovementState) {
					require.Empty(t, finite(st), "character %d", id)
				})
				require.Zero(t, s.Corrections(), correctionsBy(s))
				if run == 1 {
					require.Positive(t, s.Server.Net.Net.Malformed)
					require.Positive(t, s.Server.Net.Net.ReliableMalformed)
					require.Positive(t, s.Server.Net.Net.Stale)
					require.Positive(t, s.Server.Net.Net.WrongDirection)
					require.Positive(t, s.Server.Stats.MovesDropped[components.DropNotOwner])
					require.Positive(t, s.Server.Stats.MovesDropped[components.DropUnknownCharacter])
				}
				ends[run] = everybody(s)
			}
			require.Len(t, ends[0], 2)
			require.Equal(t, ends[0], ends[1], "the others, to the bit")
		})
	}
}

// hostileMessage sends a message of the reliable channel that should not be.
func (n *intruder) hostileMessage(victim components.NetID) {
	var buf [512]byte
	var w bits.Writer
	w.Reset(buf[:])
	switch n.rng.IntN(4) {
	case 0: // the acknowledgement of another's possession
		wire.WritePossessAck(&w, &wire.PossessAck{ID: victim, Epoch: uint16(n.rng.IntN(3))})
	case 1: // what only a server says
		wire.WriteDespawn(&w, &wire.Despawn{ID: victim})
	case 2:
		set := components.DefaultSettings()
		set.MaxPositionErrorSquared = 1e12
		wire.WriteSettings(&w, &set)
	default:
		for range n.rng.IntN(40) {
			w.WriteBits(n.rng.Uint64(), 8)
		}
	}
	w.Align()
	n.SendReliable(w.Bytes())
}

// TestEndlessReliableStreamIsBounded: a client that fills its reliable channel
// for ever costs the server a bounded time and memory, and nobody else anything.
func TestEndlessReliableStreamIsBounded(t *testing.T) {
	t.Parallel()
	s := session(t, on(flat(t), nettest.Options{Clients: 1, Seed: 131, Link: rtt(60*ms, 0, 0)}))
	n := enter(t, s, 0, 77|nettest.Onlooker)
	drive(s, straight)
	msg := make([]byte, 200)
	sent := 0
	for range 60 * 5 {
		for n.SendReliable(msg) == nil {
			sent++
		}
		n.step(n.noise)
	}
	require.Greater(t, sent, 100)
	require.Equal(t, conns.Connected, n.State())
	require.LessOrEqual(t, s.Server.Net.Net.ReliableMalformed, uint64(sent))
	require.Positive(t, s.Server.Net.Net.ReliableMalformed)
	require.Zero(t, s.Corrections(), correctionsBy(s))
	settled(t, s, "beside an endless stream")
}

// TestReconnectsGrantNoNewMargin: a player who connects anew again and again, and
// each time bursts moves that stay below the margin, takes its balance along.
func TestReconnectsGrantNoNewMargin(t *testing.T) {
	for _, c := range []struct {
		name  string
		burst int // moves of 0.125 s at each connection
	}{
		{"one move each", 1},
		{"below the margin each", 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{Onlookers: 1, Seed: 132})
			o = with(o, func(s *components.Settings) { s.AntiCheat() })
			s := session(t, o)
			conn, err := s.Network.Listen(intruderAddr(0))
			require.NoError(t, err)
			defer conn.Close()
			cfg := agreed(s)
			at, from, connections := s.Now, 0.0, 0
			var id components.NetID
			for s.Now < at+10*second {
				connections++
				cfg.Secret = [16]byte{9, byte(connections), byte(connections >> 8)}
				n := &intruder{Client: conns.NewClient(conn, nettest.ServerAddr, 77, cfg), s: s}
				require.NoError(t, n.Connect(s.Now))
				for len(n.owned) == 0 {
					n.step(nil)
				}
				if connections == 1 {
					id, at = n.owned[0].ID, s.Now
					from = onServer[components.MovementState](s, id).Location[0]
				}
				require.Equal(t, id, n.owned[0].ID, "it keeps its character")
				var q components.MoveQueue
				for i := range c.burst {
					m, _ := q.Push()
					m.Cmd.Dt, m.Cmd.Stamp = second/8, components.Stamp(components.Ticks(i+1)*second/8)
					m.Cmd.Acceleration[0] = 2048
					m.Cmd.Profile = s.Server.Ref
					m.End = *onServer[components.MovementState](s, id)
				}
				n.step(func(w *bits.Writer) {
					plan := wire.ContainerPlan{ID: id, Epoch: n.owned[0].Epoch, New: c.burst - 1, Pending: -1, Old: -1, Full: true, Budget: 500}
					_, err := wire.WriteContainer(w, &q, &plan, wire.ContainerContext{})
					require.NoError(t, err)
				})
			}
			s.Advance(second / 10)
			require.Greater(t, connections, 50)
			way := onServer[components.MovementState](s, id).Location[0] - from
			due := runSpeed * (s.Now - at).Seconds()
			require.Greater(t, way, due/4)
			require.LessOrEqual(t, way-due, (1+1.0/30)*runSpeed+0.001*due, "cm gained")
		})
	}
}
