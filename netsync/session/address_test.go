package session_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
)

// forger sends in another's name while forge is set, and counts what it sends.
type forger struct {
	transport.Conn
	victim transport.Conn
	forge  bool
	silent bool
	sent   int
}

func (f *forger) Send(b []byte, to netip.AddrPort) error {
	if f.silent {
		return nil
	}
	if f.forge {
		f.sent += len(b)
		return f.victim.Send(b, to)
	}
	return f.Conn.Send(b, to)
}

// Packets with a good seal and somebody else's address as their sender: that
// address gets no more bytes than were sent in its name.
func TestForgedAddressGetsNoMoreThanWasSentInItsName(t *testing.T) {
	w := newWorld(t, link.Config{}, 1, session.Config{})
	conn, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:1"))
	require.NoError(t, err)
	victim, err := w.net.Listen(netip.MustParseAddrPort("10.0.9.9:9"))
	require.NoError(t, err)
	f := &forger{Conn: conn, victim: victim}
	w.joinOn(f, 7, session.Config{})
	w.run(second)
	got, buf := 0, make([]byte, 2048)
	for range 8 {
		f.forge, f.silent = true, false
		w.run(second / 20)
		f.silent = true
		w.run(second)
		for {
			n, _, ok := victim.Receive(buf)
			if !ok {
				break
			}
			got += n
		}
		require.Positive(t, f.sent)
		require.LessOrEqual(t, got, f.sent)
	}
	require.Equal(t, victim.LocalAddr(), w.sg.peers[0].Addr(), "the packets were taken for a move")
	require.Positive(t, got, "the address was asked for its proof")
}

// A client that really moved proves it, and is sent to as before whether or not
// it says much.
func TestMovedClientProvesItsAddress(t *testing.T) {
	w, e, c := tapped(t, link.Config{}, session.Config{}, session.Config{})
	moved, err := w.net.Listen(netip.MustParseAddrPort("10.0.1.9:2"))
	require.NoError(t, err)
	c.Conn = moved
	w.run(2 * second)
	i := 0
	c.out = func([]byte) bool { i++; return i%20 == 0 }
	before := len(e.g.payloads)
	w.run(3 * second)
	require.Greater(t, len(e.g.payloads), before+75)
	require.Equal(t, session.Connected, e.c.State())
	require.Zero(t, w.server.Stats().Refused.Total())
}
