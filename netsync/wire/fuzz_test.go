package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

// packets are payloads as a session sends them: containers of both forms from
// generated hands, answers, snapshots.
func packets() [][]byte {
	var out [][]byte
	add := func(write func(w *bits.Writer)) {
		var w bits.Writer
		w.Reset(make([]byte, 1200))
		write(&w)
		if b := w.Bytes(); b != nil {
			out = append(out, b)
		}
	}
	for _, s := range samples {
		add(s.write)
	}
	for i, rows := range [][]row{gamepad(1, 40), keyboard(2, 40)} {
		o := newOwner(rows)
		for range 20 + 5*i {
			o.move(components.Ticks(960 - 37*i))
		}
		n := o.queue.Len() - 1
		for _, p := range []wire.ContainerPlan{
			{ID: 300, Epoch: 1, New: n, Pending: n - 1, Old: n - 5},
			{ID: 7, Epoch: 9, New: n, Pending: -1, Old: -1, Full: true, Budget: 300},
		} {
			add(func(w *bits.Writer) {
				_, _ = wire.WriteContainer(w, &o.queue, &p, wire.ContainerContext{ViewTime: o.now, HasView: true})
				wire.WriteResponse(w, 3, &components.MoveResponse{Stamp: 5, State: o.state})
				wire.WriteSnapshot(w, 4, &components.ReplicatedMovement{Location: o.state.Location, Base: 2}, wire.SnapshotContext{})
			})
		}
	}
	add(func(w *bits.Writer) {
		g := newGame()
		g.hold(3, -0.5)
		wire.WriteTypes(w, 300, g.reg, g.block, g.zero)
	})
	return out
}

// FuzzPayload reads any bytes as a payload. What was read is written again and
// read again: it must be the same.
func FuzzPayload(f *testing.F) {
	for _, b := range packets() {
		f.Add(b, int64(5_000_000), true)
		f.Add(b, int64(0), false)
	}
	f.Fuzz(func(t *testing.T, b []byte, view int64, hasView bool) {
		view &= 1<<40 - 1
		ctx := wire.ContainerContext{ViewTime: components.Ticks(view), HasView: hasView}
		r := bits.NewReader(b)
		for {
			kind, err := wire.ReadKind(&r)
			if err != nil || kind == wire.KindEnd {
				return
			}
			switch kind {
			case wire.KindMoves:
				var c wire.Container
				if wire.ReadContainer(&r, &c, ctx) != nil {
					return
				}
				againMoves(t, &c, ctx)
			case wire.KindTypes:
				g := newGame()
				id, err := wire.ReadTypes(&r, g.reg, g.got, g.zero)
				if err != nil {
					return
				}
				var w bits.Writer
				w.Reset(make([]byte, 400))
				wire.WriteTypes(&w, id, g.reg, g.got, g.zero)
				require.NoError(t, w.Err())
			case wire.KindAnswer:
				var m components.MoveResponse
				id, err := wire.ReadResponse(&r, &m)
				if err != nil {
					return
				}
				var w bits.Writer
				w.Reset(make([]byte, 400))
				wire.WriteResponse(&w, id, &m)
				require.NoError(t, w.Err())
				_, again, err := answer(t, w.Bytes())
				require.NoError(t, err)
				require.Equal(t, m, again)
			case wire.KindSnapshot:
				var v components.ReplicatedMovement
				ctx := wire.SnapshotContext{ServerTime: components.Ticks(view)}
				if _, err := wire.ReadSnapshot(&r, &v, ctx); err != nil {
					return
				}
				s := components.DefaultSettings()
				s.LocationDecimals, s.VelocityDecimals = 2, 2
				ctx.Settings = &s
				var w bits.Writer
				w.Reset(make([]byte, 200))
				wire.WriteSnapshot(&w, 1, &v, ctx)
				if w.Err() != nil {
					return // a velocity in whole cm/s may be too large for two decimals
				}
				_, again, err := snapshot(t, w.Bytes(), ctx)
				require.NoError(t, err)
				require.Equal(t, v.TransformTime, again.TransformTime)
				require.Equal(t, v.Location, again.Location)
			}
		}
	})
}

// againMoves puts the moves of a container into a queue and sends them once more.
func againMoves(t *testing.T, c *wire.Container, ctx wire.ContainerContext) {
	require.LessOrEqual(t, c.N, wire.MaxContainerMoves)
	var q components.MoveQueue
	for i := range c.N {
		m, _ := q.Push()
		m.Cmd = c.Moves[i].Cmd
		require.NotZero(t, m.Cmd.Stamp)
		require.Positive(t, m.Cmd.Dt)
		if i > 0 {
			d := components.Ticks(m.Cmd.Stamp) - components.Ticks(q.At(i-1).Cmd.Stamp)
			require.True(t, d > 0 || d < -components.StampResetPeriod/2+components.Second, "stamps increase or were reset")
		}
	}
	last := &c.Moves[c.N-1]
	require.Equal(t, components.MoveNew, last.Kind)
	end := &q.At(c.N - 1).End
	end.Mode, end.Base, end.Location, end.BaseLocation = last.ClaimMode, last.ClaimBase, last.Claim, last.Claim
	plan := wire.ContainerPlan{ID: c.ID, Epoch: c.Epoch, New: c.N - 1, Pending: -1, Old: -1, Full: true, Budget: 1000}
	var w bits.Writer
	w.Reset(make([]byte, 1200))
	rep, err := wire.WriteContainer(&w, &q, &plan, ctx)
	require.NoError(t, err)
	again := unpack(t, w.Bytes(), ctx)
	require.Equal(t, rep.Moves, again.N)
	if rep.GivenUp == 0 {
		for i := range c.N {
			require.Equal(t, c.Moves[i].Cmd, again.Moves[i].Cmd)
		}
	}
	require.Equal(t, *last, again.Moves[again.N-1])
}

