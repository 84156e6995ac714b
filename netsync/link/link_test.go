package link_test

import (
	"encoding/binary"
	"math"
	"math/bits"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const ms = components.TicksPerSecond / 1000.0

func millis(t components.Ticks) float64 { return float64(t) / ms }

// arrival is a packet that came out of a link.
type arrival struct {
	at      components.Ticks
	ordinal uint32
	b       []byte
}

func payload(ordinal, size int) []byte {
	b := make([]byte, size)
	binary.LittleEndian.PutUint32(b, uint32(ordinal))
	return b
}

func newLink(t testing.TB, p link.Path, seed uint64) *link.Link {
	t.Helper()
	l, err := link.New(link.Config{Up: p}, seed)
	require.NoError(t, err)
	return l
}

// drain pops each packet at the time it is due, up to an end.
func drain(l *link.Link, until components.Ticks) (all []arrival) {
	for {
		due, ok := l.Next()
		if !ok || due > until {
			return all
		}
		b, _, _ := l.Pop(due)
		all = append(all, arrival{due, binary.LittleEndian.Uint32(b), append([]byte(nil), b...)})
	}
}

// send pushes n packets of a size, one every interval from time 0, and returns
// their fates and arrivals.
func send(l *link.Link, n, size int, every components.Ticks) (fates []link.Fate, all []arrival) {
	for i := range n {
		now := components.Ticks(i) * every
		all = append(all, drain(l, now-1)...)
		fates = append(fates, l.Push(now, link.Up, payload(i, size)))
	}
	return fates, append(all, drain(l, math.MaxInt64)...)
}

const frame = components.Second / 60

func TestZeroConfigPassesEverythingAtOnce(t *testing.T) {
	l := newLink(t, link.Path{}, 1)
	_, all := send(l, 100, 50, frame)
	require.Len(t, all, 100)
	for i, a := range all {
		require.Equal(t, arrival{components.Ticks(i) * frame, uint32(i), payload(i, 50)}, a)
	}
}

func TestDelayIsExactAndJitterIsUniform(t *testing.T) {
	l := newLink(t, link.Path{Delay: 50 * time.Millisecond, Jitter: 10 * time.Millisecond}, 7)
	_, all := send(l, 20_000, 20, components.Second/20) // slow enough that none waits for another
	sum, least, most := 0.0, math.Inf(1), 0.0
	for i, a := range all {
		d := millis(a.at - components.Ticks(i)*components.Second/20)
		sum, least, most = sum+d, min(least, d), max(most, d)
	}
	require.InDelta(t, 50, least, 0.05)
	require.InDelta(t, 60, most, 0.05)
	require.InDelta(t, 55, sum/20_000, 0.1) // six standard errors of a uniform 10 ms
}

func TestJitterKeepsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := link.Path{
			Delay:  time.Duration(rapid.IntRange(0, 100).Draw(t, "delay")) * time.Millisecond,
			Jitter: time.Duration(rapid.IntRange(0, 200).Draw(t, "jitter")) * time.Millisecond,
			Loss:   rapid.Float64Range(0, 50).Draw(t, "loss"),
		}
		l, err := link.New(link.Config{Up: p}, rapid.Uint64().Draw(t, "seed"))
		require.NoError(t, err)
		_, all := send(l, 200, 20, components.Ticks(rapid.IntRange(0, 2000).Draw(t, "interval")))
		for i := 1; i < len(all); i++ {
			require.Less(t, all[i-1].ordinal, all[i].ordinal)
		}
	})
}

func TestUniformLossHoldsAndRunsAreByChance(t *testing.T) {
	for _, loss := range []float64{0, 2, 20, 50, 100} {
		const n = 100_000
		l := newLink(t, link.Path{Loss: loss}, 3)
		fates, all := send(l, n, 4, frame)
		lost, pairs := 0, 0
		for i, f := range fates {
			if f == link.Lost {
				lost++
				if i > 0 && fates[i-1] == link.Lost {
					pairs++
				}
			}
		}
		p := loss / 100
		six := 6 * math.Sqrt(p*(1-p)*n)
		require.InDelta(t, p*n, float64(lost), six)
		require.InDelta(t, p*p*n, float64(pairs), 6*math.Sqrt(p*p*n)+six)
		require.Len(t, all, n-lost)
		s := l.Stats(link.Up)
		require.Equal(t, uint64(lost), s.Lost)
		require.Equal(t, uint64(n-lost), s.Passed)
	}
}

