package components

import (
	"bytes"
	"math"
	"reflect"
	"testing"
	"unsafe"

	"github.com/gaitnet/gait/netsync/bits"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// finite draws a float of any magnitude, -0 among them.
func finite() *rapid.Generator[float64] {
	return rapid.Custom(func(r *rapid.T) float64 {
		v := math.Float64frombits(rapid.Uint64().Draw(r, "bits"))
		if v-v != 0 {
			return math.Copysign(0, -1)
		}
		return v
	})
}

func genStamina() *rapid.Generator[stamina] {
	return rapid.Custom(func(r *rapid.T) stamina {
		var s stamina
		s.Value = rapid.OneOf(rapid.Just(0.0), finite()).Draw(r, "value")
		s.Regen = rapid.Float32().Draw(r, "regen")
		s.Stance = stance(rapid.Uint8().Draw(r, "stance"))
		for i := range s.History {
			s.History[i].At = Ticks(rapid.Int64().Draw(r, "at"))
			s.History[i].Hit = rapid.Bool().Draw(r, "hit")
		}
		return s
	})
}

func genAim() *rapid.Generator[aim] {
	return rapid.Custom(func(r *rapid.T) aim {
		a := aim{
			Zoom: rapid.Float32().Draw(r, "zoom"), Level: finite().Draw(r, "level"),
			Weapon: stance(rapid.IntRange(0, 4).Draw(r, "weapon")), Delta: int16(rapid.IntRange(-64, 63).Draw(r, "delta")),
			Slot: uint32(rapid.IntRange(10, 20).Draw(r, "slot")), Key: rapid.Uint64().Draw(r, "key"),
			Exact: finite().Draw(r, "exact"), Held: rapid.Bool().Draw(r, "held"),
		}
		for i := range a.Dir {
			a.Dir[i] = rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(-1e6, 1e6), finite()).Draw(r, "dir")
		}
		return a
	})
}

func TestExactCodecKeepsEveryBit(t *testing.T) {
	ti := sealedRegistry().LookupName(KindPredicted, "stamina")
	buf := make([]byte, 256)
	rapid.Check(t, func(r *rapid.T) {
		s := genStamina().Draw(r, "s")
		if err := ti.CheckRoundTrip(unsafe.Pointer(&s), buf); err != nil {
			r.Fatal(err)
		}
	})
}

func TestWholeMovementStateIsCarriedExactly(t *testing.T) {
	r := NewRegistry()
	ti, err := TryRegisterPredicted(r, "state", ExactCodec[MovementState](), PredictedRules[MovementState]{})
	require.NoError(t, err)
	s := MovementState{
		Location: Vec3{1, -2.5, math.Copysign(0, -1)}, GravityDir: Vec3{0, 0, -1}, Rotation: Rotator{1, 2, 3},
		Base: 7, JumpHold: -4, JumpCount: 2, WasJumping: true, Mode: ModeFalling, Crouched: true, TimeDilation: 1,
	}
	require.NoError(t, ti.CheckRoundTrip(unsafe.Pointer(&s), make([]byte, 512)))
}

func TestSnappedTagValuesAreFixedPoints(t *testing.T) {
	ti := sealedRegistry().LookupName(KindInput, "aim")
	buf, buf2 := make([]byte, 256), make([]byte, 256)
	rapid.Check(t, func(r *rapid.T) {
		a := genAim().Draw(r, "a")
		raw := a
		p := unsafe.Pointer(&a)
		ti.Snap(p)
		if err := ti.CheckRoundTrip(p, buf); err != nil {
			r.Fatal(err)
		}
		w, w2 := bits.NewWriter(buf), bits.NewWriter(buf2)
		ti.Encode(&w, unsafe.Pointer(&raw))
		ti.Encode(&w2, p)
		require.Equal(r, w.Bytes(), w2.Bytes(), "rounding before sending changes nothing that is sent")
		require.False(r, ti.ops.exceeds(unsafe.Pointer(&raw), p, ti))
	})
}

