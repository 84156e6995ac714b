package nettest

import (
	"fmt"
	"math"
)

// A Histogram's buckets: each power of two is cut in 64, from 2^-30 to 2^24.
const (
	histSub    = 6 // bits of the mantissa that name a bucket
	histLowest = -30
	histTop    = 24
	histLen    = (histTop - histLowest) << histSub
)

// Histogram counts measured values of one kind, none of them negative, in a
// fixed 27 KB and without allocation. Quantiles are the upper edge of the
// bucket, so at most 1/64 (1.6 %) above the truth and never below it; whole
// numbers up to 128 are exact, so are Max, Mean's sum up to rounding, and zero,
// which has a bucket of its own. Values above 0 and below 1e-9 share one bucket,
// and those from 1.6e7 on another. The zero Histogram is ready.
type Histogram struct {
	n       uint64
	zero    uint64
	tiny    uint64
	huge    uint64
	sum     float64
	max     float64
	buckets [histLen]uint64
}

var histFirst = math.Float64bits(math.Ldexp(1, histLowest)) >> (52 - histSub)

// Add counts v. What is negative counts as 0, what is NaN or infinite as the
// largest number there is: a place that is no number must show.
func (h *Histogram) Add(v float64) {
	h.n++
	switch {
	case v-v != 0:
		v = math.MaxFloat64
	case v <= 0:
		h.zero++
		return
	}
	if v > h.max {
		h.max = v
	}
	h.sum += v
	// An edge belongs to the bucket below it: 5 is counted as "up to 5".
	b := int64((math.Float64bits(v)-1)>>(52-histSub)) - int64(histFirst)
	switch {
	case b < 0:
		h.tiny++
	case b >= histLen:
		h.huge++
	default:
		h.buckets[b]++
	}
}

// Merge adds all that o has counted.
func (h *Histogram) Merge(o *Histogram) {
	h.n += o.n
	h.zero += o.zero
	h.tiny += o.tiny
	h.huge += o.huge
	h.sum += o.sum
	h.max = math.Max(h.max, o.max)
	for i, c := range o.buckets {
		h.buckets[i] += c
	}
}

// N is how many values were counted.
func (h *Histogram) N() uint64 { return h.n }

// Max is the largest value, 0 where there is none. Exact.
func (h *Histogram) Max() float64 { return h.max }

// Mean of all values, 0 where there is none.
func (h *Histogram) Mean() float64 {
	if h.n == 0 {
		return 0
	}
	return math.Min(h.sum/float64(h.n), h.max)
}

// Quantile is the least value that at least the share q of all values does not
// exceed, to the resolution of a bucket; 0 where there is none. q lies in 0..1.
func (h *Histogram) Quantile(q float64) float64 {
	if !(q >= 0 && q <= 1) {
		panic(fmt.Sprintf("nettest.Histogram: quantile %v", q))
	}
	if h.n == 0 {
		return 0
	}
	rank := uint64(math.Max(1, math.Ceil(q*float64(h.n))))
	if rank >= h.n {
		return h.max
	}
	seen := h.zero
	if rank <= seen {
		return 0
	}
	if seen += h.tiny; rank <= seen {
		return math.Min(h.max, math.Ldexp(1, histLowest))
	}
	for i, c := range h.buckets {
		if seen += c; rank <= seen {
			return math.Min(h.max, math.Float64frombits((histFirst+uint64(i)+1)<<(52-histSub)))
		}
	}
	return h.max
}

// Reset forgets everything.
func (h *Histogram) Reset() { *h = Histogram{} }
