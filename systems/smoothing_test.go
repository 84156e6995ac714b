package systems

import (
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/go-gl/mathgl/mgl32"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func rapidVec(t *rapid.T, bound float64, label string) components.Vec3 {
	g := rapid.Float64Range(-bound, bound)
	return rigVec(g.Draw(t, label+".x"), g.Draw(t, label+".y"), g.Draw(t, label+".z"))
}

// One description accumulates old - new capsule, the other takes the old mesh
// less the new capsule.
func TestBothOffsetFormulasAgreeWhileMeshIsCapsulePlusOffset(t *testing.T) {
	set := components.DefaultSettings()
	rapid.Check(t, func(t *rapid.T) {
		ms := components.MeshSmoothing{Complete: true}
		capsule := rapidVec(t, 1e5, "start")
		mesh := capsule
		for range rapid.IntRange(1, 20).Draw(t, "updates") {
			next := exact.Add(capsule, rapidVec(t, 140, "step"))
			smoothAccumulate(&ms, &capsuleStep{old: capsule, new: next, oldHalf: 88, newHalf: 88}, &set)
			other := exact.Sub(mesh, next)
			for i := range other {
				if math.Abs(other[i]-float64(ms.TranslationOffset[i])) > 1e-3 {
					t.Fatalf("accumulated %v, mesh less capsule %v", ms.TranslationOffset, other)
				}
			}
			smoothExponential(&ms, exponentialFactors(components.Ticks(rapid.IntRange(0, 8000).Draw(t, "dt")), 0.1, 0.05).moving, 0)
			capsule = next
			for i := range mesh {
				mesh[i] = capsule[i] + float64(ms.TranslationOffset[i])
			}
		}
	})
}

func TestStepBeyondMaxSmoothDistanceCountsAsThatDistance(t *testing.T) {
	set := components.DefaultSettings()
	ms := components.MeshSmoothing{}
	smoothAccumulate(&ms, &capsuleStep{old: rigVec(300, 0, 0)}, &set)
	require.InDelta(t, 256, ms.TranslationOffset.Len(), 1e-4)
}

func TestStepBeyondNoSmoothDistanceLeavesNoOffset(t *testing.T) {
	set := components.DefaultSettings()
	ms := components.MeshSmoothing{TranslationOffset: mgl32.Vec3{5, 5, 5}, RotationOffset: 3}
	smoothAccumulate(&ms, &capsuleStep{old: rigVec(385, 0, 0), oldYaw: 90}, &set)
	require.Equal(t, components.MeshSmoothing{Complete: true}, ms)
}

func TestFrameAsLongAsTheSmoothingTimeEndsTheOffset(t *testing.T) {
	for _, dt := range []float64{0.1, 0.15, 0.25, 30} {
		ms := components.MeshSmoothing{TranslationOffset: mgl32.Vec3{50, -50, 1}, RotationOffset: 20}
		k := exponentialFactors(rigTicks(dt), 0.1, 0.05)
		smoothExponential(&ms, k.moving, k.yaw)
		require.Equal(t, components.MeshSmoothing{Complete: true}, ms, "dt %v", dt)
	}
}

func TestOffsetNeverChangesItsSign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := components.MeshSmoothing{TranslationOffset: mgl32.Vec3{100, 0, 0}, RotationOffset: 90}
		last := ms
		for range 50 {
			k := exponentialFactors(components.Ticks(rapid.IntRange(0, 20000).Draw(t, "dt")), 0.1, 0.05)
			smoothExponential(&ms, k.moving, k.yaw)
			if x, r := ms.TranslationOffset[0], ms.RotationOffset; x < 0 || r < 0 || x > last.TranslationOffset[0] || r > last.RotationOffset {
				t.Fatalf("%v after %v", ms, last)
			}
			last = ms
		}
	})
}

func TestStandingCharacterTakesHalfTheSmoothingTime(t *testing.T) {
	k := exponentialFactors(rigTicks(0.01), 0.1, 0.05)
	require.Equal(t, [2]float32{0.9, 0.8}, [2]float32{k.moving, k.standing})
}

func TestYawTurnsBackTheShortWay(t *testing.T) {
	set := components.DefaultSettings()
	ms := components.MeshSmoothing{}
	smoothAccumulate(&ms, &capsuleStep{oldYaw: 179, newYaw: -179}, &set)
	require.InDelta(t, -2, ms.RotationOffset, 1e-5)
}

func TestCrouchMovesNoFeet(t *testing.T) {
	set := components.DefaultSettings()
	ms := components.MeshSmoothing{}
	smoothAccumulate(&ms, &capsuleStep{old: rigVec(0, 0, 90), new: rigVec(0, 0, 42), oldHalf: 88, newHalf: 40}, &set)
	require.True(t, ms.Complete)
}

