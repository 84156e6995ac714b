package nettest

import (
	"math"
	"math/bits"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// TurnRate is what a full turn axis turns, degrees a second.
const TurnRate = 180

// Turning is added up in whole numbers, so that a yaw does not depend on how
// frames cut the time: one unit is a millionth of full turn axis for a tick.
const (
	turnUnit = 1_000_000
	// fullCircle is 360 degrees in units: 2 s of full axis.
	fullCircle int64 = 360 / TurnRate * components.TicksPerSecond * turnUnit
)

// turnRate is a turn axis in units a tick.
func turnRate(turn float64) int64 { return int64(math.Round(turn * turnUnit)) }

// Sampler plays an Input to a client at any frame rate. A frame reads the rows
// that begin within its span, or where none does the one that its span lies
// in: its axes are the last such row's, its buttons all of theirs together, so
// that a press of one row is not lost at 30 frames a second. Turning is
// integrated over the span exactly, parts of rows included: wherever frames
// begin and end, the yaw at a time is the same bit for bit. At the end the
// recording starts again.
type Sampler struct {
	// StartYaw is the control yaw before the first turn, degrees.
	StartYaw float64

	in     *Input
	offset components.Ticks
	turned int64
}

// NewSampler plays in from offset on at time 0; the offset, of any sign and
// size, lets clients with one recording do different things.
func NewSampler(in *Input, offset components.Ticks) *Sampler {
	if in == nil || len(in.rows) == 0 {
		panic("nettest.Sampler: no input")
	}
	_, offset = in.split(offset)
	return &Sampler{in: in, offset: offset}
}

// Apply writes the input of the frame that began at now-dt and ends at now.
// Frames follow each other without gaps; a gap is skipped with its turning.
//
// Input.Vector becomes forward -MoveY and right MoveX (a stick pushed away
// from the player reads -1), Input.Control.Yaw the turned yaw (right is
// positive, as x is forward and y right), and the buttons FlagJumpPressed and
// FlagWantsToCrouch go through Input.SetButton. Sprint is ignored.
func (s *Sampler) Apply(in *components.Input, now, dt components.Ticks) {
	if dt < 0 {
		dt = 0
	}
	from, to := s.offset+now-dt, s.offset+now
	s.turned = (s.turned + s.in.turn(from, to)) % fullCircle

	// The rows that begin in [from, to), by their number without a loop.
	first, last := ceilDiv(int64(from), int64(rowTicks)), ceilDiv(int64(to), int64(rowTicks))-1
	if last < first {
		last = floorDiv(int64(from), int64(rowTicks))
		first = last
	}
	n := int64(len(s.in.rows))
	row := &s.in.rows[mod(last, n)]
	jump, crouch := row.Jump, row.Crouch
	for i := max(first, last-n+1); i < last; i++ {
		r := &s.in.rows[mod(i, n)]
		jump, crouch = jump || r.Jump, crouch || r.Crouch
	}
	in.Vector = components.Vec3{0 - row.MoveY, row.MoveX, 0}
	in.Control.Yaw = exact.NormalizeDeg(s.StartYaw + float64(s.turned)*360/float64(fullCircle))
	in.SetButton(components.FlagJumpPressed, jump)
	in.SetButton(components.FlagWantsToCrouch, crouch)
}

// Release lets go of stick and buttons and keeps looking where it looks: the
// standstill at the end of a run.
func (s *Sampler) Release(in *components.Input) {
	in.Vector = components.Vec3{}
	in.SetButton(components.FlagJumpPressed|components.FlagWantsToCrouch, false)
}

// split is the loop that a time lies in and the time within it.
func (in *Input) split(at components.Ticks) (loop int64, rest components.Ticks) {
	d := int64(in.Duration())
	loop = floorDiv(int64(at), d)
	return loop, at - components.Ticks(loop*d)
}

// turn is the turning from one time to another, in units.
func (in *Input) turn(from, to components.Ticks) int64 {
	loopA, a := in.split(from)
	loopB, b := in.split(to)
	// Both factors are reduced first: their product needs up to 74 bits.
	hi, lo := bits.Mul64(uint64(mod(in.turned[len(in.rows)], fullCircle)), uint64(mod(loopB-loopA, fullCircle)))
	return int64(bits.Rem64(hi, lo, uint64(fullCircle))) + in.turnedAt(b) - in.turnedAt(a)
}

// turnedAt is the turning from the start of the loop to a time within it.
func (in *Input) turnedAt(at components.Ticks) int64 {
	row := at / rowTicks
	t := in.turned[row]
	if rest := at - row*rowTicks; rest > 0 {
		t += turnRate(in.rows[row].Turn) * int64(rest)
	}
	return t
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }

func mod(a, b int64) int64 { return a - floorDiv(a, b)*b }
