package systems_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/stretchr/testify/require"
)

// mute loses what the client sends within a span of time; the client goes on.
func mute(l *loop, from, to components.Ticks) {
	l.cfg.dropUp = func(int) bool { return l.now >= from && l.now < to }
}

func running(t *testing.T) *loop {
	l := newLoop(t, loopConfig{delay: sec / 100, input: forward, serverHz: 60, settings: func(s *components.Settings) {
		s.Redundancy = components.RedundancyReference
	}})
	l.run(2 * sec)
	require.Zero(t, l.srvStats.ForcedMoves)
	return l
}

func TestSilentCharacterGoesOnAfterAQuarterOfASecond(t *testing.T) {
	l := running(t)
	mute(l, l.now, l.now+10*sec)
	l.run(sec / 4)
	require.Zero(t, l.srvStats.ForcedMoves)
	x := l.state().Location[0]
	l.run(sec / 2)
	require.NotZero(t, l.srvStats.ForcedMoves)
	require.InDelta(t, 600*0.5, l.state().Location[0]-x, 30)
}

func TestSilentCharacterGoesOnForOneSecondAtMost(t *testing.T) {
	l := running(t)
	stamp := l.srvPred().CurrentClientTimeStamp
	mute(l, l.now, l.now+10*sec)
	l.run(5 * sec)
	require.Equal(t, sec, l.srvPred().Forced.Spent)
	require.InDelta(t, float64(sec), float64(l.srvPred().CurrentClientTimeStamp-stamp), float64(sec/20))
	x := l.state().Location[0]
	l.run(sec)
	require.Equal(t, x, l.state().Location[0])
}

func TestForcedJumpIsLetGo(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 100, serverHz: 60,
		profile: func(p *components.MovementProfile) { p.JumpMaxHoldTime = 3 },
		input: func(in *components.Input, now, _ components.Ticks) {
			in.SetButton(components.FlagJumpPressed, now > sec)
		}})
	l.run(sec + sec/10)
	require.Equal(t, components.ModeFalling, l.state().Mode)
	mute(l, l.now, l.now+10*sec)
	l.run(sec / 4)
	held := l.state().JumpHold
	l.run(sec / 2)
	require.NotZero(t, l.srvStats.ForcedMoves)
	require.Equal(t, held, l.state().JumpHold)
	require.Less(t, l.state().Velocity[2], 200.0) // it rises no longer at full speed
}

func TestNothingIsForcedRightAfterAHitchOfTheServer(t *testing.T) {
	// A variable server whose frames can hitch.
	s := newHitchServer(t)
	s.frame(sec / 60)
	for range 14 {
		s.frame(sec / 60) // silence up to just under a quarter of a second
	}
	s.frame(sec / 5) // the server's own hitch
	require.Zero(t, s.forced())
	s.frame(sec / 60)
	require.Zero(t, s.forced()) // within the cooldown of 0.1 s
	for range 6 {
		s.frame(sec / 60)
	}
	require.NotZero(t, s.forced())
}

// Silence, then a burst of all that was made: the time is spent once.
func TestNoTimeIsSpentTwiceOnABurstAfterSilence(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 100, input: forward, serverHz: 60, check: true})
	l.run(2 * sec)
	from := l.now
	held := from + sec
	l.cfg.late = func(int) components.Ticks { return max(0, held-l.now) }
	l.run(3 * sec)
	spent := l.srvPred().ServerAccumulatedClientTimeStamp
	require.LessOrEqual(t, spent, l.now)
	require.InDelta(t, float64(l.now), float64(spent), float64(sec/20))
	require.InDelta(t, l.owner().Location[0], l.state().Location[0], 20)
	require.NotZero(t, l.srvStats.ForcedMoves)
}

// The owner turned round while it was silent: the server went on straight.
func TestRecoveryFromSilenceIsOneCorrection(t *testing.T) {
	l := running(t)
	mute(l, l.now, l.now+sec/2)
	l.cfg.input = func(in *components.Input, _, _ components.Ticks) { in.Vector = components.Vec3{-1, 0, 0} }
	l.run(3 * sec)
	require.Equal(t, uint64(1), l.cliStats.TotalCorrections())
	l.cfg.input = standstill
	l.run(sec)
	l.agree()
}

// A client that froze for a moment is heard again at once: as long as moves
// arrive, late as they are, nothing more is forced upon it.
func TestClientThatFrozeIsSoonHeardAgain(t *testing.T) {
	for _, freeze := range []components.Ticks{sec / 5, 2 * sec / 5, sec, 3 * sec} {
		l := running(t)
		l.nextClient += freeze
		l.run(freeze)
		moves := l.srvStats.Moves
		from := l.now
		for l.srvStats.Moves < moves+5 {
			l.run(sec / 60)
			require.Less(t, l.now, from+2*sec)
		}
		gap := min(max(freeze-sec/4, 0), sec) // what was forced meanwhile
		require.LessOrEqual(t, l.now-from, gap+sec/6, "frozen for %v s", freeze.Seconds())
		require.Less(t, l.now-from, sec)
	}
}
