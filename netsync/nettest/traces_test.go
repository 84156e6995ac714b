package nettest_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	netsession "github.com/gaitnet/gait/netsync/session"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

// recordedLink is a link that a trace drives, and the outages in it.
type recordedLink struct {
	name    string
	cfg     link.Config
	whole   components.Ticks // of the trace
	start   components.Ticks // of the stretch that short runs play
	outages []outage         // in the trace's time, by beginning
}

// outage is a time in which one direction carried nothing.
type outage struct{ from, to components.Ticks }

// outageLeast is a gap that counts as an outage: who is silent for so long is
// moved by the server.
const outageLeast = components.Second / 4

// shortTrace is how much of a trace short runs play, from 20 s before its longest
// gap on.
const shortTrace = 60 * second

func parseTrace(t testing.TB, data []byte) *link.Trace {
	t.Helper()
	tr, err := link.ParseTrace(data)
	require.NoError(t, err)
	return tr
}

// gaps are the outages of a mahimahi trace.
func gaps(t testing.TB, data []byte) (all []outage) {
	t.Helper()
	last := components.Ticks(0)
	for _, line := range strings.Fields(string(data)) {
		ms, err := strconv.ParseInt(line, 10, 64)
		require.NoError(t, err)
		at := components.Ticks(ms) * second / 1000
		if at-last > outageLeast {
			all = append(all, outage{last, at})
		}
		last = at
	}
	return all
}

// badRows are the times of a round-trip trace around rows in which 60 % of the
// round trips were lost, or that took half a second.
func badRows(t testing.TB, data []byte) (all []outage) {
	t.Helper()
	rows := strings.Fields(string(data))[1:]
	cell := func(row, i int) float64 {
		row = min(max(row, 0), len(rows)-1)
		v, err := strconv.ParseFloat(strings.Split(rows[row], ",")[i], 64)
		require.NoError(t, err)
		return v
	}
	for i := range rows {
		if cell(i, 2) >= 500 || cell(i, 5) >= 60 {
			all = append(all, outage{components.TicksFromSeconds(cell(i-1, 0)), components.TicksFromSeconds(cell(i+1, 0))})
		}
	}
	return all
}

// recordedLinks are the traces beside the project, and small ones of each format
// that are made here.
func recordedLinks(t testing.TB) (all []recordedLink) {
	add := func(name string, up, down []byte) {
		u, d := parseTrace(t, up), parseTrace(t, down)
		r := recordedLink{name: name, whole: components.TicksOf(u.Duration())}
		r.cfg.Up = link.Path{Delay: 20 * ms, Trace: u}
		r.cfg.Down = link.Path{Delay: 20 * ms, Trace: d}
		if u.Kind() == link.Opportunities {
			r.outages = append(gaps(t, up), gaps(t, down)...)
		}
		if u.Kind() == link.RoundTrips {
			r.outages = badRows(t, up)
		}
		longest := outage{}
		for _, o := range r.outages {
			if o.to-o.from > longest.to-longest.from {
				longest = o
			}
		}
		r.start = max(0, longest.from-20*second)
		all = append(all, r)
	}
	made := func(gapFrom, gap, step int) []byte {
		var b bytes.Buffer
		for at := step; at < 30_000; at += step {
			if at < gapFrom || at >= gapFrom+gap {
				fmt.Fprintln(&b, at)
			}
		}
		return b.Bytes()
	}
	add("made, gap up", made(5000, 4000, 10), made(0, 0, 8))
	add("made, gap down", made(0, 0, 10), made(6000, 3000, 8))
	add("made, gap of both", made(5000, 6000, 10), made(4000, 7500, 8))
	bus := []byte("0\t2.5\n4\t0.15\n9\t1.8\n14\t0.22\n20\t3\n")
	add("made, rates", bus, bus)
	car := []byte("t_s,rtt_min_ms,rtt_avg_ms,rtt_max_ms,rtt_stdev_ms,loss_pct\n4,70,72,75,1,0\n8,80,240,400,50,20\n12,70,90,100,5,60\n16,70,75,80,2,0\n")
	add("made, round trips", car, car)

	data := sharedData(t)
	if data == "" {
		return all
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(data, "traces", name))
		require.NoError(t, err)
		return b
	}
	for _, name := range []string{"ATT-LTE-driving-2016", "Verizon-EVDO-driving"} {
		add(name, read(name+".up"), read(name+".down"))
	}
	for _, name := range []string{"5g-driving.csv", "norway_bus_10", "norway_bus_11"} {
		add(name, read(name), read(name))
	}
	return all
}

