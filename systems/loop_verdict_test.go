package systems_test

import (
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/movement"
	"github.com/stretchr/testify/require"
)

// shifted adds to the claims made from a time on.
func shifted(by components.Vec3, from, to components.Ticks) func(*loop, *components.MoveData) {
	return func(l *loop, m *components.MoveData) {
		if m.Kind == components.MoveNew && l.now >= from && l.now < to {
			m.Claim = exact.Add(m.Claim, by)
		}
	}
}

func TestClaimOffBy17MillimetresPasses(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: standstill, tamper: shifted(components.Vec3{1.7, 0, 0}, 0, sec)})
	l.run(sec)
	require.Zero(t, l.srvStats.TotalCorrectionsOut())
}

func TestClaimOffBy2CentimetresIsCorrected(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: standstill, tamper: shifted(components.Vec3{0, 2, 0}, 0, sec)})
	l.run(sec)
	require.NotZero(t, l.srvStats.CorrectionsOut[components.CorrectPosition])
}

func TestClaimThatIsNoNumberIsCorrected(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: standstill, tamper: shifted(components.Vec3{math.NaN(), 0, 0}, 0, sec)})
	l.run(sec)
	require.NotZero(t, l.srvStats.CorrectionsOut[components.CorrectPosition])
}

func TestClaimOfAnotherModeIsCorrected(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: standstill, tamper: func(_ *loop, m *components.MoveData) {
		m.ClaimMode = components.ModeFlying
	}})
	l.run(sec)
	require.NotZero(t, l.srvStats.CorrectionsOut[components.CorrectMode])
}

func TestClaimOnABaseThatDoesNotExistIsCorrected(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: standstill, tamper: func(_ *loop, m *components.MoveData) {
		m.ClaimBase = 77
	}})
	l.run(sec)
	require.NotZero(t, l.srvStats.CorrectionsOut[components.CorrectBase])
}

// push moves the server's copy behind everybody's back.
func push(by components.Vec3) func(l *loop) {
	return func(l *loop) { l.state().Location = exact.Add(l.state().Location, by) }
}

func TestCorrectionAndReplayPutTheCapsuleRight(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 20, input: forward})
	l.run(sec)
	push(components.Vec3{0, 50, 0})(l)
	l.run(sec)
	require.NotZero(t, l.cliStats.Corrections[components.CorrectPosition])
	require.InDelta(t, 50, l.owner().Location[1], 1e-9)
	l.cfg.input = standstill
	l.run(sec)
	l.agree()
}

func TestOnePushIsCorrectedOnceOnAQuickLink(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 100, input: forward})
	l.run(sec)
	push(components.Vec3{0, 50, 0})(l)
	l.run(sec)
	require.Equal(t, uint64(1), l.cliStats.TotalCorrections())
	require.Equal(t, uint64(1), l.cliStats.Replays)
}

// A lost correction is said again by the next verdict.
func TestLostCorrectionIsSaidAgain(t *testing.T) {
	lost := 0
	l := newLoop(t, loopConfig{delay: sec / 20, input: forward})
	l.run(sec)
	l.cfg.dropDown = func(int) bool { lost++; return lost <= 2 }
	push(components.Vec3{0, 50, 0})(l)
	l.run(sec)
	l.cfg.input = standstill
	l.run(sec)
	l.agree()
}

func TestReplayWithoutDifferenceChangesNoBit(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 20, input: played(3)})
	twin := newLoop(t, loopConfig{delay: sec / 20, input: played(3)})
	for i := range 60 {
		if i%4 == 3 {
			l.srvPred().ForceUpdate = true // a correction to where the owner is anyway
		}
		l.run(sec / 10)
		twin.run(sec / 10)
		require.Equal(t, movement.HashState(0, twin.owner()), movement.HashState(0, l.owner()))
	}
	require.Greater(t, l.cliStats.ReplayedMoves, uint64(20))
	mesh := get[components.MeshSmoothing](l.client.World(), l.own)
	require.True(t, mesh.Complete)
}

// A request for a correction outlasts the throttle that holds the first
// verdict back: the place agrees, so no later verdict would say it again.
func TestRequestedCorrectionOutlastsTheThrottle(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward})
	l.run(sec)
	l.srvPred().ForceUpdate = true
	for l.srvStats.CorrectionsOut[components.CorrectRequested] == 0 {
		l.run(sec / 60)
	}
	l.srvPred().ForceUpdate = true // the clock of corrections is closed now
	l.run(sec / 2)
	require.Equal(t, uint64(2), l.srvStats.CorrectionsOut[components.CorrectRequested])
	require.False(t, l.srvPred().ForceUpdate)
}

// answer puts a response into the owner's inbox.
func (l *loop) answer(r components.MoveResponse) {
	q := l.queue()
	q.Responses[q.NumResponses] = r
	q.NumResponses++
}

// silentServer is a loop whose server does not answer, so that the owner's
// moves wait.
func silentServer(t *testing.T) *loop {
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward, dropDown: func(int) bool { return true }})
	l.run(sec / 2)
	require.Greater(t, l.queue().Len(), 20)
	return l
}

