package components

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unsafe"

	arche "github.com/mlange-42/arche/ecs"
)

// maxLeaves bounds the fields of a registered type, array elements counted
// one by one: a larger one belongs in a slab.
const maxLeaves = 4096

// leaf is one plain field of a type, however deep it lies.
type leaf struct {
	path  string // from the type on: "Slots[3].X"; empty for the type itself
	off   uintptr
	typ   reflect.Type
	tag   string
	local bool // tagged "-": never crosses the wire
}

// leavesOf lists the fields of t in order of declaration, padding left out.
func leavesOf(t reflect.Type) ([]leaf, error) {
	var out []leaf
	err := walkLeaves(t, "", 0, "", &out)
	return out, err
}

func walkLeaves(t reflect.Type, path string, off uintptr, tag string, out *[]leaf) error {
	if t == reflect.TypeFor[arche.Entity]() && tag != "-" {
		return fmt.Errorf("field %s is an arche Entity, which means nothing on another machine; use a NetID", fieldName(path))
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" {
				continue
			}
			ft, own := f.Tag.Lookup("gait")
			if !own || tag == "-" {
				ft = tag
			}
			p := f.Name
			if path != "" {
				p = path + "." + f.Name
			}
			if err := walkLeaves(f.Type, p, off+f.Offset, ft, out); err != nil {
				return err
			}
		}
		return nil
	case reflect.Array:
		for i := range t.Len() {
			if err := walkLeaves(t.Elem(), fmt.Sprintf("%s[%d]", path, i), off+uintptr(i)*t.Elem().Size(), tag, out); err != nil {
				return err
			}
		}
		return nil
	case reflect.Bool, reflect.Float32, reflect.Float64,
		reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		if tag != "-" {
			return fmt.Errorf("field %s is of kind %v, whose width differs by target; name the width", fieldName(path), t.Kind())
		}
	default:
		if tag != "-" {
			return fmt.Errorf("field %s is of kind %v, which has no code", fieldName(path), t.Kind())
		}
	}
	if len(*out) == maxLeaves {
		return fmt.Errorf("it has more than %d fields, array elements counted; keep it in a slab", maxLeaves)
	}
	*out = append(*out, leaf{path: path, off: off, typ: t, tag: tag, local: tag == "-"})
	return nil
}

func fieldName(path string) string {
	if path == "" {
		return "(the type itself)"
	}
	return path
}

// layoutText is the fields by name and kind: equal on every target, which
// offsets are not (an int64 is aligned to 4 bytes on 386).
func layoutText(ls []leaf) string {
	var b strings.Builder
	for _, l := range ls {
		if !l.local {
			fmt.Fprintf(&b, "%s:%v ", l.path, l.typ.Kind())
		}
	}
	return strings.TrimSuffix(b.String(), " ")
}

// span is a run of bytes without padding in it.
type span struct{ off, n uintptr }

// spansOf merges neighbouring fields. All fields compare by their bits (floats
// too: NaN equals itself, -0 differs from +0), so runs compare as bytes.
func spansOf(ls []leaf) []span {
	var out []span
	for _, l := range ls {
		if l.local {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k].off+out[k].n == l.off {
			out[k].n += l.typ.Size()
			continue
		}
		out = append(out, span{l.off, l.typ.Size()})
	}
	return out
}

func equalSpans(spans []span, a, b unsafe.Pointer) bool {
	for _, s := range spans {
		// The comparison of two conversions does not allocate.
		if string(unsafe.Slice((*byte)(unsafe.Add(a, s.off)), s.n)) != string(unsafe.Slice((*byte)(unsafe.Add(b, s.off)), s.n)) {
			return false
		}
	}
	return true
}

// Difference names the first field in which two values differ, with both
// values as text.
type Difference struct {
	// Type is the registered name, Field the path within it
	// ("Slots[3].X"; empty where the type itself is a plain value).
	Type, Field string
	// A and B are the values. Floats are printed so that different bits are
	// different text.
	A, B string
}

func (d Difference) String() string {
	name := d.Type
	if d.Field != "" {
		name += "." + d.Field
	}
	return fmt.Sprintf("%s: %s against %s", name, d.A, d.B)
}

func firstDifference(ls []leaf, a, b unsafe.Pointer) (Difference, bool) {
	for _, l := range ls {
		if l.local {
			continue
		}
		pa, pb := unsafe.Add(a, l.off), unsafe.Add(b, l.off)
		if n := l.typ.Size(); string(unsafe.Slice((*byte)(pa), n)) == string(unsafe.Slice((*byte)(pb), n)) {
			continue
		}
		return Difference{Field: l.path, A: leafText(l.typ, pa), B: leafText(l.typ, pb)}, true
	}
	return Difference{}, false
}

// leafText prints a field's value; a named type with a String method by that
// and by its number, so that two different values never look alike.
func leafText(t reflect.Type, p unsafe.Pointer) string {
	v := reflect.NewAt(t, p).Elem()
	var plain string
	switch {
	case v.CanFloat():
		f := v.Float()
		plain = fmt.Sprint(v.Convert(floatType(t)).Interface())
		if f != f {
			plain = fmt.Sprintf("NaN(%#x)", math.Float64bits(f))
		}
	case v.CanInt():
		plain = fmt.Sprint(v.Int())
	case v.CanUint():
		plain = fmt.Sprint(v.Uint())
	default:
		plain = fmt.Sprint(v.Bool())
	}
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return s.String() + " (" + plain + ")"
	}
	return plain
}

// floatType is the unnamed type, printed at its own precision.
func floatType(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Float32 {
		return reflect.TypeFor[float32]()
	}
	return reflect.TypeFor[float64]()
}