func TestTagsQuantiseAsTheySay(t *testing.T) {
	ti := sealedRegistry().LookupName(KindInput, "aim")
	a := aim{Dir: Vec3{1.2345, -0.005, math.NaN()}, Zoom: 99, Level: -1.9, Weapon: 4, Slot: 10, Exact: 0.1}
	ti.Snap(unsafe.Pointer(&a))
	require.Equal(t, aim{Dir: Vec3{1.23, -0.01, 0}, Zoom: 12.7, Level: -2, Weapon: 4, Slot: 10, Exact: 0.1}, a)

	var w bits.Writer
	ti.Encode(&w, unsafe.Pointer(&aim{Slot: 10}))
	// Dir 3x1, Zoom 8, Level 5 (-8..8), Weapon 3, Delta 7, Slot 4, Key 64, Exact 1, Held 1.
	require.Equal(t, 3+8+5+3+7+4+64+1+1, w.Bits())
}

func TestValuesOutsideTheirCodeAreRefused(t *testing.T) {
	r := sealedRegistry()
	in, st := r.LookupName(KindInput, "aim"), r.LookupName(KindPredicted, "stamina")
	for name, a := range map[string]aim{
		"enum": {Weapon: 5, Slot: 10}, "bits": {Delta: 64, Slot: 10}, "low": {Slot: 9}, "high": {Slot: 21},
		"nan": {Exact: math.NaN(), Slot: 10}, "inf": {Exact: math.Inf(1), Slot: 10},
	} {
		w := bits.NewWriter(make([]byte, 256))
		in.Encode(&w, unsafe.Pointer(&a))
		require.ErrorIs(t, w.Err(), bits.ErrRange, name)
	}
	w := bits.NewWriter(make([]byte, 256))
	st.Encode(&w, unsafe.Pointer(&stamina{Regen: float32(math.Inf(-1))}))
	require.ErrorIs(t, w.Err(), bits.ErrRange)
}

func TestBitsThatNoEncoderWritesAreRefused(t *testing.T) {
	r := sealedRegistry()
	st, in := r.LookupName(KindPredicted, "stamina"), r.LookupName(KindInput, "sprint")
	for _, f := range []float64{math.NaN(), math.Inf(1), 0} { // 0 has a form of one bit
		w := bits.NewWriter(make([]byte, 64))
		w.WriteBool(true)
		w.WriteBits(math.Float64bits(f), 64)
		w.WriteBytes(make([]byte, 25))
		rd := bits.NewReader(w.Bytes())
		var s stamina
		require.ErrorIs(t, st.Decode(&rd, unsafe.Pointer(&s)), bits.ErrInvalid, f)
	}
	rd := bits.NewReader([]byte{0b11}) // changed, to what base has
	base := sprint{true}
	got := sprint{}
	require.ErrorIs(t, in.DecodeDelta(&rd, unsafe.Pointer(&got), unsafe.Pointer(&base)), bits.ErrInvalid)
	require.False(t, got.On)
}

func TestBadTagsAreRefusedByField(t *testing.T) {
	refuse := func(c any, want string) {
		t.Helper()
		err := c.(interface{ compileError() error }).compileError()
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "field X")
	}
	refuse(TagCodec[struct {
		X float64 `gait:"bits=7"`
	}](), "takes a scale")
	refuse(TagCodec[struct {
		X float64 `gait:"scale=0"`
	}](), "1e-9..1e9")
	refuse(TagCodec[struct {
		X float64 `gait:"scale=NaN"`
	}](), "1e-9..1e9")
	refuse(TagCodec[struct {
		X float32 `gait:"scale=10,bits=24"`
	}](), "±4194304")
	refuse(TagCodec[struct {
		X float64 `gait:"scale=1,min=5,max=-5"`
	}](), "the least first")
	refuse(TagCodec[struct {
		X float64 `gait:"scale=1,min=-Inf,max=5"`
	}](), "a bound is finite")
	refuse(TagCodec[struct {
		X int8 `gait:"bits=9"`
	}](), "-128..127")
	refuse(TagCodec[struct {
		X uint8 `gait:"min=-1,max=3"`
	}](), "0..255")
	refuse(TagCodec[struct {
		X uint8 `gait:"enum=257"`
	}](), "0..255")
	refuse(TagCodec[struct {
		X int32 `gait:"min=1"`
	}](), "go together")
	refuse(TagCodec[struct {
		X int32 `gait:"min=1.5,max=3"`
	}](), "whole numbers")
	refuse(TagCodec[struct {
		X int32 `gait:"min=1,max=3,bits=4"`
	}](), "contradicts")
	refuse(TagCodec[struct {
		X bool `gait:"bits=1"`
	}](), "a bool is one bit")
	refuse(TagCodec[struct {
		X int32 `gait:"width=3"`
	}](), "not understood")
	refuse(TagCodec[struct {
		X int32 `gait:"bits"`
	}](), "not understood")
	require.Panics(t, func() {
		TagCodec[struct {
			X bool `gait:"bits=1"`
		}]().Encode(nil, nil)
	})
}

