package systems_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

// desk is a standalone world with one character and a record of the intents
// that its steps saw.
type desk struct {
	app     *ecs.App
	e       arche.Entity
	now     components.Ticks
	intents []components.Intent
}

func newDesk(t *testing.T, opts ...ecs.Option) *desk {
	table := tableOf(t, nil)
	d := &desk{app: ecs.New(ecs.Standalone, opts...)}
	arche.AddResource(d.app.World(), &components.NetClock{Authority: true, SendScale: 1})
	d.app.Use(&systems.Movement{Geometry: worldFor(t, flatLevel(t)), Profiles: table})
	d.app.Add(&wireEnd{"Record", ecs.Gather, func() { d.intents = append(d.intents, *get[components.Intent](d.app.World(), d.e)) }})
	d.app.Initialize()
	t.Cleanup(d.app.Finalize)
	d.e = systems.NewSpawner(d.app.World()).Local(systems.SpecAt(heroID, table, heroRef, components.Vec3{0, 0, 90.15}, 0), true)
	d.app.Frame(0)
	d.frame(960) // the clock's first frame has no step; its sample is used up here
	d.intents = nil
	return d
}

func (d *desk) in() *components.Input { return get[components.Input](d.app.World(), d.e) }
func (d *desk) state() *components.MovementState {
	return get[components.MovementState](d.app.World(), d.e)
}

// frame gives the steps that a frame of a length made.
func (d *desk) frame(dt components.Ticks) []components.Intent {
	n := len(d.intents)
	d.now += dt
	d.app.Frame(d.now)
	return d.intents[n:]
}

const jump = components.FlagJumpPressed

func TestInputIsConsumedOnce(t *testing.T) {
	d := newDesk(t)
	d.in().Add(1, 0, 0)
	require.Equal(t, components.Vec3{2048, 0, 0}, d.frame(960)[0].Acceleration)
	require.Equal(t, components.Vec3{}, d.frame(960)[0].Acceleration)
}

func TestInputAddsUpWithinAFrameToAFullStick(t *testing.T) {
	d := newDesk(t)
	d.in().Add(0.25, 0, 0)
	d.in().Add(0.25, 0, 0)
	require.Equal(t, components.Vec3{1024, 0, 0}, d.frame(960)[0].Acceleration)
	d.in().Add(5, 0, 0)
	require.Equal(t, components.Vec3{2048, 0, 0}, d.frame(960)[0].Acceleration)
}

func TestInputIsTakenInTheFrameOfTheView(t *testing.T) {
	d := newDesk(t)
	d.in().Control.Yaw = 90
	d.in().Add(1, 0, 0)
	require.Equal(t, components.Vec3{0, 2048, 0}, d.frame(960)[0].Acceleration)
}

func TestPressAndReleaseBetweenTwoStepsIsNotLost(t *testing.T) {
	d := newDesk(t)
	d.in().SetButton(jump, true)
	d.in().SetButton(jump, false)
	require.True(t, d.frame(960)[0].Flags.Has(jump))
	require.False(t, d.frame(960)[0].Flags.Has(jump))
	require.Equal(t, components.ModeFalling, d.state().Mode)
}

func TestFramesWithoutAStepAreAveraged(t *testing.T) {
	d := newDesk(t, ecs.Fixed(ecs.Hz(60)))
	d.in().Add(1, 0, 0)
	require.Empty(t, d.frame(480))
	d.in().Add(0.5, 0, 0)
	step := d.frame(480)
	require.Len(t, step, 1)
	require.Equal(t, components.Vec3{1536, 0, 0}, step[0].Acceleration)
}

func TestPressInAFrameWithoutAStepIsKept(t *testing.T) {
	d := newDesk(t, ecs.Fixed(ecs.Hz(60)))
	d.in().SetButton(jump, true)
	require.Empty(t, d.frame(300))
	d.in().SetButton(jump, false)
	require.Empty(t, d.frame(300))
	require.True(t, d.frame(400)[0].Flags.Has(jump))
}

func TestStepsOfOneFrameShareItsInputWithoutThePress(t *testing.T) {
	d := newDesk(t, ecs.Fixed(ecs.Hz(120)))
	d.in().Add(0.5, 0, 0)
	d.in().SetButton(jump, true)
	d.in().SetButton(jump, false)
	steps := d.frame(4 * 480)
	require.Len(t, steps, 4)
	for i, s := range steps {
		require.Equal(t, components.Vec3{1024, 0, 0}, s.Acceleration)
		require.Equal(t, i == 0, s.Flags.Has(jump))
	}
}

func TestHeldButtonIsSeenByEveryStep(t *testing.T) {
	d := newDesk(t, ecs.Fixed(ecs.Hz(120)))
	d.in().SetButton(components.FlagWantsToCrouch, true)
	for _, s := range d.frame(3 * 480) {
		require.True(t, s.Flags.Has(components.FlagWantsToCrouch))
	}
	require.True(t, d.state().Crouched)
}

// The same second of input under any frame rate and a fixed tick ends in the
// same place.
func TestFixedTickMovesAlikeAtEveryFrameRate(t *testing.T) {
	end := func(frame components.Ticks) components.Vec3 {
		d := newDesk(t, ecs.Fixed(ecs.Hz(60)))
		for d.now < sec+960 {
			d.in().Add(0.7, 0.2, 0)
			d.frame(frame)
		}
		return d.state().Location
	}
	at := end(960)
	require.Greater(t, at[0], 300.0)
	require.Equal(t, at, end(240))
	require.Equal(t, at, end(400))
	require.Equal(t, at, end(1920))
}
