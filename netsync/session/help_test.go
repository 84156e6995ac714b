package session_test

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/netsync/wire"
)

const (
	second = components.Second
	ms     = second / 1000 // 57 ticks, a little less than a millisecond
	frame  = second / 60
)

var serverAddr = netip.MustParseAddrPort("10.0.0.1:7777")

func secret(n byte) (s [16]byte) {
	s[0], s[15] = n, 1
	return s
}

// game is a handler on either side that remembers what it was told.
type game struct {
	peers       []*session.Peer // connected now, server only
	log         []string
	reasons     []session.Reason
	errs        []error
	connects    int
	payloads    []uint32
	headers     []wire.Header
	messages    [][]byte
	acked       []uint16
	refusal     string
	onConnected func(p *session.Peer)
	onPayload   func(p *session.Peer)
	onReliable  func(p *session.Peer)
	quiet       bool // only count
	heard       int
}

func (g *game) payload(p *session.Peer, h *wire.Header, r *bits.Reader) {
	if v := uint32(r.ReadBits(32)); r.Finish() == nil && !g.quiet {
		g.payloads = append(g.payloads, v)
		g.headers = append(g.headers, *h)
	}
	if g.onPayload != nil {
		g.onPayload(p)
	}
}

func (g *game) ack(seq uint16) {
	if !g.quiet {
		g.acked = append(g.acked, seq)
	}
}

func (g *game) reliable(p *session.Peer, msg []byte) {
	if g.quiet {
		g.heard++
		return
	}
	g.messages = append(g.messages, append([]byte{}, msg...))
	if g.onReliable != nil {
		g.onReliable(p)
	}
}

type serverGame struct{ game }

func (g *serverGame) Connected(p *session.Peer) {
	g.connects++
	g.log = append(g.log, "connected")
	g.peers = append(g.peers, p)
	if g.onConnected != nil {
		g.onConnected(p)
	}
}

func (g *serverGame) Disconnected(p *session.Peer, why session.Reason) {
	g.log = append(g.log, "disconnected "+why.String())
	g.reasons = append(g.reasons, why)
	for i, q := range g.peers {
		if p == q {
			g.peers = append(g.peers[:i], g.peers[i+1:]...)
			return
		}
	}
	panic("Disconnected of a peer that was not connected")
}

func (g *serverGame) Payload(p *session.Peer, h *wire.Header, r *bits.Reader) { g.payload(p, h, r) }
func (g *serverGame) Reliable(p *session.Peer, msg []byte)                    { g.reliable(p, msg) }
func (g *serverGame) Acked(_ *session.Peer, seq uint16)                       { g.ack(seq) }
func (g *serverGame) Admit(components.PlayerID, netip.AddrPort) (string, bool) {
	return g.refusal, g.refusal == ""
}

type clientGame struct{ game }

func (g *clientGame) Connected()                             { g.connects++ }
func (g *clientGame) Disconnected(err error)                 { g.errs = append(g.errs, err) }
func (g *clientGame) Payload(h *wire.Header, r *bits.Reader) { g.payload(nil, h, r) }
func (g *clientGame) Reliable(msg []byte)                    { g.reliable(nil, msg) }
func (g *clientGame) Acked(seq uint16)                       { g.ack(seq) }

// world is a server and clients on a memory network. Clients run one frame each
// 1/60 s, the server each serverEvery.
type world struct {
	t           testing.TB
	net         *transport.Network
	cond        *link.Conditioner
	server      *session.Server
	sg          *serverGame
	ends        []*end
	now         components.Ticks
	serverEvery components.Ticks
	serverNext  components.Ticks
	serverSkew  func(now components.Ticks) components.Ticks
	serverSends bool
	serverStops bool
	counter     uint32
}

// end is one client and its own world.
type end struct {
	c      *session.Client
	g      *clientGame
	conn   transport.Conn
	every  components.Ticks
	next   components.Ticks
	sends  bool
	stops  bool
	size   int // bytes of payload beyond 4
	sent   uint32
	scaled bool // obeys SendScale
	due    components.Ticks
	each   func(now components.Ticks)
}

