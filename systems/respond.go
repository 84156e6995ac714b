package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
)

// Respond lets a character's verdict out (SendClientAdjustment): one answer a
// tick at most, acknowledgements and corrections each by a clock of their own.
// What the throttle holds back is cleared all the same: the next verdict says
// it again.
type Respond struct {
	shared
	filter arche.Filter
	pred   arche.ID
	clock  *ecs.Clock
}

func (s *Respond) Phase() ecs.Phase { return ecs.Gather }
func (s *Respond) Roles() ecs.Roles { return ecs.Server | ecs.ListenServer }

// Initialize looks up components and resources.
func (s *Respond) Initialize(w *arche.World) {
	s.light(w)
	s.pred = ecs.RegisterComponent[components.ServerPrediction](w)
	m := arche.All(s.pred)
	s.filter = &m
	s.clock = ecs.Need[ecs.Clock](w)
}

// Update marks the verdicts that go out in this tick.
func (s *Respond) Update(w *arche.World) {
	q := w.Query(s.filter)
	for q.Next() {
		p := column[components.ServerPrediction](&q, s.pred)
		a := &p.Pending
		if !a.Valid || a.Send {
			continue
		}
		if a.Stamp == 0 || !s.open(p) {
			a.Valid = false
			continue
		}
		a.Send = true
		p.LastAckedStamp = a.Stamp
		if a.AckGood {
			p.LastAckTime = s.clock.Now
			s.stats.AcksSent++
		} else {
			p.LastAdjustTime = s.clock.Now
			// A request lasts until an answer to it goes out: the next verdict
			// of the same tick, or the throttle, would else swallow it.
			p.ForceUpdate = false
			s.stats.CorrectionsOut[a.Reason]++
		}
	}
}

// open tells whether the throttle lets the pending answer out now.
func (s *Respond) open(p *components.ServerPrediction) bool {
	last, interval := p.LastAdjustTime, s.set.MinTimeBetweenAdjustments
	switch {
	case p.Pending.AckGood:
		last, interval = p.LastAckTime, s.set.MinTimeBetweenAcks
	case p.Pending.Large:
		interval = s.set.MinTimeBetweenLargeAdjustments
	}
	return last == 0 || s.clock.Now-last >= components.TicksFromSeconds(interval)
}

func (s *Respond) Finalize(*arche.World) {}
