package wire_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

// anyState is any state that a step can work with, odd bits included.
func anyState(t *rapid.T) components.MovementState {
	s := components.MovementState{
		Location: vector(1e10).Draw(t, "location"), Velocity: vector(1e7).Draw(t, "velocity"), Acceleration: vector(1e7).Draw(t, "acceleration"),
		GravityDir: rapid.SampledFrom([]components.Vec3{{0, 0, -1}, {0, 0, 1}, {0.6, 0, 0.8}, {math.Copysign(0, -1), 0, -1}}).Draw(t, "gravity"),
		Rotation:   components.Rotator{Pitch: finite(180).Draw(t, "pitch"), Yaw: finite(180).Draw(t, "yaw"), Roll: finite(180).Draw(t, "roll")},
		Base:       components.NetID(rapid.Uint32().Draw(t, "base")), BaseLocation: vector(1e6).Draw(t, "base location"), BaseYaw: finite(180).Draw(t, "base yaw"),
		Radius: 34, HalfHeight: 88, TimeDilation: 1,
		JumpHold: components.Ticks(rapid.Int64().Draw(t, "hold")), JumpCount: rapid.Uint8().Draw(t, "jumps"),
		WasJumping: rapid.Bool().Draw(t, "was jumping"), Mode: components.MovementMode(rapid.Uint8().Draw(t, "mode")), Crouched: rapid.Bool().Draw(t, "crouched"),
	}
	if rapid.Bool().Draw(t, "other capsule") {
		s.Radius = rapid.Float64Range(1, 1e3).Draw(t, "radius")
		s.HalfHeight = s.Radius * rapid.Float64Range(1, 5).Draw(t, "height")
		s.TimeDilation = rapid.SampledFrom([]float64{0, 0.5, 1, 3}).Draw(t, "dilation")
	}
	return s
}

// bitsOf is a value with the bits of its numbers: 0 and -0 differ.
func sameBits(t require.TestingT, a, b components.MovementState) {
	require.Equal(t, a, b)
	for _, p := range [][2]components.Vec3{{a.Location, b.Location}, {a.Velocity, b.Velocity}, {a.Acceleration, b.Acceleration}, {a.GravityDir, b.GravityDir}} {
		for i := range p[0] {
			require.Equal(t, math.Float64bits(p[0][i]), math.Float64bits(p[1][i]))
		}
	}
}

func answer(t require.TestingT, b []byte) (components.NetID, components.MoveResponse, error) {
	r := bits.NewReader(b)
	kind, err := wire.ReadKind(&r)
	require.NoError(t, err)
	require.Equal(t, wire.KindAnswer, kind)
	var m components.MoveResponse
	id, err := wire.ReadResponse(&r, &m)
	if err == nil {
		require.NoError(t, r.Finish())
	}
	return id, m, err
}

func TestAnswersComeBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := components.MoveResponse{
			Stamp: components.Stamp(rapid.IntRange(1, 1<<24-1).Draw(t, "stamp")), Epoch: rapid.Uint16().Draw(t, "epoch"), AckGood: rapid.Bool().Draw(t, "ack"),
		}
		if !want.AckGood {
			want.State = anyState(t)
			want.Reason = components.CorrectionReason(rapid.IntRange(0, int(components.NumCorrectionReasons)-1).Draw(t, "reason"))
		}
		id := components.NetID(rapid.Uint32Min(1).Draw(t, "id"))
		var w bits.Writer
		w.Reset(make([]byte, 400))
		wire.WriteResponse(&w, id, &want)
		require.NoError(t, w.Err())
		gotID, got, err := answer(t, w.Bytes())
		require.NoError(t, err)
		require.Equal(t, id, gotID)
		require.Equal(t, want, got)
		sameBits(t, want.State, got.State)
	})
}

func TestAcknowledgementIsSmall(t *testing.T) {
	var w bits.Writer
	wire.WriteResponse(&w, 300, &components.MoveResponse{Stamp: 960 * 1000, Epoch: 1, AckGood: true})
	require.LessOrEqual(t, w.Bits(), 42)
}

func TestStatesThatNoStepTakesAreNotSent(t *testing.T) {
	o := newOwner([]row{{x: 1}})
	o.move(960)
	for name, spoil := range map[string]func(m *components.MoveResponse){
		"stamp 0":           func(m *components.MoveResponse) { m.Stamp = 0 },
		"unknown reason":    func(m *components.MoveResponse) { m.Reason = components.NumCorrectionReasons },
		"place not finite":  func(m *components.MoveResponse) { m.State.Location[2] = math.NaN() },
		"place too far":     func(m *components.MoveResponse) { m.State.Location[0] = 1e11 },
		"infinite speed":    func(m *components.MoveResponse) { m.State.Velocity[0] = math.Inf(-1) },
		"no gravity":        func(m *components.MoveResponse) { m.State.GravityDir = components.Vec3{} },
		"no capsule":        func(m *components.MoveResponse) { m.State.Radius = 0 },
		"capsule too low":   func(m *components.MoveResponse) { m.State.HalfHeight = 10 },
		"time runs back":    func(m *components.MoveResponse) { m.State.TimeDilation = -1 },
		"yaw not a number":  func(m *components.MoveResponse) { m.State.Rotation.Yaw = math.NaN() },
		"base place not so": func(m *components.MoveResponse) { m.State.BaseLocation[1] = math.Inf(1) },
	} {
		m := components.MoveResponse{Stamp: 5, State: o.state}
		spoil(&m)
		var w bits.Writer
		w.Reset(make([]byte, 400))
		wire.WriteResponse(&w, 1, &m)
		require.ErrorIs(t, w.Err(), bits.ErrRange, name)
	}
}
