package components

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCommonRatesHaveWholeTicks(t *testing.T) {
	for _, hz := range []int64{20, 25, 30, 50, 60, 75, 90, 120, 128, 144, 240} {
		require.Zero(t, TicksPerSecond%hz, hz)
	}
	require.Less(t, StampResetPeriod+Second/8, Ticks(1)<<StampBits)
}

func TestTicksOfRoundsDown(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3e9, 3e9)).Draw(r, "ns")
		want := new(big.Int).Mul(big.NewInt(d), big.NewInt(TicksPerSecond))
		want.Div(want, big.NewInt(1e9)) // Euclidean, which is down for a positive divisor
		require.Equal(r, want.Int64(), int64(TicksOf(time.Duration(d))))
	})
}

func TestDurationRoundsTowardsZero(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := rapid.Int64Range(-1<<48, 1<<48).Draw(r, "ticks")
		want := new(big.Int).Mul(big.NewInt(x), big.NewInt(1e9))
		want.Quo(want, big.NewInt(TicksPerSecond))
		require.Equal(r, want.Int64(), int64(Ticks(x).Duration()))
	})
}

func TestSecondsAndBack(t *testing.T) {
	require.Equal(t, 0.3, (3 * Second / 10).Seconds())
	rapid.Check(t, func(r *rapid.T) {
		x := Ticks(rapid.Int64Range(-TicksPerSecond*1e9, TicksPerSecond*1e9).Draw(r, "ticks"))
		require.Equal(r, x, TicksFromSeconds(x.Seconds()))
	})
}

func TestTicksFromSecondsIsTheNearest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.Float64Range(-1e6, 1e6).Draw(r, "s")
		require.InDelta(r, s*TicksPerSecond, float64(TicksFromSeconds(s)), 0.5+1e-5)
	})
	for s, want := range map[float64]Ticks{math.Inf(1): 1e9 * Second, math.Inf(-1): -1e9 * Second, 1e300: 1e9 * Second} {
		require.Equal(t, want, TicksFromSeconds(s))
	}
	require.Zero(t, TicksFromSeconds(math.NaN()))
}

func TestPackedAnglesAreFixedPoints(t *testing.T) {
	for a := range 1 << 16 {
		d := UnpackAngle(uint16(a))
		if PackAngle(d) != uint16(a) || d <= -180 || d > 180 {
			t.Fatalf("%d is %v and packs to %d", a, d, PackAngle(d))
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		d := rapid.Float64Range(-1e4, 1e4).Draw(r, "deg")
		e := math.Remainder(UnpackAngle(PackAngle(d))-d, 360)
		require.LessOrEqual(r, math.Abs(e), 180.0/65536+1e-9)
	})
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		require.Zero(t, PackAngle(bad))
	}
}
