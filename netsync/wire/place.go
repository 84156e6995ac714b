package wire

import (
	mbits "math/bits"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

// A rounded place: the width of the wider of x and y, both in that width, and z
// by itself, because a level is wide and flat. 61 bits at 0.01 cm in a square
// of 60 m.
const (
	placeWidthBits = 5  // 0..30
	placeWide      = 31 // in place of a width: 6 bits of width follow
	placeWideBits  = 6
	placeWidth     = 52 // two's complement of bits.QuantizeMax
)

// scales and zOrders by the number of decimals.
var (
	scales  = [3]float64{bits.Whole, bits.Tenths, bits.Hundredths}
	zOrders = [3]uint{7, 10, 13}
)

func quantizePlace(v components.Vec3, decimals uint8) (q [3]int64) {
	for i, x := range v {
		q[i] = bits.Quantize(x, scales[decimals])
	}
	return q
}

func place(q [3]int64, decimals uint8) (v components.Vec3) {
	for i, x := range q {
		v[i] = bits.Dequantize(x, scales[decimals])
	}
	return v
}

func writePlace(w *bits.Writer, v components.Vec3, decimals uint8) {
	if !within(v, maxPlace) {
		w.Refuse()
	}
	q := quantizePlace(v, decimals)
	n := signedWidth(q[0], q[1])
	if n < placeWide {
		w.WriteBits(uint64(n), placeWidthBits)
	} else {
		w.WriteBits(placeWide, placeWidthBits)
		w.WriteBits(uint64(n), placeWideBits)
	}
	w.WriteBits(uint64(q[0]), n)
	w.WriteBits(uint64(q[1]), n)
	w.WriteInt(q[2], zOrders[decimals])
}

func readPlace(t *track, decimals uint8) components.Vec3 {
	r := t.r
	n := uint(r.ReadBits(placeWidthBits))
	if n == placeWide {
		n = uint(r.ReadBits(placeWideBits))
		t.check(n >= placeWide)
	}
	if n > placeWidth {
		r.Invalid()
		n = 0
	}
	x, y := signExtend(r.ReadBits(n), n), signExtend(r.ReadBits(n), n)
	z := r.ReadInt(zOrders[decimals])
	t.check(signedWidth(x, y) == n)
	q := [3]int64{x, y, z}
	for _, v := range q {
		t.check(v <= bits.QuantizeMax && v >= -bits.QuantizeMax)
	}
	if r.Err() != nil {
		return components.Vec3{}
	}
	v := place(q, decimals)
	t.check(within(v, maxPlace))
	return v
}

// signedWidth is the width of the wider value in two's complement, 0 for zeros.
func signedWidth(x, y int64) uint {
	if x == 0 && y == 0 {
		return 0
	}
	return uint(mbits.Len64(uint64(x^x>>63)|uint64(y^y>>63))) + 1
}

func signExtend(v uint64, n uint) int64 {
	if n == 0 {
		return 0
	}
	return int64(v<<(64-n)) >> (64 - n)
}
