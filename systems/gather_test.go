package systems_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems"
	"github.com/stretchr/testify/require"
)

func (l *loop) rep() *components.ReplicatedMovement {
	return get[components.ReplicatedMovement](l.server.World(), l.srv)
}

// gathers are the server times of the snapshots of a span.
func (l *loop) gathers(d components.Ticks) (at []components.Ticks) {
	last := l.rep().ServerTime
	for end := l.now + d; l.now < end; {
		l.run(components.TicksPerSecond / components.Ticks(l.cfg.serverHz))
		if t := l.rep().ServerTime; t != last {
			at, last = append(at, t), t
		}
	}
	return at
}

func TestSnapshotsComeAtTheNetUpdateFrequencyInTheMean(t *testing.T) {
	for _, hz := range []int64{30, 60, 128} { // none a multiple of the 22 asked for
		l := newLoop(t, loopConfig{serverHz: hz, delay: sec / 50, settings: func(s *components.Settings) { s.NetUpdateFrequency = 22 }})
		l.run(sec)
		require.InDelta(t, 220, len(l.gathers(10*sec)), 2, "%d Hz", hz)
	}
}

func TestCharactersOwnIntervalGoesBeforeTheSettings(t *testing.T) {
	l := newLoop(t, loopConfig{serverHz: 60, delay: sec / 50})
	get[components.NetUpdateTimer](l.server.World(), l.srv).Interval = sec / 5
	l.run(sec)
	require.InDelta(t, 50, len(l.gathers(10*sec)), 1)
}

func TestNextSnapshotAfterAStallLeavesWithinAnIntervalAndATick(t *testing.T) {
	l := newLoop(t, loopConfig{serverHz: 30, delay: sec / 50})
	l.run(sec)
	l.nextServer += 5 * sec
	l.run(5 * sec)
	stalled := l.now
	var after []components.Ticks
	for len(after) == 0 {
		l.run(sec / 60)
		if l.rep().ServerTime > sec+sec/10 {
			after = append(after, l.now)
		}
		require.Less(t, l.now, stalled+sec)
	}
	require.LessOrEqual(t, after[0]-stalled, sec/20+sec/30+sec/60)
	l.run(6 * sec) // the backlog is worked off
	require.InDelta(t, 40, len(l.gathers(2*sec)), 1)
}

func TestTeleportIsGatheredInItsTick(t *testing.T) {
	l := newLoop(t, loopConfig{serverHz: 60, delay: sec / 50, settings: func(s *components.Settings) { s.NetUpdateFrequency = 2 }})
	l.run(sec)
	l.srvSpawn.Teleport(l.srv, components.Vec3{0, 900, 90.15}, 0)
	l.run(sec / 60)
	require.Equal(t, l.server.Clock().Now, l.rep().ServerTime)
	require.Equal(t, uint8(1), l.rep().Teleports)
	require.InDelta(t, 900, l.rep().Location[1], 1e-9)
	require.LessOrEqual(t, len(l.gathers(2*sec)), 5) // and the interval holds again
}

// What is sent is simulated state: the snapshot is the very state of its tick.
func TestSnapshotIsTheAuthoritativeState(t *testing.T) {
	l := newLoop(t, loopConfig{serverHz: 60, delay: sec / 50, input: played(31)})
	for range 300 {
		l.run(sec / 60)
		if rep := l.rep(); rep.ServerTime == l.server.Clock().Now && l.server.Clock().Step > 1 {
			require.Equal(t, l.state().Location, rep.Location)
			require.Equal(t, l.state().Velocity, rep.Velocity)
			require.Equal(t, l.state().Mode, rep.Mode)
			require.False(t, rep.HasAcceleration)
		}
	}
}

