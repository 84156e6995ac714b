package session

import "github.com/gaitnet/gait/components"

// The clock estimate. Times of the server's clock are written S, of the
// client's C; the offset is what must be added to C.
//
// A packet down, stamped at S and read at C, left before it was read: the
// offset is at least S-C. A packet up, sent at C and read at S, was sent before
// it was read: the offset is at most S-C. Queues, ticks and frames only make
// the first too small and the second too large, so the largest of the first
// and the smallest of the second within a window are the packets that waited
// least, each way for itself, and the middle between them is the offset if the
// shortest ways are equally long. Half the difference of those is the error
// that nobody can see.
//
// The window is a ring of buckets, so that both sides forget at the same time.
// With a drift of 200 ppm it is wrong by 1.2 ms over its whole length.
//
// The width between the bounds is the shortest round trip of the window, and
// the middle is off by at most half of it. When all packets have to queue (an
// outage ended, a link is full) the width grows and the middle says little; an
// estimate from before that lies within the bounds is the better one. So a
// middle counts only if the width is not above that of the estimate it would
// replace, whose width is taken to grow by 10 ms a second; else the estimate is
// only held within the bounds.
const (
	clockBuckets    = 8
	clockBucketSpan = 3 * second / 4
	clockEnough     = 4 // samples each way before the estimate counts

	// The shown clock follows the estimate at a rate in proportion to the
	// error, so that a wiggle of the estimate hardly shows, but never faster
	// or slower than a tenth of real time.
	slewTime    = second / 2
	slewMostDiv = 10
	// jumpError is the error above which it jumps instead: a clock was set, or
	// a machine slept.
	jumpError = second
	// contradiction is by how much the bounds may overlap: drift over a window,
	// and the steps in which times are told.
	contradiction = 10 * second / 1000
	// widenDiv is 100: 10 ms a second.
	widenDiv = 100
)

type clockBucket struct {
	epoch     int64 // C / clockBucketSpan
	hasLow    bool
	hasHigh   bool
	low, high components.Ticks
}

type clock struct {
	buckets [clockBuckets]clockBucket
	ups     int // samples since the start
	downs   int
	synced  bool
	fresh   bool // samples came in since the last update

	width   components.Ticks // of the bounds that gave target
	widthAt components.Ticks // C

	target components.Ticks // offset
	shown  components.Ticks // offset
	at     components.Ticks // C up to which shown was slewed
	last   components.Ticks // S, the newest that was told
	told   bool
	jumps  uint64
}

func (k *clock) reset(now components.Ticks) { *k = clock{at: now} }

func (k *clock) bucket(now components.Ticks) *clockBucket {
	epoch := int64(now / clockBucketSpan)
	b := &k.buckets[uint64(epoch)%clockBuckets]
	if b.epoch != epoch {
		*b = clockBucket{epoch: epoch}
	}
	return b
}

// down books a packet that was stamped at server and read now.
func (k *clock) down(now, server components.Ticks) {
	b := k.bucket(now)
	if d := server - now; !b.hasLow || d > b.low {
		b.low = d
	}
	b.hasLow = true
	k.downs++
	k.fresh = true
}

// up books a packet that was sent at sent and read by the server at server.
func (k *clock) up(now, sent, server components.Ticks) {
	b := k.bucket(now)
	if d := server - sent; !b.hasHigh || d < b.high {
		b.high = d
	}
	b.hasHigh = true
	k.ups++
	k.fresh = true
}

// bounds are the best of the window, ok if both are there.
func (k *clock) bounds(now components.Ticks) (low, high components.Ticks, ok bool) {
	epoch := int64(now / clockBucketSpan)
	var hasLow, hasHigh bool
	for i := range k.buckets {
		b := &k.buckets[i]
		if b.epoch <= epoch-clockBuckets || b.epoch > epoch {
			continue
		}
		if b.hasLow && (!hasLow || b.low > low) {
			low, hasLow = b.low, true
		}
		if b.hasHigh && (!hasHigh || b.high < high) {
			high, hasHigh = b.high, true
		}
	}
	return low, high, hasLow && hasHigh
}

// update makes a new estimate of all samples booked so far. It comes after
// everything that waited was read, since of packets that waited together only
// the newest is worth anything.
func (k *clock) update(now components.Ticks) {
	if !k.fresh {
		return
	}
	k.fresh = false
	low, high, ok := k.bounds(now)
	if ok && low > high+contradiction {
		k.forget(now)
		low, high, ok = k.bounds(now)
	}
	if !ok {
		return
	}
	if width := high - low; !k.synced || width <= k.width+max(now-k.widthAt, 0)/widenDiv {
		k.target = low + width/2
		k.width, k.widthAt = width, now
	} else {
		k.target = min(max(k.target, low), high)
	}
	k.slew(now)
	d := k.target - k.shown
	if !k.synced {
		k.shown = k.target
		k.synced = k.ups >= clockEnough && k.downs >= clockEnough
		k.told = false
	} else if d > jumpError || d < -jumpError {
		k.shown = k.target
		k.told = false
		k.jumps++
	}
}

// forget drops samples of before one of the clocks was set or changed its
// pace, which contradict those of after: all but the newest bucket, and that
// too if it holds both.
func (k *clock) forget(now components.Ticks) {
	k.width = maxSpan
	b := *k.bucket(now)
	k.buckets = [clockBuckets]clockBucket{}
	if !b.hasLow || !b.hasHigh || b.low <= b.high+contradiction {
		*k.bucket(now) = b
	}
}

func (k *clock) slew(now components.Ticks) {
	dt := now - k.at
	if dt <= 0 {
		return
	}
	k.at = now
	d := k.target - k.shown
	if d == 0 {
		return
	}
	// The part of d that dt makes up for, rounded away from zero so that it
	// arrives, and at most a tenth of dt.
	part := dt
	if dt < slewTime {
		part = d * dt / slewTime
		if part < 0 {
			part = -part
		}
		part++
	}
	part = min(part, dt/slewMostDiv+1)
	if d > 0 {
		k.shown += min(part, d)
	} else {
		k.shown -= min(part, -d)
	}
}

// server is the server's time at now. Between two jumps it never runs back.
func (k *clock) server(now components.Ticks) components.Ticks {
	k.slew(now)
	t := now + k.shown
	if k.told && t < k.last {
		return k.last
	}
	k.told, k.last = true, t
	return t
}
