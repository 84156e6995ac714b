package movement

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// maxHold is the profile's hold time in ticks.
func maxHold(p *components.MovementProfile) components.Ticks {
	return components.TicksFromSeconds(p.JumpMaxHoldTime)
}

// holding tells whether the present jump is still being held up.
func holding(st *StepState) bool {
	s := st.S
	return st.Flags.Has(components.FlagJumpPressed) && s.WasJumping && s.JumpCount > 0 &&
		s.Mode == components.ModeFalling && s.JumpHold < maxHold(st.P)
}

// canJump tells whether a jump may begin: from the ground, or in the air while
// jumps are left. Walking off an edge uses up the first.
func canJump(s *components.MovementState, p *components.MovementProfile) bool {
	if s.Crouched {
		return false
	}
	switch s.Mode {
	case components.ModeWalking:
		return s.JumpCount < p.JumpMaxCount
	case components.ModeFalling:
		used := s.JumpCount
		if used == 0 {
			used = 1
		}
		return used < p.JumpMaxCount
	}
	return false
}

// updateJump reads the jump button. A press jumps once; while it stays down
// the jump is held for JumpMaxHoldTime without gravity.
func (c *Context) updateJump(st *StepState, span components.Ticks, dt float64) {
	s, p := st.S, st.P
	if !st.Flags.Has(components.FlagJumpPressed) {
		s.WasJumping = false
		return
	}
	if !s.WasJumping && canJump(s, p) {
		if s.Mode == components.ModeFalling && s.JumpCount == 0 {
			s.JumpCount = 1
		}
		s.JumpCount++
		s.JumpHold, s.WasJumping = 0, true
		if s.Velocity[2] < p.JumpZVelocity {
			s.Velocity[2] = p.JumpZVelocity
		}
		c.SetMode(st, components.ModeFalling)
		c.emit(EventJumped, st, s.Mode, exact.Add(s.Velocity, st.Impart))
	}
	if holding(st) {
		if left := maxHold(p) - s.JumpHold; left < span {
			st.HoldLeft = float64(left.Seconds() * s.TimeDilation)
		} else {
			st.HoldLeft = dt
		}
	}
}

// endJump counts the move's span to the hold.
func (c *Context) endJump(st *StepState, span components.Ticks) {
	if !holding(st) {
		return
	}
	if left := maxHold(st.P) - st.S.JumpHold; left < span {
		span = left
	}
	st.S.JumpHold += span
}

// endHold ends the held jump: something overhead stopped it.
func endHold(st *StepState) {
	st.HoldLeft = 0
	st.S.JumpHold = maxHold(st.P)
}
