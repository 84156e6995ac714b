package ecs_test

import (
	"testing"

	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

type weather struct{ rain float64 }

func TestMissingResourceIsNamed(t *testing.T) {
	w := arche.NewWorld()
	require.PanicsWithValue(t, "ecs: the world has no resource ecs_test.weather", func() { ecs.Need[weather](&w) })
	require.Nil(t, ecs.Maybe[weather](&w))
}

func TestProvidedResourceIsMadeOnce(t *testing.T) {
	w := arche.NewWorld()
	made := 0
	def := func() *weather { made++; return &weather{rain: 1} }
	first := ecs.Provide(&w, def)
	require.Same(t, first, ecs.Provide(&w, def))
	require.Equal(t, 1, made)
	require.Same(t, first, ecs.Need[weather](&w))
}
