//go:build !js && !wasip1

package transport

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// UDP is a Conn over a UDP socket. A goroutine reads the socket into a ring of
// preallocated slots; Receive empties the ring. One goroutine at a time may
// call Receive; everything else may be called from any.
type UDP struct {
	sock  *net.UDPConn
	addr  netip.AddrPort
	slots []slot
	// The reader writes at tail and the caller of Receive reads at head. Each
	// index has one writer and only grows, which makes the ring safe without a
	// lock; it is empty when they are equal.
	head, tail atomic.Uint64
	ready      chan struct{}
	done       chan struct{}
	closed     atomic.Bool
	closeOnce  sync.Once
	closeErr   error
	counters   counters
}

type slot struct {
	// One byte more than a datagram may have tells one that is too long from
	// one that just fits.
	b    [MaxDatagram + 1]byte
	n    int
	from netip.AddrPort
}

type counters struct {
	packetsIn, bytesIn, packetsOut, bytesOut           atomic.Uint64
	queueDropped, oversized, sendErrors, receiveErrors atomic.Uint64
}

var _ Conn = (*UDP)(nil)

// ListenUDP opens a UDP socket. addr is host:port as in the net package:
// "127.0.0.1:0" for a free port of the loopback, ":7777" for every interface,
// IPv4 and IPv6. The error is the system's, wrapped; ErrNoUDP on a platform
// without sockets.
func ListenUDP(addr string) (*UDP, error) { return ListenUDPWith(addr, UDPConfig{}) }

// ListenUDPWith is ListenUDP with settings.
func ListenUDPWith(addr string, cfg UDPConfig) (*UDP, error) {
	cfg = cfg.withDefaults()
	local, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("transport: listen on %q: %w", addr, err)
	}
	sock, err := net.ListenUDP("udp", local)
	if err != nil {
		return nil, fmt.Errorf("transport: listen on %q: %w", addr, err)
	}
	// A larger buffer in the kernel is a wish: systems cap it, some refuse.
	_ = sock.SetReadBuffer(cfg.SocketBuffer)
	u := &UDP{
		sock:  sock,
		addr:  Normalize(sock.LocalAddr().(*net.UDPAddr).AddrPort()),
		slots: make([]slot, cfg.Queue),
		ready: make(chan struct{}, 1),
		done:  make(chan struct{}),
	}
	go u.read()
	return u, nil
}

// read runs until the socket is closed.
func (u *UDP) read() {
	defer close(u.done)
	var spill [MaxDatagram + 1]byte
	failures := 0
	for {
		tail := u.tail.Load()
		full := tail-u.head.Load() == uint64(len(u.slots))
		s := &u.slots[tail%uint64(len(u.slots))]
		buf := s.b[:]
		if full {
			buf = spill[:]
		}
		n, from, err := u.sock.ReadFromUDPAddrPort(buf)
		switch {
		case isMessageTooLong(err) || (err == nil && n > MaxDatagram):
			u.counters.oversized.Add(1)
			continue
		case err != nil && (u.closed.Load() || errors.Is(err, net.ErrClosed)):
			return
		case err != nil:
			// An ICMP "port unreachable" for something we sent comes back here
			// on some systems. It says nothing about the socket: read on. Should
			// the error stay, do not spin on it.
			u.counters.receiveErrors.Add(1)
			if failures++; failures > 16 {
				time.Sleep(time.Millisecond)
			}
			continue
		}
		failures = 0
		if full {
			// Room may have been made while we waited for this datagram.
			if tail-u.head.Load() == uint64(len(u.slots)) {
				u.counters.queueDropped.Add(1)
				continue
			}
			copy(s.b[:], spill[:n])
		}
		s.n, s.from = n, Normalize(from)
		u.tail.Store(tail + 1)
		select {
		case u.ready <- struct{}{}:
		default:
		}
	}
}

// isMessageTooLong is Windows' way of saying that a datagram did not fit the
// buffer (WSAEMSGSIZE). Elsewhere this number does not exist.
func isMessageTooLong(err error) bool {
	if err == nil {
		return false
	}
	const wsaMsgSize = 10040
	var errno syscall.Errno
	return errors.As(err, &errno) && errno == wsaMsgSize
}

// Receive implements Conn.
func (u *UDP) Receive(buf []byte) (n int, from netip.AddrPort, ok bool) {
	needWholeBuffer("transport.UDP", buf)
	head := u.head.Load()
	if head == u.tail.Load() || u.closed.Load() {
		return 0, netip.AddrPort{}, false
	}
	s := &u.slots[head%uint64(len(u.slots))]
	n, from = copy(buf, s.b[:s.n]), s.from
	u.head.Store(head + 1)
	u.counters.packetsIn.Add(1)
	u.counters.bytesIn.Add(uint64(n))
	return n, from, true
}

// Ready has a value after something arrived, for a caller that wants to sleep
// until then. One value may stand for many datagrams, and may come for one
// that Receive has returned already.
func (u *UDP) Ready() <-chan struct{} { return u.ready }

// Send implements Conn. It does not wait for the network, but it may wait for
// room in the system's send buffer.
func (u *UDP) Send(b []byte, to netip.AddrPort) error {
	err := sendable(b, to)
	if u.closed.Load() {
		err = ErrClosed
	}
	if err == nil {
		_, err = u.sock.WriteToUDPAddrPort(b, Normalize(to))
		if err != nil && errors.Is(err, net.ErrClosed) {
			err = ErrClosed
		}
	}
	if err != nil {
		u.counters.sendErrors.Add(1)
		return err
	}
	u.counters.packetsOut.Add(1)
	u.counters.bytesOut.Add(uint64(len(b)))
	return nil
}

// LocalAddr implements Conn.
func (u *UDP) LocalAddr() netip.AddrPort { return u.addr }

// Stats implements Conn.
func (u *UDP) Stats() Stats {
	c := &u.counters
	return Stats{
		PacketsIn: c.packetsIn.Load(), BytesIn: c.bytesIn.Load(),
		PacketsOut: c.packetsOut.Load(), BytesOut: c.bytesOut.Load(),
		QueueDropped: c.queueDropped.Load(), Oversized: c.oversized.Load(),
		SendErrors: c.sendErrors.Load(), ReceiveErrors: c.receiveErrors.Load(),
	}
}

// Close implements Conn. When it returns the reading goroutine has ended.
func (u *UDP) Close() error {
	u.closeOnce.Do(func() {
		u.closed.Store(true)
		u.closeErr = u.sock.Close()
		<-u.done
	})
	return u.closeErr
}
