package systems_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/movement"
	"github.com/stretchr/testify/require"
)

func TestAt240FramesFourMovesBecomeOneAndTheServerAgrees(t *testing.T) {
	l := newLoop(t, loopConfig{frame: fps(240), delay: sec / 20, input: forward, check: true})
	l.run(3 * sec)
	require.InDelta(t, 3*180, float64(l.cliStats.MovesCombined), 20)
	require.InDelta(t, 3*60, float64(l.srvStats.Moves), 20)
	require.Empty(t, l.differ)
	require.Zero(t, l.srvStats.TotalCorrectionsOut())
}

func TestFixedTickCombinesNothing(t *testing.T) {
	l := newLoop(t, loopConfig{frame: fps(240), fixedHz: 120, delay: sec / 20, input: played(4), check: true})
	l.run(3 * sec)
	require.Zero(t, l.cliStats.MovesCombined)
	require.Empty(t, l.differ)
}

// A move in which something happened stays the move it is: what happened keeps
// its identity.
func TestMovesWithAJumpOrALandingCombineNoFurther(t *testing.T) {
	l := newLoop(t, loopConfig{frame: fps(240), delay: sec / 20, input: func(in *components.Input, now, _ components.Ticks) {
		in.Vector = components.Vec3{1, 0, 0}
		in.SetButton(components.FlagJumpPressed, now%sec < sec/10)
	}})
	spans := map[components.Stamp]components.Ticks{}
	for range 960 {
		l.run(sec / 240)
		q := l.queue()
		for i := range q.Len() {
			m := q.At(i)
			if m.Events == 0 {
				continue
			}
			require.True(t, m.ForceNoCombine)
			if m.Start.Mode == components.ModeWalking {
				require.Equal(t, components.Ticks(240), m.Cmd.Dt) // a jump begins with a press
			}
			if was, ok := spans[m.Cmd.Stamp]; ok {
				require.Equal(t, was, m.Cmd.Dt)
			}
			spans[m.Cmd.Stamp] = m.Cmd.Dt
		}
		for stamp := range spans {
			if stamp > q.LastAcked.Cmd.Stamp {
				require.GreaterOrEqual(t, q.Index(stamp), 0)
			}
		}
	}
	require.Len(t, spans, 9) // 5 jumps and 4 landings
	require.NotZero(t, l.cliStats.MovesCombined)
}

func TestReplayedPendingMoveDoesNotCombine(t *testing.T) {
	l := newLoop(t, loopConfig{frame: fps(240), delay: sec / 50, input: forward})
	l.run(sec)
	for !l.queue().Pending || l.queue().Len() < 3 {
		l.frame()
	}
	q := l.queue()
	end := q.At(0).End
	end.Location[1] += 30
	l.answer(components.MoveResponse{Stamp: q.At(0).Cmd.Stamp, Epoch: 1, State: end, Reason: components.CorrectPosition})
	stamp, combined := q.Newest().Cmd.Stamp, l.cliStats.MovesCombined
	l.frame()
	require.Equal(t, uint64(1), l.cliStats.Replays)
	i := q.Index(stamp)
	require.GreaterOrEqual(t, i, 0) // still a move of its own
	require.True(t, q.At(i).ForceNoCombine)
	require.Equal(t, combined, l.cliStats.MovesCombined)
}

// Where something has come to where the combined move would begin again, both
// moves go out.
func TestMovesDoNotCombineWhereTheStartIsTaken(t *testing.T) {
	b := collision.NewBuilder().Floor(0, 1e5)
	b.Obstacle(components.Obstacle{ID: 7, HalfExtents: components.Vec3{50, 50, 50}},
		components.ObstacleMotion{Origin: components.Vec3{60, 0, 5000}})
	level, err := b.Build()
	require.NoError(t, err)
	l := newLoop(t, loopConfig{level: level, frame: fps(240), input: standstill})
	l.run(sec)
	for !l.queue().Pending {
		l.frame()
	}
	combined := l.cliStats.MovesCombined
	l.queue().Newest().Start.Location[2] = 5000 // inside the box
	l.queue().Newest().Start.Location[0] = 60
	l.frame()
	require.Equal(t, combined, l.cliStats.MovesCombined)
}

// reference is a loop whose containers repeat one important move.
func reference(t *testing.T, frames func(int) components.Ticks, in func(*components.Input, components.Ticks, components.Ticks)) *loop {
	return newLoop(t, loopConfig{frame: frames, delay: sec / 20, input: in, check: true, settings: func(s *components.Settings) {
		s.Redundancy = components.RedundancyReference
	}})
}

func kinds(p *upPacket) (out []components.MoveKind) {
	for i := range p.n {
		out = append(out, p.moves[i].Kind)
	}
	return out
}

