package session

import "github.com/gaitnet/gait/netsync/bits"

// ring keeps what belongs to the newest sequence numbers of a stream: the
// packets sent, the packets received, the fragments of the reliable channel.
//
// Sequence s lives in slot s mod size, and the slot remembers which s it holds,
// so that looking up a number that is long gone finds nothing. Size is a power
// of two, so it divides 2^16 and a wrap moves nothing. The one way to mistake
// an entry for another is to leave it in its slot for a whole turn of 65,536
// numbers; so who puts numbers with gaps between them calls skip for the gap.
type ring[T any] struct {
	slots []slot[T]
}

type slot[T any] struct {
	seq  bits.Seq16
	used bool
	v    T
}

// newRing makes a ring for the newest size numbers; a power of two.
func newRing[T any](size int) ring[T] {
	if size < 1 || size > 1<<15 || size&(size-1) != 0 {
		panic("session.ring: size is a power of two, at most 32768")
	}
	return ring[T]{slots: make([]slot[T], size)}
}

// size is for how many numbers there is room.
func (r *ring[T]) size() int { return len(r.slots) }

func (r *ring[T]) at(seq bits.Seq16) *slot[T] { return &r.slots[int(seq)&(len(r.slots)-1)] }

// put gives the place for seq, which holds it from now on. What was in the
// slot stays in the value, so that its buffers can be used again.
func (r *ring[T]) put(seq bits.Seq16) *T {
	s := r.at(seq)
	s.seq, s.used = seq, true
	return &s.v
}

// get is the value of seq, nil if it is not there.
func (r *ring[T]) get(seq bits.Seq16) *T {
	s := r.at(seq)
	if !s.used || s.seq != seq {
		return nil
	}
	return &s.v
}

// remove forgets seq, if it is there.
func (r *ring[T]) remove(seq bits.Seq16) {
	if s := r.at(seq); s.seq == seq {
		s.used = false
	}
}

// skip forgets whatever is in the slots of from, from+1 ... up to but without
// to, at most a whole turn.
func (r *ring[T]) skip(from, to bits.Seq16) {
	n := min(max(to.Diff(from), 0), len(r.slots))
	for i := range n {
		r.at(from.Add(i)).used = false
	}
}