func TestTagOfAStructGoesToItsFields(t *testing.T) {
	type inner struct {
		A float64
		B float64 `gait:"exact"`
	}
	type outer struct {
		In [2]inner `gait:"scale=10"`
	}
	c := TagCodec[outer]().(*compiledCodec[outer])
	require.NoError(t, c.err)
	require.Equal(t, "In[0].A:scale10/-1125899906842624..1125899906842624 In[0].B:finite64 "+
		"In[1].A:scale10/-1125899906842624..1125899906842624 In[1].B:finite64", c.CodecVersion())
}

func TestDeltaGivesTheValueBack(t *testing.T) {
	r := sealedRegistry()
	in, st := r.LookupName(KindInput, "aim"), r.LookupName(KindPredicted, "stamina")
	rapid.Check(t, func(r *rapid.T) {
		a, base := genAim().Draw(r, "a"), genAim().Draw(r, "base")
		in.Snap(unsafe.Pointer(&a))
		in.Snap(unsafe.Pointer(&base))
		if rapid.Bool().Draw(r, "near") {
			base = a
			base.Key++
		}
		deltaRoundTrip(r, in, unsafe.Pointer(&a), unsafe.Pointer(&base))
		s, sb := genStamina().Draw(r, "s"), genStamina().Draw(r, "sb")
		deltaRoundTrip(r, st, unsafe.Pointer(&s), unsafe.Pointer(&sb))
	})
}

func deltaRoundTrip(t require.TestingT, ti *TypeInfo, p, base unsafe.Pointer) {
	w := bits.NewWriter(make([]byte, 512))
	ti.EncodeDelta(&w, p, base)
	require.NoError(t, w.Err())
	rd := bits.NewReader(w.Bytes())
	got := reflect.New(ti.rtype).UnsafePointer()
	require.NoError(t, ti.DecodeDelta(&rd, got, base))
	require.NoError(t, rd.Finish())
	d, differs := ti.FirstDifference(p, got)
	require.False(t, differs, d)
}

func TestEqualValueCostsOneBit(t *testing.T) {
	ti := sealedRegistry().LookupName(KindInput, "aim")
	a := aim{Slot: 12, Dir: Vec3{1, 2, 3}}
	b := a
	b.Dir[0] += 0.001 // below the step
	var w bits.Writer
	ti.EncodeDelta(&w, unsafe.Pointer(&b), unsafe.Pointer(&a))
	require.Equal(t, 1, w.Bits())
}

// shortCodec is a codec of a game's own, without a delta.
type shortCodec struct{ version string }

func (shortCodec) Encode(w *bits.Writer, v *health) { w.WriteBits(uint64(uint32(v.Now)), 32) }
func (shortCodec) Decode(r *bits.Reader, v *health) {
	if v.Now = int32(r.ReadBits(32)); v.Now < 0 {
		r.Invalid()
	}
}
func (c shortCodec) CodecVersion() string { return c.version }

