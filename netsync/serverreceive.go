package netsync

import (
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/wire"
	arche "github.com/mlange-42/arche/ecs"
)

// serverReceive drains the connection at the start of the frame: handshakes,
// moves into the queues that ServerVerify works off, reliable messages.
type serverReceive struct{ *Server }

func (s *serverReceive) Name() string     { return "ServerReceive" }
func (s *serverReceive) Phase() ecs.Phase { return ecs.Receive }
func (s *serverReceive) Roles() ecs.Roles { return ecs.Server | ecs.ListenServer }

func (s *serverReceive) Initialize(w *arche.World) { s.initialize(w) }

func (s *serverReceive) Update(*arche.World) {
	now := s.clock.FrameNow
	s.sess.Receive(now, s)
	s.expire(now)
}

// Finalize says goodbye, so that no client waits for its time-out.
func (s *serverReceive) Finalize(*arche.World) {
	s.sess.Shutdown()
	s.sess.Flush(s.clock.FrameNow)
}

// expire removes the characters of players that did not come back.
func (s *Server) expire(now components.Ticks) {
	keep := s.absent[:0]
	for _, a := range s.absent {
		if now < a.until {
			keep = append(keep, a)
			continue
		}
		s.remove(a.player, a.why)
	}
	s.absent = keep
}

// charactersOf are a player's entities as the world is now, in NetID order;
// good until the next call. They are gathered first because what is done with
// them changes the world.
func (s *Server) charactersOf(player components.PlayerID) []arche.Entity {
	s.roster.scan(s.world)
	s.scratch.entities = s.scratch.entities[:0]
	for _, i := range s.roster.order {
		if slot := &s.roster.slots[i]; slot.player == player {
			s.scratch.entities = append(s.scratch.entities, slot.entity)
		}
	}
	return s.scratch.entities
}

// remove takes a player's characters out of the world.
func (s *Server) remove(player components.PlayerID, why session.Reason) {
	for _, e := range s.charactersOf(player) {
		s.spawner.Despawn(e)
	}
	if s.cfg.Left != nil {
		s.cfg.Left(player, why)
	}
}

// Admit is the session's: a player asks to be let in.
func (s *serverReceive) Admit(player components.PlayerID, from netip.AddrPort) (text string, ok bool) {
	if s.cfg.Admit == nil {
		return "", true
	}
	return s.cfg.Admit(player, from)
}

// Connected is the session's: a player has come, or come back.
func (s *serverReceive) Connected(p *session.Peer) {
	l := &link{peer: p, player: p.Player()}
	p.User = l
	s.links = append(s.links, l)
	for i := range s.absent {
		if s.absent[i].player == l.player {
			s.absent = append(s.absent[:i], s.absent[i+1:]...)
			break
		}
	}
	// A player whose characters are still here takes them over in a new epoch.
	own := s.charactersOf(l.player)
	for _, e := range own {
		s.spawner.Possess(e, l.player)
	}
	if len(own) == 0 && s.cfg.Join != nil {
		for _, spec := range s.cfg.Join(l.player) {
			mustHaveProfile(s.table, l.player, &spec)
			if spec.ID == 0 {
				spec.ID = s.roster.newID()
			}
			spec.Possession = components.Possession{Player: l.player, Epoch: 1}
			s.spawner.Remote(spec, s.cfg.Drawn)
		}
	}
}

// Disconnected is the session's: a connection is over.
func (s *serverReceive) Disconnected(p *session.Peer, why session.Reason) {
	l, _ := p.User.(*link)
	if l == nil {
		return
	}
	l.gone = true
	for i := range s.links {
		if s.links[i] == l {
			s.links = append(s.links[:i], s.links[i+1:]...)
			break
		}
	}
	if why == session.ReasonReplaced {
		return // the newer connection has the characters
	}
	if s.cfg.Linger > 0 {
		s.absent = append(s.absent, absence{player: l.player, until: s.clock.FrameNow + s.cfg.Linger, why: why})
		return
	}
	s.remove(l.player, why)
}