func TestTransformTimeStaysWithinItsSlack(t *testing.T) {
	l := newLoop(t, loopConfig{serverHz: 60, delay: sec / 50, input: forward})
	l.cfg.before = func(l *loop) {
		if rep := l.rep(); rep.ServerTime != 0 {
			require.LessOrEqual(t, rep.TransformTime, rep.ServerTime)
			require.GreaterOrEqual(t, rep.TransformTime, rep.ServerTime-sec/4)
		}
	}
	l.run(2 * sec)
	l.nextClient += 3 * sec // a pause that no move makes up for
	l.run(5 * sec)
	l.cfg.late = func(n int) components.Ticks { return components.Ticks(n%7) * sec / 60 }
	l.run(2 * sec)
}

// A move that arrives late is no jerk: the place's time advances by what was
// simulated.
func TestTransformTimeAdvancesByWhatWasSimulated(t *testing.T) {
	l := newLoop(t, loopConfig{serverHz: 60, delay: sec / 20, input: forward})
	l.cfg.late = func(n int) components.Ticks { return components.Ticks(n%5) * sec / 100 }
	l.run(2 * sec)
	var at, x []float64
	for _, s := range l.gatheredPlaces(2 * sec) {
		at, x = append(at, s.TransformTime.Seconds()), append(x, s.Location[0])
	}
	for i := 1; i < len(at); i++ {
		require.InDelta(t, 600*(at[i]-at[i-1]), x[i]-x[i-1], 0.5)
	}
}

func (l *loop) gatheredPlaces(d components.Ticks) (out []components.ReplicatedMovement) {
	last := l.rep().ServerTime
	for end := l.now + d; l.now < end; {
		l.run(sec / 60)
		if r := *l.rep(); r.ServerTime != last {
			out, last = append(out, r), r.ServerTime
		}
	}
	return out
}

func TestPoseRingHoldsThePastOfACharacter(t *testing.T) {
	l := newLoop(t, loopConfig{serverHz: 60, delay: sec / 50, input: forward})
	l.run(2 * sec)
	at, x := l.server.Clock().Now, l.state().Location[0]
	l.run(sec / 2)
	ring := ecs.Need[components.PoseRings](l.server.World()).Get(l.srvPred().Poses)
	require.Equal(t, components.PosesKept, ring.N)
	pose, ok := ring.At(at)
	require.True(t, ok)
	require.Equal(t, x, pose.Location[0])
}

func TestPluginRefusesSettingsThatNothingCouldWorkWith(t *testing.T) {
	set := components.DefaultSettings()
	set.MaxMoveDeltaTime = 0
	app := ecs.New(ecs.Server)
	require.PanicsWithValue(t, "systems.Movement: network settings: MaxMoveDeltaTime is 0, must lie within 0.001..1", func() {
		app.Use(&systems.Movement{Geometry: worldFor(t, flatLevel(t)), Settings: &set})
	})
}

func TestPluginWithoutAGeometryNamesWhatIsMissing(t *testing.T) {
	app := ecs.New(ecs.Server)
	require.PanicsWithValue(t, "ecs: the world has no resource systems.Geometry", func() {
		app.Use(&systems.Movement{})
	})
}

func TestPluginGivesEachRoleItsSystems(t *testing.T) {
	names := func(role ecs.Roles) map[string]bool {
		app := ecs.New(role)
		app.Use(&systems.Movement{Geometry: worldFor(t, flatLevel(t))})
		out := map[string]bool{}
		for p := range ecs.PhaseCount {
			for _, s := range app.Systems(ecs.Phase(p)) {
				out[s.Name] = true
			}
		}
		return out
	}
	client, server, alone := names(ecs.Client), names(ecs.Server), names(ecs.Standalone)
	for _, n := range []string{"Predict", "Correct", "Replay", "SimulatedTick", "MeshSmooth"} {
		require.True(t, client[n], n)
		require.False(t, server[n], n)
	}
	for _, n := range []string{"ServerVerify", "ForcedUpdates", "Respond", "Gather"} {
		require.True(t, server[n], n)
		require.False(t, client[n], n)
		require.False(t, alone[n], n)
	}
	require.True(t, alone["LocalMove"])
	require.False(t, client["LocalMove"])
}
