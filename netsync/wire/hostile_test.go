package wire_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

// step is one field of a message written by hand, so that a test can put there
// what no Write gives.
type step struct {
	name  string
	write func(w *bits.Writer)
}

func bit(v bool) func(w *bits.Writer)              { return func(w *bits.Writer) { w.WriteBool(v) } }
func field(v uint64, n uint) func(w *bits.Writer)  { return func(w *bits.Writer) { w.WriteBits(v, n) } }
func golomb(v uint64, k uint) func(w *bits.Writer) { return func(w *bits.Writer) { w.WriteUint(v, k) } }
func residual(v int64, k uint) func(w *bits.Writer) {
	return func(w *bits.Writer) { w.WriteResidual(v, k) }
}
func exactly(v ...float64) func(w *bits.Writer) {
	return func(w *bits.Writer) {
		for _, x := range v {
			w.WriteFloat64(x)
		}
	}
}

func in(parts ...func(w *bits.Writer)) func(w *bits.Writer) {
	return func(w *bits.Writer) {
		for _, p := range parts {
			p(w)
		}
	}
}

// tampered is the message with one step put in place of another.
func tampered(t *testing.T, steps []step, name string, write func(w *bits.Writer)) bits.Reader {
	var w bits.Writer
	w.Reset(make([]byte, 1200))
	found := name == ""
	for _, s := range steps {
		if s.name == name {
			found = true
			write(&w)
		} else {
			s.write(&w)
		}
	}
	require.True(t, found, name)
	w.WriteBytes(make([]byte, 128)) // nothing ends for want of bits
	require.NoError(t, w.Err())
	return bits.NewReader(w.Bytes())
}

// containerSteps are a full container of two moves behind its kind; the second
// is of the class that tells everything.
var containerSteps = []step{
	{"id", golomb(1, 8)}, {"epoch", golomb(0, 0)}, {"full", bit(true)}, {"special", bit(false)},
	{"stamp", field(4800, 24)}, {"span", in(bit(false), golomb(3, 2))}, {"control", in(bit(false), field(77, 16))},
	{"acceleration", in(bit(false), bit(false), bit(false))}, {"flags", bit(false)}, {"obstacle", in(bit(true), field(5, 24))},
	{"profile", bit(false)}, {"mode", golomb(1, 1)}, {"base", bit(false)}, {"claim", in(field(0, 5), golomb(0, 13))},
	{"pending", bit(false)}, {"count", field(1, 7)},
	{"class", field(0, 4)}, {"time", bit(false)}, {"slew", residual(0, 2)}, {"turn", bit(false)},
	{"push", bit(false)}, {"older flags", bit(false)}, {"older profile", bit(false)},
}

