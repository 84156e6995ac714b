package session_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/netsync/wire"
)

// tapped is a connected world whose one client sends through a tap.
func tapped(t testing.TB, cfg link.Config, sc, cc session.Config) (*world, *end, *tap) {
	w := newWorld(t, cfg, 1, sc)
	conn, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:1"))
	require.NoError(t, err)
	c := &tap{Conn: conn}
	e := w.joinOn(c, 7, cc)
	w.run(second)
	require.Equal(t, session.Connected, e.c.State())
	return w, e, c
}

func TestAChangedAddressMovesTheConnection(t *testing.T) {
	w, e, c := tapped(t, link.Config{}, session.Config{}, session.Config{})
	p := w.sg.peers[0]
	moved, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:2"))
	require.NoError(t, err)
	c.Conn = moved
	before := len(e.g.payloads)
	w.run(second)
	require.Equal(t, moved.LocalAddr(), p.Addr())
	require.EqualValues(t, 1, p.Stats().Migrations)
	require.Equal(t, []string{"connected"}, w.sg.log)
	require.Greater(t, len(e.g.payloads), before+25)
}

func TestALatePacketFromTheOldAddressDoesNotMoveItBack(t *testing.T) {
	w, _, c := tapped(t, link.Config{}, session.Config{}, session.Config{})
	old := c.Conn
	var held []byte
	c.out = func(b []byte) bool {
		if held == nil {
			held = append([]byte{}, b...)
			return false
		}
		return true
	}
	w.run(second / 10)
	moved, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:2"))
	require.NoError(t, err)
	c.Conn = moved
	w.run(second / 10)
	before := w.server.Stats().PacketsIn
	require.NoError(t, old.Send(held, serverAddr))
	w.run(second / 10)
	require.Greater(t, w.server.Stats().PacketsIn, before)
	require.Zero(t, w.server.Stats().Refused.Total())
	require.Equal(t, moved.LocalAddr(), w.sg.peers[0].Addr())
	require.EqualValues(t, 1, w.sg.peers[0].Stats().Migrations)
}

func TestAClientHearsItsServerOnly(t *testing.T) {
	w, e, c := tapped(t, link.Config{}, session.Config{}, session.Config{})
	e.stops = true
	w.run(second / 10)
	var held []byte
	c.in = func(b []byte) { held = append([]byte{}, b...) }
	e.c.Receive(w.now, e.g)
	require.NotEmpty(t, held)
	other := transport.NewNetwork(nil)
	from, err := other.Listen(netip.MustParseAddrPort("10.0.0.9:7777"))
	require.NoError(t, err)
	c.Conn, err = other.Listen(e.conn.LocalAddr())
	require.NoError(t, err)
	require.NoError(t, from.Send(held, e.conn.LocalAddr()))
	e.c.Receive(w.now, e.g)
	require.EqualValues(t, 1, e.c.Stats().Refused[session.WrongAddress])
}

func TestDuplicatesAreRefusedAndCounted(t *testing.T) {
	w, e, c := tapped(t, link.Config{}, session.Config{}, session.Config{})
	n := uint64(0)
	c.out = func(b []byte) bool { n++; require.NoError(t, c.Conn.Send(b, serverAddr)); return true }
	before := len(w.sg.payloads)
	w.run(2 * second)
	c.out = nil
	e.sends = false
	w.run(second / 2)
	require.Equal(t, n, w.server.Stats().Refused[session.Duplicate])
	require.Equal(t, n, w.sg.peers[0].Stats().Refused[session.Duplicate])
	require.InDelta(t, n, len(w.sg.payloads)-before, 2)
	require.IsIncreasing(t, w.sg.payloads)
}

func TestAPacketBehindTheWindowIsTooOld(t *testing.T) {
	w, _, c := tapped(t, link.Config{}, session.Config{}, session.Config{})
	var held []byte
	c.out = func(b []byte) bool {
		if held == nil {
			held = append([]byte{}, b...)
			return false
		}
		return true
	}
	w.run(10 * second)
	require.NoError(t, c.Conn.Send(held, serverAddr))
	w.run(second)
	require.EqualValues(t, 1, w.server.Stats().Refused[session.TooOld])
}

