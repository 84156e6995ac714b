package session

import "github.com/gaitnet/gait/components"

// maxGap is how long a frame may take before what was received after it gives
// no round trips: the packets may have waited all that time to be read.
const maxGap = second / 4

// roundTrips smooths round-trip samples as RFC 6298 does, in integers: the
// mean with a gain of 1/8, the mean deviation with 1/4.
type roundTrips struct {
	has     bool
	mean8   components.Ticks // 8 times the mean
	jitter4 components.Ticks // 4 times the mean deviation
}

func (r *roundTrips) sample(rtt components.Ticks) {
	rtt = min(max(rtt, 0), maxSpan) // clocks are coarse: a hold may exceed the time it lay in
	if !r.has {
		r.has = true
		r.mean8, r.jitter4 = 8*rtt, 2*rtt
		return
	}
	d := rtt - r.mean8/8
	r.mean8 += d
	if d < 0 {
		d = -d
	}
	r.jitter4 += d - r.jitter4/4
}

func (r *roundTrips) mean() components.Ticks   { return r.mean8 / 8 }
func (r *roundTrips) jitter() components.Ticks { return r.jitter4 / 4 }

// timeout is how long to wait for an acknowledgement before sending again.
func (r *roundTrips) timeout() components.Ticks {
	if !r.has {
		return second / 2
	}
	return min(max(r.mean()+4*r.jitter()+second/10, second/5), 3*second)
}

// limiter is a bucket of tokens in units of time: a packet costs the interval
// of the rate.
type limiter struct {
	cost, most, level components.Ticks
	last              components.Ticks
}

func newLimiter(now components.Ticks, perSecond, burst int) limiter {
	cost := second / components.Ticks(perSecond)
	most := cost * components.Ticks(burst)
	return limiter{cost: cost, most: most, level: most, last: now}
}

func (l *limiter) fill(now components.Ticks) {
	if now > l.last {
		l.level = min(l.level+min(now-l.last, maxSpan), l.most)
		l.last = now
	}
}

func (l *limiter) take(now components.Ticks) bool {
	l.fill(now)
	if l.level < l.cost {
		return false
	}
	l.level -= l.cost
	return true
}
