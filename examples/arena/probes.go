package main

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/nettest"
	arche "github.com/mlange-42/arche/ecs"
)

// vec is a drawn offset as a vector of the world.
func vec(o [3]float32) components.Vec3 {
	return components.Vec3{float64(o[0]), float64(o[1]), float64(o[2])}
}

// ownerWatch measures a client's own character. It is a system too: behind
// Replay it sees the capsule and the offset that the frame's corrections left,
// before the frame's own moves.
type ownerWatch struct {
	probe nettest.OwnerProbe
	saved nettest.Histogram

	clock  *ecs.Clock
	queues *components.MoveQueues
	ids    struct{ state, mesh, transform, pred arche.ID }
	node   *nettest.ClientNode
	// Of this frame, taken behind Replay.
	start, before components.Vec3
	seen          uint64 // the frame in which they were taken
	// Of the frame before: the capsule, and where it was drawn less the offset,
	// which under a fixed tick lies between two steps.
	end, drawn, offset components.Vec3
	entity             arche.Entity
	begun              bool
	limit              float64

	picture *nettest.Picture
	log     *components.CorrectionLog
	marked  uint64
}

func (o *ownerWatch) Name() string     { return "OwnerWatch" }
func (o *ownerWatch) Phase() ecs.Phase { return ecs.Replay }
func (o *ownerWatch) Roles() ecs.Roles { return ecs.Client }
func (o *ownerWatch) After() []string  { return []string{"Replay"} }

func (o *ownerWatch) Initialize(w *arche.World) {
	o.clock = ecs.Need[ecs.Clock](w)
	o.queues = ecs.Need[components.MoveQueues](w)
	o.ids.state, o.ids.mesh = ecs.RegisterComponent[components.MovementState](w), ecs.RegisterComponent[components.MeshSmoothing](w)
	o.ids.transform, o.ids.pred = ecs.RegisterComponent[components.MeshTransform](w), ecs.RegisterComponent[components.ClientPrediction](w)
	o.limit = ecs.Need[components.Settings](w).NoSmoothDistance
	o.log = ecs.Maybe[components.CorrectionLog](w)
}

func (o *ownerWatch) Update(w *arche.World) {
	if o.clock.StepInFrame > 0 && o.seen == o.clock.Frame {
		return
	}
	if e, _, ok := o.node.Own(0); ok {
		o.start = (*components.MovementState)(w.Get(e, o.ids.state)).Location
		o.before = vec((*components.MeshSmoothing)(w.Get(e, o.ids.mesh)).TranslationOffset)
		o.seen = o.clock.Frame
	}
}

func (o *ownerWatch) Finalize(*arche.World) {}

// frame looks at what a frame has drawn; now is the process's time.
func (o *ownerWatch) frame(now components.Ticks) {
	w := o.node.App.World()
	e, id, ok := o.node.Own(0)
	if !ok {
		o.probe.Lost()
		o.begun = false
		return
	}
	pred := (*components.ClientPrediction)(w.Get(e, o.ids.pred))
	if q := o.queues.Get(pred.Queue); q != nil {
		o.saved.Add(float64(q.Len()))
	}
	tr := (*components.MeshTransform)(w.Get(e, o.ids.transform))
	if !tr.Valid {
		return
	}
	if e != o.entity {
		o.probe.Lost()
		o.begun = false
	}
	end := (*components.MovementState)(w.Get(e, o.ids.state)).Location
	if pred.UpdatePosition {
		// A frame without a step: the correction waits for its replay, and
		// until then the character is where it was.
		end = pred.Before
	}
	after := vec((*components.MeshSmoothing)(w.Get(e, o.ids.mesh)).TranslationOffset)
	drawn := exact.Sub(tr.Location, after)
	if o.begun {
		shift, before := components.Vec3{}, o.offset
		if o.seen == o.clock.Frame {
			shift, before = exact.Sub(o.start, o.end), o.before
		}
		f := nettest.OwnerFrame{
			Mesh: tr.Location, Start: exact.Add(o.drawn, shift), End: drawn,
			OffsetBefore: before, OffsetAfter: after, Teleported: exact.Len(shift) > o.limit,
		}
		o.probe.Frame(&f)
	} else {
		o.probe.Frame(&nettest.OwnerFrame{Mesh: tr.Location})
	}
	if o.picture != nil {
		o.picture.Owner.Add(now, end, !o.begun)
		o.mark(id)
	}
	o.end, o.drawn, o.offset, o.entity, o.begun = end, drawn, after, e, true
}

// mark puts the corrections of this frame into the picture.
func (o *ownerWatch) mark(id components.NetID) {
	total := o.node.Stats.TotalCorrections()
	fresh := min(total-o.marked, 8)
	o.marked = total
	if o.log == nil {
		return
	}
	for i := min(int(fresh), o.log.N) - 1; i >= 0; i-- {
		if r := o.log.At(i); r.Character == id {
			o.picture.MarkCorrection(*r)
		}
	}
}

// proxyWatch measures every character that the onlooker sees.
type proxyWatch struct {
	node   *nettest.ClientNode
	paths  *paths
	ids    struct{ char, state, mesh, transform, rep, update arche.ID }
	filter arche.Filter
	seen   map[components.NetID]*watched
	frames uint64
	last   components.Ticks

	picture *nettest.Picture
}

