package exact

import (
	"hash/fnv"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSineAndCosineAgainstMath(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := rapid.Float64Range(-1080, 1080).Draw(r, "deg")
		s, c := SinCosDeg(d)
		// math's argument is rounded to radians, up to 19 of them.
		require.InDelta(r, math.Sin(NormalizeDeg(d)*math.Pi/180), s, 1e-15)
		require.InDelta(r, math.Cos(NormalizeDeg(d)*math.Pi/180), c, 1e-15)
		require.InDelta(r, 1, float64(s*s)+float64(c*c), 1e-15)
	})
}

func TestMultiplesOf90AreExact(t *testing.T) {
	want := [4][2]float64{{0, 1}, {1, 0}, {0, -1}, {-1, 0}}
	for k := -400; k <= 400; k++ {
		s, c := SinCosDeg(float64(k * 90))
		require.Equal(t, want[k&3], [2]float64{s, c}, k*90)
	}
}

func TestArcTangentAgainstMath(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		y, x := rapid.Float64Range(-1e6, 1e6).Draw(r, "y"), rapid.Float64Range(-1e6, 1e6).Draw(r, "x")
		a := Atan2Deg(y, x)
		require.LessOrEqual(r, math.Abs(math.Remainder(math.Atan2(y, x)*180/math.Pi-a, 360)), 1e-12)
		require.True(r, a > -180 && a <= 180, a)
	})
}

func TestArcTangentAtItsEdges(t *testing.T) {
	for _, c := range []struct{ y, x, want float64 }{
		{0, 0, 0}, {0, 1, 0}, {1, 0, 90}, {0, -1, 180}, {-1, 0, -90}, {1, 1, 45}, {-1, -1, -135},
		{math.Copysign(0, -1), -1, 180}, {-1e-300, -1, 180}, {1e-300, -1, 180}, {1e300, 1e-300, 90},
		{math.NaN(), 1, 0}, {1, math.Inf(1), 0}, {math.Inf(-1), 1, 0},
	} {
		require.InDelta(t, c.want, Atan2Deg(c.y, c.x), 1e-13, "%v", c)
	}
}

func TestArcTangentUndoesSineAndCosine(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := rapid.Float64Range(-179.999999, 180).Draw(r, "deg")
		s, c := SinCosDeg(d)
		require.InDelta(r, d, Atan2Deg(s, c), 1e-12)
	})
}

func TestNormalizedAnglesLieInTheirRange(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a := rapid.Float64().Draw(r, "a")
		n := NormalizeDeg(a)
		require.True(r, n > -180 && n <= 180, n)
		require.Equal(r, n, NormalizeDeg(n))
		if math.Abs(a) < 1e6 {
			require.InDelta(r, 0, math.Remainder(a-n, 360), 1e-9)
		}
	})
	for a, want := range map[float64]float64{-180: 180, 180: 180, 540: 180, -540: 180, 360: 0, 181: -179, -181: 179} {
		require.Equal(t, want, NormalizeDeg(a), a)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		require.Zero(t, NormalizeDeg(bad))
	}
}

func TestRoundIsHalfAwayFromZero(t *testing.T) {
	for _, x := range []float64{0, math.Copysign(0, -1), 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, -0.49999999999999994,
		1<<52 + 1, 1<<53 - 1, -(1<<52 + 1), 4503599627370495.5, 1e300} {
		require.Equal(t, math.Float64bits(math.Round(x)), math.Float64bits(Round(x)), x)
	}
	rapid.Check(t, func(r *rapid.T) {
		x := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-10, 10)).Draw(r, "x")
		require.Equal(r, math.Float64bits(math.Round(x)), math.Float64bits(Round(x)))
	})
}

func genVec() *rapid.Generator[Vec3] {
	return rapid.Custom(func(r *rapid.T) Vec3 {
		var v Vec3
		for i := range v {
			// Parts whose products vanish would only test tolerances.
			if v[i] = rapid.Float64Range(-1e4, 1e4).Draw(r, "v"); math.Abs(v[i]) < 1e-6 {
				v[i] = 0
			}
		}
		return v
	})
}

