package link

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/gaitnet/gait/components"
)

// TraceKind is the format a trace was recognised as.
type TraceKind uint8

// The formats of traces.
const (
	// Opportunities: mahimahi's. Each line is the millisecond, never falling,
	// at which 1500 bytes may leave; packets share an opportunity's bytes, and a
	// packet may use the rest of one and the start of the next. After the last
	// line the file starts again, shifted by the last line's time.
	Opportunities TraceKind = iota + 1
	// RoundTrips: CSV with the header
	// t_s,rtt_min_ms,rtt_avg_ms,rtt_max_ms,rtt_stdev_ms,loss_pct. Each way has
	// half of the average RTT, interpolated in time between rows, and half of
	// the loss, held from row to row. Before the first row's time the first
	// row's values hold; the last row lasts as long as the interval before it,
	// then the file starts again at its time 0.
	RoundTrips
	// Rates: each line has seconds, white space, Mbit/s. The rate holds until
	// the next line's time; first and last line as with RoundTrips.
	Rates
	// Profile: a JSON object with content.up and content.down, each with
	// delay.delay and delay.jitter in ms, loss.percentage, rate in kbit/s (0: no
	// limit), reorder.percentage and corruption.percentage. Numbers may be
	// strings; what is absent is 0. It does not vary in time.
	Profile
)

// Trace is a recorded link, for one direction or, as a profile, for both. It
// is read only: any number of links may replay the same one.
type Trace struct {
	kind   TraceKind
	period int64 // ms for Opportunities, ticks for the others

	opportunity []int64 // ms

	at   []components.Ticks
	rate []int64 // bit/s from at[i] on
	// perLoop is what the whole trace carries in bit/s times ticks, at most
	// MaxInt64.
	perLoop int64

	delay []components.Ticks // one way, at at[i]
	loss  []float64          // 0..1, from at[i] on

	profile [2]Path
}

// Kind is the format that was recognised.
func (t *Trace) Kind() TraceKind { return t.kind }

// Duration is after how long the trace repeats itself; 0 for a profile.
func (t *Trace) Duration() time.Duration {
	if t.kind == Opportunities {
		return time.Duration(t.period) * time.Millisecond
	}
	return components.Ticks(t.period).Duration()
}

// Profile is what a profile states for a direction; the zero Path for another
// kind of trace.
func (t *Trace) Profile(dir Direction) Path { return t.profile[dir] }

// ErrTrace is what every TraceError is.
var ErrTrace = errors.New("link: not a usable trace")

// TraceError says what is wrong with a trace, and where.
type TraceError struct {
	Line   int // from 1; 0 where no line can be named
	Reason string
}

func (e *TraceError) Error() string {
	if e.Line == 0 {
		return "link: trace: " + e.Reason
	}
	return fmt.Sprintf("link: trace, line %d: %s", e.Line, e.Reason)
}

// Unwrap makes errors.Is(err, ErrTrace) true.
func (e *TraceError) Unwrap() error { return ErrTrace }

const (
	// opportunityBytes is what may leave at one line of a mahimahi trace.
	opportunityBytes = 1500
	maxTraceSeconds  = 1e6
	roundTripHeader  = "t_s,rtt_min_ms,rtt_avg_ms,rtt_max_ms,rtt_stdev_ms,loss_pct"
)

// ParseTrace reads a trace in any of the formats, which it tells apart by
// their content. The error is a *TraceError that names the line.
func ParseTrace(data []byte) (*Trace, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	head := strings.TrimSpace(string(data[:min(len(data), 256)]))
	line, _, _ := strings.Cut(head, "\n")
	line = strings.TrimSpace(line)
	switch {
	case line == "":
		return nil, &TraceError{0, "it is empty"}
	case line[0] == '{':
		return parseProfile(data)
	case line == roundTripHeader:
		return parseRoundTrips(data)
	case len(strings.Fields(line)) == 2:
		return parseRates(data)
	case strings.Trim(line, "0123456789") == "":
		return parseOpportunities(data)
	}
	return nil, &TraceError{1, "neither a millisecond, nor seconds and Mbit/s, nor the header of a round-trip CSV, nor a JSON object"}
}

