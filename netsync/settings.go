package netsync

import (
	"fmt"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

// settingsState tells the server what has changed since the last tick of what
// every connection must know.
type settingsState struct {
	last    components.Settings
	version uint64
}

// noteSettings compares the settings with the last tick's: they may be changed
// while running like any other resource. Settings that nothing could work with
// are a programmer's error and panic.
func (s *Server) noteSettings() {
	if s.settle.version == 0 || *s.set != s.settle.last {
		if err := s.set.Validate(); err != nil {
			panic(fmt.Sprintf("netsync.Server: %v", err)) // clients would refuse them
		}
		s.settle.last = *s.set
		s.settle.version++
	}
}

// tellSettings brings settings, profile revisions and the number of players to
// a connection. Revisions go before any character that has them.
func (s *Server) tellSettings(l *link) bool {
	if l.toldSettings != s.settle.version {
		if !s.reliable(l, func(w *bits.Writer) { wire.WriteSettings(w, s.set) }) {
			return false
		}
		l.toldSettings = s.settle.version
	}
	for len(l.toldRevisions) < s.table.Len() {
		l.toldRevisions = append(l.toldRevisions, 1) // both ends have revision 1
	}
	for id := range l.toldRevisions {
		ref, _ := s.table.Newest(components.ProfileID(id))
		if l.toldRevisions[id] == ref.Revision {
			continue
		}
		m := wire.ProfileRevision{Ref: ref, Profile: *s.table.Get(ref)}
		if !s.reliable(l, func(w *bits.Writer) { wire.WriteProfileRevision(w, &m) }) {
			return false
		}
		l.toldRevisions[id] = ref.Revision
	}
	if n := int32(len(s.links)); l.toldPlayers != n {
		m := wire.ServerInfo{Players: n}
		if !s.reliable(l, func(w *bits.Writer) { wire.WriteServerInfo(w, &m) }) {
			return false
		}
		l.toldPlayers = n
	}
	return true
}

// tellProfile brings a character's change of profile to a connection. It takes
// effect on both ends at the move that first names it.
func (s *Server) tellProfile(l *link, k *knownState, slot *rosterSlot) bool {
	if k.ref == *slot.profile {
		return true
	}
	m := wire.ProfileChange{ID: slot.id, Ref: *slot.profile}
	if !s.reliable(l, func(w *bits.Writer) { wire.WriteProfileChange(w, &m) }) {
		return false
	}
	k.ref = *slot.profile
	return true
}

// Revise changes a profile while the game runs (a buff, a slow): a new revision
// that every character of it takes over. Moves that were made under the old one
// are verified with it for the settings' ProfileDeadline, so nobody is
// corrected.
func (s *Server) Revise(id components.ProfileID, p components.MovementProfile) error {
	ref, ok := s.table.Newest(id)
	if !ok {
		return s.table.Revise(id, 0, p, 0) // the table's own error
	}
	next := ref.Revision + 1
	deadline := s.clock.Now + components.TicksFromSeconds(s.set.ProfileDeadline)
	if err := s.table.Revise(id, next, p, deadline); err != nil {
		return err
	}
	s.roster.scan(s.world)
	for _, i := range s.roster.order {
		if r := s.roster.slots[i].profile; r.ID == id {
			r.Revision = next
		}
	}
	return nil
}