func TestOwnCodecGetsADeltaAndKeepsLocalFields(t *testing.T) {
	r := NewRegistry()
	RegisterReplicated(r, "health", ToAll, Codec[health](shortCodec{"v1"}))
	r.Seal()
	ti := r.LookupName(KindReplicated, "health")
	require.Contains(t, r.Describe(), "codec components.shortCodec v1")

	base, now, got := health{Now: 5, Drawn: 1}, health{Now: 6, Drawn: 2}, health{Now: 1, Drawn: 3}
	w := bits.NewWriter(make([]byte, 16))
	ti.EncodeDelta(&w, unsafe.Pointer(&now), unsafe.Pointer(&base))
	require.Equal(t, 33, w.Bits())
	rd := bits.NewReader(w.Bytes())
	require.NoError(t, ti.DecodeDelta(&rd, unsafe.Pointer(&got), unsafe.Pointer(&base)))
	require.Equal(t, health{Now: 6, Drawn: 3}, got)

	w.Reset(make([]byte, 16))
	now.Now = 5
	ti.EncodeDelta(&w, unsafe.Pointer(&now), unsafe.Pointer(&base))
	require.Equal(t, 1, w.Bits(), "a local field does not count")
	rd.Reset(w.Bytes())
	require.NoError(t, ti.DecodeDelta(&rd, unsafe.Pointer(&got), unsafe.Pointer(&base)))
	require.Equal(t, health{Now: 5, Drawn: 3}, got)
}

func TestFailedDecodeLeavesNoTrace(t *testing.T) {
	r := NewRegistry()
	RegisterReplicated(r, "health", ToAll, Codec[health](shortCodec{}))
	RegisterInput(r, "aim", TagCodec[aim](), InputRules[aim]{})
	r.Seal()
	h := health{Now: 3, Drawn: 4}
	rd := bits.NewReader([]byte{0xff, 0xff, 0xff, 0xff}) // Decode has written before it refuses
	require.ErrorIs(t, r.LookupName(KindReplicated, "health").Decode(&rd, unsafe.Pointer(&h)), bits.ErrInvalid)
	require.Equal(t, health{Now: 3, Drawn: 4}, h)

	a := aim{Slot: 12, Dir: Vec3{1, 2, 3}}
	was := a
	rd = bits.NewReader([]byte{0, 0})
	require.ErrorIs(t, r.LookupName(KindInput, "aim").Decode(&rd, unsafe.Pointer(&a)), bits.ErrShort)
	require.Equal(t, was, a)
	rd = bits.NewReader([]byte{0xff})
	base := aim{}
	require.Error(t, r.LookupName(KindInput, "aim").DecodeDelta(&rd, unsafe.Pointer(&a), unsafe.Pointer(&base)))
	require.Equal(t, was, a)
}

// losesABit drops a float's last bit.
type losesABit struct{}

func (losesABit) Encode(w *bits.Writer, v *stamina) { ExactCodec[stamina]().Encode(w, v) }
func (losesABit) Decode(r *bits.Reader, v *stamina) {
	ExactCodec[stamina]().Decode(r, v)
	v.Value = math.Float64frombits(math.Float64bits(v.Value) &^ 1)
}

func TestCodecThatLosesABitIsCaughtByName(t *testing.T) {
	r := NewRegistry()
	RegisterPredicted(r, "stamina", Codec[stamina](losesABit{}), PredictedRules[stamina]{})
	r.Seal()
	s := stamina{Value: 0.5, Regen: 1}
	require.NoError(t, r.LookupName(KindPredicted, "stamina").CheckRoundTrip(unsafe.Pointer(&s), make([]byte, 64)))
	s.Value = 0.3
	require.EqualError(t, r.LookupName(KindPredicted, "stamina").CheckRoundTrip(unsafe.Pointer(&s), make([]byte, 64)),
		"the codec loses a value: stamina.Value: 0.3 against 0.29999999999999993")
}

func TestPaddingDoesNotMatter(t *testing.T) {
	ti := sealedRegistry().LookupName(KindPredicted, "stamina")
	var a, b stamina
	clean := unsafe.Slice((*byte)(unsafe.Pointer(&a)), unsafe.Sizeof(a))
	dirty := unsafe.Slice((*byte)(unsafe.Pointer(&b)), unsafe.Sizeof(b))
	for i := range dirty {
		dirty[i] = 0xaa
	}
	b.Value, b.Regen, b.Stance = 0, 0, 0
	for i := range b.History {
		b.History[i].At, b.History[i].Hit = 0, false
	}
	require.False(t, bytes.Equal(clean, dirty))
	require.True(t, ti.Equal(unsafe.Pointer(&a), unsafe.Pointer(&b)))
	b.History[1].Hit = true
	require.False(t, ti.Equal(unsafe.Pointer(&a), unsafe.Pointer(&b)))
}

