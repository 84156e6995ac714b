package transport_test

import (
	"net/netip"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/stretchr/testify/require"
)

var (
	serverAddr = netip.MustParseAddrPort("10.0.0.1:7777")
	clientAddr = netip.MustParseAddrPort("10.0.0.2:5000")
)

// delayLine is a Conditioner with one delay for everything.
type delayLine struct {
	delay components.Ticks
	line  []inFlight
	last  []byte
}

type inFlight struct {
	due      components.Ticks
	from, to netip.AddrPort
	b        []byte
}

func (d *delayLine) Push(now components.Ticks, from, to netip.AddrPort, b []byte) {
	d.line = append(d.line, inFlight{now + d.delay, from, to, append([]byte(nil), b...)})
}

func (d *delayLine) Next() (components.Ticks, bool) {
	if len(d.line) == 0 {
		return 0, false
	}
	return d.line[0].due, true
}

func (d *delayLine) Pop(now components.Ticks) ([]byte, netip.AddrPort, netip.AddrPort, bool) {
	if len(d.line) == 0 || d.line[0].due > now {
		return nil, netip.AddrPort{}, netip.AddrPort{}, false
	}
	f := d.line[0]
	d.line = d.line[1:]
	return f.b, f.from, f.to, true
}

func pair(t *testing.T, n *transport.Network) (server, client *transport.Memory) {
	t.Helper()
	server, err := n.Listen(serverAddr)
	require.NoError(t, err)
	client, err = n.Listen(clientAddr)
	require.NoError(t, err)
	return server, client
}

func receiveAll(c transport.Conn) (all []string, from []netip.AddrPort) {
	var buf [transport.MaxDatagram]byte
	for {
		n, a, ok := c.Receive(buf[:])
		if !ok {
			return all, from
		}
		all, from = append(all, string(buf[:n])), append(from, a)
	}
}

func TestMemoryDeliversAtOnceAndInOrderWithoutConditioner(t *testing.T) {
	server, client := pair(t, transport.NewNetwork(nil))
	for _, s := range []string{"one", "", "three"} {
		require.NoError(t, client.Send([]byte(s), serverAddr))
	}
	got, from := receiveAll(server)
	require.Equal(t, []string{"one", "", "three"}, got)
	require.Equal(t, []netip.AddrPort{clientAddr, clientAddr, clientAddr}, from)
	require.Equal(t, transport.Stats{PacketsOut: 3, BytesOut: 8}, client.Stats())
	require.Equal(t, transport.Stats{PacketsIn: 3, BytesIn: 8}, server.Stats())
}

func TestMemoryDeliversWhenTheConditionerSaysSo(t *testing.T) {
	n := transport.NewNetwork(&delayLine{delay: 100})
	server, client := pair(t, n)
	n.Advance(50)
	require.NoError(t, client.Send([]byte("x"), serverAddr))
	due, ok := n.Next()
	require.True(t, ok)
	require.Equal(t, components.Ticks(150), due)

	n.Advance(149)
	got, _ := receiveAll(server)
	require.Empty(t, got)

	n.Advance(10) // an earlier time must not turn the clock back
	require.Equal(t, components.Ticks(149), n.Now())

	n.Advance(150)
	got, _ = receiveAll(server)
	require.Equal(t, []string{"x"}, got)
}

func TestMemoryWithoutDelayDeliversWithinSend(t *testing.T) {
	server, client := pair(t, transport.NewNetwork(&delayLine{}))
	require.NoError(t, client.Send([]byte("x"), serverAddr))
	got, _ := receiveAll(server)
	require.Equal(t, []string{"x"}, got)
}

func TestMemoryQueueDropsTheNewestWhenFull(t *testing.T) {
	n := transport.NewNetwork(nil)
	server, err := n.ListenQueue(serverAddr, 20)
	require.NoError(t, err)
	client, err := n.Listen(clientAddr)
	require.NoError(t, err)
	for i := range 25 {
		require.NoError(t, client.Send([]byte{byte(i)}, serverAddr))
	}
	got, _ := receiveAll(server)
	require.Len(t, got, 20)
	require.Equal(t, string([]byte{19}), got[19])
	require.Equal(t, uint64(5), server.Stats().QueueDropped)
}

