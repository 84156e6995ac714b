package wire_test

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
	"github.com/gaitnet/gait/systems/movement"
)

// row is one frame of a player's hands.
type row struct {
	x, y, turn    float64
	pitch         float64 // degrees a second, mouse only
	jump, crouch  bool
	yawJitterless bool
}

// shared finds ../shared beside the module's root; tests that need it are
// skipped where it is not.
func shared(t testing.TB, elem ...string) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		require.NotEqual(t, up, dir)
		dir = up
	}
	path := filepath.Join(append([]string{dir, "..", "shared"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skip("../shared is absent")
	}
	return path
}

func recorded(t testing.TB, name string) []row {
	f, err := os.Open(shared(t, "data", "inputs", name))
	require.NoError(t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	rows := make([]row, 0, len(lines))
	num := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		require.NoError(t, err)
		return v
	}
	for _, l := range lines[1:] {
		// The recording's y points to the left of the screen: any fixed choice
		// serves here.
		rows = append(rows, row{x: num(l[2]), y: num(l[1]), turn: num(l[3]), jump: l[4] == "1", crouch: l[5] == "1"})
	}
	return rows
}

// rng is SplitMix64.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rng) below(n int) int { return int(r.next() % uint64(n)) }

// gamepad makes up a stick of 80 steps whose holder trembles and turns.
func gamepad(seed uint64, n int) []row {
	r := rng(seed)
	rows := make([]row, n)
	var x, y, turn int
	for i := range rows {
		switch k := r.below(100); {
		case k < 3:
			x, y = 0, 0
		case k < 8:
			s, c := exact.SinCosDeg(float64(r.below(360)))
			x, y = int(math.Round(95*s)), int(math.Round(95*c))
		case k < 30:
			x, y = x+r.below(7)-3, y+r.below(7)-3
		}
		x, y = max(-80, min(80, x)), max(-80, min(80, y))
		if k := r.below(100); k < 2 {
			turn = r.below(161) - 80
		} else if k < 6 {
			turn = 0
		}
		rows[i] = row{x: float64(x) / 80, y: float64(y) / 80, turn: float64(turn) / 80, jump: r.below(20) == 0, crouch: i/200%5 == 0}
	}
	return rows
}

// keyboard makes up four keys and a mouse that moves two frames in three.
func keyboard(seed uint64, n int) []row {
	r := rng(seed)
	rows := make([]row, n)
	var x, y int
	for i := range rows {
		if r.below(25) == 0 {
			x, y = r.below(3)-1, r.below(3)-1
		}
		rows[i] = row{x: float64(x), y: float64(y), jump: r.below(40) == 0}
		if r.below(3) > 0 {
			rows[i].turn = float64(r.below(41)-20) / 80
			rows[i].pitch = float64(r.below(11) - 5)
		}
	}
	return rows
}

// owner makes moves of rows as Predict does, in a 60 x 60 m arena.
type owner struct {
	rows    []row
	profile components.MovementProfile
	queue   components.MoveQueue
	state   components.MovementState
	now     components.Ticks // server time the owner sees
	stamp   components.Ticks
	yaw     float64
	pitch   float64
	i       int
}

func newOwner(rows []row) *owner {
	o := &owner{rows: rows, profile: components.DefaultProfile(), now: 777*components.Second + 13}
	o.state = components.MovementState{
		Location: components.Vec3{-812.5, 1903.25, 90.15}, GravityDir: components.Vec3{0, 0, -1},
		Radius: 34, HalfHeight: 88, TimeDilation: 1, Mode: components.ModeWalking,
	}
	return o
}

// move appends the next move of dt to the queue.
func (o *owner) move(dt components.Ticks) {
	in := o.rows[o.i%len(o.rows)]
	o.i++
	sec := dt.Seconds()
	o.now += dt
	if o.stamp += dt; o.stamp > components.StampResetPeriod {
		o.stamp -= components.StampResetPeriod
	}
	o.yaw = exact.NormalizeDeg(o.yaw + in.turn*180*sec)
	o.pitch = math.Max(-89, math.Min(89, o.pitch+in.pitch*sec))
	control := components.Rotator{Pitch: o.pitch, Yaw: o.yaw}.Pack()
	cmd := components.MoveCommand{
		Acceleration: movement.ScaleInput(components.Vec3{in.x, in.y, 0}, components.UnpackAngle(control.Yaw), o.state.Mode, &o.profile),
		ObstacleTime: o.now, Dt: dt, Stamp: components.Stamp(o.stamp), Control: control,
		Profile: components.ProfileRef{Revision: 1},
	}
	if in.jump {
		cmd.Flags |= components.FlagJumpPressed
	}
	if in.crouch {
		cmd.Flags |= components.FlagWantsToCrouch
	}
	m, _ := o.queue.Push()
	m.Cmd, m.Start = cmd, o.state
	s := &o.state
	s.Velocity = exact.ClampLen(exact.AddScaled(exact.Scale(s.Velocity, 0.9), cmd.Acceleration, sec), 600)
	s.Location = exact.AddScaled(s.Location, s.Velocity, sec)
	for k := range 2 {
		s.Location[k] = math.Max(-2966, math.Min(2966, s.Location[k]))
	}
	s.Mode = components.ModeWalking
	s.Location[2] = 90.15
	if in.jump {
		s.Mode, s.Location[2] = components.ModeFalling, 131.7
	}
	s.Acceleration = cmd.Acceleration
	m.End = *s
}

// pack writes a container into a buffer of a datagram's size.
func pack(t testing.TB, q *components.MoveQueue, p *wire.ContainerPlan, ctx wire.ContainerContext) ([]byte, int, wire.ContainerReport) {
	var w bits.Writer
	w.Reset(make([]byte, 1200))
	rep, err := wire.WriteContainer(&w, q, p, ctx)
	require.NoError(t, err)
	require.NoError(t, w.Err())
	return w.Bytes(), w.Bits(), rep
}

// unpack reads a payload of one container.
func unpack(t testing.TB, b []byte, ctx wire.ContainerContext) *wire.Container {
	r := bits.NewReader(b)
	kind, err := wire.ReadKind(&r)
	require.NoError(t, err)
	require.Equal(t, wire.KindMoves, kind)
	c := new(wire.Container)
	require.NoError(t, wire.ReadContainer(&r, c, ctx))
	kind, err = wire.ReadKind(&r)
	require.NoError(t, err)
	require.Equal(t, wire.KindEnd, kind)
	return c
}

// claimed is the claim that a saved move makes, rounded to 0.01 cm.
func claimed(m *components.SavedMove) components.MoveData {
	at := m.End.Location
	if m.End.Base != 0 {
		at = m.End.BaseLocation
	}
	d := components.MoveData{Cmd: m.Cmd, Kind: components.MoveNew, ClaimMode: m.End.Mode, ClaimBase: m.End.Base}
	for i, v := range at {
		d.Claim[i] = bits.Dequantize(bits.Quantize(v, 100), 100)
	}
	return d
}
