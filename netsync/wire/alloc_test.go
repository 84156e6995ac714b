package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

// codecs are every encode and decode of the package over one buffer.
func codecs(t testing.TB) map[string]func() {
	o := newOwner(gamepad(4, 60))
	for range 20 {
		o.move(960)
	}
	out := map[string]func(){}
	pair := func(name string, write func(w *bits.Writer), read func(r *bits.Reader, b []byte) error) {
		buf := make([]byte, 1200)
		var w bits.Writer
		w.Reset(buf)
		write(&w)
		require.NoError(t, w.Err())
		b := w.Bytes()
		out["write "+name] = func() {
			w.Reset(buf)
			write(&w)
		}
		var r bits.Reader
		out["read "+name] = func() {
			r.Reset(b)
			if err := read(&r, b); err != nil {
				panic(err)
			}
		}
	}
	view := wire.ContainerContext{ViewTime: o.now, HasView: true}
	var c wire.Container
	for name, p := range map[string]*wire.ContainerPlan{
		"reference container": {ID: 300, Epoch: 1, New: 19, Pending: 18, Old: 12},
		"full container":      {ID: 300, Epoch: 1, New: 19, Pending: -1, Old: -1, Full: true, Budget: 160},
	} {
		pair(name, func(w *bits.Writer) { _, _ = wire.WriteContainer(w, &o.queue, p, view) }, func(r *bits.Reader, _ []byte) error {
			_, _ = wire.ReadKind(r)
			return wire.ReadContainer(r, &c, view)
		})
	}
	var m components.MoveResponse
	for name, want := range map[string]*components.MoveResponse{
		"acknowledgement": {Stamp: 5, AckGood: true}, "correction": {Stamp: 5, State: o.state},
	} {
		pair(name, func(w *bits.Writer) { wire.WriteResponse(w, 300, want) }, func(r *bits.Reader, _ []byte) error {
			_, _ = wire.ReadKind(r)
			_, err := wire.ReadResponse(r, &m)
			return err
		})
	}
	rep := components.ReplicatedMovement{Location: o.state.Location, Velocity: o.state.Velocity, GravityDir: o.state.GravityDir, Mode: 1}
	set := components.DefaultSettings()
	ctx := wire.SnapshotContext{Settings: &set}
	pair("snapshot", func(w *bits.Writer) { wire.WriteSnapshot(w, 300, &rep, ctx) }, func(r *bits.Reader, _ []byte) error {
		_, _ = wire.ReadKind(r)
		_, err := wire.ReadSnapshot(r, &rep, ctx)
		return err
	})
	out["quantise snapshot"] = func() { wire.QuantizeReplicated(&rep, &set) }
	spawn := wire.Spawn{Spec: components.CharacterSpec{Character: components.Character{ID: 5}, State: o.state}}
	pair("spawn", func(w *bits.Writer) { wire.WriteSpawn(w, &spawn) }, func(_ *bits.Reader, b []byte) error { return wire.ReadSpawn(b[1:], &spawn) })
	profile := wire.ProfileRevision{Ref: components.ProfileRef{Revision: 2}, Profile: components.DefaultProfile()}
	pair("profile", func(w *bits.Writer) { wire.WriteProfileRevision(w, &profile) }, func(_ *bits.Reader, b []byte) error { return wire.ReadProfileRevision(b[1:], &profile) })
	pair("settings", func(w *bits.Writer) { wire.WriteSettings(w, &set) }, func(_ *bits.Reader, b []byte) error { return wire.ReadSettings(b[1:], &set) })
	ack := wire.PossessAck{ID: 5, Epoch: 3}
	pair("possession", func(w *bits.Writer) { wire.WritePossessAck(w, &ack) }, func(_ *bits.Reader, b []byte) error { return wire.ReadPossessAck(b[1:], &ack) })
	return out
}

func TestCodecsDoNotAllocate(t *testing.T) {
	for name, f := range codecs(t) {
		t.Run(name, func(t *testing.T) { require.Zero(t, testing.AllocsPerRun(50, f)) })
	}
}

func BenchmarkCodecs(b *testing.B) {
	for name, f := range codecs(b) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
}
