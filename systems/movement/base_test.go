package movement

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/stretchr/testify/require"
)

// lift is a floor that rises and falls between 0 and 1200 at 600 cm/s and
// reverses at once.
func lift(_ components.NetID, at components.Ticks) (components.Pose, bool) {
	const period = 4 * components.Second
	t := ((at % period) + period) % period
	if t > period/2 {
		t = period - t
	}
	return components.Pose{Location: Vec3{0, 0, 600 * t.Seconds()}}, true
}

func turntable(rate float64) func(components.NetID, components.Ticks) (components.Pose, bool) {
	return func(_ components.NetID, at components.Ticks) (components.Pose, bool) {
		return components.Pose{Yaw: exact.NormalizeDeg(rate * at.Seconds())}, true
	}
}

func onBase(pose func(components.NetID, components.Ticks) (components.Pose, bool), hz int) (*walker, *planes) {
	g := newPlanes(halfSpace{n: Vec3{0, 0, 1}, base: 7})
	g.pose = pose
	w := newWalker(g, hz)
	w.move(Vec3{}, 0)
	// It was at rest in the world, so not on the base: to where it is at rest.
	w.s.Velocity = Vec3{}
	return w, g
}

func TestStandsOnALiftForAMinute(t *testing.T) {
	for _, hz := range rates {
		w, g := onBase(lift, hz)
		require.EqualValues(t, 7, w.s.Base)
		rel := w.s.BaseLocation
		for i := 0; i < 60*hz; i++ {
			w.move(Vec3{}, 0)
			require.Equal(t, components.ModeWalking, w.s.Mode, "%d Hz: no flicker between modes", hz)
		}
		require.Less(t, exact.Dist(rel, w.s.BaseLocation), 1e-6, "%d Hz: stays put relative to the base", hz)
		pose, _ := g.pose(7, w.time)
		require.InDelta(t, pose.Location[2]+90.15, w.s.Location[2], 1e-6)
		require.Zero(t, w.s.Velocity)
	}
}

func TestStandsOnATurntableForAMinute(t *testing.T) {
	for _, rate := range []float64{6, 90} {
		w, _ := onBase(turntable(rate), 60)
		w.s.Location[0] = 300
		RefreshBase(w.c.Geometry, &w.s, w.time)
		rel, yaw := w.s.BaseLocation, w.s.BaseYaw
		for i := 0; i < 3600; i++ {
			w.move(Vec3{}, 0)
		}
		require.Less(t, exact.Dist(rel, w.s.BaseLocation), 1e-6, "%v degrees/s", rate)
		require.InDelta(t, 0, exact.NormalizeDeg(yaw-w.s.BaseYaw), 1e-6, "the yaw follows")
		require.Zero(t, w.s.Velocity)
	}
}

func TestWalkingSpeedOnABaseIsRelativeToIt(t *testing.T) {
	train := func(_ components.NetID, at components.Ticks) (components.Pose, bool) {
		return components.Pose{Location: Vec3{0, 1000 * at.Seconds(), 0}}, true
	}
	w, _ := onBase(train, 60)
	rel := w.s.BaseLocation
	for i := 0; i < 60; i++ {
		w.move(east, 0)
	}
	require.InDelta(t, 600, w.s.Velocity[0], 1e-9)
	require.InDelta(t, 0, w.s.Velocity[1], 1e-9)
	require.InDelta(t, rel[1], w.s.BaseLocation[1], 1e-6)
}

func TestJumpInheritsTheLiftsSpeed(t *testing.T) {
	w, _ := onBase(lift, 60)
	for i := 0; i < 30; i++ {
		w.move(Vec3{}, 0)
	}
	w.move(Vec3{}, jump)
	require.True(t, w.has(EventJumped))
	require.InDelta(t, 1020-980.0/60, w.s.Velocity[2], 1e-6, "420 and the lift's 600")
	require.Zero(t, w.s.Base)

	w.p.ImpartBaseVelocity = false
	w, _ = onBase(lift, 60)
	w.p.ImpartBaseVelocity = false
	w.move(Vec3{}, jump)
	require.InDelta(t, 420-980.0/60, w.s.Velocity[2], 1e-6, "the profile forbids it")
}

