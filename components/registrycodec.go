package components

import (
	"reflect"
	"unsafe"

	"github.com/gaitnet/gait/netsync/bits"
)

// Codec turns a value into bits and back. Errors stick in the Writer and the
// Reader: Encode calls Refuse for what the other end would not take, Decode
// calls Invalid for what no Encode writes, and neither panics on any bits. One
// value has one encoding. Neither may keep the pointers it is given, and one
// Codec serves several goroutines.
//
// ExactCodec and TagCodec make one from a struct; a type that needs more
// brings its own. A Codec of one's own may also be a DeltaCodec, a Snapper and
// a CodecVersioner.
type Codec[T any] interface {
	Encode(w *bits.Writer, v *T)
	// Decode overwrites the fields that Encode wrote and leaves others.
	Decode(r *bits.Reader, v *T)
}

// DeltaCodec is a Codec that also writes a value against a baseline that both
// ends hold. Without it a delta is a bit that tells whether the value differs
// from the baseline, and the whole value if so.
type DeltaCodec[T any] interface {
	EncodeDelta(w *bits.Writer, v, base *T)
	DecodeDelta(r *bits.Reader, v, base *T)
}

// Snapper is a Codec that can round a value to what it carries. Without it a
// codec is taken to be lossless.
type Snapper[T any] interface{ Snap(v *T) }

// CodecVersioner is a Codec that names its format. Without it the registry's
// hash knows a codec of one's own by its Go type only.
type CodecVersioner interface{ CodecVersion() string }

// ExactCodec carries every bit of every field of T, in order of declaration:
// what seeds a simulation on the other end. Floats cost 1 bit for +0, else 65
// (33 for a float32) and must be finite, on both sides; a bool costs 1 bit and
// an integer its own width. Fields named _ are padding and not carried, nor are
// fields tagged `gait:"-"`.
//
// int, uint and uintptr are refused because their width differs by target, and
// arche's Entity because it means nothing on another machine; what is refused
// is told when the codec is registered.
func ExactCodec[T any]() Codec[T] {
	t := reflect.TypeFor[T]()
	p, err := compileProgram(t, false)
	return &compiledCodec[T]{prog: p, err: err}
}

// TagCodec carries the fields of T as their `gait` tags say:
//
//   - not carried: local to one machine
//     exact             every bit, as ExactCodec; the default of a field without a tag
//     scale=S           float in steps of 1/S: 1 bit for zero, then more with the magnitude
//     scale=S,bits=N    the same in N bits, held within what they count (two's complement)
//     scale=S,min=A,max=B  the same held within A..B, in as many bits as that takes
//     bits=N            integer in N bits (two's complement if it has a sign)
//     min=A,max=B       integer within A..B
//     enum=N            integer within 0..N-1
//
// A float outside its bounds is held at them; an integer outside is refused by
// the Writer. The tag of an array goes for its elements, the tag of a nested
// struct for those of its fields that have none. Bools cost 1 bit and take no
// tag. A delta costs 1 bit if nothing changed, else 1 and a bit a field beside
// the changed fields.
//
// A value that was decoded is a fixed point: it encodes to the same bits.
// Whatever is simulated from a type with this codec must be rounded by
// TypeInfo.Snap first, on both ends.
func TagCodec[T any]() Codec[T] {
	t := reflect.TypeFor[T]()
	p, err := compileProgram(t, true)
	return &compiledCodec[T]{prog: p, err: err}
}

// compiledCodec runs a program made from T's fields. What was wrong with T is
// told at registration, where it can be an error.
type compiledCodec[T any] struct {
	prog *program
	err  error
}

func (c *compiledCodec[T]) program() *program {
	if c.err != nil {
		panic("components: " + c.err.Error())
	}
	return c.prog
}

func (c *compiledCodec[T]) compileError() error { return c.err }

func (c *compiledCodec[T]) Encode(w *bits.Writer, v *T) {
	c.program().encode(w, unsafe.Pointer(v))
}

func (c *compiledCodec[T]) Decode(r *bits.Reader, v *T) {
	c.program().decode(r, unsafe.Pointer(v))
}

func (c *compiledCodec[T]) EncodeDelta(w *bits.Writer, v, base *T) {
	c.program().encodeDelta(w, unsafe.Pointer(v), unsafe.Pointer(base))
}

func (c *compiledCodec[T]) DecodeDelta(r *bits.Reader, v, base *T) {
	c.program().decodeDelta(r, unsafe.Pointer(v), unsafe.Pointer(base))
}

func (c *compiledCodec[T]) Snap(v *T) { c.program().snap(unsafe.Pointer(v)) }

func (c *compiledCodec[T]) CodecVersion() string { return c.program().text() }
