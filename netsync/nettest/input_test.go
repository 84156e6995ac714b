package nettest

import (
	"bytes"
	"errors"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func parse(t *testing.T, rows ...string) *Input {
	t.Helper()
	in, err := ParseInput([]byte(InputHeader + "\n" + strings.Join(rows, "\n") + "\n"))
	require.NoError(t, err)
	return in
}

// sharedInputs are the recordings beside the module, none where it is used alone.
func sharedInputs(t *testing.T) map[string][]byte {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, dir, filepath.Dir(dir))
	}
	files, err := filepath.Glob(filepath.Join(dir, "..", "shared", "data", "inputs", "*.csv"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no recordings in ../shared")
	}
	out := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		out[filepath.Base(f)] = b
	}
	return out
}

func TestRecordedInputIsReadWhole(t *testing.T) {
	for name, data := range sharedInputs(t) {
		in, err := ParseInput(data)
		require.NoError(t, err, name)
		require.Equal(t, bytes.Count(data, []byte("\n"))-1, in.Len(), name)
		var out bytes.Buffer
		require.NoError(t, WriteInput(&out, in))
		require.Equal(t, string(data), out.String(), name)
	}
}

func TestBadInputIsNamedByLineAndColumn(t *testing.T) {
	const good = "0,0,0,0,0,0,0\n"
	for _, c := range []struct{ data, want string }{
		{"", "input: it is empty"},
		{InputHeader + "\n", "input: no row follows the header"},
		{"t,x,y\n" + good, "input, line 1: the header is \"t,x,y\", it must be " + InputHeader},
		{InputHeader + "\n" + good + "1,NaN,0,0,0,0,0\n", `input, line 3, move_x: "NaN" is not a number within -1..1`},
		{InputHeader + "\n" + "0,0,-1.01,0,0,0,0\n", `input, line 2, move_y: "-1.01" is not a number within -1..1`},
		{InputHeader + "\n" + "0,0,0,+Inf,0,0,0\n", `input, line 2, turn: "+Inf" is not a number within -1..1`},
		{InputHeader + "\n" + "0,0,0,,0,0,0\n", `input, line 2, turn: "" is not a number within -1..1`},
		{InputHeader + "\n" + "0,0,0,0,0,2,0\n", `input, line 2, crouch: "2" is not a button, 0 or 1`},
		{InputHeader + "\n" + "0,0,0,0,0,0\n", "input, line 2: 6 columns where 7 belong"},
		{InputHeader + "\n" + "0,0,0,0,0,0,0,0\n", "input, line 2: 8 columns where 7 belong"},
		{InputHeader + "\n" + good + "2,0,0,0,0,0,0\n", "input, line 3, frame: it is 2 where 1 follows"},
		{InputHeader + "\n" + good + good, "input, line 3, frame: it is 0 where 1 follows"},
		{InputHeader + "\n" + "-1,0,0,0,0,0,0\n", `input, line 2, frame: "-1" is not a frame number`},
		{InputHeader + "\n" + good + "\n1,0,0,0,0,0,0\n", "input, line 3: a blank line between rows"},
	} {
		_, err := ParseInput([]byte(c.data))
		require.EqualError(t, err, c.want)
		require.ErrorIs(t, err, ErrInput)
	}
}

func TestInputSurvivesWindowsLineEndsAndAnyFirstFrame(t *testing.T) {
	in, err := ParseInput([]byte("\xef\xbb\xbf" + InputHeader + "\r\n7,-0,0.5,0,1,0,0\r\n8,1,0,0,0,0,1\r\n\r\n"))
	require.NoError(t, err)
	require.Equal(t, 2, in.Len())
	require.Equal(t, InputRow{MoveY: 0.5, Jump: true}, in.Row(0))
	require.False(t, math.Signbit(in.Row(0).MoveX))
	require.Equal(t, InputRow{MoveX: 1, Sprint: true}, in.Row(1))
}

