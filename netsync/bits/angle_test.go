package bits_test

import (
	"hash/crc32"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

func TestEveryAngleIsAFixedPoint(t *testing.T) {
	for a := range 1 << 16 {
		d := bits.DequantizeAngle(uint16(a))
		if !(d > -180 && d <= 180) || bits.QuantizeAngle(d) != uint16(a) {
			t.Fatal(a, d, bits.QuantizeAngle(d))
		}
	}
	for a := range 1 << 8 {
		d := bits.DequantizeAngle8(uint8(a))
		if !(d > -180 && d <= 180) || bits.QuantizeAngle8(d) != uint8(a) {
			t.Fatal(a, d, bits.QuantizeAngle8(d))
		}
	}
}

func TestAnglesWrapAndRoundToTheNearest(t *testing.T) {
	for _, c := range []struct {
		deg   float64
		short uint16
		b     uint8
	}{
		{0, 0, 0}, {90, 1 << 14, 1 << 6}, {-90, 3 << 14, 3 << 6}, {180, 1 << 15, 1 << 7}, {-180, 1 << 15, 1 << 7},
		{360, 0, 0}, {-450, 3 << 14, 3 << 6}, {359.999, 0, 0}, {-0.001, 0, 0}, {0.7, 127, 0}, {0.71, 129, 1},
		{-45.0 / 16384, 0, 0}, {45.0 / 16384, 1, 0}, // half a short: up, on both sides of zero
		{-1e-300, 0, 0}, {math.NaN(), 0, 0}, {math.Inf(1), 0, 0},
	} {
		require.Equal(t, c.short, bits.QuantizeAngle(c.deg), c.deg)
		require.Equal(t, c.b, bits.QuantizeAngle8(c.deg), c.deg)
	}
}

// Two definitions of a short would make the ends disagree by one step.
func TestAnglesAgreeWithTheComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		deg := rapid.OneOf(anyFloat, rapid.Float64Range(-720, 720)).Draw(t, "deg")
		q := bits.QuantizeAngle(deg)
		require.Equal(t, components.PackAngle(deg), q)
		require.Equal(t, components.UnpackAngle(q), bits.DequantizeAngle(q))
	})
	p := components.PackedRotator{Pitch: 1, Yaw: 2, Roll: 3}
	require.Equal(t, p.Unpack(), components.Rotator(bits.QRot(p).Deg()))
}

var short = rapid.OneOf(rapid.Just(uint16(0)), rapid.Uint16())

func TestRotationsRoundTripAtTheirStatedCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := bits.QRot{Pitch: short.Draw(t, "p"), Yaw: short.Draw(t, "y"), Roll: short.Draw(t, "r")}
		q8 := bits.QRot8{Pitch: uint8(q.Pitch), Yaw: uint8(q.Yaw), Roll: uint8(q.Roll)}
		set := func(v ...uint64) (n int) {
			for _, x := range v {
				if x != 0 {
					n++
				}
			}
			return n
		}
		n, n8 := 0, 0
		b := write(t, 16, func(w *bits.Writer) {
			w.WriteQRot(q)
			n = w.Bits()
			w.WriteQRot8(q8)
			n8 = w.Bits() - n
		})
		require.Equal(t, 3+16*set(uint64(q.Pitch), uint64(q.Yaw), uint64(q.Roll)), n)
		require.Equal(t, 3+8*set(uint64(q8.Pitch), uint64(q8.Yaw), uint64(q8.Roll)), n8)
		r := bits.NewReader(b)
		require.Equal(t, q, r.ReadQRot())
		require.Equal(t, q8, r.ReadQRot8())
		require.NoError(t, r.Finish())
		require.Equal(t, q, bits.QuantizeRot(q.Deg()))
		require.Equal(t, q8, bits.QuantizeRot8(q8.Deg()))
	})
}

func TestRotationDeltaRoundTripsAcrossTheWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := bits.QRot{Pitch: short.Draw(t, "p"), Yaw: short.Draw(t, "y"), Roll: short.Draw(t, "r")}
		base := bits.QRot{Pitch: short.Draw(t, "bp"), Yaw: short.Draw(t, "by"), Roll: short.Draw(t, "br")}
		b := write(t, 64, func(w *bits.Writer) { w.WriteQRotDelta(q, base, 6) })
		r := bits.NewReader(b)
		require.Equal(t, q, r.ReadQRotDelta(base, 6))
		require.NoError(t, r.Finish())
	})
	var w bits.Writer
	w.WriteQRotDelta(bits.QRot{Yaw: 2}, bits.QRot{Yaw: 65534}, 6)
	require.Equal(t, 1+(1+7)+1, w.Bits())
}

