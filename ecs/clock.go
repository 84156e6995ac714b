package ecs

import (
	"fmt"
	"math"

	"github.com/gaitnet/gait/components"
)

// DefaultMaxSteps is the most fixed steps that one frame runs.
const DefaultMaxSteps = 8

// Rate is a number of steps a second as a fraction, so that 57,600 ticks need
// not be a multiple of it: 60 Hz is {60, 1}, NTSC's field rate {60000, 1001}.
type Rate struct{ Num, Den int64 }

// Hz is a whole number of steps a second.
func Hz(n int64) Rate { return Rate{n, 1} }

// String is the rate as "60 Hz" or "60000/1001 Hz".
func (r Rate) String() string {
	if r.Den == 1 {
		return fmt.Sprintf("%d Hz", r.Num)
	}
	return fmt.Sprintf("%d/%d Hz", r.Num, r.Den)
}

// check panics for a rate that no clock can keep: a step lasts at least one
// tick and at most a day.
func (r Rate) check() {
	const maxTerm = 1 << 40 // 57,600 x 2^40 fits in an int64
	if r.Num <= 0 || r.Den <= 0 || r.Num > maxTerm || r.Den > maxTerm {
		panic(fmt.Sprintf("ecs.Rate: %d/%d Hz: both terms must be within 1..2^40", r.Num, r.Den))
	}
	if r.Num/r.Den > components.TicksPerSecond ||
		(r.Num/r.Den == components.TicksPerSecond && r.Num%r.Den != 0) {
		panic(fmt.Sprintf("ecs.Rate: %v is above %d Hz, a step would be shorter than a tick", r, components.TicksPerSecond))
	}
	if r.Den/r.Num >= 86400 {
		panic(fmt.Sprintf("ecs.Rate: %v: a step would last a day or more", r))
	}
}

// CatchUp says what a fixed clock does with time that its frames cannot hold.
type CatchUp uint8

const (
	// DropTime drops whole steps beyond the cap and counts them: world time
	// falls behind the given time by DroppedTime. For whoever draws.
	DropTime CatchUp = iota
	// KeepTime loses nothing: the backlog is worked off later, MaxSteps a
	// frame. For a server whose world time others have been told.
	KeepTime
)

// Clock is the world's time, a resource (*ecs.Clock) that systems look up in
// Initialize and read in Update. Only an App, or a ClockSystem in a plain
// model, writes it. It never asks the machine for the time: Advance is told.
//
// In variable mode a frame is one step of dt = now - previous now, however
// long: the movement code splits or clamps long steps, the clock does not. In
// fixed mode a frame is as many equal steps as fit. A step has Dt > 0 always:
// a frame in which no time has passed, the first one among them, has no step.
//
// A step simulates the span (Now-Dt, Now].
type Clock struct {
	// Now is the world's time at the end of the current step, in ticks. In
	// Receive it is that of the step before, in Visual and Send that of the
	// last step. In variable mode it then equals FrameNow; in fixed mode it
	// lies behind FrameNow by what is not yet simulated, and by DroppedTime.
	Now components.Ticks
	// Dt is the length of the current or last step; 0 before the first.
	Dt components.Ticks
	// Step counts steps; the first is 1, 0 before it.
	Step uint64
	// StepInFrame is the current step's index in its frame, from 0, and
	// FrameSteps how many steps the frame has.
	StepInFrame, FrameSteps int

	// Frame counts frames; the first is 1.
	Frame uint64
	// FrameNow is the time given to Advance, held where it went backwards. It
	// is the time to use for sockets and timeouts, which go on when steps are
	// dropped.
	FrameNow components.Ticks
	// FrameDt is the time since the frame before; 0 in the first.
	FrameDt components.Ticks

	// Alpha is for drawing between the last two steps: previous + Alpha x
	// (current - previous). In fixed mode it is the share of the next step that
	// has passed without being simulated, 0 <= Alpha < 1, and 1 while a backlog
	// is worked off. In variable mode it is 1. Simulation must not read it.
	Alpha float64

	// Fixed is the mode. It does not change while the clock runs.
	Fixed bool

	// Overruns counts frames that wanted more steps than the cap.
	Overruns uint64
	// DroppedTime is the sum of what DropTime has dropped.
	DroppedTime components.Ticks
	// Backwards counts frames whose time lay before that of an earlier one.
	Backwards uint64

	catchUp  CatchUp
	maxSteps int
	rate     Rate
	whole    components.Ticks // whole ticks of a step
	rem, den int64            // and the fraction rem/den beyond them
	acc      int64            // fraction gathered so far, 0 <= acc < den
	pending  components.Ticks // given, not yet simulated
	planned  int              // steps of this frame not yet begun
	started  bool
}

