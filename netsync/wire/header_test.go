package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

const headerBase components.Ticks = 900_000_000

// anyHeader is a header that can be written as it is.
func anyHeader(rt *rapid.T) wire.Header {
	h := wire.Header{
		Kind:     rapid.SampledFrom([]wire.Kind{wire.KindUp, wire.KindDown}).Draw(rt, "kind"),
		Payload:  rapid.Bool().Draw(rt, "payload"),
		Reliable: rapid.Bool().Draw(rt, "reliable"),
		Conn:     rapid.Uint32().Draw(rt, "conn"),
		Seq:      bits.Seq16(rapid.Uint16().Draw(rt, "seq")),
		HasAck:   rapid.Bool().Draw(rt, "has ack"),
	}
	if h.HasAck {
		h.Ack = bits.Seq16(rapid.Uint16().Draw(rt, "ack"))
		h.AckWidth = rapid.SampledFrom([]uint8{0, 8, 16, 32}).Draw(rt, "width")
		h.AckBits = uint32(uint64(rapid.Uint32().Draw(rt, "bits")) & (1<<h.AckWidth - 1))
		h.HasHold = rapid.Bool().Draw(rt, "has hold")
		if h.HasHold {
			h.Hold = wire.HoldUnit * components.Ticks(rapid.IntRange(0, int(wire.HoldMax/wire.HoldUnit)).Draw(rt, "hold"))
		}
		h.HasView = h.Kind == wire.KindUp && rapid.Bool().Draw(rt, "has view")
		if h.HasView {
			h.View = headerBase + wire.HoldUnit*components.Ticks(rapid.IntRange(-1<<24+1, 1<<24-1).Draw(rt, "view"))
		}
	}
	if h.Kind == wire.KindDown {
		h.Time = headerBase + components.Ticks(rapid.IntRange(-1<<23+1, 1<<23).Draw(rt, "time"))
		h.Tick = uint64(1_000_000 + rapid.IntRange(-1<<15+1, 1<<15).Draw(rt, "tick"))
	}
	return h
}

func TestHeaderSurvivesTheWire(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := anyHeader(rt)
		var w bits.Writer
		w.Reset(make([]byte, 64))
		h.Write(&w, headerBase)
		r := bits.NewReader(w.Bytes())
		var got wire.Header
		wire.ReadHeader(&r, &got)
		if got.Kind == wire.KindDown {
			got.ResolveTime(headerBase, 1_000_000)
		}
		if got.HasView {
			got.ResolveView(headerBase)
		}
		if r.Finish() != nil || got != h {
			rt.Fatalf("wrote %+v, read %+v, %v", h, got, r.Err())
		}
	})
}

func TestHeaderCostsWhatItSays(t *testing.T) {
	cost := func(h wire.Header) int {
		var w bits.Writer
		h.Write(&w, headerBase)
		return w.Bits()
	}
	h := wire.Header{Kind: wire.KindUp}
	require.Equal(t, 56, cost(h))
	h.HasAck = true
	for width, bits := range map[uint8]int{0: 18, 8: 26, 16: 34, 32: 50} {
		h.AckWidth = width
		require.Equal(t, 56+bits, cost(h))
	}
	h.AckWidth = 8
	h.HasHold, h.Hold = true, 35*components.Second/1000
	require.Equal(t, 56+26+8, cost(h))
	h.HasView, h.View = true, headerBase+35*components.Second/1000
	require.Equal(t, 56+26+8+9, cost(h))
	require.Equal(t, 56+40, cost(wire.Header{Kind: wire.KindDown}))
}

func TestHoldIsRoundedAndLeftOutWhenTooLong(t *testing.T) {
	read := func(hold components.Ticks) wire.Header {
		h := wire.Header{Kind: wire.KindUp, HasAck: true, HasHold: true, Hold: hold}
		var w bits.Writer
		w.Reset(make([]byte, 64))
		h.Write(&w, 0)
		r := bits.NewReader(w.Bytes())
		var got wire.Header
		wire.ReadHeader(&r, &got)
		require.NoError(t, r.Finish())
		return got
	}
	require.Equal(t, components.Ticks(96), read(100).Hold)
	require.Equal(t, components.Ticks(112), read(104).Hold)
	require.Equal(t, components.Ticks(0), read(-5).Hold)
	require.Equal(t, wire.HoldMax, read(wire.HoldMax+7).Hold)
	require.False(t, read(wire.HoldMax+8).HasHold)
}

