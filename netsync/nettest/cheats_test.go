package nettest_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/nettest"
	netsession "github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/stretchr/testify/require"
)

// cheated is what the server made of a game in which client 0 may cheat and
// client 1 is honest.
type cheated struct {
	s *nettest.Session
	// length is the way of client 0's character on the server, cm.
	length float64
	// others is a chain of the exact states of client 1's.
	others nettest.HashChain
	// forced is the part of the way that the server made while the owner was
	// silent.
	forced     float64
	detections uint32
	// spent is how much of client 0's time the server executed, s.
	spent float64
}

// lateCheat is a connection that is honest until begun.
type lateCheat struct {
	transport.Conn
	cheat transport.Conn
	begun bool
}

func (c *lateCheat) SetFrame(now components.Ticks) {
	if c.begun {
		transport.SetFrame(c.cheat, now)
		return
	}
	transport.SetFrame(c.Conn, now)
}

func (c *lateCheat) Send(b []byte, to netip.AddrPort) error {
	if c.begun {
		return c.cheat.Send(b, to)
	}
	return c.Conn.Send(b, to)
}

// playCheat plays with a cheat in client 0, or with its honest twin where kind
// is empty: same link, same seed, same hands.
func playCheat(t *testing.T, kind string, seed uint64, hands bool, d components.Ticks) *cheated {
	t.Helper()
	o := nettest.Options{Clients: 2, FPS: 60, Seed: seed, Link: rtt(80*ms, 10*ms, 1)}
	if hands {
		all := humans(t)
		o.Input = func(i int) *nettest.Input { return all[i] }
	} else {
		o = on(flat(t), o)
	}
	o = with(o, (*components.Settings).AntiCheat)
	var cheat *nettest.Cheat
	var late *lateCheat
	if kind != "" {
		var err error
		cheat, err = nettest.NewCheat(kind, seed)
		require.NoError(t, err)
		made := 0
		o.Client.Extend = func(app *ecs.App) {
			if made == 0 {
				cheat.Extend(app)
			}
			made++
		}
		o.Wrap = func(i int, c transport.Conn) transport.Conn {
			if i == 0 {
				late = &lateCheat{Conn: c, cheat: cheat.Wrap(c)}
				return late
			}
			return c
		}
		o.Time = func(i int, now components.Ticks) components.Ticks {
			if i == 0 {
				return cheat.Time(now)
			}
			return now
		}
	}
	s, err := nettest.NewSession(o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	if cheat != nil {
		cheat.Started(s.Clients[0])
	}
	require.NoError(t, s.Connect(5*second))
	// Both runs are measured from the same moment on.
	s.Advance(6*second - s.Now)
	if late != nil {
		late.begun = true
	}
	if !hands {
		drive(s, straight)
	}
	g := &cheated{s: s}
	id, other := owned(t, s, 0), owned(t, s, 1)
	last := onServer[components.MovementState](s, id).Location
	began := onServer[components.ServerPrediction](s, id).ServerAccumulatedClientTimeStamp
	eachTick(s, func() {
		at := onServer[components.MovementState](s, id).Location
		g.length += exact.Dist(at, last)
		if onServer[components.ServerPrediction](s, id).Forced.Active {
			g.forced += exact.Dist(at, last)
		}
		last = at
		g.others.Begin(s.Now)
		g.others.Add(other, onServer[components.MovementState](s, other))
		g.others.End()
	})
	s.Advance(d)
	pred := onServer[components.ServerPrediction](s, id)
	g.detections, g.spent = pred.Discrepancy.Detections, (pred.ServerAccumulatedClientTimeStamp - began).Seconds()
	return g
}

// noticedBy are the counters that must notice a cheat, more than with its honest
// twin.
var noticedBy = map[string]func(g *cheated) uint64{
	"clock1.1":  func(g *cheated) uint64 { return uint64(g.detections) },
	"clock2":    func(g *cheated) uint64 { return uint64(g.detections) },
	"speed2":    corrected(components.CorrectPosition),
	"teleport":  corrected(components.CorrectPosition),
	"fly":       func(g *cheated) uint64 { return g.s.Clients[0].Stats.TotalCorrections() },
	"lagswitch": func(g *cheated) uint64 { return g.s.Server.Stats.ForcedMoves },
	"stale":     refused(netsession.Duplicate, netsession.TooOld),
	"future":    dropped(components.DropTooFarAhead),
	"flood":     refused(netsession.Duplicate),
	"garbage":   refused(netsession.BadCRC, netsession.UnknownConnection, netsession.WrongKind, netsession.Short),
}

func corrected(r components.CorrectionReason) func(*cheated) uint64 {
	return func(g *cheated) uint64 { return g.s.Clients[0].Stats.Corrections[r] }
}

func dropped(r components.DropReason) func(*cheated) uint64 {
	return func(g *cheated) uint64 { return g.s.Server.Stats.MovesDropped[r] }
}

func refused(reasons ...netsession.Refusal) func(*cheated) uint64 {
	return func(g *cheated) (n uint64) {
		for _, r := range reasons {
			n += g.s.Server.Net.Session().Stats().Refused[r]
		}
		return n
	}
}

// TestNoCheatGainsMoreThanTheMarginOrTouchesOthers is the sixth promise.
func TestNoCheatGainsMoreThanTheMarginOrTouchesOthers(t *testing.T) {
	for _, hands := range []bool{false, true} {
		for i, kind := range nettest.CheatKinds {
			t.Run(fmt.Sprintf("%s, hands %v", kind, hands), func(t *testing.T) {
				t.Parallel()
				d, seed := span(5*minute, 20*second), uint64(i+1)
				twin, g := playCheat(t, "", seed, hands, d), playCheat(t, kind, seed, hands, d)
				set := g.s.Server.Settings
				margin := set.MaxTimeMargin + 1.0/30
				require.LessOrEqual(t, g.spent-twin.spent, margin+set.DriftAllowance*d.Seconds(), "s of time that it gained")
				bound := margin*runSpeed + set.DriftAllowance*twin.length
				gain := g.length - twin.length
				by := noticedBy[kind]
				t.Logf("%.3f s and %.1f cm gained, of %.0f; counted %d times; %s", g.spent-twin.spent, gain, bound, by(g), correctionsBy(g.s))
				if hands && kind == "lagswitch" {
					// While it is silent the server goes on with its last key
					// (item 115), also where the hands would have let go.
					bound += g.forced
				}
				// Hands on a fast clock are others than its twin's: faster.
				if !hands || !strings.HasPrefix(kind, "clock") {
					require.LessOrEqual(t, gain, bound, "cm that it gained")
				}
				require.Greater(t, by(g), by(twin), "counted")
				require.Zero(t, twin.detections, "the honest twin is never taken for one")
				require.Zero(t, g.s.Clients[1].Stats.TotalCorrections(), "corrections of the other player")
				require.Equal(t, twin.others.Sum(), g.others.Sum(), "the other player's states, bit for bit")
			})
		}
	}
}

// honest plays one player under the anti-cheat profile and tells whether it was
// taken for a cheat.
func honest(t *testing.T, o nettest.Options) *nettest.Session {
	t.Helper()
	o.Clients = 1
	o.Client.Input = humans(t)[0]
	return session(t, with(o, (*components.Settings).AntiCheat))
}

// TestOutageOf2sIsNeverTakenForACheat lets a client's packets wait for 2 s and
// then arrive in a burst, again and again.
func TestOutageOf2sIsNeverTakenForACheat(t *testing.T) {
	var trace []byte
	for at := 5; at < 10_000; at += 5 {
		if at < 4000 || at >= 6000 {
			trace = fmt.Appendln(trace, at)
		}
	}
	for _, c := range []struct {
		name   string
		both   bool
		forced float64 // MaxForcedUpdateDuration: what it spends is not in the burst
	}{{"up", false, 1}, {"both ways", true, 1}, {"up, nothing forced", false, 0}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := nettest.Options{FPS: 60, Seed: 2, Link: rtt(60*ms, 10*ms, 1)}
			o.Link.Up.Trace = parseTrace(t, trace)
			if c.both {
				o.Link.Down.Trace = o.Link.Up.Trace
			}
			o = with(o, func(set *components.Settings) { set.MaxForcedUpdateDuration = c.forced })
			s := honest(t, o)
			id, most, silent := owned(t, s, 0), 0.0, 0.0
			eachTick(s, func() {
				p := onServer[components.ServerPrediction](s, id)
				most, silent = max(most, p.Discrepancy.Time), max(silent, (s.Now-p.ServerTimeStamp).Seconds())
			})
			s.Advance(span(10*minute, 35*second))
			require.Greater(t, silent, 1.9, "s of silence: there were outages")
			require.Zero(t, s.Server.Stats.Discrepancies, "detections")
			require.Less(t, most, s.Server.Settings.MaxTimeMargin, "s of discrepancy")
			settled(t, s, "after the outages")
		})
	}
}

