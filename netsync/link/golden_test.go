package link_test

import (
	"encoding/binary"
	"hash/fnv"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/stretchr/testify/require"
)

// TestASeedMeansTheSameForEverOnEveryTarget pins every fate, time and byte of
// one session on a link with everything in it. If this hash has to change,
// every recorded result that names a seed changes with it.
func TestASeedMeansTheSameForEverOnEveryTarget(t *testing.T) {
	p := link.Path{Delay: 37 * time.Millisecond, Jitter: 11 * time.Millisecond, Loss: 7.3, BurstMean: 2.2, BurstMax: 7,
		Duplicate: 3.1, Corrupt: 4.7, Reorder: 2.9, Bandwidth: 77_777, QueueTime: 300 * time.Millisecond}
	q := p
	q.Trace = parse(t, roundTrips)
	r := p
	r.Trace, r.TraceStart = parse(t, "0\n10\n25\n40\n"), time.Second
	h := fnv.New64a()
	put := func(v uint64) { _ = binary.Write(h, binary.LittleEndian, v) }
	for i, path := range []link.Path{p, q, r} {
		fates, all := send(newLink(t, path, 0xfeed+uint64(i)), 2000, 137, components.Second/60)
		for _, f := range fates {
			put(uint64(f))
		}
		for _, a := range all {
			put(uint64(a.at))
			_, _ = h.Write(a.b)
		}
	}
	require.Equal(t, uint64(0xd4de9155141a877c), h.Sum64())
}
