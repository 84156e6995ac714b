package link

// bursts is the law of the lengths of loss bursts: geometric, cut at a longest
// length, with the asked mean.
type bursts struct {
	mean float64
	// cumulative[i] is the limit for "length at most i+1".
	cumulative []uint64
}

// newBursts finds the ratio r of P(n+1)/P(n) that gives the mean, by
// bisection: the mean grows with r, from 1 at 0 to the maximum at infinity.
// mean lies in 1..most.
func newBursts(mean float64, most int) bursts {
	weights := make([]float64, most)
	lo, hi := 0.0, 1.0
	for meanOf(weights, hi) < mean && hi < 1e12 {
		hi *= 2
	}
	for range 200 {
		mid := lo + (hi-lo)/2
		if meanOf(weights, mid) < mean {
			lo = mid
		} else {
			hi = mid
		}
	}
	meanOf(weights, hi)
	total := 0.0
	for _, w := range weights {
		total += w
	}
	b := bursts{mean: mean, cumulative: make([]uint64, most)}
	sum := 0.0
	for i, w := range weights {
		sum += w
		b.cumulative[i] = limitOf(sum / total)
	}
	b.cumulative[most-1] = certain
	return b
}

// meanOf fills weights with the powers of r, scaled so that none overflows,
// and returns the mean length.
func meanOf(weights []float64, r float64) float64 {
	n := len(weights)
	total, moment, w := 0.0, 0.0, 1.0
	for i := range n {
		at := i
		ratio := r
		if r > 1 { // from the large end down
			at, ratio = n-1-i, 1/r
		}
		weights[at] = w
		total += w
		moment += float64(w * float64(at+1))
		w *= ratio
	}
	return moment / total
}

// start is the limit for the chance that a burst starts at a packet that may
// start one, for an overall loss p. Between two bursts one packet gets
// through for certain and then 1/h-1 in the mean, so that the share of lost
// packets is mean/(mean+1/h) = p. Beyond what the mean allows, every second
// run is a burst.
func (b *bursts) start(p float64) uint64 {
	if p >= 1 {
		return certain
	}
	return limitOf(p / (b.mean * (1 - p)))
}

// length draws the length of a burst.
func (b *bursts) length(d *draws) int {
	u := d.next()
	lo, hi := 0, len(b.cumulative)-1
	for lo < hi {
		if mid := (lo + hi) / 2; u < b.cumulative[mid] {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo + 1
}
