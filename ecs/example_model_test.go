package ecs_test

import (
	"fmt"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/mlange-42/arche-model/model"
	arche "github.com/mlange-42/arche/ecs"
)

// Wind is a user's own system, written for arche-model. It knows nothing of
// this module.
type Wind struct{ vel arche.ID }

func (s *Wind) Initialize(w *arche.World) { s.vel = arche.ComponentID[Velocity](w) }

func (s *Wind) Update(w *arche.World) {
	q := w.Query(arche.All(s.vel))
	for q.Next() {
		(*Velocity)(q.Get(s.vel)).X += 10
	}
}

func (s *Wind) Finalize(*arche.World) {}

// One of our systems beside a user's own in a plain arche-model Model. The
// ClockSystem gives ours the time, here virtual: 60 updates a second.
func Example_plainModel() {
	m := model.New()
	now := components.Ticks(0)
	m.AddSystem(ecs.NewClockSystem(func() components.Ticks {
		t := now
		now += components.Second / 60
		return t
	}))
	m.AddSystem(&Wind{})
	m.AddSystem(&Drift{})
	m.Initialize()
	defer m.Finalize()

	pos, vel := arche.ComponentID[Position](&m.World), arche.ComponentID[Velocity](&m.World)
	e := m.World.NewEntity(pos, vel)
	for range 60 {
		m.Update()
	}
	fmt.Printf("%.1f cm at %.0f cm/s\n", (*Position)(m.World.Get(e, pos)).X, (*Velocity)(m.World.Get(e, vel)).X)
	// Output: 305.0 cm at 600 cm/s
}

// A whole App as one system of a Model whose world it has adopted, with fixed
// steps: 60 a second under 40 updates.
func ExampleApp_AsSystem() {
	m := model.New()
	app := ecs.Adopt(&m.World, ecs.Standalone, ecs.Fixed(ecs.Hz(60)))
	app.Add(&Drift{})
	app.AddTo(ecs.Input, ecs.AllRoles, &Wind{})

	now := components.Ticks(0)
	m.AddSystem(app.AsSystem(func() components.Ticks {
		t := now
		now += components.Second / 40
		return t
	}))
	m.Initialize()
	defer m.Finalize()

	pos, vel := arche.ComponentID[Position](&m.World), arche.ComponentID[Velocity](&m.World)
	e := m.World.NewEntity(pos, vel)
	for range 41 { // the first one starts the clock
		m.Update()
	}
	fmt.Printf("%d steps, %.1f cm\n", app.Clock().Step, (*Position)(m.World.Get(e, pos)).X)
	// Output: 60 steps, 305.0 cm
}
