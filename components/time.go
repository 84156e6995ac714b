package components

import "time"

// TicksPerSecond is the resolution of every clock in gait: 1/57,600 s. It is
// exact at 20, 30, 60, 120, 128, 144 and 240 Hz, so steps at those rates have
// no rounding at all, and 24 bits hold more than the 240 s between two resets
// of a move's time stamp.
const TicksPerSecond = 57600

// Ticks is a point in time or a span of it, in 1/57,600 s. As a point it
// counts from the start of the world (the server's world for server time).
type Ticks int64

// Second, for spans written as multiples: 3*Second/10.
const Second Ticks = TicksPerSecond

// Seconds is t in seconds. The division is correctly rounded, so it has equal
// bits on every target.
func (t Ticks) Seconds() float64 { return float64(t) / TicksPerSecond }

// Duration is t as a time.Duration, rounded towards zero to a nanosecond.
func (t Ticks) Duration() time.Duration {
	s, r := t/TicksPerSecond, t%TicksPerSecond
	return time.Duration(s)*time.Second + time.Duration(r)*time.Second/TicksPerSecond
}

// TicksOf converts a duration, rounded down to whole ticks: successive
// conversions of a growing time never run ahead of it.
func TicksOf(d time.Duration) Ticks {
	s, r := int64(d/time.Second), int64(d%time.Second)
	if r < 0 {
		s, r = s-1, r+int64(time.Second)
	}
	return Ticks(s*TicksPerSecond + r*TicksPerSecond/int64(time.Second))
}

// TicksFromSeconds rounds a span in seconds to the nearest tick. It is for
// settings; on the simulation's path time is an integer from the start. NaN
// gives 0, and what lies beyond 1e9 s is held there.
func TicksFromSeconds(s float64) Ticks {
	switch {
	case s != s:
		return 0
	case s > 1e9:
		s = 1e9
	case s < -1e9:
		s = -1e9
	}
	if s < 0 {
		return -Ticks(float64(-s*TicksPerSecond) + 0.5)
	}
	return Ticks(float64(s*TicksPerSecond) + 0.5)
}

// Stamp is the client's move time: ticks since the client's movement clock
// began, less 240 s for every reset. It is never 0 in a valid move and stays
// below 2*StampResetPeriod, which 25 bits hold; on the wire 24 bits suffice
// because a stamp is at most StampResetPeriod + MaxMoveDeltaTime.
type Stamp uint32

// StampResetPeriod is MinTimeBetweenTimeStampResets, 240 s. When the client's
// stamp passes it, the period is subtracted, and the server, which sees the
// stamp fall by more than half of it, subtracts it as well.
const StampResetPeriod Ticks = 240 * Second

// StampBits is the width of a stamp on the wire: (240 s + 0.125 s) x 57,600 =
// 13,831,200 < 2^24.
const StampBits = 24
