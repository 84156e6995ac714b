package movement

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
)

// baseVelocityWindow is the span over which a base's velocity is measured.
const baseVelocityWindow = components.TicksPerSecond / 120

// WorldFromBase is where a character's base has it at a time: the world place
// and the yaw in degrees. False where it has no base or the base is unknown.
func WorldFromBase(geo collision.Geometry, s *components.MovementState, at components.Ticks) (Vec3, float64, bool) {
	if s.Base == 0 {
		return s.Location, s.Rotation.Yaw, false
	}
	pose, ok := geo.BasePose(s.Base, at)
	if !ok {
		return s.Location, s.Rotation.Yaw, false
	}
	return exact.Add(pose.Location, exact.RotateYaw(s.BaseLocation, pose.Yaw)), exact.NormalizeDeg(pose.Yaw + s.BaseYaw), true
}

// RefreshBase writes BaseLocation and BaseYaw from the world place and the
// base's pose at a time. Without a base they are zero. False where the base is
// unknown: they stay as they were.
func RefreshBase(geo collision.Geometry, s *components.MovementState, at components.Ticks) bool {
	if s.Base == 0 {
		s.BaseLocation, s.BaseYaw = Vec3{}, 0
		return true
	}
	pose, ok := geo.BasePose(s.Base, at)
	if !ok {
		return false
	}
	s.BaseLocation = exact.RotateYaw(exact.Sub(s.Location, pose.Location), -pose.Yaw)
	s.BaseYaw = exact.NormalizeDeg(s.Rotation.Yaw - pose.Yaw)
	return true
}

// baseVelocity is the velocity of the base's point that is at a world place,
// turning included, cm/s.
func (c *Context) baseVelocity(base components.NetID, point Vec3, at components.Ticks) Vec3 {
	if base == 0 {
		return Vec3{}
	}
	now, ok := c.Geometry.BasePose(base, at)
	if !ok {
		return Vec3{}
	}
	old, ok := c.Geometry.BasePose(base, at-baseVelocityWindow)
	if !ok {
		return Vec3{}
	}
	local := exact.RotateYaw(exact.Sub(point, now.Location), -now.Yaw)
	then := exact.Add(old.Location, exact.RotateYaw(local, old.Yaw))
	return exact.Scale(exact.Sub(point, then), components.TicksPerSecond/baseVelocityWindow)
}

// setBase changes the base. The velocity goes over from the old base's frame to
// the new one's (base 0: the world's). The carry has already moved the
// character with its base to the end of the move, so the velocity of a base
// that is left for the air waits in st.Impart for the move's end.
func (c *Context) setBase(st *StepState, base components.NetID) {
	s := st.S
	if s.Base == base {
		return
	}
	if st.P.ImpartBaseVelocity && !st.Proxy {
		old := c.baseVelocity(s.Base, s.Location, st.Time)
		if base == 0 && !s.Mode.Grounded() {
			st.Impart = exact.Add(st.Impart, old)
		} else {
			v := exact.Sub(exact.Add(s.Velocity, old), c.baseVelocity(base, s.Location, st.Time))
			v[2] = 0
			s.Velocity = v
		}
	}
	s.Base = base
	c.emit(EventBaseChanged, st, s.Mode, exact.Add(s.Velocity, st.Impart))
}

// board takes the floor of a landing, unused seconds before the move's end. For
// those the new base goes on below the character, and a base left in the same
// move does not.
func (c *Context) board(st *StepState, f Floor, unused float64) {
	s := st.S
	was := st.Impart
	s.Velocity = exact.Add(s.Velocity, was)
	s.Velocity[2] = 0
	st.Impart = Vec3{}
	c.takeFloor(st, f)
	if st.Proxy || !st.P.ImpartBaseVelocity || !(s.TimeDilation > 0) || (s.Base == 0 && was == (Vec3{})) {
		return
	}
	way := exact.Scale(exact.Sub(c.baseVelocity(s.Base, s.Location, st.Time), was), unused/s.TimeDilation)
	way[2] = 0
	if exact.LenSq(way) < 1e-12 {
		return
	}
	if _, hit := c.sweepMove(st, way, s.Base); !hit.StartPenetrating {
		st.FloorValid = false
	}
}

// carry moves the character with its base to the obstacle time: place, yaw, and
// the velocity's direction, the base itself ignored. A base that is gone leaves
// the character where it was.
func (c *Context) carry(st *StepState) {
	s := st.S
	if s.Base == 0 {
		return
	}
	switch s.Mode { // set from outside while it stood on a base
	case components.ModeFalling, components.ModeFlying, components.ModeSwimming:
		s.Base = 0
		return
	}
	to, yaw, ok := WorldFromBase(c.Geometry, s, st.Time)
	if !ok {
		s.Base = 0
		c.emit(EventBaseChanged, st, s.Mode, s.Velocity)
		return
	}
	if turn := exact.NormalizeDeg(yaw - s.Rotation.Yaw); turn > 1e-9 || turn < -1e-9 {
		s.Rotation.Yaw = yaw
		s.Velocity = exact.RotateYaw(s.Velocity, turn)
	}
	delta := exact.Sub(to, s.Location)
	if exact.LenSq(delta) < 1e-18 {
		return
	}
	f, hit := c.sweepMove(st, delta, s.Base)
	if hit.StartPenetrating {
		if c.depenetrate(st) {
			c.sweepMove(st, delta, s.Base)
		}
		return
	}
	if f < 1 && !hit.StartPenetrating {
		// Along what stopped it: a wall beside a lift does not hold its rider.
		rest := exact.RejectOn(exact.Scale(delta, 1-f), hit.Normal)
		if exact.Dot(rest, delta) > 0 {
			c.sweepMove(st, rest, s.Base)
		}
	}
}
