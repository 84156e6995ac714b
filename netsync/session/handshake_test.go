package session_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/netsync/wire"
)

func refused(t *testing.T, e *end) *session.RefusedError {
	t.Helper()
	require.Equal(t, session.Ended, e.c.State())
	require.ErrorIs(t, e.c.Err(), session.ErrRefused)
	require.Equal(t, []error{e.c.Err()}, e.g.errs)
	var r *session.RefusedError
	require.True(t, errors.As(e.c.Err(), &r))
	return r
}

func TestAnotherVersionIsRefusedInOneSentence(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{Version: 3})
	e := w.join(7, session.Config{Version: 2})
	w.run(second)
	r := refused(t, e)
	require.Equal(t, wire.RefuseVersion, r.Code)
	require.Equal(t, "The server speaks protocol version 3 and the client version 2.", r.Text)
	require.EqualValues(t, 1, w.server.Stats().Refused[session.WrongVersion])
	require.Zero(t, w.server.Slots())
}

func TestAnotherHashIsRefusedByNameWithBothValues(t *testing.T) {
	hashes := func(level uint64) session.Config {
		return session.Config{Hashes: [3]session.NamedHash{{"profiles", 5}, {"level", level}, {"registry", 9}}}
	}
	w := newWorld(t, link.Config{}, 1, hashes(0xabc))
	e := w.join(7, hashes(0xdef))
	w.run(second)
	r := refused(t, e)
	require.Equal(t, wire.RefuseHash, r.Code)
	require.Equal(t, "level", r.Which)
	require.EqualValues(t, 0xabc, r.Server)
	require.EqualValues(t, 0xdef, r.Client)
	require.Equal(t, "Server and client differ in level: the server has 0000000000000abc, the client 0000000000000def.", r.Text)
	require.EqualValues(t, 1, w.server.Stats().Refused[session.WrongHash])
}

func TestTheLongestNameFitsTheRefusal(t *testing.T) {
	long := make([]byte, 500)
	for i := range long {
		long[i] = 'x'
	}
	w := newWorld(t, link.Config{}, 1, session.Config{Hashes: [3]session.NamedHash{{string(long), 1}}})
	e := w.join(7, session.Config{})
	w.run(second)
	require.Regexp(t, `differ in x{64}: the server has 0{15}1, the client 0{16}\.$`, refused(t, e).Text)
}

func TestFullServerRefuses(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{MaxPeers: 2})
	w.join(1, session.Config{})
	w.join(2, session.Config{})
	w.run(second)
	third := w.join(3, session.Config{})
	w.run(second)
	require.Equal(t, wire.RefuseFull, refused(t, third).Code)
	require.Equal(t, "The server is full: all 2 places are taken.", refused(t, third).Text)
	require.Equal(t, 2, w.server.Slots())
}

func TestFullServerLetsAPlayerComeBack(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{MaxPeers: 1})
	w.join(1, session.Config{})
	w.run(second)
	again := w.join(1, session.Config{})
	w.run(second)
	require.Equal(t, session.Connected, again.c.State())
	require.Equal(t, 1, w.server.Len())
}

func TestGameRefusesWithItsOwnSentence(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{})
	w.sg.refusal = "You are banned until Friday."
	e := w.join(7, session.Config{})
	w.run(second)
	require.Equal(t, wire.RefuseGame, refused(t, e).Code)
	require.Equal(t, "You are banned until Friday.", refused(t, e).Text)
	require.Zero(t, w.server.Slots())
	require.Zero(t, w.sg.connects)
}

func TestHandshakePassesAHeavilyLossyLink(t *testing.T) {
	cfg := link.Symmetric(0, 0, 50)
	for seed := range uint64(20) {
		w := newWorld(t, cfg, seed, session.Config{})
		e := w.join(7, session.Config{})
		w.run(15 * second)
		require.Equal(t, session.Connected, e.c.State(), "seed %d", seed)
		require.Equal(t, 1, w.server.Len())
		require.Equal(t, 1, w.sg.connects)
	}
}

func TestNoAnswerGivesUpAfterTheTimeout(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{})
	w.serverStops = true
	e := w.join(7, session.Config{})
	w.run(19 * second)
	require.Equal(t, session.Requesting, e.c.State())
	w.run(2 * second)
	require.ErrorIs(t, e.c.Err(), session.ErrNoAnswer)
	require.Equal(t, []error{session.ErrNoAnswer}, e.g.errs)
	require.InDelta(t, 80, e.c.Stats().PacketsOut, 2) // every 250 ms
}

func TestConnectIsRefusedWhileConnected(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	require.ErrorIs(t, e.c.Connect(w.now), session.ErrBusy)
}

