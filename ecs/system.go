package ecs

import (
	"fmt"
	"strings"

	arche "github.com/mlange-42/arche/ecs"
)

// System is behaviour over a world. It has the shape of arche-model's System,
// so every system here also runs in a plain model.Model, and every system
// written for one can be added here with App.AddTo.
//
// Filters, maps and IDs belong into fields built in Initialize: arche's generic
// helpers remember the component IDs of the first world they meet, and a server
// and a client world in one process is an ordinary thing.
type System interface {
	Initialize(w *arche.World)
	Update(w *arche.World)
	Finalize(w *arche.World)
}

// Placed is a system that knows its place: the phase it runs in and the roles
// whose schedule it belongs to.
type Placed interface {
	System
	Phase() Phase
	Roles() Roles
}

// Named is optional. A system without it is named after its type, without the
// package: "Predict" for *systems.Predict.
type Named interface{ Name() string }

// RunsAfter is optional: the names of systems of the same phase that must have
// run before this one. A name that is not in the schedule is ignored (another
// role, a plugin not in use); one that lies in a later phase is a
// contradiction and panics.
type RunsAfter interface{ After() []string }

// RunsBefore is the counterpart of RunsAfter; with it a user's system gets in
// front of one that does not know it.
type RunsBefore interface{ Before() []string }

// Plugin adds systems, resources and component registrations that belong
// together to an App.
type Plugin interface{ Build(app *App) }

// PluginFunc is a function as a Plugin.
type PluginFunc func(app *App)

// Build calls f.
func (f PluginFunc) Build(app *App) { f(app) }

// NameOf is the name under which a system is found by After and Before and
// printed in a schedule.
func NameOf(s System) string {
	if n, ok := s.(Named); ok {
		return n.Name()
	}
	name := fmt.Sprintf("%T", s)
	// A generic type's arguments contain dots of their own.
	args := ""
	if i := strings.IndexByte(name, '['); i > 0 {
		name, args = name[:i], name[i:]
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	return strings.TrimLeft(name, "*") + args
}
