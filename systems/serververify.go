package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
)

// ServerVerify executes the moves that a character's owner sent, in their
// order, with the owner's own time steps, and judges the newest one's claim:
// the verdict waits in ServerPrediction.Pending until Respond lets it out.
//
// The server's frame never enters a move: a move's span is the difference of
// two client stamps, clamped, or what the time discrepancy allows.
type ServerVerify struct {
	shared
	filter arche.Filter
	ids    verifyIDs
	clock  *ecs.Clock
	queues *components.ReceivedQueues
	events *Events
	forced forceSwitch
	// Observer, when set, sees every compared claim before it is judged.
	Observer VerdictObserver
	// OnDiscrepancy, when set, is told when a client's time passes the margin.
	OnDiscrepancy func(id components.NetID, d *components.TimeDiscrepancy, moveError float64)
}

// VerdictObserver sees each claim: the place the server arrived at and the one
// that the owner claims, both in world axes.
type VerdictObserver interface {
	Verdict(id components.NetID, stamp components.Stamp, server *components.MovementState, claim components.Vec3)
}

type verifyIDs struct{ char, state, profile, pred, possession, mesh arche.ID }

func (s *ServerVerify) Phase() ecs.Phase { return ecs.Simulate }
func (s *ServerVerify) Roles() ecs.Roles { return ecs.Server | ecs.ListenServer }

// Initialize looks up components and resources.
func (s *ServerVerify) Initialize(w *arche.World) {
	s.kernel(w)
	s.ids = verifyIDs{
		ecs.RegisterComponent[components.Character](w), ecs.RegisterComponent[components.MovementState](w),
		ecs.RegisterComponent[components.ProfileRef](w), ecs.RegisterComponent[components.ServerPrediction](w),
		ecs.RegisterComponent[components.Possession](w), ecs.RegisterComponent[components.MeshSmoothing](w),
	}
	m := arche.All(s.ids.char, s.ids.state, s.ids.profile, s.ids.pred, s.ids.possession,
		ecs.RegisterComponent[components.Authority](w))
	s.filter = &m
	s.clock = ecs.Need[ecs.Clock](w)
	s.queues = ecs.Provide(w, func() *components.ReceivedQueues { return new(components.ReceivedQueues) })
	s.events = ecs.Provide(w, NewEvents)
}

// verified gathers what verifying one character touches.
type verified struct {
	char  *components.Character
	state *components.MovementState
	pred  *components.ServerPrediction
	ref   *components.ProfileRef
	epoch uint16
}

// Update executes the received moves of every remotely controlled character.
func (s *ServerVerify) Update(w *arche.World) {
	q := w.Query(s.filter)
	for q.Next() {
		pred := column[components.ServerPrediction](&q, s.ids.pred)
		queue := s.queues.Get(pred.Received)
		if queue == nil || queue.N == 0 {
			continue
		}
		v := verified{
			char: column[components.Character](&q, s.ids.char), state: column[components.MovementState](&q, s.ids.state),
			pred: pred, ref: column[components.ProfileRef](&q, s.ids.profile),
			epoch: column[components.Possession](&q, s.ids.possession).Epoch,
		}
		before, yaw := v.state.Location, v.state.Rotation.Yaw
		for i := range queue.N {
			s.execute(&v, &queue.Moves[i])
		}
		queue.N = 0
		// On a listen server the host sees remote characters move only when
		// their moves arrive; the mesh carries them over the pauses.
		if q.Has(s.ids.mesh) && s.set.EnableListenServerSmoothing {
			ListenServerSmooth(column[components.MeshSmoothing](&q, s.ids.mesh),
				before, v.state.Location, yaw, v.state.Rotation.Yaw, s.set, s.clock.Now)
		}
	}
}

