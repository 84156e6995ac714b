package systems

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/stretchr/testify/require"
)

func TestUpdateBetweenTwoFixedStepsMovesNoDrawnMesh(t *testing.T) {
	r := newOnlooker(t, rigFlat(t), components.SmoothExponential, 0, rigSteady(0, 600), nil, ecs.Fixed(ecs.Hz(30)))
	r.run(60, 2)
	r.silent, r.queue = true, nil
	r.run(60, 1.0/6) // a while after the last update
	var last float64
	for r.app.Clock().FrameSteps == 0 || last == 0 {
		last = r.frame(400).mesh[0]
	}
	rep := rigWalker(r.state().Location[0]+30, 600)
	rep.ServerTime, rep.TransformTime = r.now, r.now
	r.deliver(rep)
	own := float64(r.mesh().TranslationOffset[0])
	at := r.frame(400).mesh[0]
	require.Zero(t, r.app.Clock().FrameSteps)
	share := components.Ticks(400).Seconds() / 0.1
	require.InDelta(t, 600*components.Ticks(400).Seconds()+(30-own)*share, at-last, 1e-3)
}

func TestProxyIsLeftWhereTheSnapshotHasItInTheFrameOfAnUpdate(t *testing.T) {
	for _, skip := range []bool{true, false} {
		r := newOnlooker(t, rigFlat(t), components.SmoothExponential, 0, rigSteady(0, 600),
			func(s *components.Settings) { s.SkipProxyPredictionOnNetUpdate = skip })
		r.run(60, 1)
		r.silent, r.queue = true, nil
		rep := rigWalker(5000, 600)
		rep.ServerTime, rep.TransformTime = r.now, r.now
		r.deliver(rep)
		want := map[bool]float64{true: 5000, false: 5010}[skip]
		require.InDelta(t, want, r.frame(960).capsule[0], 1e-9)
		require.InDelta(t, want+10, r.frame(960).capsule[0], 1e-9)
	}
}

func TestVelocityOnATurningBaseIsTurnedToWhereTheBaseStandsHere(t *testing.T) {
	geo := liftWorld(t)
	r := newOnlooker(t, geo, components.SmoothExponential, 0, func(at components.Ticks) components.ReplicatedMovement {
		rep := rigRider(10, rigVec(100, 0, 10+88+2.15))(at)
		pose, _ := geo.BasePose(10, at)
		rep.Velocity = exact.RotateYaw(rigVec(50, 0, 0), pose.Yaw) // outwards
		return rep
	}, nil)
	r.run(60, 2)
	pose, _ := geo.BasePose(10, r.net.ObstacleTime)
	out := exact.RotateYaw(r.state().Velocity, -pose.Yaw)
	require.Less(t, exact.Dist(rigVec(50, 0, 0), out), 1e-6)
}

func TestBufferedMeshGoesOnForATenthOfASecondAndWaits(t *testing.T) {
	r := newOnlooker(t, rigFlat(t), components.SmoothBuffered, 0, rigSteady(0, 600), nil)
	r.run(60, 3)
	r.silent, r.queue = true, nil
	b := r.buffer()
	last := b.Samples[b.N-1].Location[0]
	r.run(60, 1)
	require.InDelta(t, last+60, r.transform().Location[0], 1e-6)
}

func TestBufferedMeshDoesNotJumpWhenSnapshotsComeBack(t *testing.T) {
	r := newOnlooker(t, rigFlat(t), components.SmoothBuffered, 0, rigSteady(0, 600), nil)
	r.run(60, 3)
	r.silent = true
	r.run(60, 0.5)
	r.silent = false
	r.forget()
	r.run(60, 1.5)
	// It waited for more than 200 cm; a sixth of them a frame, and no more than
	// the smoothing distance allows.
	require.LessOrEqual(t, rigPop(r, 600), 256.0/6)
	require.Zero(t, r.mesh().OriginalTranslationOffset)
}
