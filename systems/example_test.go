package systems_test

import (
	"fmt"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/mlange-42/arche-model/model"
	arche "github.com/mlange-42/arche/ecs"
)

// Stick is a user's own component, Steer a user's own system: neither knows
// more of this module than components.Input.
type Stick struct{ Forward float64 }

type Steer struct{ stick, input arche.ID }

func (s *Steer) Initialize(w *arche.World) {
	s.stick, s.input = arche.ComponentID[Stick](w), arche.ComponentID[components.Input](w)
}

func (s *Steer) Update(w *arche.World) {
	q := w.Query(arche.All(s.stick, s.input))
	for q.Next() {
		(*components.Input)(q.Get(s.input)).Add((*Stick)(q.Get(s.stick)).Forward, 0, 0)
	}
}

func (s *Steer) Finalize(*arche.World) {}

func exampleLevel() *collision.World {
	level, err := collision.NewBuilder().Floor(0, 1e5).Build()
	if err != nil {
		panic(err)
	}
	w := collision.NewWorld()
	if err := w.AddLevel(0, level); err != nil {
		panic(err)
	}
	return w
}

// Two of our systems and our clock in a plain arche-model Model, beside a
// user's own. The clock is told the time, here virtual: 60 updates a second.
func Example_plainModel() {
	m := model.New()
	w := &m.World
	table := systems.DefaultProfiles()
	arche.AddResource(w, &systems.Geometry{Geometry: exampleLevel()})
	arche.AddResource(w, table)

	now := components.Ticks(0)
	m.AddSystem(ecs.NewClockSystem(func() components.Ticks {
		t := now
		now += components.Second / 60
		return t
	}))
	m.AddSystem(&Steer{})
	m.AddSystem(new(systems.InputConsume))
	m.AddSystem(new(systems.LocalMove))
	m.AddSystem(new(ecs.FlushSystem))
	m.Initialize()
	defer m.Finalize()

	spec := systems.SpecAt(1, table, components.ProfileRef{Revision: 1}, components.Vec3{0, 0, 90.15}, 0)
	e := systems.NewSpawner(w).Local(spec, false)
	stick := arche.ComponentID[Stick](w)
	w.Add(e, stick)
	(*Stick)(w.Get(e, stick)).Forward = 1
	for range 120 {
		m.Update()
	}
	st := (*components.MovementState)(w.Get(e, arche.ComponentID[components.MovementState](w)))
	fmt.Printf("%.0f cm/s after %.0f m\n", st.Velocity[0], st.Location[0]/100)
	// Output: 600 cm/s after 11 m
}

// A user's world is adopted: what it held before stays, and it lives on after
// the app.
func Example_adoptedWorld() {
	w := arche.NewWorld()
	stick := arche.ComponentID[Stick](&w)
	lamp := w.NewEntity(stick) // the user's own entity

	table := systems.DefaultProfiles()
	app := ecs.Adopt(&w, ecs.Standalone)
	app.Use(&systems.Movement{Geometry: exampleLevel(), Profiles: table})
	app.AddTo(ecs.Receive, ecs.AllRoles, &Steer{})
	app.Initialize()

	spec := systems.SpecAt(1, table, components.ProfileRef{Revision: 1}, components.Vec3{0, 0, 90.15}, 90)
	e := systems.NewSpawner(&w).Local(spec, true)
	w.Add(e, stick)
	(*Stick)(w.Get(e, stick)).Forward = 0.5
	for i := range 121 {
		app.Frame(components.Ticks(i) * components.Second / 60)
	}
	app.Finalize()

	st := (*components.MovementState)(w.Get(e, arche.ComponentID[components.MovementState](&w)))
	fmt.Printf("%.0f cm/s to the right after %.1f m\n", st.Velocity[1], st.Location[1]/100)
	fmt.Println("the lamp is still there:", w.Alive(lamp))
	// Output:
	// 300 cm/s to the right after 5.6 m
	// the lamp is still there: true
}
