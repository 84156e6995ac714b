package link

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// profileJSON is the part of a profile file that is read.
type profileJSON struct {
	Content *struct {
		Up, Down *profileWay
	}
}

type profileWay struct {
	Delay      struct{ Delay, Jitter looseNumber }
	Loss       struct{ Percentage looseNumber }
	Rate       looseNumber
	Reorder    struct{ Percentage looseNumber }
	Corruption struct{ Percentage looseNumber }
}

// looseNumber is a JSON number, or one in a string. Absent, null and the empty
// string are 0.
type looseNumber float64

func (n *looseNumber) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	text := string(b)
	if b[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
		if strings.TrimSpace(text) == "" {
			return nil
		}
	}
	v, err := number(text, 1e12)
	if err != nil {
		return &TraceError{0, err.Error()}
	}
	*n = looseNumber(v)
	return nil
}

func parseProfile(data []byte) (*Trace, error) {
	var p profileJSON
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, profileError(data, err)
	}
	if p.Content == nil || p.Content.Up == nil || p.Content.Down == nil {
		return nil, &TraceError{0, "a profile needs content.up and content.down"}
	}
	t := &Trace{kind: Profile}
	for dir, w := range map[Direction]*profileWay{Up: p.Content.Up, Down: p.Content.Down} {
		path, err := w.path()
		if err != nil {
			return nil, &TraceError{0, fmt.Sprintf("content.%s.%s", dir, err)}
		}
		t.profile[dir] = path
	}
	return t, nil
}

func (w *profileWay) path() (Path, error) {
	for _, f := range []struct {
		name  string
		value looseNumber
		most  float64
	}{
		{"delay.delay", w.Delay.Delay, maxDelay.Seconds() * 1000},
		{"delay.jitter", w.Delay.Jitter, maxDelay.Seconds() * 1000},
		{"loss.percentage", w.Loss.Percentage, 100},
		{"rate", w.Rate, maxBandwidth / 1000},
		{"reorder.percentage", w.Reorder.Percentage, 100},
		{"corruption.percentage", w.Corruption.Percentage, 100},
	} {
		if float64(f.value) > f.most {
			return Path{}, fmt.Errorf("%s: %g is not in 0..%g", f.name, float64(f.value), f.most)
		}
	}
	ms := func(n looseNumber) time.Duration {
		return time.Duration(math.Round(float64(n) * float64(time.Millisecond)))
	}
	return Path{
		Delay:     ms(w.Delay.Delay),
		Jitter:    ms(w.Delay.Jitter),
		Loss:      float64(w.Loss.Percentage),
		Bandwidth: int64(math.Round(float64(w.Rate) * 1000)),
		Reorder:   float64(w.Reorder.Percentage),
		Corrupt:   float64(w.Corruption.Percentage),
	}, nil
}

// profileError names the line of what encoding/json complains about.
func profileError(data []byte, err error) error {
	var own *TraceError
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	line := func(offset int64) int {
		offset = max(0, min(offset, int64(len(data))))
		return 1 + bytes.Count(data[:offset], []byte("\n"))
	}
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &syntax):
		return &TraceError{line(syntax.Offset), syntax.Error()}
	case errors.As(err, &kind):
		return &TraceError{line(kind.Offset), fmt.Sprintf("%s cannot be a %s", kind.Field, kind.Value)}
	}
	return &TraceError{0, err.Error()}
}
