package session_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/wire"
)

func badLink(rtt time.Duration, loss float64) link.Config {
	cfg := link.Symmetric(rtt, rtt/5, loss)
	for _, p := range []*link.Path{&cfg.Up, &cfg.Down} {
		p.Duplicate, p.Reorder, p.Corrupt = 10, 10, 2
	}
	return cfg
}

// messages are n messages of all sizes up to most, each different.
func messages(seed uint64, n, most int) (m [][]byte) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		size := rng.IntN(20)
		if rng.IntN(10) == 0 {
			size = rng.IntN(most + 1)
		}
		b := make([]byte, size)
		for j := range b {
			b[j] = byte(rng.Uint32())
		}
		if size >= 4 {
			copy(b, number(i))
		}
		m = append(m, b)
	}
	return m
}

func TestReliableMessagesArriveOnceInOrderOnBadLinks(t *testing.T) {
	for _, loss := range []float64{0, 20, 50} {
		for _, rtt := range []time.Duration{0, 100 * time.Millisecond} {
			w := newWorld(t, badLink(rtt, loss), uint64(loss)+1, session.Config{StartSeq: 65_400})
			e := w.join(7, session.Config{StartSeq: 32_600})
			for w.server.Len() == 0 {
				w.run(second / 10)
			}
			up, down := messages(1, 300, 4000), messages(2, 300, 4000)
			p := w.sg.peers[0]
			a, b := up, down
			for range 120 * 60 {
				for len(a) > 0 && e.c.SendReliable(a[0]) == nil {
					a = a[1:]
				}
				for len(b) > 0 && p.SendReliable(b[0]) == nil {
					b = b[1:]
				}
				w.run(frame)
				if len(w.sg.messages) == len(up) && len(e.g.messages) == len(down) {
					break
				}
			}
			w.run(second)
			require.Equal(t, up, w.sg.messages, "loss %v rtt %v", loss, rtt)
			require.Equal(t, down, e.g.messages)
			w.run(5 * second)
			require.Zero(t, p.ReliableQueued())
			require.Zero(t, e.c.ReliableQueued())
			require.Equal(t, []string{"connected"}, w.sg.log)
		}
	}
}

func TestReliableMessageOf64KiB(t *testing.T) {
	w, e := connected(t, link.Symmetric(60*time.Millisecond, 0, 10), session.Config{}, session.Config{})
	big := bytes.Repeat([]byte("0123456789abcdef"), wire.MessageMax/16)
	require.NoError(t, e.c.SendReliable(big))
	require.NoError(t, e.c.SendReliable([]byte("after")))
	require.NoError(t, w.sg.peers[0].SendReliable(big))
	require.ErrorIs(t, e.c.SendReliable(make([]byte, wire.MessageMax+1)), session.ErrMessageTooLong)
	w.run(20 * second)
	require.Equal(t, [][]byte{big, []byte("after")}, w.sg.messages)
	require.Equal(t, [][]byte{big}, e.g.messages)
}

func TestReliableQueueIsBoundedAndRecovers(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{ReliableBytes: 10_000})
	n := 0
	for ; e.c.SendReliable(make([]byte, 98)) == nil; n++ { // 99 with its length
	}
	require.Equal(t, 10_000/99, n)
	require.ErrorIs(t, e.c.SendReliable(make([]byte, 98)), session.ErrQueueFull)
	w.run(second)
	require.Len(t, w.sg.messages, n)
	require.NoError(t, e.c.SendReliable(nil))
	w.run(second)
	require.Len(t, w.sg.messages, n+1)
}

func TestSmallReliableMessagesSharePackets(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	p := w.sg.peers[0]
	w.serverSends, e.sends = false, false
	w.run(second)
	before := p.Stats().PacketsOut
	for i := range 1000 { // a world of spawns
		require.NoError(t, p.SendReliable(number(i)))
	}
	w.run(second)
	require.Len(t, e.g.messages, 1000)
	require.Less(t, p.Stats().PacketsOut-before, uint64(12))
}

