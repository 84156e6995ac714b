package nettest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/gaitnet/gait/components"
)

// InputHeader is the first line of a file of recorded input.
const InputHeader = "frame,move_x,move_y,turn,jump,crouch,sprint"

// InputRate is how many rows a second recorded input has.
const InputRate = 60

// rowTicks is the span of a row: 57,600 / 60, exact.
const rowTicks components.Ticks = components.TicksPerSecond / InputRate

// maxInputRows bounds a file: 24 hours.
const maxInputRows = 24 * 3600 * InputRate

var inputColumns = [...]string{"frame", "move_x", "move_y", "turn", "jump", "crouch", "sprint"}

// InputRow is what a player's hands did during 1/60 s.
type InputRow struct {
	// MoveX is the stick to the right, MoveY the stick towards the player, as
	// screens and gamepads count it: -1 is full forward. Turn is the share of
	// 180 degrees/s to the right. Each within -1..1.
	MoveX, MoveY, Turn   float64
	Jump, Crouch, Sprint bool
}

// Input is recorded human input, 60 rows a second. It is read only: any number
// of samplers may play the same one.
type Input struct {
	rows []InputRow
	// turned[i] is the turn before row i, in units of turnUnit.
	turned []int64
}

// ErrInput is what every InputError is.
var ErrInput = errors.New("nettest: not a usable input recording")

// InputError says what is wrong with a recording, and where.
type InputError struct {
	Line   int    // from 1, the header; 0 where no line can be named
	Column string // by its name in the header; empty for a whole line
	Reason string
}

func (e *InputError) Error() string {
	switch {
	case e.Line == 0:
		return "input: " + e.Reason
	case e.Column == "":
		return fmt.Sprintf("input, line %d: %s", e.Line, e.Reason)
	}
	return fmt.Sprintf("input, line %d, %s: %s", e.Line, e.Column, e.Reason)
}

// Unwrap makes errors.Is(err, ErrInput) true.
func (e *InputError) Unwrap() error { return ErrInput }

// ParseInput reads recorded input: the header InputHeader, then a row for each
// 1/60 s with the frame's number (any start, one more in each row), three axes
// within -1..1 and three buttons, 0 or 1. Blank lines at the end are skipped.
// The error is an *InputError that names line and column.
func ParseInput(data []byte) (*Input, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var rows []InputRow
	var next uint64
	line, blank := 0, 0
	for len(data) > 0 {
		var text []byte
		text, data, _ = bytes.Cut(data, []byte("\n"))
		text = bytes.TrimRight(text, "\r \t")
		line++
		switch {
		case line == 1:
			if string(text) != InputHeader {
				return nil, &InputError{1, "", fmt.Sprintf("the header is %.60q, it must be %s", text, InputHeader)}
			}
			continue
		case len(text) == 0:
			if blank == 0 {
				blank = line
			}
			continue
		case blank != 0:
			return nil, &InputError{blank, "", "a blank line between rows"}
		case len(rows) == maxInputRows:
			return nil, &InputError{line, "", "more than 24 hours of rows"}
		}
		row, frame, err := parseRow(line, text)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 && frame != next {
			return nil, &InputError{line, "frame", fmt.Sprintf("it is %d where %d follows", frame, next)}
		}
		next = frame + 1
		rows = append(rows, row)
	}
	if line == 0 {
		return nil, &InputError{0, "", "it is empty"}
	}
	if len(rows) == 0 {
		return nil, &InputError{0, "", "no row follows the header"}
	}
	return newInput(rows), nil
}

func parseRow(line int, text []byte) (row InputRow, frame uint64, err error) {
	if n := bytes.Count(text, []byte(",")) + 1; n != len(inputColumns) {
		return row, 0, &InputError{line, "", fmt.Sprintf("%d columns where %d belong", n, len(inputColumns))}
	}
	for i, name := range inputColumns {
		var cell []byte
		cell, text, _ = bytes.Cut(text, []byte(","))
		fail := func(what string) (InputRow, uint64, error) {
			return row, 0, &InputError{line, name, fmt.Sprintf("%.40q is not %s", cell, what)}
		}
		switch i {
		case 0:
			if frame, err = strconv.ParseUint(string(cell), 10, 62); err != nil {
				return fail("a frame number")
			}
		case 1, 2, 3:
			v, err := strconv.ParseFloat(string(cell), 64)
			if err != nil || !(v >= -1 && v <= 1) { // refuses NaN too
				return fail("a number within -1..1")
			}
			v += 0 // no negative zero
			switch i {
			case 1:
				row.MoveX = v
			case 2:
				row.MoveY = v
			case 3:
				row.Turn = v
			}
		default:
			if string(cell) != "0" && string(cell) != "1" {
				return fail("a button, 0 or 1")
			}
			down := cell[0] == '1'
			switch i {
			case 4:
				row.Jump = down
			case 5:
				row.Crouch = down
			case 6:
				row.Sprint = down
			}
		}
	}
	return row, frame, nil
}

// newInput takes rows that are known to be good and adds up their turns.
func newInput(rows []InputRow) *Input {
	in := &Input{rows: rows, turned: make([]int64, len(rows)+1)}
	for i := range rows {
		in.turned[i+1] = in.turned[i] + turnRate(rows[i].Turn)*int64(rowTicks)
	}
	return in
}

// Len is the number of rows.
func (in *Input) Len() int { return len(in.rows) }

// Row is row i.
func (in *Input) Row(i int) InputRow { return in.rows[i] }

// Duration is after how long the recording repeats itself.
func (in *Input) Duration() components.Ticks { return components.Ticks(len(in.rows)) * rowTicks }

// WriteInput writes in in the form that ParseInput reads, frames from 0.
// Parsing what was written gives equal rows.
func WriteInput(w io.Writer, in *Input) error {
	b := make([]byte, 0, 1<<15)
	b = append(append(b, InputHeader...), '\n')
	for i := range in.rows {
		r := &in.rows[i]
		b = strconv.AppendInt(b, int64(i), 10)
		for _, v := range [...]float64{r.MoveX, r.MoveY, r.Turn} {
			b = strconv.AppendFloat(append(b, ','), v, 'f', -1, 64)
		}
		for _, down := range [...]bool{r.Jump, r.Crouch, r.Sprint} {
			if down {
				b = append(b, ",1"...)
			} else {
				b = append(b, ",0"...)
			}
		}
		b = append(b, '\n')
		if len(b) > 1<<15-256 {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err := w.Write(b)
	return err
}
