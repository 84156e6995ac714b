package nettest

import (
	"math"

	"github.com/gaitnet/gait/components/exact"
)

// stickSteps is the resolution of a generated axis: 1/80, as common gamepads
// report it. deadZone is what a stick's rest hides, in steps.
const (
	stickSteps = 80
	deadZone   = 23
)

// GenerateInput makes up input as human hands give it, so that a run needs no
// recording: the stick is pushed within a few rows, held with a tremble, moved
// on or let go, sometimes for a pause; now and then a turn, jumps tapped or
// held, crouches. Equal seeds give equal rows on every target. It lasts seconds,
// at least one row and at most 24 hours.
func GenerateInput(seed uint64, seconds float64) *Input {
	rows := 1
	if n := seconds * InputRate; n > 1 {
		rows = int(math.Min(math.Round(n), maxInputRows))
	}
	g := generator{rng: rng(seed)}
	g.hold = 30 // half a second at rest
	g.turnWait, g.jump.wait, g.crouch.wait = g.between(100, 250), g.between(40, 120), g.between(150, 400)
	out := make([]InputRow, rows)
	for i := range out {
		out[i] = g.row()
	}
	return newInput(out)
}

type generator struct {
	rng
	// The stick in steps, where it goes, how many rows it takes to get there,
	// and how many it then stays.
	x, y, toX, toY int
	ramp, hold     int
	angle          int

	turn, toTurn            int
	turnRamp, turnHold      int
	turnWait                int
	jump, crouch, sprinting button
}

type button struct{ wait, held int }

func (g *generator) row() InputRow {
	g.stick()
	g.turning()
	jump := g.press(&g.jump, func() (held, wait int) {
		if g.below(100) < 75 {
			return g.between(1, 14), g.between(20, 160)
		}
		return g.between(20, 60), g.between(30, 200)
	})
	crouch := g.press(&g.crouch, func() (held, wait int) { return g.between(4, 70), g.between(90, 420) })
	sprint := g.press(&g.sprinting, func() (held, wait int) { return g.between(60, 240), g.between(300, 900) })
	x, y := g.x, g.y
	if g.ramp == 0 && (x != 0 || y != 0) { // a thumb trembles
		x, y = x+g.tremble(), y+g.tremble()
	}
	return InputRow{
		MoveX: axis(x), MoveY: axis(y), Turn: float64(g.turn) / stickSteps,
		Jump: jump, Crouch: crouch, Sprint: sprint,
	}
}

func axis(steps int) float64 {
	if steps > -deadZone && steps < deadZone {
		return 0
	}
	return float64(max(-stickSteps, min(stickSteps, steps))) / stickSteps
}

func (g *generator) stick() {
	if g.ramp == 0 {
		if g.hold > 0 {
			g.hold--
			return
		}
		g.aim()
	}
	g.x += (g.toX - g.x) / g.ramp
	g.y += (g.toY - g.y) / g.ramp
	g.ramp--
}

// aim picks the next place of the stick: let go, moved on by some angle, or
// thrown somewhere else.
func (g *generator) aim() {
	rest := g.toX == 0 && g.toY == 0
	switch n := g.below(100); {
	case !rest && n < 18:
		g.toX, g.toY = 0, 0
		g.ramp, g.hold = g.between(1, 3), g.between(4, 90)
		return
	case !rest && n < 60: // on along the rim
		g.angle += g.between(-60, 60)
		g.ramp, g.hold = g.between(4, 18), g.between(2, 70)
	default:
		// Forward is the most frequent way, and right at -y.
		g.angle = -90 + g.between(-130, 130)
		if g.below(4) == 0 {
			g.angle = g.below(8) * 45
		}
		g.ramp, g.hold = g.between(1, 5), g.between(8, 150)
	}
	push := stickSteps
	if g.below(4) == 0 {
		push = g.between(30, stickSteps-1)
	}
	sin, cos := exact.SinCosDeg(float64(g.angle))
	g.toX, g.toY = int(math.Round(float64(push)*cos)), int(math.Round(float64(push)*sin))
}

func (g *generator) turning() {
	switch {
	case g.turnRamp > 0:
		g.turn += (g.toTurn - g.turn) / g.turnRamp
		g.turnRamp--
	case g.turnHold > 0:
		g.turnHold--
	case g.turn != 0:
		g.toTurn, g.turnRamp = 0, g.between(1, 4)
	case g.turnWait > 0:
		g.turnWait--
	default:
		g.toTurn = g.between(24, stickSteps)
		if g.below(2) == 0 {
			g.toTurn = -g.toTurn
		}
		g.turnRamp, g.turnHold, g.turnWait = g.between(2, 6), g.between(3, 45), g.between(60, 320)
	}
}

func (g *generator) press(b *button, next func() (held, wait int)) bool {
	switch {
	case b.held > 0:
		b.held--
		return true
	case b.wait > 0:
		b.wait--
		return false
	}
	b.held, b.wait = next()
	return false
}

func (g *generator) tremble() int {
	switch g.below(12) {
	case 0:
		return 1
	case 1:
		return -1
	}
	return 0
}

// rng is SplitMix64.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rng) below(n int) int { return int(r.next() % uint64(n)) }

func (r *rng) between(lo, hi int) int { return lo + r.below(hi-lo+1) }
