package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// judge compares a new move's claim with where the server arrived and leaves
// the verdict in the one slot, over an older one of the same tick.
func (s *ServerVerify) judge(v *verified, md *components.MoveData, cmd *components.MoveCommand, profile *components.MovementProfile) {
	p := v.pred
	claim, baseKnown := s.claimInWorld(md, cmd.ObstacleTime)
	if s.Observer != nil && baseKnown {
		s.Observer.Verdict(v.char.ID, cmd.Stamp, v.state, claim)
	}
	if s.throttled(p) {
		return
	}
	s.stats.Verdicts++
	reason, errSq := s.clientError(v, md, claim, baseKnown, profile)
	s.noteGround(v)
	if reason == components.CorrectPosition && s.trusted(v, md, errSq) && s.adopt(v, md, claim, cmd.ObstacleTime) {
		reason = components.CorrectNone
	}
	if debugBuild && reason == components.CorrectNone && s.forced.fires(s.debug) {
		reason = components.CorrectForced
	}
	large := float64(s.set.LargeCorrectionDistance * s.set.LargeCorrectionDistance)
	p.Pending = components.PendingAdjustment{
		Stamp: cmd.Stamp, Valid: true, AckGood: reason == components.CorrectNone, Reason: reason,
		ErrorSq: errSq, Large: errSq > large,
	}
	if !p.Pending.AckGood {
		p.Pending.State = *v.state
		return
	}
	if s.set.UseAuthoritativeClientPosition {
		s.adopt(v, md, claim, cmd.ObstacleTime)
	}
}

// throttled tells whether a comparison is not due yet
// (WithinUpdateDelayBounds with ClientErrorUpdateRateLimit).
func (s *ServerVerify) throttled(p *components.ServerPrediction) bool {
	if s.set.ClientErrorUpdateRateLimit <= 0 {
		return false
	}
	if s.clock.Now-p.LastCheckTime < components.TicksFromSeconds(s.set.ClientErrorUpdateRateLimit) {
		return true
	}
	p.LastCheckTime = s.clock.Now
	return false
}

// claimInWorld carries a base-relative claim to world axes at the move's
// obstacle time; false for a base that does not exist.
func (s *ServerVerify) claimInWorld(md *components.MoveData, at components.Ticks) (components.Vec3, bool) {
	if md.ClaimBase == 0 {
		return md.Claim, true
	}
	pose, ok := s.ctx.Geometry.BasePose(md.ClaimBase, at)
	if !ok {
		return md.Claim, false
	}
	return exact.Add(pose.Location, exact.RotateYaw(md.Claim, pose.Yaw)), true
}

// clientError is the reason why a claim is refused, CorrectNone for a good
// one, and the squared distance in cm².
func (s *ServerVerify) clientError(v *verified, md *components.MoveData, claim components.Vec3, baseKnown bool, profile *components.MovementProfile) (components.CorrectionReason, float64) {
	if !baseKnown {
		return components.CorrectBase, 0
	}
	errSq := exact.DistSq(claim, v.state.Location)
	d := &v.pred.Discrepancy
	most := profile.MaxAcceleration + accelRounding
	switch {
	case v.pred.ForceUpdate:
		return components.CorrectRequested, errSq
	case d.Resolving && s.set.ForceCorrectionsDuringResolution:
		return components.CorrectDiscrepancy, errSq
	case exact.LenSq(md.Cmd.Acceleration) > float64(most*most):
		// No honest owner asks for more; the step clamped it.
		return components.CorrectAcceleration, errSq
	case !(errSq <= s.set.MaxPositionErrorSquared):
		return components.CorrectPosition, errSq
	case md.ClaimMode != v.state.Mode:
		return components.CorrectMode, errSq
	}
	return components.CorrectNone, errSq
}

// accelRounding covers what rounding to tenths adds to the largest acceleration
// and what a stick's own grid does, cm/s².
const accelRounding = 1

// noteGround opens the trust window when the character has landed, left the
// ground or changed its base here: what the owner claims to stand on does not
// open it.
func (s *ServerVerify) noteGround(v *verified) {
	t := &v.pred.Trust
	falling := v.state.Mode == components.ModeFalling
	if v.state.Base != t.LastBase || falling != t.Falling {
		t.Until = s.clock.Now + components.TicksFromSeconds(baseChangeWindow)
	}
	t.LastBase, t.Falling = v.state.Base, falling
}

// trusted tells whether the owner is believed although it is off: for a while
// after a change of base, and in the air within the leash.
func (s *ServerVerify) trusted(v *verified, md *components.MoveData, errSq float64) bool {
	t, now := &v.pred.Trust, s.clock.Now
	falling := t.Falling
	if d := s.set.ClientAuthorityThresholdOnBaseChange; d > 0 && now <= t.Until && errSq <= float64(d*d) {
		return true
	}
	if s.set.DeferServerCorrectionsWhenFalling && falling && md.ClaimMode == components.ModeFalling {
		d := s.set.MaxFallingCorrectionLeash + s.set.MaxFallingCorrectionBuffer
		return s.set.MaxFallingCorrectionLeash > 0 && errSq <= float64(d*d)
	}
	return false
}

// baseChangeWindow is how long a change of base or of the ground keeps the
// trust window open, s: two of the reference's 10 Hz answers.
const baseChangeWindow = 0.2

// adopt takes the owner's place, mode and base; false where something stands
// in the place.
func (s *ServerVerify) adopt(v *verified, md *components.MoveData, claim components.Vec3, at components.Ticks) bool {
	q := &s.probe
	q.Start, q.Radius, q.HalfHeight = claim, v.state.Radius, v.state.HalfHeight
	q.Time, q.Scene, q.Ignore = at, v.char.Scene, v.state.Base
	if s.ctx.Geometry.Overlap(q) {
		return false
	}
	st := v.state
	ground := md.ClaimMode == components.ModeWalking || md.ClaimMode == components.ModeFalling
	if md.ClaimMode != st.Mode && !(ground && (st.Mode == components.ModeWalking || st.Mode == components.ModeFalling)) {
		return false // to leave or reach the ground is trusted, to fly is not
	}
	st.Location, st.Mode = claim, md.ClaimMode
	st.Base, st.BaseLocation, st.BaseYaw = 0, components.Vec3{}, 0
	if pose, ok := s.ctx.Geometry.BasePose(md.ClaimBase, at); ok && md.ClaimBase != 0 {
		st.Base, st.BaseLocation = md.ClaimBase, md.Claim
		st.BaseYaw = exact.NormalizeDeg(st.Rotation.Yaw - pose.Yaw)
	}
	s.stats.Adopted++
	return true
}
