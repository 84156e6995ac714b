package components

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/gaitnet/gait/netsync/bits"
)

// TypeKind says what a component type is registered as. A type may be of
// several kinds (stamina: predicted for the owner, replicated to the others);
// each is an entry of its own.
type TypeKind uint8

// The kinds, in the order of their IDs.
const (
	// KindReplicated: the server's value goes to clients with snapshots.
	KindReplicated TypeKind = iota
	// KindInput: captured in each saved move, sent up, restored before its
	// replay.
	KindInput
	// KindPredicted: part of the predicted state: saved, compared by the
	// server, returned in a correction, restored at rollback.
	KindPredicted
	numKinds
)

var kindNames = [...]string{"replicated", "input", "predicted"}

func (k TypeKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Condition says which clients are told of a replicated type.
type Condition uint8

// The conditions.
const (
	ToAll Condition = iota
	OwnerOnly
	SkipOwner
	// Once: with the spawn only.
	Once
	numConditions
)

var conditionNames = [...]string{"all", "owner", "skip-owner", "once"}

func (c Condition) String() string {
	if int(c) < len(conditionNames) {
		return conditionNames[c]
	}
	return "unknown"
}

// InputRules are what the move stream asks of an input type. A rule that is
// nil has the default its field names.
type InputRules[T any] struct {
	// CanCombine: two successive moves with these values may become one;
	// default: the values are equal.
	CanCombine func(pending, next *T) bool
	// Combine merges the pending move's value into the next one's; default:
	// the next one's stays.
	Combine func(pending, next *T)
	// Important: a move with this value is worth repeating, given the last one
	// that the server answered; default: the values differ.
	Important func(now, acked *T) bool
}

// PredictedRules are what verification asks of a predicted type.
type PredictedRules[T any] struct {
	// Exceeds: the claim is too far from the server's value, so the owner is
	// corrected; default: they are not equal as sent.
	Exceeds func(server, claim *T) bool
	// CanCombine: a move that began at pending and one that began at next may
	// become one; default: they always may. Refuse where the value changes
	// what the move does (stamina that reached 0).
	CanCombine func(pending, next *T) bool
}

// TypeInfo is a registered component type with its type erased. Its methods
// take pointers to values of exactly that type (a component in a world, or a
// place in a block); none keeps them or allocates in the steady state. They may
// be called from several goroutines.
type TypeInfo struct {
	Name string
	// ID counts over all kinds and Index within the kind; both are set by Seal.
	ID        uint16
	Index     int
	Kind      TypeKind
	Condition Condition
	// Size and Align in bytes, on this target.
	Size, Align uintptr

	rtype  reflect.Type
	offset int // in the kind's block
	leaves []leaf
	spans  []span
	codec  string // the codec as it counts in the hash
	ops    typeOps
}

// Type is the Go type.
func (t *TypeInfo) Type() reflect.Type { return t.rtype }

// HasCodec tells whether the type can be encoded; only ReplicatedMovement can
// be without a codec.
func (t *TypeInfo) HasCodec() bool { return t.codec != noCodec }

// Encode writes the value at p.
func (t *TypeInfo) Encode(w *bits.Writer, p unsafe.Pointer) { t.ops.encode(w, p) }

// Decode reads a value into p. On an error, which is r's, p is untouched.
func (t *TypeInfo) Decode(r *bits.Reader, p unsafe.Pointer) error { return t.ops.decode(r, p) }

// EncodeDelta writes the value at p against base, which both ends hold: 1 bit
// where they are equal as sent.
func (t *TypeInfo) EncodeDelta(w *bits.Writer, p, base unsafe.Pointer) {
	t.ops.encodeDelta(w, p, base, t)
}

// DecodeDelta reads what EncodeDelta wrote with the same base. p may be base.
// On an error p is untouched.
func (t *TypeInfo) DecodeDelta(r *bits.Reader, p, base unsafe.Pointer) error {
	return t.ops.decodeDelta(r, p, base, t)
}

// Equal compares two values field by field, floats by their bits; padding and
// fields tagged "-" do not matter.
func (t *TypeInfo) Equal(a, b unsafe.Pointer) bool { return equalSpans(t.spans, a, b) }

// Copy copies the value, fields tagged "-" included.
func (t *TypeInfo) Copy(dst, src unsafe.Pointer) { t.ops.copy(dst, src) }

// Clear sets the zero value.
func (t *TypeInfo) Clear(p unsafe.Pointer) {
	clear(unsafe.Slice((*byte)(p), t.Size))
}

// Snap rounds the value to what its codec carries. Inputs are snapped before
// they are used, predicted values at the end of each step, on both ends:
// so what is simulated from is what is sent.
func (t *TypeInfo) Snap(p unsafe.Pointer) { t.ops.snap(p) }

// Exceeds tells whether a predicted claim is to be corrected.
func (t *TypeInfo) Exceeds(server, claim unsafe.Pointer) bool {
	return t.ops.exceeds(server, claim, t)
}

// CanCombine tells whether two successive moves with these values (inputs, or
// predicted values at their starts) may become one.
func (t *TypeInfo) CanCombine(pending, next unsafe.Pointer) bool {
	return t.ops.canCombine(pending, next, t)
}

// Combine merges the pending move's input into the next one's.
func (t *TypeInfo) Combine(pending, next unsafe.Pointer) { t.ops.combine(pending, next) }

// Important tells whether an input is worth repeating.
func (t *TypeInfo) Important(now, acked unsafe.Pointer) bool {
	return t.ops.important(now, acked, t)
}

// FirstDifference names the first field in which two values differ, and
// whether there is one. It allocates: it is for reports.
func (t *TypeInfo) FirstDifference(a, b unsafe.Pointer) (Difference, bool) {
	d, ok := firstDifference(t.leaves, a, b)
	if ok {
		d.Type = t.Name
	}
	return d, ok
}

// CheckRoundTrip encodes and decodes the value at p by way of buf and returns
// an error that names the first field that did not come back, A being what was
// there. It is for tests of a codec. A value that Snap changes comes back
// changed: snap it first.
func (t *TypeInfo) CheckRoundTrip(p unsafe.Pointer, buf []byte) error {
	w := bits.NewWriter(buf)
	t.Encode(&w, p)
	if err := w.Err(); err != nil {
		return fmt.Errorf("%s: encoding: %w", t.Name, err)
	}
	r := bits.NewReader(w.Bytes())
	back := reflect.New(t.rtype).UnsafePointer()
	if err := t.Decode(&r, back); err != nil {
		return fmt.Errorf("%s: decoding: %w", t.Name, err)
	}
	if r.Bits() != w.Bits() {
		return fmt.Errorf("%s: the codec writes %d bits and reads %d", t.Name, w.Bits(), r.Bits())
	}
	if d, ok := t.FirstDifference(p, back); ok {
		return fmt.Errorf("the codec loses a value: %v", d)
	}
	return nil
}

// RegisterReplicated registers T as replicated under a name.
func RegisterReplicated[T any](r *Registry, name string, c Condition, codec Codec[T]) {
	must(TryRegisterReplicated(r, name, c, codec))
}

// TryRegisterReplicated is RegisterReplicated with the complaint as an error.
func TryRegisterReplicated[T any](r *Registry, name string, c Condition, codec Codec[T]) (*TypeInfo, error) {
	if codec == nil {
		return nil, fmt.Errorf("%w: %v as %q comes without a codec", ErrRegistry, reflect.TypeFor[T](), name)
	}
	return register(r, name, KindReplicated, c, codec, &erased[T]{codec: codec})
}

// RegisterInput registers T as input under a name. Both ends must have it and
// blocks hold it (BlockStore); moves do not carry it yet.
func RegisterInput[T any](r *Registry, name string, codec Codec[T], rules InputRules[T]) {
	must(TryRegisterInput(r, name, codec, rules))
}

// TryRegisterInput is RegisterInput with the complaint as an error.
func TryRegisterInput[T any](r *Registry, name string, codec Codec[T], rules InputRules[T]) (*TypeInfo, error) {
	if codec == nil {
		return nil, fmt.Errorf("%w: %v as %q comes without a codec", ErrRegistry, reflect.TypeFor[T](), name)
	}
	return register(r, name, KindInput, ToAll, codec, &erased[T]{codec: codec, input: rules})
}

// RegisterPredicted registers T as predicted under a name. A correction seeds
// a simulation, so the codec must carry the value exactly: ExactCodec, or
// TagCodec with values that are snapped at the end of each step. Both ends must
// have it and blocks hold it (BlockStore); moves, verdicts and corrections do
// not carry it yet.
func RegisterPredicted[T any](r *Registry, name string, codec Codec[T], rules PredictedRules[T]) {
	must(TryRegisterPredicted(r, name, codec, rules))
}

// TryRegisterPredicted is RegisterPredicted with the complaint as an error.
func TryRegisterPredicted[T any](r *Registry, name string, codec Codec[T], rules PredictedRules[T]) (*TypeInfo, error) {
	if codec == nil {
		return nil, fmt.Errorf("%w: %v as %q comes without a codec", ErrRegistry, reflect.TypeFor[T](), name)
	}
	return register(r, name, KindPredicted, OwnerOnly, codec, &erased[T]{codec: codec, predicted: rules})
}

// SetCodec gives the replicated type T its codec, in place of the one it has:
// netsync packs ReplicatedMovement. The registry must be open and have T.
func SetCodec[T any](r *Registry, codec Codec[T]) {
	t := reflect.TypeFor[T]()
	info := r.Lookup(KindReplicated, t)
	switch {
	case r.sealed:
		panic(fmt.Sprintf("components: SetCodec of %v: %v", t, ErrSealed))
	case info == nil || codec == nil:
		panic(fmt.Sprintf("components: SetCodec of %v: not registered as replicated, or no codec given", t))
	}
	text, err := codecText(codec)
	if err != nil {
		panic("components: " + err.Error())
	}
	info.codec, info.ops = text, &erased[T]{codec: codec}
}

func register[T any](r *Registry, name string, k TypeKind, c Condition, codec Codec[T], ops typeOps) (*TypeInfo, error) {
	t := reflect.TypeFor[T]()
	fail := func(format string, a ...any) (*TypeInfo, error) {
		return nil, fmt.Errorf("%w: %v as %v %q: %w", ErrRegistry, t, k, name, fmt.Errorf(format, a...))
	}
	if r.sealed {
		return fail("%w", ErrSealed)
	}
	if err := checkName(name); err != nil {
		return fail("%w", err)
	}
	if err := CheckPointerFree(t); err != nil {
		return fail("%w", err)
	}
	if c >= numConditions {
		return fail("there is no condition %d", c)
	}
	for kind := range r.types {
		for _, old := range r.types[kind] {
			switch {
			case TypeKind(kind) == k && old.rtype == t:
				return fail("the type is registered as %q", old.Name)
			case old.Name == name && old.rtype != t:
				return fail("the name is that of %v", old.rtype)
			case old.Name != name && old.rtype == t:
				return fail("the type is registered as %v %q; keep to one name", old.Kind, old.Name)
			}
		}
	}
	if len(r.types[k]) == MaxTypesPerKind {
		return fail("there are %d types of this kind and can be no more", MaxTypesPerKind)
	}
	leaves, err := leavesOf(t)
	if err != nil {
		return fail("%w", err)
	}
	if k != KindReplicated {
		for _, l := range leaves {
			if l.local {
				return fail(`field %s is tagged "-", but what a step reads must cross the wire`, fieldName(l.path))
			}
		}
	}
	info := &TypeInfo{
		Name: name, ID: ^uint16(0), Kind: k, Condition: c, Size: t.Size(), Align: uintptr(t.Align()),
		rtype: t, leaves: leaves, spans: spansOf(leaves), codec: noCodec, ops: ops,
	}
	if codec != nil {
		if info.codec, err = codecText(codec); err != nil {
			return fail("%w", err)
		}
	} else {
		info.ops = &erased[T]{}
	}
	r.types[k] = append(r.types[k], info)
	return info, nil
}

const noCodec = "none"

func codecText(codec any) (string, error) {
	if c, ok := codec.(interface{ compileError() error }); ok {
		if err := c.compileError(); err != nil {
			return "", err
		}
		return codec.(CodecVersioner).CodecVersion(), nil
	}
	text := reflect.TypeOf(codec).String()
	if v, ok := codec.(CodecVersioner); ok {
		text += " " + v.CodecVersion()
	}
	return text, nil
}

// typeOps is a type behind pointers.
type typeOps interface {
	encode(w *bits.Writer, p unsafe.Pointer)
	decode(r *bits.Reader, p unsafe.Pointer) error
	encodeDelta(w *bits.Writer, p, base unsafe.Pointer, t *TypeInfo)
	decodeDelta(r *bits.Reader, p, base unsafe.Pointer, t *TypeInfo) error
	copy(dst, src unsafe.Pointer)
	snap(p unsafe.Pointer)
	same(a, b unsafe.Pointer, t *TypeInfo) bool
	compiled() bool
	exceeds(server, claim unsafe.Pointer, t *TypeInfo) bool
	canCombine(pending, next unsafe.Pointer, t *TypeInfo) bool
	combine(pending, next unsafe.Pointer)
	important(now, acked unsafe.Pointer, t *TypeInfo) bool
}

type erased[T any] struct {
	codec     Codec[T]
	input     InputRules[T]
	predicted PredictedRules[T]
	// scratch is where Decode works, so that a failed one leaves no trace. It
	// is swapped out while in use: a second decode at the same time makes its
	// own.
	scratch atomic.Pointer[T]
}

func (e *erased[T]) must() Codec[T] {
	if e.codec == nil {
		panic(fmt.Sprintf("components: %v has no codec; SetCodec gives it one before Seal", reflect.TypeFor[T]()))
	}
	return e.codec
}

func (e *erased[T]) borrow() *T {
	if v := e.scratch.Swap(nil); v != nil {
		return v
	}
	return new(T)
}

func (e *erased[T]) encode(w *bits.Writer, p unsafe.Pointer) { e.must().Encode(w, (*T)(p)) }

func (e *erased[T]) decode(r *bits.Reader, p unsafe.Pointer) error {
	v := e.borrow()
	*v = *(*T)(p)
	e.must().Decode(r, v)
	err := r.Err()
	if err == nil {
		*(*T)(p) = *v
	}
	e.scratch.Store(v)
	return err
}

func (e *erased[T]) encodeDelta(w *bits.Writer, p, base unsafe.Pointer, t *TypeInfo) {
	if d, ok := e.must().(DeltaCodec[T]); ok {
		d.EncodeDelta(w, (*T)(p), (*T)(base))
		return
	}
	changed := !t.Equal(p, base)
	w.WriteBool(changed)
	if changed {
		e.codec.Encode(w, (*T)(p))
	}
}

func (e *erased[T]) decodeDelta(r *bits.Reader, p, base unsafe.Pointer, t *TypeInfo) error {
	v := e.borrow()
	*v = *(*T)(base)
	if d, ok := e.must().(DeltaCodec[T]); ok {
		d.DecodeDelta(r, v, (*T)(base))
	} else if r.ReadBool() {
		e.codec.Decode(r, v)
	}
	err := r.Err()
	if err == nil {
		for i := range t.leaves {
			l := &t.leaves[i]
			if l.local { // stays this machine's own
				n := l.typ.Size()
				copy(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(v), l.off)), n), unsafe.Slice((*byte)(unsafe.Add(p, l.off)), n))
			}
		}
		*(*T)(p) = *v
	}
	e.scratch.Store(v)
	return err
}