func TestPendingMoveThatCannotCombineGoesAlong(t *testing.T) {
	in := func(in *components.Input, now, _ components.Ticks) {
		in.Vector = components.Vec3{1, 0, 0}
		if int(now/(sec/240))%2 == 0 { // another direction in every frame
			in.Vector = components.Vec3{0, 1, 0}
		}
	}
	l := reference(t, fps(240), in)
	l.run(sec)
	dual := 0
	for i := range l.up.n {
		for _, k := range kinds(l.up.at(i)) {
			if k == components.MovePending {
				dual++
			}
		}
	}
	require.NotZero(t, dual)
	require.Empty(t, l.differ)
	require.Zero(t, l.cliStats.MovesCombined)
	require.Zero(t, l.srvStats.TotalCorrectionsOut())
}

func TestOldImportantMoveIsRepeatedUntilItIsAnswered(t *testing.T) {
	in := func(in *components.Input, now, _ components.Ticks) {
		in.Vector = components.Vec3{1, 0, 0}
		in.SetButton(components.FlagJumpPressed, now >= sec && now < sec+sec/60)
	}
	l := reference(t, fps(60), in)
	l.run(sec - sec/60)
	l.cfg.dropDown = func(int) bool { return true }
	l.run(sec / 20)
	var jump components.Stamp
	q := l.queue()
	for i := range q.Len() {
		if m := q.At(i); m.Cmd.Flags.Has(components.FlagJumpPressed) {
			jump = m.Cmd.Stamp
		}
	}
	require.NotZero(t, jump)
	repeated := func() bool {
		p := l.up.at(l.up.n - 1)
		for i := range p.n {
			if p.moves[i].Kind == components.MoveOld && p.moves[i].Cmd.Stamp == jump {
				return true
			}
		}
		return false
	}
	for range 5 {
		l.run(sec / 60)
		require.True(t, repeated())
	}
	l.cfg.dropDown = nil
	l.run(sec / 3)
	require.Less(t, q.Index(jump), 0)
	require.False(t, repeated())
	require.NotZero(t, l.srvStats.MovesDropped[components.DropRedundant])
	require.Zero(t, l.srvStats.TotalCorrectionsOut())
}

// The jump's own packet is lost, and made up for by the one after it.
func TestLostJumpStillHappens(t *testing.T) {
	in := func(in *components.Input, now, _ components.Ticks) {
		in.SetButton(components.FlagJumpPressed, now >= sec && now < sec+sec/60)
	}
	for _, redundancy := range []components.Redundancy{components.RedundancyFull, components.RedundancyReference} {
		l := newLoop(t, loopConfig{delay: sec / 20, input: in, settings: func(s *components.Settings) { s.Redundancy = redundancy }})
		l.cfg.dropUp = func(int) bool { return l.now == sec }
		jumped := false
		l.cfg.before = func(l *loop) { jumped = jumped || l.state().Mode == components.ModeFalling }
		l.run(2 * sec)
		require.True(t, jumped)
		require.Equal(t, movement.HashState(0, l.state()), movement.HashState(0, l.owner()))
	}
}

func TestSendScaleStretchesTheInterval(t *testing.T) {
	sentIn := func(scale float64) int {
		l := newLoop(t, loopConfig{frame: fps(120), delay: sec / 20, input: forward})
		l.cliNet.SendScale = scale
		l.run(2 * sec)
		return l.sent
	}
	require.InDelta(t, 120, sentIn(1), 4)
	require.InDelta(t, 40, sentIn(3), 4)
	require.InDelta(t, 10, sentIn(50), 3) // a fifth of a second is the longest
}

func TestChangeOfSpeedLimitIsNotCombinedNorCorrected(t *testing.T) {
	l := newLoop(t, loopConfig{frame: fps(240), delay: sec / 20, input: forward, check: true})
	l.run(sec)
	fast := components.DefaultProfile()
	fast.MaxWalkSpeed = 900
	require.NoError(t, l.srvTable.Revise(0, 2, fast, l.now+sec))
	*get[components.ProfileRef](l.server.World(), l.srv) = components.ProfileRef{Revision: 2}
	l.run(sec / 20)
	for !l.queue().Pending {
		l.run(sec / 240)
	}
	require.NoError(t, l.cliTable.Revise(0, 2, fast, 0)) // in the middle of a pending move
	*get[components.ProfileRef](l.client.World(), l.own) = components.ProfileRef{Revision: 2}
	lost := 0
	l.cfg.dropUp = func(int) bool { lost++; return lost <= 2 }
	l.run(sec)
	require.Zero(t, l.srvStats.TotalCorrectionsOut())
	require.Empty(t, l.differ)
	require.InDelta(t, 900, l.state().Velocity[0], 1)
}
