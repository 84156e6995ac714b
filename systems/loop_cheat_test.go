package systems_test

import (
	"fmt"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/stretchr/testify/require"
)

// fastClock is a server under our anti-cheat profile and an owner whose
// movement clock runs at a rate: it makes its moves of 1/60 s that much more
// often. It runs along a straight line for a time; the way is returned.
func fastClock(t *testing.T, rate float64, span components.Ticks, hz int64) (*loop, float64) {
	l := newLoop(t, loopConfig{serverHz: hz, delay: 0, input: forward, settings: func(s *components.Settings) { s.AntiCheat() },
		frame: func(int) components.Ticks { return 1 << 50 }})
	l.run(sec / 2)
	from := l.now
	made := components.Ticks(0)
	stamp := components.Stamp(0)
	for l.now < from+span {
		l.run(sec / 60)
		for made < components.Ticks(float64(l.now-from)*rate) {
			made += 960
			stamp += 960
			q := l.inbox()
			q.Moves[q.N] = components.MoveData{
				Cmd: components.MoveCommand{Stamp: stamp, Dt: 960, Profile: heroRef, ObstacleTime: l.now,
					Acceleration: components.Vec3{2048, 0, 0}},
				Kind: components.MoveNew, ClaimMode: components.ModeWalking,
			}
			q.N++
		}
	}
	return l, l.state().Location[0]
}

// What a fast clock gains over an honest one is the margin and a tick of way,
// and 0.1 % of the way.
func TestFastClockGainsNoMoreThanTheBound(t *testing.T) {
	const speed, margin = 600.0, 1.0
	for _, hz := range []int64{10, 30, 60} {
		_, honest := fastClock(t, 1, 60*sec, hz)
		for _, rate := range []float64{1.02, 1.1, 2, 5} {
			t.Run(fmt.Sprintf("x%v_%dHz", rate, hz), func(t *testing.T) {
				l, way := fastClock(t, rate, 60*sec, hz)
				bound := (margin+1/float64(hz))*speed + 0.001*honest
				require.LessOrEqual(t, way-honest, bound)
				if rate > 1.02 {
					require.NotZero(t, l.srvStats.Discrepancies)
				}
			})
		}
	}
}

func TestHonestClockIsNotTouchedByOurProfile(t *testing.T) {
	l, way := fastClock(t, 1, 60*sec, 30)
	require.Zero(t, l.srvStats.Discrepancies)
	require.InDelta(t, 600*60, way, 200)
}

// A second of silence and then all of it at once gains nothing over the bound
// and does not count as a fast clock.
func TestLagSwitchGainsNoMoreThanTheBound(t *testing.T) {
	run := func(lag bool) (*loop, float64) {
		l := newLoop(t, loopConfig{serverHz: 30, delay: sec / 50, input: forward, settings: func(s *components.Settings) { s.AntiCheat() }})
		if lag {
			l.cfg.late = func(int) components.Ticks {
				if phase := l.now % (2 * sec); phase < sec {
					return sec - phase
				}
				return 0
			}
		}
		l.run(20 * sec)
		return l, l.state().Location[0]
	}
	_, honest := run(false)
	_, way := run(true)
	require.LessOrEqual(t, way-honest, (1+1.0/30)*600)
}

func TestHonestClientAfterAnOutageOf2SecondsIsNotFlagged(t *testing.T) {
	l := newLoop(t, loopConfig{serverHz: 30, delay: sec / 50, input: forward, settings: func(s *components.Settings) { s.AntiCheat() }})
	l.run(4 * sec)
	until := l.now + 2*sec
	l.cfg.late = func(int) components.Ticks { return max(0, until-l.now) }
	l.run(6 * sec)
	require.Zero(t, l.srvStats.Discrepancies)
	l.cfg.input = standstill
	l.run(2 * sec)
	require.InDelta(t, l.state().Location[0], l.owner().Location[0], 1.74)
}

func TestCorrectionsAreForcedDuringResolutionWhereAskedFor(t *testing.T) {
	l, _ := fastClock(t, 1, sec, 30)
	l.set.ForceCorrectionsDuringResolution = true
	l.srvPred().Discrepancy.Resolving, l.srvPred().Discrepancy.Time = true, 0.5
	stamp := l.srvPred().CurrentClientTimeStamp
	l.give(components.Stamp(stamp+960), 960, components.MoveNew)
	l.tick()
	require.NotZero(t, l.srvStats.CorrectionsOut[components.CorrectDiscrepancy])
}

// A move names the profile it was made under: it may be an old revision of the
// character's own, never another character's.
func TestMoveUnderAnotherProfileIsVerifiedWithTheCharactersOwn(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward})
	horse := components.DefaultProfile()
	horse.MaxWalkSpeed = 2400
	ref, err := l.srvTable.Add("horse", horse)
	require.NoError(t, err)
	l.cfg.tamper = func(_ *loop, m *components.MoveData) { m.Cmd.Profile = ref }
	l.run(3 * sec)
	require.Less(t, l.state().Velocity[0], 601.0)
	require.NotZero(t, l.srvStats.MovesDropped[components.DropProfile])
	require.Equal(t, heroRef, *get[components.ProfileRef](l.server.World(), l.srv))
}
