package systems_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/stretchr/testify/require"
)

// landing drops the owner from a height; its claims are off by so much.
func landing(t *testing.T, off float64, tune func(*components.Settings)) *loop {
	l := newLoop(t, loopConfig{delay: sec / 100, serverHz: 60, input: standstill, at: components.Vec3{0, 0, 300}, settings: tune})
	l.cfg.tamper = func(l *loop, m *components.MoveData) { m.Claim[0] += off }
	return l
}

func TestTrustWindowBelievesTheOwnerAfterALanding(t *testing.T) {
	window := func(s *components.Settings) { s.ClientAuthorityThresholdOnBaseChange = 10 }
	l := landing(t, 0, window)
	l.run(2 * sec / 5)
	require.Equal(t, components.ModeFalling, l.state().Mode)
	for l.state().Mode == components.ModeFalling {
		l.run(sec / 60)
	}
	l.cfg.tamper = shifted(components.Vec3{5, 0, 0}, 0, 1<<40)
	l.run(sec / 10)
	require.NotZero(t, l.srvStats.Adopted)
	require.Zero(t, l.srvStats.TotalCorrectionsOut())
	require.Equal(t, 5.0, l.state().Location[0])
}

func TestTrustWindowIsShutLongAfterTheLanding(t *testing.T) {
	l := landing(t, 0, func(s *components.Settings) { s.ClientAuthorityThresholdOnBaseChange = 10 })
	l.run(3 * sec)
	l.cfg.tamper = shifted(components.Vec3{5, 0, 0}, 0, 1<<40)
	l.run(sec / 2)
	require.Zero(t, l.srvStats.Adopted)
	require.NotZero(t, l.srvStats.TotalCorrectionsOut())
}

func TestTrustWindowIsNotOpenedByWhatTheOwnerClaimsToStandOn(t *testing.T) {
	l := newLoop(t, loopConfig{level: collision.Arena(), delay: sec / 100, serverHz: 60, input: standstill,
		settings: func(s *components.Settings) { s.ClientAuthorityThresholdOnBaseChange = 10 }})
	l.run(2 * sec)
	l.cfg.tamper = func(_ *loop, m *components.MoveData) {
		if m.Kind == components.MoveNew { // the same place, 5 cm on, relative to the lift
			m.ClaimBase = collision.ArenaLift
			m.Claim = components.Vec3{5 - 1500, 0, 90.15 + 215}
		}
	}
	l.run(sec)
	require.Zero(t, l.srvStats.Adopted)
	require.NotZero(t, l.srvStats.TotalCorrectionsOut())
}

func TestTrustWindowDoesNotReachBeyondItsDistance(t *testing.T) {
	l := landing(t, 12, func(s *components.Settings) { s.ClientAuthorityThresholdOnBaseChange = 10 })
	l.run(sec)
	require.Zero(t, l.srvStats.Adopted)
	require.NotZero(t, l.srvStats.TotalCorrectionsOut())
}

func TestTrustedPlaceInsideAWallIsCorrected(t *testing.T) {
	level, err := collision.NewBuilder().Floor(0, 1e5).Box(components.Vec3{86, 0, 200}, components.Vec3{50, 500, 200}, 0).Build()
	require.NoError(t, err)
	l := newLoop(t, loopConfig{level: level, delay: sec / 100, serverHz: 60, input: standstill, at: components.Vec3{0, 0, 300},
		settings: func(s *components.Settings) { s.ClientAuthorityThresholdOnBaseChange = 10 }})
	l.cfg.tamper = shifted(components.Vec3{6, 0, 0}, 0, 1<<40)
	l.run(sec)
	require.Zero(t, l.srvStats.Adopted)
	require.NotZero(t, l.srvStats.CorrectionsOut[components.CorrectPosition])
}

func leash(s *components.Settings) {
	s.DeferServerCorrectionsWhenFalling = true
	s.MaxFallingCorrectionLeash = 50
}

