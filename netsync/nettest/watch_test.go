package nettest_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/systems"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

// ownerWatch measures one client's first character. As a system behind Replay
// it sees the capsule and the offset that a frame's corrections left, before the
// frame's own moves.
type ownerWatch struct {
	nettest.OwnerProbe
	node  *nettest.ClientNode
	clock *ecs.Clock

	// Taken behind Replay, in the frame of that number: of its first step.
	start, before components.Vec3
	taken         uint64
	// The capsule as the last step found it.
	step     components.Vec3
	stepHalf float64
	stepBase components.NetID
	// Of the frame before: the capsule, the part of its way that was drawn, and
	// the offset.
	end, drawn, offset components.Vec3
	half               float64
	boarded, begun     bool
	// Shift is how far this frame's corrections moved the capsule.
	Shift components.Vec3
}

func (o *ownerWatch) Name() string     { return "OwnerWatch" }
func (o *ownerWatch) Phase() ecs.Phase { return ecs.Replay }
func (o *ownerWatch) Roles() ecs.Roles { return ecs.Client }
func (o *ownerWatch) After() []string  { return []string{"Replay"} }

func (o *ownerWatch) Initialize(w *arche.World) { o.clock = systems.Need[ecs.Clock](w) }

func (o *ownerWatch) Update(*arche.World) {
	if o.node == nil || len(o.node.Net.Owned()) == 0 {
		return
	}
	id := o.node.Net.Owned()[0]
	st := stateOf(o.node, id)
	o.step, o.stepHalf, o.stepBase = st.Location, st.HalfHeight, st.Base
	if o.taken != o.clock.Frame {
		o.start, o.before, o.taken = st.Location, o.left(id), o.clock.Frame
	}
}

func (o *ownerWatch) Finalize(*arche.World) {}

// left is the smoothing offset in cm.
func (o *ownerWatch) left(id components.NetID) components.Vec3 {
	v := part[components.MeshSmoothing](o.node, id).TranslationOffset
	return components.Vec3{float64(v[0]), float64(v[1]), float64(v[2])}
}

// between is the share of the last fixed step that is drawn: the feet go evenly
// from its start to its end.
func (o *ownerWatch) between(st *components.MovementState) components.Vec3 {
	from := o.step
	from[2] += st.HalfHeight - o.stepHalf
	return exact.AddScaled(from, exact.Sub(st.Location, from), o.clock.Alpha)
}

// frame takes what a frame has drawn.
func (o *ownerWatch) frame() {
	ids := o.node.Net.Owned()
	if len(ids) == 0 || o.taken == 0 {
		o.Lost()
		o.begun = false
		return
	}
	id := ids[0]
	pred, mesh := part[components.ClientPrediction](o.node, id), part[components.MeshSmoothing](o.node, id)
	end, after := stateOf(o.node, id).Location, o.left(id)
	if pred.UpdatePosition {
		end = pred.Before // the correction waits for its replay
	}
	drawn, boarded := end, false
	if o.clock.Fixed {
		// In a step between two bases one end of it is drawn where the base is
		// drawn, which the straight line does not know of.
		boarded = o.stepBase != stateOf(o.node, id).Base
		drawn = o.between(stateOf(o.node, id))
		if pred.UpdatePosition {
			drawn = o.between(&components.MovementState{Location: end, HalfHeight: o.half})
		}
	}
	o.Shift = components.Vec3{}
	before := o.offset
	if o.begun && o.taken == o.clock.Frame {
		o.Shift, before = exact.Sub(o.start, o.end), o.before
		if mesh.Mode == components.SmoothDisabled {
			// The law of this mode takes all of the step at once.
			before = exact.Sub(o.end, o.start)
		}
	}
	o.Frame(&nettest.OwnerFrame{
		Mesh: meshOf(o.node, id).Location, Start: exact.Add(o.drawn, o.Shift), End: drawn, OffsetBefore: before, OffsetAfter: after,
		Teleported: boarded || o.boarded,
	})
	if !pred.UpdatePosition {
		o.half = stateOf(o.node, id).HalfHeight
	}
	o.end, o.drawn, o.offset, o.begun = end, drawn, after, true
	o.boarded = boarded
}

// watchedSession is a session whose first client's character is watched.
func watchedSession(t testing.TB, o nettest.Options) (*nettest.Session, *ownerWatch) {
	t.Helper()
	var all []*ownerWatch
	extend := o.Client.Extend
	o.Client.Extend = func(app *ecs.App) {
		if extend != nil {
			extend(app)
		}
		w := new(ownerWatch)
		all = append(all, w)
		app.Add(w)
	}
	s := session(t, o)
	w := all[0]
	w.node = s.Clients[0]
	require.NotEmpty(t, w.node.Net.Owned())
	eachFrame(s, func(i int) {
		if i == 0 {
			w.frame()
		}
	})
	return s, w
}
