package main

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/session"
)

// refusalNames are the reasons for which a packet, or what follows a bad field
// in one, is refused. What is about a character that has not spawned here yet is
// no fault of its packet, which counts as good.
func refusalNames() []string {
	var names []string
	for i := range session.Refusals {
		names = append(names, i.String())
	}
	return append(names, "message_malformed", "message_wrong_direction", "reliable_malformed")
}

func addRefusals(r *nettest.Report, c *session.Counts, n *netsync.NetStats) {
	for i, v := range c {
		r.PacketsRefused[session.Refusal(i).String()] += v
	}
	r.PacketsRefused["message_malformed"] += n.Malformed
	r.PacketsRefused["message_wrong_direction"] += n.WrongDirection
	r.PacketsRefused["reliable_malformed"] += n.ReliableMalformed
}

// report is what the run measured, from its start to the end of the standstill.
// Counters and claims are everybody's; how meshes look is measured on honest
// players, since a cheat's own world shows what it likes.
// Everything has ended: nobody writes to what is read here.
func (r *run) report() *nettest.Report {
	out := nettest.NewReport(refusalNames()...)
	out.Clients = r.cfg.Clients
	out.DurationS = (r.ended - r.began).Seconds()
	if s := r.server; s != nil {
		out.ServerTicks = s.node.Chain.Ticks()
		out.AddServer(s.node.Stats)
		st := s.node.Net.Session().Stats()
		addRefusals(out, &st.Refused, &s.node.Net.Net)
		out.ServerTickMs = s.tickMs.P50P99()
		if s.node.Stats.Moves > 0 {
			out.ServerMoveUs = s.verify.spent.Seconds() * 1e6 / float64(s.node.Stats.Moves)
		}
		out.VerdictErrorCm = s.verdict.Error.P50P99Max()
		out.StateHash = s.node.Chain.String()
	}
	var saved, rtt, pop nettest.Histogram
	var up, down uint64
	for _, c := range r.clients {
		st := c.node.Net.Session().Stats()
		addRefusals(out, &st.Refused, &c.node.Net.Net)
		if c.proxies != nil {
			continue
		}
		out.AddOwner(c.node.Stats)
		saved.Merge(&c.owner.saved)
		rtt.Merge(&c.rtt)
		if c.cheat == nil {
			pop.Merge(&c.owner.probe.Pop)
		}
		n := c.udp.Stats()
		up += n.BytesOut + headerBytes*n.PacketsOut
		down += n.BytesIn + headerBytes*n.PacketsIn
	}
	if r.server != nil && len(r.clients) == 0 {
		out.Clients = r.joined()
		n := r.server.udp.Stats()
		up, down = n.BytesIn+headerBytes*n.PacketsIn, n.BytesOut+headerBytes*n.PacketsOut
	}
	out.SavedMovesP50, out.SavedMovesMax = saved.Quantile(0.5), saved.Max()
	out.RTTMs, out.OwnerPopCm = rtt.P50P99(), pop.P99Max()
	if bits := 8 / 1000.0 / out.DurationS; out.DurationS > 0 && out.Clients > 0 {
		out.UpKbpsPerClient = float64(up) * bits / float64(out.Clients)
		out.DownKbpsPerClient = float64(down) * bits / float64(out.Clients)
	}
	if n := len(r.clients); n > 0 && r.clients[n-1].proxies != nil {
		all := r.clients[n-1].proxies.merged(r.cheats)
		out.ProxyLagMs, out.ProxyPopCm, out.ProxyEndErrorCm = all.Lag.P50P99(), all.Pop.P99Max(), all.EndError
	}
	out.Finish()
	return out
}

// cheats tells whether a character is a cheat's.
func (r *run) cheats(id components.NetID) bool {
	if r.server == nil || r.server.tracks[id] == nil {
		return false
	}
	for _, c := range r.clients {
		if c.cheat != nil && c.player == r.server.tracks[id].player {
			return true
		}
	}
	return false
}

// longFrames counts the players' frames that were longer than a move may be: the
// machine, or -silent, held them up. The server takes more of such a frame than
// its owner moved, as the reference does, and corrects it.
func (r *run) longFrames() (n uint64) {
	for _, c := range r.players() {
		n += c.long
	}
	return n
}

// joined counts the players that the server has seen.
func (r *run) joined() int {
	seen := map[components.PlayerID]bool{}
	for _, t := range r.server.tracks {
		seen[t.player] = true
	}
	return len(seen)
}