// eachLine calls row for each line that is not blank, with its number from 1.
func eachLine(data []byte, row func(line int, text string) error) error {
	for n := 1; len(data) > 0; n++ {
		var text []byte
		text, data, _ = bytes.Cut(data, []byte("\n"))
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if err := row(n, string(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

func parseOpportunities(data []byte) (*Trace, error) {
	t := &Trace{kind: Opportunities}
	err := eachLine(data, func(line int, text string) error {
		ms, err := strconv.ParseUint(text, 10, 63)
		if err != nil || ms > maxTraceSeconds*1000 {
			return &TraceError{line, fmt.Sprintf("%.40q is not a time in ms, 0..1e9", text)}
		}
		if int64(ms) < t.period {
			return &TraceError{line, fmt.Sprintf("%d ms is before the line above", ms)}
		}
		t.period = int64(ms)
		t.opportunity = append(t.opportunity, int64(ms))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if t.period == 0 {
		return nil, &TraceError{len(t.opportunity), "the last time is 0 ms, so the trace has no length"}
	}
	return t, nil
}

func parseRates(data []byte) (*Trace, error) {
	t := &Trace{kind: Rates}
	err := eachLine(data, func(line int, text string) error {
		f := strings.Fields(text)
		if len(f) != 2 {
			return &TraceError{line, fmt.Sprintf("%d columns where seconds and Mbit/s belong", len(f))}
		}
		if err := t.addTime(line, f[0]); err != nil {
			return err
		}
		mbit, err := number(f[1], maxBandwidth/1e6)
		if err != nil {
			return &TraceError{line, "Mbit/s: " + err.Error()}
		}
		t.rate = append(t.rate, int64(math.Round(mbit*1e6)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.close()
	t.mergeRates()
	return t, nil
}

// mergeRates joins neighbours of equal rate, so that a long outage is one
// step, and adds up what a loop carries.
func (t *Trace) mergeRates() {
	t.at[0] = 0
	n := 0
	for i := range t.at {
		if i > 0 && t.rate[i] == t.rate[n-1] {
			continue
		}
		t.at[n], t.rate[n] = t.at[i], t.rate[i]
		n++
	}
	t.at, t.rate = t.at[:n], t.rate[:n]
	for i := range t.at {
		hi, lo := bits.Mul64(uint64(t.rate[i]), uint64(t.segmentEnd(i)-t.at[i]))
		if hi != 0 || lo > uint64(math.MaxInt64-t.perLoop) {
			t.perLoop = math.MaxInt64
			return
		}
		t.perLoop += int64(lo)
	}
}

func (t *Trace) segmentEnd(i int) components.Ticks {
	if i+1 < len(t.at) {
		return t.at[i+1]
	}
	return components.Ticks(t.period)
}

func parseRoundTrips(data []byte) (*Trace, error) {
	t := &Trace{kind: RoundTrips}
	header := true
	last := 0
	err := eachLine(data, func(line int, text string) error {
		last = line
		if header {
			header = false
			return nil
		}
		f := strings.Split(text, ",")
		if len(f) != 6 {
			return &TraceError{line, fmt.Sprintf("%d columns where the header has 6", len(f))}
		}
		if err := t.addTime(line, f[0]); err != nil {
			return err
		}
		var v [6]float64
		for i, name := range strings.Split(roundTripHeader, ",")[1:] {
			most := maxDelay.Seconds() * 1000
			if i == 4 {
				most = 100
			}
			var err error
			if v[i+1], err = number(f[i+1], most); err != nil {
				return &TraceError{line, name + ": " + err.Error()}
			}
		}
		t.delay = append(t.delay, components.TicksFromSeconds(v[2]/2000))
		t.loss = append(t.loss, v[5]/200)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(t.at) == 0 {
		return nil, &TraceError{last, "no rows below the header"}
	}
	t.close()
	return t, nil
}

// addTime appends a row's time, which must not be before the last.
func (t *Trace) addTime(line int, text string) error {
	s, err := number(text, maxTraceSeconds)
	if err != nil {
		return &TraceError{line, "seconds: " + err.Error()}
	}
	at := components.TicksFromSeconds(s)
	if n := len(t.at); n > 0 && at < t.at[n-1] {
		return &TraceError{line, fmt.Sprintf("%g s is before the line above", s)}
	}
	t.at = append(t.at, at)
	return nil
}

// close sets the period: the last row lasts as long as the interval before it,
// or 1 s when there is none.
func (t *Trace) close() {
	n := len(t.at)
	last := components.Second
	if n > 1 && t.at[n-1] > t.at[n-2] {
		last = t.at[n-1] - t.at[n-2]
	}
	t.period = int64(t.at[n-1] + last)
}

// number parses a finite number in 0..most.
func number(text string, most float64) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(v >= 0 && v <= most) {
		return 0, fmt.Errorf("%.40q is not a number in 0..%g", text, most)
	}
	return v, nil
}

// row is the index of the last row at or before a time, and that time within
// the loop; the first row stands for what comes before it.
func (t *Trace) row(at components.Ticks) (i int, phase components.Ticks) {
	phase = at % components.Ticks(t.period)
	if phase < 0 {
		phase += components.Ticks(t.period)
	}
	lo, hi := 0, len(t.at)-1
	for lo < hi {
		if mid := (lo + hi + 1) / 2; t.at[mid] <= phase {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo, phase
}

// roundTrip is the delay and the loss of one way of a RoundTrips trace.
func (t *Trace) roundTrip(at components.Ticks) (delay components.Ticks, loss float64) {
	i, phase := t.row(at)
	delay, loss = t.delay[i], t.loss[i]
	if i+1 < len(t.at) && phase > t.at[i] {
		// At most 1,800 s times 1e6 s in ticks: below 2^63.
		span := t.at[i+1] - t.at[i]
		delay += (t.delay[i+1] - delay) * (phase - t.at[i]) / span
	}
	return delay, loss
}
