package systems

import (
	"fmt"
	"math"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
)

// Movement is the plugin that adds everything: resources first, then every
// system; each role's schedule takes those that name it.
//
//	app := ecs.New(ecs.Standalone)
//	app.Use(&systems.Movement{Geometry: level, Profiles: table})
//
// Resources that the world already holds are kept.
type Movement struct {
	// Geometry is the level; it must be set unless the world holds one.
	Geometry collision.Geometry
	// Profiles is the table of movement profiles; nil makes one with the
	// default profile as its first.
	Profiles *components.ProfileTable
	// Settings; nil takes DefaultSettings.
	Settings *components.Settings
	// Modes; nil takes the built-in ones. A game's own go into the world's
	// components.Registry as well, since both ends must have the same, unless it
	// has put them there before, with a version.
	Modes *movement.Modes
	// Debug switches; nil leaves them out.
	Debug *components.Debug

	// Verify is the app's ServerVerify, set by Build, for observers.
	Verify *ServerVerify
}

// Build adds resources and systems to an app. It panics without a
// geometry, in an app that has it already, and on settings that nothing could
// work with: a programmer's errors.
func (m *Movement) Build(app *ecs.App) {
	w := app.World()
	for _, s := range app.Systems(ecs.Bases) {
		if _, ok := s.System.(*Bases); ok {
			panic("systems.Movement: the app has it already")
		}
	}
	if m.Settings != nil && ecs.Maybe[components.Settings](w) == nil {
		if err := m.Settings.Validate(); err != nil {
			panic(fmt.Sprintf("systems.Movement: %v", err))
		}
		arche.AddResource(w, m.Settings)
	}
	if m.Geometry != nil && ecs.Maybe[Geometry](w) == nil {
		arche.AddResource(w, &Geometry{m.Geometry})
	}
	ecs.Need[Geometry](w)
	if m.Profiles != nil && ecs.Maybe[components.ProfileTable](w) == nil {
		arche.AddResource(w, m.Profiles)
	}
	ecs.Provide(w, DefaultProfiles)
	if m.Modes != nil && ecs.Maybe[Modes](w) == nil {
		arche.AddResource(w, &Modes{m.Modes})
	}
	if modes := ecs.Maybe[Modes](w); modes != nil {
		agreeOnModes(w, modes)
	}
	if m.Debug != nil && ecs.Maybe[components.Debug](w) == nil {
		arche.AddResource(w, m.Debug)
	}
	if m.Debug != nil {
		ecs.Provide(w, func() *components.CorrectionLog { return new(components.CorrectionLog) })
		ecs.Provide(w, func() *components.SimulatedCorrectionLog { return new(components.SimulatedCorrectionLog) })
	}
	m.Verify = new(ServerVerify)
	app.Add(
		new(EventsClear), new(InputSample), new(Correct), new(SmoothCorrection),
		new(Bases),
		new(Replay), new(VisualBegin),
		new(InputConsume),
		new(Predict), m.Verify, new(ForcedUpdates), new(LocalMove), new(SimulatedTick),
		new(Respond), new(Gather), new(VisualEnd),
		new(MeshSmooth), new(ObstaclePoses),
		new(SlabSweep),
	)
}

// agreeOnModes puts a game's own modes into what the handshake compares.
func agreeOnModes(w *arche.World, modes *Modes) {
	r := ecs.Provide(w, components.NewRegistry)
	for id := int(components.FirstCustomMode); id <= math.MaxUint8; id++ {
		mode := components.MovementMode(id)
		if own := modes.Lookup(mode); own != nil && !r.HasMode(mode) {
			r.RegisterMode(mode, own.Name())
		}
	}
}

// DefaultProfiles is a table that holds the reference's character alone.
func DefaultProfiles() *components.ProfileTable {
	t := new(components.ProfileTable)
	if _, err := t.Add("default", components.DefaultProfile()); err != nil {
		panic(err) // the default profile is ours
	}
	return t
}