func TestDifferencesAreNamedWithBothValues(t *testing.T) {
	ti := sealedRegistry().LookupName(KindPredicted, "stamina")
	diff := func(a, b stamina) string {
		d, ok := ti.FirstDifference(unsafe.Pointer(&a), unsafe.Pointer(&b))
		require.Equal(t, !ti.Equal(unsafe.Pointer(&a), unsafe.Pointer(&b)), ok)
		if !ok {
			return ""
		}
		return d.String()
	}
	require.Empty(t, diff(stamina{Value: math.NaN()}, stamina{Value: math.NaN()}))
	require.Equal(t, "stamina.Value: 0 against -0", diff(stamina{}, stamina{Value: math.Copysign(0, -1)}))
	require.Equal(t, "stamina.Value: NaN(0x7ff8000000000001) against 1.5", diff(stamina{Value: math.NaN()}, stamina{Value: 1.5}))
	require.Equal(t, "stamina.Regen: 0.1 against 0.2", diff(stamina{Regen: 0.1}, stamina{Regen: 0.2}))
	require.Equal(t, "stamina.Stance: standing (0) against standing (2)", diff(stamina{}, stamina{Stance: 2}))
	var s stamina
	s.History[1].At = -9
	require.Equal(t, "stamina.History[1].At: 0 against -9", diff(stamina{}, s))
	s = stamina{}
	s.History[0].Hit = true
	require.Equal(t, "stamina.History[0].Hit: true against false", diff(s, stamina{}))
}

func TestRulesHaveTheirDefaults(t *testing.T) {
	r := sealedRegistry()
	in, st := r.LookupName(KindInput, "sprint"), r.LookupName(KindPredicted, "stamina")
	on, off := unsafe.Pointer(&sprint{true}), unsafe.Pointer(&sprint{})
	require.True(t, in.CanCombine(on, on))
	require.False(t, in.CanCombine(on, off))
	require.True(t, in.Important(on, off))
	require.False(t, in.Important(on, on))
	next := sprint{}
	in.Combine(on, unsafe.Pointer(&next))
	require.False(t, next.On)

	a, b := unsafe.Pointer(&stamina{Value: 1}), unsafe.Pointer(&stamina{Value: math.Nextafter(1, 2)})
	require.True(t, st.Exceeds(a, b))
	require.False(t, st.Exceeds(a, a))
	require.True(t, st.CanCombine(a, b))
}

func TestRulesOfAGameAreAsked(t *testing.T) {
	r := NewRegistry()
	RegisterInput(r, "sprint", TagCodec[sprint](), InputRules[sprint]{
		CanCombine: func(a, b *sprint) bool { return a.On && !b.On },
		Combine:    func(a, b *sprint) { b.On = b.On || a.On },
		Important:  func(now, acked *sprint) bool { return now.On && acked.On },
	})
	RegisterPredicted(r, "stamina", ExactCodec[stamina](), PredictedRules[stamina]{
		Exceeds:    func(server, claim *stamina) bool { return server.Value-claim.Value > 1 },
		CanCombine: func(a, b *stamina) bool { return (a.Value > 0) == (b.Value > 0) },
	})
	r.Seal()
	in, st := r.LookupName(KindInput, "sprint"), r.LookupName(KindPredicted, "stamina")
	on, off := &sprint{true}, &sprint{}
	require.True(t, in.CanCombine(unsafe.Pointer(on), unsafe.Pointer(off)))
	require.False(t, in.CanCombine(unsafe.Pointer(on), unsafe.Pointer(on)))
	require.True(t, in.Important(unsafe.Pointer(on), unsafe.Pointer(on)))
	in.Combine(unsafe.Pointer(on), unsafe.Pointer(off))
	require.True(t, off.On)
	full, near, empty := &stamina{Value: 3}, &stamina{Value: 2.5}, &stamina{}
	require.False(t, st.Exceeds(unsafe.Pointer(full), unsafe.Pointer(near)))
	require.True(t, st.Exceeds(unsafe.Pointer(full), unsafe.Pointer(empty)))
	require.False(t, st.CanCombine(unsafe.Pointer(full), unsafe.Pointer(empty)))
}

