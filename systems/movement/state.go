package movement

import (
	"math"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// InitialState is a standing character of a profile with its capsule's centre
// at a place (cm) and a yaw (degrees): walking, at rest, gravity down.
func InitialState(p *components.MovementProfile, at Vec3, yaw float64) components.MovementState {
	return components.MovementState{
		Location:     at,
		Rotation:     components.Rotator{Yaw: exact.NormalizeDeg(yaw)},
		GravityDir:   Vec3{0, 0, -1},
		Radius:       p.CapsuleRadius,
		HalfHeight:   p.CapsuleHalfHeight,
		TimeDilation: 1,
		Mode:         components.ModeWalking,
	}
}

// The bounds of a state that a step works with; beyond them it is refused.
const (
	maxPlace = 1e10 // cm
	maxSpeed = 1e7  // cm/s
)

func within(v Vec3, bound float64) bool {
	for _, x := range v {
		if !(x >= -bound && x <= bound) { // false for NaN
			return false
		}
	}
	return true
}

// validState tells whether a step can work with s.
func validState(s *components.MovementState) bool {
	return within(s.Location, maxPlace) && within(s.Velocity, maxSpeed) &&
		within(s.Acceleration, maxSpeed) && within(s.GravityDir, 2) && within(s.BaseLocation, maxPlace) &&
		within(Vec3{s.Rotation.Pitch, s.Rotation.Yaw, s.Rotation.Roll}, 1e6) && within(Vec3{s.BaseYaw}, 1e6) &&
		s.Radius > 0 && s.Radius <= 1e4 && s.HalfHeight >= s.Radius && s.HalfHeight <= 1e4 &&
		s.TimeDilation >= 0 && s.TimeDilation <= 1e3
}

// HashState mixes every bit of a state into h: floats by their bit patterns,
// field by field in the order of the type. Start with any h, 0 for instance;
// equal on every target.
func HashState(h uint64, s *components.MovementState) uint64 {
	vec := func(h uint64, v Vec3) uint64 {
		return mix(mix(mix(h, math.Float64bits(v[0])), math.Float64bits(v[1])), math.Float64bits(v[2]))
	}
	h = vec(h, s.Location)
	h = vec(h, s.Velocity)
	h = vec(h, s.Acceleration)
	h = vec(h, s.GravityDir)
	h = vec(h, Vec3{s.Rotation.Pitch, s.Rotation.Yaw, s.Rotation.Roll})
	h = mix(h, uint64(s.Base))
	h = vec(h, s.BaseLocation)
	h = mix(h, math.Float64bits(s.BaseYaw))
	h = mix(h, math.Float64bits(s.Radius))
	h = mix(h, math.Float64bits(s.HalfHeight))
	h = mix(h, math.Float64bits(s.TimeDilation))
	h = mix(h, uint64(s.JumpHold))
	bits := uint64(s.JumpCount)<<8 | uint64(s.Mode)<<16
	if s.WasJumping {
		bits |= 1
	}
	if s.Crouched {
		bits |= 2
	}
	return mix(h, bits)
}

// mix is one FNV-1a step over a 64-bit word, its high half folded down so that
// later words reach every bit.
func mix(h, w uint64) uint64 {
	h = (h ^ w ^ 14695981039346656037) * 1099511628211
	return h ^ h>>29
}
