package ecs

import (
	"github.com/gaitnet/gait/components"
	arche "github.com/mlange-42/arche/ecs"
)

// ClockSystem lets systems that read the Clock, queue Commands or use the Pool
// run in a plain arche-model Model, without an App. Add it first: each Update
// of the model is then a frame of one step in variable mode. It carries out at
// the start of an Update what was queued in the one before; put a FlushSystem
// wherever that is too late.
//
// Unlike in an App, systems also run in an Update in which no time has passed;
// the clock's Dt is 0 there. Fixed steps need an App: see App.AsSystem.
type ClockSystem struct {
	now      func() components.Ticks
	clock    *Clock
	commands *Commands
	pool     *Pool
}

// NewClockSystem returns a clock that asks now for the time, once in Initialize
// and once in each Update. Of the options, Workers is
// heeded; Fixed panics.
func NewClockSystem(now func() components.Ticks, opts ...Option) *ClockSystem {
	cfg := newConfig(opts)
	if cfg.fixed {
		panic("ecs.ClockSystem: a plain model has one step an update; use App.AsSystem for fixed steps")
	}
	return &ClockSystem{now: now, clock: cfg.clock(), pool: NewPool(cfg.workers)}
}

// Initialize adds the resources and starts the clock.
func (s *ClockSystem) Initialize(w *arche.World) {
	mustBeUndriven(w, "ClockSystem")
	s.commands = NewCommands(w)
	provide(w, s.clock)
	provide(w, s.commands)
	provide(w, s.pool)
	s.clock.Advance(s.now())
}

// Update carries out queued commands and moves the clock on.
func (s *ClockSystem) Update(*arche.World) {
	s.commands.Flush()
	s.clock.Advance(s.now())
	if !s.clock.NextStep() {
		s.clock.Dt = 0
	}
}

// Finalize carries out what was queued last, stops the pool and takes the
// resources out of the world. A model finalizes in order of adding, so what
// later systems queue in their Finalize is not carried out.
func (s *ClockSystem) Finalize(w *arche.World) {
	s.commands.Flush()
	s.pool.Close()
	withdraw(w, s.clock)
	withdraw(w, s.commands)
	withdraw(w, s.pool)
}

// FlushSystem carries out queued commands where it stands in a plain model.
type FlushSystem struct{ commands *Commands }

// Initialize looks up the buffer; it panics if no ClockSystem was added before.
func (s *FlushSystem) Initialize(w *arche.World) {
	c, ok := w.Resources().Get(arche.ResourceID[Commands](w)).(*Commands)
	if !ok {
		panic("ecs.FlushSystem: the world has no *ecs.Commands; add a ClockSystem before it")
	}
	s.commands = c
}

// Update carries out queued commands.
func (s *FlushSystem) Update(*arche.World) { s.commands.Flush() }

// Finalize does nothing.
func (s *FlushSystem) Finalize(*arche.World) {}

// AsSystem is the App as one system of a plain model, for an App that has
// adopted the model's world: each Update is a Frame at the time that now gives.
// It panics in Initialize if the world is another one.
func (a *App) AsSystem(now func() components.Ticks) System {
	return &appSystem{app: a, now: now}
}

type appSystem struct {
	app *App
	now func() components.Ticks
}

func (s *appSystem) Initialize(w *arche.World) {
	if w != s.app.w {
		panic("ecs.App: AsSystem in a model whose world the app has not adopted")
	}
	s.app.Initialize()
}

func (s *appSystem) Update(*arche.World)   { s.app.Frame(s.now()) }
func (s *appSystem) Finalize(*arche.World) { s.app.Finalize() }
