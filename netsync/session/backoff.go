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
//   - delay above 80 ms and growing, or above 50 ms together with more than 30 %
//     loss: the interval is stretched by half;
//   - sent for a second and nothing acknowledged: the same, but that is no sign
//     of where the limit lies: if there is no queue when something that was
//     sent just now is heard of, it was an outage, and the scale of before
//     holds at once;
//   - delay above 80 ms and falling: wait, the queue drains;
//   - delay above 80 ms and steady for a second: stretch, to see whether it
//     falls. If two stretches changed nothing, the way has become longer, and
//     what is measured is the new normal;
//   - delay below 50 ms: the interval shrinks by a sixth, or by a fiftieth near the knee.
//
// The knee is the scale that the link would just carry: what would be sent at a
// scale of 1, by what was acknowledged while the link was full.
//
// A stretch waits until a packet sent after the one before is acknowledged.
// While there is a queue the least delay is not forgotten.
//
// Scales are in 1/1024.
const (
	scaleOne  = 1 << 10
	scaleMost = 12 * scaleOne

	backEvery   = second / 2
	baseBuckets = 8
	baseSpan    = 4 * second
	queueMany   = 80 * second / 1000
	queueSome   = 50 * second / 1000
	queueStep   = 40 * second / 1000 // less is steady: frames and ticks are coarse, and samples few
	steadyFor   = 2                  // evaluations
	probesMost  = 2                  // stretches without effect
	silentFor   = second
	lossPercent = 30
	lossLeast   = 12 // packets decided, below it a share says nothing
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
	knee  int64 // scale at which the link just carried what was sent, the last time it was full
	next  components.Ticks
	base  [baseBuckets]delayBucket
	half  [2]delayBucket // this half second and the one before

	lastQueue components.Ticks
	steady    int
	probes    int              // stretches since the queue last fell
	mark      components.Ticks // when it was last stretched
	newest    components.Ticks // send time of the newest packet acknowledged

	acked, lost uint64 // of core.stats at the last evaluation
	bytes       uint64 // acknowledged up to then
	out         uint64 // sent up to then
	decided8    uint64 // eighths of a fading sum of acknowledged and lost packets
	lost8       uint64
	nominal     int64 // mean of what would be sent at a scale of 1, bytes a second
	carried     int64 // mean of what is acknowledged
	evaluated   components.Ticks
	seen        uint64           // acknowledged up to the last update
	seenAt      components.Ticks // when that grew, or nothing was waited for
	before      int64            // scale before the present silence, 0 where there is none
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

func (b *backoff) stretched(t components.Ticks) components.Ticks {
	return t * components.Ticks(b.scale) / scaleOne
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
func (b *backoff) queue(now components.Ticks) (q, least components.Ticks, ok bool) {
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
	return present.least - base.least, base.least, present.has && base.has
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
	out := c.stats.BytesOut + headerBytes*c.stats.PacketsOut
	nominal := int64(out-b.out) * int64(second) / int64(span) * b.scale / scaleOne
	b.nominal += (nominal - b.nominal) / 4
	carried := int64(c.ackedBytes-b.bytes) * int64(second) / int64(span)
	b.carried += (carried - b.carried) / 4
	b.acked, b.lost, b.bytes, b.out, b.evaluated = c.stats.Acked, c.stats.Lost, c.ackedBytes, out, now

	b.decided8 += 8*(acked+lost) - b.decided8/4
	b.lost8 += 8*lost - b.lost8/4
	heavy := b.decided8 >= 8*lossLeast && b.lost8*100 > lossPercent*b.decided8

	if now-b.seenAt >= max(silentFor, 2*c.rtt.mean()) {
		if b.before == 0 {
			b.before = b.scale
		}
		b.stretch(now)
		return
	}
	queue, least, ok := b.queue(now)
	if !ok {
		return
	}
	grown := queue - b.lastQueue
	b.lastQueue = queue
	told := b.newest > b.mark // what was sent since the last stretch has an effect by now
	if heavy || queue > queueSome {
		long := int64(now / baseSpan)
		b.base[uint64(long)%baseBuckets].add(long, least)
	}
	if (heavy && queue > queueSome) || queue > queueMany { // the link is full, so it carries what it can
		b.knee = min(max(b.nominal*scaleOne/max(b.carried, 1), scaleOne), scaleMost)
		b.rate = b.carried
	}
	switch {
	case heavy && queue > queueSome, queue > queueMany && grown > queueStep:
		b.steady = 0
		if told {
			b.probes = 1
			b.stretch(now)
		}
	case queue > queueMany && grown < -queueStep:
		b.steady, b.probes = 0, 0
	case queue > queueMany:
		if b.steady++; b.steady < steadyFor || !told {
			return
		}
		b.steady = 0
		if b.probes < probesMost {
			b.probes++
			b.stretch(now)
		} else {
			b.probes = 0
			b.rebase(now)
		}
	case queue <= queueSome:
		b.steady, b.probes = 0, 0
		// On a full link what is heard first was sent before the silence.
		if b.before != 0 && now-b.newest < silentFor {
			b.scale = min(b.scale, b.before)
		}
		b.recover()
	}
	b.before = 0
}

func (b *backoff) stretch(now components.Ticks) {
	b.mark = now
	b.rate = b.carried
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
