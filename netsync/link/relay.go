package link

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/transport"
)

// MaxRelayClients is how many client addresses a Relay serves; datagrams from
// more are dropped and counted.
const MaxRelayClients = 1024

// Relay is the link on real sockets and real time: clients talk to its
// address instead of the server's. Each client address gets a socket of its
// own towards the server and the link of its index in the fleet, by order of
// arrival. It lasts until Close.
type Relay struct {
	fleet  *Fleet
	front  *transport.UDP
	server netip.AddrPort
	began  time.Time
	done   chan struct{}
	wg     sync.WaitGroup
	once   sync.Once

	mu      sync.Mutex
	clients map[netip.AddrPort]*relayClient
	order   []*relayClient
	refused uint64
}

type relayClient struct {
	addr netip.AddrPort
	back *transport.UDP
	wake chan struct{} // something was pushed upwards

	mu   sync.Mutex
	link *Link
}

// NewRelay starts a relay that listens on one address and forwards to
// another, both host:port. Errors: a *ConfigError, or the system's.
func NewRelay(listen, server string, cfg Config, seed uint64) (*Relay, error) {
	fleet, err := NewFleet(cfg, seed)
	if err != nil {
		return nil, err
	}
	return NewFleetRelay(listen, server, fleet)
}

// NewFleetRelay is NewRelay with a fleet, whose clients may differ. The fleet
// must not be changed until the relay is closed.
func NewFleetRelay(listen, server string, fleet *Fleet) (*Relay, error) {
	to, err := net.ResolveUDPAddr("udp", server)
	if err != nil {
		return nil, fmt.Errorf("link: relay to %q: %w", server, err)
	}
	target := transport.Normalize(to.AddrPort())
	if !target.Addr().IsValid() || target.Addr().IsUnspecified() {
		// "Every interface" is for listening; a server there is on the loopback.
		target = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), target.Port())
	}
	front, err := transport.ListenUDP(listen)
	if err != nil {
		return nil, err
	}
	r := &Relay{
		fleet:   fleet,
		front:   front,
		server:  target,
		began:   time.Now(),
		done:    make(chan struct{}),
		clients: map[netip.AddrPort]*relayClient{},
	}
	r.wg.Add(1)
	go r.accept()
	return r, nil
}

// Addr is where clients send to.
func (r *Relay) Addr() netip.AddrPort { return r.front.LocalAddr() }

// Clients is how many client addresses have been seen.
func (r *Relay) Clients() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.order)
}

// Refused counts the datagrams of clients for which there was no room or no
// socket.
func (r *Relay) Refused() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// Stats is a copy of the counters of a client's link, by order of arrival; the
// zero value if there is no such client yet.
func (r *Relay) Stats(client int, dir Direction) Stats {
	r.mu.Lock()
	if client < 0 || client >= len(r.order) {
		r.mu.Unlock()
		return Stats{}
	}
	c := r.order[client]
	r.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link.Stats(dir)
}

// Close ends the relay: its sockets are closed and its goroutines have ended
// when it returns. What was on its way is dropped.
func (r *Relay) Close() error {
	var err error
	r.once.Do(func() {
		close(r.done)
		err = r.front.Close()
		r.wg.Wait()
	})
	return err
}

func (r *Relay) now() components.Ticks { return components.TicksOf(time.Since(r.began)) }

// accept pushes what clients send into their links.
func (r *Relay) accept() {
	defer r.wg.Done()
	buf := make([]byte, transport.MaxDatagram)
	for {
		for {
			n, from, ok := r.front.Receive(buf)
			if !ok {
				break
			}
			if c := r.client(from); c != nil {
				c.mu.Lock()
				c.link.Push(r.now(), Up, buf[:n])
				c.mu.Unlock()
				select {
				case c.wake <- struct{}{}:
				default:
				}
			}
		}
		select {
		case <-r.front.Ready():
		case <-r.done:
			return
		}
	}
}

// client finds or makes the client of an address; nil if it cannot be served.
func (r *Relay) client(addr netip.AddrPort) *relayClient {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.clients[addr]; c != nil {
		return c
	}
	if len(r.order) == MaxRelayClients {
		r.refused++
		return nil
	}
	back, err := transport.ListenUDPWith(backAddress(r.server), transport.UDPConfig{Queue: 256})
	if err != nil {
		r.refused++
		return nil
	}
	c := &relayClient{addr: addr, back: back, wake: make(chan struct{}, 1), link: r.fleet.Link(len(r.order))}
	r.clients[addr] = c
	r.order = append(r.order, c)
	r.wg.Add(1)
	go r.pump(c)
	return c
}

// backAddress is a free port of the interface that leads to the server.
func backAddress(server netip.AddrPort) string {
	switch ip := server.Addr(); {
	case ip.IsLoopback():
		if ip.Is4() {
			return "127.0.0.1:0"
		}
		return "[::1]:0"
	case ip.Is4():
		return "0.0.0.0:0"
	}
	return "[::]:0"
}

// pump takes in what the server sends to one client and lets out what is due,
// both ways.
func (r *Relay) pump(c *relayClient) {
	defer r.wg.Done()
	defer c.back.Close()
	buf := make([]byte, transport.MaxDatagram)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for {
			n, from, ok := c.back.Receive(buf)
			if !ok {
				break
			}
			if from == r.server { // others may send to this socket, too
				c.mu.Lock()
				c.link.Push(r.now(), Down, buf[:n])
				c.mu.Unlock()
			}
		}
		wait := time.Hour
		if due, ok := r.release(c); ok {
			// A tick more, since TicksOf rounds down.
			wait = max(0, due.Duration()-time.Since(r.began)) + (components.Ticks(1)).Duration()
		}
		timer.Reset(wait)
		select {
		case <-c.back.Ready():
		case <-c.wake:
		case <-timer.C:
		case <-r.done:
			return
		}
	}
}

// release sends what is due and returns when the next packet is.
func (r *Relay) release(c *relayClient) (components.Ticks, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := r.now()
	for {
		b, dir, ok := c.link.Pop(now)
		if !ok {
			return c.link.Next()
		}
		// A refused send is a lost packet; the sockets count them.
		if dir == Up {
			_ = c.back.Send(b, r.server)
		} else {
			_ = r.front.Send(b, c.addr)
		}
	}
}