// NewClock returns a clock that has not started: fixed with Fixed, else
// variable; MaxSteps and Catch apply to fixed mode.
func NewClock(opts ...Option) *Clock { return newConfig(opts).clock() }

func (c *config) clock() *Clock {
	k := &Clock{catchUp: c.catchUp, maxSteps: c.maxSteps, Alpha: 1}
	if c.fixed {
		r := c.rate
		k.Fixed, k.rate, k.Alpha = true, r, 0
		total := components.TicksPerSecond * r.Den
		k.whole, k.rem, k.den = components.Ticks(total/r.Num), total%r.Num, r.Num
	}
	return k
}

// Rate is the rate of a fixed clock, zero for a variable one.
func (c *Clock) Rate() Rate { return c.rate }

// stepLength is the length of the next step for a gathered fraction acc, and
// the fraction after it. Over den steps the lengths sum to exactly den/rate.
func (c *Clock) stepLength(acc int64) (components.Ticks, int64) {
	if acc += c.rem; acc >= c.den && c.rem != 0 {
		return c.whole + 1, acc - c.den
	}
	return c.whole, acc
}

// Advance begins a frame at the given time and returns how many steps it has.
// The first call starts the clock at now, whatever it is, and has none. A time
// before an earlier one is counted and taken for that earlier one. Each step
// then begins with NextStep; steps that are not taken stay pending.
func (c *Clock) Advance(now components.Ticks) (steps int) {
	c.Frame++
	c.StepInFrame = 0
	if !c.started {
		c.started = true
		c.Now, c.FrameNow = now, now
		c.planned, c.FrameSteps = 0, 0
		return 0
	}
	if now < c.FrameNow {
		c.Backwards++
		now = c.FrameNow
	}
	c.FrameDt = saturatingSub(now, c.FrameNow)
	c.FrameNow = now
	c.pending = saturatingAdd(c.pending, c.FrameDt)

	if !c.Fixed {
		if c.pending > 0 {
			steps = 1
		}
	} else {
		steps = c.planFixed()
	}
	c.planned, c.FrameSteps = steps, steps
	return steps
}

func (c *Clock) planFixed() (steps int) {
	rest, acc := c.pending, c.acc
	next, nextAcc := c.stepLength(acc)
	for rest >= next && steps < c.maxSteps {
		rest, acc = rest-next, nextAcc
		next, nextAcc = c.stepLength(acc)
		steps++
	}
	if rest >= next {
		c.Overruns++
		if c.catchUp == DropTime {
			// The part of a step stays, so that Alpha goes on smoothly.
			drop := rest - rest%c.whole
			c.DroppedTime = saturatingAdd(c.DroppedTime, drop)
			c.pending -= drop
			rest -= drop
		}
	}
	if rest >= next {
		c.Alpha = 1
	} else {
		c.Alpha = float64(rest) / float64(next)
	}
	return steps
}

// NextStep begins the next step of the frame and reports whether there is one:
//
//	clock.Advance(now)
//	for clock.NextStep() { ... }
func (c *Clock) NextStep() bool {
	if c.planned == 0 {
		return false
	}
	c.planned--
	c.StepInFrame = c.FrameSteps - c.planned - 1
	if c.Fixed {
		c.Dt, c.acc = c.stepLength(c.acc)
	} else {
		c.Dt = c.pending
	}
	c.pending -= c.Dt
	c.Now += c.Dt
	c.Step++
	return true
}

func saturatingAdd(a, b components.Ticks) components.Ticks {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// saturatingSub is a - b for a >= b.
func saturatingSub(a, b components.Ticks) components.Ticks {
	if d := a - b; d >= 0 {
		return d
	}
	return math.MaxInt64
}