func TestCorruptedPacketsAreRefused(t *testing.T) {
	cfg := link.Config{Up: link.Path{Corrupt: 30}, Down: link.Path{Corrupt: 30}}
	w, e := connected(t, cfg, session.Config{}, session.Config{})
	w.run(20 * second)
	require.Equal(t, session.Connected, e.c.State())
	require.IsIncreasing(t, w.sg.payloads)
	require.IsIncreasing(t, e.g.payloads)
	require.Greater(t, w.server.Stats().Refused[session.BadCRC], uint64(100))
	require.Greater(t, e.c.Stats().Refused[session.BadCRC], uint64(50))
}

// forge opens a packet of the client, changes its header, and seals it again.
func forge(t *testing.T, b []byte, s session.Sealer, change func(h *wire.Header)) []byte {
	b, ok := s.Open(b)
	require.True(t, ok)
	var h wire.Header
	r := bits.NewReader(b)
	wire.ReadHeader(&r, &h)
	require.NoError(t, r.Err())
	v := r.ReadBits(32)
	change(&h)
	buf := make([]byte, 1200)
	w := bits.NewWriter(buf)
	h.Write(&w, 0)
	w.WriteBits(v, 32)
	return s.Seal(w.Bytes())
}

func forgedWorld(t *testing.T, change func(h *wire.Header)) *world {
	var up session.Sealer
	sealer := func(i session.SealInfo) session.Sealer {
		if i.Up {
			up = session.NewCRC(i)
		}
		return session.NewCRC(i)
	}
	w, e, c := tapped(t, link.Config{}, session.Config{}, session.Config{Sealer: sealer})
	var forged []byte
	c.out = func(b []byte) bool {
		if forged == nil {
			forged = forge(t, b, up, change)
			require.NoError(t, c.Conn.Send(forged, serverAddr))
		}
		return true
	}
	w.run(second / 10)
	e.sends = false
	return w
}

func TestAcksOfPacketsNeverSentAreRefused(t *testing.T) {
	w := forgedWorld(t, func(h *wire.Header) { h.Seq += 1000; h.Ack = h.Ack.Add(2) })
	require.EqualValues(t, 1, w.server.Stats().Refused[session.FutureAck])
	require.IsIncreasing(t, w.sg.payloads)
}

func TestAcksBeforeTheFirstPacketAreRefused(t *testing.T) {
	w := forgedWorld(t, func(h *wire.Header) { h.Ack, h.AckWidth, h.AckBits = 3, 32, 1<<31 })
	require.EqualValues(t, 1, w.server.Stats().Refused[session.FutureAck])
}

func TestForgedHeaderThatIsRightIsTaken(t *testing.T) { // so that the tests above refuse for their own reason
	w := forgedWorld(t, func(h *wire.Header) { h.Seq += 100 })
	require.Zero(t, w.server.Stats().Refused[session.FutureAck])
	require.Zero(t, w.server.Stats().Refused.Total())
	twice := 0
	for i := range w.sg.payloads[1:] {
		if w.sg.payloads[i] == w.sg.payloads[i+1] {
			twice++
		}
	}
	require.Equal(t, 1, twice)
}

func TestAFloodIsCutAndHarmsNobodyElse(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{})
	flood, calm := w.join(1, session.Config{}), w.join(2, session.Config{})
	flood.every = second / 2000
	w.run(10 * second)
	p, q := w.server.Peer(1), w.server.Peer(2)
	require.InDelta(t, 256*10+128, p.Stats().PacketsIn, 300)
	require.Greater(t, p.Stats().Refused[session.RateLimited], uint64(15000))
	require.Zero(t, q.Stats().Refused.Total())
	require.InDelta(t, calm.c.Stats().PacketsOut, q.Stats().PacketsIn, 5)
}