func FuzzParseInput(f *testing.F) {
	f.Add([]byte(InputHeader + "\n0,0,0,0,0,0,0\n1,0.9875,-1,0.5,1,0,1\n"))
	f.Add([]byte(InputHeader + "\r\n3,-0,1e-3,0x1p-2,0,1,0\r\n\r\n"))
	f.Add([]byte(InputHeader + "\n0,NaN,0,0,0,0,0\n"))
	f.Add([]byte(InputHeader + "\n18446744073709551615,0,0,0,0,0,0\n"))
	var gen bytes.Buffer
	_ = WriteInput(&gen, GenerateInput(3, 2))
	f.Add(gen.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := ParseInput(data)
		if err != nil {
			var ie *InputError
			if !errors.As(err, &ie) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		var out bytes.Buffer
		if err := WriteInput(&out, in); err != nil {
			t.Fatal(err)
		}
		again, err := ParseInput(out.Bytes())
		if err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		if again.Len() != in.Len() {
			t.Fatalf("%d rows became %d", in.Len(), again.Len())
		}
		for i := range in.rows {
			if in.rows[i] != again.rows[i] {
				t.Fatalf("row %d: %+v became %+v", i, in.rows[i], again.rows[i])
			}
		}
	})
}

func TestAxesHoldBetweenRows(t *testing.T) {
	s := NewSampler(parse(t, "0,0.5,-1,0,0,0,0", "1,-0.25,0.75,0,0,0,0"), 0)
	var in components.Input
	for now := components.Ticks(240); now <= 960; now += 240 { // 240 frames a second
		s.Apply(&in, now, 240)
		require.Equal(t, components.Vec3{1, 0.5, 0}, in.Vector)
	}
	s.Apply(&in, 1200, 240)
	require.Equal(t, components.Vec3{-0.75, -0.25, 0}, in.Vector)
}

func TestPressOfASkippedRowIsSeen(t *testing.T) {
	s := NewSampler(parse(t, "0,0,0,0,0,0,0", "1,0,0,0,1,0,0", "2,0,0,0,0,1,0", "3,0,0,0,0,0,0", "4,0,0,0,0,0,0", "5,0,0,0,0,0,0"), 0)
	var in components.Input
	s.Apply(&in, 4*960, 4*960) // 15 frames a second
	require.Equal(t, components.FlagJumpPressed|components.FlagWantsToCrouch, in.Held)
	s.Apply(&in, 6*960, 2*960)
	require.Equal(t, components.MoveFlags(0), in.Held)
	require.Equal(t, components.FlagJumpPressed|components.FlagWantsToCrouch, in.Pressed)
}

func TestEveryPressIsSeenAtAnyFrameRate(t *testing.T) {
	rec := GenerateInput(5, 60)
	count := func(dt func() components.Ticks) (presses int) {
		s := NewSampler(rec, 0)
		var in components.Input
		for now := components.Ticks(0); ; {
			d := min(dt(), rec.Duration()-now)
			if d == 0 {
				return presses
			}
			now += d
			s.Apply(&in, now, d)
			if in.Pressed.Has(components.FlagJumpPressed) {
				presses++
			}
			in.Pressed = 0
		}
	}
	rows := count(func() components.Ticks { return rowTicks })
	require.Greater(t, rows, 15)
	// Presses that are generated lie 20 rows apart, so none merge.
	for _, dt := range []components.Ticks{240, 400, 960, 1920, 2880} {
		require.Equal(t, rows, count(func() components.Ticks { return dt }), "frames of %d ticks", dt)
	}
	r := rng(9)
	require.Equal(t, rows, count(func() components.Ticks { return components.Ticks(r.between(1, 3000)) }))
}

func TestYawDoesNotDependOnTheFrameRate(t *testing.T) {
	rec := GenerateInput(11, 7.3)
	rapid.Check(t, func(t *rapid.T) {
		offset := components.Ticks(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "offset"))
		end := components.Ticks(rapid.Int64Range(1, 30*57600).Draw(t, "end"))
		one, many := NewSampler(rec, offset), NewSampler(rec, offset)
		var a, b components.Input
		one.Apply(&a, end, end)
		for now := components.Ticks(0); now < end; {
			d := min(components.Ticks(rapid.Int64Range(1, 9000).Draw(t, "dt")), end-now)
			now += d
			many.Apply(&b, now, d)
		}
		if a.Control != b.Control {
			t.Fatalf("one frame turns to %v, many to %v", a.Control, b.Control)
		}
	})
}

