package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
)

// Gather takes snapshots of the authoritative state (GatherCurrentMovement) at
// each character's net update frequency, for everybody but its owner, and
// fills its ring of past poses at every tick. What is gathered is simulated
// state, never a smoothed one.
type Gather struct {
	shared
	filter arche.Filter
	ids    gatherIDs
	clock  *ecs.Clock
	rings  *components.PoseRings
}

type gatherIDs struct{ state, rep, timer, pred, teleports arche.ID }

func (s *Gather) Phase() ecs.Phase { return ecs.Gather }
func (s *Gather) Roles() ecs.Roles { return ecs.Server | ecs.ListenServer }

// Initialize looks up components and resources.
func (s *Gather) Initialize(w *arche.World) {
	s.light(w)
	s.ids = gatherIDs{
		ecs.RegisterComponent[components.MovementState](w), ecs.RegisterComponent[components.ReplicatedMovement](w),
		ecs.RegisterComponent[components.NetUpdateTimer](w), ecs.RegisterComponent[components.ServerPrediction](w),
		ecs.RegisterComponent[components.Teleports](w),
	}
	m := arche.All(s.ids.state, s.ids.rep, s.ids.timer, s.ids.teleports, ecs.RegisterComponent[components.Authority](w))
	s.filter = &m
	s.clock = ecs.Need[ecs.Clock](w)
	s.rings = ecs.Provide(w, func() *components.PoseRings { return new(components.PoseRings) })
}

// Update gathers what is due.
func (s *Gather) Update(w *arche.World) {
	now := s.clock.Now
	interval := components.TicksFromSeconds(1 / s.set.NetUpdateFrequency)
	q := w.Query(s.filter)
	for q.Next() {
		state := column[components.MovementState](&q, s.ids.state)
		var pred *components.ServerPrediction
		if q.Has(s.ids.pred) {
			pred = column[components.ServerPrediction](&q, s.ids.pred)
			if ring := s.rings.Get(pred.Poses); ring != nil {
				ring.Push(components.PoseSample{Time: now, Location: state.Location, Yaw: state.Rotation.Yaw, HalfHeight: state.HalfHeight})
			}
		}
		t := column[components.NetUpdateTimer](&q, s.ids.timer)
		step := interval
		if t.Interval > 0 {
			step = t.Interval
		}
		if !t.Force && now < t.Next {
			continue
		}
		// The frequency is kept in the mean, and a stall is not made up for.
		if t.Next += step; t.Next <= now {
			t.Next = now + step
		}
		t.Force, t.Gathered = false, now
		rep := column[components.ReplicatedMovement](&q, s.ids.rep)
		s.snapshot(rep, state, pred)
		rep.Teleports = column[components.Teleports](&q, s.ids.teleports).Count
	}
}

func (s *Gather) snapshot(rep *components.ReplicatedMovement, st *components.MovementState, pred *components.ServerPrediction) {
	now := s.clock.Now
	*rep = components.ReplicatedMovement{
		Location: st.Location, Velocity: st.Velocity, GravityDir: st.GravityDir, Rotation: st.Rotation,
		ServerTime: now, TransformTime: now, Mode: st.Mode, Crouched: st.Crouched,
		JumpForce: st.JumpHold > 0 && st.WasJumping,
	}
	if st.Base != 0 {
		rep.Base, rep.Location, rep.Rotation.Yaw = st.Base, st.BaseLocation, st.BaseYaw
	}
	if s.set.ReplicateAcceleration {
		rep.Acceleration, rep.HasAcceleration = st.Acceleration, true
	}
	if pred != nil && pred.HasStamp && s.set.UseClientTimestampForTransform {
		rep.TransformTime = s.transformTime(pred)
	}
}

// transformTime is the client's executed time carried over to the server's
// clock: it advances by what was simulated, not by when it happened to arrive.
// It stays within the last transformSlack of the server's time; an owner whose
// clock runs differently, or that paused, is anchored anew at that border.
func (s *Gather) transformTime(p *components.ServerPrediction) components.Ticks {
	now := s.clock.Now
	if p.TransformOffset == 0 {
		p.TransformOffset = now - p.ServerAccumulatedClientTimeStamp
	}
	t := p.ServerAccumulatedClientTimeStamp + p.TransformOffset
	if held := min(max(t, now-transformSlack), now); held != t {
		p.TransformOffset += held - t
		t = held
	}
	return t
}

// transformSlack is how far a snapshot's place may lie behind the server's time.
const transformSlack = components.Second / 4

func (s *Gather) Finalize(*arche.World) {}
