package systems_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/stretchr/testify/require"
)

// A steady second, in which both ends work, allocates nothing: moves, verdicts,
// answers, snapshots.
func TestSteadyTickAllocatesNothing(t *testing.T) {
	for _, fixed := range []int64{0, 60} {
		l := newLoop(t, loopConfig{level: collision.Arena(), frame: fps(120), fixedHz: fixed, serverHz: 30, delay: sec / 20,
			onlooker: true, input: played(8)})
		l.run(3 * sec)
		moves := l.srvStats.Moves
		require.Zero(t, testing.AllocsPerRun(60, func() { l.run(sec / 30) }), "fixed %d", fixed)
		require.Greater(t, l.srvStats.Moves, moves+80)
	}
}

func TestCorrectionsAndReplaysAllocateNothing(t *testing.T) {
	l := newLoop(t, loopConfig{level: collision.Arena(), frame: fps(60), serverHz: 30, delay: sec / 20, input: played(8)})
	l.run(3 * sec)
	replays := l.cliStats.Replays
	require.Zero(t, testing.AllocsPerRun(60, func() {
		l.srvPred().ForceUpdate = true
		l.run(sec / 30)
	}))
	require.Greater(t, l.cliStats.Replays, replays+10)
}

func TestForcedUpdatesAllocateNothing(t *testing.T) {
	l := newLoop(t, loopConfig{frame: fps(60), serverHz: 60, delay: sec / 20, input: forward, settings: func(s *components.Settings) {
		s.MaxForcedUpdateDuration = 60
	}})
	l.run(2 * sec)
	mute(l, l.now, 1<<40)
	l.run(sec)
	forced := l.srvStats.ForcedMoves
	require.Zero(t, testing.AllocsPerRun(60, func() { l.run(sec / 60) }))
	require.Greater(t, l.srvStats.ForcedMoves, forced+50)
}

func TestSweepAllocatesNothing(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 20, input: standstill})
	l.run(3 * sec)
	require.Zero(t, testing.AllocsPerRun(3, func() { l.run(2 * sec) })) // more than 64 frames each
}