func TestViewTooFarOffIsLeftOut(t *testing.T) {
	for _, d := range []components.Ticks{wire.HoldUnit << 24, -wire.HoldUnit << 24} {
		h := wire.Header{Kind: wire.KindUp, HasAck: true, HasView: true, View: headerBase + d}
		var w bits.Writer
		w.Reset(make([]byte, 64))
		h.Write(&w, headerBase)
		r := bits.NewReader(w.Bytes())
		var got wire.Header
		wire.ReadHeader(&r, &got)
		require.NoError(t, r.Finish())
		require.False(t, got.HasView)
	}
}

func TestHeaderRefusesPartsWithoutTheirBase(t *testing.T) {
	const ack, hold, view = 1 << 5, 1 << 6, 1 << 7
	for name, first := range map[string]byte{
		"hold without ack":     byte(wire.KindUp) | hold,
		"view without ack":     byte(wire.KindUp) | view,
		"view downstream":      byte(wire.KindDown) | ack | view,
		"kind of a handshake":  byte(wire.KindAccept),
		"kind of a disconnect": byte(wire.KindDisconnect),
	} {
		b := make([]byte, 64)
		b[0] = first
		r := bits.NewReader(b)
		wire.ReadHeader(&r, new(wire.Header))
		require.ErrorIs(t, r.Err(), bits.ErrInvalid, name)
	}
}

func TestClearPartLiesInSevenBytes(t *testing.T) {
	h := wire.Header{Kind: wire.KindDown, Payload: true, Reliable: true, Conn: 0x04030201, Seq: 0x0605}
	var w bits.Writer
	w.Reset(make([]byte, 64))
	h.Write(&w, 0)
	b := w.Bytes()
	require.Equal(t, []byte{byte(wire.KindDown) | wire.FlagPayload | wire.FlagReliable, 1, 2, 3, 4, 5, 6}, b[:wire.ClearBytes])
	kind, ok := wire.PeekKind(b)
	require.True(t, ok)
	require.Equal(t, wire.KindDown, kind)
	conn, ok := wire.PeekConn(b)
	require.True(t, ok)
	require.EqualValues(t, 0x04030201, conn)
	_, ok = wire.PeekConn(b[:6])
	require.False(t, ok)
	_, ok = wire.PeekKind(nil)
	require.False(t, ok)
}

func TestAckWidthIsTheSmallestThatHolds(t *testing.T) {
	for n, want := range map[int]uint8{0: 0, 1: 8, 8: 8, 9: 16, 16: 16, 17: 32, 32: 32, 99: 32} {
		require.Equal(t, want, wire.AckBitsFor(n))
	}
}

func TestHeaderDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 64)
	h := wire.Header{Kind: wire.KindUp, HasAck: true, AckWidth: 8, HasHold: true, HasView: true, View: headerBase}
	var got wire.Header
	require.Zero(t, testing.AllocsPerRun(100, func() {
		var w bits.Writer
		w.Reset(buf)
		h.Write(&w, headerBase)
		r := bits.NewReader(w.Bytes())
		wire.ReadHeader(&r, &got)
	}))
}

// FuzzReadHeader: any bytes, and what is read whole is written again alike.
func FuzzReadHeader(f *testing.F) {
	for _, h := range []wire.Header{
		{Kind: wire.KindUp, Payload: true, Conn: 77, Seq: 9, HasAck: true, Ack: 3, AckWidth: 16, AckBits: 5, HasHold: true, Hold: 320, HasView: true, View: -640},
		{Kind: wire.KindDown, Reliable: true, Conn: 1, Seq: 65535, HasAck: true, Time: 12345, Tick: 99},
		{Kind: wire.KindUp},
	} {
		var w bits.Writer
		w.Reset(make([]byte, 64))
		h.Write(&w, 0)
		f.Add(w.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bits.NewReader(b)
		var h wire.Header
		wire.ReadHeader(&r, &h)
		if r.Err() != nil {
			return
		}
		n := r.Bits()
		var w bits.Writer
		w.Reset(make([]byte, 64))
		h.Write(&w, 0)
		require.Equal(t, n, w.Bits())
		again := bits.NewReader(w.Bytes())
		var got wire.Header
		wire.ReadHeader(&again, &got)
		require.Equal(t, h, got)
	})
}
