package wire_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

func section(rest string, data ...[]byte) []byte {
	b := []byte(rest)
	start := len(b)
	for i, d := range data {
		b = wire.AppendFragment(b, bits.Seq16(65_535+i), d)
	}
	return wire.EndSection(b, start)
}

func TestSectionSurvivesTheWire(t *testing.T) {
	long := bytes.Repeat([]byte{7}, wire.FragmentMax)
	rest, s, ok := wire.Section(section("payload", []byte("a"), long))
	require.True(t, ok)
	require.Equal(t, "payload", string(rest))
	seq, data, s := wire.NextFragment(s)
	require.EqualValues(t, 65_535, seq)
	require.Equal(t, "a", string(data))
	seq, data, s = wire.NextFragment(s)
	require.EqualValues(t, 0, seq)
	require.Equal(t, long, data)
	_, data, _ = wire.NextFragment(s)
	require.Nil(t, data)
}

func TestSectionCostsWhatItSays(t *testing.T) {
	require.Len(t, section("", []byte("abc"), []byte("d")), wire.SectionTrailer+2*wire.FragmentHeader+4)
}

func TestWrongSectionsAreRefused(t *testing.T) {
	nine := make([][]byte, wire.SectionFragments+1)
	for i := range nine {
		nine[i] = []byte{1}
	}
	for name, b := range map[string][]byte{
		"nothing":               {},
		"one byte":              {0},
		"an empty section":      section("payload"),
		"longer than the rest":  {1, 2, 3, 9, 0},
		"a fragment of 0 bytes": {5, 0, 0, 0, 4, 0},
		"a fragment cut short":  {5, 0, 3, 0, 1, 2, 6, 0},
		"half a fragment head":  {5, 0, 1, 3, 0},
		"too many fragments":    section("", nine...),
		"a fragment too long":   wire.EndSection(append([]byte{0, 0, 0x31, 2}, make([]byte, 561)...), 0),
	} {
		_, _, ok := wire.Section(b)
		require.False(t, ok, name)
	}
}

func TestFragmentOutsideItsBoundsIsAProgrammersError(t *testing.T) {
	require.Panics(t, func() { wire.AppendFragment(nil, 0, nil) })
	require.Panics(t, func() { wire.AppendFragment(nil, 0, make([]byte, wire.FragmentMax+1)) })
	require.Panics(t, func() { wire.AppendMessageLength(nil, wire.MessageMax+1) })
}

func TestMessageLengthSurvivesTheWire(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 16_383, 16_384, wire.MessageMax} {
		b := wire.AppendMessageLength(nil, n)
		require.LessOrEqual(t, len(b), wire.MessageHeaderMax)
		for i := range b {
			_, used := wire.MessageLength(b[:i])
			require.Zero(t, used, "more is needed")
		}
		got, used := wire.MessageLength(append(b, 0xff))
		require.Equal(t, n, got)
		require.Equal(t, len(b), used)
	}
}

func TestWrongMessageLengthsAreRefused(t *testing.T) {
	for name, b := range map[string][]byte{
		"over the limit":     {0x81, 0x80, 0x04},
		"four bytes":         {0x80, 0x80, 0x80, 0x01},
		"without an end":     {0xff, 0xff, 0xff},
		"longer than needed": {0x81, 0x00},
	} {
		_, used := wire.MessageLength(b)
		require.Negative(t, used, name)
	}
}

// FuzzSection: any bytes, and what is taken apart is put together alike.
func FuzzSection(f *testing.F) {
	f.Add(section("payload", []byte("a"), []byte("bcd")))
	f.Add(section("", bytes.Repeat([]byte{7}, wire.FragmentMax)))
	f.Add([]byte{1, 2, 3, 9, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		rest, s, ok := wire.Section(b)
		if !ok {
			return
		}
		again := append([]byte(nil), rest...)
		for len(s) > 0 {
			var seq bits.Seq16
			var data []byte
			seq, data, s = wire.NextFragment(s)
			require.NotNil(t, data)
			again = wire.AppendFragment(again, seq, data)
		}
		require.Equal(t, b, wire.EndSection(again, len(rest)))
	})
}

// FuzzMessageLength: any bytes, and a length has one form.
func FuzzMessageLength(f *testing.F) {
	f.Add([]byte{0x81, 0x00})
	f.Add(wire.AppendMessageLength(nil, wire.MessageMax))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, used := wire.MessageLength(b)
		if used > 0 {
			require.Equal(t, b[:used], wire.AppendMessageLength(nil, n))
		}
	})
}
