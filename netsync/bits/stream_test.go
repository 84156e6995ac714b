package bits_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gaitnet/gait/netsync/bits"
)

// write runs f on a Writer over size bytes and gives what it wrote.
func write(t require.TestingT, size int, f func(w *bits.Writer)) []byte {
	w := bits.NewWriter(make([]byte, size))
	f(&w)
	require.NoError(t, w.Err())
	return w.Bytes()
}

func TestBitOrderIsLowestFirst(t *testing.T) {
	b := write(t, 4, func(w *bits.Writer) {
		w.WriteBool(true)
		w.WriteBits(0b0110, 4)
		w.WriteBits(0x1ff, 9)
	})
	require.Equal(t, []byte{0b111_0110_1, 0b00_111111}, b)
}

// A naive stream of single bits is the model for the word-wise one.
func TestStreamEqualsBitByBitModel(t *testing.T) {
	type field struct {
		v uint64
		n uint
	}
	gen := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) field {
		return field{rapid.Uint64().Draw(t, "v"), rapid.UintRange(0, 64).Draw(t, "n")}
	}), 0, 40)
	rapid.Check(t, func(t *rapid.T) {
		fields := gen.Draw(t, "fields")
		var model []byte
		total := 0
		for _, f := range fields {
			for i := range f.n {
				if total&7 == 0 {
					model = append(model, 0)
				}
				model[total>>3] |= byte(f.v>>i&1) << (total & 7)
				total++
			}
		}
		buf := make([]byte, len(model)+rapid.IntRange(0, 9).Draw(t, "spare"))
		for i := range buf {
			buf[i] = 0xa5
		}
		w := bits.NewWriter(buf)
		for _, f := range fields {
			w.WriteBits(f.v, f.n)
		}
		require.NoError(t, w.Err())
		require.Equal(t, total, w.Bits())
		require.Equal(t, string(model), string(w.Bytes()))
		r := bits.NewReader(w.Bytes())
		for _, f := range fields {
			require.Equal(t, f.v<<(64-f.n)>>(64-f.n), r.ReadBits(f.n))
		}
		require.NoError(t, r.Finish())
	})
}

func TestOverflowSticksCountsAndStaysInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		back := make([]byte, 40)
		for i := range back {
			back[i] = 0x5a
		}
		size := rapid.IntRange(0, 20).Draw(t, "size")
		w := bits.NewWriter(back[:size])
		total := 0
		for total <= size*8 {
			n := rapid.UintRange(1, 64).Draw(t, "n")
			w.WriteBits(math.MaxUint64, n)
			total += int(n)
		}
		require.ErrorIs(t, w.Err(), bits.ErrOverflow)
		w.WriteBytes([]byte{0, 0})
		require.Equal(t, total+16, w.Bits())
		require.Nil(t, w.Bytes())
		require.Zero(t, w.Room())
		for _, b := range back[size:] {
			require.Equal(t, byte(0x5a), b)
		}
	})
}

func TestNilWriterMeasures(t *testing.T) {
	var w bits.Writer
	w.WriteUint(1000, 3)
	require.Equal(t, 2*6+1+3, w.Bits())
}

func TestRollbackUndoesAPartlyWrittenMessage(t *testing.T) {
	w := bits.NewWriter(make([]byte, 2))
	w.WriteBits(0b101, 3)
	m := w.Mark()
	w.WriteRange(9, 0, 8)
	w.WriteBits(math.MaxUint64, 64)
	require.ErrorIs(t, w.Err(), bits.ErrRange)
	w.Rollback(m)
	require.NoError(t, w.Err())
	require.Equal(t, []byte{0b101}, w.Bytes())
	w.WriteBits(0b11, 2)
	w.Rollback(m)
	require.Equal(t, []byte{0b101}, w.Bytes())
}

func TestRollbackAheadPanics(t *testing.T) {
	w := bits.NewWriter(make([]byte, 2))
	w.WriteBits(0, 5)
	m := w.Mark()
	w.Reset(make([]byte, 2))
	require.Panics(t, func() { w.Rollback(m) })
}

func TestPatchReplacesOnlyItsBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pre, n, post := rapid.UintRange(0, 64).Draw(t, "pre"), rapid.UintRange(0, 64).Draw(t, "n"), rapid.UintRange(0, 64).Draw(t, "post")
		v := rapid.Uint64().Draw(t, "v")
		fill := rapid.Uint64().Draw(t, "fill")
		build := func(first uint64, patch bool) []byte {
			return write(t, 24, func(w *bits.Writer) {
				w.WriteBits(fill, pre)
				m := w.Mark()
				w.WriteBits(first, n)
				w.WriteBits(fill, post)
				if patch {
					w.PatchBits(m, v, n)
				}
			})
		}
		require.Equal(t, build(v, false), build(^v, true))
	})
}

func TestReadPastTheEndGivesZeroAndSticks(t *testing.T) {
	r := bits.NewReader([]byte{0xff})
	require.Equal(t, uint64(0x1f), r.ReadBits(5))
	require.Zero(t, r.ReadBits(4))
	require.ErrorIs(t, r.Err(), bits.ErrShort)
	require.Zero(t, r.Remaining())
	require.Zero(t, r.ReadBits(1))
	r.Invalid()
	require.ErrorIs(t, r.Err(), bits.ErrShort)
}

func TestSubReaderCannotLeaveItsPart(t *testing.T) {
	r := bits.NewReader([]byte{0xff, 0xff, 0xff})
	r.ReadBits(3)
	s := r.Sub(6)
	require.Equal(t, 15, r.Remaining())
	require.Equal(t, 6, s.Remaining())
	require.Zero(t, s.ReadBits(7))
	require.ErrorIs(t, s.Err(), bits.ErrShort)
	require.NoError(t, r.Err())
	require.Equal(t, uint64(0x7fff), r.ReadBits(15))
}

func TestSubReaderOfTooMuchFailsBoth(t *testing.T) {
	r := bits.NewReader([]byte{0xff})
	s := r.Sub(9)
	require.ErrorIs(t, r.Err(), bits.ErrShort)
	require.ErrorIs(t, s.Err(), bits.ErrShort)
	r.Reset([]byte{0xff})
	r.Sub(-1)
	require.ErrorIs(t, r.Err(), bits.ErrInvalid)
}

func TestFinishRefusesWhatIsNoPadding(t *testing.T) {
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"zero padding": {[]byte{0x07}, nil},
		"a set bit":    {[]byte{0x87}, bits.ErrInvalid},
		"a whole byte": {[]byte{0x07, 0}, bits.ErrInvalid},
		"too short":    {nil, bits.ErrShort},
	} {
		r := bits.NewReader(c.b)
		r.ReadBits(3)
		require.Equal(t, c.want, r.Finish(), name)
	}
}

func TestBytesRoundTripAtAnyAlignment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.UintRange(0, 9).Draw(t, "lead")
		data := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data")
		b := write(t, 140, func(w *bits.Writer) {
			w.WriteBits(math.MaxUint64, n)
			w.WriteBytes(data)
			w.WriteByteAligned(data)
			w.WriteBits(1, 1)
			w.WriteBlob(data, 40)
		})
		r := bits.NewReader(b)
		r.ReadBits(n)
		got := make([]byte, len(data))
		r.ReadBytes(got)
		require.Equal(t, data, got)
		require.Equal(t, string(data), string(r.ReadByteAligned(len(data))))
		r.ReadBits(1)
		require.Equal(t, string(data), string(r.ReadBlob(nil, 40)))
		require.NoError(t, r.Finish())
	})
}

func TestAlignRefusesSetPadding(t *testing.T) {
	r := bits.NewReader([]byte{0x09, 0xff})
	r.ReadBits(1)
	r.Align()
	require.ErrorIs(t, r.Err(), bits.ErrInvalid)
}

func TestShortBytesAreZeroed(t *testing.T) {
	r := bits.NewReader([]byte{0xff})
	dst := []byte{1, 2}
	r.ReadBytes(dst)
	require.Equal(t, []byte{0, 0}, dst)
	require.ErrorIs(t, r.Err(), bits.ErrShort)
}

func TestTooWideFieldsPanicWithTheTypesName(t *testing.T) {
	var w bits.Writer
	var r bits.Reader
	require.PanicsWithValue(t, "bits.Writer: WriteBits of 65 bits", func() { w.WriteBits(0, 65) })
	require.PanicsWithValue(t, "bits.Reader: ReadBits of 65 bits", func() { r.ReadBits(65) })
}
