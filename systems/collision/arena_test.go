package collision

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/stretchr/testify/require"
)

func arenaWorld(t testing.TB) *World {
	w := NewWorld()
	require.NoError(t, w.AddLevel(0, Arena()))
	return w
}

func capsuleAt(p Vec3) Query { return Query{Start: p, Radius: 34, HalfHeight: 88} }

// groundAt is what a capsule dropped from z comes to stand on.
func groundAt(t *testing.T, w *World, x, y, z float64, at components.Ticks) Hit {
	q := capsuleAt(Vec3{x, y, z})
	q.Delta = Vec3{0, 0, -z - 600}
	q.Time = at
	require.True(t, w.Sweep(&q), "nothing below (%v, %v)", x, y)
	return q.Hit
}

// arenaHash is on every target what it is here; it changes when the arena does.
const arenaHash = 0xc72e21575ecd77cb

func TestArenaHashIsPinned(t *testing.T) {
	require.Equal(t, uint64(arenaHash), Arena().Hash())
}

func TestArenaSpawnsAreFreeOnTheFloor(t *testing.T) {
	w := arenaWorld(t)
	require.Len(t, Arena().Spawns(), 16)
	for _, feet := range Arena().Spawns() {
		for at := components.Ticks(0); at < 20*components.Second; at += components.Second / 2 {
			q := capsuleAt(exact.Add(feet, Vec3{0, 0, 90.15}))
			q.Time = at
			require.False(t, w.Overlap(&q), "spawn %v at %v", feet, at)
		}
		hit := groundAt(t, w, feet[0], feet[1], 200, 0)
		require.Equal(t, Vec3{0, 0, 1}, hit.Normal)
		require.InDelta(t, 88, hit.Location[2], 1e-9)
	}
}

func TestArenaLiftIsFlushAtBothEnds(t *testing.T) {
	w := arenaWorld(t)
	low := groundAt(t, w, liftX, 0, 300, 0)
	require.Equal(t, ArenaLift, low.Base)
	require.InDelta(t, 88, low.Location[2], 1e-9)
	high := groundAt(t, w, liftX, 0, 700, 5*components.Second)
	require.Equal(t, ArenaLift, high.Base)
	require.InDelta(t, 488, high.Location[2], 1e-9)
	beside := groundAt(t, w, liftX+400, 0, 700, 5*components.Second)
	require.Zero(t, beside.Base)
	require.InDelta(t, 488, beside.Location[2], 1e-9)
	v, ok := w.BaseVelocity(ArenaLift, 4*components.Second, Vec3{})
	require.True(t, ok)
	require.Equal(t, Vec3{0, 0, 200}, v)
}

func TestArenaRampsHaveTheirAngles(t *testing.T) {
	w := arenaWorld(t)
	for i, z := range []float64{0.965926, 0.866025, 0.766044, 0.642788} { // cosines of 15, 30, 40, 50 degrees
		hit := groundAt(t, w, -2540, -2550+float64(i)*450, 500, 0)
		require.InDelta(t, z, hit.FaceNormal[2], 1e-4)
	}
}

func TestArenaCeilingLetsOnlyTheCrouchedThrough(t *testing.T) {
	w := arenaWorld(t)
	q := Query{Start: Vec3{-600, 1900, 42.15}, Delta: Vec3{1200, 0, 0}, Radius: 34, HalfHeight: 40}
	require.False(t, w.Sweep(&q))
	q.Start[2], q.HalfHeight = 90.15, 88
	require.True(t, w.Sweep(&q))
}

func TestArenaWallsHoldEverybodyIn(t *testing.T) {
	w := arenaWorld(t)
	for _, d := range []Vec3{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {1, 1, 0}, {-1, 1, 0}, {0.3, -1, 0}} {
		q := capsuleAt(Vec3{0, 0, 300})
		q.Delta = exact.Scale(d, 10000)
		require.True(t, w.Sweep(&q))
	}
}

func TestArenaMoundIsWalkable(t *testing.T) {
	l := Arena()
	steepest := 1.0
	for id := range uint32(l.NumTriangles()) {
		a, b, c, _ := l.Triangle(id)
		if a[0] > 1300 && a[1] > 1300 && max(a[2], b[2], c[2]) < moundHeight+1 && b[0] < 2700 {
			n, _ := triNormal([3]Vec3{a, b, c})
			steepest = min(steepest, n[2])
		}
	}
	require.Greater(t, steepest, 0.71)
	require.Less(t, steepest, 0.99)
}

func TestArenaOutlineShowsTheRamps(t *testing.T) {
	found := false
	for _, s := range Arena().Outline() {
		if s.A == (Vec3{-2600, -2700, 0}) || s.B == (Vec3{-2600, -2700, 0}) {
			found = true
		}
	}
	require.True(t, found)
	require.Less(t, len(Arena().Outline()), 1000)
}
