package session

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

func TestRingHoldsTheNewestAcrossTheWrap(t *testing.T) {
	r := newRing[int](64)
	for i := range 200_000 {
		seq := bits.Seq16(i)
		*r.put(seq) = i
		if i < 64 {
			continue
		}
		require.Equal(t, i-63, *r.get(seq.Add(-63)))
		require.Nil(t, r.get(seq.Add(-64)))
		require.Nil(t, r.get(seq.Next()))
	}
}

// The ring with gaps that are skipped against a map of what it should hold.
func TestRingAgreesWithAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRing[int](16)
		next := bits.Seq16(rapid.Uint16().Draw(rt, "start"))
		model := map[bits.Seq16]int{}
		for i := range rapid.IntRange(1, 60).Draw(rt, "steps") {
			gap := rapid.IntRange(0, 30000).Draw(rt, "gap")
			if rapid.Bool().Draw(rt, "small") {
				gap %= 4
			}
			seq := next.Add(gap)
			r.skip(next, seq)
			*r.put(seq) = i
			model[seq] = i
			next = seq.Next()
			for s := range model {
				if next.Diff(s) > 16 || next.Diff(s) < 0 {
					delete(model, s)
				}
			}
			for d := 1; d <= 16; d++ {
				s := next.Add(-d)
				want, ok := model[s]
				got := r.get(s)
				if ok != (got != nil) || (ok && *got != want) {
					rt.Fatalf("sequence %d", s)
				}
			}
		}
	})
}

func TestRingRemoves(t *testing.T) {
	r := newRing[int](8)
	r.put(3)
	r.remove(11) // the same slot, another number
	require.NotNil(t, r.get(3))
	r.remove(3)
	require.Nil(t, r.get(3))
}

func TestRingSizeIsAPowerOfTwo(t *testing.T) {
	for _, n := range []int{0, -1, 3, 1 << 16} {
		require.PanicsWithValue(t, "session.ring: size is a power of two, at most 32768", func() { newRing[int](n) })
	}
}

// The published test vectors of SipHash-2-4: key 00..0f, input 00..(n-1).
func TestSipHashGivesThePublishedVectors(t *testing.T) {
	key := [2]uint64{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	require.Equal(t, uint64(0x726fdb47dd0e0e31), siphash(key))
	require.Equal(t, uint64(0x93f5f5799a932462), siphash(key, 0x0706050403020100))
	require.Equal(t, uint64(0x3f2acc7f57c29bdb), siphash(key, 0x0706050403020100, 0x0f0e0d0c0b0a0908))
}

func TestNothingOfAnEndedConnectionRemains(t *testing.T) {
	p := newPair(t)
	p.client.Disconnect(ReasonQuit)
	p.server.Receive(second, nobody{})
	require.Empty(t, p.server.byID)
	require.Empty(t, p.server.byName)
	require.Empty(t, p.server.ended)
	require.Zero(t, p.server.Slots())
	for i := range 10 {
		p.client.Flush(second + components.Ticks(i)*second)
	}
	require.Empty(t, p.client.gone)
}

func TestEveryRefusalAndReasonHasAName(t *testing.T) {
	seen := map[string]bool{}
	for r := range Refusals {
		require.Regexp(t, "^[a-z_]+$", r.String())
		require.False(t, seen[r.String()])
		seen[r.String()] = true
	}
	require.Equal(t, "unknown", Refusals.String())
}

func TestRefusedTextIsInTheError(t *testing.T) {
	require.EqualError(t, &RefusedError{Text: "No."}, "session: refused: No.")
	require.EqualError(t, &EndedError{ReasonTimeout}, "session: the connection has ended: timeout")
}