func TestABurstAfterAnOutageIsNotCut(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	w.serverStops = true
	w.run(2 * second) // 120 packets wait in the server's queue
	w.serverStops, w.serverNext = false, w.now
	w.run(second)
	require.Zero(t, w.server.Stats().Refused.Total())
	require.InDelta(t, e.sent, w.sg.payloads[len(w.sg.payloads)-1], 3)
}

func TestAcksLostForThreeSecondsMendThemselves(t *testing.T) {
	w, e := connected(t, link.Symmetric(50*time.Millisecond, 0, 0), session.Config{}, session.Config{})
	l := w.cond.Link(e.conn.LocalAddr())
	cfg := link.Symmetric(50*time.Millisecond, 0, 0)
	cfg.Down.Loss = 100
	require.NoError(t, l.SetConfig(cfg))
	before := len(e.g.acked)
	w.run(3 * second)
	require.InDelta(t, before, len(e.g.acked), 3)
	require.NoError(t, l.SetConfig(link.Symmetric(50*time.Millisecond, 0, 0)))
	w.run(second)
	newest := e.g.acked[len(e.g.acked)-1]
	require.Less(t, int(uint16(e.sent)-newest), 8, "the newest are acknowledged again")
	require.Equal(t, session.Connected, e.c.State())
}

func TestEveryPacketIsAckedOrGivenUpInTheEnd(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	p := w.sg.peers[0]
	require.NoError(t, w.cond.Link(e.conn.LocalAddr()).SetConfig(link.Config{Up: link.Path{Loss: 100}}))
	w.run(12 * second) // more packets than the server remembers
	require.NoError(t, w.cond.Link(e.conn.LocalAddr()).SetConfig(link.Config{}))
	w.run(2 * second)
	st := p.Stats()
	require.InDelta(t, st.PacketsOut, st.Acked+st.Lost, 5)
	require.Greater(t, st.Lost, uint64(300))
}

func TestSequencesWrapUnseen(t *testing.T) {
	cfg := link.Symmetric(80*time.Millisecond, 20*time.Millisecond, 5)
	for _, start := range []uint16{0, 32_700, 65_500} {
		w, e := connected(t, cfg, session.Config{StartSeq: start}, session.Config{StartSeq: start + 3})
		w.run(20 * second)
		sent := e.sent
		for i := range 200 {
			require.NoError(t, e.c.SendReliable(number(i)))
			require.NoError(t, w.sg.peers[0].SendReliable(number(i)))
			w.run(frame)
		}
		w.run(10 * second)
		require.Equal(t, session.Connected, e.c.State())
		require.InDelta(t, 0.95*float64(sent), len(w.sg.payloads)*int(sent)/int(e.sent), 0.03*float64(sent))
		require.Zero(t, w.server.Stats().Refused.Total())
		require.Zero(t, e.c.Stats().Refused.Total()-e.c.Stats().Refused[session.NotConnected])
		require.Len(t, w.sg.messages, 200)
		require.Len(t, e.g.messages, 200)
	}
}

func TestAllSequencesTwiceAround(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{MaxPacketsPerSecond: 2000}, session.Config{})
	e.every, w.serverEvery = second/960, second/960
	w.sg.quiet, e.g.quiet = true, true
	w.run(140 * second)
	require.Zero(t, w.server.Stats().Refused.Total())
	require.Greater(t, e.c.Stats().PacketsOut, uint64(1<<17))
	require.InDelta(t, e.c.Stats().PacketsOut, e.c.Stats().Acked, 20)
	require.Zero(t, e.c.Stats().Lost)
}

func TestPacketsThatCameLateAreAckedToo(t *testing.T) {
	cfg := link.Config{Up: link.Path{Reorder: 30, ReorderHold: 150 * msec}}
	w, e := connected(t, cfg, session.Config{}, session.Config{})
	w.run(20 * second)
	require.NoError(t, w.cond.Link(e.conn.LocalAddr()).SetConfig(link.Config{}))
	w.run(second)
	e.sends = false
	w.run(second)
	st := e.c.Stats()
	require.InDelta(t, st.PacketsOut, st.Acked, 5) // the handshake's, and the last
	require.Greater(t, st.Lost, uint64(200), "they were given up before")
}

