package components

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gaitnet/gait/netsync/bits"
)

// opCode says how one field is coded.
type opCode uint8

const (
	opRaw    opCode = iota // the field's own bits: bool (1), integers
	opFinite               // a float's bits, 1 bit for +0, finite only
	opRange                // integer within lo..hi
	opScale                // float in steps, 1 bit for zero, growing with the magnitude
	opFixed                // float in steps within lo..hi
)

// scaleOrder is the order of opScale's code: short up to 64 steps.
const scaleOrder = 6

// maxSteps32 bounds the steps of a float32, so that what was dequantised
// quantises to the same number: 24 bits of mantissa leave a quarter step.
const maxSteps32 = 1 << 22

// op is one field of a program: where it lies in memory and how it is coded.
type op struct {
	off    uintptr
	code   opCode
	size   uint8 // bytes in memory
	signed bool
	width  uint8 // opRaw: bits
	lo, hi int64 // opRange; opScale and opFixed in steps
	scale  float64
	path   string
}

// program is a type's fields as a flat list: encoding neither reflects nor
// allocates.
type program struct {
	ops      []op
	lossless bool
}

func compileProgram(t reflect.Type, tags bool) (*program, error) {
	if err := CheckPointerFree(t); err != nil {
		return nil, err
	}
	ls, err := leavesOf(t)
	if err != nil {
		return nil, fmt.Errorf("codec of %v: %w", t, err)
	}
	p := &program{lossless: true}
	for _, l := range ls {
		if l.local {
			continue
		}
		tag := ""
		if tags {
			tag = l.tag
		}
		o, err := compileOp(l, tag)
		if err != nil {
			return nil, fmt.Errorf("codec of %v: field %s with tag %q: %w", t, fieldName(l.path), tag, err)
		}
		p.lossless = p.lossless && o.code != opScale && o.code != opFixed
		p.ops = append(p.ops, o)
	}
	return p, nil
}

// tagValues are the parts of a tag.
type tagValues struct {
	scale, min, max float64
	lo, hi          int64
	bits, enum      int
	has             map[string]bool
	intBounds       bool
}

func parseTag(tag string) (v tagValues, err error) {
	v.has = map[string]bool{}
	if tag == "" || tag == "exact" {
		return v, nil
	}
	v.intBounds = true
	for _, part := range strings.Split(tag, ",") {
		key, val, ok := strings.Cut(part, "=")
		if !ok || v.has[key] {
			return v, fmt.Errorf("%q is not understood", part)
		}
		v.has[key] = true
		switch key {
		case "scale":
			v.scale, err = strconv.ParseFloat(val, 64)
			if err == nil && !(v.scale >= 1e-9 && v.scale <= 1e9) {
				err = errors.New("a scale lies within 1e-9..1e9")
			}
		case "min", "max":
			var f float64
			if f, err = strconv.ParseFloat(val, 64); err == nil && f-f != 0 {
				err = errors.New("a bound is finite")
			}
			i, ierr := strconv.ParseInt(val, 10, 64)
			v.intBounds = v.intBounds && ierr == nil
			if key == "min" {
				v.min, v.lo = f, i
			} else {
				v.max, v.hi = f, i
			}
		case "bits":
			if v.bits, err = strconv.Atoi(val); err == nil && (v.bits < 1 || v.bits > 63) {
				err = errors.New("bits lie within 1..63")
			}
		case "enum":
			if v.enum, err = strconv.Atoi(val); err == nil && v.enum < 1 {
				err = errors.New("an enumeration has a value")
			}
		default:
			err = fmt.Errorf("%q is not understood", key)
		}
		if err != nil {
			return v, err
		}
	}
	if v.has["min"] != v.has["max"] {
		return v, errors.New("min and max go together")
	}
	if v.has["min"] && v.has["bits"] || v.has["enum"] && len(v.has) > 1 {
		return v, errors.New("one bound contradicts the other")
	}
	return v, nil
}

func compileOp(l leaf, tag string) (op, error) {
	o := op{off: l.off, size: uint8(l.typ.Size()), path: l.path}
	v, err := parseTag(tag)
	if err != nil {
		return o, err
	}
	switch k := l.typ.Kind(); k {
	case reflect.Bool:
		o.code, o.width = opRaw, 1
		if len(v.has) > 0 {
			return o, errors.New("a bool is one bit")
		}
		return o, nil
	case reflect.Float32, reflect.Float64:
		return compileFloat(o, v)
	default:
		o.signed = k >= reflect.Int && k <= reflect.Int64
		return compileInt(o, v)
	}
}

