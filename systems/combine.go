package systems

import (
	"math"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// canCombine tells whether old, the pending move, and next, which follows it,
// can be made one move without changing what they do beyond the step's own
// rounding. next has not run yet: only its start and its command are known.
func canCombine(old, next *components.SavedMove, set *components.Settings) bool {
	switch {
	case !set.EnableMoveCombining || old.ForceNoCombine || next.ForceNoCombine,
		old.OldTimeStampBeforeReset || old.Sent,
		old.Cmd.Flags != next.Cmd.Flags,
		old.Cmd.Profile != next.Cmd.Profile,
		old.Cmd.Dt+next.Cmd.Dt > set.MaxMove(),
		old.MaxSpeed != next.MaxSpeed,
		old.Start.Mode != old.End.Mode || old.Start.Mode != next.Start.Mode,
		old.Start.Crouched != old.End.Crouched || old.Start.Crouched != next.Start.Crouched,
		old.Start.JumpCount != next.Start.JumpCount,
		!sameDirection(old.Cmd.Acceleration, next.Cmd.Acceleration, set.AccelDotThresholdCombine):
		return false
	}
	// A rider combines only while it stands still on its base: otherwise the
	// base's movement would be split differently.
	if old.Start.Base != next.Start.Base || old.Start.Base != old.End.Base {
		return false
	}
	if old.Start.Base != 0 {
		d := exact.Sub(next.Start.BaseLocation, old.Start.BaseLocation)
		yaw := math.Abs(exact.NormalizeDeg(next.Start.BaseYaw - old.Start.BaseYaw))
		return exact.Len(d) <= set.CombineAttachedLocation && yaw <= set.CombineAttachedRotation
	}
	return true
}

// sameDirection: both zero, or both not and within the cosine.
func sameDirection(a, b components.Vec3, cos float64) bool {
	if a == b {
		return true
	}
	na, nb := exact.SafeNormal(a), exact.SafeNormal(b)
	if na == (components.Vec3{}) || nb == (components.Vec3{}) {
		return false
	}
	return exact.Dot(na, nb) >= cos
}

// IsImportantMove tells whether a move differs so much from the last one that
// the server has answered that losing it would be felt: it is then repeated in
// every packet until it is answered. Without a last answered move every move
// is important.
func IsImportantMove(m *components.SavedMove, q *components.MoveQueue, set *components.Settings) bool {
	if !q.HasLastAcked {
		return true
	}
	last := &q.LastAcked
	if m.Cmd.Flags != last.Cmd.Flags || m.End.Mode != last.End.Mode || m.Cmd.Profile != last.Cmd.Profile || m.Events > 0 {
		return true
	}
	if dv := exact.Dist(m.End.Velocity, m.Start.Velocity); dv > float64(suddenAcceleration*m.Cmd.Dt.Seconds()) {
		return true
	}
	if exact.DistSq(m.Cmd.Acceleration, last.Cmd.Acceleration) > float64(set.AccelMagThreshold*set.AccelMagThreshold) {
		return true
	}
	return !sameDirection(m.Cmd.Acceleration, last.Cmd.Acceleration, set.AccelDotThreshold)
}

// suddenAcceleration is the change of velocity, cm/s², that input, friction and
// gravity do not reach with the reference's character (braking from 600 cm/s
// has 11,650): a wall, a base, a push.
const suddenAcceleration = 15000

// OldMove is the index of the oldest important unanswered move before the
// first that a container carries anyway; -1 if there is none.
func OldMove(q *components.MoveQueue, before int, set *components.Settings) int {
	for i := 0; i < before; i++ {
		if IsImportantMove(q.At(i), q, set) {
			return i
		}
	}
	return -1
}
