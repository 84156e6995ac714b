package wire

import (
	"math"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/netsync/bits"
)

// Stick is the grid on which a container looks for what the player's stick
// said: an acceleration is then two small numbers in the frame of the control
// yaw instead of two large ones in world axes, and a held stick stays the same
// while the player turns. The zero Stick is DefaultStick. A container states
// it, so the reader needs no profile.
type Stick struct {
	// MaxAcceleration of a full stick, whole cm/s².
	MaxAcceleration uint16
	// Steps of an axis to each side, 1..128.
	Steps uint8
}

// DefaultStick fits the default profile and sticks that report 80 steps to
// each side, and keyboards. It costs one bit, another 24 more.
var DefaultStick = Stick{MaxAcceleration: 2048, Steps: 80}

// StickFor is the default grid for a profile's MaxAcceleration; where that is
// no whole number, the default, which then rarely fits.
func StickFor(maxAcceleration float64) Stick {
	if maxAcceleration >= 1 && maxAcceleration < 1<<16 && math.Floor(maxAcceleration) == maxAcceleration {
		return Stick{uint16(maxAcceleration), DefaultStick.Steps}
	}
	return DefaultStick
}

const maxSteps = 128

func (s Stick) write(w *bits.Writer) {
	w.WriteBool(s != DefaultStick)
	if s != DefaultStick {
		w.WriteBits(uint64(s.MaxAcceleration), 16)
		w.WriteBits(uint64(s.Steps), 8)
	}
}

func readStick(r *bits.Reader) Stick {
	if !r.ReadBool() {
		return DefaultStick
	}
	s := Stick{uint16(r.ReadBits(16)), uint8(r.ReadBits(8))}
	if !s.valid() || s == DefaultStick {
		r.Invalid()
		return DefaultStick
	}
	return s
}

func (s Stick) valid() bool { return s.MaxAcceleration > 0 && s.Steps > 0 && s.Steps <= maxSteps }

// accelScale and maxAccel are the grid of an acceleration and its bound in
// steps of it: 1e6 cm/s² a part, as movement.RoundAcceleration holds it.
const (
	accelScale = bits.Tenths
	maxAccel   = 1e7
)

// push is a move's acceleration and what both ends know of how it came about.
type push struct {
	acc components.Vec3
	yaw uint16
	// grid: acc is what the stick at (x, y) steps gives at yaw.
	grid bool
	x, y int
}

// frame is a yaw with its sine and cosine.
type frame struct {
	yaw      uint16
	sin, cos float64
}

func frameOf(yaw uint16) frame {
	f := frame{yaw: yaw}
	f.sin, f.cos = exact.SinCosDeg(components.UnpackAngle(yaw))
	return f
}

func roundTenths(v float64) float64 { return exact.Round(float64(v*10))/10 + 0 }

// at is the acceleration of the stick at (x, y) steps. It takes the same
// operations in the same order as the owner's input does (movement.ScaleInput),
// so that it gives the same bits.
func (s Stick) at(x, y int, f *frame) components.Vec3 {
	v := exact.ClampLen(components.Vec3{float64(x) / float64(s.Steps), float64(y) / float64(s.Steps), 0}, 1)
	m := float64(s.MaxAcceleration)
	return components.Vec3{
		roundTenths(float64((float64(v[0]*f.cos) - float64(v[1]*f.sin)) * m)),
		roundTenths(float64((float64(v[0]*f.sin) + float64(v[1]*f.cos)) * m)),
		0,
	}
}

// find looks for the steps that give acc.
func (s Stick) find(acc components.Vec3, f *frame) (x, y int, ok bool) {
	if acc[2] != 0 {
		return 0, 0, false
	}
	if acc[0] == 0 && acc[1] == 0 {
		return 0, 0, true
	}
	m, steps := float64(s.MaxAcceleration), float64(s.Steps)
	if math.Abs(acc[0]) > m+1 || math.Abs(acc[1]) > m+1 {
		return 0, 0, false
	}
	// Back into the frame of the control yaw, in steps.
	u := (float64(acc[0]*f.cos) + float64(acc[1]*f.sin)) * steps / m
	v := (float64(acc[1]*f.cos) - float64(acc[0]*f.sin)) * steps / m
	if x, y, ok = s.try(u, v, acc, f); ok {
		return x, y, true
	}
	// A stick in the corner was shortened to length 1: only its direction is
	// left. Try the points near the ray.
	l := math.Sqrt(float64(u*u) + float64(v*v))
	if l < steps-0.5*steps/m-0.01 {
		return 0, 0, false
	}
	for r := int(s.Steps); r <= int(s.Steps)*3/2; r++ {
		if x, y, ok = s.try(u/l*float64(r), v/l*float64(r), acc, f); ok {
			return x, y, true
		}
	}
	return 0, 0, false
}

func (s Stick) try(u, v float64, acc components.Vec3, f *frame) (x, y int, ok bool) {
	a, b := exact.Round(u), exact.Round(v)
	if steps := float64(s.Steps); math.Abs(a) > steps || math.Abs(b) > steps {
		return 0, 0, false
	}
	x, y = int(a), int(b)
	return x, y, s.at(x, y, f) == acc
}

// held is the acceleration that follows from p when the stick stays and the
// yaw becomes that of f.
func (s Stick) held(p *push, f *frame) components.Vec3 {
	switch {
	case p.yaw == f.yaw:
		return p.acc
	case p.grid:
		return s.at(p.x, p.y, f)
	}
	v := exact.RotateYaw(p.acc, components.UnpackAngle(f.yaw-p.yaw))
	for i := range v {
		v[i] = roundTenths(v[i])
		if math.Abs(v[i]) > maxAccel/accelScale {
			return p.acc // at the border turning could leave the range
		}
	}
	return v
}

