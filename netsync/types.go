package netsync

import (
	"unsafe"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
	arche "github.com/mlange-42/arche/ecs"
)

// types carries the replicated component types that a game registered, beside
// ReplicatedMovement, which has its own message. A world that registered none
// pays nothing.
type types struct {
	world       *arche.World
	reg         *components.Registry
	ids         *components.WorldIDs
	block, zero []byte
	any         bool
	// What get looks at while a block is captured; get is made once.
	entity         arche.Entity
	owner, initial bool
	get            func(*components.TypeInfo) unsafe.Pointer
}

func (t *types) initialize(w *arche.World) {
	t.world, t.reg = w, ecs.Need[components.Registry](w)
	t.ids = components.IDsIn(w, t.reg)
	t.any = len(t.reg.OfKind(components.KindReplicated)) > 1
	t.block = t.reg.NewBlock(components.KindReplicated)
	t.zero = t.reg.NewBlock(components.KindReplicated)
	t.get = t.value
}

// value is what a receiver gets of a type: nil for what is not meant for it.
func (t *types) value(i *components.TypeInfo) unsafe.Pointer {
	if i.Name == components.MovementTypeName {
		return nil
	}
	switch i.Condition {
	case components.OwnerOnly:
		if !t.owner {
			return nil
		}
	case components.SkipOwner:
		if t.owner {
			return nil
		}
	case components.Once:
		if !t.initial {
			return nil
		}
	}
	return t.ids.Value(t.world, t.entity, i)
}

// capture fills the block with what a receiver gets of an entity; false if
// that is nothing.
func (t *types) capture(e arche.Entity, owner, initial bool) bool {
	if !t.any {
		return false
	}
	t.entity, t.owner, t.initial = e, owner, initial
	t.reg.CaptureBlock(components.KindReplicated, t.block, t.get)
	return components.Present(t.block) != 0
}

// tellTypes tells a connection at a spawn all that it gets of a character.
func (s *Server) tellTypes(l *link, k *knownState, slot *rosterSlot) bool {
	if s.types.capture(slot.entity, k.role == asOwner, true) {
		ok := s.reliable(l, func(w *bits.Writer) {
			wire.WriteInitialTypes(w, slot.id, s.types.reg, s.types.block, s.types.zero)
		})
		if !ok {
			return false
		}
	}
	k.owesTypes = false
	return true
}

// receivedTypes applies a block that came for a character: components are added
// where they are new, and removed where the server no longer has one that it
// had sent. What is told once stays, and what came at the spawn is never newer
// than a snapshot.
func (c *Client) receivedTypes(id components.NetID, at components.Ticks, initial bool) {
	k, ok := c.known[id]
	if !ok || !c.holds(k.entity, id) {
		c.Net.UnknownCharacter++
		return
	}
	if !initial {
		if at <= k.typesAt {
			c.stats.SnapshotsStale++
			return
		}
		k.typesAt = at
	}
	for _, t := range c.types.reg.OfKind(components.KindReplicated) {
		sent, bit := t.In(c.types.block), uint64(1)<<t.Index
		have := c.types.ids.Value(c.world, k.entity, t)
		switch {
		case initial && (sent == nil || k.got&bit != 0):
			// What came with a snapshot meanwhile is newer.
		case sent != nil:
			if have == nil {
				c.world.Add(k.entity, c.types.ids.ID(t))
				have = c.types.ids.Value(c.world, k.entity, t)
			}
			t.Copy(have, sent)
			k.got |= bit
		case have != nil && k.got&bit != 0 && t.Condition != components.Once:
			c.world.Remove(k.entity, c.types.ids.ID(t))
			k.got &^= bit
		}
	}
	c.known[id] = k
}
