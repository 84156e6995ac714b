package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
)

// Geometry is the level and its moving obstacles as a resource.
type Geometry struct{ collision.Geometry }

// Modes is the table of movement modes as a resource; without it the built-in
// modes are used.
type Modes struct{ *movement.Modes }

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
	s.profiles = ecs.Need[components.ProfileTable](w)
	s.ctx.Geometry = ecs.Need[Geometry](w).Geometry
	if m := ecs.Maybe[Modes](w); m != nil {
		s.ctx.Modes = m.Modes
	}
}

// light fills in what systems without a kernel need.
func (s *shared) light(w *arche.World) {
	s.set = ecs.Provide(w, func() *components.Settings { v := components.DefaultSettings(); return &v })
	s.stats = ecs.Provide(w, func() *components.Stats { return new(components.Stats) })
	s.net = ecs.Provide(w, func() *components.NetClock { return &components.NetClock{SendScale: 1} })
	s.debug = ecs.Maybe[components.Debug](w)
}

// column reads a component of the query's current entity.
func column[T any](q *arche.Query, id arche.ID) *T { return (*T)(q.Get(id)) }
