package nettest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/nettest"
	conns "github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/wire"
	"github.com/stretchr/testify/require"
)

// impostor is a server that says whatever it likes, sealed as it should be.
type impostor struct {
	*conns.Server
	rng *rand.Rand
}

func (*impostor) Connected(*conns.Peer)                           {}
func (*impostor) Disconnected(*conns.Peer, conns.Reason)          {}
func (*impostor) Payload(*conns.Peer, *wire.Header, *bits.Reader) {}
func (*impostor) Reliable(*conns.Peer, []byte)                    {}
func (*impostor) Acked(*conns.Peer, uint16)                       {}

func (m *impostor) vec(size float64) (v components.Vec3) {
	for k := range v {
		v[k] = (2*m.rng.Float64() - 1) * size
	}
	return v
}

// state is one that can be written, far from any that a step arrives at.
func (m *impostor) state() components.MovementState {
	r := m.rng
	size := []float64{1, 1e3, 1e6, 1e10}[r.IntN(4)]
	st := components.MovementState{
		Location: m.vec(size), Velocity: m.vec(min(size, 1e7)), Acceleration: m.vec(min(size, 1e7)),
		GravityDir: components.Vec3{0, 0, -1}, Rotation: components.Rotator{Yaw: m.vec(1e6)[0]},
		Radius: 34, HalfHeight: 88, TimeDilation: 1, Mode: components.MovementMode(r.IntN(8)), Crouched: r.IntN(2) == 0,
		JumpHold: components.Ticks(r.Uint32() >> 1), JumpCount: uint8(r.Uint32()), WasJumping: r.IntN(2) == 0,
	}
	if r.IntN(2) == 0 {
		st.Radius, st.TimeDilation = 0.001+r.Float64()*150, []float64{0, 1e-9, 1000}[r.IntN(3)]
		st.HalfHeight = st.Radius + r.Float64()*900
	}
	if r.IntN(3) == 0 {
		st.Base, st.BaseLocation, st.BaseYaw = components.NetID(r.IntN(12)), m.vec(size), m.vec(1e6)[0]
	}
	return st
}

func (m *impostor) id() components.NetID { return components.NetID(256 + m.rng.IntN(24)) }

// message is one of the reliable channel.
func (m *impostor) message(w *bits.Writer) {
	r := m.rng
	ref := components.ProfileRef{ID: components.ProfileID(r.IntN(2)), Revision: uint16(r.IntN(3))}
	switch r.IntN(9) {
	case 0, 1, 2:
		wire.WriteSpawn(w, &wire.Spawn{Owner: r.IntN(2) == 0, Spec: components.CharacterSpec{
			Character: components.Character{ID: m.id(), Scene: components.SceneID(r.IntN(3) / 2)}, Profile: ref, State: m.state(),
			Possession: components.Possession{Player: 1, Epoch: uint16(r.IntN(2))}, ServerTime: components.Ticks(r.Int64()),
		}})
	case 3:
		wire.WriteDespawn(w, &wire.Despawn{ID: m.id()})
	case 4:
		wire.WriteProfileChange(w, &wire.ProfileChange{ID: m.id(), Ref: ref})
	case 5:
		p := components.DefaultProfile()
		p.MaxWalkSpeed, p.GravityZ, p.MaxAcceleration = 1e6*r.Float64(), m.vec(1e6)[0], 1e6*r.Float64()
		wire.WriteProfileRevision(w, &wire.ProfileRevision{Ref: ref, Profile: p})
	case 6:
		set := components.DefaultSettings()
		set.MaxMoveDeltaTime, set.SendDelta = 0.001+r.Float64()*0.9, r.Float64()
		wire.WriteSettings(w, &set)
	case 7:
		wire.WriteKeyframe(w, &wire.Keyframe{ID: components.NetID(r.IntN(12)), Time: components.Ticks(r.Int64()), Pose: components.Pose{Location: m.vec(1e9), Yaw: m.vec(1e6)[0]}})
	default:
		for range r.IntN(60) {
			w.WriteBits(r.Uint64(), 8)
		}
	}
}

