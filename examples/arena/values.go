package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
)

// whole takes a whole number within lo..hi.
func whole(to *int, lo, hi int) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < lo || n > hi {
			return fmt.Errorf("it is a whole number, %d to %d", lo, hi)
		}
		*to = n
		return nil
	}
}

// number takes a number within lo..hi.
func number(to *float64, lo, hi float64) func(string) error {
	return func(s string) error {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v >= lo && v <= hi) {
			return fmt.Errorf("it is a number, %g to %g", lo, hi)
		}
		*to = v
		return nil
	}
}

// percent takes 0 to 100, with or without the sign.
func percent(to *float64) func(string) error {
	return func(s string) error {
		if number(to, 0, 100)(strings.TrimSuffix(s, "%")) != nil {
			return errors.New("it is a percentage, 0 to 100")
		}
		return nil
	}
}

// span takes a duration of 0 to most.
func span(to *time.Duration, most time.Duration) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		switch {
		case err != nil:
			return errors.New("it is a duration with its unit, such as 100ms or 2m30s")
		case d < 0 || d > most:
			return fmt.Errorf("it lies within 0 to %s", short(most))
		}
		*to = d
		return nil
	}
}

// short is a duration without its zero minutes and seconds.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// choice takes one of names and tells which.
func choice(names []string, to func(int)) func(string) error {
	return func(s string) error {
		for i, n := range names {
			if n == s {
				to(i)
				return nil
			}
		}
		return fmt.Errorf("it is one of %s", strings.Join(names, ", "))
	}
}

// eachOf takes the parts of a comma list.
func eachOf(s string, take func(string) error) error {
	for _, part := range strings.Split(s, ",") {
		if err := take(part); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads and parses a file; what is wrong with it comes with its name.
func readFile[T any](name string, parse func([]byte) (T, error)) (out T, err error) {
	if name == "" {
		return out, errors.New("a file name is missing")
	}
	f, err := os.Open(name)
	if err != nil {
		return out, err // names the file
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return out, err
	}
	if len(data) > maxFileSize {
		return out, fmt.Errorf("%s: it is larger than %d MiB", name, maxFileSize>>20)
	}
	if out, err = parse(data); err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// parseProfile reads a JSON object with fields of MovementProfile by name over
// the defaults.
func parseProfile(data []byte) (components.MovementProfile, error) {
	p := components.DefaultProfile()
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if t := bytes.TrimSpace(data); len(t) == 0 || t[0] != '{' {
		return p, errors.New("it is not a JSON object of profile fields")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(&p)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
	case errors.As(err, &syntax):
		return p, fmt.Errorf("line %d: %w", lineOf(data, syntax.Offset), err)
	case errors.As(err, &kind):
		return p, fmt.Errorf("line %d: %s cannot be a %s", lineOf(data, kind.Offset), kind.Field, kind.Value)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return p, errors.New("it ends before its end")
	default:
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return p, fmt.Errorf("a profile has no field %s", name)
		}
		return p, err
	}
	if _, err := d.Token(); err != io.EOF {
		return p, errors.New("something follows its object")
	}
	return p, p.Validate()
}

func lineOf(data []byte, offset int64) int {
	offset = int64(math.Min(float64(offset), float64(len(data))))
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}

// linkError tells a setting that the link refuses by its flag's name.
func linkError(err error) error {
	var e *link.ConfigError
	if !errors.As(err, &e) {
		return err
	}
	_, field, _ := strings.Cut(e.Field, ".")
	name := map[string]string{
		"Delay": "rtt", "Jitter": "jitter", "Loss": "loss", "BurstMean": "burst", "BurstMax": "burst-max",
		"Reorder": "reorder", "Duplicate": "duplicate", "Corrupt": "corrupt", "TraceStart": "trace-start",
	}[field]
	if name == "" {
		return err
	}
	return fmt.Errorf("-%s %s: %s", name, e.Value, e.Reason)
}
