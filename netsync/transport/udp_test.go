//go:build !js && !wasip1

package transport_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/gaitnet/gait/netsync/transport"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func listen(t *testing.T, addr string, cfg transport.UDPConfig) *transport.UDP {
	t.Helper()
	u, err := transport.ListenUDPWith(addr, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, u.Close()) })
	return u
}

// await receives one datagram, for which it waits on the socket and not on a
// clock; the test's own deadline is the limit.
func await(t *testing.T, u *transport.UDP) (string, netip.AddrPort) {
	t.Helper()
	var buf [transport.MaxDatagram]byte
	for {
		if n, from, ok := u.Receive(buf[:]); ok {
			return string(buf[:n]), from
		}
		select {
		case <-u.Ready():
		case <-time.After(20 * time.Second):
			require.FailNow(t, "nothing arrived")
		}
	}
}

func TestUDPCarriesDatagramsBothWays(t *testing.T) {
	server := listen(t, "127.0.0.1:0", transport.UDPConfig{})
	client := listen(t, "127.0.0.1:0", transport.UDPConfig{})
	require.NoError(t, client.Send([]byte("ping"), server.LocalAddr()))
	got, from := await(t, server)
	require.Equal(t, "ping", got)
	require.Equal(t, client.LocalAddr(), from)

	require.NoError(t, server.Send(make([]byte, transport.MaxDatagram), from))
	got, _ = await(t, client)
	require.Len(t, got, transport.MaxDatagram)
	require.Equal(t, transport.Stats{PacketsIn: 1, BytesIn: 1200, PacketsOut: 1, BytesOut: 4}, client.Stats())
}

func TestUDPOnEveryInterfaceSeesIPv4PeersAsIPv4(t *testing.T) {
	server := listen(t, ":0", transport.UDPConfig{})
	client := listen(t, "127.0.0.1:0", transport.UDPConfig{})
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), server.LocalAddr().Port())
	require.NoError(t, client.Send([]byte("x"), to))
	_, from := await(t, server)
	require.Equal(t, client.LocalAddr(), from)
	require.NoError(t, server.Send([]byte("y"), from))
	got, _ := await(t, client)
	require.Equal(t, "y", got)
}

func TestUDPDropsOversizedDatagramsWhole(t *testing.T) {
	server := listen(t, "127.0.0.1:0", transport.UDPConfig{})
	raw, err := net.Dial("udp", server.LocalAddr().String())
	require.NoError(t, err)
	defer raw.Close()
	_, err = raw.Write(make([]byte, transport.MaxDatagram+1))
	require.NoError(t, err)
	_, err = raw.Write(make([]byte, 4000))
	require.NoError(t, err)
	_, err = raw.Write([]byte("after"))
	require.NoError(t, err)
	got, _ := await(t, server)
	require.Equal(t, "after", got)
	require.Equal(t, uint64(2), server.Stats().Oversized)
}

func TestUDPQueueDropsAndCountsWhatItCannotHold(t *testing.T) {
	server := listen(t, "127.0.0.1:0", transport.UDPConfig{Queue: 4})
	client := listen(t, "127.0.0.1:0", transport.UDPConfig{Queue: 4})
	for i := range 10 {
		require.NoError(t, client.Send([]byte{byte(i)}, server.LocalAddr()))
	}
	// The reader counts each drop; yield to it until it has seen them all.
	require.Eventually(t, func() bool { return server.Stats().QueueDropped == 6 }, 20*time.Second, time.Millisecond)
	for i := range 4 {
		got, _ := await(t, server)
		require.Equal(t, string([]byte{byte(i)}), got)
	}
	require.NoError(t, client.Send([]byte("new"), server.LocalAddr()))
	got, _ := await(t, server)
	require.Equal(t, "new", got)
}

func TestUDPGoesOnAfterAPeerHasVanished(t *testing.T) {
	server := listen(t, "127.0.0.1:0", transport.UDPConfig{})
	gone, err := transport.ListenUDP("127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	for range 5 {
		_ = server.Send([]byte("x"), gone.LocalAddr()) // the refusal may come back as an error
	}
	client := listen(t, "127.0.0.1:0", transport.UDPConfig{})
	require.NoError(t, client.Send([]byte("still there"), server.LocalAddr()))
	got, _ := await(t, server)
	require.Equal(t, "still there", got)
}

func TestUDPAfterCloseSendsAndReceivesNothing(t *testing.T) {
	u, err := transport.ListenUDP("127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, u.Send([]byte("x"), u.LocalAddr()))
	<-u.Ready()
	require.NoError(t, u.Close())
	require.NoError(t, u.Close())
	require.ErrorIs(t, u.Send(nil, u.LocalAddr()), transport.ErrClosed)
	var buf [transport.MaxDatagram]byte
	_, _, ok := u.Receive(buf[:])
	require.False(t, ok)
}

func TestUDPNamesTheAddressItCannotListenOn(t *testing.T) {
	u := listen(t, "127.0.0.1:0", transport.UDPConfig{})
	_, err := transport.ListenUDP(u.LocalAddr().String())
	require.ErrorContains(t, err, u.LocalAddr().String())
	_, err = transport.ListenUDP("no port here")
	require.ErrorContains(t, err, "no port here")
}

func TestUDPDoesNotAllocatePerDatagram(t *testing.T) {
	server := listen(t, "127.0.0.1:0", transport.UDPConfig{})
	client := listen(t, "127.0.0.1:0", transport.UDPConfig{})
	var buf [transport.MaxDatagram]byte
	to, b := server.LocalAddr(), make([]byte, 60)
	exchange := func() {
		_ = client.Send(b, to)
		<-server.Ready()
		for {
			if _, _, ok := server.Receive(buf[:]); ok {
				return
			}
		}
	}
	exchange()
	require.Zero(t, testing.AllocsPerRun(200, exchange))
}
