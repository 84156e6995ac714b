package movement

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/stretchr/testify/require"
)

func (w *walker) extrapolate() {
	w.time += w.dt
	w.c.SimulateProxy(&w.s, w.dt, w.time, &w.p)
}

func TestProxyGoesOnByItsVelocity(t *testing.T) {
	w := newWalker(newPlanes(floorAt0), 60)
	w.s.Velocity = Vec3{600, 0, 0}
	for i := 0; i < 60; i++ {
		w.extrapolate()
	}
	require.InDelta(t, 600, w.s.Location[0], 1e-6)
	require.Equal(t, Vec3{600, 0, 0}, w.s.Velocity)
	w.s.Velocity = Vec3{}
	at := w.s.Location
	w.extrapolate()
	require.Equal(t, at, w.s.Location, "no velocity, no way")
}

func TestProxyKeepsToARampAndAWall(t *testing.T) {
	w := newWalker(newPlanes(floorAt0, tilted(30), wall(180, -500)), 60)
	w.s.Location[0] = -200
	w.s.Velocity = Vec3{600, 0, 0}
	for i := 0; i < 60; i++ {
		w.extrapolate()
	}
	require.InDelta(t, 600.0-200, w.s.Location[0], 10)
	require.Greater(t, w.feet(), 200.0, "up the ramp")
	for i := 0; i < 60; i++ {
		w.extrapolate()
	}
	require.LessOrEqual(t, w.s.Location[0], 466.0, "not through the wall")
	require.Equal(t, Vec3{600, 0, 0}, w.s.Velocity, "the velocity is the replicated one")
}

func TestProxyFallsAndLands(t *testing.T) {
	w := newWalker(newPlanes(floorAt0), 60)
	w.s.Location[2] += 200
	w.s.Mode = components.ModeFalling
	w.s.Velocity = Vec3{300, 0, 100}
	for i := 0; i < 60; i++ {
		w.extrapolate()
	}
	require.Equal(t, components.ModeWalking, w.s.Mode)
	require.InDelta(t, 2.15, w.feet(), 1e-9)
	require.InDelta(t, 300, w.s.Location[0], 1)
}

func TestProxyRidesItsBase(t *testing.T) {
	w, _ := onBase(lift, 60)
	rel := w.s.BaseLocation
	for i := 0; i < 600; i++ {
		w.extrapolate()
	}
	require.Less(t, exact.Dist(rel, w.s.BaseLocation), 1e-6)
}

func TestSetCrouchedChangesTheCapsuleAlone(t *testing.T) {
	w := newWalker(newPlanes(floorAt0), 60)
	at := w.s.Location
	SetCrouched(w.c, &w.s, &w.p, true)
	require.Equal(t, 40.0, w.s.HalfHeight)
	require.Equal(t, at, w.s.Location)
	SetCrouched(w.c, &w.s, &w.p, false)
	require.Equal(t, 88.0, w.s.HalfHeight)
	require.False(t, w.s.Crouched)
}
