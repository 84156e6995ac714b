package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
)

// Replay runs the owner's unanswered moves again on top of a correction
// (ClientUpdatePositionAfterServerUpdate), once, at the start of the tick,
// however many answers came in. Each move takes its input, profile and
// obstacle time from what was saved, and its place, velocity and base from the
// result of the move before it; its end is then overwritten.
//
// Events of replayed moves are not reported again: they were when the move was
// predicted.
type Replay struct {
	shared
	filter arche.Filter
	ids    replayIDs
	clock  *ecs.Clock
	queues *components.MoveQueues
}

type replayIDs struct{ char, state, pred, profile, mesh arche.ID }

func (s *Replay) Phase() ecs.Phase { return ecs.Replay }
func (s *Replay) Roles() ecs.Roles { return ecs.Client }

// Initialize looks up components and resources.
func (s *Replay) Initialize(w *arche.World) {
	s.kernel(w)
	s.ids = replayIDs{
		ecs.RegisterComponent[components.Character](w), ecs.RegisterComponent[components.MovementState](w),
		ecs.RegisterComponent[components.ClientPrediction](w), ecs.RegisterComponent[components.ProfileRef](w),
		ecs.RegisterComponent[components.MeshSmoothing](w),
	}
	m := arche.All(s.ids.char, s.ids.state, s.ids.pred, s.ids.profile, ecs.RegisterComponent[components.AutonomousProxy](w))
	s.filter = &m
	s.clock = ecs.Need[ecs.Clock](w)
	s.queues = ecs.Provide(w, func() *components.MoveQueues { return new(components.MoveQueues) })
}

// Update replays every character that was corrected.
func (s *Replay) Update(w *arche.World) {
	q := w.Query(s.filter)
	for q.Next() {
		pred := column[components.ClientPrediction](&q, s.ids.pred)
		if !pred.UpdatePosition {
			continue
		}
		pred.UpdatePosition = false
		queue := s.queues.Get(pred.Queue)
		if queue == nil {
			continue
		}
		state := column[components.MovementState](&q, s.ids.state)
		pred.Updating = true
		s.ctx.Scene = column[components.Character](&q, s.ids.char).Scene
		s.replay(queue, state, *column[components.ProfileRef](&q, s.ids.profile))
		pred.Updating = false
		if q.Has(s.ids.mesh) {
			BeginOwnerSmoothing(column[components.MeshSmoothing](&q, s.ids.mesh), pred.Before, state.Location,
				pred.BeforeYaw, state.Rotation.Yaw, s.set, s.clock.Now)
		}
	}
}

func (s *Replay) replay(queue *components.MoveQueue, state *components.MovementState, now components.ProfileRef) {
	n := queue.Len()
	for i := range n {
		m := queue.At(i)
		p := s.profiles.Get(m.Cmd.Profile)
		if p == nil {
			// The revision it was made under is gone; the present one is what
			// the server will use as well.
			m.Cmd.Profile = now
			if p = s.profiles.Get(now); p == nil {
				continue
			}
		}
		m.Start = *state
		s.ctx.NumEvents = 0
		s.ctx.Move(state, &m.Cmd, p)
		m.End = *state
	}
	if queue.Pending && n > 0 {
		// Its start is no longer where it was predicted to be.
		queue.Newest().ForceNoCombine = true
	}
	s.stats.Replays++
	s.stats.ReplayedMoves += uint64(n)
	s.stats.ReplayedMax = max(s.stats.ReplayedMax, uint64(n))
}

func (s *Replay) Finalize(*arche.World) {}
