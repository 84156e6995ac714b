package nettest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/stretchr/testify/require"
)

// aroundPacket are the bytes of UDP and IPv4 headers that each packet costs.
const aroundPacket = 28

// lossy is the link of the second promise: 100 ms round trip, 20 ms jitter and
// 5 % loss each way, in bursts of up to burstMax packets where that is above 1.
func lossy(burstMax int) link.Config {
	c := link.Symmetric(100*time.Millisecond, 20*time.Millisecond, 5)
	c.Up.BurstMax, c.Down.BurstMax = burstMax, burstMax
	return c
}

// upstream is what one client sent in a span.
type upstream struct {
	corrections uint64
	lost        uint64  // packets on the way up
	payload     float64 // UDP payload of a packet, bytes in the mean
	kbps        float64 // with headers
}

func losses(l *link.Link) uint64 {
	st := l.Stats(link.Up)
	return st.Lost + st.BurstLost
}

// playLossy plays one recorded input at 60 fps over the lossy link.
func playLossy(t *testing.T, in *nettest.Input, redundancy components.Redundancy, burstMax int, seed uint64, d components.Ticks) upstream {
	set := components.DefaultSettings()
	set.Redundancy = redundancy
	o := nettest.Options{Clients: 1, FPS: 60, Seed: seed, Link: lossy(burstMax)}
	o.Server.Settings, o.Client.Settings = &set, &set
	o.Client.Input = in
	s := session(t, o)
	c := s.Clients[0]
	require.Equal(t, redundancy, c.Settings.Redundancy, "the server's settings hold")
	up := s.Links.Link(nettest.ClientAddr(0))
	before, lost, wrong := c.Conn.Stats(), losses(up), s.Corrections()
	s.Advance(d)
	sent := c.Conn.Stats()
	require.Zero(t, s.Server.Net.Net.Malformed, "packets that the server could not read")
	packets, bytes := float64(sent.PacketsOut-before.PacketsOut), float64(sent.BytesOut-before.BytesOut)
	return upstream{
		corrections: s.Corrections() - wrong,
		lost:        losses(up) - lost,
		payload:     bytes / packets,
		kbps:        (bytes + packets*aroundPacket) * 8 / 1000 / d.Seconds(),
	}
}

// TestLossIsCorrectedByTheReferenceAndNotByFullRedundancy is the second
// promise: where the reference's one old move leaves gaps, full redundancy fills
// all of them, at no more than 1.4 times the upstream.
func TestLossIsCorrectedByTheReferenceAndNotByFullRedundancy(t *testing.T) {
	for i, in := range humans(t) {
		for _, burstMax := range []int{1, 5} {
			t.Run(fmt.Sprintf("input %d, bursts up to %d", i, burstMax), func(t *testing.T) {
				t.Parallel()
				d, seed := span(3*in.Duration(), minute/2), uint64(100*i+burstMax)
				ref := playLossy(t, in, components.RedundancyReference, burstMax, seed, d)
				full := playLossy(t, in, components.RedundancyFull, burstMax, seed, d)
				t.Logf("reference: %d corrections, %.1f bytes a packet, %.1f kbit/s; full: %.1f bytes, %.1f kbit/s, %.3f times as much",
					ref.corrections, ref.payload, ref.kbps, full.payload, full.kbps, full.kbps/ref.kbps)
				require.Positive(t, full.lost, "packets were lost")
				require.Positive(t, ref.corrections, "corrections of the reference")
				require.Zero(t, full.corrections, "corrections with full redundancy")
				require.LessOrEqual(t, full.kbps, 1.4*ref.kbps, "kbit/s upstream")
				require.Less(t, ref.payload, 40.0, "bytes of a reference packet")
			})
		}
	}
}
