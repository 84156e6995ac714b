package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
)

// ForcedUpdates moves a character whose owner has been silent for
// MaxClientUpdateInterval (ServerAutonomousProxyTick, ForcePositionUpdate):
// nobody hangs in the air because a cable was pulled. It goes on with the last
// acceleration, for MaxForcedUpdateDuration at most, and not right after a
// hitch of the server's own. The time it spends advances the client's stamp, so
// that silence followed by a burst cannot spend it twice.
type ForcedUpdates struct {
	shared
	filter                           arche.Filter
	char, state, profile, pred, mesh arche.ID
	clock                            *ecs.Clock
	events                           *Events
}

func (s *ForcedUpdates) Phase() ecs.Phase { return ecs.Simulate }
func (s *ForcedUpdates) Roles() ecs.Roles { return ecs.Server | ecs.ListenServer }

// After puts it behind the moves that did arrive.
func (s *ForcedUpdates) After() []string { return []string{"ServerVerify"} }

// Initialize looks up components and resources.
func (s *ForcedUpdates) Initialize(w *arche.World) {
	s.kernel(w)
	s.char, s.state = ecs.RegisterComponent[components.Character](w), ecs.RegisterComponent[components.MovementState](w)
	s.profile, s.pred = ecs.RegisterComponent[components.ProfileRef](w), ecs.RegisterComponent[components.ServerPrediction](w)
	s.mesh = ecs.RegisterComponent[components.MeshSmoothing](w)
	m := arche.All(s.char, s.state, s.profile, s.pred, ecs.RegisterComponent[components.Authority](w))
	s.filter = &m
	s.clock = ecs.Need[ecs.Clock](w)
	s.events = ecs.Provide(w, NewEvents)
}

// Update forces one step on every character that is due for one.
func (s *ForcedUpdates) Update(w *arche.World) {
	now, dt := s.clock.Now, s.clock.Dt
	interval := components.TicksFromSeconds(s.set.MaxClientUpdateInterval)
	limit := components.TicksFromSeconds(s.set.MaxForcedUpdateDuration)
	hitch := dt > components.TicksFromSeconds(s.set.ForcedUpdateHitchThreshold)
	q := w.Query(s.filter)
	for q.Next() {
		p := column[components.ServerPrediction](&q, s.pred)
		f := &p.Forced
		if hitch {
			f.HitchUntil = max(f.HitchUntil, now+components.TicksFromSeconds(s.set.ForcedUpdateCooldown))
		}
		if !p.HasStamp || now-p.ServerTimeStamp <= interval || now < f.HitchUntil || f.Spent >= limit {
			continue
		}
		if !f.Active {
			f.Active, f.Since = true, now
		}
		step := min(dt, limit-f.Spent, s.set.MaxServerMove())
		f.Spent += step
		s.force(&q, p, step)
	}
}

func (s *ForcedUpdates) force(q *arche.Query, p *components.ServerPrediction, dt components.Ticks) {
	state := column[components.MovementState](q, s.state)
	profile := s.profiles.Get(p.Last.Profile)
	if profile == nil {
		profile = s.profiles.Get(*column[components.ProfileRef](q, s.profile))
	}
	if profile == nil {
		return
	}
	cmd := p.Last
	cmd.Dt, cmd.Stamp = dt, 0
	// A jump that was held at the last move is let go; the stance is kept.
	cmd.Flags &^= components.FlagJumpPressed
	cmd.ObstacleTime = min(max(p.LastObstacleTime+dt, s.clock.Now-components.TicksFromSeconds(s.set.ObstacleHistory)), s.clock.Now)
	cmd.ObstacleTime = max(cmd.ObstacleTime, p.LastObstacleTime)
	p.LastObstacleTime = cmd.ObstacleTime
	p.CurrentClientTimeStamp += dt
	p.ServerAccumulatedClientTimeStamp += dt

	before, yaw := state.Location, state.Rotation.Yaw
	char := column[components.Character](q, s.char)
	s.ctx.Scene = char.Scene
	s.ctx.NumEvents = 0
	s.ctx.Move(state, &cmd, profile)
	s.events.take(&s.ctx, char.ID, 0)
	s.stats.ForcedMoves++
	if q.Has(s.mesh) && s.set.EnableListenServerSmoothing {
		ListenServerSmooth(column[components.MeshSmoothing](q, s.mesh), before, state.Location,
			yaw, state.Rotation.Yaw, s.set, s.clock.Now)
	}
}

func (s *ForcedUpdates) Finalize(*arche.World) {}