// execute runs one received move, or drops it and counts why.
func (s *ServerVerify) execute(v *verified, md *components.MoveData) {
	now, p := s.clock.Now, v.pred
	if reason, ok := s.checkStamp(v, md); !ok {
		s.stats.MovesDropped[reason]++
		if reason == components.DropExpired && md.Kind == components.MoveNew {
			// Its time was spent by forced updates. The owner is not silent any
			// more: were time still forced as fast as its stamps advance, they
			// would never catch up.
			p.Forced.HitchUntil = max(p.Forced.HitchUntil, now+components.TicksFromSeconds(s.set.MaxClientUpdateInterval))
		}
		return
	}
	profile := s.profile(v, md)
	if profile == nil {
		return
	}

	stamp := components.Ticks(md.Cmd.Stamp)
	dt := stamp - p.CurrentClientTimeStamp
	if !p.HasStamp {
		// The first move names its own span, there is no stamp before it.
		dt = md.Cmd.Dt
	}
	if limit := s.set.MaxServerMove(); dt > limit {
		dt = limit
		s.stats.DtClamps++
	}
	if p.Discrepancy.Resolving {
		dt = min(dt, p.Discrepancy.Override)
	}
	p.CurrentClientTimeStamp = stamp
	p.HasStamp = true
	p.ServerAccumulatedClientTimeStamp += dt
	p.ServerTimeStamp = now
	p.Forced = components.ForcedUpdate{HitchUntil: p.Forced.HitchUntil}

	cmd := md.Cmd
	cmd.Dt = dt
	cmd.ObstacleTime = s.obstacleTime(p, cmd.ObstacleTime)
	if p.NotReady {
		cmd.Acceleration = components.Vec3{}
	}
	p.Last = cmd
	s.ctx.Scene = v.char.Scene
	s.ctx.NumEvents = 0
	s.ctx.Move(v.state, &cmd, profile)
	s.events.take(&s.ctx, v.char.ID, cmd.Stamp)
	s.stats.Moves++

	if md.Kind == components.MoveNew {
		s.judge(v, md, &cmd, profile)
	}
}

// profile is what a move is verified with: the one it names, if that is the
// character's own or the one it had until just now. An owner that names any
// other is verified with the present one, and so corrected rather than stopped.
func (s *ServerVerify) profile(v *verified, md *components.MoveData) *components.MovementProfile {
	p, now := v.pred, s.clock.Now
	if p.Profile != *v.ref {
		if p.Profile.Revision != 0 {
			p.Previous = p.Profile
			p.PreviousUntil = now + components.TicksFromSeconds(s.set.ProfileDeadline)
		}
		p.Profile = *v.ref
	}
	own := md.Cmd.Profile == *v.ref || (md.Cmd.Profile == p.Previous && now <= p.PreviousUntil)
	if own {
		if profile := s.profiles.Verifiable(md.Cmd.Profile, now); profile != nil {
			return profile
		}
	}
	s.stats.MovesDropped[components.DropProfile]++
	md.Cmd.Profile = *v.ref
	return s.profiles.Get(*v.ref)
}

// checkStamp refuses what is no new move, follows a reset of the client's
// stamp, and lets the discrepancy detection see the stamp.
func (s *ServerVerify) checkStamp(v *verified, md *components.MoveData) (components.DropReason, bool) {
	p := v.pred
	stamp := components.Ticks(md.Cmd.Stamp)
	if stamp == 0 || md.Cmd.Dt <= 0 {
		return components.DropZeroStamp, false
	}
	if stamp > components.StampResetPeriod+s.set.MaxMove() {
		return components.DropInvalid, false
	}
	reset := false
	if p.HasStamp {
		const half = components.StampResetPeriod / 2
		switch diff := stamp - p.CurrentClientTimeStamp; {
		case diff < -half:
			// The stamp fell by more than half the period: the client has
			// taken the period off it.
			p.CurrentClientTimeStamp -= components.StampResetPeriod
			p.Discrepancy.LastClientStamp -= components.StampResetPeriod
			reset = true
			s.stats.StampResets++
			if stamp <= p.CurrentClientTimeStamp {
				return components.DropExpired, false
			}
		case diff > half:
			return components.DropTooFarAhead, false
		case diff <= 0:
			if md.Kind == components.MoveOld || p.Last.Stamp == md.Cmd.Stamp {
				return components.DropRedundant, false
			}
			return components.DropExpired, false
		}
	}
	s.discrepancy(v, stamp, min(md.Cmd.Dt, s.set.MaxServerMove()), reset)
	return 0, true
}

// obstacleTime holds the time that a move names for the moving bases within
// the history kept, and never lets it run backwards.
func (s *ServerVerify) obstacleTime(p *components.ServerPrediction, t components.Ticks) components.Ticks {
	now := s.clock.Now
	lo := max(now-components.TicksFromSeconds(s.set.ObstacleHistory), p.LastObstacleTime)
	hi := max(now+components.TicksFromSeconds(s.set.ObstacleAhead), p.LastObstacleTime)
	if t < lo || t > hi {
		s.stats.ObstacleClamps++
		t = min(max(t, lo), hi)
	}
	p.LastObstacleTime = t
	return t
}

func (s *ServerVerify) Finalize(*arche.World) {}
