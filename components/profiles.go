package components

import "fmt"

// ProfileTable holds the movement profiles of a world, each with its live
// revisions, a resource. Both ends hold the same table; revisions made while
// running travel on the reliable channel.
type ProfileTable struct {
	entries []profileEntry
}

type profileEntry struct {
	name      string
	revisions [profileRevisions]profileRevision
	newest    uint16
	first     MovementProfile // as it was added
	added     uint64          // its hash
}

const profileRevisions = 8

type profileRevision struct {
	profile  MovementProfile
	number   uint16
	used     bool
	deadline Ticks // server time after which the revision is refused; 0 is never
}

// Add puts in a profile under a name and returns its reference, revision 1.
// An invalid profile is refused.
func (t *ProfileTable) Add(name string, p MovementProfile) (ProfileRef, error) {
	if err := p.Validate(); err != nil {
		return ProfileRef{}, fmt.Errorf("profile %q: %w", name, err)
	}
	e := profileEntry{name: name, first: p, added: p.Hash()}
	e.reset()
	t.entries = append(t.entries, e)
	return ProfileRef{ID: ProfileID(len(t.entries) - 1), Revision: 1}, nil
}

// Reset takes every profile back to revision 1, as it was added: what one
// session revised is nothing to the next.
func (t *ProfileTable) Reset() {
	for i := range t.entries {
		t.entries[i].reset()
	}
}

func (e *profileEntry) reset() {
	e.revisions = [profileRevisions]profileRevision{}
	e.revisions[1%profileRevisions] = profileRevision{profile: e.first, number: 1, used: true}
	e.newest = 1
}

// Revise puts in a new revision of id under a number (the server counts up,
// a client is told) and gives the one before it a deadline in server time, 0
// for none. Being told the newest revision again changes nothing; another
// content under its number, and a number that went before it, are refused.
func (t *ProfileTable) Revise(id ProfileID, number uint16, p MovementProfile, deadline Ticks) error {
	if int(id) >= len(t.entries) {
		return fmt.Errorf("%w: there is no profile %d", ErrProfile, id)
	}
	if err := p.Validate(); err != nil {
		return err
	}
	e := &t.entries[id]
	switch behind := e.newest - number; {
	case behind == 0 && e.revisions[number%profileRevisions].profile == p:
		return nil
	case behind < profileRevisions:
		return fmt.Errorf("%w: %q has revision %d; %d does not follow it", ErrProfile, e.name, e.newest, number)
	}
	for i := range e.revisions {
		if r := &e.revisions[i]; r.used && r.number == e.newest && r.deadline == 0 {
			r.deadline = deadline
		}
	}
	e.revisions[number%profileRevisions] = profileRevision{profile: p, number: number, used: true}
	e.newest = number
	return nil
}

// Newest is the reference to the newest revision of id.
func (t *ProfileTable) Newest(id ProfileID) (ProfileRef, bool) {
	if int(id) >= len(t.entries) {
		return ProfileRef{}, false
	}
	return ProfileRef{ID: id, Revision: t.entries[id].newest}, true
}

// Get is the profile behind a reference, nil when it is not known.
func (t *ProfileTable) Get(ref ProfileRef) *MovementProfile {
	if int(ref.ID) >= len(t.entries) {
		return nil
	}
	if r := &t.entries[ref.ID].revisions[ref.Revision%profileRevisions]; r.used && r.number == ref.Revision {
		return &r.profile
	}
	return nil
}

// Verifiable is Get for the server: a revision past its deadline is refused.
func (t *ProfileTable) Verifiable(ref ProfileRef, now Ticks) *MovementProfile {
	p := t.Get(ref)
	if p == nil {
		return nil
	}
	if d := t.entries[ref.ID].revisions[ref.Revision%profileRevisions].deadline; d != 0 && now > d {
		return nil
	}
	return p
}

// Len is the number of profiles; Name is the name of one.
func (t *ProfileTable) Len() int { return len(t.entries) }

// Name is the name of profile id, empty when there is none.
func (t *ProfileTable) Name(id ProfileID) string {
	if int(id) >= len(t.entries) {
		return ""
	}
	return t.entries[id].name
}
