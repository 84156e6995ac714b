package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/nettest"
)

// Sample is what one line of the live table shows: about a second of the run.
type Sample struct {
	// Elapsed since the start; Total of the run, 0 where it has no end.
	Elapsed, Total time.Duration
	// Clients that are connected.
	Clients int
	// Rates of all clients together; kbit/s of one in the mean.
	Rates nettest.Rates
	// RTTMs is the clients' mean round trip time now.
	RTTMs float64
	// TickMs is the server tick's wall time.
	TickMs nettest.P50P99
	// Note is told under the table: what the run is about to do.
	Note string
}

// Table shows samples on a terminal as a table of the last seconds that is
// drawn again in place, with a progress bar where the run has an end; and to
// anything else as a line a sample, at most one a second. It must not share its
// writer with others before Close.
type Table struct {
	w     io.Writer
	tty   bool
	quiet bool
	width int
	// A terminal shows the newest rows and counts the lines it drew.
	rows  []string
	drawn int
	// Elsewhere the head comes again every so often.
	lines int
	last  time.Duration
	begun bool
}

const (
	tableRows  = 12
	headEvery  = 30
	plainWidth = 200
	ttyWidth   = 160
)

// The table's head, and where its columns end.
const (
	tableHead1 = "  time   clients    moves     acks  replays replayed     RTT  up, down kbit/s   server tick  corrections"
	tableHead2 = "     s                 /s       /s       /s  moves/s      ms    of a client   p50, p99 ms  /s"
)

// NewTable writes to w. width is the terminal's, 0 where it is not known: what
// is wider is then cut by the terminal itself.
func NewTable(w io.Writer, tty bool, width int, quiet bool) *Table {
	switch {
	case !tty:
		width = plainWidth
	case width <= 0:
		width = ttyWidth
	}
	return &Table{w: w, tty: tty, quiet: quiet, width: width}
}

// IsTerminal tells whether a file is a terminal that understands the cursor.
func IsTerminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb" && f.Name() != os.DevNull
}

// Show takes the next sample.
func (t *Table) Show(s *Sample) {
	if t.quiet {
		return
	}
	if !t.tty {
		if t.begun && s.Elapsed-t.last < time.Second*9/10 {
			return
		}
		t.begun, t.last = true, s.Elapsed
		if t.lines%headEvery == 0 {
			fmt.Fprintf(t.w, "%s\n%s\n", tableHead1, tableHead2)
		}
		t.lines++
		line := row(s)
		if _, why, ok := strings.Cut(reasons(&s.Rates), ": "); ok {
			line += "  " + why
		}
		if s.Total > 0 {
			line += fmt.Sprintf("  [%.0f %% of %v]", 100*share(s), s.Total)
		}
		if s.Note != "" {
			line += "  " + s.Note
		}
		fmt.Fprintln(t.w, clip(line, t.width))
		return
	}
	if len(t.rows) == tableRows {
		t.rows = t.rows[:copy(t.rows, t.rows[1:])]
	}
	t.rows = append(t.rows, row(s))
	lines := append([]string{tableHead1, tableHead2}, t.rows...)
	lines = append(lines, reasons(&s.Rates), foot(s, t.width))
	var b strings.Builder
	// No wrapping meanwhile: a line is a line on a narrow terminal too.
	b.WriteString("\x1b[?7l")
	if t.drawn > 0 {
		// Up to the first line, then wipe what is below.
		fmt.Fprintf(&b, "\x1b[%dA\r\x1b[J", t.drawn)
	}
	for _, l := range lines {
		b.WriteString(clip(l, t.width))
		b.WriteByte('\n')
	}
	b.WriteString("\x1b[?7h")
	t.drawn = len(lines)
	io.WriteString(t.w, b.String())
}

// Close ends the table: what is written next stands below it.
func (t *Table) Close() {
	t.rows, t.drawn, t.lines, t.begun = nil, 0, 0, false
}

func row(s *Sample) string {
	r := &s.Rates
	var total float64
	for _, c := range r.Corrections {
		total += c
	}
	return fmt.Sprintf("%6.1f  %8d %8s %8s %8s %8s %7.1f %8s %7s %7.2f %5.2f  %s",
		s.Elapsed.Seconds(), s.Clients, rate(r.Moves), rate(r.Acks), rate(r.Replays), rate(r.ReplayedMoves), s.RTTMs,
		rate(r.UpKbps), rate(r.DownKbps), s.TickMs.P50, s.TickMs.P99, rate(total))
}

// reasons are the corrections a second by reason, empty where there are none.
func reasons(r *nettest.Rates) string {
	var b strings.Builder
	for i, c := range r.Corrections {
		if c <= 0 {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("  corrections /s: ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(components.CorrectionReason(i).String() + " " + rate(c))
	}
	return b.String()
}

// rate keeps a decimal where it says something.
func rate(v float64) string {
	if v > 0 && v < 99.95 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func share(s *Sample) float64 {
	return max(0, min(1, float64(s.Elapsed)/float64(s.Total)))
}

// foot is the progress bar, or how to end a run without an end.
func foot(s *Sample, width int) string {
	note := s.Note
	if s.Total <= 0 {
		if note == "" {
			note = "Ctrl-C ends it"
		}
		return fmt.Sprintf("  %v, %s", s.Elapsed.Round(time.Second), note)
	}
	left := (s.Total - s.Elapsed).Round(time.Second)
	tail := fmt.Sprintf(" %3.0f %%  %v left", 100*share(s), max(0, left))
	if note != "" {
		tail = fmt.Sprintf(" %3.0f %%  %s", 100*share(s), note)
	}
	cells := max(10, min(60, width-len(tail)-6))
	// Eighths of a cell make the bar move every second.
	eighths := int(share(s) * float64(cells*8))
	bar := strings.Repeat("█", eighths/8)
	if eighths%8 > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[eighths%8-1])
	}
	return fmt.Sprintf("  ▕%s%s▏%s", bar, strings.Repeat(" ", cells-len([]rune(bar))), tail)
}

// clip cuts a line at the width, so that it does not wrap and spoil the
// drawing in place.
func clip(s string, width int) string {
	if len(s) <= width {
		return s
	}
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	return string(r[:max(0, width-1)]) + "…"
}