// linearRun feeds updates at times (ticks) whose step is the offset added, and
// returns the offset after each frame of 1/60 s.
func linearRun(frames int, updates map[int]components.Ticks) []float64 {
	set := components.DefaultSettings()
	ms := components.MeshSmoothing{Mode: components.SmoothLinear, Complete: true, LastCorrectionDelta: 2880}
	var out []float64
	for i := range frames {
		if stamp, ok := updates[i]; ok {
			smoothAccumulate(&ms, &capsuleStep{old: rigVec(10, 0, 0)}, &set)
			linearUpdate(&ms, stamp, &set)
		}
		smoothLinear(&ms, 960)
		out = append(out, float64(ms.TranslationOffset[0]))
	}
	return out
}

func TestLinearOffsetIsGoneWhenTheNextUpdateIsDue(t *testing.T) {
	got := linearRun(4, map[int]components.Ticks{0: 2880})
	require.InDeltaSlice(t, []float64{20.0 / 3, 10.0 / 3, 0, 0}, got, 1e-4)
}

func TestLateUpdateDoesNotMakeTheLinearMeshJump(t *testing.T) {
	// The second update is five frames late: its clock starts 7.5 % into its span.
	got := linearRun(12, map[int]components.Ticks{0: 2880, 8: 5760})
	require.InDelta(t, 10-10.0/3/(1-0.075), got[8], 1e-3)
}

func TestLinearModeDoesNotStayBehindAfterAPause(t *testing.T) {
	updates := map[int]components.Ticks{1: 2880}
	for i := range 20 { // 2 s of nothing, then every 50 ms
		updates[121+3*i] = components.Ticks(120*960 + 2880*i)
	}
	got := linearRun(181, updates)
	require.Zero(t, got[180])
}

func TestOwnerIsBackAfterACorrectionInEveryModeAndAtEveryRate(t *testing.T) {
	set := components.DefaultSettings()
	for _, mode := range rigModes {
		for _, fps := range []int{30, 60, 144, 240} {
			ms := components.MeshSmoothing{Mode: mode, Complete: true}
			BeginOwnerSmoothing(&ms, rigVec(50, 0, 0), rigVec(0, 0, 0), 10, 0, &set, 777)
			first := ms.TranslationOffset[0]
			dt := components.Ticks(components.TicksPerSecond / fps)
			k := exponentialFactors(dt, set.SmoothLocationTime, set.SmoothRotationTime)
			at400 := float32(-1)
			for i := range fps {
				if i == fps*2/5 {
					at400 = ms.TranslationOffset.Len()
				}
				if mode == components.SmoothLinear {
					smoothLinear(&ms, dt)
				} else if !ms.Complete {
					smoothExponential(&ms, k.moving, k.yaw)
				}
			}
			if mode == components.SmoothDisabled {
				require.Zero(t, first)
			} else {
				require.EqualValues(t, 50, first, "%v: before less after", mode)
			}
			require.Less(t, at400, float32(1), "%v at %d fps after 0.4 s", mode, fps)
			require.Zero(t, ms.TranslationOffset, "%v at %d fps after 1 s", mode, fps)
			require.Zero(t, ms.RotationOffset, "%v at %d fps after 1 s", mode, fps)
		}
	}
}

func TestReplayThatReproducesThePredictionLeavesTheMeshAlone(t *testing.T) {
	set := components.DefaultSettings()
	for _, mode := range rigModes {
		ms := components.MeshSmoothing{Mode: mode, TranslationOffset: mgl32.Vec3{3, 0, 0}}
		want := ms
		BeginOwnerSmoothing(&ms, rigVec(1, 2, 3), rigVec(1, 2, 3), 5, 5, &set, 99)
		require.Equal(t, want, ms)
	}
}

func TestOwnersTeleportIsNotSmoothed(t *testing.T) {
	set := components.DefaultSettings()
	for _, mode := range rigModes {
		ms := components.MeshSmoothing{Mode: mode, Complete: true}
		BeginOwnerSmoothing(&ms, rigVec(9000, 0, 0), rigVec(0, 0, 0), 10, 0, &set, 99)
		require.Zero(t, ms.TranslationOffset, "%v", mode)
		require.True(t, ms.Complete, "%v", mode)
	}
}

func TestListenServerKeepsARemotePlayersMeshInABurstOfMoves(t *testing.T) {
	set := components.DefaultSettings()
	for _, mode := range rigModes {
		ms := components.MeshSmoothing{Mode: mode, Complete: true}
		ListenServerSmooth(&ms, rigVec(0, 0, 0), rigVec(20, 0, 0), 0, 5, &set, 1)
		ListenServerSmooth(&ms, rigVec(20, 0, 0), rigVec(30, 0, 0), 5, 5, &set, 2)
		if mode == components.SmoothDisabled {
			require.Zero(t, ms.TranslationOffset)
			continue
		}
		require.Equal(t, mgl32.Vec3{-30, 0, 0}, ms.TranslationOffset, "%v", mode)
		require.EqualValues(t, -5, ms.RotationOffset, "%v", mode)
	}
}

func TestListenServerSmoothingCanBeSwitchedOff(t *testing.T) {
	set := components.DefaultSettings()
	set.EnableListenServerSmoothing = false
	ms := components.MeshSmoothing{Complete: true}
	ListenServerSmooth(&ms, rigVec(0, 0, 0), rigVec(20, 0, 0), 0, 5, &set, 1)
	require.Zero(t, ms.TranslationOffset)
}
