package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
)

// LocalMove moves the characters that this machine both controls and has the
// authority over (ControlledCharacterMove with authority): a server's AI, a
// listen server's own player, everybody in standalone. They run the same kernel
// with the world's own step; nothing is predicted, saved or sent.
type LocalMove struct {
	shared
	filter                       arche.Filter
	char, state, intent, profile arche.ID
	clock                        *ecs.Clock
	events                       *Events
}

func (s *LocalMove) Phase() ecs.Phase { return ecs.Simulate }
func (s *LocalMove) Roles() ecs.Roles { return ecs.Server | ecs.ListenServer | ecs.Standalone }

// Initialize looks up components and resources.
func (s *LocalMove) Initialize(w *arche.World) {
	s.kernel(w)
	s.char, s.state = ecs.RegisterComponent[components.Character](w), ecs.RegisterComponent[components.MovementState](w)
	s.intent, s.profile = ecs.RegisterComponent[components.Intent](w), ecs.RegisterComponent[components.ProfileRef](w)
	m := arche.All(s.char, s.state, s.intent, s.profile,
		ecs.RegisterComponent[components.Authority](w), ecs.RegisterComponent[components.LocallyControlled](w))
	s.filter = &m
	s.clock = ecs.Need[ecs.Clock](w)
	s.events = ecs.Provide(w, NewEvents)
}

// Update makes one step of the world's span for each of them.
func (s *LocalMove) Update(w *arche.World) {
	dt := min(s.clock.Dt, s.set.MaxServerMove())
	q := w.Query(s.filter)
	for q.Next() {
		ref := *column[components.ProfileRef](&q, s.profile)
		profile := s.profiles.Get(ref)
		if profile == nil {
			continue
		}
		intent := column[components.Intent](&q, s.intent)
		char := column[components.Character](&q, s.char)
		cmd := components.MoveCommand{
			Acceleration: intent.Acceleration, ObstacleTime: s.net.ObstacleTime, Dt: dt,
			Profile: ref, Control: intent.Control, Flags: intent.Flags,
		}
		s.ctx.Scene = char.Scene
		s.ctx.NumEvents = 0
		s.ctx.Move(column[components.MovementState](&q, s.state), &cmd, profile)
		s.events.take(&s.ctx, char.ID, 0)
	}
}

func (s *LocalMove) Finalize(*arche.World) {}