func newWorld(t testing.TB, cfg link.Config, seed uint64, sc session.Config) *world {
	w := &world{t: t, serverEvery: second / 30, serverSends: true, sg: &serverGame{}}
	fleet, err := link.NewFleet(cfg, seed)
	require.NoError(t, err)
	w.cond = link.NewConditioner(fleet, serverAddr)
	w.net = transport.NewNetwork(w.cond)
	conn, err := w.net.Listen(serverAddr)
	require.NoError(t, err)
	if sc.Secret == ([16]byte{}) {
		sc.Secret = secret(200)
	}
	w.server = session.NewServer(conn, sc)
	w.serverSkew = func(now components.Ticks) components.Ticks { return now }
	return w
}

func (w *world) join(player components.PlayerID, cc session.Config) *end {
	conn, err := w.net.Listen(netip.AddrPortFrom(netip.MustParseAddr("10.0.1.1"), 0))
	require.NoError(w.t, err)
	return w.joinOn(conn, player, cc)
}

func (w *world) joinOn(conn transport.Conn, player components.PlayerID, cc session.Config) *end {
	if cc.Secret == ([16]byte{}) {
		cc.Secret = secret(byte(len(w.ends) + 1))
	}
	e := &end{
		c: session.NewClient(conn, serverAddr, player, cc), g: &clientGame{}, conn: conn,
		every: frame, next: w.now, sends: true,
	}
	w.ends = append(w.ends, e)
	require.NoError(w.t, e.c.Connect(w.now))
	return e
}

// run advances time, frame by frame.
func (w *world) run(d components.Ticks) {
	for until := w.now + d; w.now < until; {
		next := w.serverNext
		if w.serverStops {
			next = until
		}
		for _, e := range w.ends {
			if !e.stops {
				next = min(next, e.next)
			}
		}
		w.now = max(w.now, min(next, until))
		w.net.Advance(w.now)
		if w.now >= w.serverNext && !w.serverStops {
			w.serverNext += w.serverEvery
			w.tickServer()
		}
		for _, e := range w.ends {
			if w.now >= e.next && !e.stops {
				e.next += e.every
				e.step(w.now)
			}
		}
	}
}

func (w *world) tickServer() {
	now := w.serverSkew(w.now)
	w.server.Receive(now, w.sg)
	if w.serverSends {
		w.server.Each(func(p *session.Peer) bool {
			b := p.Begin(now)
			w.counter++
			b.WriteBits(uint64(w.counter), 32)
			_, err := p.End()
			require.NoError(w.t, err)
			return true
		})
	}
	w.server.Flush(now)
}

func (e *end) step(now components.Ticks) {
	e.c.Receive(now, e.g)
	if e.each != nil {
		e.each(now)
	}
	if e.sends && e.c.State() == session.Connected && now >= e.due {
		b := e.c.Begin(now)
		e.sent++
		b.WriteBits(uint64(e.sent), 32)
		for range e.size {
			b.WriteBits(0xa5, 8)
		}
		e.c.End()
		if e.scaled {
			e.due = now + components.Ticks(float64(e.every)*e.c.SendScale()) - e.every/2
		}
	}
	e.c.Flush(now)
}

// connected is a world with one client that is let in.
func connected(t testing.TB, cfg link.Config, sc, cc session.Config) (*world, *end) {
	w := newWorld(t, cfg, 1, sc)
	e := w.join(7, cc)
	w.run(second)
	require.Equal(t, session.Connected, e.c.State())
	require.Len(t, w.sg.peers, 1)
	return w, e
}

// near asserts that two times differ by at most d.
func near(t testing.TB, want, got, d components.Ticks) {
	t.Helper()
	if e := got - want; e > d || e < -d {
		require.Failf(t, "not near", "want %d, got %d: %.2f ms off", want, got, 1000*e.Seconds())
	}
}

func number(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

// tap is a Conn that shows what passes and may change or swallow it.
type tap struct {
	transport.Conn
	out func(b []byte) bool // false: swallow
	in  func(b []byte)
}

func (c *tap) Send(b []byte, to netip.AddrPort) error {
	if c.out != nil && !c.out(b) {
		return nil
	}
	return c.Conn.Send(b, to)
}

func (c *tap) Receive(buf []byte) (int, netip.AddrPort, bool) {
	n, from, ok := c.Conn.Receive(buf)
	if ok && c.in != nil {
		c.in(buf[:n])
	}
	return n, from, ok
}
