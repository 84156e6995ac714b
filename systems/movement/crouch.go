package movement

import (
	"github.com/gaitnet/gait/components"
)

// standTolerance is by how much the test for standing up is thinner than the
// capsule, cm, so that a touched wall does not hold it down.
const standTolerance = 0.01

// updateCrouch follows the crouch button. Standing up is tried in every move
// until it fits.
func (c *Context) updateCrouch(st *StepState) {
	s, p := st.S, st.P
	wants := st.Flags.Has(components.FlagWantsToCrouch) && p.CanCrouch
	switch s.Mode {
	case components.ModeWalking, components.ModeFalling:
	default:
		wants = false
	}
	if wants != s.Crouched {
		c.crouch(st, wants, false)
	}
}

// SetCrouched crouches or stands up a character whose state says so already
// elsewhere: an onlooker applying a snapshot. Standing up is not tested. The
// place is taken as the capsule's centre of the new size, so it does not move.
func SetCrouched(c *Context, s *components.MovementState, p *components.MovementProfile, crouched bool) {
	if s.Crouched == crouched {
		return
	}
	s.Crouched = crouched
	s.Radius, s.HalfHeight = p.CapsuleRadius, p.CapsuleHalfHeight
	if crouched {
		s.HalfHeight = p.CrouchedHalfHeight
	}
}

func (c *Context) crouch(st *StepState, down, force bool) {
	s, p := st.S, st.P
	half := p.CapsuleHalfHeight
	if down {
		half = p.CrouchedHalfHeight
	}
	at := s.Location
	if s.Mode.Grounded() {
		at[2] += half - s.HalfHeight // feet kept; in the air the centre is
	}
	if !down && !force {
		q := c.query(st)
		q.Start, q.HalfHeight, q.Radius = at, half-standTolerance, s.Radius-standTolerance
		if c.overlap(q) {
			return
		}
	}
	s.Location, s.HalfHeight, s.Crouched = at, half, down
	st.FloorValid = false
	if down {
		c.emit(EventCrouched, st, s.Mode, s.Velocity)
	} else {
		c.emit(EventUncrouched, st, s.Mode, s.Velocity)
	}
}
