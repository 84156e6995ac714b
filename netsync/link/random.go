package link

import "math/bits"

// The link's randomness is a hash of where it is used, not a stream: the draws
// for packet n depend on n alone, so that no packet's fate depends on the size
// or the time of another. The mixing function is that of SplitMix64 (Steele,
// Lea and Flood, 2014), fixed here so that a seed means the same for ever.

const golden = 0x9e3779b97f4a7c15

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// derive is the seed of the n-th child of a seed.
func derive(seed, n uint64) uint64 { return mix(mix(seed+golden) ^ mix(n*golden+1)) }

// draws gives the random numbers of one packet, one after the other.
type draws uint64

func (d *draws) next() uint64 {
	*d += golden
	return mix(uint64(*d))
}

// chance is true with probability limit/2^64.
func (d *draws) chance(limit uint64) bool { return d.next() < limit || limit == certain }

// below is uniform in 0..n-1, n > 0, with a bias under n/2^64.
func (d *draws) below(n uint64) uint64 {
	hi, _ := bits.Mul64(d.next(), n)
	return hi
}

// certain is the limit of a probability of 1.
const certain = ^uint64(0)

// limitOf turns a probability into a limit for chance. Comparing integers
// keeps fates equal on every target.
func limitOf(p float64) uint64 {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return certain
	}
	// 53 bits are all that a float64 has.
	return uint64(p*(1<<53)) << 11
}
