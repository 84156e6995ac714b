package transport

import (
	"net/netip"

	"github.com/gaitnet/gait/components"
)

// DefaultQueue is how many datagrams an endpoint holds before it drops the
// newest, unless it was told otherwise.
const DefaultQueue = 1024

// Conditioner decides when, and whether, what was sent on a memory network
// arrives. netsync/link has one.
type Conditioner interface {
	// Push takes a datagram that is sent at now. It must copy b.
	Push(now components.Ticks, from, to netip.AddrPort, b []byte)
	// Next is the time at which the next datagram is due; ok is false when
	// none is on its way.
	Next() (due components.Ticks, ok bool)
	// Pop returns the next datagram that is due by now, in the order in which
	// they are due. b is valid until the next call of any method.
	Pop(now components.Ticks) (b []byte, from, to netip.AddrPort, ok bool)
}

// Network is a network in memory on virtual time: what one endpoint sends
// arrives at another, at once or when its Conditioner says so. Equal calls
// give equal results. It has no goroutines and no locks: all its endpoints
// belong to one goroutine.
type Network struct {
	cond       Conditioner
	now        components.Ticks
	endpoints  map[netip.AddrPort]*Memory
	pool       Pool
	nextPort   uint16
	unroutable uint64
}

// NewNetwork makes an empty network at time 0. With a nil Conditioner every
// datagram arrives at once.
func NewNetwork(c Conditioner) *Network {
	return &Network{cond: c, endpoints: map[netip.AddrPort]*Memory{}, nextPort: 49152}
}

// Listen opens an endpoint with a queue of DefaultQueue datagrams. Port 0
// stands for the next free port from 49152 up. Errors: ErrBadAddress,
// ErrAddressInUse.
func (n *Network) Listen(addr netip.AddrPort) (*Memory, error) {
	return n.ListenQueue(addr, DefaultQueue)
}

// ListenQueue is Listen with a queue of the given number of datagrams, at
// least 1.
func (n *Network) ListenQueue(addr netip.AddrPort, queue int) (*Memory, error) {
	if queue < 1 {
		panic("transport.Network: a queue holds at least 1 datagram")
	}
	addr = Normalize(addr)
	if !addr.IsValid() {
		return nil, ErrBadAddress
	}
	if addr.Port() == 0 {
		free, ok := n.freePort(addr.Addr())
		if !ok {
			return nil, ErrAddressInUse
		}
		addr = free
	} else if n.endpoints[addr] != nil {
		return nil, ErrAddressInUse
	}
	m := &Memory{net: n, addr: addr, limit: queue}
	n.endpoints[addr] = m
	return m, nil
}

func (n *Network) freePort(ip netip.Addr) (netip.AddrPort, bool) {
	for range 1 << 16 {
		a := netip.AddrPortFrom(ip, n.nextPort)
		n.nextPort++
		if n.nextPort == 0 {
			n.nextPort = 49152
		}
		if n.endpoints[a] == nil {
			return a, true
		}
	}
	return netip.AddrPort{}, false
}

// Advance sets the time and delivers what is due by then, in the order in
// which it is due. Time does not go back: an earlier now only delivers.
func (n *Network) Advance(now components.Ticks) {
	n.now = max(n.now, now)
	n.deliver()
}

// Now is the time of the last Advance.
func (n *Network) Now() components.Ticks { return n.now }

// Next is when the next datagram is due; ok is false when none is on its way.
func (n *Network) Next() (due components.Ticks, ok bool) {
	if n.cond == nil {
		return 0, false
	}
	return n.cond.Next()
}

// Unroutable counts the datagrams that arrived where no endpoint listens.
func (n *Network) Unroutable() uint64 { return n.unroutable }

func (n *Network) deliver() {
	if n.cond == nil {
		return
	}
	for {
		b, from, to, ok := n.cond.Pop(n.now)
		if !ok {
			return
		}
		n.arrive(from, to, b)
	}
}

func (n *Network) arrive(from, to netip.AddrPort, b []byte) {
	m := n.endpoints[to]
	if m == nil {
		n.unroutable++
		return
	}
	if m.count == m.limit {
		m.stats.QueueDropped++
		return
	}
	if m.count == len(m.ring) {
		m.grow()
	}
	m.ring[(m.head+m.count)%len(m.ring)] = queued{n.pool.Copy(b), from}
	m.count++
}

// Memory is an endpoint of a Network.
type Memory struct {
	net    *Network
	addr   netip.AddrPort
	ring   []queued
	head   int
	count  int
	limit  int
	closed bool
	stats  Stats
}

type queued struct {
	b    []byte
	from netip.AddrPort
}

var _ Conn = (*Memory)(nil)

// grow doubles the ring, up to the limit: most endpoints of a large network
// never hold more than a few datagrams.
func (m *Memory) grow() {
	ring := make([]queued, min(max(2*len(m.ring), 16), m.limit))
	for i := range m.count {
		ring[i] = m.ring[(m.head+i)%len(m.ring)]
	}
	m.ring, m.head = ring, 0
}

// Receive implements Conn.
func (m *Memory) Receive(buf []byte) (n int, from netip.AddrPort, ok bool) {
	needWholeBuffer("transport.Memory", buf)
	if m.count == 0 {
		return 0, netip.AddrPort{}, false
	}
	q := m.pop()
	n = copy(buf, q.b)
	m.net.pool.Put(q.b)
	m.stats.PacketsIn++
	m.stats.BytesIn += uint64(n)
	return n, q.from, true
}

func (m *Memory) pop() queued {
	q := m.ring[m.head]
	m.ring[m.head] = queued{}
	m.head = (m.head + 1) % len(m.ring)
	m.count--
	return q
}

// Send implements Conn. What is due at the present time has arrived when Send
// returns.
func (m *Memory) Send(b []byte, to netip.AddrPort) error {
	err := sendable(b, to)
	if m.closed {
		err = ErrClosed
	}
	if err != nil {
		m.stats.SendErrors++
		return err
	}
	m.stats.PacketsOut++
	m.stats.BytesOut += uint64(len(b))
	to = Normalize(to)
	if m.net.cond == nil {
		m.net.arrive(m.addr, to, b)
		return nil
	}
	m.net.cond.Push(m.net.now, m.addr, to, b)
	m.net.deliver()
	return nil
}

// LocalAddr implements Conn.
func (m *Memory) LocalAddr() netip.AddrPort { return m.addr }

// Stats implements Conn.
func (m *Memory) Stats() Stats { return m.stats }

// Close implements Conn. The address is free again; what is on its way to it
// will be counted as unroutable.
func (m *Memory) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	for m.count > 0 {
		m.net.pool.Put(m.pop().b)
	}
	delete(m.net.endpoints, m.addr)
	return nil
}