func TestBurstsHaveTheirMeanTheirMaximumAndTheOverallLoss(t *testing.T) {
	for _, c := range []struct {
		loss, mean float64
		most       int
		wantMean   float64
		wantMost   int
	}{
		{5, 3, 5, 3, 5},
		{5, 1, 5, 3, 5},   // only the maximum: uniform in 1..5
		{5, 0, 2, 1.5, 2}, //
		{20, 2, 10, 2, 10},
		{50, 4.5, 5, 4.5, 5}, // more long ones than short ones
		{50, 5, 5, 5, 5},
		{10, 4, 0, 4, 40},
	} {
		const n = 400_000
		l := newLink(t, link.Path{Loss: c.loss, BurstMean: c.mean, BurstMax: c.most}, 11)
		lost, runs, longest, run := 0, 0, 0, 0
		for i := range n {
			if l.Push(components.Ticks(i), link.Up, nil) == link.BurstLost {
				lost++
				if run == 0 {
					runs++
				}
				run++
				longest = max(longest, run)
			} else {
				run = 0
			}
			l.Pop(components.Ticks(i))
		}
		require.InDelta(t, c.loss, 100*float64(lost)/n, 0.04*c.loss, "%+v", c)
		require.InDelta(t, c.wantMean, float64(lost)/float64(runs), 0.05*c.wantMean, "%+v", c)
		require.LessOrEqual(t, longest, c.wantMost)
		if c.wantMost <= 10 {
			require.Equal(t, c.wantMost, longest, "%+v", c)
		}
		require.Equal(t, uint64(lost), l.Stats(link.Up).BurstLost)
	}
}

func TestDuplicateArrivesRightBehindItsOriginal(t *testing.T) {
	l := newLink(t, link.Path{Duplicate: 30, Delay: 5 * time.Millisecond}, 5)
	fates, all := send(l, 2000, 10, frame)
	next := 0
	for i, f := range fates {
		require.Equal(t, uint32(i), all[next].ordinal)
		if f == link.Duplicated {
			require.Equal(t, all[next], all[next+1])
			next++
		}
		next++
	}
	require.Len(t, all, next)
	require.InDelta(t, 600, float64(l.Stats(link.Up).Duplicated), 6*math.Sqrt(0.3*0.7*2000))
}

func TestCorruptionFlipsOneToThreeBits(t *testing.T) {
	l := newLink(t, link.Path{Corrupt: 25}, 5)
	seen := map[int]int{}
	for i := range 8000 {
		original := payload(i, 4)
		fate := l.Push(0, link.Up, original)
		got, _, ok := l.Pop(0)
		require.True(t, ok)
		flipped := 0
		for k := range got {
			flipped += bits.OnesCount8(got[k] ^ original[k])
		}
		require.Equal(t, fate == link.Corrupted, flipped > 0)
		require.Equal(t, payload(i, 4), original) // the sender's bytes are its own
		seen[flipped]++
	}
	require.Len(t, seen, 4)
	require.InDelta(t, 2000, seen[1]+seen[2]+seen[3], 6*math.Sqrt(0.25*0.75*8000))
	require.InDelta(t, seen[1], seen[3], 6*math.Sqrt(2*2000/3.0))
}

func TestAnEmptyPacketPassesAndCannotBeCorrupted(t *testing.T) {
	l := newLink(t, link.Path{Corrupt: 100}, 5)
	require.Equal(t, link.Passed, l.Push(0, link.Up, nil))
	b, _, ok := l.Pop(0)
	require.True(t, ok)
	require.Empty(t, b)
}