func TestReconnectOfAPlayerReplacesTheOlderConnection(t *testing.T) {
	w, old := connected(t, link.Config{}, session.Config{}, session.Config{StartSeq: 1000})
	first := w.sg.peers[0]
	again := w.join(7, session.Config{StartSeq: 9})
	w.run(second)
	require.Equal(t, []string{"connected", "disconnected replaced", "connected"}, w.sg.log)
	require.Equal(t, []error{&session.EndedError{Reason: session.ReasonReplaced}}, old.g.errs)
	require.Equal(t, session.Connected, again.c.State())
	require.Len(t, w.sg.peers, 1)
	require.NotEqual(t, first.ID(), again.c.ID())
	require.Equal(t, 1, w.server.Slots())
	first.Begin(w.now).WriteBool(true)
	_, err := first.End()
	require.ErrorIs(t, err, session.ErrNotConnected)
	require.ErrorIs(t, first.SendReliable(nil), session.ErrNotConnected)
}

func TestLatePacketsOfTheOldConnectionAreRefused(t *testing.T) {
	var late []byte
	w := newWorld(t, link.Config{}, 1, session.Config{})
	conn, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:1"))
	require.NoError(t, err)
	old := w.joinOn(&tap{Conn: conn, out: func(b []byte) bool { late = append(late[:0], b...); return true }}, 7, session.Config{})
	w.run(second)
	w.join(7, session.Config{})
	old.stops = true
	w.run(second)
	before := w.server.Stats().Refused[session.UnknownConnection]
	require.NoError(t, conn.Send(late, serverAddr))
	w.run(second)
	require.Equal(t, before+1, w.server.Stats().Refused[session.UnknownConnection])
	require.Equal(t, 1, w.server.Len())
}

func TestTheSameClientConnectsAgainAfterItsEnd(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	id := e.c.ID()
	e.c.Disconnect(session.ReasonQuit)
	w.run(second)
	require.Equal(t, []session.Reason{session.ReasonQuit}, w.sg.reasons)
	require.Equal(t, []error{&session.EndedError{Reason: session.ReasonQuit}}, e.g.errs)
	require.NoError(t, e.c.Connect(w.now))
	require.False(t, e.c.Synced())
	require.Zero(t, e.c.RTT())
	w.run(second)
	require.Equal(t, session.Connected, e.c.State())
	require.NotEqual(t, id, e.c.ID())
	require.True(t, e.c.Synced())
	require.Equal(t, 1, w.server.Slots())
}

func TestReplayedResponseThrowsNobodyOut(t *testing.T) {
	var response []byte
	w := newWorld(t, link.Config{}, 1, session.Config{})
	conn, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:1"))
	require.NoError(t, err)
	old := w.joinOn(&tap{Conn: conn, out: func(b []byte) bool {
		if k, _ := wire.PeekKind(b); k == wire.KindResponse {
			response = append(response[:0], b...)
		}
		return true
	}}, 7, session.Config{})
	w.run(second)
	old.c.Disconnect(session.ReasonQuit)
	w.run(second / 10)
	old.stops = true
	again := w.join(7, session.Config{})
	w.run(second)
	require.NoError(t, conn.Send(response, serverAddr))
	w.run(6 * second)
	require.Equal(t, session.Connected, again.c.State())
	require.Equal(t, []string{"connected", "disconnected quit", "connected"}, w.sg.log)
	require.Equal(t, 1, w.server.Slots(), "the slot that the replay took was given back")
}

func TestConnectionThatIsNeverUsedGivesItsSlotBack(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{})
	conn, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:1"))
	require.NoError(t, err)
	e := w.joinOn(&tap{Conn: conn, out: func(b []byte) bool {
		k, _ := wire.PeekKind(b)
		return k != wire.KindUp
	}}, 7, session.Config{})
	w.run(second)
	require.Equal(t, session.Connected, e.c.State())
	require.Equal(t, 1, w.server.Slots())
	w.run(6 * second)
	require.Zero(t, w.server.Slots())
	require.Empty(t, w.sg.log)
}

func TestUnusedConnectionMakesRoomForAnotherPlayer(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{MaxPeers: 1})
	conn, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:1"))
	require.NoError(t, err)
	w.joinOn(&tap{Conn: conn, out: func(b []byte) bool {
		k, _ := wire.PeekKind(b)
		return k != wire.KindUp
	}}, 7, session.Config{})
	w.run(second)
	require.Equal(t, 1, w.server.Slots())
	e := w.join(8, session.Config{})
	w.run(second)
	require.Equal(t, session.Connected, e.c.State())
	require.Equal(t, 1, w.server.Slots())
	require.NotNil(t, w.server.Peer(8))
}