// traceReport is the worst that was seen on a link.
type traceReport struct {
	late        float64 // s from an outage's end until everything had converged
	unanswered  float64 // s: the longest that a move waited for its answer, outside of outages
	replays     uint64  // in a frame
	replayed    uint64  // moves in a frame
	packets     uint64  // that a client sent in a frame
	moves       uint64  // that the server executed in a tick
	scale       float64 // the most that the sends were stretched
	queued      int     // saved moves
	corrections uint64
	lost        uint64 // packets, in full queues
	outages     int
}

// TestEveryTraceIsPlayedThroughAndConvergesAfterItsOutages is the fifth promise:
// each recorded link whole, or over a stretch that holds its longest gap.
func TestEveryTraceIsPlayedThroughAndConvergesAfterItsOutages(t *testing.T) {
	for _, r := range recordedLinks(t) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			start, d := r.start, shortTrace
			if long {
				start, d = 0, r.whole
			}
			rep := playTrace(t, &r, start, min(d, r.whole-start))
			t.Logf("%+v", rep)
			require.Equal(t, len(r.outages) > 0, rep.outages > 0, "an outage was played")
			require.LessOrEqual(t, rep.late, 1.0, "s until everything has converged after an outage")
			// Answers come every 0.1 s; more is transit, and one that was lost.
			require.LessOrEqual(t, rep.unanswered, 1.0, "s that a move waits while the link carries")
			require.LessOrEqual(t, rep.replays, uint64(1), "replays a frame")
			require.LessOrEqual(t, rep.replayed, uint64(components.MaxSavedMoves), "replayed moves a frame")
			require.LessOrEqual(t, rep.queued, components.MaxSavedMoves, "saved moves")
			require.LessOrEqual(t, rep.packets, uint64(2), "packets a frame")
			require.LessOrEqual(t, rep.moves, uint64(components.MaxReceivedMoves), "moves a server tick")
		})
	}
}

// playTrace plays a stretch of a trace with one player and one onlooker behind
// it.
func playTrace(t *testing.T, r *recordedLink, start, d components.Ticks) (rep traceReport) {
	cfg := r.cfg
	cfg.Up.TraceStart, cfg.Down.TraceStart = start.Duration(), start.Duration()
	o := nettest.Options{Clients: 1, Onlookers: 1, FPS: 60, Seed: 9, Link: cfg}
	o.Client.Input = humans(t)[0]
	s := session(t, o)
	c, id := s.Clients[0], owned(t, s, 0)
	trail := follow(s, id)
	s.Advance(second / 10) // a first step on the trail

	// The end of the last outage, and since when everything has converged.
	over, good := start+s.Now, start+s.Now
	before := *c.Stats
	sent := c.Conn.Stats().PacketsOut
	executed := s.Server.Stats.Moves
	eachTick(s, func() {
		rep.moves = max(rep.moves, s.Server.Stats.Moves-executed)
		executed = s.Server.Stats.Moves
	})
	eachFrame(s, func(client int) {
		if client != 0 {
			return
		}
		rep.replays = max(rep.replays, c.Stats.Replays-before.Replays)
		rep.replayed = max(rep.replayed, c.Stats.ReplayedMoves-before.ReplayedMoves)
		before = *c.Stats
		out := c.Conn.Stats().PacketsOut
		rep.packets, sent = max(rep.packets, out-sent), out
		rep.scale = max(rep.scale, c.Clock.SendScale)
		q := queueOf(c)
		if q == nil {
			return
		}
		rep.queued = max(rep.queued, q.Len())

		at := start + s.Now
		down := false
		for _, x := range r.outages {
			if x.from <= at && at < x.to {
				down = true
			}
			if x.to <= at && x.to > over {
				over = x.to
				rep.outages++
			}
		}
		stamp := components.Ticks(part[components.ClientPrediction](c, id).CurrentTimeStamp)
		age := (stamp - components.Ticks(q.LastAcked.Cmd.Stamp)).Seconds()
		if age < 0 {
			age += components.StampResetPeriod.Seconds()
		}
		seen := meshOf(s.Clients[1], id)
		away := math.Inf(1)
		if seen != nil {
			away = trail.away(seen.Location, s.Now, 2*second)
		}
		ok := age < 1 && away < 100
		if ok || down {
			good = at
		}
		if down {
			return
		}
		rep.late = max(rep.late, (at - max(good, over)).Seconds())
		if at-over > second {
			rep.unanswered = max(rep.unanswered, age)
		}
	})
	s.Advance(d - s.Now)
	rep.corrections = s.Corrections()
	l := s.Links.Link(nettest.ClientAddr(0))
	rep.lost = l.Stats(link.Up).QueueDropped + l.Stats(link.Down).QueueDropped
	return rep
}

