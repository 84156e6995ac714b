package bits_test

import (
	"math"
	mbits "math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gaitnet/gait/netsync/bits"
)

// sized draws numbers of every bit length alike, with the ends of the range.
var sized = rapid.Custom(func(t *rapid.T) uint64 {
	n := rapid.UintRange(0, 64).Draw(t, "len")
	v := rapid.Uint64().Draw(t, "raw") >> (64 - n)
	return rapid.SampledFrom([]uint64{v, v, v, 1<<n - 1, 0, math.MaxUint64, math.MaxUint64 - 1}).Draw(t, "v")
})

func TestUintRoundTripsAtItsStatedCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, k := sized.Draw(t, "v"), rapid.UintRange(0, 63).Draw(t, "k")
		lead := rapid.UintRange(0, 7).Draw(t, "lead")
		var n int
		b := write(t, 32, func(w *bits.Writer) {
			w.WriteBits(math.MaxUint64, lead)
			w.WriteUint(v, k)
			n = w.Bits() - int(lead)
		})
		log := 64
		if u := v>>k + 1; u != 0 {
			log = mbits.Len64(u) - 1
		}
		require.Equal(t, 2*log+1+int(k), n)
		r := bits.NewReader(b)
		r.ReadBits(lead)
		require.Equal(t, v, r.ReadUint(k))
		require.NoError(t, r.Finish())
	})
}

func TestUintPastSixtyFourBitsIsInvalid(t *testing.T) {
	for k := range uint(64) {
		b := write(t, 32, func(w *bits.Writer) {
			w.WriteBits(0, 64-k)
			w.WriteBits(1, 1)
			w.WriteBits(1, 64-k)
			w.WriteBits(0, k)
		})
		r := bits.NewReader(b)
		require.Zero(t, r.ReadUint(k), k)
		require.ErrorIs(t, r.Err(), bits.ErrInvalid, k)
	}
	for k := uint(1); k < 64; k++ { // one zero more, and nothing else set
		r := bits.NewReader(write(t, 32, func(w *bits.Writer) {
			w.WriteBits(0, 65-k)
			w.WriteBits(1, 64)
			w.WriteBits(0, 64)
		}))
		r.ReadUint(k)
		require.ErrorIs(t, r.Err(), bits.ErrInvalid, k)
	}
	r := bits.NewReader(make([]byte, 20))
	r.ReadUint(0)
	require.ErrorIs(t, r.Err(), bits.ErrInvalid)
	r.Reset(make([]byte, 7))
	r.ReadUint(0)
	require.ErrorIs(t, r.Err(), bits.ErrShort)
}

func TestIntRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, k := int64(sized.Draw(t, "v")), rapid.UintRange(0, 63).Draw(t, "k")
		b := write(t, 32, func(w *bits.Writer) { w.WriteInt(v, k) })
		r := bits.NewReader(b)
		require.Equal(t, v, r.ReadInt(k))
		require.NoError(t, r.Finish())
	})
}

func TestGroupsRoundTripAtTheirStatedCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, g := sized.Draw(t, "v"), rapid.UintRange(1, 32).Draw(t, "g")
		var n int
		b := write(t, 32, func(w *bits.Writer) {
			w.WriteGroups(v, g)
			n = w.Bits()
		})
		groups := max(1, (mbits.Len64(v)+int(g)-1)/int(g))
		require.Equal(t, groups*int(g+1), n)
		r := bits.NewReader(b)
		require.Equal(t, v, r.ReadGroups(g))
		require.NoError(t, r.Finish())
	})
}

func TestGroupsWrittenTooLongAreInvalid(t *testing.T) {
	for name, b := range map[string][]byte{
		"a zero group behind another": {0x81, 0x00},
		"more than 64 bits":           {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02},
		"zero groups for ever":        {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
		"without end":                 {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x01},
	} {
		r := bits.NewReader(b)
		require.Zero(t, r.ReadGroups(7), name)
		require.ErrorIs(t, r.Err(), bits.ErrInvalid, name)
	}
}

func TestRangeRoundTripsAndRefusesOutside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo, hi := int64(sized.Draw(t, "lo")), int64(sized.Draw(t, "hi"))
		if hi < lo {
			lo, hi = hi, lo
		}
		v := rapid.Int64Range(lo, hi).Draw(t, "v")
		b := write(t, 8, func(w *bits.Writer) {
			w.WriteRange(v, lo, hi)
			require.Equal(t, mbits.Len64(uint64(hi)-uint64(lo)), w.Bits())
		})
		r := bits.NewReader(b)
		require.Equal(t, v, r.ReadRange(lo, hi))
		require.NoError(t, r.Finish())
	})
	r := bits.NewReader([]byte{7})
	require.Equal(t, int64(5), r.ReadRange(5, 10))
	require.ErrorIs(t, r.Err(), bits.ErrInvalid)
}

func TestValueOutsideItsRangeIsRefusedByTheWriter(t *testing.T) {
	w := bits.NewWriter(make([]byte, 8))
	w.WriteRange(11, 5, 10)
	require.ErrorIs(t, w.Err(), bits.ErrRange)
	require.Nil(t, w.Bytes())
	w.Reset(make([]byte, 8))
	w.WriteBlob([]byte{1, 2, 3}, 2)
	require.ErrorIs(t, w.Err(), bits.ErrRange)
}

func TestBlobLongerThanTheInputAllocatesNothing(t *testing.T) {
	b := write(t, 8, func(w *bits.Writer) { w.WriteRange(1<<30, 0, 1<<30) })
	r := bits.NewReader(b)
	require.Nil(t, r.ReadBlob(nil, 1<<30))
	require.ErrorIs(t, r.Err(), bits.ErrShort)
	r.Reset([]byte{3, 1, 2}) // three bytes promised, two there
	require.Nil(t, r.ReadBlob(nil, 255))
	require.ErrorIs(t, r.Err(), bits.ErrShort)
}

func TestDeltaRoundTripsBetweenAnyTwoValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, base := int64(sized.Draw(t, "v")), int64(sized.Draw(t, "base"))
		k := rapid.UintRange(0, 63).Draw(t, "k")
		b := write(t, 32, func(w *bits.Writer) { w.WriteDelta(v, base, k) })
		r := bits.NewReader(b)
		require.Equal(t, v, r.ReadDelta(base, k))
		require.NoError(t, r.Finish())
	})
}

func TestResidualCosts(t *testing.T) {
	for d, want := range map[int64]int{0: 1, -1: 4, 2: 4, -3: 6, 6: 6, -7: 8} {
		var w bits.Writer
		w.WriteResidual(d, 2)
		require.Equal(t, want, w.Bits(), d)
	}
}

func TestResidualThatNoValueHasIsInvalid(t *testing.T) {
	b := write(t, 32, func(w *bits.Writer) {
		w.WriteBool(true)
		w.WriteUint(math.MaxUint64, 3)
	})
	r := bits.NewReader(b)
	require.Zero(t, r.ReadResidual(3))
	require.ErrorIs(t, r.Err(), bits.ErrInvalid)
}
