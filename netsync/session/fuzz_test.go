package session

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/netsync/wire"
)

type nobody struct{}

func (nobody) Connected(*Peer)                           {}
func (nobody) Disconnected(*Peer, Reason)                {}
func (nobody) Payload(*Peer, *wire.Header, *bits.Reader) {}
func (nobody) Reliable(*Peer, []byte)                    {}
func (nobody) Acked(*Peer, uint16)                       {}

type nobodyClient struct{}

func (nobodyClient) Connected()                         {}
func (nobodyClient) Disconnected(error)                 {}
func (nobodyClient) Payload(*wire.Header, *bits.Reader) {}
func (nobodyClient) Reliable([]byte)                    {}
func (nobodyClient) Acked(uint16)                       {}

// tapConn keeps what was sent.
type tapConn struct {
	transport.Conn
	sent [][]byte
}

func (c *tapConn) Send(b []byte, to netip.AddrPort) error {
	c.sent = append(c.sent, slices.Clone(b))
	return c.Conn.Send(b, to)
}

type pair struct {
	net          *transport.Network
	server       *Server
	client       *Client
	sconn, cconn *tapConn
	stranger     transport.Conn
}

// newPair is a server and a client that have talked for a while.
func newPair(t testing.TB) *pair {
	p := &pair{net: transport.NewNetwork(nil)}
	addr := netip.MustParseAddrPort("10.0.0.1:7777")
	listen := func(a string) transport.Conn {
		c, err := p.net.Listen(netip.MustParseAddrPort(a))
		require.NoError(t, err)
		return c
	}
	p.sconn = &tapConn{Conn: listen("10.0.0.1:7777")}
	p.cconn = &tapConn{Conn: listen("10.0.0.2:1")}
	p.stranger = listen("10.0.0.3:1")
	p.server = NewServer(p.sconn, Config{Secret: [16]byte{1}})
	p.client = NewClient(p.cconn, addr, 7, Config{Secret: [16]byte{2}})
	require.NoError(t, p.client.Connect(0))
	for i := range 60 {
		now := second / 60 * components.Ticks(i)
		p.server.Receive(now, nobody{})
		p.client.Receive(now, nobodyClient{})
		if p.client.State() == Connected {
			p.client.SetView(p.client.ServerNow(now))
			p.client.Begin(now).WriteBits(uint64(i), 32)
			p.client.End()
			p.client.SendReliable([]byte("message"))
		}
		p.server.Each(func(q *Peer) bool {
			q.Begin(now).WriteBits(uint64(i), 32)
			q.End()
			q.SendReliable([]byte("message"))
			return true
		})
		p.server.Flush(now)
		p.client.Flush(now)
	}
	p.server.Receive(second, nobody{})
	p.client.Receive(second, nobodyClient{})
	require.Equal(t, Connected, p.client.State())
	require.Equal(t, 1, p.server.Len())
	return p
}

// state is a core without its scratch and its counters.
func state(c *core) core {
	s := *c
	s.in, s.payload, s.out, s.w, s.buf = wire.Header{}, bits.Reader{}, wire.Header{}, bits.Writer{}, [transport.MaxDatagram]byte{}
	s.stats.Refused = Counts{}
	s.sent.slots = slices.Clone(c.sent.slots)
	s.received.slots = slices.Clone(c.received.slots)
	s.rel.out.slots = slices.Clone(c.rel.out.slots)
	s.rel.in.slots = slices.Clone(c.rel.in.slots)
	s.rel.asm = slices.Clone(c.rel.asm)
	return s
}

// FuzzServerReceive feeds the server a datagram of any bytes, as they are or
// under the seal of the connection, from the client or a stranger.
func FuzzServerReceive(f *testing.F) {
	seed := newPair(f)
	for i, b := range seed.cconn.sent {
		if i < 8 || i%16 == 0 {
			f.Add(b, false, true)
			f.Add(b, false, false)
			if opened, ok := seed.server.Peer(7).open.Open(b); ok {
				f.Add(opened, true, false)
			}
		}
	}
	f.Add([]byte{}, false, false)
	f.Fuzz(func(t *testing.T, b []byte, sealed, fromClient bool) {
		if len(b) > 1100 {
			return
		}
		p := newPair(t)
		peer := p.server.Peer(7)
		if sealed {
			b = peer.open.Seal(slices.Clone(b))
		}
		var from transport.Conn = p.stranger
		if fromClient {
			from = p.cconn
		}
		before, refused := state(&peer.core), p.server.Stats().Refused.Total()
		require.NoError(t, from.Send(b, p.sconn.LocalAddr()))
		p.server.Receive(second, nobody{})
		if p.server.Stats().Refused.Total() == refused {
			return // a valid packet, which may do what it says
		}
		require.True(t, reflect.DeepEqual(before, state(&peer.core)), "a refused datagram changed the connection")
		require.Same(t, peer, p.server.Peer(7))
		require.Equal(t, 1, p.server.Slots())
	})
}

// FuzzClientReceive is the same for the client.
func FuzzClientReceive(f *testing.F) {
	seed := newPair(f)
	for i, b := range seed.sconn.sent {
		if i < 8 || i%16 == 0 {
			f.Add(b, false, true)
			f.Add(b, false, false)
			if opened, ok := seed.client.open.Open(b); ok {
				f.Add(opened, true, true)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, sealed, fromServer bool) {
		if len(b) > 1100 {
			return
		}
		p := newPair(t)
		if sealed {
			b = p.client.open.Seal(slices.Clone(b))
		}
		var from transport.Conn = p.stranger
		if fromServer {
			from = p.sconn
		}
		c := p.client
		before, clk, refused := state(&c.core), c.clock, c.refused.Total()
		require.NoError(t, from.Send(b, p.cconn.LocalAddr()))
		c.Receive(second, nobodyClient{})
		if c.refused.Total() == refused {
			return
		}
		require.True(t, reflect.DeepEqual(before, state(&c.core)), "a refused datagram changed the connection")
		require.Equal(t, clk, c.clock)
		require.Equal(t, Connected, c.State())
	})
}

// FuzzClientHandshake feeds a client that is waiting for the server.
func FuzzClientHandshake(f *testing.F) {
	seed := newPair(f)
	for _, b := range seed.sconn.sent[:4] {
		f.Add(b, false)
		if body, ok := bits.CheckCRC(b, wire.HandshakeSalt); ok {
			f.Add(body, true)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, sealed bool) {
		if len(b) > 1100 {
			return
		}
		net := transport.NewNetwork(nil)
		sconn, err := net.Listen(netip.MustParseAddrPort("10.0.0.1:7777"))
		require.NoError(t, err)
		cconn, err := net.Listen(netip.MustParseAddrPort("10.0.0.2:1"))
		require.NoError(t, err)
		c := NewClient(cconn, sconn.LocalAddr(), 7, Config{Secret: [16]byte{2}})
		require.NoError(t, c.Connect(0))
		if sealed {
			b = bits.SealCRC(slices.Clone(b), wire.HandshakeSalt)
		}
		require.NoError(t, sconn.Send(b, cconn.LocalAddr()))
		c.Receive(1, nobodyClient{})
		if c.refused.Total() > 0 {
			require.Equal(t, Requesting, c.State())
		}
		c.Flush(second)
		c.Receive(2*second, nobodyClient{})
	})
}