// Dot must be rounded after each operation, which arithmetic on exact numbers
// can say without floats: a fused product would give other bits.
func TestDotIsRoundedAfterEachOperation(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a, b := genVec().Draw(r, "a"), genVec().Draw(r, "b")
		op := func() *big.Float { return new(big.Float).SetPrec(53).SetMode(big.ToNearestEven) }
		sum := op().Mul(big.NewFloat(a[0]), big.NewFloat(b[0]))
		for i := 1; i < 3; i++ {
			sum = op().Add(sum, op().Mul(big.NewFloat(a[i]), big.NewFloat(b[i])))
		}
		want, _ := sum.Float64()
		require.Equal(r, want, Dot(a, b))
	})
}

func TestVectorRules(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a, b := genVec().Draw(r, "a"), genVec().Draw(r, "b")
		m := rapid.Float64Range(1e-3, 2e4).Draw(r, "m")
		require.InDelta(r, 0, Dot(Cross(a, b), a), 1e-16*Len(a)*Len(a)*Len(b)*8)
		if n := SafeNormal(a); Len(a) > 1e-3 {
			require.InDelta(r, 1, Len(n), 1e-15)
			require.InDelta(r, 0, Dot(RejectOn(b, n), n), 1e-15*Len(b)*4)
		}
		require.LessOrEqual(r, Len(ClampLen(a, m)), m*(1+1e-15))
		if Len(a) < m*(1-1e-12) {
			require.Equal(r, a, ClampLen(a, m))
		}
		require.Equal(r, a, Lerp(a, b, 0))
		require.Equal(r, Dist(a, b), Dist(b, a))
		require.Equal(r, Add(a, Neg(b)), Sub(a, b))
		require.InDelta(r, Len(a), Len(RotateYaw(a, m)), 1e-11)
		require.Equal(r, a, RotateYaw(a, 0))
	})
	require.Equal(t, Vec3{}, SafeNormal(Vec3{}))
	require.Equal(t, Vec3{}, SafeNormal(Vec3{math.NaN(), 0, 0}))
	require.Equal(t, Vec3{}, ClampLen(Vec3{1, 2, 3}, math.NaN()))
	require.Equal(t, Vec3{0, 1, 5}, RotateYaw(Vec3{1, 0, 5}, 90))
	require.True(t, Finite(Vec3{1, 2, 3}))
	require.False(t, Finite(Vec3{1, math.Inf(1), 3}))
	require.False(t, Finite(Vec3{1, 2, math.NaN()}))
}

// The bits that everything downstream agrees on, over many inputs: equal on
// every target, so run it on each.
func TestBitsArePinned(t *testing.T) {
	h := fnv.New64a()
	put := func(vs ...float64) {
		for _, v := range vs {
			b := math.Float64bits(v)
			var buf [8]byte
			for i := range buf {
				buf[i] = byte(b >> (8 * i))
			}
			_, _ = h.Write(buf[:])
		}
	}
	x := uint64(1)
	next := func() float64 { // xorshift, to ±2^20 with 43 bits of fraction
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		return float64(int64(x)) / (1 << 43)
	}
	for range 20000 {
		a, b := Vec3{next(), next(), next()}, Vec3{next(), next(), next()}
		s, c := SinCosDeg(a[0])
		put(s, c, NormalizeDeg(a[1]), Atan2Deg(a[1], a[2]), Round(a[0]), Dot(a, b), Dist(a, b))
		for _, v := range []Vec3{Cross(a, b), SafeNormal(a), SafeNormal2(b), ClampLen(a, math.Abs(b[0])), Lerp(a, b, 0.3), RejectOn(a, SafeNormal(b)), RotateYaw(a, b[1])} {
			put(v[0], v[1], v[2])
		}
	}
	require.Equal(t, uint64(0x95b247c1e6821551), h.Sum64())
}
