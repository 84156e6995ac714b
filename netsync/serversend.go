package netsync

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/wire"
	arche "github.com/mlange-42/arche/ecs"
)

// serverSend sends at the end of the frame what the systems left: the reliable
// changes (spawns, possession, profiles, settings) first, then one answer a
// character at most to its owner, then snapshots to all but the owner, as many
// to a datagram as fit.
type serverSend struct{ *Server }

func (s *serverSend) Name() string     { return "ServerSend" }
func (s *serverSend) Phase() ecs.Phase { return ecs.Send }
func (s *serverSend) Roles() ecs.Roles { return ecs.Server | ecs.ListenServer }

func (s *serverSend) Initialize(w *arche.World) { s.initialize(w) }

func (s *serverSend) Update(w *arche.World) {
	now := s.clock.FrameNow
	s.roster.scan(w)
	s.noteSettings()
	for _, l := range s.links {
		s.tell(l)
		s.unreliable(l, now)
	}
	for _, i := range s.roster.order {
		// The slot of the answer is cleared whether or not it went out.
		if p := s.roster.slots[i].pred; p != nil && p.Pending.Send {
			p.Pending.Valid, p.Pending.Send = false, false
		}
	}
	s.gathered = s.clock.Now
	s.sess.Flush(now)
}

func (s *serverSend) Finalize(*arche.World) {}

// serverScratch is room that is used again every frame.
type serverScratch struct {
	entities  []arche.Entity
	container wire.Container
	response  components.MoveResponse
	out       packer[*session.Peer]
	msg       [2048]byte
}

// tell brings a connection's knowledge of the roster up to date over the
// reliable channel. What finds no room is told in a later tick.
func (s *Server) tell(l *link) {
	if !s.tellSettings(l) || !s.tellKeyframes(l) {
		return
	}
	if l.version == s.roster.version {
		for _, i := range s.roster.order {
			if k := &l.known[i]; k.role != unknown && !s.tellProfile(l, k, &s.roster.slots[i]) {
				return
			}
		}
		return
	}
	for len(l.known) < len(s.roster.slots) {
		l.known = append(l.known, knownState{})
	}
	// What is gone goes first: a character that came back under its ID may lie in
	// an earlier slot than before, and its old copy's despawn must not end it.
	for i := range l.known {
		slot, k := &s.roster.slots[i], &l.known[i]
		if want, epoch := l.wants(slot); k.role == unknown || k.is(slot, want, epoch) {
			continue
		}
		if !s.reliable(l, func(w *bits.Writer) { wire.WriteDespawn(w, &wire.Despawn{ID: k.id}) }) {
			return
		}
		*k = knownState{}
	}
	done := true
	for i := range l.known {
		slot, k := &s.roster.slots[i], &l.known[i]
		want, epoch := l.wants(slot)
		if want == unknown {
			continue
		}
		if k.role != unknown {
			if k.owesTypes && !s.tellTypes(l, k, slot) {
				done = false
			}
			continue
		}
		msg := s.spawnOf(slot, want == asOwner)
		if !s.reliable(l, func(w *bits.Writer) { wire.WriteSpawn(w, &msg) }) {
			done = false
			continue
		}
		*k = knownState{id: slot.id, incarnation: slot.incarnation, ref: *slot.profile, epoch: epoch, role: want, owesTypes: true}
		if !s.tellTypes(l, k, slot) {
			done = false
		}
	}
	if done {
		l.version = s.roster.version
	}
}

// wants is what a connection should know a slot as, and in which epoch.
func (l *link) wants(slot *rosterSlot) (knownRole, uint16) {
	switch {
	case !slot.live:
		return unknown, 0
	case slot.player == l.player && slot.player != 0 && slot.pred != nil:
		return asOwner, slot.epoch
	}
	return asProxy, 0
}

// is tells whether what was told of a slot is still so.
func (k *knownState) is(slot *rosterSlot, role knownRole, epoch uint16) bool {
	return k.role == role && (role == unknown || (k.incarnation == slot.incarnation && k.epoch == epoch))
}

func (s *Server) spawnOf(slot *rosterSlot, owner bool) wire.Spawn {
	return wire.Spawn{
		Owner: owner,
		Spec: components.CharacterSpec{
			Character: *slot.char, Profile: *slot.profile, State: *slot.state, ServerTime: s.clock.Now,
			Possession: components.Possession{Player: slot.player, Epoch: slot.epoch}, Teleports: slot.tele.Count,
		},
	}
}

// reliable writes one message and hands it to the ordered channel; false when
// the channel is full.
func (s *Server) reliable(l *link, write func(*bits.Writer)) bool {
	var w bits.Writer
	w.Reset(s.scratch.msg[:])
	write(&w)
	w.Align()
	if w.Err() != nil {
		// A state that cannot be written (not finite) must not be told.
		s.Net.Malformed++
		return true
	}
	if err := l.peer.SendReliable(w.Bytes()); err != nil {
		s.Net.NoRoom++
		return false
	}
	return true
}

// unreliable writes answers and snapshots.
func (s *Server) unreliable(l *link, now components.Ticks) {
	out := &s.scratch.out
	out.reset(l.peer, now)
	for _, i := range s.roster.order {
		slot := &s.roster.slots[i]
		if slot.pred == nil || !slot.pred.Pending.Send || !l.knows(i, slot, asOwner) {
			continue
		}
		a, r := &slot.pred.Pending, &s.scratch.response
		*r = components.MoveResponse{State: a.State, Stamp: a.Stamp, Epoch: slot.epoch, AckGood: a.AckGood, Reason: a.Reason}
		for out.begin(); out.trying(); {
			wire.WriteResponse(out.w, slot.id, r)
		}
	}
	ctx := wire.SnapshotContext{ServerTime: now, Settings: s.set}
	for _, i := range s.roster.order {
		slot := &s.roster.slots[i]
		if slot.rep.ServerTime <= s.gathered || !l.knows(i, slot, asProxy) {
			continue
		}
		for out.begin(); out.trying(); {
			wire.WriteSnapshot(out.w, slot.id, slot.rep, ctx)
		}
	}
	if s.types.any {
		s.unreliableTypes(l, out)
	}
	s.Net.NoRoom += out.end()
}

// unreliableTypes writes the game's own types of the characters that were
// gathered since the last frame, to their owners as well.
func (s *Server) unreliableTypes(l *link, out *packer[*session.Peer]) {
	for _, i := range s.roster.order {
		slot := &s.roster.slots[i]
		if slot.rep.ServerTime <= s.gathered || int(i) >= len(l.known) {
			continue
		}
		k := &l.known[i]
		if k.role == unknown || k.incarnation != slot.incarnation || !s.types.capture(slot.entity, k.role == asOwner, false) {
			continue
		}
		for out.begin(); out.trying(); {
			wire.WriteTypes(out.w, slot.id, s.types.reg, s.types.block, s.types.zero)
		}
	}
}

func (l *link) knows(i int32, slot *rosterSlot, role knownRole) bool {
	return int(i) < len(l.known) && l.known[i].role == role && l.known[i].incarnation == slot.incarnation
}