func TestReliableRidesWithPayload(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	before := e.c.Stats().PacketsOut
	for i := range 60 {
		require.NoError(t, e.c.SendReliable(number(i)))
		w.run(frame)
	}
	require.InDelta(t, 60, e.c.Stats().PacketsOut-before, 2, "no packets of their own")
	w.run(second / 5)
	require.Len(t, w.sg.messages, 60)
}

func TestReliableOutlastsAnOutage(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	l := w.cond.Link(e.conn.LocalAddr())
	require.NoError(t, l.SetConfig(link.Symmetric(0, 0, 100)))
	for i := range 600 { // ten seconds, one a frame
		require.NoError(t, e.c.SendReliable(number(i)))
		w.run(frame)
	}
	require.NoError(t, l.SetConfig(link.Config{}))
	w.run(4 * second)
	require.Len(t, w.sg.messages, 600)
}

func TestReliableStaysWithinTheServersRate(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	e.every = second / 120
	before := e.c.Stats().PacketsOut
	for range 5 {
		for e.c.SendReliable(make([]byte, 5000)) == nil {
		}
		w.run(second)
	}
	require.Zero(t, w.server.Stats().Refused[session.RateLimited])
	require.Greater(t, len(w.sg.messages), 20)
	require.Less(t, e.c.Stats().PacketsOut-before, uint64(5*(120+100)+20))
}

func TestALostMessageGoesAgainThoughNothingElseIsSent(t *testing.T) {
	w, e, c := tapped(t, link.Config{}, session.Config{}, session.Config{})
	e.sends, w.serverSends = false, false
	w.run(second)
	c.out = func(b []byte) bool { return b[0]&wire.FlagReliable == 0 }
	require.NoError(t, e.c.SendReliable([]byte("once")))
	w.run(frame)
	c.out = nil
	w.run(3 * second / 10)
	require.Equal(t, [][]byte{[]byte("once")}, w.sg.messages)
}

// withFragment sends the client's next packet with a fragment behind it that
// no client sends.
func withFragment(t *testing.T, seq bits.Seq16, data []byte) (*world, *end) {
	var up session.Sealer
	sealer := func(i session.SealInfo) session.Sealer {
		if i.Up {
			up = session.NewCRC(i)
		}
		return session.NewCRC(i)
	}
	w, e, c := tapped(t, link.Config{}, session.Config{}, session.Config{Sealer: sealer})
	c.out = func(b []byte) bool {
		b, ok := up.Open(b)
		require.True(t, ok)
		b = append([]byte{}, b...)
		b[0] |= wire.FlagReliable
		start := len(b)
		b = wire.EndSection(wire.AppendFragment(b, seq, data), start)
		c.out = nil
		require.NoError(t, c.Conn.Send(up.Seal(b), serverAddr))
		return false
	}
	w.run(second)
	return w, e
}

func TestBrokenStreamEndsTheConnection(t *testing.T) {
	w, e := withFragment(t, 0, []byte{0xff, 0xff, 0xff}) // a message length without an end
	require.Equal(t, []session.Reason{session.ReasonProtocol}, w.sg.reasons)
	require.Equal(t, []error{&session.EndedError{Reason: session.ReasonProtocol}}, e.g.errs)
	require.Zero(t, w.server.Slots())
}

func TestAFragmentBeyondTheWindowIsRefused(t *testing.T) {
	w, e := withFragment(t, 256, []byte{1, 'a'})
	require.EqualValues(t, 1, w.server.Stats().Refused[session.Malformed])
	require.Equal(t, session.Connected, e.c.State())
	w, _ = withFragment(t, 255, []byte{1, 'a'})
	require.Zero(t, w.server.Stats().Refused.Total())
	require.Empty(t, w.sg.messages)
}
