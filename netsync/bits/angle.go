package bits

import (
	"math"

	"github.com/gaitnet/gait/components/exact"
)

// Rot is an orientation in degrees. It converts to and from components.Rotator
// directly: bits.Rot(r).
type Rot struct{ Pitch, Yaw, Roll float64 }

// QRot is an orientation in shorts, 65536 to the turn. It converts to and from
// components.PackedRotator directly: bits.QRot(p).
type QRot struct{ Pitch, Yaw, Roll uint16 }

// QRot8 is an orientation in bytes, 256 to the turn, for what is only drawn.
type QRot8 struct{ Pitch, Yaw, Roll uint8 }

// QuantizeAngle is an angle in degrees as a short, rounded to the nearest,
// wrapping; the same as components.PackAngle. What is not finite gives 0.
func QuantizeAngle(deg float64) uint16 { return uint16(turn(deg, 1<<16)) }

// DequantizeAngle is the angle in degrees, (-180, 180]. It is exact (a short
// is 45/8192 degrees), so QuantizeAngle gives a again.
func DequantizeAngle(a uint16) float64 {
	if a == 1<<15 {
		return 180
	}
	return float64(int16(a)) * 45 / 8192
}

// QuantizeAngle8 is QuantizeAngle in bytes.
func QuantizeAngle8(deg float64) uint8 { return uint8(turn(deg, 1<<8)) }

// DequantizeAngle8 is the angle in degrees, (-180, 180], exact as well.
func DequantizeAngle8(a uint8) float64 {
	if a == 1<<7 {
		return 180
	}
	return float64(int8(a)) * 45 / 32
}

// turn is deg in steps of 1/n of a turn, 0..n; n is a power of two, which makes
// the product exact, and 0 and n are the same angle.
func turn(deg, n float64) uint32 {
	if deg-deg != 0 {
		return 0
	}
	t := deg / 360
	t -= math.Floor(t)
	return uint32(exact.Round(float64(t * n)))
}

// QuantizeRot rounds each axis to a short.
func QuantizeRot(r Rot) QRot {
	return QRot{QuantizeAngle(r.Pitch), QuantizeAngle(r.Yaw), QuantizeAngle(r.Roll)}
}

// QuantizeRot8 rounds each axis to a byte.
func QuantizeRot8(r Rot) QRot8 {
	return QRot8{QuantizeAngle8(r.Pitch), QuantizeAngle8(r.Yaw), QuantizeAngle8(r.Roll)}
}

// Deg is q in degrees, exact: QuantizeRot gives q again.
func (q QRot) Deg() Rot {
	return Rot{DequantizeAngle(q.Pitch), DequantizeAngle(q.Yaw), DequantizeAngle(q.Roll)}
}

// Deg is q in degrees, exact: QuantizeRot8 gives q again.
func (q QRot8) Deg() Rot {
	return Rot{DequantizeAngle8(q.Pitch), DequantizeAngle8(q.Yaw), DequantizeAngle8(q.Roll)}
}

// WriteQRot writes for each axis 1 bit that tells whether it is not zero, and
// then its 16 bits: 3 to 51 bits.
func (w *Writer) WriteQRot(q QRot) {
	w.writeAxis(uint64(q.Pitch), 16)
	w.writeAxis(uint64(q.Yaw), 16)
	w.writeAxis(uint64(q.Roll), 16)
}

// ReadQRot reads what WriteQRot wrote.
func (r *Reader) ReadQRot() QRot {
	q := QRot{uint16(r.readAxis(16)), uint16(r.readAxis(16)), uint16(r.readAxis(16))}
	if r.err != nil {
		return QRot{}
	}
	return q
}

// WriteQRot8 is WriteQRot with 8 bits an axis: 3 to 27 bits.
func (w *Writer) WriteQRot8(q QRot8) {
	w.writeAxis(uint64(q.Pitch), 8)
	w.writeAxis(uint64(q.Yaw), 8)
	w.writeAxis(uint64(q.Roll), 8)
}

// ReadQRot8 reads what WriteQRot8 wrote.
func (r *Reader) ReadQRot8() QRot8 {
	q := QRot8{uint8(r.readAxis(8)), uint8(r.readAxis(8)), uint8(r.readAxis(8))}
	if r.err != nil {
		return QRot8{}
	}
	return q
}

func (w *Writer) writeAxis(a uint64, n uint) {
	if a == 0 {
		w.WriteBits(0, 1)
		return
	}
	w.WriteBits(1|a<<1, n+1)
}

func (r *Reader) readAxis(n uint) uint64 {
	if !r.ReadBool() {
		return 0
	}
	a := r.ReadBits(n)
	if a == 0 {
		r.Invalid()
	}
	return a
}

// WriteQRotDelta writes each axis as the residual of order k from base, the
// short way round: 3 bits if nothing turned.
func (w *Writer) WriteQRotDelta(q, base QRot, k uint) {
	w.WriteResidual(int64(int16(q.Pitch-base.Pitch)), k)
	w.WriteResidual(int64(int16(q.Yaw-base.Yaw)), k)
	w.WriteResidual(int64(int16(q.Roll-base.Roll)), k)
}

// ReadQRotDelta reads what WriteQRotDelta wrote with the same base and k; base
// on an error.
func (r *Reader) ReadQRotDelta(base QRot, k uint) QRot {
	q := QRot{base.Pitch + r.readTurn(k), base.Yaw + r.readTurn(k), base.Roll + r.readTurn(k)}
	if r.err != nil {
		return base
	}
	return q
}

func (r *Reader) readTurn(k uint) uint16 {
	d := r.ReadResidual(k)
	if d != int64(int16(d)) { // the long way round
		r.Invalid()
	}
	return uint16(d)
}