// TestLinkTooSlowForTheGameIsBackedOffFrom plays over bottlenecks that carry a
// part of the 34 kbit/s that a client sends upstream: the sends are stretched
// until the queue no longer grows, and the game goes on.
func TestLinkTooSlowForTheGameIsBackedOffFrom(t *testing.T) {
	for _, kbps := range []int64{12, 20, 28} {
		t.Run(fmt.Sprintf("%d kbit/s", kbps), func(t *testing.T) {
			t.Parallel()
			o := nettest.Options{Clients: 1, FPS: 60, Seed: 4, Link: rtt(60*ms, 0, 0)}
			o.Client.Input = humans(t)[0]
			s := session(t, o)
			cfg := rtt(60*ms, 0, 0)
			cfg.Up.Bandwidth = kbps * 1000
			setLink(t, s, 0, cfg)
			c, up := s.Clients[0], s.Links.Link(nettest.ClientAddr(0))
			most := 0.0
			eachFrame(s, func(int) { most = max(most, c.Clock.SendScale) })
			s.Advance(40 * second)
			require.GreaterOrEqual(t, most, 34/float64(kbps), "the sends are stretched")
			dropped, acks, sent := up.Stats(link.Up).QueueDropped, c.Stats.Acks, c.Conn.Stats()
			var trips nettest.Histogram
			eachFrame(s, func(int) { trips.Add(c.Clock.RTT.Seconds()) })
			d := span(5*minute, 30*second)
			s.Advance(d)
			got := c.Conn.Stats()
			require.Equal(t, dropped, up.Stats(link.Up).QueueDropped, "the queue is never full")
			// It finds out again and again whether the link carries more by now.
			require.Less(t, trips.Quantile(0.5), 0.3, "s of round trip")
			require.Less(t, trips.Max(), 5.0, "s of round trip at worst")
			require.Greater(t, float64(c.Stats.Acks-acks)/d.Seconds(), 5.0, "answers a second")
			load := float64((got.BytesOut-sent.BytesOut+aroundPacket*(got.PacketsOut-sent.PacketsOut))*8) / 1000 / d.Seconds()
			require.LessOrEqual(t, load, float64(kbps), "kbit/s sent")
			settled(t, s, "over a slow link")
		})
	}
}

