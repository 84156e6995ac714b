package movement

import (
	"fmt"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// Mode is a movement mode: an ID, a name and a step. Enterer, Exiter and
// SpeedLimiter are optional.
type Mode interface {
	ID() components.MovementMode
	Name() string
	// Step moves the character on by dt seconds, at most
	// MaxSimulationTimeStep. A mode that ends within the step calls
	// Context.SetMode and leaves the time it did not use in st.Unused; the
	// mode that follows gets it.
	Step(c *Context, st *StepState, dt float64)
}

// Enterer is told when its mode begins, Exiter when it ends.
type Enterer interface {
	Enter(c *Context, st *StepState, from components.MovementMode)
}

// Exiter is told when its mode ends.
type Exiter interface {
	Exit(c *Context, st *StepState, to components.MovementMode)
}

// SpeedLimiter gives a mode's top speed in cm/s; without it the profile's
// MaxSpeed holds.
type SpeedLimiter interface {
	MaxSpeed(s *components.MovementState, p *components.MovementProfile) float64
}

// StepState is what a mode's step reads and writes beside the context.
type StepState struct {
	S *components.MovementState
	P *components.MovementProfile
	// Accel is the move's acceleration, clamped to the maximum, cm/s²; Analog
	// the share of the top speed that it asks for, 0..1.
	Accel  Vec3
	Analog float64
	Flags  components.MoveFlags
	// Control is where the player looks, degrees.
	Control components.Rotator
	// Time is the obstacle time of every query.
	Time components.Ticks
	// Floor is what the character stands on; FloorValid tells whether it was
	// found at the present place.
	Floor      Floor
	FloorValid bool
	// HoldLeft is the rest of the jump's hold in this move, s.
	HoldLeft float64
	// Impart is the velocity of a base left in this move, added at its end.
	Impart Vec3
	// Unused is the time that a step leaves to the mode that follows it, s.
	Unused float64
	// Proxy marks an onlooker's extrapolation: the velocity is given.
	Proxy bool
}

// Modes is a table of movement modes, indexed by ID. Fill it at start, seal
// it, and share it.
type Modes struct {
	table  [256]Mode
	sealed bool
}

// NewModes is a table with the built-in modes.
func NewModes() *Modes {
	m := &Modes{}
	m.Register(walking{})
	m.Register(falling{})
	m.Register(swimming{})
	m.Register(flying{})
	return m
}

// Register adds a mode. It panics when the ID is taken, naming both modes, for
// ModeNone, and after Seal.
func (m *Modes) Register(mode Mode) {
	id := mode.ID()
	if m.sealed {
		panic(fmt.Sprintf("movement.Modes: %q (%T) registered after Seal", mode.Name(), mode))
	}
	if id == components.ModeNone {
		panic(fmt.Sprintf("movement.Modes: %q (%T) has the ID of ModeNone", mode.Name(), mode))
	}
	if old := m.table[id]; old != nil {
		panic(fmt.Sprintf("movement.Modes: ID %d of %q (%T) is taken by %q (%T)", id, mode.Name(), mode, old.Name(), old))
	}
	m.table[id] = mode
}

// Seal ends registration.
func (m *Modes) Seal() *Modes { m.sealed = true; return m }

// Lookup is the mode with an ID, nil if there is none.
func (m *Modes) Lookup(id components.MovementMode) Mode { return m.table[id] }

var builtIn = NewModes().Seal()

func (c *Context) mode(id components.MovementMode) Mode {
	if c.Modes != nil {
		return c.Modes.table[id]
	}
	return builtIn.table[id]
}

// SetMode changes the character's mode: the event, the old mode's Exit, the
// new one's Enter. A character that stops being grounded leaves its base.
func (c *Context) SetMode(st *StepState, to components.MovementMode) {
	from := st.S.Mode
	if from == to {
		return
	}
	if m, ok := c.mode(from).(Exiter); ok {
		m.Exit(c, st, to)
	}
	st.S.Mode = to
	st.FloorValid = false
	if from.Grounded() && !to.Grounded() {
		c.setBase(st, 0)
	}
	c.emit(EventModeChanged, st, from, exact.Add(st.S.Velocity, st.Impart))
	if m, ok := c.mode(to).(Enterer); ok {
		m.Enter(c, st, from)
	}
}

// MaxSpeed is the top speed of the character's mode under the move's analog
// input, cm/s.
func (c *Context) MaxSpeed(st *StepState) float64 {
	s := st.S
	var v float64
	if l, ok := c.mode(s.Mode).(SpeedLimiter); ok {
		v = l.MaxSpeed(s, st.P)
	} else {
		v = st.P.MaxSpeed(s.Mode, s.Crouched)
	}
	v = float64(v * st.Analog)
	if (s.Mode == components.ModeWalking || s.Mode == components.ModeFalling) && v < st.P.MinAnalogWalkSpeed {
		return st.P.MinAnalogWalkSpeed
	}
	return v
}
