package main

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/gaitnet/gait/netsync/nettest"
)

// summary writes the report for a person: what the run was about first.
func summary(w io.Writer, c *Config, r *nettest.Report, longFrames uint64) {
	var corrections uint64
	for _, n := range r.Corrections {
		corrections += n
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %-26s %s\n", name, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
	fmt.Fprintf(w, "\n  %.1f s, %s\n\n", r.DurationS, c.String())
	if c.Connect == "" {
		line("moves executed", "%d, not executed %s", r.Moves, counts(r.MovesDropped))
		line("claim against server", "p50 %.4f, p99 %.4f, max %.4f cm", r.VerdictErrorCm.P50, r.VerdictErrorCm.P99, r.VerdictErrorCm.Max)
	}
	if c.Listen == "" {
		line("corrections", "%d (%.2f a client and minute) %s", corrections, r.CorrectionsPerClientMinute, tail(r.Corrections))
		if longFrames > 0 {
			line("", "%d frames were longer than a move may be, which asks for one each", longFrames)
		}
		line("replays", "%d, of %d moves, at most %d at once", r.Replays, r.ReplayedMoves, r.ReplayedMovesMax)
		line("moves that wait", "p50 %.0f, max %.0f", r.SavedMovesP50, r.SavedMovesMax)
		line("round trip", "p50 %.1f, p99 %.1f ms", r.RTTMs.P50, r.RTTMs.P99)
	}
	line("up, down a client", "%.1f, %.1f kbit/s", r.UpKbpsPerClient, r.DownKbpsPerClient)
	if c.Connect == "" {
		line("server tick", "p50 %.3f, p99 %.3f ms; %.2f us a move, %.1f allocations a tick", r.ServerTickMs.P50, r.ServerTickMs.P99, r.ServerMoveUs, r.AllocsPerServerTick)
	}
	if c.Listen == "" {
		line("own mesh jumps", "p99 %.3f, max %.3f cm", r.OwnerPopCm.P99, r.OwnerPopCm.Max)
		if c.Connect == "" {
			line("onlooker sees it late by", "p50 %.0f, p99 %.0f ms", r.ProxyLagMs.P50, r.ProxyLagMs.P99)
		}
		line("onlooker's mesh jumps", "p99 %.2f, max %.2f cm", r.ProxyPopCm.P99, r.ProxyPopCm.Max)
		line("and at the end it is off by", "%.4f cm", r.ProxyEndErrorCm)
	}
	line("packets refused", "%s", counts(r.PacketsRefused))
	for _, h := range r.Cheaters {
		by := strings.Join(h.NoticedBy, ", ")
		if by == "" {
			by = "nothing"
		}
		line(fmt.Sprintf("cheat %s@%d", h.Kind, h.Client), "gained %.0f cm, %d moves accepted, noticed by %s", h.GainCm, h.MovesAccepted, by)
	}
	if c.Connect == "" {
		line("state hash", "%s after %d ticks", r.StateHash, r.ServerTicks)
	}
}

// counts is a sum and what it is made of.
func counts(c nettest.Counts) string {
	var n uint64
	for _, v := range c {
		n += v
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", n, tail(c)))
}

// tail lists the reasons that occurred, the most frequent first.
func tail(c nettest.Counts) string {
	var names []string
	for name, n := range c {
		if n > 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := names[i], names[j]
		return c[a] > c[b] || c[a] == c[b] && a < b
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", strings.ReplaceAll(name, "_", " "), c[name])
	}
	return "(" + strings.Join(names, ", ") + ")"
}
