package nettest_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/stretchr/testify/require"
)

// TestSteadyTicksAllocateNothing is the eighth promise for whole apps: a server
// with several players and onlookers, and all of their clients, with their
// network in it, over a link that loses, delays and duplicates.
func TestSteadyTicksAllocateNothing(t *testing.T) {
	good := rtt(50*ms, 0, 0)
	bad := rtt(100*ms, 20*ms, 5)
	bad.Up.Duplicate, bad.Down.Reorder = 5, 5
	for _, c := range []struct {
		name   string
		link   link.Config
		mode   components.SmoothingMode
		listen bool
		fixed  int64
	}{
		{"good link", good, components.SmoothExponential, false, 0},
		{"bad link", bad, components.SmoothLinear, false, 0},
		{"fixed tick", bad, components.SmoothBuffered, false, 60},
		{"listen server", bad, components.SmoothExponential, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := nettest.Options{Clients: 3, Onlookers: 2, Seed: 80, Link: c.link}
			o.Server.Listen = c.listen
			o.Client.FixedHz = c.fixed
			o.Client.Input = humans(t)[0]
			o = with(o, func(s *components.Settings) { s.Smoothing = c.mode; s.AntiCheat() })
			s := session(t, o)
			s.Server.Spawner.Local(s.Server.Spawn(), c.listen)
			s.Advance(20 * second) // every buffer has had its size
			require.Zero(t, testing.AllocsPerRun(3, func() { s.Advance(second) }), "server and clients, a second")
		})
	}
}

// TestCorrectionsAllocateNothing: neither do corrections with their replays.
func TestCorrectionsAllocateNothing(t *testing.T) {
	o := nettest.Options{Clients: 3, Onlookers: 1, Seed: 81, Link: rtt(100*ms, 20*ms, 5)}
	o.Client.Input = humans(t)[0]
	o.Server.Debug = &components.Debug{ForceClientAdjustmentPercent: 20}
	s := session(t, o)
	s.Advance(20 * second)
	before := s.Corrections()
	require.Zero(t, testing.AllocsPerRun(3, func() { s.Advance(second) }))
	require.Greater(t, s.Corrections(), before+20)
}
