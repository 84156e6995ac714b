package exact

import "math"

// Sine, cosine and arc tangent by range reduction and a polynomial whose
// every product is rounded. math.Sin and friends are compiled with fusion on
// some targets, so their bits differ; these do not. The error stays below
// 1e-15 for the sine and the cosine and 1e-12 degrees for the arc tangent
// (tested against math).

const degToRad = math.Pi / 180

// NormalizeDeg maps an angle in degrees to (-180, 180]. NaN and infinities
// give 0.
func NormalizeDeg(a float64) float64 {
	if a > -180 && a <= 180 {
		return a
	}
	if a-a != 0 {
		return 0
	}
	a -= float64(360 * math.Floor(a/360))
	if a > 180 {
		a -= 360
	}
	if a <= -180 || a > 180 { // only after rounding at the border
		return 180
	}
	return a
}

// SinCosDeg is the sine and cosine of an angle in degrees. Multiples of 90
// are exact.
func SinCosDeg(deg float64) (sin, cos float64) {
	deg = NormalizeDeg(deg)
	q := math.Floor((deg + 45) / 90)
	x := float64((deg - float64(q*90)) * degToRad) // within ±pi/4
	x2 := float64(x * x)
	// Taylor to x^17 and x^16: the next terms are below 2e-18 at pi/4.
	s := 1.0 / 355687428096000
	for _, c := range [...]float64{-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1} {
		s = float64(s*x2) + c
	}
	s = float64(s * x)
	k := 1.0 / 20922789888000
	for _, c := range [...]float64{-1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -1.0 / 2, 1} {
		k = float64(k*x2) + c
	}
	switch int(q) & 3 {
	case 0:
		return s, k
	case 1:
		return k, -s
	case 2:
		return -s, -k
	default:
		return -k, s
	}
}

// Atan2Deg is the angle of (x, y) in degrees, (-180, 180]; 0 for (0, 0) and
// for anything that is not finite.
func Atan2Deg(y, x float64) float64 {
	if y-y != 0 || x-x != 0 || (x == 0 && y == 0) {
		return 0
	}
	ax, ay := math.Abs(x), math.Abs(y)
	swap := ay > ax
	if swap {
		ax, ay = ay, ax
	}
	t := ay / ax // 0..1
	// Two halvings bring t under tan(pi/16) ~ 0.199.
	n := 0
	for ; n < 2; n++ {
		t = t / (1 + math.Sqrt(1+float64(t*t)))
	}
	t2 := float64(t * t)
	p := 1.0 / 21
	for _, c := range [...]float64{-1.0 / 19, 1.0 / 17, -1.0 / 15, 1.0 / 13, -1.0 / 11, 1.0 / 9, -1.0 / 7, 1.0 / 5, -1.0 / 3, 1} {
		p = float64(p*t2) + c
	}
	a := float64(float64(p*t) * (4 * 180 / math.Pi))
	if swap {
		a = 90 - a
	}
	if x < 0 {
		a = 180 - a
	}
	if y < 0 && a != 180 { // just under the negative x axis it rounds to 180
		return -a
	}
	return a
}

// RotateYaw turns v about the vertical by deg degrees.
func RotateYaw(v Vec3, deg float64) Vec3 {
	if deg == 0 {
		return v
	}
	s, c := SinCosDeg(deg)
	return Vec3{
		float64(v[0]*c) - float64(v[1]*s),
		float64(v[0]*s) + float64(v[1]*c),
		v[2],
	}
}