func (l *loop) frame() {
	l.now = l.nextClient
	l.nextClient += l.cfg.frame(1)
	l.clientFrame(l.now - l.client.Clock().FrameNow)
}

func TestAckIsCumulative(t *testing.T) {
	l := silentServer(t)
	n := l.queue().Len()
	stamp := l.queue().At(9).Cmd.Stamp
	l.answer(components.MoveResponse{Stamp: stamp, Epoch: 1, AckGood: true})
	l.frame()
	require.Equal(t, n-10+1, l.queue().Len()) // and the frame's own move
	require.Equal(t, stamp, l.queue().LastAcked.Cmd.Stamp)
	require.Zero(t, l.cliStats.Replays)
}

func TestTwoAnswersInOneFrameMakeOneReplay(t *testing.T) {
	l := silentServer(t)
	end := l.queue().At(12).End
	end.Location[1] += 40
	l.answer(components.MoveResponse{Stamp: l.queue().At(4).Cmd.Stamp, Epoch: 1, AckGood: true})
	r := components.MoveResponse{Stamp: l.queue().At(12).Cmd.Stamp, Epoch: 1, State: end, Reason: components.CorrectPosition}
	l.answer(r)
	l.answer(r) // a duplicated packet
	l.frame()
	require.Equal(t, uint64(1), l.cliStats.Replays)
	require.Equal(t, uint64(1), l.cliStats.TotalCorrections())
	require.Equal(t, uint64(1), l.cliStats.Ignored[components.IgnoreUnknownMove])
	require.InDelta(t, 40, l.owner().Location[1], 1e-9)
	// The replay wrote the ends anew: each move begins where the one before ends.
	q := l.queue()
	for i := 1; i < q.Len(); i++ {
		require.Equal(t, q.At(i-1).End, q.At(i).Start)
	}
	require.Equal(t, *l.owner(), q.Newest().End)
}

// On a base that stood in the same place on both ends a correction is exact to
// the last bit: a replay from it changes nothing.
func TestCorrectionOnABaseKeepsTheServersBits(t *testing.T) {
	cfg := loopConfig{level: collision.Arena(), delay: sec / 50, serverHz: 60, at: components.Vec3{-1450, 60, 110.15}, yaw: 33, input: standstill}
	l, twin := newLoop(t, cfg), newLoop(t, cfg)
	for range 30 {
		l.srvPred().ForceUpdate = true
		l.run(sec / 10)
		twin.run(sec / 10)
		require.Equal(t, collision.ArenaTurntable, l.owner().Base)
		require.Equal(t, movement.HashState(0, twin.owner()), movement.HashState(0, l.owner()))
	}
	require.Greater(t, l.cliStats.Replays, uint64(15))
}

func TestAnswerToAnUnknownOrFutureMoveIsIgnoredAndCounted(t *testing.T) {
	l := silentServer(t)
	twin := silentServer(t)
	l.answer(components.MoveResponse{Stamp: 3, Epoch: 1, AckGood: true})
	l.answer(components.MoveResponse{Stamp: l.pred().CurrentTimeStamp + 960, Epoch: 1, Reason: components.CorrectPosition})
	l.frame()
	twin.frame()
	require.Equal(t, uint64(2), l.cliStats.Ignored[components.IgnoreUnknownMove])
	require.Equal(t, movement.HashState(0, twin.owner()), movement.HashState(0, l.owner()))
	require.Equal(t, twin.queue().Len(), l.queue().Len())
}

func TestAnswerOfAnotherEpochIsIgnoredAndCounted(t *testing.T) {
	l := silentServer(t)
	n := l.queue().Len()
	l.answer(components.MoveResponse{Stamp: l.queue().At(5).Cmd.Stamp, Epoch: 2, AckGood: true})
	l.frame()
	require.Equal(t, uint64(1), l.cliStats.Ignored[components.IgnoreEpoch])
	require.Equal(t, n+1, l.queue().Len())
}

// What was never sent cannot have been answered.
func TestAnswerToTheMoveHeldBackIsIgnored(t *testing.T) {
	l := newLoop(t, loopConfig{frame: fps(240), delay: sec / 50, input: forward})
	l.run(sec / 2)
	for !l.queue().Pending {
		l.frame()
	}
	l.answer(components.MoveResponse{Stamp: l.queue().Newest().Cmd.Stamp, Epoch: 1, AckGood: true})
	before := l.cliStats.Ignored[components.IgnoreUnknownMove]
	l.client.Frame(l.now)
	require.Equal(t, before+1, l.cliStats.Ignored[components.IgnoreUnknownMove])
}

func TestCorrectionOnAnUnknownBaseIsIgnoredBeforeItAcknowledges(t *testing.T) {
	l := silentServer(t)
	n := l.queue().Len()
	st := l.queue().At(5).End
	st.Base = 99
	l.answer(components.MoveResponse{Stamp: l.queue().At(5).Cmd.Stamp, Epoch: 1, State: st, Reason: components.CorrectPosition})
	l.frame()
	require.Equal(t, uint64(1), l.cliStats.Ignored[components.IgnoreUnresolvedBase])
	require.Equal(t, n+1, l.queue().Len())
	require.Zero(t, l.cliStats.Replays)
}

