package systems_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/stretchr/testify/require"
)

// nearReset is a movement clock a quarter of a second before its reset.
const nearReset = components.Stamp(components.StampResetPeriod - sec/4)

func resetLoop(t *testing.T, tune func(*loopConfig)) *loop {
	cfg := loopConfig{delay: sec / 20, input: played(21), startStamp: nearReset, check: true}
	if tune != nil {
		tune(&cfg)
	}
	l := newLoop(t, cfg)
	l.run(3 * sec)
	l.cfg.input = func(in *components.Input, _, _ components.Ticks) { *in = components.Input{Control: in.Control} }
	l.cfg.dropUp, l.cfg.late = nil, nil
	l.run(2 * sec)
	return l
}

func TestStampResetsOnBothSidesWithoutACorrection(t *testing.T) {
	l := resetLoop(t, nil)
	require.Equal(t, uint64(1), l.cliStats.StampResets)
	require.Equal(t, uint64(1), l.srvStats.StampResets)
	require.Less(t, components.Ticks(l.pred().CurrentTimeStamp), 6*sec)
	require.Zero(t, l.srvStats.TotalCorrectionsOut())
	require.Empty(t, l.differ)
	l.agree()
}

// The packets around the reset are lost, the last one before it and the first
// ones after it.
func TestStampResetsWithThePacketsAroundItLost(t *testing.T) {
	l := resetLoop(t, func(c *loopConfig) { c.dropUp = func(n int) bool { return n >= 10 && n < 20 } })
	require.Equal(t, uint64(1), l.srvStats.StampResets)
	require.Zero(t, l.srvStats.TotalCorrectionsOut())
	require.Empty(t, l.differ)
	l.agree()
}

// Packets from before the reset overtake none, but come after those of after
// it.
func TestStampResetsWithReorder(t *testing.T) {
	l := resetLoop(t, func(c *loopConfig) {
		c.late = func(n int) components.Ticks {
			if n >= 8 && n < 16 {
				return sec / 8
			}
			return 0
		}
	})
	require.Equal(t, uint64(1), l.srvStats.StampResets)
	require.Zero(t, l.srvStats.TotalCorrectionsOut())
	l.agree()
}

func TestStampResetsUnderReferenceRedundancyWithLoss(t *testing.T) {
	l := resetLoop(t, func(c *loopConfig) {
		c.settings = func(s *components.Settings) { s.Redundancy = components.RedundancyReference }
		c.dropUp = func(n int) bool { return n >= 12 && n < 18 }
	})
	require.Equal(t, uint64(1), l.srvStats.StampResets)
	require.InDelta(t, l.state().Location[0], l.owner().Location[0], 1.74)
	require.InDelta(t, l.state().Location[1], l.owner().Location[1], 1.74)
}

func TestMovesOfBeforeTheResetAreMarkedAndDoNotCombine(t *testing.T) {
	l := newLoop(t, loopConfig{frame: fps(240), delay: sec / 20, input: forward, startStamp: nearReset})
	for l.cliStats.StampResets == 0 {
		l.run(sec / 240)
	}
	marked := 0
	for i := range l.queue().Len() {
		m := l.queue().At(i)
		if m.OldTimeStampBeforeReset {
			marked++
		}
		require.Equal(t, components.Ticks(m.Cmd.Stamp) > components.StampResetPeriod/2, m.OldTimeStampBeforeReset)
	}
	require.NotZero(t, marked)
	require.True(t, l.queue().HasLastAcked)
	require.True(t, l.queue().LastAcked.OldTimeStampBeforeReset)
}

// The move that shows the reset may itself be too late to be executed: forced
// updates have spent its time. The discrepancy follows the reset all the same.
func TestResetShownByALateMoveIsNoDiscrepancy(t *testing.T) {
	l := bare(t, func(s *components.Settings) { s.DiscrepancyDetection, s.MinTimeMargin = true, -600 })
	l.give(components.Stamp(components.StampResetPeriod)-500, 960, components.MoveNew)
	l.run(2 * sec)
	require.Equal(t, sec, l.srvPred().Forced.Spent)
	l.give(1000, 960, components.MoveNew)
	l.tick()
	require.Equal(t, uint64(1), l.srvStats.MovesDropped[components.DropExpired])
	l.give(components.Stamp(2*sec), 960, components.MoveNew)
	l.tick()
	require.Equal(t, uint64(1), l.srvStats.StampResets)
	require.InDelta(t, 0, l.srvPred().Discrepancy.Time, 0.1)
}

// moves hands the server a move as if it had come over the wire.
func (l *loop) give(stamp components.Stamp, dt components.Ticks, kind components.MoveKind) {
	q := l.inbox()
	st := l.state()
	q.Moves[q.N] = components.MoveData{
		Cmd:  components.MoveCommand{Stamp: stamp, Dt: dt, Profile: heroRef, ObstacleTime: l.now},
		Kind: kind, Claim: st.Location, ClaimMode: st.Mode, ClaimBase: st.Base,
	}
	q.N++
}

// bare is a server whose client never runs: its moves are handed to it.
func bare(t *testing.T, tune func(*components.Settings)) *loop {
	l := newLoop(t, loopConfig{settings: tune, frame: func(int) components.Ticks { return 1 << 50 }})
	l.run(sec / 10)
	return l
}

