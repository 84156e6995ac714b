package collision

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// ErrObstacle is wrapped by every complaint about an obstacle.
var ErrObstacle = errors.New("obstacle")

// checkObstacle refuses what no query could work with.
func checkObstacle(o components.Obstacle, m components.ObstacleMotion) error {
	switch {
	case o.ID == 0:
		return fmt.Errorf("%w: id 0 is no obstacle", ErrObstacle)
	case !(o.HalfExtents[0] >= 1e-3 && o.HalfExtents[1] >= 1e-3 && o.HalfExtents[2] >= 1e-3) ||
		!inRange(o.HalfExtents, maxCapsule):
		return fmt.Errorf("%w %d: half extents are %v, must lie within 0.001..1e6 cm", ErrObstacle, o.ID, o.HalfExtents)
	case !inRange(m.Origin, MaxCoordinate) || !inRange(m.Travel, MaxCoordinate):
		return fmt.Errorf("%w %d: origin %v, travel %v", ErrObstacle, o.ID, m.Origin, m.Travel)
	case !(math.Abs(m.Yaw) <= 1e6) || !(math.Abs(m.YawRate) <= 1e6):
		return fmt.Errorf("%w %d: yaw %v, yaw rate %v", ErrObstacle, o.ID, m.Yaw, m.YawRate)
	case m.Kind > components.MotionKeyframes:
		return fmt.Errorf("%w %d: motion kind %d", ErrObstacle, o.ID, m.Kind)
	case m.Period < 0 || m.Dwell < 0 || m.Period > 1<<40 || m.Dwell > 1<<40:
		return fmt.Errorf("%w %d: period %d, dwell %d ticks", ErrObstacle, o.ID, m.Period, m.Dwell)
	}
	return nil
}

// wrap is t modulo period, never negative.
func wrap(t, period components.Ticks) components.Ticks {
	if t %= period; t < 0 {
		t += period
	}
	return t
}

// PoseAt is where a motion is at a server time: a pure function with equal
// bits on every target, as exact after weeks as at the start. Keyframes are
// the World's; for them it gives the origin.
func PoseAt(m *components.ObstacleMotion, t components.Ticks) components.Pose {
	t += m.Phase
	pose := components.Pose{Location: m.Origin, Yaw: exact.NormalizeDeg(m.Yaw + turnedBy(m.YawRate, t))}
	if m.Kind == components.MotionShuttle {
		if s, _ := shuttle(m, t); s > 0 {
			pose.Location = exact.AddScaled(m.Origin, m.Travel, s)
		}
	}
	return pose
}

// fullTurn is 360 degrees in degree-ticks per degree/s.
const fullTurn = 360 * components.TicksPerSecond

// turnedBy is the angle that a rate (degrees/s) turns in t, less whole turns
// where they are a whole number of ticks.
func turnedBy(rate float64, t components.Ticks) float64 {
	if rate == 0 {
		return 0
	}
	if p := math.Floor(fullTurn / math.Abs(rate)); p >= 1 && float64(p*math.Abs(rate)) == fullTurn {
		t = wrap(t, components.Ticks(p))
	}
	// Whole seconds first: their product is exact for rates with few digits,
	// and otherwise off by a part in 2^53.
	s, rest := t/components.Second, t%components.Second
	return exact.NormalizeDeg(float64(rate*float64(s))) + float64(rate*float64(rest))/components.TicksPerSecond
}

// shuttle is how much of Travel is done, 0..1, and which way it goes: 1, 0 or
// -1. It rests at the origin first.
func shuttle(m *components.ObstacleMotion, t components.Ticks) (float64, float64) {
	if m.Period <= 0 || m.Period <= 2*m.Dwell {
		return 0, 0
	}
	// In half ticks, so that an odd period has two equal halves.
	moving := m.Period - 2*m.Dwell // the half ticks of one way
	u := 2*wrap(t, m.Period) - 2*m.Dwell
	switch {
	case u < 0:
		return 0, 0
	case u < moving:
		return float64(u) / float64(moving), 1
	case u < moving+2*m.Dwell:
		return 1, 0
	default:
		u -= moving + 2*m.Dwell
		return float64(moving-u) / float64(moving), -1
	}
}

// velocityAt is the derivative of PoseAt: of the place in cm/s and of the yaw
// in degrees/s. At a corner of the path it is that of what follows.
func velocityAt(m *components.ObstacleMotion, t components.Ticks) (Vec3, float64) {
	if m.Kind != components.MotionShuttle {
		return Vec3{}, m.YawRate
	}
	_, dir := shuttle(m, t+m.Phase)
	if dir == 0 {
		return Vec3{}, m.YawRate
	}
	// One way takes (Period/2 - Dwell) ticks.
	rate := float64(dir*2*components.TicksPerSecond) / float64(m.Period-2*m.Dwell)
	return exact.Scale(m.Travel, rate), m.YawRate
}

func sortedScripted(s []Scripted) []Scripted {
	out := slices.Clone(s)
	slices.SortFunc(out, func(a, b Scripted) int { return cmp.Compare(a.Obstacle.ID, b.Obstacle.ID) })
	return out
}

func hashScripted(h *hasher, s Scripted) {
	o, m := &s.Obstacle, &s.Motion
	h.word(uint64(o.ID))
	h.word(uint64(o.Scene))
	h.vec(o.HalfExtents)
	h.word(uint64(m.Kind))
	h.vec(m.Origin)
	h.vec(m.Travel)
	h.float(m.Yaw)
	h.float(m.YawRate)
	h.word(uint64(m.Period))
	h.word(uint64(m.Dwell))
	h.word(uint64(m.Phase))
}
