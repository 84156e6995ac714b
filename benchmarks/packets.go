package main

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/wire"
	"github.com/gaitnet/gait/systems"
	"github.com/gaitnet/gait/systems/movement"
)

// packet is one message that is written and read again and again.
type packet struct {
	write func(w *bits.Writer)
	read  func(r *bits.Reader) error
}

func (p packet) encode(b *testing.B) {
	buf := make([]byte, 1200)
	var w bits.Writer
	b.ReportAllocs()
	for b.Loop() {
		w.Reset(buf)
		p.write(&w)
	}
	if w.Err() != nil {
		b.Fatal(w.Err())
	}
	b.ReportMetric(float64(w.Bits()), "bits")
}

func (p packet) decode(b *testing.B) {
	buf := make([]byte, 1200)
	var w bits.Writer
	w.Reset(buf)
	p.write(&w)
	data := w.Bytes()
	r := bits.NewReader(data)
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(data)
		if _, err := wire.ReadKind(&r); err != nil {
			b.Fatal(err)
		}
		if err := p.read(&r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(w.Bits()), "bits")
}

// busy is where the generated human begins to run and turn.
const busy = 20 * components.Second

// containers is a queue of 12 moves of a human, 100 ms of them unreceived.
func containers(full bool) packet {
	table := systems.DefaultProfiles()
	p := table.Get(components.ProfileRef{Revision: 1})
	q := new(components.MoveQueue)
	s := nettest.NewSampler(nettest.GenerateInput(3, 60), 0)
	var in components.Input
	const dt = components.Second / 60
	for i := range 12 {
		// From a stretch in which stick and view move.
		at := busy + components.Ticks(i+1)*dt
		s.Apply(&in, at, dt)
		m, _ := q.Push()
		m.End = movement.InitialState(p, components.Vec3{1234.56, -321.09, 90.15}, 0)
		m.Cmd = components.MoveCommand{
			Acceleration: movement.ScaleInput(in.Vector, components.UnpackAngle(in.Control.Pack().Yaw), components.ModeWalking, p),
			ObstacleTime: at, Dt: dt, Stamp: components.Stamp(at), Profile: components.ProfileRef{Revision: 1},
			Control: in.Control.Pack(), Flags: in.Held,
		}
		in.Vector = components.Vec3{}
		m.Received = i < 5
	}
	plan := wire.ContainerPlan{ID: 300, Epoch: 1, New: 11, Pending: -1, Old: 0}
	if full {
		plan.Full, plan.Budget, plan.Old = true, 160, -1
	}
	var c wire.Container
	ctx := wire.ContainerContext{ViewTime: busy + 12*dt, HasView: true}
	return packet{
		func(w *bits.Writer) { wire.WriteContainer(w, q, &plan, ctx) },
		func(r *bits.Reader) error { return wire.ReadContainer(r, &c, ctx) },
	}
}

func response(good bool) packet {
	p := components.DefaultProfile()
	m := components.MoveResponse{
		State: movement.InitialState(&p, components.Vec3{1234.5678, -321.0987, 90.15}, 33),
		Stamp: 5_000_000, Epoch: 1, AckGood: good, Reason: components.CorrectPosition,
	}
	m.State.Velocity, m.State.Acceleration = components.Vec3{431.7, -219.3, 0}, components.Vec3{1400.1, -800.2, 0}
	var out components.MoveResponse
	return packet{
		func(w *bits.Writer) { wire.WriteResponse(w, 300, &m) },
		func(r *bits.Reader) error { _, err := wire.ReadResponse(r, &out); return err },
	}
}

func snapshot() packet {
	v := components.ReplicatedMovement{
		Location: components.Vec3{1234.56, -321.09, 90.15}, Velocity: components.Vec3{432, -219, 0},
		GravityDir: components.Vec3{0, 0, -1}, Rotation: components.Rotator{Yaw: 33},
		ServerTime: 600000, TransformTime: 599000, Mode: components.ModeWalking,
	}
	ctx := wire.SnapshotContext{ServerTime: 600000}
	var out components.ReplicatedMovement
	return packet{
		func(w *bits.Writer) { wire.WriteSnapshot(w, 300, &v, ctx) },
		func(r *bits.Reader) error { _, err := wire.ReadSnapshot(r, &out, ctx); return err },
	}
}