func TestMemoryRefusesWhatCannotBeSent(t *testing.T) {
	server, client := pair(t, transport.NewNetwork(nil))
	require.ErrorIs(t, client.Send(make([]byte, transport.MaxDatagram+1), serverAddr), transport.ErrTooLarge)
	require.ErrorIs(t, client.Send(nil, netip.AddrPort{}), transport.ErrBadAddress)
	require.ErrorIs(t, client.Send(nil, netip.AddrPortFrom(serverAddr.Addr(), 0)), transport.ErrBadAddress)
	require.NoError(t, client.Send(make([]byte, transport.MaxDatagram), serverAddr))
	require.NoError(t, client.Close())
	require.NoError(t, client.Close())
	require.ErrorIs(t, client.Send(nil, serverAddr), transport.ErrClosed)
	require.Equal(t, uint64(4), client.Stats().SendErrors)
	got, _ := receiveAll(server)
	require.Len(t, got, 1)
}

func TestMemoryCountsWhatArrivesNowhere(t *testing.T) {
	n := transport.NewNetwork(&delayLine{delay: 10})
	server, client := pair(t, n)
	require.NoError(t, client.Send([]byte("x"), serverAddr))
	require.NoError(t, server.Close())
	n.Advance(10)
	require.Equal(t, uint64(1), n.Unroutable())

	again, err := n.Listen(serverAddr)
	require.NoError(t, err)
	got, _ := receiveAll(again)
	require.Empty(t, got)
}

func TestMemoryGivesFreePortsAndRefusesTakenOnes(t *testing.T) {
	n := transport.NewNetwork(nil)
	_, err := n.Listen(netip.AddrPort{})
	require.ErrorIs(t, err, transport.ErrBadAddress)
	_, err = n.Listen(serverAddr)
	require.NoError(t, err)
	_, err = n.Listen(netip.MustParseAddrPort("[::ffff:10.0.0.1]:7777"))
	require.ErrorIs(t, err, transport.ErrAddressInUse)
	a, err := n.Listen(netip.AddrPortFrom(serverAddr.Addr(), 0))
	require.NoError(t, err)
	b, err := n.Listen(netip.AddrPortFrom(serverAddr.Addr(), 0))
	require.NoError(t, err)
	require.NotEqual(t, a.LocalAddr(), b.LocalAddr())
}

func TestReceiveIntoAShortBufferPanics(t *testing.T) {
	server, _ := pair(t, transport.NewNetwork(nil))
	require.Panics(t, func() { server.Receive(make([]byte, transport.MaxDatagram-1)) })
}

func TestMemoryDoesNotAllocateInTheSteadyState(t *testing.T) {
	server, client := pair(t, transport.NewNetwork(nil))
	small, large := make([]byte, 60), make([]byte, transport.MaxDatagram)
	buf := make([]byte, transport.MaxDatagram)
	frame := func() {
		for range 20 {
			_ = client.Send(small, serverAddr)
			_ = client.Send(large, serverAddr)
		}
		for {
			if _, _, ok := server.Receive(buf); !ok {
				return
			}
		}
	}
	frame()
	require.Zero(t, testing.AllocsPerRun(100, frame))
}

func TestPoolKeepsCopiesApart(t *testing.T) {
	var p transport.Pool
	a, b := p.Copy([]byte("aaaa")), p.Copy([]byte("bb"))
	require.Equal(t, "aaaa", string(a))
	p.Put(a)
	c := p.Copy(make([]byte, 256))
	require.Equal(t, make([]byte, 256), c)
	require.Equal(t, "bb", string(b))
	require.Len(t, p.Copy(make([]byte, transport.MaxDatagram)), transport.MaxDatagram)
}
