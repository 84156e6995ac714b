package link_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func parse(t testing.TB, text string) *link.Trace {
	t.Helper()
	tr, err := link.ParseTrace([]byte(text))
	require.NoError(t, err)
	return tr
}

// times pushes packets of a size (headers not counted) all at one time and
// returns when they arrive, in ms.
func times(l *link.Link, now components.Ticks, n, size int) (at []float64) {
	for i := range n {
		l.Push(now, link.Up, payload(i, size))
	}
	for _, a := range drain(l, math.MaxInt64) {
		at = append(at, math.Round(millis(a.at)*10)/10)
	}
	return at
}

func TestBandwidthSpacesPacketsHeadersIncluded(t *testing.T) {
	// 72 + 28 bytes at 80 kbit/s take 10 ms.
	l := newLink(t, link.Path{Bandwidth: 80_000, Delay: 5 * time.Millisecond}, 1)
	require.Equal(t, []float64{15, 25, 35}, times(l, 0, 3, 72))
	// Idle time is not saved up.
	require.Equal(t, []float64{1015, 1025}, times(l, components.Second, 2, 72))
}

func TestBandwidthIsExactOverManyPackets(t *testing.T) {
	// 100 bytes at 333,333 bit/s take 138.24 ticks; nothing is lost in rounding.
	l := newLink(t, link.Path{Bandwidth: 333_333, QueuePackets: 10_000, QueueBytes: 1 << 20}, 1)
	at := times(l, 0, 10_000, 72)
	require.InDelta(t, 10_000*800.0/333_333*1000, at[9999], 0.1)
}

func TestQueueDropsTheNewestBeyondItsPackets(t *testing.T) {
	l := newLink(t, link.Path{Bandwidth: 80_000, QueuePackets: 3}, 1)
	require.Equal(t, []float64{10, 20, 30}, times(l, 0, 5, 72))
	require.Equal(t, uint64(2), l.Stats(link.Up).QueueDropped)
	require.Equal(t, []float64{1010}, times(l, components.Second, 1, 72)) // room again
}

func TestQueueDropsTheNewestBeyondItsBytes(t *testing.T) {
	l := newLink(t, link.Path{Bandwidth: 80_000, QueueBytes: 250}, 1)
	require.Equal(t, []float64{10, 20}, times(l, 0, 5, 72))
	l.Push(0, link.Up, payload(0, 72)) // at 0 both are still there
	require.Equal(t, uint64(4), l.Stats(link.Up).QueueDropped)
}

func TestQueueDropsWhatWouldWaitTooLong(t *testing.T) {
	l := newLink(t, link.Path{Bandwidth: 80_000, QueueTime: 45 * time.Millisecond}, 1)
	require.Equal(t, []float64{10, 20, 30, 40}, times(l, 0, 10, 72))
	require.Equal(t, uint64(6), l.Stats(link.Up).QueueDropped)
	// What was dropped takes no time of the link.
	require.Equal(t, []float64{50, 60}, times(l, components.Ticks(20*ms), 10, 72))
}

func TestDefaultQueueHolds100Packets(t *testing.T) {
	l := newLink(t, link.Path{Bandwidth: 80_000}, 1)
	require.Len(t, times(l, 0, 150, 72), link.DefaultQueuePackets)
}

func TestALostPacketHasUsedItsBandwidth(t *testing.T) {
	l := newLink(t, link.Path{Bandwidth: 80_000, Loss: 50}, 1)
	var want []float64
	for i := range 20 {
		if l.Push(0, link.Up, payload(i, 72)) == link.Passed {
			want = append(want, float64(10*(i+1)))
		}
	}
	var got []float64
	for _, a := range drain(l, components.Second) {
		got = append(got, millis(a.at))
	}
	require.Equal(t, want, got)
}

func TestOpportunitiesCarry1500BytesAtTheirTimes(t *testing.T) {
	tr := parse(t, "0\n10\n10\n25\n40\n")
	require.Equal(t, link.Opportunities, tr.Kind())
	require.Equal(t, 40*time.Millisecond, tr.Duration())
	// 500 bytes with headers: three in the opportunity at 0, six in the two at
	// 10, three at 25, then 40, which is also the next loop's 0, then 50.
	l := newLink(t, link.Path{Trace: tr}, 1)
	require.Equal(t, []float64{0, 0, 0, 10, 10, 10, 10, 10, 10, 25, 25, 25, 40, 40, 40, 40, 40, 40, 50}, times(l, 0, 19, 472))
}