func TestReorderedPacketIsOvertaken(t *testing.T) {
	l := newLink(t, link.Path{Reorder: 10, ReorderHold: 40 * time.Millisecond, Delay: 20 * time.Millisecond}, 5)
	fates, all := send(l, 3000, 10, frame)
	require.Len(t, all, 3000)
	place := make([]int, 3000)
	for i, a := range all {
		place[a.ordinal] = i
	}
	late := 0
	for i, f := range fates[:2990] {
		if f == link.Reordered {
			late++
			// 40 ms at 60 Hz: the next one that is not held back itself overtakes.
			k := i + 1
			for fates[k] == link.Reordered {
				k++
			}
			require.Equal(t, k <= i+2, place[i] > place[k])
		}
	}
	require.InDelta(t, 300, float64(late), 6*math.Sqrt(0.1*0.9*3000))
}

func TestEqualSeedsGiveEqualFatesAndOthersDoNot(t *testing.T) {
	p := link.Path{Delay: 30 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 5, BurstMean: 2, BurstMax: 5, Duplicate: 3, Corrupt: 3, Reorder: 3}
	run := func(seed uint64) ([]link.Fate, []arrival) { return send(newLink(t, p, seed), 1000, 30, frame) }
	fates, all := run(42)
	again, allAgain := run(42)
	require.Equal(t, fates, again)
	require.Equal(t, all, allAgain)
	other, _ := run(43)
	require.NotEqual(t, fates, other)
}

func TestFateDoesNotDependOnTimeSizeOrOtherClients(t *testing.T) {
	cfg := link.Config{
		Up:   link.Path{Loss: 10, BurstMean: 2, BurstMax: 4, Duplicate: 5, Corrupt: 5, Reorder: 5},
		Down: link.Path{Loss: 10, Duplicate: 5},
	}
	fleet, err := link.NewFleet(cfg, 9)
	require.NoError(t, err)
	fates := func(client, size int, every components.Ticks, noise bool) (f []link.Fate) {
		l, other := fleet.Link(client), fleet.Link(client+1)
		for i := range 2000 {
			now := components.Ticks(i) * every
			f = append(f, l.Push(now, link.Up, payload(i, size)))
			if noise {
				other.Push(now, link.Up, payload(i, 100))
				l.Push(now, link.Down, payload(i, 100))
			}
		}
		return f
	}
	want := fates(3, 20, frame, false)
	require.Equal(t, want, fates(3, 900, 17, true))
	require.NotEqual(t, want, fates(4, 20, frame, false))
}

func TestTheTwoDirectionsHaveTheirOwnLuckAndSettings(t *testing.T) {
	l, err := link.New(link.Config{Up: link.Path{Loss: 50}, Down: link.Path{Loss: 50, Delay: time.Millisecond}}, 1)
	require.NoError(t, err)
	var up, down []link.Fate
	for i := range 200 {
		up = append(up, l.Push(0, link.Up, payload(i, 4)))
		down = append(down, l.Push(0, link.Down, payload(i, 4)))
	}
	require.NotEqual(t, up, down)
	_, dir, ok := l.Pop(0)
	require.True(t, ok)
	require.Equal(t, link.Up, dir)
	for ok {
		_, dir, ok = l.Pop(0)
		require.Equal(t, link.Up, dir)
	}
	_, dir, ok = l.Pop(components.Second)
	require.True(t, ok)
	require.Equal(t, link.Down, dir)
}

func TestSettingsChangeFromTheNextPacketOn(t *testing.T) {
	l := newLink(t, link.Path{Delay: 100 * time.Millisecond}, 1)
	l.Push(0, link.Up, payload(0, 4))
	require.NoError(t, l.SetConfig(link.Config{Up: link.Path{Loss: 100}}))
	require.Equal(t, link.Lost, l.Push(0, link.Up, payload(1, 4)))
	require.NoError(t, l.SetConfig(link.Config{}))
	l.Push(0, link.Up, payload(2, 4))
	require.ErrorIs(t, l.SetConfig(link.Config{Up: link.Path{Loss: -1}}), link.ErrConfig)
	all := drain(l, components.Second)
	require.Len(t, all, 2)
	require.Equal(t, []uint32{0, 2}, []uint32{all[0].ordinal, all[1].ordinal})
	require.Equal(t, components.Second/10, all[1].at) // in order behind the first
}