func compileFloat(o op, v tagValues) (op, error) {
	if len(v.has) == 0 {
		o.code = opFinite
		return o, nil
	}
	if !v.has["scale"] || v.has["enum"] {
		return o, errors.New("a float takes a scale, with bits or with min and max")
	}
	limit := int64(bits.QuantizeMax)
	if o.size == 4 {
		limit = maxSteps32
	}
	o.code, o.scale, o.lo, o.hi = opScale, v.scale, -limit, limit
	switch {
	case v.has["bits"]:
		o.code, o.lo, o.hi = opFixed, -1<<(v.bits-1), 1<<(v.bits-1)-1
	case v.has["min"]:
		o.code, o.lo, o.hi = opFixed, bits.Quantize(v.min, v.scale), bits.Quantize(v.max, v.scale)
	}
	if o.lo > o.hi || o.lo < -limit || o.hi > limit {
		return o, fmt.Errorf("steps lie within ±%d, the least first", limit)
	}
	return o, nil
}

func compileInt(o op, v tagValues) (op, error) {
	width := uint(o.size) * 8
	if len(v.has) == 0 {
		o.code, o.width = opRaw, uint8(width)
		return o, nil
	}
	if v.has["scale"] || !v.intBounds {
		return o, errors.New("an integer takes bits, min and max (whole numbers), or enum")
	}
	// Bounds of the field itself, as far as an int64 holds them.
	lo, hi := int64(0), int64(math.MaxInt64)
	if o.signed {
		lo, hi = math.MinInt64>>(64-width), math.MaxInt64>>(64-width)
	} else if width < 64 {
		hi = 1<<width - 1
	}
	o.code = opRange
	switch {
	case v.has["enum"]:
		o.lo, o.hi = 0, int64(v.enum)-1
	case v.has["min"]:
		o.lo, o.hi = v.lo, v.hi
	case o.signed:
		o.lo, o.hi = -1<<(v.bits-1), 1<<(v.bits-1)-1
	default:
		o.lo, o.hi = 0, 1<<v.bits-1
	}
	if o.lo > o.hi || o.lo < lo || o.hi > hi {
		return o, fmt.Errorf("bounds lie within the field's own %d..%d, the least first", lo, hi)
	}
	return o, nil
}

