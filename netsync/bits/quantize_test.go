package bits_test

import (
	"math"
	mbits "math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gaitnet/gait/netsync/bits"
)

// anyFloat draws every pattern of bits, and whole numbers beside them.
var anyFloat = rapid.OneOf(
	rapid.Map(rapid.Uint64(), math.Float64frombits),
	rapid.Float64Range(-1e6, 1e6),
	rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1),
		math.MaxFloat64, math.SmallestNonzeroFloat64, math.Float64frombits(0x7ff4000000000001)}),
)

func TestFloat64KeepsEveryBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyFloat.Draw(t, "v")
		b := write(t, 9, func(w *bits.Writer) {
			w.WriteFloat64(v)
			want := 65
			if math.Float64bits(v) == 0 {
				want = 1
			}
			require.Equal(t, want, w.Bits())
		})
		r := bits.NewReader(b)
		require.Equal(t, math.Float64bits(v), math.Float64bits(r.ReadFloat64()))
		require.NoError(t, r.Finish())
	})
}

func TestZeroInTheLongFormIsInvalid(t *testing.T) {
	r := bits.NewReader([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0})
	r.ReadFloat64()
	require.ErrorIs(t, r.Err(), bits.ErrInvalid)
}

func TestFiniteRefusesNaNAndInfinityOnBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyFloat.Draw(t, "v")
		fin := !math.IsNaN(v) && !math.IsInf(v, 0)
		w := bits.NewWriter(make([]byte, 9))
		w.WriteFinite(v)
		require.Equal(t, fin, w.Err() == nil)
		w.Reset(make([]byte, 9))
		w.WriteFloat64(v)
		r := bits.NewReader(w.Bytes())
		got := r.ReadFinite()
		require.Equal(t, fin, r.Err() == nil)
		if fin {
			require.Equal(t, math.Float64bits(v), math.Float64bits(got))
		} else {
			require.Zero(t, got)
		}
	})
}

func TestExactVectorIsWholeOrZero(t *testing.T) {
	b := write(t, 30, func(w *bits.Writer) {
		w.WriteFloat64(1)
		w.WriteFloat64(math.Inf(-1))
		w.WriteFloat64(3)
	})
	r := bits.NewReader(b)
	require.Zero(t, r.ReadVec3Exact())
	require.ErrorIs(t, r.Err(), bits.ErrInvalid)

	v := bits.Vec3{1e-300, math.Copysign(0, -1), -123.456}
	r.Reset(write(t, 30, func(w *bits.Writer) { w.WriteVec3Exact(v) }))
	got := r.ReadVec3Exact()
	for i := range v {
		require.Equal(t, math.Float64bits(v[i]), math.Float64bits(got[i]), i)
	}
	require.NoError(t, r.Finish())
}

func TestNormalIsOneBitForDownAndExactElse(t *testing.T) {
	for _, c := range []struct {
		n    bits.Vec3
		cost int
	}{
		{bits.Vec3{0, 0, -1}, 1},
		{bits.Vec3{0, 0, 1}, 1 + 1 + 1 + 65},
		{bits.Vec3{math.Copysign(0, -1), 0, -1}, 1 + 65 + 1 + 65},
		{bits.Vec3{0.6, 0, -0.8}, 1 + 65 + 1 + 65},
	} {
		b := write(t, 30, func(w *bits.Writer) {
			w.WriteNormal(c.n)
			require.Equal(t, c.cost, w.Bits(), c.n)
		})
		r := bits.NewReader(b)
		got := r.ReadNormal()
		for i := range got {
			require.Equal(t, math.Float64bits(c.n[i]), math.Float64bits(got[i]), c.n)
		}
		require.NoError(t, r.Finish(), c.n)
	}
}

func TestNormalOfAnotherLengthIsRefusedOnBothEnds(t *testing.T) {
	for _, v := range []bits.Vec3{{}, {0, 0, -1.00001}, {1, 1, 0}, {0, math.NaN(), 0}, {math.MaxFloat64, 0, 0}} {
		w := bits.NewWriter(make([]byte, 30))
		w.WriteNormal(v)
		require.ErrorIs(t, w.Err(), bits.ErrRange, v)
		r := bits.NewReader(write(t, 30, func(w *bits.Writer) {
			w.WriteBool(true)
			for _, x := range v {
				w.WriteFloat64(x)
			}
		}))
		require.Equal(t, bits.Vec3{0, 0, -1}, r.ReadNormal(), v)
		require.ErrorIs(t, r.Err(), bits.ErrInvalid, v)
	}
	r := bits.NewReader(write(t, 30, func(w *bits.Writer) {
		w.WriteBool(true)
		w.WriteVec3Exact(bits.Vec3{0, 0, -1})
	}))
	r.ReadNormal()
	require.ErrorIs(t, r.Err(), bits.ErrInvalid)
}

func TestQuantisedValueIsAFixedPoint(t *testing.T) {
	scales := rapid.OneOf(rapid.SampledFrom([]float64{bits.Whole, bits.Tenths, bits.Hundredths}), rapid.Float64Range(1e-9, 1e9))
	rapid.Check(t, func(t *rapid.T) {
		s := scales.Draw(t, "scale")
		q := bits.Quantize(anyFloat.Draw(t, "v"), s)
		require.Equal(t, q, bits.Quantize(bits.Dequantize(q, s), s))
		q = rapid.Int64Range(-bits.QuantizeMax, bits.QuantizeMax).Draw(t, "q")
		require.Equal(t, q, bits.Quantize(bits.Dequantize(q, s), s))
	})
}