func TestResponseOfAnEarlierAttemptDoesNotUndoALaterOne(t *testing.T) {
	var first []byte
	w := newWorld(t, link.Config{}, 1, session.Config{})
	conn, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:1"))
	require.NoError(t, err)
	e := w.joinOn(&tap{Conn: conn, out: func(b []byte) bool {
		k, _ := wire.PeekKind(b)
		if k == wire.KindResponse && first == nil {
			first = append([]byte{}, b...)
			return false
		}
		return k != wire.KindUp
	}}, 7, session.Config{})
	w.run(second / 10)
	e.c.Disconnect(session.ReasonQuit)
	w.run(second / 10)
	require.NoError(t, e.c.Connect(w.now))
	w.run(second)
	require.Equal(t, session.Connected, e.c.State())
	answers := w.server.Stats().Answers
	require.NoError(t, conn.Send(first, serverAddr))
	w.run(second / 10)
	require.Equal(t, answers, w.server.Stats().Answers)
	require.EqualValues(t, 1, w.server.Stats().Refused[session.BadCookie])
}

func TestOldCookieIsRefused(t *testing.T) {
	var held []byte
	w := newWorld(t, link.Config{}, 1, session.Config{})
	conn, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:1"))
	require.NoError(t, err)
	e := w.joinOn(&tap{Conn: conn, out: func(b []byte) bool {
		if k, _ := wire.PeekKind(b); k == wire.KindResponse {
			held = append(held[:0], b...)
			return false
		}
		return true
	}}, 7, session.Config{})
	w.run(second)
	e.stops = true
	w.run(11 * second)
	require.NoError(t, conn.Send(held, serverAddr))
	w.run(second)
	require.EqualValues(t, 1, w.server.Stats().Refused[session.BadCookie])
	require.Zero(t, w.server.Slots())
}

func TestCookieOfAnotherAddressIsRefused(t *testing.T) {
	var held []byte
	w := newWorld(t, link.Config{}, 1, session.Config{})
	conn, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:1"))
	require.NoError(t, err)
	w.joinOn(&tap{Conn: conn, out: func(b []byte) bool {
		if k, _ := wire.PeekKind(b); k == wire.KindResponse {
			held = append(held[:0], b...)
			return false
		}
		return true
	}}, 7, session.Config{})
	w.run(second)
	thief, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:2"))
	require.NoError(t, err)
	require.NoError(t, thief.Send(held, serverAddr))
	w.run(second)
	require.EqualValues(t, 1, w.server.Stats().Refused[session.BadCookie])
	require.Zero(t, w.server.Slots())
}

func TestAddressThatChangesDuringTheHandshakeStartsItAgain(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{})
	conn, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:1"))
	require.NoError(t, err)
	moved, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:2"))
	require.NoError(t, err)
	c := &tap{Conn: conn}
	c.out = func(b []byte) bool {
		if k, _ := wire.PeekKind(b); k == wire.KindResponse {
			c.Conn = moved
		}
		return true
	}
	e := w.joinOn(c, 7, session.Config{})
	w.run(second)
	require.NotZero(t, w.server.Stats().Refused[session.BadCookie])
	w.run(3 * second)
	require.Equal(t, session.Connected, e.c.State())
	require.Equal(t, 1, w.server.Len())
}

func TestServerHearsOfItsClientThoughTheFirstPacketIsLost(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{})
	conn, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:1"))
	require.NoError(t, err)
	lost := 0
	e := w.joinOn(&tap{Conn: conn, out: func(b []byte) bool {
		k, _ := wire.PeekKind(b)
		if k == wire.KindUp && lost == 0 {
			lost++
			return false
		}
		return true
	}}, 7, session.Config{KeepAlive: 8 * second})
	e.sends = false
	w.run(second)
	require.Equal(t, 1, lost)
	require.Equal(t, 1, w.server.Len())
}

func TestKickedClientLearnsTheReasonThoughNoticesAreLost(t *testing.T) {
	for seed := range uint64(10) {
		w := newWorld(t, link.Symmetric(0, 0, 40), seed, session.Config{})
		e := w.join(7, session.Config{})
		w.run(10 * second)
		w.sg.peers[0].Disconnect(session.ReasonKicked)
		w.run(second)
		require.Equal(t, []error{&session.EndedError{Reason: session.ReasonKicked}}, e.g.errs, "seed %d", seed)
		require.Equal(t, []session.Reason{session.ReasonKicked}, w.sg.reasons)
		require.Zero(t, w.server.Slots())
	}
}

func TestShutdownTellsEveryClient(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{})
	for player := range 5 {
		w.join(components.PlayerID(player+1), session.Config{})
	}
	w.run(second)
	w.server.Shutdown()
	w.run(second)
	for _, e := range w.ends {
		require.Equal(t, []error{&session.EndedError{Reason: session.ReasonShutdown}}, e.g.errs)
	}
	require.Zero(t, w.server.Slots())
}