func TestAxisPresentButZeroIsInvalid(t *testing.T) {
	r := bits.NewReader(write(t, 4, func(w *bits.Writer) { w.WriteBits(1, 19) }))
	require.Zero(t, r.ReadQRot())
	require.ErrorIs(t, r.Err(), bits.ErrInvalid)
}

func TestTurnTheLongWayRoundIsInvalid(t *testing.T) {
	r := bits.NewReader(write(t, 16, func(w *bits.Writer) {
		w.WriteResidual(1<<15, 6)
		w.WriteBits(0, 2)
	}))
	require.Equal(t, bits.QRot{Yaw: 7}, r.ReadQRotDelta(bits.QRot{Yaw: 7}, 6))
	require.ErrorIs(t, r.Err(), bits.ErrInvalid)
}

func TestSequencesCompareAcrossTheWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Uint32().Draw(t, "s")
		d := rapid.IntRange(-(1<<15-1), 1<<15-1).Draw(t, "d")
		a := bits.Seq16(s)
		require.Equal(t, d, a.Add(d).Diff(a))
		require.Equal(t, d < 0, a.Add(d).Less(a))
		e := rapid.IntRange(-(1<<31-1), 1<<31-1).Draw(t, "e")
		b := bits.Seq32(s)
		require.Equal(t, e, b.Add(e).Diff(b))
		require.Equal(t, e < 0, b.Add(e).Less(b))
	})
	require.Equal(t, bits.Seq16(0), bits.Seq16(65535).Next())
	require.Equal(t, bits.Seq32(0), bits.Seq32(math.MaxUint32).Next())
}

func TestHalfARingApartHasNoOrder(t *testing.T) {
	require.False(t, bits.Seq16(5).Less(5+1<<15))
	require.False(t, bits.Seq16(5+1<<15).Less(5))
	require.False(t, bits.Seq32(5).Less(5+1<<31))
	require.False(t, bits.Seq32(5+1<<31).Less(5))
}

func TestExtendFindsTheNearestCounter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.UintRange(1, 62).Draw(t, "n")
		ref := rapid.Int64Range(0, 1<<62-1).Draw(t, "ref")
		d := rapid.Int64Range(1-1<<(n-1), 1<<(n-1)).Draw(t, "d")
		v := ref + d
		require.Equal(t, v, bits.Extend(ref, uint64(v)&(1<<n-1), n))
	})
	require.Equal(t, int64(-1), bits.Extend(3, 0xffff, 16))
	require.Panics(t, func() { bits.Extend(0, 0, 64) })
}

func TestCRCFindsDamageAndForeignSalt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "data")
		salt := rapid.Uint32().Draw(t, "salt")
		sealed := bits.SealCRC(append([]byte(nil), data...), salt)
		require.Len(t, sealed, len(data)+bits.CRCBytes)
		got, ok := bits.CheckCRC(sealed, salt)
		require.True(t, ok)
		require.Equal(t, string(data), string(got))
		_, ok = bits.CheckCRC(sealed, salt^rapid.Uint32Range(1, math.MaxUint32).Draw(t, "other"))
		require.False(t, ok)
		sealed[rapid.IntRange(0, len(sealed)-1).Draw(t, "byte")] ^= 1 << rapid.UintRange(0, 7).Draw(t, "bit")
		_, ok = bits.CheckCRC(sealed, salt)
		require.False(t, ok)
	})
}

func TestCRCIsCastagnoliAndShortInputFails(t *testing.T) {
	sealed := bits.SealCRC([]byte("123456789"), 0)
	require.Equal(t, []byte{0x83, 0x92, 0x06, 0xe3}, sealed[9:])
	require.Equal(t, uint32(0xe3069283), crc32.Checksum([]byte("123456789"), crc32.MakeTable(crc32.Castagnoli)))
	_, ok := bits.CheckCRC([]byte{0, 0, 0}, 0)
	require.False(t, ok)
}