func TestQuantizeRoundsHalfAwayAndClamps(t *testing.T) {
	for _, c := range []struct {
		v, scale float64
		want     int64
	}{
		{2.5, 1, 3}, {-2.5, 1, -3}, {0.04, 10, 0}, {0.05, 10, 1}, {-12.345, 100, -1235}, {math.NaN(), 1, 0},
		{math.Inf(1), 1, bits.QuantizeMax}, {-1e300, 100, -bits.QuantizeMax},
	} {
		require.Equal(t, c.want, bits.Quantize(c.v, c.scale), c)
	}
	require.Equal(t, 0.3, bits.Dequantize(3, bits.Tenths)) // 3*0.1 is another number
	require.Panics(t, func() { bits.Quantize(1, 0) })
	require.Panics(t, func() { bits.Dequantize(1, math.NaN()) })
}

// part draws a part of a QVec, every width alike.
var part = rapid.Custom(func(t *rapid.T) int32 {
	v := int32(sized.Draw(t, "sized") % (bits.QVecMax + 1))
	if rapid.Bool().Draw(t, "sign") {
		return -v
	}
	return v
})

var qvecs = rapid.Custom(func(t *rapid.T) bits.QVec {
	return bits.QVec{part.Draw(t, "x"), part.Draw(t, "y"), part.Draw(t, "z")}
})

func TestQVecRoundTripsAtItsStatedCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := qvecs.Draw(t, "q")
		width := 0
		for _, x := range q {
			if x > 0 {
				width = max(width, mbits.Len32(uint32(x))+1)
			} else if x < 0 {
				width = max(width, mbits.Len32(uint32(-x-1))+1)
			}
		}
		cost := 5
		if width > 0 {
			cost = 6 + 2*width
			if q[2] != 0 {
				cost += width
			}
		}
		b := write(t, 13, func(w *bits.Writer) {
			w.WriteQVec(q)
			require.Equal(t, cost, w.Bits())
		})
		r := bits.NewReader(b)
		require.Equal(t, q, r.ReadQVec())
		require.NoError(t, r.Finish())
	})
}

func TestQuantisedVectorIsAFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]float64{bits.Whole, bits.Tenths, bits.Hundredths}).Draw(t, "scale")
		q := qvecs.Draw(t, "q")
		require.Equal(t, q, bits.QuantizeVec(q.Vec(s), s))
		v := bits.Vec3{anyFloat.Draw(t, "x"), anyFloat.Draw(t, "y"), anyFloat.Draw(t, "z")}
		once := bits.QuantizedVec(v, s)
		require.Equal(t, once, bits.QuantizedVec(once, s))
	})
}

func TestQuantizeVecClampsToItsBound(t *testing.T) {
	require.Equal(t, bits.QVec{bits.QVecMax, -bits.QVecMax, 0}, bits.QuantizeVec(bits.Vec3{1e9, math.Inf(-1), math.NaN()}, bits.Hundredths))
}

func TestQVecOutsideItsBoundIsRefused(t *testing.T) {
	for _, q := range []bits.QVec{{bits.QVecMax + 1}, {0, math.MinInt32}, {0, 0, -bits.QVecMax - 1}} {
		var w bits.Writer
		w.WriteQVec(q)
		require.ErrorIs(t, w.Err(), bits.ErrRange, q)
		w.Reset(nil)
		w.WriteQVecDelta(q, bits.QVec{}, 4)
		require.ErrorIs(t, w.Err(), bits.ErrRange, q)
	}
}

func TestQVecWrittenTooLongIsInvalid(t *testing.T) {
	for name, f := range map[string]func(w *bits.Writer){
		"width larger than needed": func(w *bits.Writer) { w.WriteBits(4, 5); w.WriteBool(false); w.WriteBits(3|3<<4, 8) },
		"zero with a width":        func(w *bits.Writer) { w.WriteBits(1, 5); w.WriteBool(false); w.WriteBits(0, 2) },
		"zero z in the long form": func(w *bits.Writer) {
			w.WriteBits(3, 5)
			w.WriteBool(true)
			w.WriteBits(3|3<<3, 9)
		},
		"part under the bound": func(w *bits.Writer) { w.WriteBits(31, 5); w.WriteBool(false); w.WriteBits(1<<30, 62) },
	} {
		r := bits.NewReader(write(t, 16, f))
		require.Zero(t, r.ReadQVec(), name)
		require.ErrorIs(t, r.Err(), bits.ErrInvalid, name)
	}
}

func TestQVecDeltaRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, base := qvecs.Draw(t, "q"), qvecs.Draw(t, "base")
		if rapid.Bool().Draw(t, "same") {
			q = base
		}
		k := rapid.UintRange(0, 20).Draw(t, "k")
		b := write(t, 64, func(w *bits.Writer) {
			w.WriteQVecDelta(q, base, k)
			require.Equal(t, q == base, w.Bits() == 1)
		})
		r := bits.NewReader(b)
		require.Equal(t, q, r.ReadQVecDelta(base, k))
		require.NoError(t, r.Finish())
	})
}

func TestQVecDeltaPastTheBoundIsInvalid(t *testing.T) {
	base := bits.QVec{bits.QVecMax, 0, 0}
	for name, d := range map[string]int64{"above": 1, "wrapped to 32 bits": 1 << 32, "no change": 0} {
		r := bits.NewReader(write(t, 32, func(w *bits.Writer) {
			w.WriteBool(true)
			w.WriteResidual(d, 4)
			w.WriteResidual(0, 4)
			w.WriteResidual(0, 4)
		}))
		require.Equal(t, base, r.ReadQVecDelta(base, 4), name)
		require.ErrorIs(t, r.Err(), bits.ErrInvalid, name)
	}
}
