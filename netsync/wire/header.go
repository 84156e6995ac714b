package wire

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

// Kind is what a datagram is: the low three bits of its first byte.
type Kind uint8

// The kinds of datagrams. The first five make a connection, the last three
// belong to one.
const (
	KindRequest    Kind = iota // client: may I come in?
	KindChallenge              // server: prove that this is your address
	KindResponse               // client: here is the cookie
	KindAccept                 // server: come in
	KindRefuse                 // server: no, and why
	KindUp                     // client to server, connected
	KindDown                   // server to client, connected
	KindDisconnect             // either: this connection has ended
)

// ClearBytes of a connected packet are the same in every form of it: flags,
// connection ID and sequence. Who seals packets leaves them readable.
const ClearBytes = 7

// Units and limits of a Header.
const (
	// HoldUnit is the step of Hold and View, 1/3,600 s.
	HoldUnit components.Ticks = 16
	// HoldMax is the longest hold that can be told, 1.1 s.
	HoldMax = HoldUnit * (holdUnits - 1)

	holdUnits = 1 << 12
	holdOrder = 7 // 8 bits below 36 ms, 10 below 107 ms
	viewOrder = 8 // 9 bits within 36 ms of the stamp, 11 within 107 ms
	viewUnits = 1 << 24

	timeBits = 24 // 291 s
	tickBits = 16
)

// ackWidths are the numbers of acknowledgement bits that can be sent.
var ackWidths = [4]uint8{0, 8, 16, 32}

// Header is the first part of a connected packet.
//
// Of the server's time and tick only the low bits travel, and the client's
// view time travels as the difference from the stamp of the packet it
// acknowledges: ReadHeader gives those, Resolve makes them whole.
type Header struct {
	Kind Kind // KindUp or KindDown
	Conn uint32
	Seq  bits.Seq16

	// Payload: messages follow the header. Reliable: the packet ends in a
	// reliable section.
	Payload, Reliable bool

	// Ack is the newest sequence received from the other end, if HasAck. Bit i
	// of AckBits tells whether Ack-1-i was received; only the low AckWidth (0,
	// 8, 16 or 32) are told, the others are known to the other end already.
	HasAck   bool
	Ack      bits.Seq16
	AckBits  uint32
	AckWidth uint8

	// Hold is the time between the receipt of Ack and the sending of this
	// packet, if HasHold, to within half a HoldUnit and at most HoldMax.
	HasHold bool
	Hold    components.Ticks

	// View is the server time that the client looks at, if HasView; upstream
	// only. ReadHeader leaves the difference from Ack's stamp in it.
	HasView bool
	View    components.Ticks

	// Time and Tick are the server's at the sending; downstream only.
	// ReadHeader leaves the low 24 bits and the low 16 bits in them.
	Time components.Ticks
	Tick uint64
}

// AckBitsFor is the smallest AckWidth that holds n bits; at most 32.
func AckBitsFor(n int) uint8 {
	for _, w := range ackWidths {
		if n <= int(w) {
			return w
		}
	}
	return 32
}

// Write writes h. View is written as its difference from viewBase, the stamp
// of the packet that Ack names. A Hold above HoldMax and a View too far from
// viewBase are left out. Cost in bits, without optional parts 56; Ack 18, 26,
// 34 or 50; Hold 8..20; View 9..37; downstream 40 more.
func (h *Header) Write(w *bits.Writer, viewBase components.Ticks) {
	hold := (max(h.Hold, 0) + HoldUnit/2) / HoldUnit
	hasHold := h.HasAck && h.HasHold && hold < holdUnits
	d := h.View - viewBase
	view := d / HoldUnit
	hasView := h.Kind == KindUp && h.HasAck && h.HasView && view > -viewUnits && view < viewUnits

	w.WriteBits(uint64(h.Kind), 3)
	w.WriteBool(h.Payload)
	w.WriteBool(h.Reliable)
	w.WriteBool(h.HasAck)
	w.WriteBool(hasHold)
	w.WriteBool(hasView)
	w.WriteBits(uint64(h.Conn), 32)
	w.WriteBits(uint64(h.Seq), 16)
	if h.HasAck {
		w.WriteBits(uint64(h.Ack), 16)
		w.WriteBits(uint64(widthIndex(h.AckWidth)), 2)
		w.WriteBits(uint64(h.AckBits), uint(h.AckWidth))
	}
	if hasHold {
		w.WriteUint(uint64(hold), holdOrder)
	}
	if hasView {
		w.WriteInt(int64(view), viewOrder)
	}
	if h.Kind == KindDown {
		w.WriteBits(uint64(h.Time), timeBits)
		w.WriteBits(h.Tick, tickBits)
	}
}

