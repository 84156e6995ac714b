package main

import (
	"time"

	"github.com/gaitnet/gait/netsync/nettest"
)

// headerBytes of UDP and IPv4 belong to each packet.
const headerBytes = 28

// sampler makes the live table's samples from what server and clients leave.
type sampler struct {
	run   *run
	meter nettest.RateMeter
	note  string
	last  Sample
	srv   serverLive
}

// sample is the table's next line.
func (s *sampler) sample() *Sample {
	r := s.run
	now := r.clock.now()
	out := &s.last
	out.Elapsed, out.Total, out.Note, out.Clients, out.RTTMs = time.Since(r.clock.began), r.cfg.Duration, s.note, 0, 0
	var t nettest.Totals
	if r.server != nil {
		r.server.look(&s.srv)
		t.AddServer(&s.srv.stats)
		out.TickMs = s.srv.ticks.P50P99()
		out.Clients = s.srv.players
	}
	if len(r.clients) > 0 {
		out.Clients = 0
	}
	var l clientLive
	for _, c := range r.players() {
		c.look(&l)
		t.AddOwner(&l.stats)
		t.UpBytes += l.net.BytesOut + headerBytes*l.net.PacketsOut
		t.DownBytes += l.net.BytesIn + headerBytes*l.net.PacketsIn
		if l.connected {
			out.Clients++
			out.RTTMs += l.rtt.Seconds() * 1000
		}
	}
	if len(r.clients) == 0 && r.server != nil {
		n := r.server.udp.Stats()
		t.DownBytes, t.UpBytes = n.BytesOut+headerBytes*n.PacketsOut, n.BytesIn+headerBytes*n.PacketsIn
	} else if out.Clients > 0 {
		out.RTTMs /= float64(out.Clients)
	}
	if rates, ok := s.meter.Update(now, max(1, out.Clients), &t); ok {
		out.Rates = rates
	}
	return out
}
