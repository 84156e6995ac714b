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

func anyMovement(t *rapid.T) components.ReplicatedMovement {
	v := components.ReplicatedMovement{
		Location: vector(1e9).Draw(t, "location"), Velocity: vector(1e6).Draw(t, "velocity"),
		GravityDir:    rapid.SampledFrom([]components.Vec3{{0, 0, -1}, {0, 0, 1}, {0.6, 0, 0.8}, {}}).Draw(t, "gravity"),
		Rotation:      components.Rotator{Pitch: finite(400).Draw(t, "pitch"), Yaw: finite(400).Draw(t, "yaw"), Roll: finite(400).Draw(t, "roll")},
		ServerTime:    components.Ticks(rapid.Int64Range(0, 1<<40).Draw(t, "server time")),
		Base:          components.NetID(rapid.Uint32().Draw(t, "base")),
		Teleports:     rapid.Uint8().Draw(t, "teleports"),
		Mode:          components.MovementMode(rapid.Uint8().Draw(t, "mode")),
		Crouched:      rapid.Bool().Draw(t, "crouched"),
		JumpForce:     rapid.Bool().Draw(t, "jump force"),
		Acceleration:  vector(1e6).Draw(t, "acceleration"),
		TransformTime: 0,
	}
	v.TransformTime = v.ServerTime - components.Ticks(rapid.IntRange(-1000, 20000).Draw(t, "back"))
	v.HasAcceleration = rapid.Bool().Draw(t, "has acceleration")
	return v
}

func anySettings(t *rapid.T) *components.Settings {
	s := components.DefaultSettings()
	s.LocationDecimals = uint8(rapid.IntRange(0, 2).Draw(t, "location decimals"))
	s.VelocityDecimals = uint8(rapid.IntRange(0, 2).Draw(t, "velocity decimals"))
	s.ByteRotation = rapid.Bool().Draw(t, "byte rotation")
	return &s
}

func snapshot(t require.TestingT, b []byte, ctx wire.SnapshotContext) (components.NetID, components.ReplicatedMovement, error) {
	r := bits.NewReader(b)
	kind, err := wire.ReadKind(&r)
	require.NoError(t, err)
	require.Equal(t, wire.KindSnapshot, kind)
	v := components.ReplicatedMovement{Crouched: true, Teleports: 9}
	id, err := wire.ReadSnapshot(&r, &v, ctx)
	if err == nil {
		require.NoError(t, r.Finish())
	}
	return id, v, err
}

func TestSnapshotsComeBackAsTheyWereRounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, set := anyMovement(t), anySettings(t)
		want := raw
		wire.QuantizeReplicated(&want, set)
		ctx := wire.SnapshotContext{ServerTime: raw.ServerTime + components.Ticks(rapid.IntRange(0, 5000).Draw(t, "age")), Settings: set}
		for _, v := range []components.ReplicatedMovement{raw, want} {
			var w bits.Writer
			w.Reset(make([]byte, 200))
			wire.WriteSnapshot(&w, 300, &v, ctx)
			require.NoError(t, w.Err())
			id, got, err := snapshot(t, w.Bytes(), wire.SnapshotContext{ServerTime: ctx.ServerTime})
			require.NoError(t, err)
			require.Equal(t, components.NetID(300), id)
			require.Equal(t, want, got)
		}
	})
}

func TestRoundingASnapshotTwiceChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, set := anyMovement(t), anySettings(t)
		wire.QuantizeReplicated(&v, set)
		again := v
		wire.QuantizeReplicated(&again, set)
		require.Equal(t, v, again)
	})
}

func TestRoundingKeepsTheDecimalsOfTheSettings(t *testing.T) {
	v := components.ReplicatedMovement{
		Location: components.Vec3{12.3456, -0.0051, 99.995}, Velocity: components.Vec3{600.46, -0.5, 0.04},
		Rotation: components.Rotator{Yaw: 90.6}, Acceleration: components.Vec3{1, 2, 3},
	}
	s := components.DefaultSettings()
	fine := v
	wire.QuantizeReplicated(&fine, &s)
	require.Equal(t, components.Vec3{12.35, -0.01, 100}, fine.Location)
	require.Equal(t, components.Vec3{600, -1, 0}, fine.Velocity)
	require.InDelta(t, 90.6, fine.Rotation.Yaw, 180.0/65536)
	require.Zero(t, fine.Acceleration)
	s.LocationDecimals, s.VelocityDecimals, s.ByteRotation = 0, 1, true
	coarse := v
	wire.QuantizeReplicated(&coarse, &s)
	require.Equal(t, components.Vec3{12, 0, 100}, coarse.Location)
	require.Equal(t, components.Vec3{600.5, -0.5, 0}, coarse.Velocity)
	require.Equal(t, 64*360.0/256, coarse.Rotation.Yaw)
}

func TestSnapshotsOfNowhereAreNotSent(t *testing.T) {
	for name, spoil := range map[string]func(v *components.ReplicatedMovement){
		"place":    func(v *components.ReplicatedMovement) { v.Location[0] = math.NaN() },
		"far off":  func(v *components.ReplicatedMovement) { v.Location[2] = -1e11 },
		"velocity": func(v *components.ReplicatedMovement) { v.Velocity[1] = math.Inf(1) },
		"rotation": func(v *components.ReplicatedMovement) { v.Rotation.Roll = math.NaN() },
		"gravity":  func(v *components.ReplicatedMovement) { v.GravityDir = components.Vec3{0, 0, -2} },
		"times":    func(v *components.ReplicatedMovement) { v.TransformTime = -1 << 40 },
	} {
		v := components.ReplicatedMovement{GravityDir: components.Vec3{0, 0, -1}}
		spoil(&v)
		var w bits.Writer
		w.Reset(make([]byte, 200))
		wire.WriteSnapshot(&w, 1, &v, wire.SnapshotContext{})
		require.ErrorIs(t, w.Err(), bits.ErrRange, name)
	}
}