func TestIgnoredCorrectionsOnlyTrimTheQueue(t *testing.T) {
	l := silentServer(t)
	twin := silentServer(t)
	l.pred().IgnoreCorrections = true
	n := l.queue().Len()
	st := l.queue().At(5).End
	st.Location[1] += 100
	l.answer(components.MoveResponse{Stamp: l.queue().At(5).Cmd.Stamp, Epoch: 1, State: st, Reason: components.CorrectPosition})
	l.frame()
	twin.frame()
	require.Equal(t, n-6+1, l.queue().Len())
	require.Equal(t, uint64(1), l.cliStats.Ignored[components.IgnoreDisabled])
	require.Equal(t, movement.HashState(0, twin.owner()), movement.HashState(0, l.owner()))
}

func TestQueueOfSavedMovesIsBoundedAndTheOldestAreCounted(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward, dropDown: func(int) bool { return true }})
	l.run(3 * sec) // acks lost for 3 s
	made := l.cliStats.MovesMade - l.cliStats.MovesCombined
	require.Equal(t, components.MaxSavedMoves, l.queue().Len())
	require.Equal(t, made-components.MaxSavedMoves, l.cliStats.SavedDropped)
	l.cfg.dropDown = nil
	l.run(sec) // the next ack mends all
	require.Less(t, l.queue().Len(), 20)
	require.Zero(t, l.cliStats.TotalCorrections())
}

func TestOwnerMakesNoMoveBeforeItsPossessionIsAcknowledged(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward})
	get[components.Possession](l.client.World(), l.own).Acked = false
	l.run(sec)
	require.Zero(t, l.cliStats.MovesMade)
	require.Zero(t, l.sent)
	get[components.Possession](l.client.World(), l.own).Acked = true
	l.run(sec)
	require.NotZero(t, l.srvStats.Moves)
}

func TestOwnerMakesNoMoveBeforeTheServersTimeIsKnown(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward})
	l.cliNet.Synced = false
	l.run(sec)
	require.Zero(t, l.cliStats.MovesMade)
}

// judged is a loop at 60 Hz without delay whose claims are all off by so much.
func judged(t *testing.T, by float64) *loop {
	return newLoop(t, loopConfig{serverHz: 60, input: standstill, tamper: shifted(components.Vec3{by, 0, 0}, 0, 1<<40)})
}

func TestAcksKeepTheirThrottle(t *testing.T) {
	l := judged(t, 0)
	l.run(2 * sec)
	require.GreaterOrEqual(t, l.srvStats.AcksSent, uint64(18))
	require.LessOrEqual(t, l.srvStats.AcksSent, uint64(21))
}

func TestCorrectionsKeepTheirThrottle(t *testing.T) {
	l := judged(t, 5)
	l.run(2 * sec)
	n := l.srvStats.CorrectionsOut[components.CorrectPosition]
	require.GreaterOrEqual(t, n, uint64(17))
	require.LessOrEqual(t, n, uint64(21))
}

func TestLargeCorrectionsHaveAShorterThrottle(t *testing.T) {
	l := judged(t, 20)
	l.run(2 * sec)
	n := l.srvStats.CorrectionsOut[components.CorrectPosition]
	require.GreaterOrEqual(t, n, uint64(30))
	require.LessOrEqual(t, n, uint64(41))
}

func TestAcksAndCorrectionsHaveClocksOfTheirOwn(t *testing.T) {
	l := judged(t, 0)
	odd := false
	l.cfg.tamper = func(_ *loop, m *components.MoveData) {
		if odd = !odd; odd {
			m.Claim[0] += 5
		}
	}
	l.run(2 * sec)
	require.GreaterOrEqual(t, l.srvStats.AcksSent, uint64(14))
	require.GreaterOrEqual(t, l.srvStats.CorrectionsOut[components.CorrectPosition], uint64(14))
}

func TestSlotIsClearedWhetherOrNotItWasSent(t *testing.T) {
	l := judged(t, 5)
	for range 60 {
		verdicts, sent := l.srvStats.Verdicts, l.srvStats.TotalCorrectionsOut()
		l.run(sec / 60)
		if l.srvStats.Verdicts > verdicts && l.srvStats.TotalCorrectionsOut() == sent {
			require.False(t, l.srvPred().Pending.Valid) // throttled
		}
		require.False(t, l.srvPred().Pending.Send)
	}
}

func TestClaimsAreComparedNoMoreOftenThanTheRateLimit(t *testing.T) {
	l := newLoop(t, loopConfig{serverHz: 60, input: standstill, settings: func(s *components.Settings) { s.ClientErrorUpdateRateLimit = 0.25 }})
	l.run(2 * sec)
	require.InDelta(t, 8, float64(l.srvStats.Verdicts), 1)
	require.Greater(t, l.srvStats.Moves, uint64(110))
}
