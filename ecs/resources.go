package ecs

import (
	"fmt"
	"reflect"

	arche "github.com/mlange-42/arche/ecs"
)

// Need returns a world's resource and panics with its type's name where it is
// missing: a programmer's error. arche's own GetResource panics as well, but
// does not say for what.
func Need[T any](w *arche.World) *T {
	r := Maybe[T](w)
	if r == nil {
		panic(fmt.Sprintf("ecs: the world has no resource %s", reflect.TypeFor[T]()))
	}
	return r
}

// Maybe returns a world's resource, or nil where there is none.
func Maybe[T any](w *arche.World) *T {
	id := arche.ResourceID[T](w)
	if !w.Resources().Has(id) {
		return nil
	}
	return w.Resources().Get(id).(*T)
}

// Provide returns a world's resource, and adds what def makes where there is
// none.
func Provide[T any](w *arche.World, def func() *T) *T {
	if r := Maybe[T](w); r != nil {
		return r
	}
	r := def()
	arche.AddResource(w, r)
	return r
}
