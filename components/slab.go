package components

import (
	"fmt"

	arche "github.com/mlange-42/arche/ecs"
)

// Handle is a generational reference into a Slab: 20 bits of slot, 12 of
// generation. The zero Handle is "none". A handle that outlived its slot finds
// nothing instead of somebody else's data.
type Handle uint32

const (
	slotBits = 20
	slotMask = 1<<slotBits - 1
	genMask  = 1<<12 - 1
)

// Slab is a pool of T for what is too large, or too often resized, to lie in
// a component: queues and rings. A component holds its Handle. Every slot
// knows the entity it belongs to, so that Sweep can free what was lost: a
// world reset fires no listener event, and a user may replace the listener.
//
// A Slab belongs to one world and one goroutine at a time; Get of different
// handles is safe from several.
type Slab[T any] struct {
	items []*slot[T]
	free  []uint32
	live  int
}

type slot[T any] struct {
	value T
	owner arche.Entity
	gen   uint32
	used  bool
}

// Alloc gives out a slot for owner, with its old contents cleared.
func (s *Slab[T]) Alloc(owner arche.Entity) Handle {
	var i uint32
	if n := len(s.free); n > 0 {
		i = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		if len(s.items) > slotMask-1 {
			panic(fmt.Sprintf("components: a slab of %T holds %d slots and can hold no more", *new(T), len(s.items)))
		}
		i = uint32(len(s.items))
		s.items = append(s.items, &slot[T]{gen: 1})
	}
	it := s.items[i]
	it.value = *new(T)
	it.owner, it.used = owner, true
	s.live++
	return Handle(it.gen<<slotBits | (i + 1))
}

// Get is the slot behind h, or nil for none, stale or foreign handles.
func (s *Slab[T]) Get(h Handle) *T {
	i := uint(h)&slotMask - 1 // wraps for a slot of 0, also where int has 32 bits
	if i >= uint(len(s.items)) {
		return nil
	}
	it := s.items[i]
	if !it.used || it.gen != uint32(h)>>slotBits {
		return nil
	}
	return &it.value
}

// Owner is the entity that h was given to; the zero entity for a stale handle.
func (s *Slab[T]) Owner(h Handle) arche.Entity {
	if s.Get(h) == nil {
		return arche.Entity{}
	}
	return s.items[uint32(h)&slotMask-1].owner
}

// Free gives a slot back. Freeing none or a stale handle does nothing.
func (s *Slab[T]) Free(h Handle) {
	if s.Get(h) == nil {
		return
	}
	s.release(uint32(h)&slotMask - 1)
}

func (s *Slab[T]) release(i uint32) {
	it := s.items[i]
	it.used = false
	it.owner = arche.Entity{}
	if it.gen = (it.gen + 1) & genMask; it.gen == 0 {
		it.gen = 1
	}
	s.free = append(s.free, i)
	s.live--
}

// Sweep frees every slot whose owner keeps says no to, and tells how many.
// keeps gets the owner and the handle that the owner must still hold.
func (s *Slab[T]) Sweep(keeps func(owner arche.Entity, h Handle) bool) int {
	freed := 0
	for i, it := range s.items {
		if it.used && !keeps(it.owner, Handle(it.gen<<slotBits|(uint32(i)+1))) {
			s.release(uint32(i))
			freed++
		}
	}
	return freed
}

// Len is the number of slots in use, Cap of those that exist.
func (s *Slab[T]) Len() int { return s.live }

// Cap is the number of slots that exist, used or free.
func (s *Slab[T]) Cap() int { return len(s.items) }
