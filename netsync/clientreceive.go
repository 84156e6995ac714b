package netsync

import (
	"errors"
	"slices"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/wire"
	arche "github.com/mlange-42/arche/ecs"
)

// clientReceive drains the connection at the start of the frame: spawns and
// possession, answers for Correct, snapshots for SmoothCorrection, and the
// estimate of the server's time.
type clientReceive struct{ *Client }

func (c *clientReceive) Name() string     { return "ClientReceive" }
func (c *clientReceive) Phase() ecs.Phase { return ecs.Receive }
func (c *clientReceive) Roles() ecs.Roles { return ecs.Client }

func (c *clientReceive) Initialize(w *arche.World) { c.initialize(w) }

func (c *clientReceive) Update(*arche.World) {
	now := c.clock.FrameNow
	if st := c.sess.State(); (st == session.Idle || st == session.Ended) && c.err == nil && !c.leaving {
		if err := c.sess.Connect(now); err != nil {
			c.err = err
		}
	}
	c.sess.Receive(now, c)
	n := c.net
	n.Synced = c.sess.Synced()
	if n.Synced {
		n.ServerNow = c.sess.ServerNow(now)
	}
	n.RTT, n.Jitter = c.sess.RTT(), c.sess.Jitter()
	n.SendScale = c.sess.SendScale()
	n.NetSpeed = int32(min(c.sess.NetSpeed(), 1<<30))
}

// Finalize leaves nothing of the session in a world that outlives the app.
func (c *clientReceive) Finalize(*arche.World) { c.clear() }

// Connected is the session's.
func (c *clientReceive) Connected() {
	if c.cfg.Connected != nil {
		c.cfg.Connected()
	}
}

// Disconnected is the session's: nothing of the old session is kept.
func (c *clientReceive) Disconnected(err error) {
	c.clear()
	var refused *session.RefusedError
	var ended *session.EndedError
	again := c.cfg.Reconnect && !c.leaving && !errors.As(err, &refused)
	if errors.As(err, &ended) && ended.Reason != session.ReasonTimeout && ended.Reason != session.ReasonShutdown {
		again = false
	}
	if !again {
		c.err = err
	}
	if c.cfg.Disconnected != nil {
		c.cfg.Disconnected(err)
	}
}

// Payload is the session's: the unreliable part of an accepted packet.
func (c *clientReceive) Payload(h *wire.Header, r *bits.Reader) {
	for {
		kind, err := wire.ReadKind(r)
		if err != nil {
			c.Net.Malformed++
			return
		}
		switch kind {
		case wire.KindEnd:
			return
		case wire.KindAnswer:
			var id components.NetID
			m := &c.scratch.response
			if id, err = wire.ReadResponse(r, m); err != nil {
				c.Net.Malformed++
				return
			}
			c.answer(id, m)
		case wire.KindSnapshot:
			var id components.NetID
			rep := &c.scratch.snapshot
			if id, err = wire.ReadSnapshot(r, rep, wire.SnapshotContext{ServerTime: h.Time, Settings: c.set}); err != nil {
				c.Net.Malformed++
				return
			}
			c.snapshot(id, rep)
		case wire.KindTypes:
			id, err := wire.ReadTypes(r, c.types.reg, c.types.block, c.types.zero)
			if err != nil {
				c.Net.Malformed++
				return
			}
			c.receivedTypes(id, h.Time, false)
		default:
			c.Net.WrongDirection++
			return
		}
	}
}

// answer puts a server's answer into its owner's inbox; Correct takes it out.
func (c *Client) answer(id components.NetID, m *components.MoveResponse) {
	q := c.queue(id)
	if q == nil {
		c.Net.UnknownCharacter++
		return
	}
	if q.NumResponses == components.MaxResponses {
		c.stats.Ignored[components.IgnoreInboxFull]++
		return
	}
	q.Responses[q.NumResponses] = *m
	q.NumResponses++
}