func TestWhatIsLongerThanADatagramIsDropped(t *testing.T) {
	l := newLink(t, link.Path{}, 1)
	require.Equal(t, link.TooLarge, l.Push(0, link.Up, make([]byte, transport.MaxDatagram+1)))
	require.Equal(t, link.Passed, l.Push(0, link.Up, make([]byte, transport.MaxDatagram)))
	require.Equal(t, link.Stats{Pushed: 2, Passed: 1, Oversized: 1, BytesPassed: 1200}, l.Stats(link.Up))
}

func TestPacketsInFlightAreBounded(t *testing.T) {
	l := newLink(t, link.Path{Delay: time.Hour}, 1)
	for range 20_000 {
		l.Push(0, link.Up, nil)
	}
	require.Equal(t, uint64(20_000-16_384), l.Stats(link.Up).QueueDropped)
	require.Len(t, func() (n []bool) {
		for {
			if _, _, ok := l.Pop(3600 * components.Second); !ok {
				return n
			}
			n = append(n, true)
		}
	}(), 16_384)
	require.Equal(t, link.Passed, l.Push(0, link.Up, nil))
}

func TestWrongSettingsAreNamed(t *testing.T) {
	nan := math.NaN()
	for field, p := range map[string]link.Path{
		"Delay": {Delay: -1}, "Jitter": {Jitter: 2 * time.Hour}, "Loss": {Loss: 101}, "Duplicate": {Duplicate: nan},
		"Corrupt": {Corrupt: -0.1}, "Reorder": {Reorder: math.Inf(1)}, "ReorderHold": {ReorderHold: -1},
		"BurstMean": {BurstMean: nan}, "BurstMax": {BurstMax: -1}, "Bandwidth": {Bandwidth: -1},
		"QueuePackets": {QueuePackets: -1}, "QueueBytes": {QueueBytes: -1}, "QueueTime": {QueueTime: -1},
		"TraceStart": {TraceStart: -1},
	} {
		for prefix, cfg := range map[string]link.Config{"Up.": {Up: p}, "Down.": {Down: p}} {
			_, err := link.New(cfg, 0)
			var wrong *link.ConfigError
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, prefix+field, wrong.Field)
			require.ErrorIs(t, err, link.ErrConfig)
		}
	}
}

func TestBurstsThatCannotBeAreRefused(t *testing.T) {
	_, err := link.New(link.Config{Up: link.Path{Loss: 80, BurstMean: 3, BurstMax: 5}}, 0)
	require.EqualError(t, err, "link: Up.Loss is 80: with bursts of 3 packets in the mean and one packet between them it is at most 75 %")
	_, err = link.New(link.Config{Down: link.Path{Loss: 5, BurstMean: 6, BurstMax: 5}}, 0)
	require.EqualError(t, err, "link: Down.BurstMean is 6: it is above the longest burst, 5")
}

func TestSteadyLinkDoesNotAllocate(t *testing.T) {
	p := link.Path{Delay: 50 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 5, BurstMean: 2, BurstMax: 5,
		Duplicate: 3, Corrupt: 3, Reorder: 3, Bandwidth: 10_000_000}
	l, err := link.New(link.Config{Up: p, Down: p}, 1)
	require.NoError(t, err)
	now, small, large := components.Ticks(0), payload(1, 60), payload(2, 1200)
	tick := func() {
		now += frame
		l.Push(now, link.Up, small)
		l.Push(now, link.Down, large)
		for {
			if _, _, ok := l.Pop(now); !ok {
				return
			}
		}
	}
	for range 5000 {
		tick()
	}
	require.Zero(t, testing.AllocsPerRun(1000, tick))
}
