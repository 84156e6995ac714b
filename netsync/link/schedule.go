package link

import (
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/transport"
)

// schedule holds packets until they are due, and gives them out by due time,
// those of equal time in the order in which they went in.
type schedule struct {
	heap  []node
	slots []parcel
	free  []int32
	pool  transport.Pool
	last  []byte // handed out by pop, given back at the next call
	seq   uint64
}

type node struct {
	due  components.Ticks
	seq  uint64
	slot int32
}

type parcel struct {
	b        []byte
	lane     *lane
	dir      Direction
	from, to netip.AddrPort
}

func (a node) before(b node) bool { return a.due < b.due || (a.due == b.due && a.seq < b.seq) }

// add copies p.b. It returns the copy, for the caller to corrupt.
func (s *schedule) add(due components.Ticks, p parcel) []byte {
	p.b = s.pool.Copy(p.b)
	var slot int32
	if n := len(s.free); n > 0 {
		slot = s.free[n-1]
		s.free = s.free[:n-1]
		s.slots[slot] = p
	} else {
		slot = int32(len(s.slots))
		s.slots = append(s.slots, p)
	}
	s.heap = append(s.heap, node{due, s.seq, slot})
	s.seq++
	for i := len(s.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !s.heap[i].before(s.heap[parent]) {
			break
		}
		s.heap[i], s.heap[parent] = s.heap[parent], s.heap[i]
		i = parent
	}
	return p.b
}

func (s *schedule) next() (components.Ticks, bool) {
	if len(s.heap) == 0 {
		return 0, false
	}
	return s.heap[0].due, true
}

// pop returns the first parcel if it is due; its bytes hold until the next
// call of pop.
func (s *schedule) pop(now components.Ticks) (parcel, bool) {
	if s.last != nil {
		s.pool.Put(s.last)
		s.last = nil
	}
	if len(s.heap) == 0 || s.heap[0].due > now {
		return parcel{}, false
	}
	slot := s.heap[0].slot
	end := len(s.heap) - 1
	s.heap[0] = s.heap[end]
	s.heap = s.heap[:end]
	for i := 0; ; {
		least, left, right := i, 2*i+1, 2*i+2
		if left < end && s.heap[left].before(s.heap[least]) {
			least = left
		}
		if right < end && s.heap[right].before(s.heap[least]) {
			least = right
		}
		if least == i {
			break
		}
		s.heap[i], s.heap[least] = s.heap[least], s.heap[i]
		i = least
	}
	p := s.slots[slot]
	s.slots[slot] = parcel{}
	s.free = append(s.free, slot)
	s.last = p.b
	p.lane.inFlight--
	return p, true
}
