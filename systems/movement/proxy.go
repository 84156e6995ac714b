package movement

import (
	"github.com/gaitnet/gait/components"
)

// SimulateProxy carries an onlooker's copy on by its replicated velocity for
// dt, without input: it rides its base at the obstacle time, keeps to floors,
// climbs steps, slides along walls, falls and lands. The velocity on the ground
// is never changed; one that is zero stops it. Events are those of Move, for
// animation at most.
func (c *Context) SimulateProxy(s *components.MovementState, dt components.Ticks, at components.Ticks, p *components.MovementProfile) {
	c.NumEvents = 0
	c.Stats.Moves++
	if dt <= 0 {
		return
	}
	st := &c.st
	*st = StepState{S: s, P: p, Time: at, Proxy: true, Analog: 1}
	if !validState(s) || (s.Mode != components.ModeNone && c.mode(s.Mode) == nil) {
		c.refuse(st)
		return
	}
	before := *s
	c.carry(st)
	if s.Mode == components.ModeFalling || s.Velocity != (Vec3{}) {
		c.simulate(st, float64(dt.Seconds()*s.TimeDilation))
	}
	RefreshBase(c.Geometry, s, at)
	if !validState(s) {
		*s = before
		c.NumEvents = 0
		c.refuse(st)
	}
}
