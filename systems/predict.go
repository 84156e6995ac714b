package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
)

// Predict is the owner's half of the loop (ReplicateMoveToServer): it moves the
// character in the very step in which the key was pressed, saves the move,
// combines it with the one before where that changes nothing, and queues what
// is to be sent.
//
// It waits until possession is acknowledged and the server's time is known, so
// that it never floods a server that would drop its moves.
type Predict struct {
	shared
	filter arche.Filter
	ids    predictIDs
	clock  *ecs.Clock
	queues *components.MoveQueues
	events *Events
	loss   lossSwitch
	// dropped is the clock's DroppedTime at the last step.
	dropped components.Ticks
}

type predictIDs struct{ char, state, intent, profile, pred, possession arche.ID }

func (s *Predict) Phase() ecs.Phase { return ecs.Simulate }
func (s *Predict) Roles() ecs.Roles { return ecs.Client }

// Initialize looks up components and resources.
func (s *Predict) Initialize(w *arche.World) {
	s.kernel(w)
	s.ids = predictIDs{
		ecs.RegisterComponent[components.Character](w), ecs.RegisterComponent[components.MovementState](w),
		ecs.RegisterComponent[components.Intent](w), ecs.RegisterComponent[components.ProfileRef](w),
		ecs.RegisterComponent[components.ClientPrediction](w), ecs.RegisterComponent[components.Possession](w),
	}
	m := arche.All(s.ids.char, s.ids.state, s.ids.intent, s.ids.profile, s.ids.pred, s.ids.possession,
		ecs.RegisterComponent[components.AutonomousProxy](w))
	s.filter = &m
	s.clock = ecs.Need[ecs.Clock](w)
	s.queues = ecs.Provide(w, func() *components.MoveQueues { return new(components.MoveQueues) })
	s.events = ecs.Provide(w, NewEvents)
}

// Update makes one move for every owned character.
func (s *Predict) Update(w *arche.World) {
	if !s.net.Synced {
		return
	}
	dt := min(s.clock.Dt, s.set.MaxMove())
	if dt <= 0 {
		return
	}
	skip := s.frozen(dt)
	q := w.Query(s.filter)
	for q.Next() {
		pred := column[components.ClientPrediction](&q, s.ids.pred)
		queue := s.queues.Get(pred.Queue)
		profile := s.profiles.Get(*column[components.ProfileRef](&q, s.ids.profile))
		if queue == nil || profile == nil || !column[components.Possession](&q, s.ids.possession).Acked {
			continue
		}
		o := owner{
			char: column[components.Character](&q, s.ids.char), state: column[components.MovementState](&q, s.ids.state),
			intent: column[components.Intent](&q, s.ids.intent), pred: pred, queue: queue, profile: profile,
			ref: *column[components.ProfileRef](&q, s.ids.profile),
		}
		s.move(&o, dt, skip)
	}
}

// frozen is how far the movement clock jumps after this world stood still: not
// at all, or, where that was for so long that the server has filled the silence
// meanwhile, by as much as it can have filled. What it filled is spent, and
// without the jump every move would be refused until the clock has made up for
// it. Short hitches jump nothing: the server simulates what the owner does.
func (s *Predict) frozen(dt components.Ticks) components.Ticks {
	lost := s.clock.Dt - dt + s.clock.DroppedTime - s.dropped
	s.dropped = s.clock.DroppedTime
	silence := components.TicksFromSeconds(s.set.MaxClientUpdateInterval)
	if lost+dt <= silence {
		return 0
	}
	return min(lost, silence+components.TicksFromSeconds(s.set.MaxForcedUpdateDuration))
}

// owner gathers what one character's prediction touches.
type owner struct {
	char    *components.Character
	state   *components.MovementState
	intent  *components.Intent
	pred    *components.ClientPrediction
	queue   *components.MoveQueue
	profile *components.MovementProfile
	ref     components.ProfileRef
}

