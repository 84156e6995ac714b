package ecs

import (
	"errors"
	"reflect"

	"github.com/gaitnet/gait/components"
	arche "github.com/mlange-42/arche/ecs"
)

// PointerError says where a component type holds a Go pointer.
type PointerError = components.PointerError

// CheckPointerFree returns a *PointerError if a value of the type holds a Go
// pointer at any depth; see [components.CheckPointerFree], which the registry
// of networked types uses as well.
func CheckPointerFree(t reflect.Type) error { return components.CheckPointerFree(t) }

func mustBePointerFree(t reflect.Type) {
	if err := CheckPointerFree(t); err != nil {
		panic("ecs: " + err.Error())
	}
}

// RegisterComponent registers T with the world, once, and returns its ID. It
// panics if T holds a pointer. Use it in place of arche.ComponentID.
func RegisterComponent[T any](w *arche.World) arche.ID {
	mustBePointerFree(reflect.TypeFor[T]())
	return arche.ComponentID[T](w)
}

// CheckWorld checks every component type registered with the world, however it
// came there, and returns one *PointerError for each that holds a pointer,
// joined, in order of registration. It allocates: call it after setting up.
func CheckWorld(w *arche.World) error {
	var errs []error
	for _, id := range arche.ComponentIDs(w) {
		if info, ok := arche.ComponentInfo(w, id); ok {
			if err := CheckPointerFree(info.Type); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