// Payload is the session's: the unreliable part of an accepted packet. What was
// read before a bad field stays good; the rest of the packet is refused.
func (s *serverReceive) Payload(p *session.Peer, h *wire.Header, r *bits.Reader) {
	l, _ := p.User.(*link)
	if l == nil {
		return
	}
	for {
		kind, err := wire.ReadKind(r)
		if err != nil {
			s.Net.Malformed++
			return
		}
		switch kind {
		case wire.KindEnd:
			return
		case wire.KindMoves:
			c := &s.scratch.container
			ctx := wire.ContainerContext{ViewTime: s.clock.FrameNow}
			if h.HasView {
				ctx.ViewTime, ctx.HasView = h.View, true
			}
			if err := wire.ReadContainer(r, c, ctx); err != nil {
				s.Net.Malformed++
				return
			}
			s.moves(l, c)
		default:
			s.Net.WrongDirection++
			return
		}
	}
}

// moves queues a container's moves for ServerVerify, in execution order.
func (s *Server) moves(l *link, c *wire.Container) {
	n := uint64(c.N)
	slot := s.roster.find(s.world, c.ID)
	if slot == nil || !s.world.Has(slot.entity, s.roster.pred) {
		s.stats.MovesDropped[components.DropUnknownCharacter] += n
		return
	}
	pos := (*components.Possession)(s.world.Get(slot.entity, s.roster.possession))
	if pos.Player != l.player {
		s.stats.MovesDropped[components.DropNotOwner] += n
		return
	}
	if pos.Epoch != c.Epoch {
		s.stats.MovesDropped[components.DropEpoch] += n
		return
	}
	pred := (*components.ServerPrediction)(s.world.Get(slot.entity, s.roster.pred))
	queue := s.queues.Get(pred.Received)
	if queue == nil {
		s.stats.MovesDropped[components.DropUnknownCharacter] += n
		return
	}
	for i := range c.N {
		m := &c.Moves[i]
		if m.Kind != components.MoveNew && s.known(pred, queue, m.Cmd.Stamp) {
			// A repeated copy of what was executed or waits already.
			s.stats.MovesDropped[components.DropRedundant]++
			continue
		}
		if queue.N == components.MaxReceivedMoves {
			s.stats.MovesDropped[components.DropQueueFull]++
			continue
		}
		queue.Moves[queue.N] = *m
		queue.N++
	}
}

// known tells whether a move needs no place in the queue: it is not newer than
// the newest that waits, or than what was executed, a reset of the stamps
// between the two allowed for.
func (s *Server) known(pred *components.ServerPrediction, queue *components.ReceivedMoves, stamp components.Stamp) bool {
	newest := pred.CurrentClientTimeStamp
	if queue.N > 0 {
		newest = components.Ticks(queue.Moves[queue.N-1].Cmd.Stamp)
	} else if !pred.HasStamp {
		return false
	}
	behind := newest - components.Ticks(stamp)
	if behind < -components.StampResetPeriod/2 {
		// A copy of a move from before the last reset.
		behind += components.StampResetPeriod
	}
	return behind >= 0 && behind < components.StampResetPeriod/2
}

// Reliable is the session's: one message of the ordered channel.
func (s *serverReceive) Reliable(p *session.Peer, msg []byte) {
	l, _ := p.User.(*link)
	if l == nil {
		return
	}
	kind, body, err := wire.SplitReliable(msg)
	if err != nil {
		s.Net.ReliableMalformed++
		return
	}
	switch kind {
	case wire.ReliablePossessAck:
		var a wire.PossessAck
		if err := wire.ReadPossessAck(body, &a); err != nil {
			s.Net.ReliableMalformed++
			return
		}
		slot := s.roster.find(s.world, a.ID)
		if slot == nil {
			s.Net.Stale++
			return
		}
		pos := (*components.Possession)(s.world.Get(slot.entity, s.roster.possession))
		if pos.Player == l.player && pos.Epoch == a.Epoch {
			pos.Acked = true
		} else {
			s.Net.Stale++
		}
	default:
		s.Net.WrongDirection++
	}
}

// Acked is the session's: the peer has a packet of ours.
func (*serverReceive) Acked(*session.Peer, uint16) {}
