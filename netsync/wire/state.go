package wire

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

// An exact state is every field that the next step reads, each with all its
// bits: whatever simulates from it goes on as its sender does. What has its
// usual value takes one bit.

// Bounds of a state, within which a step can work.
const (
	maxPlace    = 1e10 // cm
	maxSpeed    = 1e7  // cm/s, cm/s²
	maxCapsule  = 1e4  // cm
	maxDegrees  = 1e6
	maxDilation = 1e3
	holdBits    = 8

	usualRadius, usualHalfHeight = 34, 88
)

func within(v components.Vec3, bound float64) bool {
	for _, x := range v {
		if !(x >= -bound && x <= bound) { // false for NaN
			return false
		}
	}
	return true
}

// writeState writes s exactly: 24 bits at rest at the origin, about 580 in
// motion, 1,600 at most.
func writeState(w *bits.Writer, s *components.MovementState) {
	if !legalState(s) {
		w.Refuse()
		return
	}
	w.WriteVec3Exact(s.Location)
	w.WriteVec3Exact(s.Velocity)
	w.WriteVec3Exact(s.Acceleration)
	w.WriteNormal(s.GravityDir)
	w.WriteFinite(s.Rotation.Yaw)
	w.WriteFinite(s.Rotation.Pitch)
	w.WriteFinite(s.Rotation.Roll)
	writeBase(w, s.Base)
	w.WriteVec3Exact(s.BaseLocation)
	w.WriteFinite(s.BaseYaw)
	usual := s.Radius == usualRadius && s.HalfHeight == usualHalfHeight && s.TimeDilation == 1
	w.WriteBool(!usual)
	if !usual {
		w.WriteFinite(s.Radius)
		w.WriteFinite(s.HalfHeight)
		w.WriteFinite(s.TimeDilation)
	}
	w.WriteResidual(int64(s.JumpHold), holdBits)
	w.WriteUint(uint64(s.JumpCount), 0)
	w.WriteBool(s.WasJumping)
	writeMode(w, s.Mode)
	w.WriteBool(s.Crouched)
}

func readState(t *track, s *components.MovementState) {
	r := t.r
	*s = components.MovementState{}
	t.at("location")
	s.Location = r.ReadVec3Exact()
	t.check(within(s.Location, maxPlace))
	t.at("velocity")
	s.Velocity = r.ReadVec3Exact()
	t.check(within(s.Velocity, maxSpeed))
	t.at("acceleration")
	s.Acceleration = r.ReadVec3Exact()
	t.check(within(s.Acceleration, maxSpeed))
	t.at("gravity")
	s.GravityDir = r.ReadNormal()
	t.at("rotation")
	s.Rotation.Yaw, s.Rotation.Pitch, s.Rotation.Roll = r.ReadFinite(), r.ReadFinite(), r.ReadFinite()
	t.check(within(components.Vec3{s.Rotation.Yaw, s.Rotation.Pitch, s.Rotation.Roll}, maxDegrees))
	t.at("base")
	s.Base = readBase(r)
	s.BaseLocation = r.ReadVec3Exact()
	s.BaseYaw = r.ReadFinite()
	t.check(within(s.BaseLocation, maxPlace) && within(components.Vec3{s.BaseYaw}, maxDegrees))
	t.at("capsule")
	s.Radius, s.HalfHeight, s.TimeDilation = usualRadius, usualHalfHeight, 1
	if r.ReadBool() {
		s.Radius, s.HalfHeight, s.TimeDilation = r.ReadFinite(), r.ReadFinite(), r.ReadFinite()
		t.check(legalCapsule(s) && !(s.Radius == usualRadius && s.HalfHeight == usualHalfHeight && s.TimeDilation == 1))
	}
	t.at("jump")
	s.JumpHold = components.Ticks(r.ReadResidual(holdBits))
	count := r.ReadUint(0)
	t.check(count < 1<<8)
	s.JumpCount = uint8(count)
	s.WasJumping = r.ReadBool()
	t.at("mode")
	s.Mode = readMode(r)
	s.Crouched = r.ReadBool()
}

func legalCapsule(s *components.MovementState) bool {
	return s.Radius > 0 && s.Radius <= maxCapsule && s.HalfHeight >= s.Radius && s.HalfHeight <= maxCapsule &&
		s.TimeDilation >= 0 && s.TimeDilation <= maxDilation
}

func legalState(s *components.MovementState) bool {
	return within(s.Location, maxPlace) && within(s.Velocity, maxSpeed) && within(s.Acceleration, maxSpeed) &&
		within(components.Vec3{s.Rotation.Yaw, s.Rotation.Pitch, s.Rotation.Roll}, maxDegrees) &&
		within(s.BaseLocation, maxPlace) && within(components.Vec3{s.BaseYaw}, maxDegrees) && legalCapsule(s)
}
