package wire_test

import (
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

// sample is a message that LAYOUT.md shows bit by bit.
type sample struct {
	name  string
	write func(w *bits.Writer)
}

const sampleView components.Ticks = 5_000_000

// sampleQueue is five moves at 60 fps, the control yaw a quarter turn: the
// stick at rest, half forward for two moves, half forward with a jump, and with
// it a little to the right.
func sampleQueue() *components.MoveQueue {
	q := new(components.MoveQueue)
	for i := range 5 {
		m, _ := q.Push()
		m.Cmd = components.MoveCommand{
			Acceleration: components.Vec3{0, 1024, 0}, Dt: 960, Stamp: components.Stamp(960 * (i + 1)),
			ObstacleTime: sampleView + components.Ticks(960*(i-4)), Control: components.PackedRotator{Yaw: 16384},
			Profile: components.ProfileRef{Revision: 1},
		}
	}
	q.At(0).Cmd.Acceleration = components.Vec3{}
	q.At(3).Cmd.Flags = components.FlagJumpPressed
	q.At(4).Cmd.Flags = components.FlagJumpPressed
	q.At(4).Cmd.Acceleration = components.Vec3{-102.4, 1024, 0}
	end := &q.At(4).End
	end.Mode, end.Location = components.ModeFalling, components.Vec3{-1.5, 20.25, 95}
	return q
}

var samples = []sample{
	{"header, upstream", func(w *bits.Writer) {
		h := wire.Header{
			Kind: wire.KindUp, Payload: true, Conn: 77, Seq: 5, HasAck: true, Ack: 9, AckBits: 0b1011, AckWidth: 8,
			HasHold: true, Hold: 320, HasView: true, View: sampleView,
		}
		h.Write(w, sampleView-1600)
	}},
	{"header, downstream", func(w *bits.Writer) {
		h := wire.Header{Kind: wire.KindDown, Payload: true, Conn: 77, Seq: 9, Time: sampleView, Tick: 2604}
		h.Write(w, 0)
	}},
	{"moves, reference form", func(w *bits.Writer) {
		_, _ = wire.WriteContainer(w, sampleQueue(), &wire.ContainerPlan{ID: 300, Epoch: 1, New: 4, Pending: 3, Old: 0},
			wire.ContainerContext{ViewTime: sampleView, HasView: true})
	}},
	{"moves, full form", func(w *bits.Writer) {
		_, _ = wire.WriteContainer(w, sampleQueue(), &wire.ContainerPlan{ID: 300, Epoch: 1, New: 4, Pending: -1, Old: -1, Full: true, Budget: 160},
			wire.ContainerContext{})
	}},
	{"answer, acknowledgement", func(w *bits.Writer) {
		wire.WriteResponse(w, 300, &components.MoveResponse{Stamp: 4800, Epoch: 1, AckGood: true})
	}},
	{"answer, correction", func(w *bits.Writer) {
		wire.WriteResponse(w, 300, &components.MoveResponse{Stamp: 4800, Epoch: 1, Reason: components.CorrectPosition, State: sampleState()})
	}},
	{"snapshot", func(w *bits.Writer) {
		wire.WriteSnapshot(w, 300, &components.ReplicatedMovement{
			Location: components.Vec3{-1.5, 20.25, 95}, Velocity: components.Vec3{0, 600, -16.3}, GravityDir: components.Vec3{0, 0, -1},
			Rotation: components.Rotator{Yaw: 90}, ServerTime: sampleView, TransformTime: sampleView - 960,
			Mode: components.ModeFalling, JumpForce: true, Teleports: 1,
		}, wire.SnapshotContext{ServerTime: sampleView})
	}},
	{"possession acknowledged", func(w *bits.Writer) { wire.WritePossessAck(w, &wire.PossessAck{ID: 300, Epoch: 2}) }},
}

func sampleState() components.MovementState {
	return components.MovementState{
		Location: components.Vec3{-1.5, 20.25, 95}, Velocity: components.Vec3{0, 600, 0}, Acceleration: components.Vec3{0, 1024, 0},
		GravityDir: components.Vec3{0, 0, -1}, Rotation: components.Rotator{Yaw: 90},
		Radius: 34, HalfHeight: 40, TimeDilation: 1, JumpHold: 960, JumpCount: 1, Mode: components.ModeFalling, Crouched: true,
	}
}

// documented are the samples of LAYOUT.md: the bytes in hexadecimal, and the
// bits of the fields one behind the other.
type documented struct{ bytes, fields string }

var (
	heading  = regexp.MustCompile("^### Sample: (.*)$")
	dump     = regexp.MustCompile("^    ([0-9a-f ]+)$")
	fieldRow = regexp.MustCompile("^\\| `([01 ]+)` \\|")
)

func readLayout(t *testing.T) map[string]documented {
	text, err := os.ReadFile("LAYOUT.md")
	require.NoError(t, err)
	docs := map[string]documented{}
	name := ""
	for _, line := range strings.Split(string(text), "\n") {
		if m := heading.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if strings.HasPrefix(line, "#") {
			name = ""
		}
		if name == "" {
			continue
		}
		d := docs[name]
		if m := dump.FindStringSubmatch(line); m != nil {
			d.bytes += strings.ReplaceAll(m[1], " ", "")
		}
		if m := fieldRow.FindStringSubmatch(line); m != nil {
			d.fields += strings.ReplaceAll(m[1], " ", "")
		}
		docs[name] = d
	}
	return docs
}

// The document and the code agree, byte by byte and field by field.
func TestLayoutDocumentHoldsTheCode(t *testing.T) {
	docs := readLayout(t)
	require.Len(t, docs, len(samples))
	for _, s := range samples {
		var w bits.Writer
		w.Reset(make([]byte, 400))
		s.write(&w)
		require.NoError(t, w.Err(), s.name)
		require.Equal(t, hex.EncodeToString(w.Bytes()), docs[s.name].bytes, s.name)
		require.Equal(t, bitString(w.Bytes(), w.Bits()), docs[s.name].fields, s.name)
	}
}

// bitString is the first n bits of b in the order of the stream.
func bitString(b []byte, n int) string {
	s := make([]byte, n)
	for i := range s {
		s[i] = '0' + b[i/8]>>(i%8)&1
	}
	return string(s)
}
