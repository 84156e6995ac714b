package nettest_test

import (
	"runtime"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/nettest"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

// wrap is a start from which one of the numbers that count up soon begins anew.
type wrap struct {
	name  string
	start components.Ticks
	seq   uint16
	// stamp of the owner's movement clock at the start of play.
	stamp components.Ticks
}

// wraps are all of them: 16-bit sequences of packets and fragments at half and
// whole range, the reset of the stamps, times of 24 bits in headers and
// snapshots, and of 32 bits.
var wraps = []wrap{
	{name: "sequences at 32,700", seq: 32700},
	{name: "sequences at 65,500", seq: 65500},
	{name: "stamps at 238 s", stamp: 238 * second},
	{name: "times at 23 bits", start: 1<<23 - 2*second},
	{name: "times at 24 bits", start: 1<<24 - 2*second},
	{name: "times at 31 bits", start: 1<<31 - 2*second},
	{name: "times at 32 bits", start: 1<<32 - 2*second},
	{name: "ticks at 16 bits", start: 65535 * second / 30},
	{name: "all at once", start: 1<<32 - 2*second, seq: 65500, stamp: 238 * second},
}

func (w wrap) options(o nettest.Options) nettest.Options {
	o.Start = w.start
	o.Server.Session.StartSeq, o.Client.Session.StartSeq = w.seq, w.seq
	o.Client.Extend = func(app *ecs.App) { app.Add(&stampSetter{stamp: components.Stamp(w.stamp)}) }
	return o
}

// stampSetter gives a character that was just spawned an old movement clock:
// the first move that the server hears of follows it.
type stampSetter struct {
	stamp components.Stamp
	pred  arche.ID
	owned arche.Filter
}

func (s *stampSetter) Phase() ecs.Phase { return ecs.Bases }
func (s *stampSetter) Roles() ecs.Roles { return ecs.Client }

func (s *stampSetter) Initialize(w *arche.World) {
	s.pred = ecs.RegisterComponent[components.ClientPrediction](w)
	m := arche.All(s.pred)
	s.owned = &m
}

func (s *stampSetter) Update(w *arche.World) {
	q := w.Query(s.owned)
	for q.Next() {
		if p := (*components.ClientPrediction)(q.Get(s.pred)); p.CurrentTimeStamp == 0 {
			p.CurrentTimeStamp = s.stamp
		}
	}
}

func (s *stampSetter) Finalize(*arche.World) {}

// TestTenHoursDegradeNothing is the seventh promise: hours of play in several
// stretches, each over one of the wraps and over several resets of the stamps
// in the long form, under loss.
func TestTenHoursDegradeNothing(t *testing.T) {
	// Nine stretches of 70 minutes are ten and a half hours.
	whole := 70 * minute
	for i, w := range wraps {
		t.Run(w.name, func(t *testing.T) {
			if !long {
				t.Parallel()
			}
			o := w.options(nettest.Options{Clients: 2, Onlookers: 1, Seed: uint64(20 + i), Link: rtt(100*ms, 20*ms, 5)})
			o.Client.Input = humans(t)[i%2]
			s := session(t, o)
			longest := 0
			eachFrame(s, func(i int) {
				if q := queueOf(s.Clients[i]); q != nil {
					longest = max(longest, q.Len())
				}
			})
			s.Advance(span(5*minute, 4*second))
			warm := inUse()
			s.Advance(span(whole-5*minute, 4*second))
			require.Zero(t, s.Corrections(), correctionsBy(s))
			// (RTT + jitter + ack interval + server tick + frame) / frame, and
			// as much again for answers that were lost: three in a row are one
			// in 8,000.
			require.LessOrEqual(t, longest, 48, "saved moves")
			for _, c := range s.Clients[:2] {
				require.Zero(t, c.Stats.SavedDropped)
				require.Zero(t, c.Net.Session().ClockJumps())
			}
			require.Zero(t, s.Server.Stats.MovesDropped[components.DropTooFarAhead])
			if w.stamp > 0 {
				require.Positive(t, s.Clients[0].Stats.StampResets)
				require.Positive(t, s.Server.Stats.StampResets)
			}
			if long {
				require.LessOrEqual(t, inUse(), warm+1<<20, "bytes in use")
			}
			settled(t, s, w.name)
		})
	}
}

// inUse is the heap that is reachable, in bytes.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
