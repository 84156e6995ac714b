package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
)

// Correct takes in the server's answers on the owner (ClientHandleMoveResponse):
// an acknowledgement trims the queue, a ClientAdjustment also puts the character
// where the server has it. Nothing is replayed here and nothing smoothed: the
// moves that came after wait for Replay at the start of the tick.
//
// The owner cannot refuse a correction. What it ignores it counts: answers to
// moves it does not have (answered before, or from the future), of another
// possession, against a base it does not know yet.
type Correct struct {
	shared
	filter arche.Filter
	ids    correctIDs
	clock  *ecs.Clock
	queues *components.MoveQueues
	log    *components.CorrectionLog
	csv    *CorrectionCSV
}

type correctIDs struct{ char, state, pred, possession arche.ID }

func (s *Correct) Phase() ecs.Phase { return ecs.Receive }
func (s *Correct) Roles() ecs.Roles { return ecs.Client }

// After puts it behind the system that receives.
func (s *Correct) After() []string { return []string{"ClientReceive"} }

// Initialize looks up components and resources.
func (s *Correct) Initialize(w *arche.World) {
	s.light(w)
	s.ctx.Geometry = ecs.Need[Geometry](w).Geometry
	s.ids = correctIDs{
		ecs.RegisterComponent[components.Character](w), ecs.RegisterComponent[components.MovementState](w),
		ecs.RegisterComponent[components.ClientPrediction](w), ecs.RegisterComponent[components.Possession](w),
	}
	m := arche.All(s.ids.char, s.ids.state, s.ids.pred, s.ids.possession, ecs.RegisterComponent[components.AutonomousProxy](w))
	s.filter = &m
	s.clock = ecs.Need[ecs.Clock](w)
	s.queues = ecs.Provide(w, func() *components.MoveQueues { return new(components.MoveQueues) })
	s.log = ecs.Maybe[components.CorrectionLog](w)
	s.csv = ecs.Maybe[CorrectionCSV](w)
}

// Update takes in every owned character's answers, oldest move first.
func (s *Correct) Update(w *arche.World) {
	q := w.Query(s.filter)
	for q.Next() {
		pred := column[components.ClientPrediction](&q, s.ids.pred)
		queue := s.queues.Get(pred.Queue)
		if queue == nil || queue.NumResponses == 0 {
			continue
		}
		c := corrected{
			id: column[components.Character](&q, s.ids.char).ID, state: column[components.MovementState](&q, s.ids.state),
			pred: pred, queue: queue, epoch: column[components.Possession](&q, s.ids.possession).Epoch,
		}
		for i := range queue.NumResponses {
			s.handle(&c, &queue.Responses[i])
		}
		queue.NumResponses = 0
	}
}

type corrected struct {
	id    components.NetID
	state *components.MovementState
	pred  *components.ClientPrediction
	queue *components.MoveQueue
	epoch uint16
}

func (s *Correct) handle(c *corrected, r *components.MoveResponse) {
	if r.Epoch != c.epoch {
		s.stats.Ignored[components.IgnoreEpoch]++
		return
	}
	i := c.queue.Index(r.Stamp)
	if i < 0 || (c.queue.Pending && i == c.queue.Len()-1) {
		// A move that was never sent cannot have been answered.
		s.stats.Ignored[components.IgnoreUnknownMove]++
		return
	}
	if r.AckGood {
		c.queue.Ack(i)
		s.stats.Acks++
		return
	}
	if c.pred.IgnoreCorrections {
		c.queue.Ack(i)
		s.stats.Ignored[components.IgnoreDisabled]++
		return
	}
	s.adjust(c, r, i)
}

// adjust is ClientAdjustPosition: the base first, then the acknowledgement,
// then the place.
func (s *Correct) adjust(c *corrected, r *components.MoveResponse, i int) {
	wrong := *c.queue.At(i)
	if r.State.Base != 0 {
		pose, ok := s.ctx.Geometry.BasePose(r.State.Base, wrong.Cmd.ObstacleTime)
		if !ok {
			// Nothing is acknowledged: the server will say it again, and by
			// then the base may have come.
			s.stats.Ignored[components.IgnoreUnresolvedBase]++
			return
		}
		// The base may stand elsewhere here than it stood there; relative to
		// it is what the server means.
		here := exact.Add(pose.Location, exact.RotateYaw(r.State.BaseLocation, pose.Yaw))
		if exact.DistSq(here, r.State.Location) > sameBasePlace {
			r.State.Location = here
		}
	}
	if !c.pred.UpdatePosition {
		// The mesh is smoothed from where the prediction stood before the
		// first of several corrections.
		c.pred.Before, c.pred.BeforeYaw = c.state.Location, c.state.Rotation.Yaw
	}
	c.queue.Ack(i)
	*c.state = r.State
	c.pred.UpdatePosition = true
	s.stats.Corrections[r.Reason]++
	if debugBuild {
		s.record(c, r, &wrong)
	}
}

// sameBasePlace: within it (cm², the rounding of a turn there and back) the base
// stood in the same place on both ends, and the server's exact bits are kept.
const sameBasePlace = 1e-12

func (s *Correct) record(c *corrected, r *components.MoveResponse, wrong *components.SavedMove) {
	rec := components.CorrectionRecord{
		Time: s.clock.FrameNow, Character: c.id, Stamp: r.Stamp, Reason: r.Reason,
		Wrong: wrong.End.Location, Right: r.State.Location, WrongMode: wrong.End.Mode, RightMode: r.State.Mode,
	}
	if s.log != nil && s.debug != nil && s.debug.ShowCorrections {
		s.log.Push(rec)
	}
	if s.csv != nil {
		s.csv.write(&rec)
	}
}

func (s *Correct) Finalize(*arche.World) {}
