package systems

import (
	"fmt"
	"reflect"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
)

// Geometry is the level and its moving obstacles as a resource.
type Geometry struct{ collision.Geometry }

// Modes is the table of movement modes as a resource; without it the built-in
// modes are used.
type Modes struct{ *movement.Modes }

// Need returns a resource and panics with its type's name where it is missing:
// a programmer's error.
func Need[T any](w *arche.World) *T {
	id := arche.ResourceID[T](w)
	if !w.Resources().Has(id) {
		panic(fmt.Sprintf("systems: the world has no resource %s; add it, or use the Movement plugin", reflect.TypeFor[T]()))
	}
	return w.Resources().Get(id).(*T)
}

// Maybe returns a resource, or nil where there is none.
func Maybe[T any](w *arche.World) *T {
	id := arche.ResourceID[T](w)
	if !w.Resources().Has(id) {
		return nil
	}
	return w.Resources().Get(id).(*T)
}

// Provide returns a resource and adds def first where there is none.
func Provide[T any](w *arche.World, def func() *T) *T {
	if r := Maybe[T](w); r != nil {
		return r
	}
	r := def()
	arche.AddResource(w, r)
	return r
}

// shared are the resources that most systems read, looked up once in
// Initialize.
type shared struct {
	set      *components.Settings
	profiles *components.ProfileTable
	stats    *components.Stats
	net      *components.NetClock
	debug    *components.Debug
	ctx      movement.Context
	// probe is for questions outside a move.
	probe collision.Query
}

// kernel fills in everything that running a move takes.
func (s *shared) kernel(w *arche.World) {
	s.light(w)
	s.profiles = Need[components.ProfileTable](w)
	s.ctx.Geometry = Need[Geometry](w).Geometry
	if m := Maybe[Modes](w); m != nil {
		s.ctx.Modes = m.Modes
	}
}

// light fills in what systems without a kernel need.
func (s *shared) light(w *arche.World) {
	s.set = Provide(w, func() *components.Settings { v := components.DefaultSettings(); return &v })
	s.stats = Provide(w, func() *components.Stats { return new(components.Stats) })
	s.net = Provide(w, func() *components.NetClock { return &components.NetClock{SendScale: 1} })
	s.debug = Maybe[components.Debug](w)
}

// column reads a component of the query's current entity.
func column[T any](q *arche.Query, id arche.ID) *T { return (*T)(q.Get(id)) }
