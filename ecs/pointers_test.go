package ecs

import (
	"errors"
	"reflect"
	"testing"
	"unsafe"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

type inner struct {
	ok   [3]int
	Name string
}

type inventory struct {
	Count int
	Slots [4]inner
}

type embedsPointer struct {
	*inner
}

type plain struct {
	A     uint8
	B     [2][3]float64
	Owner arche.Entity
	addr  uintptr
	_     [0]func() // takes no room, only forbids ==
	C     struct{ D complex128 }
}

func TestPointerIsNamedWithItsFullPath(t *testing.T) {
	err := CheckPointerFree(reflect.TypeFor[inventory]())
	var pe *PointerError
	require.True(t, errors.As(err, &pe))
	require.Equal(t, "ecs.inventory.Slots[].Name", pe.Path)
	require.Equal(t, reflect.TypeFor[inventory](), pe.Type)
	require.Equal(t, reflect.TypeFor[string](), pe.Field)
	require.ErrorContains(t, err, "component ecs.inventory holds a pointer: ecs.inventory.Slots[].Name is a string")
}

func TestEveryKindOfPointerIsRefused(t *testing.T) {
	for kind, typ := range map[reflect.Kind]reflect.Type{
		reflect.Pointer:       reflect.TypeFor[struct{ F *int }](),
		reflect.Slice:         reflect.TypeFor[struct{ F []int }](),
		reflect.String:        reflect.TypeFor[struct{ F string }](),
		reflect.Map:           reflect.TypeFor[struct{ F map[int]int }](),
		reflect.Chan:          reflect.TypeFor[struct{ F chan int }](),
		reflect.Func:          reflect.TypeFor[struct{ F func() }](),
		reflect.Interface:     reflect.TypeFor[struct{ F any }](),
		reflect.UnsafePointer: reflect.TypeFor[struct{ F unsafe.Pointer }](),
	} {
		var pe *PointerError
		require.ErrorAs(t, CheckPointerFree(typ), &pe, kind)
		require.Equal(t, kind, pe.Field.Kind())
	}
}

func TestPointerInAnEmbeddedFieldIsRefused(t *testing.T) {
	require.ErrorContains(t, CheckPointerFree(reflect.TypeFor[embedsPointer]()), "ecs.embedsPointer.inner is a *ecs.inner")
}

func TestComponentThatIsItselfAPointerIsRefused(t *testing.T) {
	require.Error(t, CheckPointerFree(reflect.TypeFor[string]()))
}

func TestPlainDataPasses(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[plain](), reflect.TypeFor[position](), reflect.TypeFor[tag](), reflect.TypeFor[childOf](),
	} {
		require.NoError(t, CheckPointerFree(typ))
		require.NoError(t, CheckPointerFree(typ), "the remembered verdict")
	}
	_ = plain{}.addr
}

func TestRegisteringAPointerPanicsWithTheTypesName(t *testing.T) {
	w := arche.NewWorld()
	require.PanicsWithValue(t, "ecs: "+CheckPointerFree(reflect.TypeFor[inventory]()).Error(),
		func() { RegisterComponent[inventory](&w) })
	require.Empty(t, arche.ComponentIDs(&w), "nothing was registered")
}

func TestRegisteringReturnsArchesOwnID(t *testing.T) {
	w := arche.NewWorld()
	arche.ComponentID[velocity](&w)
	id := RegisterComponent[position](&w)
	require.Equal(t, arche.ComponentID[position](&w), id)
	require.Equal(t, id, RegisterComponent[position](&w))
}

func TestCheckWorldNamesEveryOffender(t *testing.T) {
	w := arche.NewWorld()
	arche.ComponentID[position](&w)
	require.NoError(t, CheckWorld(&w))
	arche.ComponentID[inventory](&w)
	arche.ComponentID[embedsPointer](&w)
	err := CheckWorld(&w)
	require.ErrorContains(t, err, "inventory.Slots[].Name")
	require.ErrorContains(t, err, "embedsPointer.inner")
}