// With a buffer of 10 the leash reaches 60 cm.
func TestLeashBelievesAFallingOwnerWithinIt(t *testing.T) {
	l := landing(t, 0, leash)
	l.cfg.tamper = shifted(components.Vec3{59, 0, 0}, sec/10, sec/10+sec/60)
	l.run(sec / 5)
	require.NotZero(t, l.srvStats.Adopted)
}

func TestLeashDoesNotReachFurther(t *testing.T) {
	l := landing(t, 0, leash)
	l.cfg.tamper = shifted(components.Vec3{61, 0, 0}, sec/10, sec/10+sec/60)
	l.run(sec / 5)
	require.Zero(t, l.srvStats.Adopted)
	require.NotZero(t, l.srvStats.TotalCorrectionsOut())
}

func TestLeashHoldsNobodyOnTheGround(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 100, serverHz: 60, input: standstill, settings: leash})
	l.run(sec)
	l.cfg.tamper = shifted(components.Vec3{5, 0, 0}, 0, 1<<40)
	l.run(sec / 2)
	require.Zero(t, l.srvStats.Adopted)
	require.NotZero(t, l.srvStats.TotalCorrectionsOut())
}

func TestAuthoritativeClientPositionIsAdoptedWhereItIsGood(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 100, serverHz: 60, input: standstill,
		settings: func(s *components.Settings) { s.UseAuthoritativeClientPosition = true }})
	l.run(sec)
	l.cfg.tamper = shifted(components.Vec3{1.5, 0, 0}, 0, 1<<40)
	l.run(sec / 10)
	require.Equal(t, 1.5, l.state().Location[0])
	require.NotZero(t, l.srvStats.Adopted)
}

func TestObstacleTimeIsHeldWithinTheHistoryAndNeverRunsBack(t *testing.T) {
	l := bare(t, func(s *components.Settings) { s.MaxForcedUpdateDuration = 0 })
	l.run(5 * sec)
	stamp := components.Stamp(1000)
	give := func(at components.Ticks) components.Ticks {
		stamp += 960
		l.give(stamp, 960, components.MoveNew)
		q := l.inbox()
		q.Moves[q.N-1].Cmd.ObstacleTime = at
		l.tick()
		return l.srvPred().LastObstacleTime
	}
	now := func() components.Ticks { return l.server.Clock().Now }
	first := now() - 1000
	require.Equal(t, first, give(first))
	require.Equal(t, first, give(first-1)) // not a tick back
	require.Equal(t, uint64(1), l.srvStats.ObstacleClamps)
	l.run(sec)
	require.Equal(t, now()+sec/30-secs(0.3), give(now()-2*sec))
	require.Equal(t, now()+sec/30+secs(0.05), give(now()+9*sec))
	require.Equal(t, uint64(3), l.srvStats.ObstacleClamps)
}

func revised(t *testing.T, l *loop, deadline components.Ticks) {
	fast := components.DefaultProfile()
	fast.MaxWalkSpeed = 900
	require.NoError(t, l.srvTable.Revise(0, 2, fast, deadline))
	*get[components.ProfileRef](l.server.World(), l.srv) = components.ProfileRef{Revision: 2}
}

func TestOldRevisionIsVerifiedUntilItsDeadline(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward, check: true})
	l.run(sec)
	revised(t, l, l.now+sec)
	l.run(sec - sec/20)
	require.Empty(t, l.differ)
	require.InDelta(t, 600, l.state().Velocity[0], 1)
	require.Zero(t, l.srvStats.TotalCorrectionsOut())
	require.Zero(t, l.srvStats.MovesDropped[components.DropProfile])
}

func TestOwnerThatKeepsAnOldRevisionPastItsDeadlineIsCorrected(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward})
	l.run(sec)
	revised(t, l, l.now+sec/2)
	l.run(2 * sec)
	require.NotZero(t, l.srvStats.MovesDropped[components.DropProfile])
	require.NotZero(t, l.srvStats.TotalCorrectionsOut())
	require.InDelta(t, 900, l.state().Velocity[0], 1)
	moves := l.srvStats.Moves
	l.run(sec)
	require.Greater(t, l.srvStats.Moves, moves) // corrected rather than stopped
}