func TestCodecsDoNotAllocate(t *testing.T) {
	r := NewRegistry()
	RegisterReplicated(r, "health", ToAll, Codec[health](shortCodec{}))
	RegisterInput(r, "aim", TagCodec[aim](), InputRules[aim]{})
	r.Seal()
	in, he := r.LookupName(KindInput, "aim"), r.LookupName(KindReplicated, "health")
	buf := make([]byte, 512)
	a, base, h := aim{Slot: 11, Dir: Vec3{1, 2, 3}}, aim{Slot: 10}, health{Now: 3}
	w, rd := new(bits.Writer), new(bits.Reader)
	run := func() {
		p, pb, ph := unsafe.Pointer(&a), unsafe.Pointer(&base), unsafe.Pointer(&h)
		in.Snap(p)
		w.Reset(buf)
		in.Encode(w, p)
		in.EncodeDelta(w, p, pb)
		he.Encode(w, ph)
		he.EncodeDelta(w, ph, ph)
		rd.Reset(w.Bytes())
		ok := in.Decode(rd, p) == nil && in.DecodeDelta(rd, p, pb) == nil && he.Decode(rd, ph) == nil && he.DecodeDelta(rd, ph, ph) == nil
		if !ok || !in.Equal(p, p) || in.Exceeds(p, p) || !in.CanCombine(p, p) {
			t.Error("the round trip failed")
		}
	}
	require.Zero(t, testing.AllocsPerRun(100, run))
}

// Whatever decodes, encodes to the same bits: one value, one encoding.
func fuzzType(f *testing.F, pick func(r *Registry) *TypeInfo, seed func(w *bits.Writer, ti *TypeInfo)) {
	r := sealedRegistry()
	ti := pick(r)
	w := bits.NewWriter(make([]byte, 512))
	seed(&w, ti)
	f.Add(w.Bytes())
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, 64))
	f.Fuzz(func(t *testing.T, in []byte) {
		p := reflect.New(ti.rtype).UnsafePointer()
		rd := bits.NewReader(in)
		if ti.Decode(&rd, p) == nil {
			w := bits.NewWriter(make([]byte, 512))
			ti.Encode(&w, p)
			requireSameBits(t, &w, in, rd.Bits())
		}
		base := reflect.New(ti.rtype).UnsafePointer()
		ti.Snap(base)
		rd = bits.NewReader(in)
		if ti.DecodeDelta(&rd, p, base) == nil {
			w := bits.NewWriter(make([]byte, 512))
			ti.EncodeDelta(&w, p, base)
			requireSameBits(t, &w, in, rd.Bits())
		}
	})
}

func requireSameBits(t *testing.T, w *bits.Writer, in []byte, n int) {
	require.NoError(t, w.Err())
	require.Equal(t, n, w.Bits())
	a, b := bits.NewReader(w.Bytes()), bits.NewReader(in)
	for ; n > 0; n-- {
		require.Equal(t, b.ReadBool(), a.ReadBool())
	}
}

func FuzzTagCodec(f *testing.F) {
	fuzzType(f, func(r *Registry) *TypeInfo { return r.LookupName(KindInput, "aim") }, func(w *bits.Writer, ti *TypeInfo) {
		ti.Encode(w, unsafe.Pointer(&aim{Slot: 13, Dir: Vec3{100, -3, 0.25}, Zoom: 3, Weapon: 2, Delta: -5, Exact: 0.5}))
	})
}

func FuzzExactCodec(f *testing.F) {
	fuzzType(f, func(r *Registry) *TypeInfo { return r.LookupName(KindPredicted, "stamina") }, func(w *bits.Writer, ti *TypeInfo) {
		ti.Encode(w, unsafe.Pointer(&stamina{Value: 1.5, Regen: 2, Stance: 1}))
	})
}