// FlagPayload and FlagReliable are bits of a connected packet's first byte,
// for a writer that learns last what the packet holds.
const (
	FlagPayload  = 1 << 3
	FlagReliable = 1 << 4
)

func widthIndex(width uint8) int {
	for i, w := range ackWidths {
		if w == width {
			return i
		}
	}
	panic("wire.Header: AckWidth is 0, 8, 16 or 32")
}

// ReadHeader reads what Write wrote. It leaves an error in r for a kind that
// is not connected, a part without the one it rests on, and a hold out of
// range; h then has no meaning.
func ReadHeader(r *bits.Reader, h *Header) {
	*h = Header{Kind: Kind(r.ReadBits(3))}
	h.Payload = r.ReadBool()
	h.Reliable = r.ReadBool()
	h.HasAck = r.ReadBool()
	h.HasHold = r.ReadBool()
	h.HasView = r.ReadBool()
	h.Conn = uint32(r.ReadBits(32))
	h.Seq = bits.Seq16(r.ReadBits(16))
	up := h.Kind == KindUp
	if (!up && h.Kind != KindDown) || (h.HasHold && !h.HasAck) || (h.HasView && !(up && h.HasAck)) {
		r.Invalid()
		return
	}
	if h.HasAck {
		h.Ack = bits.Seq16(r.ReadBits(16))
		h.AckWidth = ackWidths[r.ReadBits(2)]
		h.AckBits = uint32(r.ReadBits(uint(h.AckWidth)))
	}
	if h.HasHold {
		hold := r.ReadUint(holdOrder)
		if hold >= holdUnits {
			r.Invalid()
			return
		}
		h.Hold = components.Ticks(hold) * HoldUnit
	}
	if h.HasView {
		view := r.ReadInt(viewOrder)
		if view <= -viewUnits || view >= viewUnits {
			r.Invalid()
			return
		}
		h.View = components.Ticks(view) * HoldUnit
	}
	if !up {
		h.Time = components.Ticks(r.ReadBits(timeBits))
		h.Tick = r.ReadBits(tickBits)
	}
}

// ResolveTime widens Time and Tick of a packet from the server: those nearest
// to what the client knows of them. Time may be 145 s off.
func (h *Header) ResolveTime(near components.Ticks, nearTick uint64) {
	h.Time = components.Ticks(bits.Extend(int64(near), uint64(h.Time), timeBits))
	h.Tick = uint64(bits.Extend(int64(nearTick), h.Tick, tickBits))
}

// ResolveView makes View a server time, given the stamp of the packet that
// Ack names.
func (h *Header) ResolveView(stamp components.Ticks) { h.View += stamp }

// PeekKind is the kind of a datagram, false if it is empty.
func PeekKind(b []byte) (Kind, bool) {
	if len(b) == 0 {
		return 0, false
	}
	return Kind(b[0] & 7), true
}

// PeekConn is the connection ID of a connected packet, false if it is too
// short to have one.
func PeekConn(b []byte) (uint32, bool) {
	if len(b) < ClearBytes {
		return 0, false
	}
	return uint32(b[1]) | uint32(b[2])<<8 | uint32(b[3])<<16 | uint32(b[4])<<24, true
}
