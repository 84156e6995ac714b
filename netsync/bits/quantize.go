package bits

import (
	mbits "math/bits"

	"github.com/gaitnet/gait/components/exact"
)

// Scales of the reference's three network vectors: steps a unit.
const (
	Whole      = 1   // NetQuantize: whole numbers
	Tenths     = 10  // NetQuantize10: one decimal
	Hundredths = 100 // NetQuantize100: two decimals
)

// QuantizeMax is the largest magnitude that Quantize gives, 2^50. Up to there
// the two roundings of Dequantize and of the product that undoes it stay
// under a quarter step, so a quantised value is a fixed point.
const QuantizeMax = 1 << 50

// Quantize is v*scale rounded half away from zero and held within
// ±QuantizeMax; NaN gives 0. The clamp comes before the conversion, so every
// target gives equal bits. scale is 1e-9..1e9, another panics.
func Quantize(v, scale float64) int64 {
	checkScale(scale)
	return clampRound(float64(v*scale), QuantizeMax)
}

// Dequantize is q/scale, correctly rounded. For |q| up to QuantizeMax it holds
// that Quantize(Dequantize(q, scale), scale) == q.
func Dequantize(q int64, scale float64) float64 {
	checkScale(scale)
	return float64(q) / scale
}

func checkScale(scale float64) {
	if !(scale >= 1e-9 && scale <= 1e9) {
		panic("bits.Quantize: scale outside 1e-9..1e9")
	}
}

func clampRound(x, limit float64) int64 {
	switch {
	case x != x:
		return 0
	case x > limit:
		x = limit
	case x < -limit:
		x = -limit
	}
	return int64(exact.Round(x))
}

// QVecMax is the largest magnitude of a part of a QVec, 2^30 - 1: at
// Hundredths 107 km to each side, at Tenths 1,070 km.
const QVecMax = 1<<30 - 1

const (
	qvecWidthBits = 5  // width of the field that tells a part's width
	qvecWidth     = 31 // widest part: two's complement of ±QVecMax
)

// QVec is a vector in steps of 1/scale, the scale known to both ends. Parts
// lie within ±QVecMax.
type QVec [3]int32

// QuantizeVec rounds each part of v as Quantize does, held within ±QVecMax.
// For whatever is simulated from the result, use its Vec.
func QuantizeVec(v Vec3, scale float64) QVec {
	checkScale(scale)
	var q QVec
	for i, x := range v {
		q[i] = int32(clampRound(float64(x*scale), QVecMax))
	}
	return q
}

// Vec is q/scale, part by part. QuantizeVec(q.Vec(s), s) == q.
func (q QVec) Vec(scale float64) Vec3 {
	checkScale(scale)
	return Vec3{float64(q[0]) / scale, float64(q[1]) / scale, float64(q[2]) / scale}
}

// QuantizedVec is what the other end will have of v.
func QuantizedVec(v Vec3, scale float64) Vec3 { return QuantizeVec(v, scale).Vec(scale) }

func (q QVec) valid() bool {
	for _, x := range q {
		if x > QVecMax || x < -QVecMax {
			return false
		}
	}
	return true
}

// width is that of the widest part in two's complement, 0 for a zero vector.
func (q QVec) width() uint {
	var u uint32
	for _, x := range q {
		u |= uint32(x ^ x>>31)
	}
	if u == 0 && q == (QVec{}) {
		return 0
	}
	return uint(mbits.Len32(u)) + 1
}

// WriteQVec writes the width of the widest part (5 bits), and unless that is
// 0, a bit that tells whether z is not zero and x, y and (then) z in that
// width, two's complement. Cost: 5 for a zero vector, 6+2w for a level one,
// 6+3w else; w is at most 31. Parts outside ±QVecMax set ErrRange.
func (w *Writer) WriteQVec(q QVec) {
	if !q.valid() {
		w.Refuse()
		q = QVec{}
	}
	n := q.width()
	w.WriteBits(uint64(n), qvecWidthBits)
	if n == 0 {
		return
	}
	w.WriteBool(q[2] != 0)
	mask := uint64(1)<<n - 1
	w.WriteBits(uint64(q[0])&mask|uint64(q[1])<<n, 2*n)
	if q[2] != 0 {
		w.WriteBits(uint64(q[2]), n)
	}
}

// ReadQVec reads what WriteQVec wrote. A width larger than needed, a z that is
// zero in the long form, and a part under -QVecMax are ErrInvalid.
func (r *Reader) ReadQVec() QVec {
	n := uint(r.ReadBits(qvecWidthBits))
	if n == 0 {
		return QVec{}
	}
	hasZ := r.ReadBool()
	xy := r.ReadBits(2 * n)
	q := QVec{signed(xy, n), signed(xy>>n, n), 0}
	if hasZ {
		q[2] = signed(r.ReadBits(n), n)
	}
	if r.err == nil && (q.width() != n || hasZ != (q[2] != 0) || !q.valid()) {
		r.Invalid()
	}
	if r.err != nil {
		return QVec{}
	}
	return q
}

// signed extends the low n bits (1..31) of v.
func signed(v uint64, n uint) int32 { return int32(uint32(v)<<(32-n)) >> (32 - n) }

// WriteQVecDelta writes q against base, which both ends know: 1 bit if they
// are equal, else a one bit and three residuals of order k.
func (w *Writer) WriteQVecDelta(q, base QVec, k uint) {
	if !q.valid() {
		w.Refuse()
		q = base
	}
	if q == base {
		w.WriteBits(0, 1)
		return
	}
	w.WriteBits(1, 1)
	for i := range q {
		w.WriteDelta(int64(q[i]), int64(base[i]), k)
	}
}

// ReadQVecDelta reads what WriteQVecDelta wrote with the same base and k; base
// on an error.
func (r *Reader) ReadQVecDelta(base QVec, k uint) QVec {
	if !r.ReadBool() {
		return base
	}
	var q QVec
	for i := range q {
		v := r.ReadDelta(int64(base[i]), k)
		if v > QVecMax || v < -QVecMax {
			r.Invalid()
		}
		q[i] = int32(v)
	}
	if q == base {
		r.Invalid()
	}
	if r.err != nil {
		return base
	}
	return q
}