func TestGameMayEndAConnectionFromWithinEachCall(t *testing.T) {
	kick := func(p *session.Peer) { p.Disconnect(session.ReasonKicked) }
	for name, set := range map[string]func(g *serverGame){
		"Connected": func(g *serverGame) { g.onConnected = kick },
		"Payload":   func(g *serverGame) { g.onPayload = kick },
		"Reliable":  func(g *serverGame) { g.onReliable = kick },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, link.Config{}, 1, session.Config{})
			set(w.sg)
			e := w.join(7, session.Config{})
			w.run(second / 2)
			if e.c.State() == session.Connected {
				require.NoError(t, e.c.SendReliable([]byte("a")))
				require.NoError(t, e.c.SendReliable([]byte("b")))
			}
			w.run(second)
			require.Equal(t, []string{"connected", "disconnected kicked"}, w.sg.log)
			require.LessOrEqual(t, len(w.sg.messages), 1)
			require.Zero(t, w.server.Slots())
			require.Equal(t, session.Ended, e.c.State())
		})
	}
}

func TestSlotNumbersAreSmallAndUsedAgain(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{})
	for player := range 4 {
		w.join(components.PlayerID(player+1), session.Config{})
	}
	w.run(second)
	require.Equal(t, 1, w.server.Peer(2).Index())
	w.ends[1].c.Disconnect(session.ReasonQuit)
	w.run(second)
	w.join(9, session.Config{})
	w.run(second)
	require.Equal(t, 1, w.server.Peer(9).Index())
}

// stranger is a Conn that feeds datagrams from unconnected addresses and counts
// what each is answered.
type stranger struct {
	in       [][]byte
	out      int
	last     int
	exceeded bool
}

func (c *stranger) Receive(buf []byte) (int, netip.AddrPort, bool) {
	if len(c.in) == 0 {
		return 0, netip.AddrPort{}, false
	}
	n := copy(buf, c.in[0])
	c.in = c.in[1:]
	c.last, c.out = n, 0
	return n, netip.MustParseAddrPort("192.0.2.1:999"), true
}

func (c *stranger) Send(b []byte, _ netip.AddrPort) error {
	c.out += len(b)
	c.exceeded = c.exceeded || c.out > c.last
	return nil
}
func (c *stranger) LocalAddr() netip.AddrPort  { return serverAddr }
func (c *stranger) Stats() (s transport.Stats) { return s }
func (c *stranger) Close() error               { return nil }

func TestNoAddressIsEverAnsweredMoreThanItSent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		conn := &stranger{}
		name := string(make([]byte, rapid.IntRange(0, 300).Draw(rt, "name")))
		s := session.NewServer(conn, session.Config{
			Secret: secret(1), Version: 1, MaxPeers: 1, Hashes: [3]session.NamedHash{{name, 1}},
		})
		for range rapid.IntRange(1, 10).Draw(rt, "datagrams") {
			var b []byte
			buf := make([]byte, 1200)
			req := wire.Request{
				Version: rapid.Uint32Range(0, 2).Draw(rt, "version"), Nonce: rapid.Uint64().Draw(rt, "nonce"),
				Player: components.PlayerID(rapid.Uint64Range(0, 3).Draw(rt, "player")),
				Hashes: [3]uint64{rapid.Uint64Range(0, 1).Draw(rt, "hash")},
			}
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0:
				b = rapid.SliceOfN(rapid.Byte(), 0, 1200).Draw(rt, "bytes")
			case 1:
				b = req.Seal(buf)
			case 2:
				res := wire.Response{Request: req, Issued: components.Ticks(rapid.Int64().Draw(rt, "issued")), Cookie: rapid.Uint64().Draw(rt, "cookie")}
				b = res.Seal(buf)
			case 4: // whole, but without its padding
				b = req.Seal(buf)
				b = bits.SealCRC(b[:rapid.IntRange(51, 80).Draw(rt, "short")], wire.HandshakeSalt)
			case 3:
				b = req.Seal(buf)
				b = b[:rapid.IntRange(0, len(b)).Draw(rt, "cut")]
			}
			conn.in = append(conn.in, b)
		}
		s.Receive(second, &serverGame{})
		s.Flush(2 * second)
		if conn.exceeded {
			rt.Fatal("an answer is longer than what it answers")
		}
		if s.Slots() != 0 {
			rt.Fatal("a stranger holds a slot")
		}
	})
}

func TestEveryAnswerIsShorterThanAKnock(t *testing.T) {
	buf := make([]byte, wire.KnockBytes)
	text := make([]byte, 400)
	for i := range text {
		text[i] = 'x'
	}
	f := wire.Refuse{Code: wire.RefuseGame, Text: string(text)}
	require.LessOrEqual(t, len(f.Seal(buf)), wire.KnockBytes)
	require.LessOrEqual(t, len((&wire.Accept{}).Seal(buf)), wire.KnockBytes)
	require.LessOrEqual(t, len((&wire.Challenge{}).Seal(buf)), wire.KnockBytes)
}
