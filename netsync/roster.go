package netsync

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
)

// roster is the server's list of networked characters, found anew from the
// world at every tick: whatever spawned or removed an entity, the others hear
// of it. Slots are small numbers, so that what each connection knows of each
// character is an array.
type roster struct {
	index map[components.NetID]int32
	slots []rosterSlot
	free  []int32
	// order are the live slots by NetID: the order in which state is hashed
	// and sent.
	order []int32
	tick  uint64
	// version grows with each change that a connection must be told of.
	version uint64
	nextID  components.NetID

	filter                           arche.Filter
	char, state, profile, possession arche.ID
	rep, pred, tele                  arche.ID
}

type rosterSlot struct {
	id     components.NetID
	entity arche.Entity
	player components.PlayerID
	epoch  uint16
	// incarnation tells two characters in the same slot apart.
	incarnation uint32
	seen        uint64
	live        bool
	state       *components.MovementState
	rep         *components.ReplicatedMovement
	pred        *components.ServerPrediction
	profile     *components.ProfileRef
	char        *components.Character
	tele        *components.Teleports
}

func (r *roster) initialize(w *arche.World) {
	r.index = make(map[components.NetID]int32)
	r.nextID = FirstCharacterID
	r.char, r.state = ecs.RegisterComponent[components.Character](w), ecs.RegisterComponent[components.MovementState](w)
	r.profile, r.possession = ecs.RegisterComponent[components.ProfileRef](w), ecs.RegisterComponent[components.Possession](w)
	r.rep, r.pred = ecs.RegisterComponent[components.ReplicatedMovement](w), ecs.RegisterComponent[components.ServerPrediction](w)
	r.tele = ecs.RegisterComponent[components.Teleports](w)
	m := arche.All(r.char, r.state, r.profile, r.possession, r.rep, r.tele, ecs.RegisterComponent[components.Authority](w))
	r.filter = &m
}

// newID is the next free NetID; none is given out twice in a session, so that
// late packets for a character that is gone find nobody.
func (r *roster) newID() components.NetID {
	id := r.nextID
	r.nextID++
	return id
}

// scan reads the world. The pointers in the slots are good until its next
// structural change.
func (r *roster) scan(w *arche.World) {
	r.tick++
	q := w.Query(r.filter)
	for q.Next() {
		char := (*components.Character)(q.Get(r.char))
		if char.ID == 0 {
			char.ID = r.newID()
		}
		if char.ID >= r.nextID {
			r.nextID = char.ID + 1
		}
		pos := (*components.Possession)(q.Get(r.possession))
		i, ok := r.index[char.ID]
		if !ok {
			i = r.add(char.ID)
		}
		s := &r.slots[i]
		if s.seen == r.tick {
			continue // a second entity under the same ID is not replicated
		}
		if s.entity != q.Entity() || s.player != pos.Player || s.epoch != pos.Epoch {
			if !s.entity.IsZero() && s.entity != q.Entity() {
				s.incarnation++
			}
			s.entity, s.player, s.epoch = q.Entity(), pos.Player, pos.Epoch
			r.version++
		}
		s.seen, s.char = r.tick, char
		s.state = (*components.MovementState)(q.Get(r.state))
		s.rep = (*components.ReplicatedMovement)(q.Get(r.rep))
		s.profile = (*components.ProfileRef)(q.Get(r.profile))
		s.tele = (*components.Teleports)(q.Get(r.tele))
		s.pred = nil
		if q.Has(r.pred) {
			s.pred = (*components.ServerPrediction)(q.Get(r.pred))
		}
	}
	for _, i := range r.order {
		if s := &r.slots[i]; s.live && s.seen != r.tick {
			s.live = false
		}
	}
	r.compact()
}

func (r *roster) add(id components.NetID) int32 {
	var i int32
	if n := len(r.free); n > 0 {
		i, r.free = r.free[n-1], r.free[:n-1]
	} else {
		i = int32(len(r.slots))
		r.slots = append(r.slots, rosterSlot{})
	}
	r.slots[i] = rosterSlot{id: id, incarnation: r.slots[i].incarnation + 1, live: true}
	r.index[id] = i
	at := len(r.order)
	for at > 0 && r.slots[r.order[at-1]].id > id {
		at--
	}
	r.order = append(r.order, 0)
	copy(r.order[at+1:], r.order[at:])
	r.order[at] = i
	r.version++
	return i
}

// compact takes slots that died out of the order. They are freed at once: each
// connection recognises by the incarnation that what it knows is gone.
func (r *roster) compact() {
	keep := r.order[:0]
	for _, i := range r.order {
		if r.slots[i].live {
			keep = append(keep, i)
			continue
		}
		delete(r.index, r.slots[i].id)
		r.free = append(r.free, i)
		r.version++
	}
	r.order = keep
}

// find is the slot of a character that lives. The entity is looked at: it may
// have gone since the last scan, and after a reset of the world its number may
// be that of anything.
func (r *roster) find(w *arche.World, id components.NetID) *rosterSlot {
	i, ok := r.index[id]
	if !ok || !r.slots[i].live {
		return nil
	}
	s := &r.slots[i]
	if !ecs.Alive(w, s.entity) || !w.Has(s.entity, r.char) || !w.Has(s.entity, r.possession) ||
		(*components.Character)(w.Get(s.entity, r.char)).ID != id {
		return nil
	}
	return s
}
