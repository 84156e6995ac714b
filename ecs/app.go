package ecs

import (
	"fmt"
	"reflect"

	"github.com/gaitnet/gait/components"
	arche "github.com/mlange-42/arche/ecs"
)

// App runs the systems of one role over one world. It adds three resources to
// the world, *Clock, *Commands and *Pool, and takes them away in Finalize;
// apart from those it touches nothing that its systems do not touch: no
// listener, no entity, no reset.
//
// An App belongs to one goroutine.
type App struct {
	w        *arche.World
	role     Roles
	cfg      *config
	clock    *Clock
	commands *Commands
	pool     *Pool
	probe    Probe

	added  []Scheduled // those of this role, in order of adding
	phases [PhaseCount][]Scheduled
	dirty  bool
	state  appState
}

type appState uint8

const (
	building appState = iota
	running
	finished
)

// Probe watches systems run, for timing or tracing. Begin and End are called
// around each Update; s must not be kept or changed.
type Probe interface {
	Begin(s *Scheduled)
	End(s *Scheduled)
}

// New returns an App over a world of its own. role must be a single one.
func New(role Roles, opts ...Option) *App {
	cfg := newConfig(opts)
	var w arche.World
	if cfg.capacity > 0 {
		w = arche.NewWorld(cfg.capacity)
	} else {
		w = arche.NewWorld()
	}
	return build(&w, role, cfg)
}

// Adopt returns an App over the user's world, which stays the user's: it may
// have a listener, entities and resources of its own, be changed between
// frames, and outlive the App. One App at a time can drive a world; a second
// one panics.
func Adopt(w *arche.World, role Roles, opts ...Option) *App {
	return build(w, role, newConfig(opts))
}

func build(w *arche.World, role Roles, cfg *config) *App {
	if !role.Single() {
		panic(fmt.Sprintf("ecs.App: an app has one role, got %v", role))
	}
	mustBeUndriven(w, "App")
	a := &App{
		w: w, role: role, cfg: cfg, dirty: true,
		clock: cfg.clock(), commands: NewCommands(w), pool: NewPool(cfg.workers),
	}
	a.provide()
	return a
}

// mustBeUndriven panics if the resources of another App or ClockSystem are in
// the world.
func mustBeUndriven(w *arche.World, who string) {
	res := w.Resources()
	if res.Has(arche.ResourceID[Clock](w)) || res.Has(arche.ResourceID[Commands](w)) || res.Has(arche.ResourceID[Pool](w)) {
		panic(fmt.Sprintf("ecs.%s: the world already has an *ecs.Clock, *ecs.Commands or *ecs.Pool: another App or ClockSystem drives it", who))
	}
}

// provide puts the resources into the world, again if the user has reset it.
func (a *App) provide() {
	provide(a.w, a.clock)
	provide(a.w, a.commands)
	provide(a.w, a.pool)
}

func provide[T any](w *arche.World, res *T) {
	if id := arche.ResourceID[T](w); !w.Resources().Has(id) {
		w.Resources().Add(id, res)
	}
}

// withdraw takes a resource out of the world if it is still ours.
func withdraw[T any](w *arche.World, res *T) {
	id := arche.ResourceID[T](w)
	if got, ok := w.Resources().Get(id).(*T); ok && got == res {
		w.Resources().Remove(id)
	}
}

// World is the world the App runs over.
func (a *App) World() *arche.World { return a.w }

// Role is the App's role.
func (a *App) Role() Roles { return a.role }

// Clock is the world's clock, for reading.
func (a *App) Clock() *Clock { return a.clock }

// Commands is the world's command buffer.
func (a *App) Commands() *Commands { return a.commands }

// Pool is the world's worker pool.
func (a *App) Pool() *Pool { return a.pool }

// Watch sets the probe that watches systems run; nil takes it away.
func (a *App) Watch(p Probe) { a.probe = p }

