package session_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/session"
)

// steady is a world of several clients in which all buffers have been used.
func steady(t testing.TB, cfg link.Config) *world {
	w := newWorld(t, cfg, 1, session.Config{})
	w.sg.quiet = true
	for i := range 8 {
		e := w.join(components.PlayerID(i+1), session.Config{})
		e.g.quiet = true
		e.size = 20
		e.each = func(now components.Ticks) { e.c.SetView(e.c.ServerNow(now)) }
	}
	w.run(20 * second)
	return w
}

func TestSteadyServerAndClientsDoNotAllocate(t *testing.T) {
	for name, cfg := range map[string]link.Config{
		"good link": link.Symmetric(50*msec, 0, 0),
		"bad link":  badLink(100*time.Millisecond, 10),
	} {
		w := steady(t, cfg)
		require.Zero(t, testing.AllocsPerRun(10, func() { w.run(second) }), name)
	}
}

func TestRefusingPacketsDoesNotAllocate(t *testing.T) {
	w := steady(t, link.Config{})
	conn, err := w.net.Listen(netip.MustParseAddrPort("10.9.9.9:9"))
	require.NoError(t, err)
	garbage := make([]byte, 300)
	before := w.server.Stats().Refused.Total()
	n := 0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for range 8 {
			n++
			garbage[0] = byte(n)
			require.NoError(t, conn.Send(garbage, serverAddr))
		}
		w.run(frame)
	}))
	require.Greater(t, w.server.Stats().Refused.Total(), before+700)
}

func TestRepeatedReliableTrafficDoesNotAllocate(t *testing.T) {
	w := steady(t, link.Config{})
	msg := make([]byte, 3000)
	send := func() {
		for range 4 {
			require.NoError(t, w.ends[0].c.SendReliable(msg))
			require.NoError(t, w.sg.peers[0].SendReliable(msg))
		}
		w.run(second)
	}
	for range 100 {
		send()
	}
	require.Zero(t, testing.AllocsPerRun(5, send))
	require.Equal(t, 4*106, w.sg.heard)
	require.Equal(t, 4*106, w.ends[0].g.heard)
}