// TestLinkThatCarriesNothingTimesOutCleanly takes the link away under a running
// session, and lets a client knock at a link that never was.
func TestLinkThatCarriesNothingTimesOutCleanly(t *testing.T) {
	dead := link.Symmetric(0, 0, 100)
	t.Run("under a session", func(t *testing.T) {
		o := nettest.Options{Clients: 2, FPS: 60, Seed: 4, Link: rtt(60*ms, 0, 0)}
		o.Client.Input = humans(t)[0]
		s := session(t, o)
		s.Advance(2 * second)
		id := owned(t, s, 0)
		setLink(t, s, 0, dead)
		s.Advance(21 * second)
		var ended *netsession.EndedError
		require.ErrorAs(t, s.Clients[0].Net.Err(), &ended)
		require.Equal(t, netsession.ReasonTimeout, ended.Reason)
		require.Equal(t, 1, s.Server.Net.Players(), "connections of the server")
		_, there := s.Server.Net.Entity(id)
		require.False(t, there, "the character on the server")
		require.Nil(t, stateOf(s.Clients[1], id), "the character at the other player")
		require.Empty(t, s.Clients[0].Net.Owned())
		require.Equal(t, obstacles(s), entities(s.Clients[0].App.World()), "nothing but the level's obstacles is left")
		require.Equal(t, netsession.Connected, s.Clients[1].Net.Session().State())
		quiet := s.Clients[0].Conn.Stats().PacketsOut
		s.Advance(5 * second)
		require.Equal(t, quiet, s.Clients[0].Conn.Stats().PacketsOut, "packets after the end")
	})
	t.Run("from the start", func(t *testing.T) {
		s, err := nettest.NewSession(nettest.Options{Clients: 1, Seed: 4, Link: dead})
		require.NoError(t, err)
		t.Cleanup(s.Close)
		s.Advance(21 * second)
		require.ErrorIs(t, s.Clients[0].Net.Err(), netsession.ErrNoAnswer)
		require.Zero(t, s.Server.Net.Players())
		require.Equal(t, obstacles(s), entities(s.Clients[0].App.World()), "entities of the client")
		require.Equal(t, obstacles(s), entities(s.Server.App.World()), "entities of the server")
	})
}

func entities(w *arche.World) int { return w.Stats().Entities.Used }

func obstacles(s *nettest.Session) int { return len(s.Server.Level.Obstacles()) }

// TestEveryProfileIsPlayedOrRefusedCleanly plays the named link presets.
func TestEveryProfileIsPlayedOrRefusedCleanly(t *testing.T) {
	slow := []byte(`{"content": {
		"up": {"delay": {"delay": "400", "jitter": 5}, "loss": {"percentage": "1"}, "rate": "32"},
		"down": {"delay": {"delay": 650}, "loss": {"percentage": 2}, "rate": 20}}}`)
	none := []byte(`{"content": {"up": {"rate": "1"}, "down": {"rate": "1"}}}`)
	profiles := map[string][]byte{"made, slow": slow, "made, nothing": none}
	if data := sharedData(t); data != "" {
		files, err := filepath.Glob(filepath.Join(data, "traces", "profiles", "*.json"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, f := range files {
			b, err := os.ReadFile(f)
			require.NoError(t, err)
			profiles[filepath.Base(f)] = b
		}
	}
	for name, b := range profiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := parseTrace(t, b)
			o := nettest.Options{Clients: 1, Onlookers: 1, FPS: 60, Seed: 4}
			o.Link = link.Config{Up: link.Path{Trace: p}, Down: link.Path{Trace: p}}
			o.Client.Input = humans(t)[0]
			s, err := nettest.NewSession(o)
			require.NoError(t, err)
			t.Cleanup(s.Close)
			up := p.Profile(link.Up)
			trip := components.TicksOf(up.Delay + p.Profile(link.Down).Delay).Seconds()
			if up.Bandwidth < 2000 {
				// It carries a packet a second; what is knocked with queues up.
				s.Advance(21 * second)
				require.ErrorIs(t, s.Clients[0].Net.Err(), netsession.ErrNoAnswer)
				s.Advance(40 * second)
				require.Zero(t, s.Server.Net.Players())
				return
			}
			require.NoError(t, s.Connect(20*second))
			s.Advance(20 * second)
			c, id := s.Clients[0], owned(t, s, 0)
			acks, waited := c.Stats.Acks, 0.0
			eachFrame(s, func(i int) {
				if i == 0 {
					stamp := components.Ticks(part[components.ClientPrediction](c, id).CurrentTimeStamp)
					waited = max(waited, (stamp - components.Ticks(queueOf(c).LastAcked.Cmd.Stamp)).Seconds())
				}
			})
			d := span(2*minute, 15*second)
			s.Advance(d)
			require.Equal(t, netsession.Connected, c.Net.Session().State())
			require.Greater(t, float64(c.Stats.Acks-acks)/d.Seconds(), 5.0, "answers a second")
			// A queue is seen a round trip late, and what a stretch does about it another.
			require.Less(t, waited, 3*trip+3, "s that a move waits for its answer")
		})
	}
}
