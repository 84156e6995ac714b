package session_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/session"
)

// player is a connected world whose client sends 60 packets a second of about
// 40 bytes, 32 kbit/s with headers, as far as SendScale lets it.
func player(t testing.TB, cfg link.Config, seed uint64) (*world, *end) {
	w := newWorld(t, cfg, seed, session.Config{})
	e := w.join(7, session.Config{})
	e.size, e.scaled = 20, true
	for i := 0; e.c.State() != session.Connected && i < 200; i++ {
		w.run(second / 10)
	}
	require.Equal(t, session.Connected, e.c.State())
	return w, e
}

// watch gives the mean and the largest scale over a time.
func watch(w *world, e *end, d components.Ticks) (mean, most float64) {
	n := int(d / (second / 10))
	for range n {
		w.run(second / 10)
		mean += e.c.SendScale()
		most = max(most, e.c.SendScale())
	}
	return mean / float64(n), most
}

func TestNoBackOffOnALinkThatCarriesAll(t *testing.T) {
	for name, cfg := range map[string]link.Config{
		"nothing wrong":     {},
		"loss of 5 %":       link.Symmetric(100*msec, 20*msec, 5),
		"loss of 20 %":      link.Symmetric(100*msec, 20*msec, 20),
		"jitter of 100 ms":  link.Symmetric(100*msec, 100*msec, 10),
		"bursts":            {Up: link.Path{Delay: 50 * msec, Loss: 5, BurstMax: 10}, Down: link.Path{Delay: 50 * msec, Loss: 5, BurstMax: 10}},
		"reordering":        {Up: link.Path{Delay: 50 * msec, Reorder: 20, Duplicate: 10}, Down: link.Path{Reorder: 20, Duplicate: 10}},
		"slow but enough":   {Up: link.Path{Bandwidth: 64_000}, Down: link.Path{Bandwidth: 64_000}},
		"downstream queues": {Down: link.Path{Delay: 20 * msec, Bandwidth: 8_000}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, hz := range []components.Ticks{10, 30} {
				w, e := player(t, cfg, 3)
				w.serverEvery = second / hz
				_, most := watch(w, e, 60*second)
				require.Equal(t, 1.0, most, "server at %d Hz", hz)
				require.Zero(t, e.c.NetSpeed())
			}
		})
	}
}

func TestBackOffFindsWhatTheLinkCarries(t *testing.T) {
	for _, kbit := range []float64{24, 16, 8, 4} {
		w, e := player(t, link.Config{Up: link.Path{Delay: 30 * msec, Bandwidth: int64(kbit * 1000)}, Down: link.Path{Delay: 30 * msec}}, 3)
		w.run(20 * second)
		before, sent := w.server.Stats(), e.c.Stats()
		mean, _ := watch(w, e, 60*second)
		after, now := w.server.Stats(), e.c.Stats()
		got := float64(after.BytesIn-before.BytesIn+28*(after.PacketsIn-before.PacketsIn)) * 8 / 60 / 1000
		loss := 1 - float64(after.PacketsIn-before.PacketsIn)/float64(now.PacketsOut-sent.PacketsOut)
		t.Logf("%v kbit/s: scale %.2f, %.1f kbit/s carried, loss %.1f %%, delay %v", kbit, mean, got, 100*loss, e.c.RTT().Duration())
		need := 33.0 / kbit
		require.Greater(t, mean, 0.8*need)
		require.Less(t, mean, 2.5*need)
		require.Less(t, loss, 0.05)
		require.Greater(t, got, 0.5*kbit)
		require.Less(t, e.c.RTT(), second)
		require.NotZero(t, e.c.NetSpeed())
		require.Less(t, float64(e.c.NetSpeed())*8/1000, 1.3*kbit)
		require.Equal(t, session.Connected, e.c.State())
	}
}

func TestBackOffWithLossOnTop(t *testing.T) {
	w, e := player(t, link.Config{Up: link.Path{Bandwidth: 16_000, Loss: 10}, Down: link.Path{Loss: 10}}, 3)
	w.run(20 * second)
	mean, most := watch(w, e, 60*second)
	require.Greater(t, mean, 1.6)
	require.Less(t, mean, 5.0)
	require.Less(t, most, 12.0)
}

func TestBackOffOnAShortQueueThatDropsMost(t *testing.T) {
	w, e := player(t, link.Config{Up: link.Path{Bandwidth: 8_000, QueueTime: 300 * msec}}, 3)
	w.run(20 * second)
	mean, _ := watch(w, e, 60*second)
	require.Greater(t, mean, 2.0)
}