func (e *erased[T]) copy(dst, src unsafe.Pointer) { *(*T)(dst) = *(*T)(src) }

func (e *erased[T]) snap(p unsafe.Pointer) {
	if s, ok := e.codec.(Snapper[T]); ok {
		s.Snap((*T)(p))
	}
}

func (e *erased[T]) exceeds(server, claim unsafe.Pointer, t *TypeInfo) bool {
	if f := e.predicted.Exceeds; f != nil {
		return f((*T)(server), (*T)(claim))
	}
	return !e.same(server, claim, t)
}

// same compares two values as sent: with a compiled codec those that differ
// below its steps are equal.
func (e *erased[T]) same(a, b unsafe.Pointer, t *TypeInfo) bool {
	if c, ok := e.codec.(*compiledCodec[T]); ok {
		return c.program().equal(a, b)
	}
	return t.Equal(a, b)
}

func (e *erased[T]) compiled() bool {
	_, ok := e.codec.(*compiledCodec[T])
	return ok
}

func (e *erased[T]) canCombine(pending, next unsafe.Pointer, t *TypeInfo) bool {
	if t.Kind == KindPredicted {
		f := e.predicted.CanCombine
		return f == nil || f((*T)(pending), (*T)(next))
	}
	if f := e.input.CanCombine; f != nil {
		return f((*T)(pending), (*T)(next))
	}
	return t.Equal(pending, next)
}

func (e *erased[T]) combine(pending, next unsafe.Pointer) {
	if f := e.input.Combine; f != nil {
		f((*T)(pending), (*T)(next))
	}
}

func (e *erased[T]) important(now, acked unsafe.Pointer, t *TypeInfo) bool {
	if f := e.input.Important; f != nil {
		return f((*T)(now), (*T)(acked))
	}
	return !t.Equal(now, acked)
}