func TestContainersWithABadFieldAreRefused(t *testing.T) {
	read := func(r *bits.Reader) error {
		var c wire.Container
		return wire.ReadContainer(r, &c, wire.ContainerContext{})
	}
	good := tampered(t, containerSteps, "", nil)
	require.NoError(t, read(&good))
	qvec := func(x, y, z int32) func(w *bits.Writer) {
		return func(w *bits.Writer) { w.WriteQVec(bits.QVec{x, y, z}) }
	}
	for _, c := range []struct {
		why, step string
		write     func(w *bits.Writer)
		field     string
	}{
		{"nobody", "id", golomb(0, 8), "id"},
		{"an ID of 33 bits", "id", golomb(1<<32, 8), "id"},
		{"an epoch of 17 bits", "epoch", golomb(1<<16, 0), "epoch"},
		{"special without cause", "special", in(bit(true), bit(false), bit(false)), "stick"},
		{"the default stick spelt out", "special", in(bit(true), bit(true), bit(true), field(2048, 16), field(80, 8)), "stick"},
		{"a stick without steps", "special", in(bit(true), bit(false), bit(true), field(1000, 16), field(0, 8)), "stick"},
		{"a stick of too many steps", "special", in(bit(true), bit(false), bit(true), field(1000, 16), field(129, 8)), "stick"},
		{"a stick without push", "special", in(bit(true), bit(false), bit(true), field(0, 16), field(80, 8)), "stick"},
		{"stamp 0", "stamp", field(0, 24), "stamp"},
		{"a span over a second", "span", in(bit(false), golomb(240, 2)), "dt"},
		{"a span over a second in ticks", "span", in(bit(true), golomb(57600, 9)), "dt"},
		{"a whole span in ticks", "span", in(bit(true), golomb(959, 9)), "dt"},
		{"a level control in the long form", "control", in(bit(true), field(0b010, 3), field(5, 16)), "control"},
		{"more steps than the stick has", "acceleration", in(bit(false), bit(true), bit(false), field(80, 7), bit(false)), "acceleration"},
		{"acceleration over the bound", "acceleration", in(bit(true), qvec(1e7+1, 0, 0)), "acceleration"},
		{"acceleration under the bound", "acceleration", in(bit(true), qvec(0, 0, -1e7-1)), "acceleration"},
		{"the reserved flag", "flags", in(bit(true), field(0x08, 8)), "flags"},
		{"no flags in the long form", "flags", in(bit(true), field(0, 8)), "flags"},
		{"an obstacle time near an unknown view", "obstacle", in(bit(false), field(5, 6)), "obstacle time"},
		{"the first profile in the long form", "profile", in(bit(true), golomb(0, 0), golomb(0, 0)), "profile"},
		{"a profile of 17 bits", "profile", in(bit(true), golomb(1<<16, 0), golomb(0, 0)), "profile"},
		{"a mode of 9 bits", "mode", golomb(256, 1), "claim mode"},
		{"a base that is none", "base", in(bit(true), golomb(0, 8)), "claim base"},
		{"a claim wider than it has to be", "claim", in(field(3, 5), field(1, 3), field(0, 3), golomb(0, 13)), "claim"},
		{"a wide claim that is narrow", "claim", in(field(31, 5), field(30, 6), field(1<<29-1, 30), field(0, 30), golomb(0, 13)), "claim"},
		{"a claim of 53 bits", "claim", in(field(31, 5), field(53, 6)), "claim"},
		{"a claim too far", "claim", in(field(31, 5), field(42, 6), field(1<<41-1, 42), field(0, 42), golomb(0, 13)), "claim"},
		{"a claim too high", "claim", in(field(0, 5), golomb(1<<60, 13)), "claim"},
		{"more moves than an owner has", "count", field(96, 7), "count"},
		{"a time that is as expected", "time", in(bit(true), bit(false), golomb(0, 2), bit(false)), "stamp"},
		{"a span that is as expected", "time", in(bit(true), bit(false), golomb(1, 2), bit(true), bit(false), golomb(3, 2)), "stamp"},
		{"whole spans in ticks", "time", in(bit(true), bit(true), golomb(960, 10), bit(false)), "stamp"},
		{"a gap of two minutes", "time", in(bit(true), bit(false), golomb(7200, 2), bit(false)), "stamp"},
		{"a gap that reaches too far back", "time", in(bit(true), bit(true), golomb(120*57600-959, 10), bit(false)), "stamp"},
		{"an obstacle time from nowhere", "slew", residual(1<<33, 2), "obstacle time"},
		{"a turn that is as expected", "turn", in(bit(true), residual(0, 4), residual(0, 4), residual(0, 4)), "control"},
		{"a turn of 17 bits", "turn", in(bit(true), residual(1<<16, 4), residual(0, 4), residual(0, 4)), "control"},
		{"a step out of the grid", "push", in(bit(true), field(1, 2), residual(81, 2), residual(0, 2)), "acceleration"},
		{"an acceleration out of its range", "push", in(bit(true), field(2, 2), residual(1e7+1, 0), residual(0, 0), residual(0, 0)), "acceleration"},
		{"the same flags again", "older flags", in(bit(true), field(0, 8)), "flags"},
		{"the reserved flag before", "older flags", in(bit(true), field(0x0a, 8)), "flags"},
		{"the same profile again", "older profile", in(bit(true), bit(false)), "profile"},
		{"a turn of the class yaw of 17 bits", "class", in(field(0b100, 3), golomb(1<<16-1, 4)), "control"},
		{"an obstacle time of the class slew from nowhere", "class", in(field(0b1000, 4), golomb(1<<40, 2)), "obstacle time"},
	} {
		r := tampered(t, containerSteps, c.step, c.write)
		require.Equal(t, &wire.FieldError{Message: "moves", Field: c.field}, read(&r), c.why)
	}
}

// A step is coded against steps: behind a push off the grid there are none.
func TestStepsBehindAPushOffTheGridAreRefused(t *testing.T) {
	steps := append([]step(nil), containerSteps...)
	for i := range steps {
		if steps[i].name == "push" {
			steps[i].write = in(bit(true), field(1, 2), residual(1, 2), residual(0, 2))
		}
	}
	r := tampered(t, steps, "acceleration", in(bit(true), func(w *bits.Writer) { w.WriteQVec(bits.QVec{3, 4, 5}) }))
	var c wire.Container
	require.Equal(t, &wire.FieldError{Message: "moves", Field: "acceleration"}, wire.ReadContainer(&r, &c, wire.ContainerContext{}))
}