// load is the field's memory: integers extended to 64 bits, floats as their
// bits.
func (o *op) load(p unsafe.Pointer) uint64 {
	p = unsafe.Add(p, o.off)
	switch o.size {
	case 1:
		if o.signed {
			return uint64(*(*int8)(p))
		}
		return uint64(*(*uint8)(p))
	case 2:
		if o.signed {
			return uint64(*(*int16)(p))
		}
		return uint64(*(*uint16)(p))
	case 4:
		if o.signed {
			return uint64(*(*int32)(p))
		}
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func (o *op) store(p unsafe.Pointer, v uint64) {
	p = unsafe.Add(p, o.off)
	switch o.size {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		*(*uint32)(p) = uint32(v)
	default:
		*(*uint64)(p) = v
	}
}

func (o *op) float(u uint64) float64 {
	if o.size == 4 {
		return float64(math.Float32frombits(uint32(u)))
	}
	return math.Float64frombits(u)
}

func (o *op) floatBits(f float64) uint64 {
	if o.size == 4 {
		return uint64(math.Float32bits(float32(f)))
	}
	return math.Float64bits(f)
}

// quantum is the number that goes on the wire for the field, and whether the
// code can carry the field's value.
func (o *op) quantum(p unsafe.Pointer) (uint64, bool) {
	u := o.load(p)
	switch o.code {
	case opFinite:
		f := o.float(u)
		return u, f-f == 0
	case opRange:
		if !o.signed && u > math.MaxInt64 {
			return uint64(o.hi), false
		}
		v := int64(u)
		return uint64(min(max(v, o.lo), o.hi)), v >= o.lo && v <= o.hi
	case opScale, opFixed:
		return uint64(min(max(bits.Quantize(o.float(u), o.scale), o.lo), o.hi)), true
	}
	return u, true
}

// restore puts a quantum back into memory.
func (o *op) restore(p unsafe.Pointer, q uint64) {
	if o.code == opScale || o.code == opFixed {
		q = o.floatBits(bits.Dequantize(int64(q), o.scale))
	}
	o.store(p, q)
}

func (o *op) write(w *bits.Writer, p unsafe.Pointer) {
	q, ok := o.quantum(p)
	if !ok {
		w.Refuse()
		return
	}
	switch o.code {
	case opRaw:
		w.WriteBits(q, uint(o.width))
	case opFinite:
		w.WriteBool(q != 0)
		if q != 0 {
			w.WriteBits(q, uint(o.size)*8)
		}
	case opRange, opFixed:
		w.WriteRange(int64(q), o.lo, o.hi)
	case opScale:
		w.WriteResidual(int64(q), scaleOrder)
	}
}

func (o *op) read(r *bits.Reader) uint64 {
	switch o.code {
	case opFinite:
		if !r.ReadBool() {
			return 0
		}
		q := r.ReadBits(uint(o.size) * 8)
		if f := o.float(q); q == 0 || f-f != 0 {
			r.Invalid()
		}
		return q
	case opRange, opFixed:
		return uint64(r.ReadRange(o.lo, o.hi))
	case opScale:
		v := r.ReadResidual(scaleOrder)
		if v < o.lo || v > o.hi {
			r.Invalid()
		}
		return uint64(v)
	}
	return r.ReadBits(uint(o.width))
}

func (g *program) encode(w *bits.Writer, p unsafe.Pointer) {
	for i := range g.ops {
		g.ops[i].write(w, p)
	}
}

func (g *program) decode(r *bits.Reader, p unsafe.Pointer) {
	for i := range g.ops {
		o := &g.ops[i]
		q := o.read(r)
		if r.Err() != nil {
			return
		}
		o.restore(p, q)
	}
}

// equal tells whether a need not be sent to one who has b.
func (g *program) equal(a, b unsafe.Pointer) bool {
	for i := range g.ops {
		if !g.ops[i].same(a, b) {
			return false
		}
	}
	return true
}

// same tells whether a need not be sent to one who has b. A baseline may lie
// outside the code (the zero value of a field whose range begins at 10): both
// ends take it as held at its bounds. A value outside is never the same, so
// that it is refused and not hidden.
func (o *op) same(a, b unsafe.Pointer) bool {
	qa, ok := o.quantum(a)
	qb, _ := o.quantum(b)
	return ok && qa == qb
}

func (g *program) encodeDelta(w *bits.Writer, p, base unsafe.Pointer) {
	if g.equal(p, base) {
		w.WriteBool(false)
		return
	}
	w.WriteBool(true)
	for i := range g.ops {
		o := &g.ops[i]
		changed := !o.same(p, base)
		if len(g.ops) > 1 {
			w.WriteBool(changed)
		}
		if changed {
			o.write(w, p)
		}
	}
}

func (g *program) decodeDelta(r *bits.Reader, p, base unsafe.Pointer) {
	differs := r.ReadBool()
	some := false
	for i := range g.ops {
		o := &g.ops[i]
		q, _ := o.quantum(base)
		if differs && (len(g.ops) == 1 || r.ReadBool()) {
			was := q
			if q = o.read(r); q == was {
				r.Invalid()
			}
			some = true
		}
		if r.Err() != nil {
			return
		}
		o.restore(p, q)
	}
	if differs && !some {
		r.Invalid()
	}
}

// snap rounds each field to what is carried; a float that is not finite in an
// exact field stays, and is refused when it is to be sent.
func (g *program) snap(p unsafe.Pointer) {
	if g.lossless {
		// Only integers can lie outside, and those are a fault to be refused.
		return
	}
	for i := range g.ops {
		if o := &g.ops[i]; o.code == opScale || o.code == opFixed {
			q, _ := o.quantum(p)
			o.restore(p, q)
		}
	}
}

var opNames = [...]string{"raw", "finite", "range", "scale", "fixed"}

// text is the program as it counts in the registry's hash: no offsets, which
// differ by target.
func (g *program) text() string {
	var b strings.Builder
	for i := range g.ops {
		o := &g.ops[i]
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s:%s", o.path, opNames[o.code])
		switch o.code {
		case opRaw:
			fmt.Fprintf(&b, "%d", o.width)
		case opFinite:
			fmt.Fprintf(&b, "%d", int(o.size)*8)
		case opRange:
			fmt.Fprintf(&b, "%d..%d", o.lo, o.hi)
		default:
			fmt.Fprintf(&b, "%v/%d..%d", o.scale, o.lo, o.hi)
		}
	}
	return b.String()
}