func TestAPacketUsesTheRestOfAnOpportunityAndPartOfTheNext(t *testing.T) {
	// 1000 bytes: the second has 500 left at 0 and finishes at 10, where 1000
	// are left for the third.
	l := newLink(t, link.Path{Trace: parse(t, "0\n10\n25\n")}, 1)
	require.Equal(t, []float64{0, 10, 10, 25}, times(l, 0, 4, 972))
}

func TestAnOpportunityThatPassedUnusedIsGone(t *testing.T) {
	tr := parse(t, "0\n10\n25\n40\n")
	l := newLink(t, link.Path{Trace: tr}, 1)
	require.Equal(t, []float64{25}, times(l, 11*components.Second/1000, 1, 72))
	l = newLink(t, link.Path{Trace: tr}, 1)
	require.Equal(t, []float64{10}, times(l, components.Ticks(10*ms), 1, 72))
	// In the 25,001st loop, 1 ms after its line at 25.
	l = newLink(t, link.Path{Trace: tr}, 1)
	now := components.TicksFromSeconds(1000.026)
	require.Equal(t, []float64{1_000_040}, times(l, now, 1, 72))
}

func TestTraceStartShiftsTheTrace(t *testing.T) {
	l := newLink(t, link.Path{Trace: parse(t, "0\n10\n25\n40\n"), TraceStart: 12 * time.Millisecond}, 1)
	require.Equal(t, []float64{13, 13, 28}, times(l, 0, 3, 722))
}

func TestOpportunitiesAgreeWithAStepByStepReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// A trace, and packets that come at some ms, with a queue that holds all.
		gaps := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 12).Draw(t, "gaps")
		var lines []int
		at := 0
		for _, g := range gaps {
			at += g
			lines = append(lines, at)
		}
		if at == 0 {
			lines[len(lines)-1], at = 1, 1
		}
		var text strings.Builder
		for _, v := range lines {
			fmt.Fprintln(&text, v)
		}
		tr, err := link.ParseTrace([]byte(text.String()))
		require.NoError(t, err)
		l, err := link.New(link.Config{Up: link.Path{Trace: tr, QueuePackets: 1000, QueueBytes: 1 << 20}}, 1)
		require.NoError(t, err)
		type pk struct{ at, size int }
		var packets []pk
		now := 0
		for range rapid.IntRange(1, 30).Draw(t, "packets") {
			now += rapid.IntRange(0, 7).Draw(t, "wait")
			packets = append(packets, pk{now, rapid.IntRange(4, 1200).Draw(t, "size")})
		}
		for i, p := range packets {
			l.Push(components.Ticks(math.Ceil(float64(p.at)*ms)), link.Up, payload(i, p.size))
		}
		// Mahimahi's own loop: one opportunity after the other, each carrying up
		// to 1500 bytes of what has come by then. Packets that come in the ms of
		// an opportunity share it.
		next, left := 0, packets[0].size+28
		for n := 0; next < len(packets); n++ {
			when := n/len(lines)*at + lines[n%len(lines)]
			for budget := 1500; next < len(packets) && packets[next].at <= when && budget > 0; {
				use := min(budget, left)
				budget, left = budget-use, left-use
				if left == 0 {
					due, ok := l.Next()
					require.True(t, ok)
					b, _, _ := l.Pop(due)
					require.Equal(t, payload(next, packets[next].size), b)
					require.Equal(t, components.Ticks(math.Ceil(float64(when*576)/10)), due, "packet %d", next)
					if next++; next < len(packets) {
						left = packets[next].size + 28
					}
				}
			}
		}
	})
}

func TestRatesArePiecewiseConstantAndLoop(t *testing.T) {
	// 100 bytes are 800 bits: 8 ms at 0.1 Mbit/s, 0.8 ms at 1. The last row
	// holds for as long as the one before it: the trace lasts 0.4 s.
	tr := parse(t, "0\t0.1\n0.1\t0\n0.3\t1\n0.4\t1\n0.5\t0.1\n")
	require.Equal(t, link.Rates, tr.Kind())
	require.Equal(t, 600*time.Millisecond, tr.Duration())
	l := newLink(t, link.Path{Trace: tr}, 1)
	at := times(l, 0, 16, 72)
	require.Equal(t, []float64{8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96}, at[:12])
	// The thirteenth has sent 400 bits by 100 ms and goes on at 300.
	require.Equal(t, []float64{300.4, 301.2, 302, 302.8}, at[12:])
	l = newLink(t, link.Path{Trace: tr}, 1)
	require.Equal(t, []float64{1108, 1116}, times(l, components.Ticks(1100*ms), 2, 72)) // 500 ms into the second loop
	l = newLink(t, link.Path{Trace: tr}, 1)
	require.Equal(t, []float64{1500.8}, times(l, components.Ticks(1300*ms), 1, 72)) // in its outage
}

