package ecs_test

import (
	"fmt"
	"os"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
)

// Position and Velocity are a user's components: plain data.
type Position struct{ X float64 }
type Velocity struct{ X float64 }

// Drift moves whatever has a velocity. It is a Placed system: it knows in which
// phase and for which roles it runs.
type Drift struct {
	clock    *ecs.Clock
	tables   *ecs.Tables
	pos, vel arche.ID
}

func (s *Drift) Phase() ecs.Phase { return ecs.Simulate }
func (s *Drift) Roles() ecs.Roles { return ecs.AllRoles }

func (s *Drift) Initialize(w *arche.World) {
	s.clock = arche.GetResource[ecs.Clock](w)
	s.pos, s.vel = ecs.RegisterComponent[Position](w), ecs.RegisterComponent[Velocity](w)
	s.tables = ecs.NewTables(w, arche.All(s.pos, s.vel))
}

func (s *Drift) Update(*arche.World) {
	dt := s.clock.Dt.Seconds()
	for s.tables.Open(); s.tables.Next(); {
		pos := ecs.ColumnOf[Position](s.tables, s.pos)
		vel := ecs.ColumnOf[Velocity](s.tables, s.vel)
		for i := range pos {
			pos[i].X += float64(vel[i].X * dt)
		}
	}
}

func (s *Drift) Finalize(*arche.World) {}

func Example() {
	app := ecs.New(ecs.Server, ecs.Fixed(ecs.Hz(60)))
	app.Add(&Drift{})
	app.Initialize()
	defer app.Finalize()

	w := app.World()
	pos, vel := ecs.RegisterComponent[Position](w), ecs.RegisterComponent[Velocity](w)
	e := w.NewEntity(pos, vel)
	(*Velocity)(w.Get(e, vel)).X = 300

	for now := components.Ticks(0); now <= components.Second; now += components.Second / 50 {
		app.Frame(now) // at 50 frames a second
	}
	fmt.Printf("%.1f cm after %d steps\n", (*Position)(w.Get(e, pos)).X, app.Clock().Step)
	// Output: 300.0 cm after 60 steps
}

// placed is a system with nothing but a name and a place.
type placed struct {
	name  string
	phase ecs.Phase
	roles ecs.Roles
}

func (p *placed) Name() string          { return p.name }
func (p *placed) Phase() ecs.Phase      { return p.phase }
func (p *placed) Roles() ecs.Roles      { return p.roles }
func (*placed) Initialize(*arche.World) {}
func (*placed) Update(*arche.World)     {}
func (*placed) Finalize(*arche.World)   {}

// UserAI is a user's system that wants to be in front of one of ours.
type UserAI struct{ placed }

func (*UserAI) Before() []string { return []string{"Verify"} }

// The schedule of each role is made of the same list.
func ExampleApp_WriteSchedule() {
	authority := ecs.Server | ecs.ListenServer | ecs.Standalone
	drawing := ecs.Client | ecs.ListenServer | ecs.Standalone
	for _, role := range []ecs.Roles{ecs.Server, ecs.Client, ecs.ListenServer, ecs.Standalone} {
		app := ecs.New(role)
		app.Add(
			&placed{"Moves", ecs.Receive, ecs.Server | ecs.ListenServer},
			&placed{"Responses", ecs.Receive, ecs.Client},
			&placed{"Platforms", ecs.Bases, ecs.AllRoles},
			&placed{"Rollback", ecs.Replay, ecs.Client},
			&placed{"Keys", ecs.Input, drawing},
			&placed{"Verify", ecs.Simulate, ecs.Server | ecs.ListenServer},
			&placed{"Predict", ecs.Simulate, drawing},
			&placed{"Snapshots", ecs.Gather, ecs.Server | ecs.ListenServer},
			&placed{"Smooth", ecs.Visual, ecs.Client | ecs.ListenServer},
			&placed{"Packets", ecs.Send, ecs.AllRoles &^ ecs.Standalone},
		)
		app.AddTo(ecs.Simulate, authority, &UserAI{placed{name: "UserAI"}})
		if err := app.WriteSchedule(os.Stdout); err != nil {
			panic(err)
		}
		app.Finalize()
	}
	// Output:
	// Server
	//   Receive  Moves
	//   Bases    Platforms
	//   Simulate UserAI, Verify
	//   Gather   Snapshots
	//   Send     Packets
	// Client
	//   Receive  Responses
	//   Bases    Platforms
	//   Replay   Rollback
	//   Input    Keys
	//   Simulate Predict
	//   Visual   Smooth
	//   Send     Packets
	// ListenServer
	//   Receive  Moves
	//   Bases    Platforms
	//   Input    Keys
	//   Simulate Predict, UserAI, Verify
	//   Gather   Snapshots
	//   Visual   Smooth
	//   Send     Packets
	// Standalone
	//   Bases    Platforms
	//   Input    Keys
	//   Simulate Predict, UserAI (absent: Verify)
}
