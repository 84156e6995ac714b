// Package exact holds the vector arithmetic that gives equal bits on every
// target. Go may fuse x*y + z into one rounding on arm64, riscv64, s390x,
// ppc64 and with GOAMD64=v3, also through inlined calls, so the arithmetic of
// mathgl differs between them. Every product here that feeds a sum is rounded
// by an explicit conversion, which the language defines as a barrier.
//
// mathgl's types are used as they are; only its arithmetic is not.
package exact

import (
	"math"

	"github.com/go-gl/mathgl/mgl64"
)

// Vec3 is mathgl's vector of float64.
type Vec3 = mgl64.Vec3

// Add is a + b.
func Add(a, b Vec3) Vec3 { return Vec3{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }

// Sub is a - b.
func Sub(a, b Vec3) Vec3 { return Vec3{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

// Neg is -a.
func Neg(a Vec3) Vec3 { return Vec3{-a[0], -a[1], -a[2]} }

// Scale is a*s, rounded.
func Scale(a Vec3, s float64) Vec3 {
	return Vec3{float64(a[0] * s), float64(a[1] * s), float64(a[2] * s)}
}

// AddScaled is a + b*s, with the products rounded.
func AddScaled(a, b Vec3, s float64) Vec3 {
	return Vec3{a[0] + float64(b[0]*s), a[1] + float64(b[1]*s), a[2] + float64(b[2]*s)}
}

// Dot is the inner product, summed x, y, z.
func Dot(a, b Vec3) float64 {
	return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2])
}

// Dot2 is the inner product of the horizontal parts.
func Dot2(a, b Vec3) float64 { return float64(a[0]*b[0]) + float64(a[1]*b[1]) }

// Cross is the vector product.
func Cross(a, b Vec3) Vec3 {
	return Vec3{
		float64(a[1]*b[2]) - float64(a[2]*b[1]),
		float64(a[2]*b[0]) - float64(a[0]*b[2]),
		float64(a[0]*b[1]) - float64(a[1]*b[0]),
	}
}

// LenSq is |a| squared.
func LenSq(a Vec3) float64 { return Dot(a, a) }

// Len is |a|. math.Sqrt is correctly rounded everywhere.
func Len(a Vec3) float64 { return math.Sqrt(Dot(a, a)) }

// Len2 is the length of the horizontal part.
func Len2(a Vec3) float64 { return math.Sqrt(Dot2(a, a)) }

// DistSq is |a - b| squared.
func DistSq(a, b Vec3) float64 { d := Sub(a, b); return Dot(d, d) }

// Dist is |a - b|.
func Dist(a, b Vec3) float64 { return math.Sqrt(DistSq(a, b)) }

// SafeNormal is a unit vector along a, or zero where |a|² is under 1e-8
// (mathgl's Normalize gives NaN for a zero vector).
func SafeNormal(a Vec3) Vec3 {
	sq := Dot(a, a)
	if !(sq > 1e-8) {
		return Vec3{}
	}
	l := math.Sqrt(sq)
	return Vec3{a[0] / l, a[1] / l, a[2] / l}
}

// SafeNormal2 is SafeNormal of the horizontal part.
func SafeNormal2(a Vec3) Vec3 { return SafeNormal(Vec3{a[0], a[1], 0}) }

// ClampLen is a, shortened to at most max.
func ClampLen(a Vec3, max float64) Vec3 {
	if !(max > 0) {
		return Vec3{}
	}
	sq := Dot(a, a)
	if sq <= float64(max*max) {
		return a
	}
	return Scale(a, max/math.Sqrt(sq))
}

// Lerp is a + (b-a)*t.
func Lerp(a, b Vec3, t float64) Vec3 { return AddScaled(a, Sub(b, a), t) }

// RejectOn removes from a its part along the unit vector n.
func RejectOn(a, n Vec3) Vec3 { return AddScaled(a, n, -Dot(a, n)) }

// Finite tells whether no part is NaN or infinite.
func Finite(a Vec3) bool {
	for _, v := range a {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// Round rounds half away from zero to a whole number. Adding a half would be
// wrong just under one half and for odd numbers past 2^52; the difference to
// the whole part is exact.
func Round(x float64) float64 {
	t := math.Trunc(x)
	if math.Abs(x-t) >= 0.5 {
		t += math.Copysign(1, x)
	}
	return t
}