func TestATraceThatCarriesLittleIsSkippedInWholeLoops(t *testing.T) {
	// 1 bit/s for 0.001 s, which is 58 ticks, of every 1000 s: 800 bits take
	// 800 x 57600 / 58 = 794,483 loops.
	tr := parse(t, "0 0.000001\n0.001 0\n500.0005 0\n")
	l := newLink(t, link.Path{Trace: tr}, 1)
	at := times(l, 0, 1, 72)
	require.Len(t, at, 1)
	require.InDelta(t, 794_482*1000.0, at[0]/1000, 2000)
}

func TestWholeLoopsAreSkippedToTheExactBit(t *testing.T) {
	// 100 bits in the first of every 2 s: 800 bits are through after 8 loops,
	// when the eighth first second ends.
	l := newLink(t, link.Path{Trace: parse(t, "0 0.0001\n1 0\n")}, 1)
	require.Equal(t, []float64{15_000}, times(l, 0, 1, 72))
	// The first row holds before its time as well: 200 bits in 2 of every 4 s.
	l = newLink(t, link.Path{Trace: parse(t, "1 0.0001\n2 0\n3 0\n")}, 1)
	require.Equal(t, []float64{14_000}, times(l, 0, 1, 72))
}

func TestATraceThatCarriesNextToNothingDropsWhatWouldTakeForEver(t *testing.T) {
	// 1 bit/s for one tick of every 1.8 million seconds.
	l := newLink(t, link.Path{Trace: parse(t, "0 0.000001\n0.0000174 0\n900000 0\n")}, 1)
	require.Empty(t, times(l, 0, 3, 1000))
	require.Equal(t, uint64(3), l.Stats(link.Up).QueueDropped)
}

func TestAPartOfATickIsNotCarriedOverAnIdleTime(t *testing.T) {
	// 100 bytes take 138.6 ticks.
	l := newLink(t, link.Path{Bandwidth: 332_468}, 1)
	for i := range components.Ticks(3) {
		now := i * components.Second
		l.Push(now, link.Up, payload(0, 72))
		due, _ := l.Next()
		require.Equal(t, components.Ticks(139), due-now)
		l.Pop(due)
	}
}

func TestATraceThatCarriesNothingDropsEverything(t *testing.T) {
	l := newLink(t, link.Path{Trace: parse(t, "0\t0\n1\t0\n")}, 1)
	require.Empty(t, times(l, 0, 300, 72))
	require.Equal(t, uint64(300), l.Stats(link.Up).QueueDropped)
}

func TestOutageKeepsABoundedQueue(t *testing.T) {
	l := newLink(t, link.Path{Trace: parse(t, "0 1\n1 0\n12 1\n13 1\n")}, 1)
	_, all := send(l, 60*13, 72, frame)
	s := l.Stats(link.Up)
	// Sent at 60 Hz from 1 s to 12 s, both included: 100 stay, the rest is
	// dropped, and what is sent after that finds room again.
	require.Equal(t, uint64(60*11+1-link.DefaultQueuePackets), s.QueueDropped)
	last := all[len(all)-1]
	require.Equal(t, uint32(60*13-1), last.ordinal)
	require.Less(t, last.at, 13*components.Second)
}

func TestSteadyTraceDoesNotAllocate(t *testing.T) {
	for _, text := range []string{"0\n10\n25\n40\n", "0\t0.1\n0.1\t0\n0.3\t1\n", roundTrips} {
		l := newLink(t, link.Path{Trace: parse(t, text)}, 1)
		now, b := components.Ticks(0), payload(1, 60)
		tick := func() {
			now += frame
			l.Push(now, link.Up, b)
			for {
				if _, _, ok := l.Pop(now); !ok {
					return
				}
			}
		}
		for range 2000 {
			tick()
		}
		require.Zero(t, testing.AllocsPerRun(1000, tick))
	}
}
