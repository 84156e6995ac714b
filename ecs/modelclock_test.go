package ecs

import (
	"testing"

	"github.com/gaitnet/gait/components"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

func TestClockSystemMovesTheClockOncePerUpdate(t *testing.T) {
	w := arche.NewWorld()
	times := []components.Ticks{100, 110, 110, 90, 125}
	s := NewClockSystem(func() components.Ticks {
		now := times[0]
		times = times[1:]
		return now
	})
	s.Initialize(&w)
	c := arche.GetResource[Clock](&w)
	var dts []components.Ticks
	for range 4 {
		s.Update(&w)
		dts = append(dts, c.Dt)
	}
	require.Equal(t, []components.Ticks{10, 0, 0, 15}, dts)
	require.Equal(t, components.Ticks(125), c.Now)
	require.Equal(t, uint64(1), c.Backwards)
	s.Finalize(&w)
	require.False(t, w.Resources().Has(arche.ResourceID[Clock](&w)))
}

func TestPlainModelCarriesOutCommands(t *testing.T) {
	w := arche.NewWorld()
	now := components.Ticks(0)
	s, f := NewClockSystem(func() components.Ticks { now++; return now }), &FlushSystem{}
	s.Initialize(&w)
	f.Initialize(&w)
	c := arche.GetResource[Commands](&w)
	c.Spawn(nil, 0)
	s.Update(&w)
	require.Equal(t, 1, count(&w), "at the start of an update")
	c.Spawn(nil, 0)
	f.Update(&w)
	require.Equal(t, 2, count(&w), "where a FlushSystem stands")
	c.Spawn(nil, 0)
	f.Finalize(&w)
	s.Finalize(&w)
	require.Equal(t, 3, count(&w), "at the end")
}

func TestFlushSystemNeedsAClockSystem(t *testing.T) {
	w := arche.NewWorld()
	require.Panics(t, func() { (&FlushSystem{}).Initialize(&w) })
}

func TestClockSystemRefusesFixedStepsAndASecondDriver(t *testing.T) {
	now := func() components.Ticks { return 0 }
	require.Panics(t, func() { NewClockSystem(now, Fixed(Hz(60))) })
	w := arche.NewWorld()
	a := Adopt(&w, Client)
	require.Panics(t, func() { NewClockSystem(now).Initialize(&w) })
	a.Finalize()
}

func TestAppAsSystemNeedsItsOwnWorld(t *testing.T) {
	w := arche.NewWorld()
	a := New(Client)
	s := a.AsSystem(func() components.Ticks { return 0 })
	require.Panics(t, func() { s.Initialize(&w) })
	require.NotPanics(t, func() { s.Initialize(a.World()) })
	s.Update(a.World())
	require.Equal(t, uint64(1), a.Clock().Frame)
	s.Finalize(a.World())
}
