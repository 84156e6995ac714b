package bits

import mbits "math/bits"

// Zigzag maps 0, -1, 1, -2, 2 ... to 0, 1, 2, 3, 4 ...
func Zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

// Unzigzag is the inverse of Zigzag.
func Unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// WriteUint writes v as an exponential Golomb code of order k (0..63): with
// u = v>>k + 1 of z+1 bits, z zero bits, a one bit, the low z bits of u, the
// low k bits of v. Cost: 2*floor(log2(v>>k + 1)) + 1 + k bits. k = 0 is the
// Elias gamma code of v+1. Right for values that are mostly below 2^k and
// rarely large.
func (w *Writer) WriteUint(v uint64, k uint) {
	checkOrder("bits.Writer: WriteUint", k)
	u, carry := mbits.Add64(v>>k, 1, 0)
	z := uint(64) // only for k = 0 and the largest v: u is 2^64
	if carry == 0 {
		z = uint(mbits.Len64(u)) - 1
	}
	if 2*z+1+k <= 64 {
		code := uint64(1)<<z | (u^1<<z)<<(z+1) | (v&(1<<k-1))<<(2*z+1)
		w.WriteBits(code, 2*z+1+k)
		return
	}
	w.WriteBits(0, z)
	w.WriteBits(1, 1)
	w.WriteBits(u, z)
	w.WriteBits(v, k)
}

// ReadUint reads what WriteUint wrote with the same k.
func (r *Reader) ReadUint(k uint) uint64 {
	checkOrder("bits.Reader: ReadUint", k)
	z, ok := r.readZeros(64 - k)
	if !ok {
		return 0
	}
	low := r.ReadBits(z)
	if z == 64-k && low != 0 { // past 64 bits
		r.Invalid()
		return 0
	}
	u := low - 1 // for z = 64 the leading one falls out, as it must
	if z < 64 {
		u += 1 << z
	}
	tail := r.ReadBits(k)
	if r.err != nil {
		return 0
	}
	return u<<k | tail
}

// readZeros counts zero bits up to the next one bit and takes both.
func (r *Reader) readZeros(limit uint) (uint, bool) {
	n := uint(min(r.Remaining(), 64))
	z := uint(mbits.TrailingZeros64(r.peek(n)))
	if z >= n && n < 64 {
		r.fail(ErrShort)
		return 0, false
	}
	if z > limit {
		r.Invalid()
		return 0, false
	}
	r.pos += int(z)
	if r.ReadBits(1) == 0 { // after 64 zeros only
		r.Invalid()
		return 0, false
	}
	return z, true
}

// WriteInt writes v by WriteUint of its Zigzag: small magnitudes of either
// sign are short.
func (w *Writer) WriteInt(v int64, k uint) { w.WriteUint(Zigzag(v), k) }

// ReadInt reads what WriteInt wrote with the same k.
func (r *Reader) ReadInt(k uint) int64 { return Unzigzag(r.ReadUint(k)) }

// WriteGroups writes v in groups of g bits (1..32), the lowest first, each
// followed by a bit that tells whether another group comes. Cost:
// (g+1)*max(1, ceil(bits of v / g)). Better than WriteUint for identifiers
// and other values of any size.
func (w *Writer) WriteGroups(v uint64, g uint) {
	checkGroup("bits.Writer: WriteGroups", g)
	for {
		low := v & (1<<g - 1)
		v >>= g
		if v == 0 {
			w.WriteBits(low, g+1)
			return
		}
		w.WriteBits(low|1<<g, g+1)
	}
}

// ReadGroups reads what WriteGroups wrote with the same g. A last group of
// zero behind another, or more than 64 bits, is ErrInvalid.
func (r *Reader) ReadGroups(g uint) uint64 {
	checkGroup("bits.Reader: ReadGroups", g)
	var v uint64
	for s := uint(0); ; s += g {
		x := r.ReadBits(g + 1)
		if r.err != nil {
			return 0
		}
		low := x & (1<<g - 1)
		if s >= 64 || low<<s>>s != low || (s > 0 && x == 0) {
			r.Invalid()
			return 0
		}
		v |= low << s
		if x>>g == 0 {
			return v
		}
	}
}

// WriteRange writes v of lo..hi in as many bits as hi-lo has (0 if they are
// equal). A v outside sets ErrRange; hi < lo panics.
func (w *Writer) WriteRange(v, lo, hi int64) {
	n := rangeBits("bits.Writer: WriteRange", lo, hi)
	if v < lo || v > hi {
		w.Refuse()
		v = lo
	}
	w.WriteBits(uint64(v)-uint64(lo), n)
}

// ReadRange reads what WriteRange wrote with the same bounds. The result lies
// within them even on an error, when it is lo.
func (r *Reader) ReadRange(lo, hi int64) int64 {
	u := r.ReadBits(rangeBits("bits.Reader: ReadRange", lo, hi))
	if u > uint64(hi)-uint64(lo) {
		r.Invalid()
		return lo
	}
	return int64(uint64(lo) + u)
}

// WriteBlob writes len(b) as a range 0..limit and then b. A longer b sets
// ErrRange.
func (w *Writer) WriteBlob(b []byte, limit int) {
	w.WriteRange(int64(len(b)), 0, int64(limit))
	if len(b) <= limit {
		w.WriteBytes(b)
	}
}

// ReadBlob appends what WriteBlob wrote with the same limit to dst, which
// allocates only if dst has no room. On an error it is dst.
func (r *Reader) ReadBlob(dst []byte, limit int) []byte {
	n := int(r.ReadRange(0, int64(limit)))
	if n > r.Remaining()>>3 {
		r.fail(ErrShort)
	}
	if r.err != nil {
		return dst
	}
	for ; n >= 8; n -= 8 {
		v := r.ReadBits(64)
		dst = append(dst, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56))
	}
	for ; n > 0; n-- {
		dst = append(dst, byte(r.ReadBits(8)))
	}
	return dst
}

// WriteResidual writes a difference that is mostly zero: 1 bit for zero, else
// a one bit and WriteUint(Zigzag(d)-1, k).
func (w *Writer) WriteResidual(d int64, k uint) {
	if d == 0 {
		w.WriteBits(0, 1)
		return
	}
	w.WriteBits(1, 1)
	w.WriteUint(Zigzag(d)-1, k)
}

// ReadResidual reads what WriteResidual wrote with the same k.
func (r *Reader) ReadResidual(k uint) int64 {
	if !r.ReadBool() {
		return 0
	}
	u := r.ReadUint(k)
	if u == ^uint64(0) { // Zigzag never gives 2^64
		r.Invalid()
	}
	if r.err != nil {
		return 0
	}
	return Unzigzag(u + 1)
}

// WriteDelta writes v as the residual from base, which both ends know. The
// difference wraps, so any pair of values works.
func (w *Writer) WriteDelta(v, base int64, k uint) { w.WriteResidual(v-base, k) }

// ReadDelta reads what WriteDelta wrote with the same base and k; base on an
// error.
func (r *Reader) ReadDelta(base int64, k uint) int64 { return base + r.ReadResidual(k) }

func rangeBits(who string, lo, hi int64) uint {
	if hi < lo {
		panic(who + " with an empty range")
	}
	return uint(mbits.Len64(uint64(hi) - uint64(lo)))
}

func checkOrder(who string, k uint) {
	if k > 63 {
		panic(who + " of an order over 63")
	}
}

func checkGroup(who string, g uint) {
	if g < 1 || g > 32 {
		panic(who + " with groups outside 1..32 bits")
	}
}