func TestIdleConnectionLivesOnKeepAlives(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	e.sends, w.serverSends = false, false
	w.run(second)
	before := e.c.Stats().PacketsOut
	w.run(600 * second)
	require.Equal(t, session.Connected, e.c.State())
	require.Equal(t, 1, w.server.Len())
	require.InDelta(t, 1200, e.c.Stats().PacketsOut-before, 60)
	e.sends = true
	w.run(second)
	require.Zero(t, w.server.Stats().Refused.Total())
}

func TestOneWayTrafficIsAcked(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	w.serverSends = false
	e.every = second / 120 // two keep-alives a second could not name them all
	w.run(10 * second)
	require.InDelta(t, e.c.Stats().PacketsOut, e.c.Stats().Acked, 20)
}

func TestViewTimeReachesTheServer(t *testing.T) {
	w, e := connected(t, link.Symmetric(100*time.Millisecond, 10*time.Millisecond, 5), session.Config{}, session.Config{})
	views := map[uint32]components.Ticks{}
	e.each = func(now components.Ticks) {
		v := e.c.ServerNow(now) - second/10
		e.c.SetView(v)
		views[e.sent+1] = v
	}
	w.sg.payloads, w.sg.headers = nil, nil
	w.run(10 * second)
	with := 0
	for i, h := range w.sg.headers {
		v, ok := views[w.sg.payloads[i]]
		if ok && h.HasView {
			with++
			near(t, v, h.View, wire.HoldUnit)
		}
	}
	require.Greater(t, with, 500)
}

func TestServerTimeAndTickReachTheClient(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{})
	w.serverSkew = func(now components.Ticks) components.Ticks {
		w.server.SetTick(uint64(now / w.serverEvery))
		return now + 1_000_000*second // more than 24 bits of time
	}
	e := w.join(7, session.Config{})
	w.run(3000 * second / 10)
	require.NotEmpty(t, e.g.headers)
	for _, h := range e.g.headers {
		require.EqualValues(t, (h.Time-1_000_000*second)/w.serverEvery, h.Tick)
	}
	require.InDelta(t, float64(w.now/w.serverEvery), e.c.ServerTick(), 2)
	last := e.g.headers[len(e.g.headers)-1]
	near(t, w.now+1_000_000*second, last.Time, w.serverEvery)
}

// What a move packet costs around the moves: sizes measured over a real run.
func TestHeaderAndSealUpstreamStayUnder18Bytes(t *testing.T) {
	for _, loss := range []float64{0, 5} {
		w, e, c := tapped(t, link.Symmetric(100*time.Millisecond, 20*time.Millisecond, loss), session.Config{}, session.Config{})
		e.each = func(now components.Ticks) { e.c.SetView(e.c.ServerNow(now) - second/20) }
		sum, n, most := 0, 0, 0
		c.out = func(b []byte) bool {
			sum, n, most = sum+len(b)-4, n+1, max(most, len(b)-4)
			return true
		}
		w.run(20 * second)
		t.Logf("loss %v %%: %.2f bytes in the mean, %d at most", loss, float64(sum)/float64(n), most)
		require.Less(t, float64(sum)/float64(n), 17.0)
		require.LessOrEqual(t, most, 20)
	}
}

func TestOverfullPacketIsNotSent(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	before := e.c.Stats().PacketsOut
	b := e.c.Begin(w.now)
	room := b.Room()
	require.Greater(t, room/8, 1200-25)
	for range room/8 + 1 {
		b.WriteBits(1, 8)
	}
	_, err := e.c.End()
	require.ErrorIs(t, err, session.ErrPacketOverflow)
	require.Equal(t, before, e.c.Stats().PacketsOut)
	w.run(second)
	require.Zero(t, w.server.Stats().Refused.Total())
}

