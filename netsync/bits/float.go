package bits

import (
	"math"

	"github.com/gaitnet/gait/components/exact"
)

// Vec3 is mathgl's vector of float64.
type Vec3 = exact.Vec3

// WriteFloat64 writes v with every bit kept: 1 bit for +0, else a one bit and
// the 64 of IEEE 754 (65 in all). -0, infinities and the payload of a NaN
// survive.
func (w *Writer) WriteFloat64(v float64) {
	b := math.Float64bits(v)
	if b == 0 {
		w.WriteBits(0, 1)
		return
	}
	w.WriteBits(1, 1)
	w.WriteBits(b, 64)
}

// ReadFloat64 reads what WriteFloat64 wrote; also what is not finite.
func (r *Reader) ReadFloat64() float64 {
	if !r.ReadBool() {
		return 0
	}
	b := r.ReadBits(64)
	if b == 0 { // +0 in the long form
		r.Invalid()
	}
	return math.Float64frombits(b)
}

// WriteFinite is WriteFloat64 for values that must be finite; others set
// ErrRange. It seeds a simulation on the other end.
func (w *Writer) WriteFinite(v float64) {
	if v-v != 0 {
		w.Refuse()
		v = 0
	}
	w.WriteFloat64(v)
}

// ReadFinite reads what WriteFinite wrote; NaN and infinities are ErrInvalid
// and give 0.
func (r *Reader) ReadFinite() float64 {
	v := r.ReadFloat64()
	if v-v != 0 {
		r.Invalid()
		return 0
	}
	return v
}

// WriteVec3Exact writes the three parts by WriteFinite: 3 to 195 bits.
func (w *Writer) WriteVec3Exact(v Vec3) {
	for _, x := range v {
		w.WriteFinite(x)
	}
}

// ReadVec3Exact reads what WriteVec3Exact wrote; on an error it is the zero
// vector as a whole.
func (r *Reader) ReadVec3Exact() Vec3 {
	v := Vec3{r.ReadFinite(), r.ReadFinite(), r.ReadFinite()}
	if r.err != nil {
		return Vec3{}
	}
	return v
}

// down is the direction of gravity nearly always.
var down = Vec3{0, 0, -1}

// normalSlack bounds | |n|² - 1 | of a unit vector.
const normalSlack = 1e-6

// WriteNormal writes a unit vector with every bit kept, for a direction of
// gravity: 1 bit for (0, 0, -1), else 4 to 196 (one and WriteVec3Exact). What
// is not of unit length within 1e-6 (of its square) sets ErrRange.
func (w *Writer) WriteNormal(n Vec3) {
	if !isNormal(n) {
		w.Refuse()
		n = down
	}
	if isDown(n) {
		w.WriteBits(0, 1)
		return
	}
	w.WriteBits(1, 1)
	w.WriteVec3Exact(n)
}

// ReadNormal reads what WriteNormal wrote; on an error it is (0, 0, -1), which
// is safe to fall along.
func (r *Reader) ReadNormal() Vec3 {
	if !r.ReadBool() {
		return down
	}
	n := r.ReadVec3Exact()
	if !isNormal(n) || isDown(n) {
		r.Invalid()
	}
	if r.err != nil {
		return down
	}
	return n
}

func isNormal(n Vec3) bool { return math.Abs(exact.LenSq(n)-1) <= normalSlack }

// isDown compares bits: (-0, 0, -1) is another vector.
func isDown(n Vec3) bool {
	return math.Float64bits(n[0]) == 0 && math.Float64bits(n[1]) == 0 && n[2] == -1
}
