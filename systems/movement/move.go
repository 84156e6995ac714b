package movement

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// minTick is the least span that is simulated, s.
const minTick = 1e-6

// Move runs one move: jump and crouch buttons, acceleration clamped to the
// profile's maximum, the base's carry, the steps of the mode, the yaw. It is a
// pure function of state, command, profile and the geometry at the command's
// obstacle time. A state or command that is not finite is refused: the state
// stays as it was and EventInvalid is emitted. A span of zero or less does
// nothing.
func (c *Context) Move(s *components.MovementState, cmd *components.MoveCommand, p *components.MovementProfile) {
	c.NumEvents = 0
	c.Stats.Moves++
	if cmd.Dt <= 0 {
		return
	}
	st := &c.st
	*st = StepState{S: s, P: p, Flags: cmd.Flags, Control: cmd.Control.Unpack(), Time: cmd.ObstacleTime}
	if !validState(s) || !within(cmd.Acceleration, maxSpeed) || (s.Mode != components.ModeNone && c.mode(s.Mode) == nil) {
		c.refuse(st)
		return
	}
	dt := float64(cmd.Dt.Seconds() * s.TimeDilation)
	before := *s

	c.carry(st)
	if s.Mode != components.ModeNone {
		c.pushOut(st)
		c.updateJump(st, cmd.Dt, dt)
		c.updateCrouch(st)
	}
	takeInput(st, cmd)
	s.Acceleration = st.Accel
	c.simulate(st, dt)
	s.Velocity = exact.Add(s.Velocity, st.Impart)
	c.rotate(st, dt)
	c.endJump(st, cmd.Dt)
	RefreshBase(c.Geometry, s, st.Time)

	if !validState(s) {
		*s = before
		c.NumEvents = 0
		c.refuse(st)
	}
}

func (c *Context) refuse(st *StepState) {
	c.Stats.Invalid++
	c.emit(EventInvalid, st, st.S.Mode, Vec3{})
}

// simulate runs the mode's steps: each at most MaxSimulationTimeStep and half
// the rest, at most MaxSimulationIterations, the last taking the rest. The time
// that a step leaves because the mode changed goes to the next mode; so many
// changes are allowed that a fall, a landing and a step off an edge fit into
// one move, and no more.
func (c *Context) simulate(st *StepState, dt float64) {
	limit, maxStep := int(st.P.MaxSimulationIterations), st.P.MaxSimulationTimeStep
	changes := 0
	for i := 0; dt >= minTick && i < limit+changes; i++ {
		m := c.mode(st.S.Mode)
		if m == nil {
			return
		}
		t := dt
		if t > maxStep && i < limit+changes-1 {
			t = maxStep
			if dt/2 < t {
				t = dt / 2
			}
		}
		dt -= t
		st.Unused = 0
		c.Stats.Steps++
		m.Step(c, st, t)
		if st.Unused > 0 {
			if st.Unused > t {
				st.Unused = t
			}
			dt += st.Unused
			if changes < 4 {
				changes++
			}
		}
	}
}
