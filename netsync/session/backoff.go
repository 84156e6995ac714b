package session

import "github.com/gaitnet/gait/components"

// The upstream back-off. It asks whether the link carries what this client
// sends, and looks at two things that only a full link shows.
//
// Delay: the time a packet takes upstream, as the server's clock less this
// one's, is compared with the least of the last half minute. Both are minima,
// the present one over a second, so jitter, ticks and single spikes are not
// seen, and neither is a queue downstream. What is above is a queue upstream.
//
// Loss: a lossy radio loses a share of the packets whatever is sent. Up to 30 %
// it is not taken for a full queue; above that only together with a delay.
//
// Once in half a second:
//
//   - delay above 60 ms and growing, or any queue together with more than 30 %
//     loss: the interval is stretched by half (and where that happened is
//     remembered);
//   - sent for a second and nothing acknowledged: the same, but that is no sign
//     of where the limit lies;
//   - delay above 60 ms and falling: wait, the queue drains;
//   - delay above 60 ms, steady for 2 s, without loss: the way has become
//     longer. What is measured is the new normal;
//   - no queue: the interval shrinks by a sixth, or by a fiftieth where the
//     limit was found before.
//
// Scales are in 1/1024.
const (
	scaleOne  = 1 << 10
	scaleMost = 12 * scaleOne

	backEvery   = second / 2
	baseBuckets = 8
	baseSpan    = 4 * second
	queueMany   = 60 * second / 1000
	queueSome   = 20 * second / 1000
	queueStep   = 10 * second / 1000 // less is steady
	steadyFor   = 4                  // evaluations
	silentFor   = second
	lossPercent = 30
	lossLeast   = 6 // packets decided, below it a share says nothing
)

type delayBucket struct {
	epoch int64
	has   bool
	least components.Ticks
}

func (b *delayBucket) add(epoch int64, d components.Ticks) {
	if !b.has || b.epoch != epoch {
		*b = delayBucket{epoch: epoch, has: true, least: d}
	}
	b.least = min(b.least, d)
}

type backoff struct {
	scale int64 // 0 stands for scaleOne
	knee  int64 // scale at which the link was found too slow last
	next  components.Ticks
	base  [baseBuckets]delayBucket
	half  [2]delayBucket // this half second and the one before

	lastQueue components.Ticks
	steady    int
	mark      components.Ticks // when it was last stretched
	newest    components.Ticks // send time of the newest packet acknowledged

	acked, lost uint64 // of core.stats at the last evaluation
	bytes       uint64 // acknowledged up to then
	evaluated   components.Ticks
	seen        uint64           // acknowledged up to the last update
	seenAt      components.Ticks // when that grew, or nothing was waited for
	updated     components.Ticks
	rate        int64 // bytes a second
}

func (b *backoff) start(now components.Ticks) {
	*b = backoff{
		scale: scaleOne, knee: scaleOne,
		next: now + backEvery, evaluated: now, seenAt: now, updated: now, mark: -1, newest: now,
	}
}

func (b *backoff) factor() float64 {
	if b.scale == 0 {
		return 1
	}
	return float64(b.scale) / scaleOne
}

func (b *backoff) speed() int {
	if b.scale <= scaleOne {
		return 0
	}
	return int(max(b.rate, 1))
}

// sample books the delay of a packet upstream that was sent at sent: the
// server's time of receipt less sent. Only differences of it mean anything.
func (b *backoff) sample(now, sent, delay components.Ticks) {
	half := int64(now / backEvery)
	b.half[uint64(half)%2].add(half, delay)
	long := int64(now / baseSpan)
	b.base[uint64(long)%baseBuckets].add(long, delay)
	b.newest = max(b.newest, sent)
}

// queue is the present delay above the least one, ok if there are samples.
func (b *backoff) queue(now components.Ticks) (q components.Ticks, ok bool) {
	half, long := int64(now/backEvery), int64(now/baseSpan)
	var present, base delayBucket
	for _, x := range b.half {
		if x.has && x.epoch >= half-1 {
			present.add(0, x.least)
		}
	}
	for _, x := range b.base {
		if x.has && x.epoch > long-baseBuckets {
			base.add(0, x.least)
		}
	}
	return present.least - base.least, present.has && base.has
}

// update looks at what has come in since the last one.
func (b *backoff) update(now components.Ticks, c *core) {
	if c.stats.Acked != b.seen || c.lastSent < b.seenAt || now-b.updated > maxGap {
		// Heard of, or nothing to hear of, or this end slept.
		b.seen, b.seenAt = c.stats.Acked, now
	}
	b.updated = now
	if now < b.next {
		return
	}
	b.next = now + backEvery
	acked, lost := c.stats.Acked-b.acked, c.stats.Lost-b.lost
	span := max(now-b.evaluated, 1)
	carried := int64(c.ackedBytes-b.bytes) * int64(second) / int64(span)
	b.acked, b.lost, b.bytes, b.evaluated = c.stats.Acked, c.stats.Lost, c.ackedBytes, now

	if now-b.seenAt >= max(silentFor, 2*c.rtt.mean()) {
		b.stretch(now, carried)
		return
	}
	queue, ok := b.queue(now)
	if !ok {
		return
	}
	grown := queue - b.lastQueue
	b.lastQueue = queue
	heavy := acked+lost >= lossLeast && lost*100 > lossPercent*(acked+lost)
	told := b.newest > b.mark // what was sent since the last stretch has an effect by now
	switch {
	case heavy && queue > queueSome, queue > queueMany && grown > queueStep:
		b.steady = 0
		if told {
			b.knee = b.scale
			b.stretch(now, carried)
		}
	case queue > queueMany && grown < -queueStep:
		b.steady = 0
	case queue > queueMany:
		if lost > 0 {
			b.steady = 0
		} else if b.steady++; b.steady >= steadyFor {
			b.steady = 0
			b.rebase(now)
		}
	case queue <= queueMany/2:
		b.steady = 0
		b.recover()
	}
}

func (b *backoff) stretch(now components.Ticks, carried int64) {
	b.mark = now
	b.rate = carried
	b.scale = min(b.scale+b.scale/2, scaleMost)
}

func (b *backoff) recover() {
	step := b.scale / 50
	if b.scale > b.knee+b.knee/4 {
		step = b.scale / 6
	}
	b.scale = max(b.scale-max(step, 1), scaleOne)
	b.knee = max(b.knee-b.knee/200, scaleOne)
}

// rebase takes the present delay for the least.
func (b *backoff) rebase(now components.Ticks) {
	b.base = [baseBuckets]delayBucket{}
	long := int64(now / baseSpan)
	for _, x := range b.half {
		if x.has && x.epoch >= int64(now/backEvery)-1 {
			b.base[uint64(long)%baseBuckets].add(long, x.least)
		}
	}
}