func (s *Predict) move(o *owner, dt, skip components.Ticks) {
	s.stamp(o, dt+skip)
	next := components.SavedMove{
		Cmd: components.MoveCommand{
			Acceleration: o.intent.Acceleration, ObstacleTime: s.net.ObstacleTime, Dt: dt,
			Stamp: o.pred.CurrentTimeStamp, Profile: o.ref, Control: o.intent.Control, Flags: o.intent.Flags,
		},
		Start:    *o.state,
		MaxSpeed: o.profile.MaxSpeed(o.state.Mode, o.state.Crouched),
	}

	combined := false
	if pending := o.queue.Newest(); o.queue.Pending && pending != nil && !s.clock.Fixed && skip == 0 &&
		canCombine(pending, &next, s.set) && s.fitsAtStart(o, pending, &next) {
		// Back to where the pending move began, and once more from there over
		// both spans: the server will simulate exactly that.
		next.Cmd.Dt += pending.Cmd.Dt
		next.Start, next.MaxSpeed = pending.Start, pending.MaxSpeed
		*o.state = pending.Start
		o.queue.PopNewest()
		combined = true
		s.stats.MovesCombined++
	}

	s.ctx.Scene = o.char.Scene
	s.ctx.NumEvents = 0
	s.ctx.Move(o.state, &next.Cmd, o.profile)
	next.End = *o.state
	if next.Events = uint8(s.ctx.NumEvents); next.Events > 0 {
		next.ForceNoCombine = true
		s.events.take(&s.ctx, o.char.ID, next.Cmd.Stamp)
	}

	m, dropped := o.queue.Push()
	*m = next
	if dropped {
		s.stats.SavedDropped++
	}
	s.stats.MovesMade++
	s.send(o, m, combined)
}

// stamp advances the movement clock, and takes the reset period off it when it
// is full: moves made before the reset keep their stamps and are marked.
func (s *Predict) stamp(o *owner, dt components.Ticks) {
	t := components.Ticks(o.pred.CurrentTimeStamp) + dt
	if t > components.StampResetPeriod {
		t -= components.StampResetPeriod
		for i := range o.queue.Len() {
			o.queue.At(i).OldTimeStampBeforeReset = true
		}
		o.queue.LastAcked.OldTimeStampBeforeReset = true
		s.stats.StampResets++
	}
	o.pred.CurrentTimeStamp = components.Stamp(t)
}

// fitsAtStart tells whether nothing stands where the combined move would begin
// again: an obstacle may have come there meanwhile.
func (s *Predict) fitsAtStart(o *owner, pending, next *components.SavedMove) bool {
	q := &s.probe
	q.Start, q.Radius, q.HalfHeight = pending.Start.Location, pending.Start.Radius, pending.Start.HalfHeight
	q.Time, q.Scene, q.Ignore = next.Cmd.ObstacleTime, o.char.Scene, pending.Start.Base
	return !s.ctx.Geometry.Overlap(q)
}

// send decides whether the newest move goes out in this frame or waits as the
// pending move.
func (s *Predict) send(o *owner, m *components.SavedMove, combined bool) {
	hadPending := o.queue.Pending && !combined
	early := s.clock.Now-o.pred.ClientUpdateTime < s.sendInterval(m)
	full := s.set.Redundancy == components.RedundancyFull
	// In the reference's way only one move can wait. With full redundancy any
	// number can: the next container carries all that were not received.
	if early && (!hadPending || full) {
		o.queue.Pending = true
		return
	}
	o.queue.Pending = false
	o.pred.ClientUpdateTime = s.clock.Now
	if debugBuild && s.loss.eats(s.debug, s.clock.Now) {
		s.stats.MovesDropped[components.DropSimulatedLoss]++
		return
	}
	if o.queue.NumSends == components.MaxSends {
		copy(o.queue.Sends[:], o.queue.Sends[1:])
		o.queue.NumSends--
	}
	out := &o.queue.Sends[o.queue.NumSends]
	o.queue.NumSends++
	*out = components.MoveSend{New: m.Cmd.Stamp, Dual: hadPending && o.queue.Len() > 1}
	carried := o.queue.Len() - 1
	if out.Dual {
		carried--
	}
	if i := OldMove(o.queue, carried, s.set); !full && i >= 0 {
		out.Old = o.queue.At(i).Cmd.Stamp
	}
}

// sendInterval is the time between two containers (GetClientNetSendDeltaTime):
// throttled with many players or on a slow connection, stretched when the link
// was found not to carry it, within 1/120 s and 1/5 s.
func (s *Predict) sendInterval(m *components.SavedMove) components.Ticks {
	d := s.set.SendDelta
	if s.net.Players > s.set.ThrottleOverPlayerCount || (s.net.NetSpeed > 0 && s.net.NetSpeed <= s.set.ThrottleAtNetSpeed) {
		d = s.set.SendDeltaThrottled
	}
	if m.Cmd.Acceleration == (components.Vec3{}) && m.End.Velocity == (components.Vec3{}) &&
		exact.DistSq(m.Start.Location, m.End.Location) == 0 {
		d = max(d, s.set.SendDeltaStationary)
	}
	if s.net.SendScale > 1 {
		d *= s.net.SendScale
	}
	return components.TicksFromSeconds(min(max(d, 1.0/120), 1.0/5))
}

func (s *Predict) Finalize(*arche.World) {}