// watched is one character as the onlooker showed it last.
type watched struct {
	probe     nettest.ProxyProbe
	path      *sharedPath
	entity    arche.Entity
	base      components.NetID
	baseAt    components.Ticks
	rel       components.Vec3
	half      float64
	teleports uint8
	frame     uint64
}

func newProxyWatch(node *nettest.ClientNode, p *paths) *proxyWatch {
	w := node.App.World()
	v := &proxyWatch{node: node, paths: p, seen: map[components.NetID]*watched{}}
	v.ids.char, v.ids.state = ecs.RegisterComponent[components.Character](w), ecs.RegisterComponent[components.MovementState](w)
	v.ids.mesh, v.ids.transform = ecs.RegisterComponent[components.MeshSmoothing](w), ecs.RegisterComponent[components.MeshTransform](w)
	v.ids.rep, v.ids.update = ecs.RegisterComponent[components.ReplicatedMovement](w), ecs.RegisterComponent[components.NetUpdate](w)
	m := arche.All(v.ids.char, v.ids.state, v.ids.transform, v.ids.rep, v.ids.update, ecs.RegisterComponent[components.SimulatedProxy](w))
	v.filter = &m
	return v
}

// frame looks at what a frame has drawn; now is the process's time.
func (v *proxyWatch) frame(now components.Ticks) {
	v.frames++
	dt := now - v.last
	v.last = now
	at := v.node.Clock.ObstacleTime
	star := components.NetID(v.paths.star.Load())
	q := v.node.App.World().Query(v.filter)
	for q.Next() {
		tr := (*components.MeshTransform)(q.Get(v.ids.transform))
		if !tr.Valid {
			continue
		}
		id := (*components.Character)(q.Get(v.ids.char)).ID
		st := (*components.MovementState)(q.Get(v.ids.state))
		u := (*components.NetUpdate)(q.Get(v.ids.update))
		s := v.seen[id]
		if s == nil {
			s = &watched{path: v.paths.of(id)}
			v.seen[id] = s
		}
		fresh := s.entity != q.Entity() || s.frame+1 != v.frames
		if fresh {
			s.probe.Lost()
			s.entity, s.teleports, s.half = q.Entity(), u.AppliedTeleports, st.HalfHeight
		}
		// Crouching keeps the feet and moves the centre, which is what is told.
		carried := v.carried(s, at)
		carried[2] += st.HalfHeight - s.half
		s.path.measure(&s.probe, &nettest.ProxyFrame{
			Now: now, Dt: dt, Mesh: tr.Location, Velocity: st.Velocity,
			Carried: carried, Teleported: s.teleports != u.AppliedTeleports,
		})
		s.frame, s.teleports = v.frames, u.AppliedTeleports
		s.base, s.rel, s.baseAt, s.half = st.Base, st.BaseLocation, at, st.HalfHeight
		if v.picture != nil && id == star {
			v.picture.Capsule.Add(now, st.Location, fresh)
			v.picture.Mesh.Add(now, tr.Location, fresh)
		}
	}
}

// carried is what the base under a character did to it since the last frame.
func (v *proxyWatch) carried(s *watched, at components.Ticks) components.Vec3 {
	if s.base == 0 {
		return components.Vec3{}
	}
	then, ok := v.node.Ground.BasePose(s.base, s.baseAt)
	now, still := v.node.Ground.BasePose(s.base, at)
	if !ok || !still {
		return components.Vec3{}
	}
	return exact.Sub(exact.Add(now.Location, exact.RotateYaw(s.rel, now.Yaw)), exact.Add(then.Location, exact.RotateYaw(s.rel, then.Yaw)))
}

// end measures after the standstill how far each mesh is from the place that
// was replicated last.
func (v *proxyWatch) end() {
	q := v.node.App.World().Query(v.filter)
	for q.Next() {
		s := v.seen[(*components.Character)(q.Get(v.ids.char)).ID]
		if s == nil {
			continue
		}
		rep := (*components.ReplicatedMovement)(q.Get(v.ids.rep))
		if rep.ServerTime == 0 {
			continue // no snapshot has come
		}
		place := rep.Location
		if rep.Base != 0 {
			pose, ok := v.node.Ground.BasePose(rep.Base, v.node.Clock.ObstacleTime)
			if !ok {
				continue
			}
			place = exact.Add(pose.Location, exact.RotateYaw(rep.Location, pose.Yaw))
		}
		s.probe.End((*components.MeshTransform)(q.Get(v.ids.transform)).Location, place)
	}
}

// merged are the probes of all characters as one; the end error is the largest.
// Characters that skip says are left out.
func (v *proxyWatch) merged(skip func(components.NetID) bool) (all nettest.ProxyProbe) {
	for id, s := range v.seen {
		if skip(id) {
			continue
		}
		all.Lag.Merge(&s.probe.Lag)
		all.Pop.Merge(&s.probe.Pop)
		if s.probe.Ended {
			all.Ended, all.EndError = true, max(all.EndError, s.probe.EndError)
		}
	}
	return all
}