// Cut off anywhere, a message is refused.
func TestMessagesThatEndTooEarlyAreRefused(t *testing.T) {
	for _, b := range packets() {
		whole := walk(b)
		if whole == 0 {
			continue // a header or a message of the reliable channel
		}
		for n := range len(b) {
			require.Less(t, walk(b[:n]), whole)
		}
	}
}

// walk counts the messages of a payload that can be read.
func walk(b []byte) (n int) {
	r := bits.NewReader(b)
	for {
		kind, err := wire.ReadKind(&r)
		switch kind {
		case wire.KindMoves:
			var c wire.Container
			err = wire.ReadContainer(&r, &c, wire.ContainerContext{HasView: true})
		case wire.KindAnswer:
			var m components.MoveResponse
			_, err = wire.ReadResponse(&r, &m)
		case wire.KindSnapshot:
			var v components.ReplicatedMovement
			_, err = wire.ReadSnapshot(&r, &v, wire.SnapshotContext{})
		case wire.KindTypes:
			g := newGame()
			_, err = wire.ReadTypes(&r, g.reg, g.got, g.zero)
		default:
			if err == nil {
				n++ // the end, too
			}
			return n
		}
		if err != nil {
			return n
		}
		n++
	}
}

var answerSteps = []step{
	{"id", golomb(1, 8)}, {"epoch", golomb(0, 0)}, {"stamp", field(5, 24)}, {"good", bit(false)}, {"reason", field(1, 4)},
	{"location", exactly(0, 0, 0)}, {"velocity", exactly(0, 0, 0)}, {"acceleration", exactly(0, 0, 0)}, {"gravity", bit(false)},
	{"rotation", exactly(0, 0, 0)}, {"base", bit(false)}, {"base place", exactly(0, 0, 0)}, {"base yaw", exactly(0)},
	{"capsule", bit(false)}, {"hold", residual(0, 8)}, {"count", golomb(0, 0)}, {"jumping", bit(false)}, {"mode", golomb(1, 1)}, {"crouched", bit(false)},
}

func TestAnswersWithABadFieldAreRefused(t *testing.T) {
	read := func(r *bits.Reader) error {
		var m components.MoveResponse
		_, err := wire.ReadResponse(r, &m)
		return err
	}
	good := tampered(t, answerSteps, "", nil)
	require.NoError(t, read(&good))
	for _, c := range []struct {
		why, step string
		write     func(w *bits.Writer)
		field     string
	}{
		{"nobody", "id", golomb(0, 8), "id"},
		{"an epoch of 17 bits", "epoch", golomb(1<<16, 0), "epoch"},
		{"stamp 0", "stamp", field(0, 24), "stamp"},
		{"an unknown reason", "reason", field(uint64(components.NumCorrectionReasons), 4), "reason"},
		{"a place that is no number", "location", exactly(0, math.NaN(), 0), "location"},
		{"a place too far", "location", exactly(0, 0, 2e10), "location"},
		{"infinite velocity", "velocity", exactly(math.Inf(1), 0, 0), "velocity"},
		{"too fast", "velocity", exactly(0, -2e7, 0), "velocity"},
		{"too much acceleration", "acceleration", exactly(0, 0, 2e7), "acceleration"},
		{"gravity that is no direction", "gravity", in(bit(true), exactly(0, 0, -2)), "gravity"},
		{"usual gravity in the long form", "gravity", in(bit(true), exactly(0, 0, -1)), "gravity"},
		{"a rotation without end", "rotation", exactly(0, 1e7, 0), "rotation"},
		{"a base that is none", "base", in(bit(true), golomb(0, 8)), "base"},
		{"a place too far on the base", "base place", exactly(2e10, 0, 0), "base"},
		{"a yaw without end on the base", "base yaw", exactly(1e7), "base"},
		{"a capsule without radius", "capsule", in(bit(true), exactly(0, 88, 1)), "capsule"},
		{"a capsule lower than wide", "capsule", in(bit(true), exactly(34, 33, 1)), "capsule"},
		{"a giant", "capsule", in(bit(true), exactly(34, 2e4, 1)), "capsule"},
		{"time that runs back", "capsule", in(bit(true), exactly(34, 88, -1)), "capsule"},
		{"the usual capsule in the long form", "capsule", in(bit(true), exactly(34, 88, 1)), "capsule"},
		{"256 jumps", "count", golomb(256, 0), "jump"},
		{"a mode of 9 bits", "mode", golomb(256, 1), "mode"},
	} {
		r := tampered(t, answerSteps, c.step, c.write)
		require.Equal(t, &wire.FieldError{Message: "answer", Field: c.field}, read(&r), c.why)
	}
}