// Add adds systems at the place they name. One that does not name the App's
// role is left out, so the same list makes the schedule of each role. Adding
// one system twice, or after Initialize, panics.
func (a *App) Add(systems ...Placed) *App {
	for _, s := range systems {
		a.add(s, s.Phase(), s.Roles())
	}
	return a
}

// AddTo adds a system that does not know its place, such as one written for
// arche-model, or puts one elsewhere than it says.
func (a *App) AddTo(p Phase, r Roles, s System) *App {
	a.add(s, p, r)
	return a
}

// Use lets plugins add what belongs together.
func (a *App) Use(plugins ...Plugin) *App {
	for _, p := range plugins {
		p.Build(a)
	}
	return a
}

func (a *App) add(s System, p Phase, r Roles) {
	if a.state != building {
		panic(fmt.Sprintf("ecs.App: %T added after Initialize", s))
	}
	e := scheduled(s, p, r)
	if !r.Has(a.role) {
		return
	}
	if reflect.TypeOf(s).Kind() == reflect.Pointer && reflect.TypeOf(s).Elem().Size() > 0 {
		for i := range a.added {
			if a.added[i].System == s {
				panic(fmt.Sprintf("ecs.App: %T added twice", s))
			}
		}
	}
	a.added = append(a.added, e)
	a.dirty = true
}

func (a *App) order() {
	if a.dirty {
		a.phases = plan(a.added)
		a.dirty = false
	}
}

// Initialize settles the schedule and initializes its systems in running order.
// It panics if dependencies contradict each other, and, unless AllowPointers
// was given, if any component registered by then holds a pointer.
func (a *App) Initialize() {
	if a.state != building {
		panic("ecs.App: Initialize called twice")
	}
	a.order()
	a.state = running
	a.provide()
	for p := range a.phases {
		for i := range a.phases[p] {
			s := &a.phases[p][i]
			s.System.Initialize(a.w)
			a.mustBeUnlocked(s, "Initialize")
		}
	}
	a.commands.Flush()
	if !a.cfg.allowPointers {
		if err := CheckWorld(a.w); err != nil {
			panic("ecs.App: " + err.Error())
		}
	}
}

// Frame runs one frame at the given time: Receive; then for each step of the
// clock Bases, Replay, Input, Simulate and Gather; then Visual and Send. A
// frame without a step still runs Receive, Visual and Send, and what they leave
// for Replay waits for the next step. Queued commands are carried out at the
// end of every phase.
func (a *App) Frame(now components.Ticks) {
	if a.state != running {
		panic("ecs.App: Frame outside of Initialize and Finalize")
	}
	if a.w.IsLocked() {
		panic("ecs.App: the world is locked at the start of a frame: a query is open outside of the App")
	}
	a.provide()
	a.commands.Flush()
	a.clock.Advance(now)
	a.run(Receive)
	for a.clock.NextStep() {
		for p := Bases; p <= Gather; p++ {
			a.run(p)
		}
	}
	a.run(Visual)
	a.run(Send)
}

func (a *App) run(p Phase) {
	list := a.phases[p]
	for i := range list {
		s := &list[i]
		if a.probe != nil {
			a.probe.Begin(s)
		}
		s.System.Update(a.w)
		if a.probe != nil {
			a.probe.End(s)
		}
		a.mustBeUnlocked(s, "Update")
	}
	a.commands.Flush()
}

// Finalize finalizes the systems in reverse order, carries out what they
// queued, stops the pool and takes the App's resources out of the world. On an
// App that was never initialized it does the latter two; a second call does
// nothing.
func (a *App) Finalize() {
	if a.state == running {
		for p := PhaseCount - 1; p >= 0; p-- {
			for i := len(a.phases[p]) - 1; i >= 0; i-- {
				s := &a.phases[p][i]
				s.System.Finalize(a.w)
				a.mustBeUnlocked(s, "Finalize")
			}
		}
		a.commands.Flush()
	}
	a.state = finished
	a.pool.Close()
	withdraw(a.w, a.clock)
	withdraw(a.w, a.commands)
	withdraw(a.w, a.pool)
}
