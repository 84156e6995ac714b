//go:build !js && !wasip1

package link_test

import (
	"encoding/binary"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func socket(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	// Not a time the test depends on, only the end of one that hangs.
	require.NoError(t, c.SetDeadline(time.Now().Add(30*time.Second)))
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func addrOf(c *net.UDPConn) netip.AddrPort { return c.LocalAddr().(*net.UDPAddr).AddrPort() }

func read(t *testing.T, c *net.UDPConn) (string, netip.AddrPort) {
	t.Helper()
	var buf [2000]byte
	n, from, err := c.ReadFromUDPAddrPort(buf[:])
	require.NoError(t, err)
	return string(buf[:n]), transport.Normalize(from)
}

// lossy has no reordering and no jitter, so that packets arrive in the order
// in which they were sent whatever the machine's timing.
var lossy = link.Path{Delay: time.Millisecond, Loss: 20, BurstMean: 2, BurstMax: 4, Duplicate: 10, Corrupt: 20}

// virtually is what arrives of n packets of a client, one way, by the link on
// virtual time.
func virtually(t *testing.T, seed uint64, client int, dir link.Direction, n int) (want []string) {
	t.Helper()
	fleet, err := link.NewFleet(link.Config{Up: lossy, Down: lossy}, seed)
	require.NoError(t, err)
	l := fleet.Link(client)
	for i := range n {
		l.Push(components.Ticks(i)*frame, dir, relayed(client, i))
		for {
			b, _, ok := l.Pop(components.Ticks(i+1) * frame)
			if !ok {
				break
			}
			want = append(want, string(b))
		}
	}
	return want
}

func relayed(client, ordinal int) []byte {
	b := make([]byte, 40)
	binary.LittleEndian.PutUint32(b, uint32(client))
	binary.LittleEndian.PutUint32(b[4:], uint32(ordinal))
	return b
}

func TestRelayGivesEveryPacketTheFateItHasOnVirtualTime(t *testing.T) {
	const seed, n = 2024, 150
	server := socket(t)
	relay, err := link.NewRelay("127.0.0.1:0", addrOf(server).String(), link.Config{Up: lossy, Down: lossy}, seed)
	require.NoError(t, err)
	defer func() { require.NoError(t, relay.Close()) }()

	for c := range 2 {
		want := virtually(t, seed, c, link.Up, n)
		user := socket(t)
		for i := range n {
			_, err := user.WriteToUDPAddrPort(relayed(c, i), relay.Addr())
			require.NoError(t, err)
		}
		var back netip.AddrPort
		var got []string
		for range want {
			var b string
			b, back = read(t, server)
			got = append(got, b)
		}
		require.Equal(t, want, got)
		require.Equal(t, c+1, relay.Clients())

		want, got = virtually(t, seed, c, link.Down, n), nil
		for i := range n {
			_, err := server.WriteToUDPAddrPort(relayed(c, i), back)
			require.NoError(t, err)
		}
		for range want {
			b, from := read(t, user)
			require.Equal(t, relay.Addr(), from)
			got = append(got, b)
		}
		require.Equal(t, want, got)
		require.Equal(t, uint64(n), relay.Stats(c, link.Down).Pushed)
	}
	require.Zero(t, relay.Stats(2, link.Up))
	require.Zero(t, relay.Refused())
}

func TestRelayIgnoresStrangersOnItsServerSide(t *testing.T) {
	server, user, stranger := socket(t), socket(t), socket(t)
	relay, err := link.NewRelay("127.0.0.1:0", addrOf(server).String(), link.Config{}, 1)
	require.NoError(t, err)
	defer relay.Close()
	_, err = user.WriteToUDPAddrPort([]byte("hello"), relay.Addr())
	require.NoError(t, err)
	_, back := read(t, server)
	_, err = stranger.WriteToUDPAddrPort([]byte("boo"), back)
	require.NoError(t, err)
	_, err = server.WriteToUDPAddrPort([]byte("welcome"), back)
	require.NoError(t, err)
	got, _ := read(t, user)
	require.Equal(t, "welcome", got)
}

func TestRelayClosesWithPacketsOnTheirWay(t *testing.T) {
	server, user := socket(t), socket(t)
	relay, err := link.NewRelay("127.0.0.1:0", addrOf(server).String(), link.Symmetric(time.Hour, 0, 0), 1)
	require.NoError(t, err)
	_, err = user.WriteToUDPAddrPort([]byte("x"), relay.Addr())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return relay.Stats(0, link.Up).Pushed == 1 }, 20*time.Second, time.Millisecond)
	require.NoError(t, relay.Close())
	require.NoError(t, relay.Close())
}

func TestRelayReportsWhatItCannotDo(t *testing.T) {
	_, err := link.NewRelay("127.0.0.1:0", "127.0.0.1:1", link.Config{Up: link.Path{Loss: -1}}, 1)
	require.ErrorIs(t, err, link.ErrConfig)
	_, err = link.NewRelay("127.0.0.1:0", "nowhere", link.Config{}, 1)
	require.ErrorContains(t, err, "nowhere")
	_, err = link.NewRelay("nowhere", "127.0.0.1:1", link.Config{}, 1)
	require.ErrorContains(t, err, "nowhere")
}