// payload is the unreliable part of a packet.
func (m *impostor) payload(w *bits.Writer, now components.Ticks) {
	r := m.rng
	for range r.IntN(6) {
		switch mark := w.Mark(); r.IntN(3) {
		case 0:
			st := m.state()
			rep := components.ReplicatedMovement{
				Location: st.Location, Velocity: st.Velocity, GravityDir: st.GravityDir, Rotation: st.Rotation,
				ServerTime: now - components.Ticks(r.IntN(1<<20)) + 1<<19, TransformTime: now, Mode: st.Mode, Crouched: st.Crouched,
				Base: st.Base, Teleports: uint8(r.Uint32()), Acceleration: st.Acceleration, HasAcceleration: r.IntN(2) == 0,
			}
			if wire.WriteSnapshot(w, m.id(), &rep, wire.SnapshotContext{ServerTime: now}); w.Err() != nil {
				w.Rollback(mark)
			}
		case 1:
			stamp := components.Stamp(r.IntN(600) * 960)
			a := components.MoveResponse{State: m.state(), Stamp: stamp, Epoch: uint16(r.IntN(2)), AckGood: r.IntN(2) == 0, Reason: components.CorrectPosition}
			if wire.WriteResponse(w, m.id(), &a); w.Err() != nil {
				w.Rollback(mark)
			}
		default:
			if r.IntN(8) == 0 {
				w.WriteBits(r.Uint64(), 64)
			}
		}
	}
}

// TestClientOutlivesAServerOfNonsense: whatever a server says, its client goes
// on, draws finite places, keeps its own entities and leaves nothing behind.
func TestClientOutlivesAServerOfNonsense(t *testing.T) {
	for seed := range uint64(6) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			o := nettest.Options{Clients: 1, Seed: 170 + seed}
			o.Client.Input = humans(t)[0]
			o = with(o, func(s *components.Settings) { s.Smoothing = components.SmoothingMode(seed % 4) })
			if seed >= 3 {
				o.Client.FixedHz = 60
			}
			s, err := nettest.NewSession(o)
			require.NoError(t, err)
			t.Cleanup(s.Close)
			cfg := agreed(s)
			require.NoError(t, s.Server.Conn.Close())
			s.ServerPaused = true
			conn, err := s.Network.Listen(nettest.ServerAddr)
			require.NoError(t, err)
			defer conn.Close()
			m := &impostor{Server: conns.NewServer(conn, cfg), rng: rand.New(rand.NewPCG(seed, 3))}
			c := s.Clients[0]
			w := c.App.World()
			for range 60 * 4 {
				s.Advance(second / 60)
				m.Receive(s.Now, m)
				m.Each(func(p *conns.Peer) bool {
					var buf [2048]byte
					var msg bits.Writer
					msg.Reset(buf[:])
					if m.message(&msg); msg.Err() == nil {
						msg.Align()
						p.SendReliable(msg.Bytes())
					}
					m.payload(p.Begin(s.Now), s.Now)
					p.End()
					return true
				})
				m.Flush(s.Now)
				for id := components.NetID(256); id < 280; id++ {
					if st := stateOf(c, id); st != nil {
						require.Empty(t, finite(st), "character %d", id)
						require.Empty(t, finite(meshOf(c, id)), "character %d", id)
					}
				}
			}
			require.Equal(t, conns.Connected, c.Net.Session().State())
			require.LessOrEqual(t, entitiesWith[components.Character](w), 24)
			require.Positive(t, c.Net.Net.Malformed+c.Net.Net.ReliableMalformed)
			c.Net.Disconnect()
			s.Advance(second)
			require.Zero(t, entitiesWith[components.Character](w))
			require.Zero(t, ecs.Need[components.MoveQueues](w).Len())
			require.Zero(t, ecs.Need[components.SnapshotBuffers](w).Len())
		})
	}
}