func (l *loop) tick() { l.run(sec / 30) }

func TestMoveWithoutAStampIsDropped(t *testing.T) {
	l := bare(t, nil)
	l.give(0, 960, components.MoveNew)
	l.tick()
	require.Equal(t, uint64(1), l.srvStats.MovesDropped[components.DropZeroStamp])
	require.Zero(t, l.srvStats.Moves)
}

func TestMoveWithAStampBeyondThePeriodIsDropped(t *testing.T) {
	l := bare(t, nil)
	l.give(components.Stamp(components.StampResetPeriod+sec), 960, components.MoveNew)
	l.tick()
	require.Equal(t, uint64(1), l.srvStats.MovesDropped[components.DropInvalid])
	require.Zero(t, l.srvStats.Moves)
}

func TestMoveMoreThanHalfThePeriodAheadIsDropped(t *testing.T) {
	l := bare(t, nil)
	l.give(1000, 960, components.MoveNew)
	l.give(components.Stamp(1001+components.StampResetPeriod/2), 960, components.MoveNew)
	l.tick()
	require.Equal(t, uint64(1), l.srvStats.MovesDropped[components.DropTooFarAhead])
	require.Equal(t, uint64(1), l.srvStats.Moves)
	require.Equal(t, components.Ticks(1000), l.srvPred().CurrentClientTimeStamp)
}

func TestRepeatedCopyIsRedundantAndAnOlderMoveExpired(t *testing.T) {
	l := bare(t, nil)
	l.give(10000, 960, components.MoveNew)
	l.give(10000, 960, components.MoveNew) // a duplicated packet
	l.give(9040, 960, components.MoveOld)  // a repeated move
	l.give(9000, 960, components.MoveNew)  // overtaken
	l.tick()
	require.Equal(t, uint64(2), l.srvStats.MovesDropped[components.DropRedundant])
	require.Equal(t, uint64(1), l.srvStats.MovesDropped[components.DropExpired])
	require.Equal(t, uint64(1), l.srvStats.Moves)
}

func TestServerStepsByTheDifferenceOfStampsUpToItsLimit(t *testing.T) {
	l := bare(t, nil)
	const limit = 12600 // 0.21875 s
	at := components.Stamp(1000)
	step := func(d components.Stamp) components.Ticks {
		at += d
		before := l.srvPred().ServerAccumulatedClientTimeStamp
		l.give(at, 1, components.MoveNew) // the span named is not believed
		l.tick()
		return l.srvPred().ServerAccumulatedClientTimeStamp - before
	}
	step(0)
	require.Equal(t, components.Ticks(700), step(700))
	require.Equal(t, components.Ticks(limit), step(limit))
	require.Zero(t, l.srvStats.DtClamps)
	require.Equal(t, components.Ticks(limit), step(limit+1))
	require.Equal(t, uint64(1), l.srvStats.DtClamps)
	require.Equal(t, components.Ticks(at), l.srvPred().CurrentClientTimeStamp)
}

func TestOwnerMakesNoMoveOverAnEighthOfASecond(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward})
	l.run(sec / 2)
	l.nextClient += 3 * sec // the client freezes
	l.run(3*sec + sec/60)
	require.Equal(t, secs(0.125), l.queue().Newest().Cmd.Dt)
}

// A hitch of the client's makes its clock late: the server simulates what the
// owner does. A freeze that the server has filled is skipped.
func TestStampSkipsWhatTheServerFilledDuringAFreeze(t *testing.T) {
	for _, c := range []struct{ freeze, advance float64 }{{0.2, 0.125}, {0.25, 0.125}, {0.5, 0.5}, {1, 1}, {3, 0.125 + 1.25}} {
		l := newLoop(t, loopConfig{delay: sec / 50, input: forward})
		l.run(sec / 2)
		before := l.pred().CurrentTimeStamp
		frame := l.client.Clock().FrameNow
		l.now += secs(c.freeze)
		l.client.Frame(frame + secs(c.freeze))
		require.Equal(t, secs(c.advance), components.Ticks(l.pred().CurrentTimeStamp-before), "%v s", c.freeze)
	}
}

func TestFirstMoveMayNameAnyStamp(t *testing.T) {
	l := bare(t, nil)
	l.give(components.Stamp(components.StampResetPeriod)-5, 960, components.MoveNew)
	l.tick()
	require.Equal(t, uint64(1), l.srvStats.Moves)
	require.Equal(t, components.Ticks(960), l.srvPred().ServerAccumulatedClientTimeStamp)
}

func TestMovesOfAnotherEpochAreDropped(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 20, input: forward})
	l.run(sec / 2)
	moves := l.srvStats.Moves
	l.srvSpawn.Possess(l.srv, 1)
	l.run(sec / 2)
	require.NotZero(t, l.srvStats.MovesDropped[components.DropEpoch])
	require.Equal(t, moves, l.srvStats.Moves)
}

func TestNotReadyServerTakesNoAcceleration(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward})
	l.srvPred().NotReady = true
	l.run(sec)
	require.NotZero(t, l.srvStats.Moves)
	require.Zero(t, l.state().Velocity[0])
	l.srvPred().NotReady = false
	l.run(sec)
	require.Greater(t, l.state().Velocity[0], 590.0)
}
