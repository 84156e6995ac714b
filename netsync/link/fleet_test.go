package link_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/stretchr/testify/require"
)

var server = netip.MustParseAddrPort("10.0.0.1:7777")

func client(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(n)}), 5000)
}

func newConditioner(t testing.TB, cfg link.Config, seed uint64) (*link.Fleet, *link.Conditioner) {
	t.Helper()
	fleet, err := link.NewFleet(cfg, seed)
	require.NoError(t, err)
	return fleet, link.NewConditioner(fleet, server)
}

func TestConditionedNetworkDelaysEachWay(t *testing.T) {
	cfg := link.Config{Up: link.Path{Delay: 30 * time.Millisecond}, Down: link.Path{Delay: 70 * time.Millisecond}}
	_, cond := newConditioner(t, cfg, 1)
	n := transport.NewNetwork(cond)
	s, err := n.Listen(server)
	require.NoError(t, err)
	c, err := n.Listen(client(1))
	require.NoError(t, err)
	var buf [transport.MaxDatagram]byte

	require.NoError(t, c.Send([]byte("up"), server))
	due, _ := n.Next()
	require.Equal(t, components.TicksOf(30*time.Millisecond), due)
	n.Advance(due - 1)
	_, _, ok := s.Receive(buf[:])
	require.False(t, ok)
	n.Advance(due)
	_, from, ok := s.Receive(buf[:])
	require.True(t, ok)
	require.Equal(t, client(1), from)

	require.NoError(t, s.Send([]byte("down"), from))
	due, _ = n.Next()
	require.Equal(t, components.TicksOf(30*time.Millisecond)+components.TicksOf(70*time.Millisecond), due)
	n.Advance(due)
	size, from, ok := c.Receive(buf[:])
	require.True(t, ok)
	require.Equal(t, "down", string(buf[:size]))
	require.Equal(t, server, from)
}

func TestConditionerGivesEachClientTheLuckOfItsIndex(t *testing.T) {
	cfg := link.Config{Up: link.Path{Loss: 40}, Down: link.Path{Loss: 40}}
	fleet, cond := newConditioner(t, cfg, 77)
	cond.Link(client(9)) // the first to be known, though it never sends
	alone := fleet.Link(2)
	var want, got []bool
	for i := range 200 {
		want = append(want, alone.Push(0, link.Up, payload(i, 8)) == link.Passed)
		cond.Push(0, server, client(4), payload(i, 8)) // index 1
		cond.Push(0, client(2), server, payload(i, 8)) // index 2
		arrived := false
		for {
			_, from, _, ok := cond.Pop(0)
			if !ok {
				break
			}
			arrived = arrived || from == client(2)
		}
		got = append(got, arrived)
	}
	require.Equal(t, want, got)
	require.Equal(t, alone.Stats(link.Up), cond.Link(client(2)).Stats(link.Up))
	require.Zero(t, cond.Link(client(9)).Stats(link.Up))
}

func TestConditionerDropsWhatHasNoServerAtEitherEnd(t *testing.T) {
	_, cond := newConditioner(t, link.Config{}, 1)
	cond.Push(0, client(1), client(2), nil)
	require.Equal(t, uint64(1), cond.Unlinked())
	_, ok := cond.Next()
	require.False(t, ok)
}

func TestOneClientMayHaveItsOwnSettings(t *testing.T) {
	fleet, err := link.NewFleet(link.Config{}, 1)
	require.NoError(t, err)
	require.ErrorIs(t, fleet.SetClient(1, link.Config{Up: link.Path{Loss: 200}}), link.ErrConfig)
	require.NoError(t, fleet.SetClient(1, link.Config{Up: link.Path{Loss: 100}}))
	require.Equal(t, link.Passed, fleet.Link(0).Push(0, link.Up, nil))
	require.Equal(t, link.Lost, fleet.Link(1).Push(0, link.Up, nil))
	require.Equal(t, link.Passed, fleet.Link(2).Push(0, link.Up, nil))
}

func TestArrivalsOfAllClientsAreInOrderOfTime(t *testing.T) {
	cfg := link.Symmetric(100*time.Millisecond, 50*time.Millisecond, 0)
	_, cond := newConditioner(t, cfg, 5)
	for i := range 300 {
		cond.Push(components.Ticks(i)*10, client(i%7), server, payload(i, 8))
	}
	last := components.Ticks(0)
	for n := 0; ; n++ {
		due, ok := cond.Next()
		if !ok {
			require.Equal(t, 300, n)
			return
		}
		require.GreaterOrEqual(t, due, last)
		last = due
		_, _, to, ok := cond.Pop(due)
		require.True(t, ok)
		require.Equal(t, server, to)
	}
}

func TestConditionedNetworkDoesNotAllocateInTheSteadyState(t *testing.T) {
	p := link.Path{Delay: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 2}
	_, cond := newConditioner(t, link.Config{Up: p, Down: p}, 1)
	n := transport.NewNetwork(cond)
	s, err := n.Listen(server)
	require.NoError(t, err)
	clients := make([]*transport.Memory, 8)
	for i := range clients {
		clients[i], err = n.Listen(client(i))
		require.NoError(t, err)
	}
	buf, small, large := make([]byte, transport.MaxDatagram), make([]byte, 70), make([]byte, 900)
	now := components.Ticks(0)
	tick := func() {
		now += frame
		n.Advance(now)
		for {
			if _, _, ok := s.Receive(buf); !ok {
				break
			}
		}
		for _, c := range clients {
			_ = c.Send(small, server)
			_ = s.Send(large, c.LocalAddr())
			for {
				if _, _, ok := c.Receive(buf); !ok {
					break
				}
			}
		}
	}
	for range 1000 {
		tick()
	}
	require.Zero(t, testing.AllocsPerRun(500, tick))
}