// The forms of an acceleration that differs from the held one.
const (
	formGrid  = iota // steps
	formStep         // difference in steps; only behind a push on the grid
	formNear         // difference from the held acceleration in tenths
	formWorld        // world axes in tenths
)

const (
	formBits  = 2
	stepOrder = 2
	nearOrder = 0
)

func onTenths(acc components.Vec3) (bits.QVec, bool) {
	q := bits.QuantizeVec(acc, accelScale)
	v := q.Vec(accelScale)
	for i := range v {
		if math.Float64bits(v[i]) != math.Float64bits(acc[i]) || q[i] > maxAccel || q[i] < -maxAccel {
			return bits.QVec{}, false
		}
	}
	return q, true
}

// writeFirst writes an acceleration that nothing is known of: 1 bit of form,
// then 2, 10 or 18 bits on the grid or a QVec in tenths.
func (s Stick) writeFirst(w *bits.Writer, acc components.Vec3, f *frame) push {
	q, ok := onTenths(acc)
	if !ok {
		w.Refuse()
	}
	p := push{acc: acc, yaw: f.yaw}
	p.x, p.y, p.grid = s.find(acc, f)
	w.WriteBool(!p.grid)
	if p.grid {
		writeSteps(w, p.x)
		writeSteps(w, p.y)
	} else {
		w.WriteQVec(q)
	}
	return p
}

func (s Stick) readFirst(r *bits.Reader, f *frame) push {
	if r.ReadBool() {
		return readWorld(r, f)
	}
	x, y := s.readSteps(r), s.readSteps(r)
	return s.onGrid(x, y, f)
}

func (s Stick) onGrid(x, y int, f *frame) push {
	return push{acc: s.at(x, y, f), yaw: f.yaw, grid: true, x: x, y: y}
}

func readWorld(r *bits.Reader, f *frame) push {
	q := r.ReadQVec()
	for _, v := range q {
		if v > maxAccel || v < -maxAccel {
			r.Invalid()
			q = bits.QVec{}
		}
	}
	return push{acc: q.Vec(accelScale), yaw: f.yaw}
}

// writeSteps: 1 bit for 0, else one, the sign and seven bits.
func writeSteps(w *bits.Writer, k int) {
	switch {
	case k > 0:
		w.WriteBits(uint64(k-1)<<2|0b01, 9)
	case k < 0:
		w.WriteBits(uint64(-k-1)<<2|0b11, 9)
	default:
		w.WriteBits(0, 1)
	}
}

func (s Stick) readSteps(r *bits.Reader) int {
	if !r.ReadBool() {
		return 0
	}
	v := r.ReadBits(8)
	k := int(v>>1) + 1
	if k > int(s.Steps) {
		r.Invalid()
		return 0
	}
	if v&1 != 0 {
		return -k
	}
	return k
}

// writeNext writes an acceleration that differs from the held one in the
// shortest form.
func (s Stick) writeNext(w *bits.Writer, acc components.Vec3, f *frame, newer *push) push {
	q, ok := onTenths(acc)
	if !ok {
		w.Refuse()
	}
	p := push{acc: acc, yaw: f.yaw}
	p.x, p.y, p.grid = s.find(acc, f)
	best, cost := formWorld, s.cost(formWorld, q, f, newer, &p)
	for form := formGrid; form <= formNear; form++ {
		if (form == formGrid && !p.grid) || (form == formStep && !(p.grid && newer.grid)) {
			continue
		}
		if c := s.cost(form, q, f, newer, &p); c < cost {
			best, cost = form, c
		}
	}
	w.WriteBits(uint64(best), formBits)
	s.form(w, best, q, f, newer, &p)
	p.grid = best == formGrid || best == formStep
	return p
}

func (s Stick) cost(form int, q bits.QVec, f *frame, newer, p *push) int {
	var m bits.Writer
	s.form(&m, form, q, f, newer, p)
	return m.Bits()
}

func (s Stick) form(w *bits.Writer, form int, q bits.QVec, f *frame, newer, p *push) {
	switch form {
	case formGrid:
		writeSteps(w, p.x)
		writeSteps(w, p.y)
	case formStep:
		w.WriteResidual(int64(p.x-newer.x), stepOrder)
		w.WriteResidual(int64(p.y-newer.y), stepOrder)
	case formNear:
		h := bits.QuantizeVec(s.held(newer, f), accelScale)
		for i := range q {
			w.WriteDelta(int64(q[i]), int64(h[i]), nearOrder)
		}
	default:
		w.WriteQVec(q)
	}
}

func (s Stick) readNext(r *bits.Reader, f *frame, newer *push) push {
	switch r.ReadBits(formBits) {
	case formGrid:
		x, y := s.readSteps(r), s.readSteps(r)
		return s.onGrid(x, y, f)
	case formStep:
		x := int64(newer.x) + r.ReadResidual(stepOrder)
		y := int64(newer.y) + r.ReadResidual(stepOrder)
		steps := int64(s.Steps)
		if !newer.grid || x > steps || x < -steps || y > steps || y < -steps {
			r.Invalid()
			x, y = 0, 0
		}
		return s.onGrid(int(x), int(y), f)
	case formNear:
		h := bits.QuantizeVec(s.held(newer, f), accelScale)
		var q bits.QVec
		for i := range q {
			v := r.ReadDelta(int64(h[i]), nearOrder)
			if v > maxAccel || v < -maxAccel {
				r.Invalid()
				v = 0
			}
			q[i] = int32(v)
		}
		return push{acc: q.Vec(accelScale), yaw: f.yaw}
	default:
		return readWorld(r, f)
	}
}
