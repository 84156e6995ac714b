package transport

import (
	"errors"
	"net/netip"

	"github.com/gaitnet/gait/components"
)

// MaxDatagram is the largest payload in bytes that a Conn sends or delivers.
// With 28 bytes of UDP and IPv4 headers, or 48 with IPv6, it fits every path
// with an MTU of 1280 bytes or more, so that no packet is ever fragmented.
const MaxDatagram = 1200

// Errors that Send and Listen return; compare with errors.Is.
var (
	// ErrTooLarge: the payload is longer than MaxDatagram. Nothing was sent.
	ErrTooLarge = errors.New("transport: datagram longer than 1200 bytes")
	// ErrClosed: the Conn was closed.
	ErrClosed = errors.New("transport: connection is closed")
	// ErrBadAddress: the address is not valid, or its port is 0.
	ErrBadAddress = errors.New("transport: not an address to send to")
	// ErrAddressInUse: a memory network has an endpoint there already.
	ErrAddressInUse = errors.New("transport: address is in use")
	// ErrNoUDP: this platform has no UDP sockets (a browser, WASI).
	ErrNoUDP = errors.New("transport: this platform has no UDP sockets")
)

// Conn is an endpoint for datagrams: unreliable, unordered, without
// connections. Nothing in it blocks, so it suits a loop that runs once a frame.
//
// One goroutine at a time may call Receive; a UDP Conn may be sent on, closed
// and asked for its Stats from any. The others belong to one goroutine.
type Conn interface {
	// Receive copies the oldest datagram that has arrived into buf and returns
	// its length and sender. ok is false when there is nothing more for now, or
	// after Close. An empty datagram is a datagram: n is 0 and ok is true.
	// buf holds at least MaxDatagram bytes; a shorter one is a programmer's
	// error and panics, since it would cut datagrams short.
	Receive(buf []byte) (n int, from netip.AddrPort, ok bool)

	// Send sends b as one datagram; b is not kept. An error means that nothing
	// left this machine; no error means nothing about arrival. Errors are
	// ErrTooLarge, ErrBadAddress, ErrClosed, or the system's own, each counted.
	Send(b []byte, to netip.AddrPort) error

	// LocalAddr is where this endpoint listens, with the port the system gave
	// if port 0 was asked for. An unspecified IP means every interface.
	LocalAddr() netip.AddrPort

	// Stats is a copy of the counters.
	Stats() Stats

	// Close ends the endpoint and whatever runs for it. Datagrams still queued
	// are dropped. A second Close does nothing.
	Close() error
}

// Stats counts what an endpoint has seen since it was opened. Bytes are
// payload, without UDP and IP headers.
type Stats struct {
	PacketsIn     uint64 // handed out by Receive
	BytesIn       uint64
	PacketsOut    uint64 // accepted by Send
	BytesOut      uint64
	QueueDropped  uint64 // arrived, but the queue was full
	Oversized     uint64 // arrived longer than MaxDatagram, dropped whole
	SendErrors    uint64 // Send returned an error
	ReceiveErrors uint64 // the socket reported an error while reading, e.g. ICMP
}

// Framed is what a Conn has that must know the time of the frame it is used
// in: a RecordedConn, which writes it down, and a Playback, which gives out a
// frame's datagrams in that frame. The owner of a Conn calls SetFrame at the
// start of each frame, before it receives, if its Conn has it.
type Framed interface {
	SetFrame(now components.Ticks)
}

// SetFrame tells conn the time of the frame that begins, if it wants to know.
func SetFrame(conn Conn, now components.Ticks) {
	if f, ok := conn.(Framed); ok {
		f.SetFrame(now)
	}
}

func needWholeBuffer(name string, buf []byte) {
	if len(buf) < MaxDatagram {
		panic(name + ": Receive needs a buffer of MaxDatagram bytes")
	}
}

// sendable says why a datagram cannot go out, nil if it can.
func sendable(b []byte, to netip.AddrPort) error {
	if len(b) > MaxDatagram {
		return ErrTooLarge
	}
	if !to.IsValid() || to.Port() == 0 {
		return ErrBadAddress
	}
	return nil
}

// Normalize writes an IPv4 address that came in IPv6 form as IPv4, so that one
// peer has one address whatever kind of socket saw it. Every Conn does it to
// what it returns.
func Normalize(a netip.AddrPort) netip.AddrPort {
	if a.Addr().Is4In6() {
		return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	}
	return a
}
