package session_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/session"
)

func TestClientConnectsAndBothExchangePayload(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	require.Equal(t, 1, e.g.connects)
	require.Equal(t, 1, w.sg.connects)
	require.Equal(t, w.sg.peers[0].ID(), e.c.ID())
	require.Equal(t, w.sg.peers[0].Index(), e.c.Slot())
	require.EqualValues(t, 7, w.sg.peers[0].Player())
	require.Same(t, w.sg.peers[0], w.server.Peer(7))
	require.Greater(t, len(w.sg.payloads), 50)
	require.Greater(t, len(e.g.payloads), 20)
	require.IsIncreasing(t, w.sg.payloads)
	require.IsIncreasing(t, e.g.payloads)
}

func TestEverySentPacketIsAckedOnceOnALossyLink(t *testing.T) {
	cfg := link.Symmetric(60*time.Millisecond, 10*time.Millisecond, 5)
	cfg.Up.Duplicate, cfg.Up.Reorder, cfg.Down.Duplicate, cfg.Down.Reorder = 5, 5, 5, 5
	w, e := connected(t, cfg, session.Config{}, session.Config{})
	w.run(30 * second)
	e.sends = false
	w.run(second)
	seen := map[uint16]bool{}
	for _, s := range e.g.acked {
		require.False(t, seen[s])
		seen[s] = true
	}
	// Whatever reached the server was acknowledged, but for the few that no
	// acknowledgement in 32 packets could reach.
	require.InDelta(t, len(w.sg.payloads), len(e.g.acked), 10)
	require.Greater(t, len(w.sg.payloads), 1600)
}

func TestSilentClientTimesOutAndLeavesNothing(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	e.stops = true
	w.run(19 * second)
	require.Empty(t, w.sg.reasons)
	w.run(2 * second)
	require.Equal(t, []session.Reason{session.ReasonTimeout}, w.sg.reasons)
	require.Zero(t, w.server.Len())
	require.Zero(t, w.server.Slots())
}

func TestSilentServerTimesOut(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	w.serverStops = true
	w.run(21 * second)
	require.Equal(t, session.Ended, e.c.State())
	require.ErrorIs(t, e.c.Err(), session.ErrEnded)
	require.Equal(t, []error{&session.EndedError{Reason: session.ReasonTimeout}}, e.g.errs)
}
