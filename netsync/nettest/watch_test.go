package nettest_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/nettest"
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

func (o *ownerWatch) Initialize(w *arche.World) { o.clock = ecs.Need[ecs.Clock](w) }

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

// proxyWatch measures one character as an onlooker shows it.
type proxyWatch struct {
	nettest.ProxyProbe
	// Path is the server's, OwnerPath the owner's.
	Path, OwnerPath nettest.Path
	// BehindOwner is as Lag, but against the owner's path.
	BehindOwner nettest.Histogram

	node *nettest.ClientNode
	id   components.NetID
	last components.Ticks
	// The base under it in the frame before, and when it stood where.
	base      components.NetID
	rel       components.Vec3
	baseAt    components.Ticks
	half      float64
	teleports uint8
}

// watchProxy lets a client that owns nothing watch another's first character.
func watchProxy(t testing.TB, s *nettest.Session, onlooker, owner int) *proxyWatch {
	t.Helper()
	v := &proxyWatch{node: s.Clients[onlooker], id: owned(t, s, owner), last: s.Now}
	eachTick(s, func() { v.Path.Push(s.Now, onServer[components.MovementState](s, v.id).Location, false) })
	eachFrame(s, func(i int) {
		switch i {
		case owner:
			v.OwnerPath.Push(s.Now, stateOf(s.Clients[owner], v.id).Location, false)
		case onlooker:
			v.frame(s.Now)
		}
	})
	return v
}

func (v *proxyWatch) frame(now components.Ticks) {
	st, tr := stateOf(v.node, v.id), meshOf(v.node, v.id)
	if st == nil || tr == nil || !tr.Valid {
		v.Lost()
		return
	}
	at, u := v.node.Clock.ObstacleTime, part[components.NetUpdate](v.node, v.id)
	f := nettest.ProxyFrame{
		Now: now, Dt: now - v.last, Mesh: tr.Location, Velocity: st.Velocity,
		Carried: v.carried(at), Teleported: v.teleports != u.AppliedTeleports,
	}
	if v.half > 0 {
		f.Carried[2] += st.HalfHeight - v.half // crouching moves the centre, not the feet
	}
	v.Frame(&v.Path, &f)
	if ago, _, speed, ok := v.OwnerPath.Nearest(now, tr.Location); ok && speed > 50 {
		v.BehindOwner.Add(ago * 1000)
	}
	v.last, v.teleports, v.half = now, u.AppliedTeleports, st.HalfHeight
	v.base, v.rel, v.baseAt = st.Base, st.BaseLocation, at
}

// carried is what the base under the character did to it since the last frame.
func (v *proxyWatch) carried(at components.Ticks) components.Vec3 {
	if v.base == 0 {
		return components.Vec3{}
	}
	then, _ := v.node.Ground.BasePose(v.base, v.baseAt)
	now, _ := v.node.Ground.BasePose(v.base, at)
	return exact.Sub(exact.Add(now.Location, exact.RotateYaw(v.rel, now.Yaw)),
		exact.Add(then.Location, exact.RotateYaw(v.rel, then.Yaw)))
}

// end compares mesh and replicated place after a standstill.
func (v *proxyWatch) end() {
	rep := part[components.ReplicatedMovement](v.node, v.id)
	place := rep.Location
	if rep.Base != 0 {
		pose, _ := v.node.Ground.BasePose(rep.Base, v.node.Clock.ObstacleTime)
		place = exact.Add(pose.Location, exact.RotateYaw(rep.Location, pose.Yaw))
	}
	v.End(meshOf(v.node, v.id).Location, place)
}
