package bits

import "strconv"

// Seq16 is a sequence number that wraps at 2^16. Its arithmetic is right as
// long as the numbers compared lie less than 2^15 apart.
type Seq16 uint16

// Diff is how far s lies ahead of t, -32768..32767.
func (s Seq16) Diff(t Seq16) int { return int(int16(s - t)) }

// Less tells whether s is older than t. Numbers exactly half a ring apart
// have no order: Less is false both ways.
func (s Seq16) Less(t Seq16) bool { d := s.Diff(t); return d < 0 && d != -1<<15 }

// Add is s moved on by n, which may be negative.
func (s Seq16) Add(n int) Seq16 { return s + Seq16(n) }

// Next is s moved on by one.
func (s Seq16) Next() Seq16 { return s + 1 }

// Seq32 is a sequence number that wraps at 2^32. Its arithmetic is right as
// long as the numbers compared lie less than 2^31 apart.
type Seq32 uint32

// Diff is how far s lies ahead of t, -2^31..2^31-1.
func (s Seq32) Diff(t Seq32) int { return int(int32(s - t)) }

// Less tells whether s is older than t. Numbers exactly half a ring apart
// have no order: Less is false both ways.
func (s Seq32) Less(t Seq32) bool { d := s.Diff(t); return d < 0 && d != -1<<31 }

// Add is s moved on by n, which may be negative.
func (s Seq32) Add(n int) Seq32 { return s + Seq32(n) }

// Next is s moved on by one.
func (s Seq32) Next() Seq32 { return s + 1 }

// Extend gives back a counter (a sequence, a tick, a time) of which only the
// low n bits (1..63) were sent: of all numbers that end in low, the nearest to
// ref, and of two equally near ones the later. It is right if the counter lies
// from 2^(n-1)-1 before ref to 2^(n-1) behind it. It can be negative: a reader
// refuses that where no counter is.
func Extend(ref int64, low uint64, n uint) int64 {
	if n < 1 || n > 63 {
		panic("bits.Extend of " + strconv.FormatUint(uint64(n), 10) + " bits")
	}
	mask := uint64(1)<<n - 1
	d := int64((low - uint64(ref)) & mask)
	if d > 1<<(n-1) {
		d -= 1 << n
	}
	return ref + d
}