func TestTurnIsIntegratedOverPartsOfRows(t *testing.T) {
	s := NewSampler(parse(t, "0,0,0,0.5,0,0,0", "1,0,0,-1,0,0,0", "2,0,0,0,0,0,0"), 0)
	s.StartYaw = 179.5
	var in components.Input
	s.Apply(&in, 480, 480) // half of row 0: 90 deg/s for 1/120 s
	require.InDelta(t, 179.5+0.75-360, in.Control.Yaw, 1e-12)
	s.Apply(&in, 1440, 960) // its other half, and half of row 1
	require.InDelta(t, 179.5+1.5-1.5, in.Control.Yaw, 1e-12)
	s.Apply(&in, 1440+2*57600*1000, 2*57600*1000) // 40,000 loops of -1.5 degrees: a third of a circle more
	require.InDelta(t, 179.5+120-360, in.Control.Yaw, 1e-9)
}

func TestOffsetStartsElsewhereAndTheRecordingLoops(t *testing.T) {
	rec := parse(t, "0,0,0,0,0,0,0", "1,0.25,0,0,0,0,0", "2,0.5,0,0,0,0,0")
	for _, offset := range []components.Ticks{rowTicks, -2 * rowTicks, 31 * rowTicks} {
		s := NewSampler(rec, offset)
		var in components.Input
		var got []float64
		for now := rowTicks; now <= 5*rowTicks; now += rowTicks {
			s.Apply(&in, now, rowTicks)
			got = append(got, in.Vector[1])
		}
		require.Equal(t, []float64{0.25, 0.5, 0, 0.25, 0.5}, got)
	}
}

func TestReleaseLetsGoAndKeepsLooking(t *testing.T) {
	s := NewSampler(parse(t, "0,1,-1,1,1,1,0"), 0)
	var in components.Input
	s.Apply(&in, 960, 960)
	yaw := in.Control.Yaw
	s.Release(&in)
	require.Equal(t, components.Vec3{}, in.Vector)
	require.Equal(t, components.MoveFlags(0), in.Held)
	require.Equal(t, 3.0, yaw)
	require.Equal(t, yaw, in.Control.Yaw)
}

func TestSamplingDoesNotAllocate(t *testing.T) {
	s := NewSampler(GenerateInput(1, 10), 0)
	var in components.Input
	now := components.Ticks(0)
	require.Zero(t, testing.AllocsPerRun(100, func() { now += 400; s.Apply(&in, now, 400) }))
}

func TestGeneratedInputIsLikeAHand(t *testing.T) {
	in := GenerateInput(1, 120)
	require.Equal(t, 120*60, in.Len())
	var moving, still, turning, jumps, crouches, steep int
	for i := range in.rows {
		r := in.rows[i]
		require.Equal(t, math.Round(r.MoveX*80), r.MoveX*80)
		require.True(t, math.Abs(r.MoveX) <= 1 && math.Abs(r.MoveY) <= 1 && math.Abs(r.Turn) <= 1)
		if r.MoveX == 0 && r.MoveY == 0 {
			still++
		} else {
			moving++
		}
		if r.Turn != 0 {
			turning++
		}
		if i > 0 {
			p := in.rows[i-1]
			if r.Jump && !p.Jump {
				jumps++
			}
			if r.Crouch && !p.Crouch {
				crouches++
			}
			if math.Abs(r.MoveX-p.MoveX) > 0.6 {
				steep++
			}
		}
	}
	require.Greater(t, moving, in.Len()/2)
	require.Greater(t, still, in.Len()/50)
	require.Greater(t, turning, in.Len()/50)
	require.Greater(t, jumps, 30)
	require.Greater(t, crouches, 15)
	require.Greater(t, steep, 10)
}

func TestGeneratedInputIsTheSeeds(t *testing.T) {
	text := func(seed uint64) string {
		var b bytes.Buffer
		require.NoError(t, WriteInput(&b, GenerateInput(seed, 20)))
		return b.String()
	}
	require.Equal(t, text(4), text(4))
	require.NotEqual(t, text(4), text(5))
	h := fnv.New64a()
	h.Write([]byte(text(4)))
	require.Equal(t, uint64(0xcda168a67fa60922), h.Sum64(), "rows must be equal on every target")
}
