package link

import (
	"math"

	"github.com/gaitnet/gait/components"
)

// bottleneck is a first-in-first-out queue before a link of limited rate. The
// time at which a packet leaves depends only on the packets before it, so it
// is known when the packet comes, and the queue holds nothing but sizes.
type bottleneck struct {
	rate  int64  // bit/s when there is no trace; 0: no limit
	trace *Trace // Opportunities or Rates, or nil
	start components.Ticks

	// Constant rate and Rates: the link is taken until at, and within the tick
	// that begins there, for spent of its rate (in bit/s times ticks).
	at    components.Ticks
	spent int64
	// Opportunities: the one in use, counted through all loops, and the bytes
	// left in it.
	slot int64
	left int64

	// waiting is a ring of what has not left yet.
	waiting     []waiter
	head, count int
	bytes       int
}

type waiter struct {
	leave components.Ticks
	size  int
}

// never is a time that does not come; horizon is as far as a packet may wait.
const (
	never   components.Ticks = math.MaxInt64
	horizon components.Ticks = 1 << 52
)

func (q *bottleneck) limited() bool { return q.rate > 0 || q.trace != nil }

// push takes a packet of size bytes with headers. ok is false if the queue
// drops it, which leaves no trace in the state.
func (q *bottleneck) push(now components.Ticks, size int, p *plan) (leave components.Ticks, ok bool) {
	for q.count > 0 && q.waiting[q.head].leave <= now {
		q.bytes -= q.waiting[q.head].size
		q.head = (q.head + 1) % len(q.waiting)
		q.count--
	}
	if q.count >= p.queuePackets || q.bytes+size > p.queueBytes {
		return 0, false
	}
	before := *q
	if q.trace != nil && q.trace.kind == Opportunities {
		leave = q.opportunity(now, int64(size))
	} else {
		leave = q.serve(now, int64(size))
	}
	if leave >= horizon || (p.queueTime > 0 && leave-now > p.queueTime) {
		*q = before
		return 0, false
	}
	if q.count == len(q.waiting) {
		ring := make([]waiter, min(max(16, 2*q.count), p.queuePackets))
		for i := range q.count {
			ring[i] = q.waiting[(q.head+i)%q.count]
		}
		q.waiting, q.head = ring, 0
	}
	q.waiting[(q.head+q.count)%len(q.waiting)] = waiter{leave, size}
	q.count++
	q.bytes += size
	return leave, true
}

// serve spends the time that size bytes take from when the link is free.
func (q *bottleneck) serve(now components.Ticks, size int64) components.Ticks {
	if now > q.at {
		q.at, q.spent = now, 0
	}
	// In bit/s times ticks everything is an integer.
	need := size * 8 * components.TicksPerSecond
	for {
		rate, end := q.rate, never
		if q.trace != nil {
			rate, end = q.segment()
		}
		if rate > 0 {
			total := q.spent + need
			whole, rest := components.Ticks(total/rate), total%rate
			if left := end - q.at; whole < left || (whole == left && rest == 0) {
				q.at, q.spent = q.at+whole, rest
				if rest > 0 {
					return q.at + 1
				}
				return q.at
			}
			need = total - rate*int64(end-q.at)
		}
		q.at, q.spent = end, 0
		// Whole loops of a trace that carries little are skipped in one step.
		if loop := q.trace.perLoop; need > loop {
			if loop == 0 {
				return never
			}
			n := (need - 1) / loop
			if n > int64(horizon)/q.trace.period {
				return never
			}
			q.at += components.Ticks(n * q.trace.period)
			need -= n * loop
		}
	}
}

// segment is the trace's rate at q.at, and until when it holds.
func (q *bottleneck) segment() (rate int64, end components.Ticks) {
	i, phase := q.trace.row(q.at + q.start)
	return q.trace.rate[i], q.at + q.trace.segmentEnd(i) - phase
}

// opportunity takes size bytes out of the coming opportunities.
func (q *bottleneck) opportunity(now components.Ticks, size int64) components.Ticks {
	if first := q.trace.firstSlot(now + q.start); first > q.slot {
		q.slot, q.left = first, opportunityBytes
	}
	for size > q.left {
		size -= q.left
		q.slot, q.left = q.slot+1, opportunityBytes
	}
	q.left -= size
	return q.trace.slotTime(q.slot) - q.start
}

// slotTime is the time of the n-th opportunity, counted through all loops,
// rounded up to a tick so that nothing leaves early.
func (t *Trace) slotTime(n int64) components.Ticks {
	count := int64(len(t.opportunity))
	ms := n/count*t.period + t.opportunity[n%count]
	return components.Ticks((ms*components.TicksPerSecond + 999) / 1000)
}

// firstSlot is the first opportunity that is not before a time.
func (t *Trace) firstSlot(at components.Ticks) int64 {
	if at <= 0 {
		return 0
	}
	// slotTime rounds up, so the first one at or after `at` is the first whose
	// millisecond, exactly, is after at-1.
	ms := int64(at-1)*1000/components.TicksPerSecond + 1
	loop := (ms - 1) / t.period
	phase := ms - loop*t.period // 1..period: the last line belongs to this loop
	lo, hi := 0, len(t.opportunity)-1
	for lo < hi {
		if mid := (lo + hi) / 2; t.opportunity[mid] >= phase {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return loop*int64(len(t.opportunity)) + int64(lo)
}