var snapshotSteps = []step{
	{"id", golomb(1, 8)}, {"rounding", bit(false)}, {"server time", residual(0, 8)}, {"transform time", residual(0, 11)},
	{"mode", golomb(1, 1)}, {"crouched", bit(false)}, {"jump force", bit(false)}, {"teleports", golomb(0, 1)}, {"base", bit(false)},
	{"location", in(field(0, 5), golomb(0, 13))}, {"velocity", field(0, 5)}, {"rotation", field(0, 17)},
	{"gravity", in(bit(false), bit(false))}, {"acceleration", bit(false)},
}

func TestSnapshotsWithABadFieldAreRefused(t *testing.T) {
	read := func(r *bits.Reader) error {
		var v components.ReplicatedMovement
		_, err := wire.ReadSnapshot(r, &v, wire.SnapshotContext{})
		return err
	}
	good := tampered(t, snapshotSteps, "", nil)
	require.NoError(t, read(&good))
	for _, c := range []struct {
		why, step string
		write     func(w *bits.Writer)
		field     string
	}{
		{"nobody", "id", golomb(0, 8), "id"},
		{"three decimals of a place", "rounding", in(bit(true), field(3, 2), field(0, 2), bit(false)), "quantisation"},
		{"three decimals of a velocity", "rounding", in(bit(true), field(2, 2), field(3, 2), bit(false)), "quantisation"},
		{"the usual rounding in the long form", "rounding", in(bit(true), field(2, 2), field(0, 2), bit(false)), "quantisation"},
		{"a server time from nowhere", "server time", residual(1<<33, 8), "server time"},
		{"a transform time from nowhere", "transform time", residual(-1<<33, 11), "transform time"},
		{"a mode of 9 bits", "mode", golomb(256, 1), "mode"},
		{"256 teleports", "teleports", golomb(256, 1), "teleports"},
		{"a base that is none", "base", in(bit(true), golomb(0, 8)), "base"},
		{"a place wider than it has to be", "location", in(field(2, 5), field(0, 4), golomb(0, 13)), "location"},
		{"a velocity wider than it has to be", "velocity", in(field(9, 5), bit(false), field(1, 18)), "velocity"},
		{"a level rotation in the long form", "rotation", in(bit(true), field(0, 3)), "rotation"},
		{"gravity that is no direction", "gravity", in(bit(false), bit(true), exactly(1, 1, 1)), "gravity"},
		{"acceleration wider than it has to be", "acceleration", in(bit(true), field(9, 5), bit(false), field(1, 18)), "acceleration"},
	} {
		r := tampered(t, snapshotSteps, c.step, c.write)
		require.Equal(t, &wire.FieldError{Message: "snapshot", Field: c.field}, read(&r), c.why)
	}
}

// A message of tuning that was sent well and then changed in one field.
func TestTuningThatNothingWorksWithIsRefused(t *testing.T) {
	p := wire.ProfileRevision{Ref: components.ProfileRef{Revision: 2}, Profile: components.DefaultProfile()}
	body := message(t, wire.ReliableProfile, func(w *bits.Writer) { wire.WriteProfileRevision(w, &p) })
	last := len(body) - 1
	require.NoError(t, wire.ReadProfileRevision(body, &p))
	s := components.DefaultSettings()
	var w bits.Writer
	w.Reset(make([]byte, 1024))
	wire.WriteSettings(&w, &s)
	settings := w.Bytes()[1:]
	require.NoError(t, wire.ReadSettings(settings, &s))
	settings[7] ^= 0x80 // the exponent of MaxMoveDeltaTime
	require.Equal(t, &wire.FieldError{Message: "settings", Field: "values"}, wire.ReadSettings(settings, &s))
	seen := map[string]bool{}
	for i := range 8 * (last + 1) {
		bad := append([]byte(nil), body...)
		bad[i/8] ^= 1 << (i % 8)
		if err := wire.ReadProfileRevision(bad, &p); err != nil {
			seen[err.(*wire.FieldError).Field] = true
		}
	}
	for _, f := range []string{"numbers", "rotation", "values"} {
		require.True(t, seen[f], "no flipped bit is refused as %s: %v", f, seen)
	}
}