func TestDiscardedPacketUsesNoSequence(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	e.c.Begin(w.now).WriteBits(1, 32)
	e.c.Discard()
	e.c.Begin(w.now).WriteBits(1, 32)
	a, err := e.c.End()
	require.NoError(t, err)
	e.c.Begin(w.now).WriteBits(1, 32)
	b, err := e.c.End()
	require.NoError(t, err)
	require.Equal(t, a+1, b)
}

func TestBeginTwiceIsAProgrammersError(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	e.c.Begin(w.now)
	require.Panics(t, func() { e.c.Begin(w.now) })
}

func TestAFrozenClientIsBackAtOnce(t *testing.T) {
	for _, freeze := range []components.Ticks{second / 5, second, 3 * second, 10 * second} {
		w, e := connected(t, link.Symmetric(50*time.Millisecond, 0, 0), session.Config{}, session.Config{})
		w.run(2 * second)
		e.stops = true
		w.run(freeze)
		e.stops, e.next = false, w.now
		w.run(second / 2)
		require.Equal(t, session.Connected, e.c.State())
		require.Zero(t, w.server.Stats().Refused.Total())
		require.Less(t, e.c.RTT(), second/5, "waiting in the queue is no round trip")
		near(t, w.now, e.c.ServerNow(w.now), 20*ms)
		require.Zero(t, e.c.ClockJumps())
	}
}

func TestAStalledServerIsBackAtOnce(t *testing.T) {
	w, e := connected(t, link.Symmetric(50*msec, 0, 0), session.Config{}, session.Config{})
	w.run(2 * second)
	w.serverStops = true
	w.run(5 * second)
	w.serverStops, w.serverNext = false, w.now
	before := len(e.g.payloads)
	w.run(second / 10)
	require.Greater(t, len(e.g.payloads), before)
	require.Less(t, w.sg.peers[0].RTT(), second/5, "waiting in the queue is no round trip")
	require.Zero(t, e.c.ClockJumps())
}

func TestOneFrameLongerThanTheTimeoutEndsCleanlyAndConnectsAgain(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	e.stops = true
	w.run(30 * second)
	require.Equal(t, []session.Reason{session.ReasonTimeout}, w.sg.reasons)
	e.stops, e.next = false, w.now
	w.run(frame)
	require.Equal(t, session.Ended, e.c.State())
	require.Len(t, e.g.errs, 1)
	require.NoError(t, e.c.Connect(w.now))
	w.run(second)
	require.Equal(t, session.Connected, e.c.State())
	require.True(t, e.c.Synced())
	require.Equal(t, 1, w.server.Slots())
}

// floodConn always has another datagram, as a socket has that is filled faster
// than it is emptied.
type floodConn struct {
	transport.Conn
	datagram []byte
	taken    int
}

func (c *floodConn) Receive(buf []byte) (int, netip.AddrPort, bool) {
	c.taken++
	return copy(buf, c.datagram), netip.MustParseAddrPort("10.66.0.1:1"), true
}

func (c *floodConn) Send([]byte, netip.AddrPort) error { return nil }

func TestReceiveEndsUnderAFlood(t *testing.T) {
	q := wire.Request{Player: 5, Nonce: 6}
	var buf [transport.MaxDatagram]byte
	for _, d := range [][]byte{q.Seal(buf[:]), {1, 2, 3}, {}} {
		conn := &floodConn{datagram: d}
		s := session.NewServer(conn, session.Config{})
		s.Receive(1, nil)
		require.Equal(t, 4096, conn.taken, "the server's tick goes on")
		conn.taken = 0
		c := session.NewClient(conn, netip.MustParseAddrPort("10.66.0.1:1"), 5, session.Config{})
		require.NoError(t, c.Connect(1))
		c.Receive(2, nil)
		require.Equal(t, 4096, conn.taken, "the client's frame goes on")
	}
}