// TestClockThatDriftsIsNeverTakenForACheat runs a client's clock 200 ppm fast
// and slow for 10 hours, which is 7.2 s, and for a shorter time one of 900 ppm
// against a margin that it would reach without the allowance.
func TestClockThatDriftsIsNeverTakenForACheat(t *testing.T) {
	type drift struct {
		ppm    int64
		d      components.Ticks
		margin float64
	}
	drifts := []drift{{900, 6 * minute, 0.25}, {-900, 6 * minute, 0.25}}
	if long {
		drifts = append(drifts, drift{200, 600 * minute, 1}, drift{-200, 600 * minute, 1})
	}
	for _, c := range drifts {
		t.Run(fmt.Sprintf("%d ppm for %.0f s", c.ppm, c.d.Seconds()), func(t *testing.T) {
			t.Parallel()
			o := nettest.Options{FPS: 30, Seed: 2, Link: rtt(60*ms, 10*ms, 1)}
			o.Server.Hz = 10
			o.Time = func(_ int, now components.Ticks) components.Ticks { return now + now*components.Ticks(c.ppm)/1_000_000 }
			s := honest(t, o)
			s.Server.Settings.MaxTimeMargin = c.margin
			id := owned(t, s, 0)
			s.Advance(c.d)
			d := onServer[components.ServerPrediction](s, id).Discrepancy
			if c.ppm > 0 {
				require.Greater(t, d.LifetimeRaw, 1.05*c.margin, "s that its clock has gained")
			} else {
				require.Less(t, d.LifetimeRaw, -1.05*c.margin, "s that its clock has lost")
			}
			require.Zero(t, s.Server.Stats.Discrepancies, "detections")
			require.Zero(t, s.Corrections(), correctionsBy(s))
		})
	}
}
