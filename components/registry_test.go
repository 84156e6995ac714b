package components

import (
	"errors"
	"reflect"
	"testing"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

// What a game might register.
type (
	sprint  struct{ On bool }
	stance  uint8
	stamina struct {
		Value   float64
		Regen   float32
		Stance  stance
		_       [3]byte
		History [2]struct {
			At  Ticks
			Hit bool
		}
	}
	aim struct {
		Dir    Vec3    `gait:"scale=100"`
		Zoom   float32 `gait:"scale=10,bits=8"`
		Level  float64 `gait:"scale=4,min=-2,max=2"`
		Weapon stance  `gait:"enum=5"`
		Delta  int16   `gait:"bits=7"`
		Slot   uint32  `gait:"min=10,max=20"`
		Key    uint64
		Exact  float64 `gait:"exact"`
		Held   bool
	}
	health struct {
		Now   int32 `gait:"bits=10"`
		Drawn int32 `gait:"-"`
	}
	marker struct{}
)

func (s stance) String() string { return [...]string{"standing", "prone"}[s%2] }

func gameRegistry() *Registry {
	r := NewRegistry()
	r.RegisterMode(FirstCustomMode, "glide")
	r.RegisterModeInfo(ModeInfo{ID: 40, Name: "zipline", MaxPayload: 24, Version: 2})
	RegisterPredicted(r, "stamina", ExactCodec[stamina](), PredictedRules[stamina]{})
	RegisterInput(r, "sprint", TagCodec[sprint](), InputRules[sprint]{})
	RegisterReplicated(r, "health", ToAll, TagCodec[health]())
	RegisterInput(r, "aim", TagCodec[aim](), InputRules[aim]{})
	RegisterReplicated(r, "stamina", SkipOwner, ExactCodec[stamina]())
	RegisterPredicted(r, "marker", ExactCodec[marker](), PredictedRules[marker]{})
	return r
}

func sealedRegistry() *Registry {
	r := gameRegistry()
	r.Seal()
	return r
}

func TestBuiltInModesAreRegistered(t *testing.T) {
	r := NewRegistry()
	for id, name := range map[MovementMode]string{ModeWalking: "walking", ModeFalling: "falling", ModeSwimming: "swimming", ModeFlying: "flying"} {
		m, ok := r.Mode(id)
		require.True(t, ok)
		require.Equal(t, ModeInfo{ID: id, Name: name}, m)
	}
	require.False(t, r.HasMode(ModeNone))
	require.False(t, r.HasMode(FirstCustomMode))
	require.Equal(t, "none", r.ModeName(ModeNone))
	require.Equal(t, "mode 77", r.ModeName(77))
}

func TestTwoModesUnderOneIDAreNamedBoth(t *testing.T) {
	r := NewRegistry()
	r.RegisterMode(20, "dash")
	err := r.TryRegisterMode(ModeInfo{ID: 20, Name: "glide"})
	require.ErrorIs(t, err, ErrRegistry)
	require.ErrorContains(t, err, `mode "glide" has the ID 20, which mode "dash" has`)
	require.ErrorContains(t, r.TryRegisterMode(ModeInfo{ID: ModeFlying, Name: "glide"}), `mode "flying"`)
	require.ErrorContains(t, r.TryRegisterMode(ModeInfo{ID: 21, Name: "dash"}), `modes 20 and 21 are both named "dash"`)
	require.ErrorContains(t, r.TryRegisterMode(ModeInfo{ID: 15, Name: "glide"}), "start at 16")
	require.ErrorContains(t, r.TryRegisterMode(ModeInfo{ID: 22, Name: "two words"}), "without spaces")
	require.ErrorContains(t, r.TryRegisterMode(ModeInfo{ID: 22}), "1..64")
	require.PanicsWithValue(t, `components: registry: mode "glide" has the ID 20, which mode "dash" has`,
		func() { r.RegisterMode(20, "glide") })
	require.Equal(t, "dash", r.ModeName(20))
}

func TestReplicatedMovementIsTheFirstEntry(t *testing.T) {
	r := sealedRegistry()
	first := r.Type(0)
	require.Equal(t, reflect.TypeFor[ReplicatedMovement](), first.Type())
	require.Equal(t, MovementTypeName, first.Name)
	require.Equal(t, KindReplicated, first.Kind)
	require.Equal(t, SkipOwner, first.Condition)
	require.False(t, first.HasCodec())
}

func TestMovementGetsItsCodecBeforeSeal(t *testing.T) {
	r := NewRegistry()
	SetCodec(r, ExactCodec[ReplicatedMovement]())
	without := NewRegistry()
	without.Seal()
	r.Seal()
	require.True(t, r.Type(0).HasCodec())
	require.NotEqual(t, without.Hash(), r.Hash())
	require.PanicsWithValue(t, "components: SetCodec of components.ReplicatedMovement: the registry is sealed",
		func() { SetCodec(r, ExactCodec[ReplicatedMovement]()) })
	require.Panics(t, func() { SetCodec(NewRegistry(), ExactCodec[health]()) })
	require.PanicsWithValue(t, "components: components.ReplicatedMovement has no codec; SetCodec gives it one before Seal",
		func() { without.Type(0).ops.encode(nil, nil) })
}

func TestSealOrdersByKindThenRegistration(t *testing.T) {
	r := sealedRegistry()
	var got []string
	for i, ti := range r.Types() {
		require.Equal(t, uint16(i), ti.ID)
		require.Same(t, ti, r.OfKind(ti.Kind)[ti.Index])
		got = append(got, ti.Kind.String()+" "+ti.Name)
	}
	require.Equal(t, []string{
		"replicated gait.movement", "replicated health", "replicated stamina",
		"input sprint", "input aim", "predicted stamina", "predicted marker",
	}, got)
	require.Nil(t, r.Type(7))
	require.Nil(t, r.Type(65535))
	require.Equal(t, "aim", r.Lookup(KindInput, reflect.TypeFor[aim]()).Name)
	require.Nil(t, r.Lookup(KindPredicted, reflect.TypeFor[aim]()))
	require.Equal(t, uint16(5), r.LookupName(KindPredicted, "stamina").ID)
}

func TestNothingIsRegisteredAfterSeal(t *testing.T) {
	r := sealedRegistry()
	hash := r.Hash()
	_, err := TryRegisterInput(r, "late", TagCodec[struct{ X bool }](), InputRules[struct{ X bool }]{})
	require.ErrorIs(t, err, ErrSealed)
	require.ErrorIs(t, err, ErrRegistry)
	require.ErrorContains(t, err, "struct { X bool }")
	require.ErrorIs(t, r.TryRegisterMode(ModeInfo{ID: 99, Name: "late"}), ErrSealed)
	r.Seal()
	require.Equal(t, hash, r.Hash())
	require.Len(t, r.Types(), 7)
}

func TestOpenRegistryIsNotUsed(t *testing.T) {
	r := NewRegistry()
	for _, f := range []func(){
		func() { r.Hash() }, func() { r.Types() }, func() { r.Type(0) }, func() { r.Stride(KindInput) },
		func() { _ = r.Describe() }, func() { r.Fingerprints() }, func() { r.OfKind(KindInput) },
	} {
		require.PanicsWithValue(t, "components.Registry: used before Seal", f)
	}
}

func TestPointerfulTypesAreRefusedByTypeAndField(t *testing.T) {
	type withSlice struct{ Items []int }
	type withMap struct{ Index map[int]int }
	type deep struct {
		In struct{ Deeper struct{ P *int } }
	}
	r := NewRegistry()
	check := func(err error, path string) {
		var pe *PointerError
		require.ErrorAs(t, err, &pe)
		require.ErrorIs(t, err, ErrRegistry)
		require.ErrorContains(t, err, path)
	}
	_, err := TryRegisterInput(r, "a", TagCodec[withSlice](), InputRules[withSlice]{})
	check(err, "components.withSlice.Items")
	_, err = TryRegisterPredicted(r, "b", ExactCodec[withMap](), PredictedRules[withMap]{})
	check(err, "components.withMap.Index")
	_, err = TryRegisterReplicated(r, "c", ToAll, ExactCodec[deep]())
	check(err, "components.deep.In.Deeper.P")
	require.Panics(t, func() { RegisterInput(r, "a", TagCodec[withSlice](), InputRules[withSlice]{}) })
	require.Nil(t, r.LookupName(KindInput, "a"))
}

func TestTypesThatMeanNothingElsewhereAreRefused(t *testing.T) {
	type holdsEntity struct{ Target arche.Entity }
	type holdsInt struct{ N [2]int }
	type holdsComplex struct{ C complex64 }
	type huge struct{ B [4097]byte }
	type local struct {
		X int8 `gait:"-"`
	}
	r := NewRegistry()
	_, err := TryRegisterInput(r, "x", ExactCodec[holdsEntity](), InputRules[holdsEntity]{})
	require.ErrorContains(t, err, "Target is an arche Entity")
	_, err = TryRegisterInput(r, "x", ExactCodec[holdsInt](), InputRules[holdsInt]{})
	require.ErrorContains(t, err, "N[0] is of kind int, whose width differs by target")
	_, err = TryRegisterInput(r, "x", ExactCodec[holdsComplex](), InputRules[holdsComplex]{})
	require.ErrorContains(t, err, "complex64")
	_, err = TryRegisterInput(r, "x", ExactCodec[huge](), InputRules[huge]{})
	require.ErrorContains(t, err, "more than 4096 fields")
	_, err = TryRegisterPredicted(r, "x", ExactCodec[local](), PredictedRules[local]{})
	require.ErrorContains(t, err, `X is tagged "-"`)
	_, err = TryRegisterReplicated[sprint](r, "x", ToAll, nil)
	require.ErrorContains(t, err, "components.sprint")
	_, err = TryRegisterReplicated(r, "x", numConditions, ExactCodec[sprint]())
	require.ErrorContains(t, err, "no condition 4")
}

func TestNamesAndTypesAreUniqueWithinAKind(t *testing.T) {
	r := gameRegistry()
	_, err := TryRegisterInput(r, "sprint2", TagCodec[sprint](), InputRules[sprint]{})
	require.ErrorContains(t, err, `components.sprint as input "sprint2": the type is registered as "sprint"`)
	type other struct{ X bool }
	_, err = TryRegisterReplicated(r, "sprint", ToAll, TagCodec[other]())
	require.ErrorContains(t, err, "the name is that of components.sprint")
	_, err = TryRegisterReplicated(r, "run", ToAll, TagCodec[sprint]())
	require.ErrorContains(t, err, "keep to one name")
	_, err = TryRegisterReplicated(r, "", ToAll, TagCodec[other]())
	require.ErrorContains(t, err, "1..64")
}

// The hash is what two machines compare: it must not move by itself, nor
// differ by target. When the registry's version or a codec changes on purpose,
// this number does.
func TestHashIsPinned(t *testing.T) {
	require.Equal(t, uint64(0xdfbab533bf3b9bec), sealedRegistry().Hash())
}

func TestHashSeesEveryPart(t *testing.T) {
	base := sealedRegistry().Hash()
	seen := map[uint64]string{base: "base"}
	variant := func(what string, f func(r *Registry)) {
		r := NewRegistry()
		f(r)
		r.Seal()
		require.NotContains(t, seen, r.Hash(), what)
		seen[r.Hash()] = what
	}
	type aimA struct {
		X float64 `gait:"scale=10"`
	}
	type aimB struct {
		X float64 `gait:"scale=100"`
	}
	type aimC struct {
		Y float64 `gait:"scale=10"`
	}
	variant("none", func(r *Registry) {})
	variant("mode id", func(r *Registry) { r.RegisterMode(16, "a") })
	variant("mode id 2", func(r *Registry) { r.RegisterMode(17, "a") })
	variant("mode name", func(r *Registry) { r.RegisterMode(16, "b") })
	variant("mode version", func(r *Registry) { r.RegisterModeInfo(ModeInfo{ID: 16, Name: "a", Version: 1}) })
	variant("mode payload", func(r *Registry) { r.RegisterModeInfo(ModeInfo{ID: 16, Name: "a", MaxPayload: 1}) })
	variant("type", func(r *Registry) { RegisterReplicated(r, "t", ToAll, TagCodec[aimA]()) })
	variant("scale", func(r *Registry) { RegisterReplicated(r, "t", ToAll, TagCodec[aimB]()) })
	variant("field", func(r *Registry) { RegisterReplicated(r, "t", ToAll, TagCodec[aimC]()) })
	variant("codec", func(r *Registry) { RegisterReplicated(r, "t", ToAll, ExactCodec[aimA]()) })
	variant("name", func(r *Registry) { RegisterReplicated(r, "u", ToAll, TagCodec[aimA]()) })
	variant("condition", func(r *Registry) { RegisterReplicated(r, "t", Once, TagCodec[aimA]()) })
	variant("kind", func(r *Registry) { RegisterInput(r, "t", TagCodec[aimA](), InputRules[aimA]{}) })
}

func TestDisagreementNamesTheEntry(t *testing.T) {
	ours := sealedRegistry().Fingerprints()
	require.Empty(t, Disagreement(ours, sealedRegistry().Fingerprints()))

	bare := NewRegistry()
	bare.Seal()
	require.Equal(t, `"mode glide" is registered here and not there`, Disagreement(ours, bare.Fingerprints()))
	require.Equal(t, `"mode glide" is registered there and not here`, Disagreement(bare.Fingerprints(), ours))

	other := NewRegistry()
	other.RegisterMode(17, "glide")
	other.Seal()
	require.Equal(t, `"mode glide" differs: here id 16 payload 0 version 0, there id 17 payload 0 version 0`,
		Disagreement(ours, other.Fingerprints()))
	bareHashes := append([]NamedHash(nil), other.Fingerprints()...)
	for i := range bareHashes {
		bareHashes[i].Text = ""
	}
	require.Equal(t, `"mode glide" differs: here id 16 payload 0 version 0`, Disagreement(ours, bareHashes))
}

func TestDescribeListsEveryEntry(t *testing.T) {
	text := sealedRegistry().Describe()
	for _, want := range []string{
		"mode walking: id 1 ", "mode zipline: id 40 payload 24 version 2",
		"replicated gait.movement: id 0 condition skip-owner codec none",
		"input sprint: id 3 condition all codec On:raw1 fields On:bool",
		"Zoom:fixed10/-128..127", "Weapon:range0..4", "predicted marker: id 6",
	} {
		require.Contains(t, text, want)
	}
}

func TestIDsBelongToTheirWorld(t *testing.T) {
	r := sealedRegistry()
	a, b := arche.NewWorld(), arche.NewWorld()
	arche.ComponentID[Character](&b) // so that IDs differ
	ia, ib := IDsIn(&a, r), IDsIn(&b, r)
	require.Same(t, ia, IDsIn(&a, r))
	st := r.LookupName(KindPredicted, "stamina")
	require.Equal(t, arche.ComponentID[stamina](&a), ia.ID(st))
	require.Equal(t, arche.ComponentID[stamina](&b), ib.ID(st))
	require.NotEqual(t, ia.ID(st), ib.ID(st))

	e := b.NewEntity(ib.ID(st))
	(*stamina)(ib.Value(&b, e, st)).Value = 3
	require.Equal(t, 3.0, (*stamina)(b.Get(e, ib.ID(st))).Value)
	require.Nil(t, ib.Value(&b, e, r.LookupName(KindInput, "aim")))
	require.Panics(t, func() { IDsIn(&a, sealedRegistry()) })
}

func TestErrorsKeepTheirCause(t *testing.T) {
	_, err := TryRegisterInput(NewRegistry(), "x", ExactCodec[*int](), InputRules[*int]{})
	var pe *PointerError
	require.True(t, errors.As(err, &pe))
	require.Equal(t, "*int", pe.Path)
}
