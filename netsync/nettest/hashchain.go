package nettest

import (
	"fmt"
	"slices"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/systems/movement"
)

// HashChain is state_hash: the exact authoritative state of every character,
// in network-ID order, chained from server tick to server tick. Two runs have
// equal chains just when every state was equal to the bit at every tick. The
// zero HashChain is ready.
type HashChain struct {
	sum   uint64
	ticks uint64
	open  bool
	now   []stateHash
}

type stateHash struct {
	id   components.NetID
	hash uint64
}

// Begin starts a server tick; at is its time.
func (c *HashChain) Begin(at components.Ticks) {
	if c.open {
		panic("nettest.HashChain: Begin before End")
	}
	c.open, c.now = true, c.now[:0]
	c.sum = chain(c.sum, uint64(at))
}

// Add takes one character's state, in any order.
func (c *HashChain) Add(id components.NetID, s *components.MovementState) {
	if !c.open {
		panic("nettest.HashChain: Add before Begin")
	}
	c.now = append(c.now, stateHash{id, movement.HashState(uint64(id), s)})
}

// End closes the tick.
func (c *HashChain) End() {
	slices.SortFunc(c.now, func(a, b stateHash) int {
		switch {
		case a.id < b.id:
			return -1
		case a.id > b.id:
			return 1
		}
		return 0
	})
	c.sum = chain(c.sum, uint64(len(c.now)))
	for _, s := range c.now {
		c.sum = chain(c.sum, s.hash)
	}
	c.open = false
	c.ticks++
}

// Sum is the chain up to the last tick.
func (c *HashChain) Sum() uint64 { return c.sum }

// Ticks is how many ticks it holds.
func (c *HashChain) Ticks() uint64 { return c.ticks }

// String is Sum as the report shows it: 16 hexadecimal digits.
func (c *HashChain) String() string { return fmt.Sprintf("%016x", c.sum) }

// chain takes the next word into a sum; the order matters.
func chain(sum, w uint64) uint64 {
	z := sum*0x9e3779b97f4a7c15 + w + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