// snapshot leaves a proxy's new state for SmoothCorrection. Of several in one
// frame the newest stays: each is whole.
func (c *Client) snapshot(id components.NetID, rep *components.ReplicatedMovement) {
	e, ok := c.Entity(id)
	if !ok || !c.world.Has(e, c.ids.rep) {
		c.Net.UnknownCharacter++
		return
	}
	have := (*components.ReplicatedMovement)(c.world.Get(e, c.ids.rep))
	if rep.ServerTime <= have.ServerTime {
		c.stats.SnapshotsStale++
		return
	}
	u := (*components.NetUpdate)(c.world.Get(e, c.ids.update))
	*have = *rep
	u.Received = true
}

// Reliable is the session's: one message of the ordered channel.
func (c *clientReceive) Reliable(msg []byte) {
	if err := c.reliable(msg); err != nil {
		c.Net.ReliableMalformed++
	}
}

func (c *Client) reliable(msg []byte) error {
	kind, body, err := wire.SplitReliable(msg)
	if err != nil {
		return err
	}
	switch kind {
	case wire.ReliableSpawn:
		var m wire.Spawn
		if err := wire.ReadSpawn(body, &m); err != nil {
			return err
		}
		c.spawn(&m)
	case wire.ReliableDespawn:
		var m wire.Despawn
		if err := wire.ReadDespawn(body, &m); err != nil {
			return err
		}
		c.despawn(m.ID)
	case wire.ReliableProfile:
		var m wire.ProfileRevision
		if err := wire.ReadProfileRevision(body, &m); err != nil {
			return err
		}
		return c.table.Revise(m.Ref.ID, m.Ref.Revision, m.Profile, 0)
	case wire.ReliableProfileChange:
		var m wire.ProfileChange
		if err := wire.ReadProfileChange(body, &m); err != nil {
			return err
		}
		if e, ok := c.Entity(m.ID); ok && c.table.Get(m.Ref) != nil {
			*(*components.ProfileRef)(c.world.Get(e, c.ids.profile)) = m.Ref
		}
	case wire.ReliableSettings:
		next := *c.set
		if err := wire.ReadSettings(body, &next); err != nil {
			return err
		}
		if err := next.Validate(); err != nil {
			return err
		}
		*c.set = next
	case wire.ReliableTypes:
		id, err := wire.ReadInitialTypes(body, c.types.reg, c.types.block, c.types.zero)
		if err != nil {
			return err
		}
		c.receivedTypes(id, 0, true)
	case wire.ReliableKeyframe:
		var m wire.Keyframe
		if err := wire.ReadKeyframe(body, &m); err != nil {
			return err
		}
		if c.cfg.Keyframe != nil {
			c.cfg.Keyframe(m.ID, m.Time, m.Pose)
		}
	case wire.ReliableServerInfo:
		var m wire.ServerInfo
		if err := wire.ReadServerInfo(body, &m); err != nil {
			return err
		}
		c.net.Players = m.Players
	default:
		c.Net.WrongDirection++
	}
	return nil
}

// spawn makes this world's copy. An owner's possession is acknowledged here:
// it predicts from its first tick on.
func (c *Client) spawn(m *wire.Spawn) {
	c.despawn(m.Spec.ID)
	spec := m.Spec
	var e arche.Entity
	if m.Owner && len(c.owned) < maxOwned {
		spec.Possession.Acked = true
		e = c.spawner.Owner(spec)
		c.owned = append(c.owned, spec.ID)
		c.send(&wire.PossessAck{ID: spec.ID, Epoch: spec.Possession.Epoch})
	} else {
		e = c.spawner.Proxy(spec)
	}
	c.known[spec.ID] = knownCharacter{entity: e}
	if c.cfg.Spawned != nil {
		c.cfg.Spawned(e, spec, m.Owner)
	}
}

func (c *Client) send(a *wire.PossessAck) {
	var w bits.Writer
	w.Reset(c.scratch.msg[:])
	wire.WritePossessAck(&w, a)
	w.Align()
	if err := c.sess.SendReliable(w.Bytes()); err != nil {
		c.Net.NoRoom++
	}
}

func (c *Client) despawn(id components.NetID) {
	k, ok := c.known[id]
	if !ok {
		return
	}
	e := k.entity
	delete(c.known, id)
	if i := slices.Index(c.owned, id); i >= 0 {
		c.owned = slices.Delete(c.owned, i, i+1)
	}
	c.release(e, id)
}