func TestBackOffEndsWithTheCongestion(t *testing.T) {
	w, e := player(t, link.Config{Up: link.Path{Bandwidth: 8_000}}, 3)
	w.run(20 * second)
	require.Greater(t, e.c.SendScale(), 2.0)
	require.NoError(t, w.cond.Link(e.conn.LocalAddr()).SetConfig(link.Config{}))
	w.run(60 * second)
	require.Equal(t, 1.0, e.c.SendScale())
}

// An outage says nothing of what the link carries when it is there again.
func TestBackOffEndsWithAnOutage(t *testing.T) {
	for _, gone := range []components.Ticks{2 * second, 5 * second, 15 * second} {
		good := link.Symmetric(100*msec, 20*msec, 0)
		w, e := player(t, good, 3)
		w.run(20 * second)
		l := w.cond.Link(e.conn.LocalAddr())
		require.NoError(t, l.SetConfig(link.Symmetric(0, 0, 100)))
		w.run(gone)
		require.Greater(t, e.c.SendScale(), 1.4, "nothing is heard")
		require.NoError(t, l.SetConfig(good))
		w.run(second)
		require.Equal(t, 1.0, e.c.SendScale())
		require.Zero(t, e.c.NetSpeed())
	}
}

func TestALongerWayIsTheNewNormal(t *testing.T) {
	w, e := player(t, link.Symmetric(20*msec, 5*msec, 0), 3)
	w.run(10 * second)
	require.NoError(t, w.cond.Link(e.conn.LocalAddr()).SetConfig(link.Symmetric(300*msec, 5*msec, 0)))
	_, most := watch(w, e, 10*second)
	require.LessOrEqual(t, most, 2.25)
	w.run(10 * second)
	require.Equal(t, 1.0, e.c.SendScale())
}

func TestALinkThatCarriesNothingBacksOffAndTimesOut(t *testing.T) {
	w, e := player(t, link.Config{}, 3)
	w.run(5 * second)
	require.NoError(t, w.cond.Link(e.conn.LocalAddr()).SetConfig(link.Config{Up: link.Path{Loss: 100}, Down: link.Path{Loss: 100}}))
	w.run(15 * second)
	require.Equal(t, 12.0, e.c.SendScale())
	w.run(6 * second)
	require.Equal(t, []error{&session.EndedError{Reason: session.ReasonTimeout}}, e.g.errs)
	require.Zero(t, w.server.Slots())
}

func TestAnOutageIsForgottenSoon(t *testing.T) {
	w, e := player(t, link.Symmetric(50*msec, 0, 0), 3)
	w.run(5 * second)
	require.NoError(t, w.cond.Link(e.conn.LocalAddr()).SetConfig(link.Config{Up: link.Path{Loss: 100}, Down: link.Path{Loss: 100}}))
	w.run(5 * second)
	require.Greater(t, e.c.SendScale(), 3.0)
	require.NoError(t, w.cond.Link(e.conn.LocalAddr()).SetConfig(link.Symmetric(50*msec, 0, 0)))
	w.run(7 * second)
	require.Less(t, e.c.SendScale(), 1.3)
}

func TestASleepingClientDoesNotBackOff(t *testing.T) {
	w, e := player(t, link.Symmetric(50*msec, 0, 0), 3)
	e.stops = true
	w.run(8 * second)
	e.stops, e.next = false, w.now
	_, most := watch(w, e, 5*second)
	require.Equal(t, 1.0, most)
}

func TestRecordedLinksCarryTheSession(t *testing.T) {
	dir, err := filepath.Abs(".")
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, dir, filepath.Dir(dir), "no go.mod above")
		dir = filepath.Dir(dir)
	}
	files, err := os.ReadDir(filepath.Join(dir, "..", "shared", "data", "traces"))
	if os.IsNotExist(err) {
		t.Skip("../shared is absent")
	}
	require.NoError(t, err)
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, "..", "shared", "data", "traces", f.Name()))
		require.NoError(t, err)
		tr, err := link.ParseTrace(data)
		if err != nil {
			continue // a text about them
		}
		start := time.Duration(0)
		if tr.Duration() > 800*time.Second {
			start = 740 * time.Second // EVDO's longest gap lies at 760 s
		}
		path := link.Path{Trace: tr, TraceStart: start}
		w, e := player(t, link.Config{Up: path, Down: path}, 3)
		_, most := watch(w, e, 60*second)
		up := w.cond.Link(e.conn.LocalAddr()).Stats(link.Up)
		t.Logf("%-28s scale up to %.1f, RTT %v, %d of %d dropped, jumps %d", f.Name(), most, e.c.RTT().Duration(),
			up.QueueDropped, up.Pushed, e.c.ClockJumps())
		require.Equal(t, session.Connected, e.c.State(), f.Name())
		require.Zero(t, w.server.Stats().Refused[session.RateLimited], f.Name())
		require.Zero(t, e.c.ClockJumps(), f.Name())
	}
}