func TestJumpOnATrainLandsWhereItBegan(t *testing.T) {
	train := func(_ components.NetID, at components.Ticks) (components.Pose, bool) {
		return components.Pose{Location: Vec3{0, 1000 * at.Seconds(), 0}}, true
	}
	for _, hz := range rates {
		w, _ := onBase(train, hz)
		rel := w.s.BaseLocation
		w.move(Vec3{}, jump)
		require.InDelta(t, 1000, w.s.Velocity[1], 1e-6, "%d Hz: imparted", hz)
		w.until(2*hz, Vec3{}, 0, func() bool { return w.s.Mode == components.ModeWalking })
		require.EqualValues(t, 7, w.s.Base)
		require.InDelta(t, 0, w.s.Velocity[1], 1e-6, "%d Hz: removed on landing, no doubled speed", hz)
		require.Less(t, exact.Dist(rel, w.s.BaseLocation), 0.3, "%d Hz", hz)
	}
}

func TestLeavingATurntableAddsItsTangentialVelocity(t *testing.T) {
	w, _ := onBase(turntable(90), 60)
	w.s.Location[0] = 300
	RefreshBase(w.c.Geometry, &w.s, w.time)
	w.move(Vec3{}, jump)
	require.InDelta(t, 300*1.5707963, exact.Len2(w.s.Velocity), 0.5)
	require.InDelta(t, 0, exact.Dot2(exact.SafeNormal2(w.s.Velocity), exact.SafeNormal2(w.s.Location)), 0.05, "across the radius")
}

func TestVelocityTurnsWithTheBase(t *testing.T) {
	w, _ := onBase(turntable(90), 60)
	w.p.GroundFriction, w.p.BrakingDecelerationWalking, w.p.BrakingFrictionFactor = 0, 0, 0
	w.s.Velocity = Vec3{100, 0, 0}
	start := w.s.BaseLocation
	for i := 0; i < 60; i++ {
		w.move(Vec3{}, 0)
	}
	require.InDelta(t, 100, exact.Len2(w.s.Velocity), 1e-6)
	require.InDelta(t, 100, exact.Dist(start, w.s.BaseLocation), 0.01, "straight ahead in the base's frame")
}

func TestBaseThatVanishesLetsFall(t *testing.T) {
	w, g := onBase(lift, 60)
	for i := 0; i < 30; i++ {
		w.move(Vec3{}, 0)
	}
	g.solid, g.pose = nil, nil
	w.move(Vec3{}, 0)
	require.True(t, w.has(EventBaseChanged))
	require.Equal(t, components.ModeFalling, w.s.Mode)
	require.Zero(t, w.s.Base)
	for i := 0; i < 60; i++ {
		w.move(Vec3{}, 0)
	}
	require.Less(t, w.s.Velocity[2], -900.0)
}

func TestWorldFromBaseIsTheReverseOfRefreshBase(t *testing.T) {
	g := newPlanes()
	g.pose = func(_ components.NetID, at components.Ticks) (components.Pose, bool) {
		return components.Pose{Location: Vec3{10, -20, 30}, Yaw: 77 * at.Seconds()}, true
	}
	p := components.DefaultProfile()
	s := InitialState(&p, Vec3{1, 2, 3}, 50)
	_, _, ok := WorldFromBase(g, &s, 0)
	require.False(t, ok, "no base")
	s.Base = 3
	require.True(t, RefreshBase(g, &s, components.Second))
	at, yaw, ok := WorldFromBase(g, &s, components.Second)
	require.True(t, ok)
	require.Less(t, exact.Dist(at, s.Location), 1e-9)
	require.InDelta(t, 50, yaw, 1e-9)
	_, yaw, _ = WorldFromBase(g, &s, 2*components.Second)
	require.InDelta(t, 127, yaw, 1e-9)
}

func TestRisingFloorThatIsNotTheBaseTakesTheFallingCharacterUp(t *testing.T) {
	w, g := onBase(lift, 60)
	w.move(Vec3{}, jump)
	w.s.Velocity = Vec3{}
	for i := 0; i < 60; i++ {
		w.move(Vec3{}, 0)
		pose, _ := g.pose(7, w.time)
		require.GreaterOrEqual(t, w.feet(), pose.Location[2], "never through the floor")
	}
	require.EqualValues(t, 7, w.s.Base)
}