// FuzzReliable reads any bytes as a message of the reliable channel; what is
// read and written again gives the same bytes: each message has one form.
func FuzzReliable(f *testing.F) {
	o := newOwner(gamepad(1, 9))
	o.move(960)
	set, prof := components.DefaultSettings(), components.DefaultProfile()
	for _, write := range []func(w *bits.Writer){
		func(w *bits.Writer) {
			wire.WriteSpawn(w, &wire.Spawn{Spec: components.CharacterSpec{Character: components.Character{ID: 5}, State: o.state}})
		},
		func(w *bits.Writer) { wire.WriteDespawn(w, &wire.Despawn{ID: 5, Reason: wire.DespawnLeft}) },
		func(w *bits.Writer) { wire.WritePossess(w, &wire.Possess{ID: 5, State: o.state}) },
		func(w *bits.Writer) { wire.WritePossessAck(w, &wire.PossessAck{ID: 5, Epoch: 3}) },
		func(w *bits.Writer) { wire.WriteUnpossess(w, &wire.Unpossess{ID: 5, Epoch: 3}) },
		func(w *bits.Writer) {
			wire.WriteProfileRevision(w, &wire.ProfileRevision{Ref: components.ProfileRef{Revision: 2}, Profile: prof})
		},
		func(w *bits.Writer) { wire.WriteProfileChange(w, &wire.ProfileChange{ID: 5}) },
		func(w *bits.Writer) { wire.WriteSettings(w, &set) },
		func(w *bits.Writer) { wire.WriteServerInfo(w, &wire.ServerInfo{Players: 8}) },
		func(w *bits.Writer) { wire.WriteKeyframe(w, &wire.Keyframe{ID: 5, Pose: components.Pose{Yaw: 90}}) },
		func(w *bits.Writer) {
			g := newGame()
			g.hold(7, 1.5)
			wire.WriteInitialTypes(w, 5, g.reg, g.block, g.zero)
		},
	} {
		var w bits.Writer
		w.Reset(make([]byte, 1024))
		write(&w)
		f.Add(w.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, body, err := wire.SplitReliable(b)
		if err != nil {
			return
		}
		var w bits.Writer
		w.Reset(make([]byte, 1024))
		switch kind {
		case wire.ReliableSpawn:
			reread(&err, body, &w, wire.ReadSpawn, wire.WriteSpawn)
		case wire.ReliableDespawn:
			reread(&err, body, &w, wire.ReadDespawn, wire.WriteDespawn)
		case wire.ReliablePossess:
			reread(&err, body, &w, wire.ReadPossess, wire.WritePossess)
		case wire.ReliablePossessAck:
			reread(&err, body, &w, wire.ReadPossessAck, wire.WritePossessAck)
		case wire.ReliableUnpossess:
			reread(&err, body, &w, wire.ReadUnpossess, wire.WriteUnpossess)
		case wire.ReliableProfile:
			reread(&err, body, &w, wire.ReadProfileRevision, wire.WriteProfileRevision)
		case wire.ReliableProfileChange:
			reread(&err, body, &w, wire.ReadProfileChange, wire.WriteProfileChange)
		case wire.ReliableSettings:
			s := components.DefaultSettings()
			if err = wire.ReadSettings(body, &s); err == nil {
				wire.WriteSettings(&w, &s)
			}
		case wire.ReliableServerInfo:
			reread(&err, body, &w, wire.ReadServerInfo, wire.WriteServerInfo)
		case wire.ReliableKeyframe:
			reread(&err, body, &w, wire.ReadKeyframe, wire.WriteKeyframe)
		case wire.ReliableTypes:
			g := newGame()
			var id components.NetID
			if id, err = wire.ReadInitialTypes(body, g.reg, g.got, g.zero); err == nil {
				wire.WriteInitialTypes(&w, id, g.reg, g.got, g.zero)
			}
		}
		if err != nil {
			require.ErrorIs(t, err, wire.ErrMessage)
			return
		}
		require.NoError(t, w.Err())
		require.Equal(t, b, w.Bytes())
	})
}

func reread[T any](err *error, body []byte, w *bits.Writer, read func([]byte, *T) error, write func(*bits.Writer, *T)) {
	var v T
	if *err = read(body, &v); *err == nil {
		write(w, &v)
	}
}
