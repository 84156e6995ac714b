package ecs

import (
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drive runs a frame at now and returns its steps' lengths.
func drive(c *Clock, now components.Ticks) (lengths []components.Ticks) {
	c.Advance(now)
	for c.NextStep() {
		lengths = append(lengths, c.Dt)
	}
	return lengths
}

func TestFirstFrameStartsTheClockWithoutAStep(t *testing.T) {
	for _, c := range []*Clock{NewClock(), NewClock(Fixed(Hz(60)))} {
		require.Empty(t, drive(c, 100_000*components.Second))
		require.Equal(t, 100_000*components.Second, c.Now)
		require.Equal(t, uint64(1), c.Frame)
		require.Zero(t, c.FrameDt)
		require.Zero(t, c.Step)
	}
}

func TestVariableFrameIsOneStepOfItsOwnLength(t *testing.T) {
	c := NewClock()
	drive(c, 1000)
	require.Equal(t, []components.Ticks{960}, drive(c, 1960))
	require.Equal(t, components.Ticks(1960), c.Now)
	require.Equal(t, 1.0, c.Alpha)
	require.Equal(t, []components.Ticks{1}, drive(c, 1961))
	require.Equal(t, uint64(2), c.Step)
}

func TestVariableFrameIsNotClamped(t *testing.T) {
	c := NewClock()
	drive(c, 0)
	require.Equal(t, []components.Ticks{3600 * components.Second}, drive(c, 3600*components.Second))
	require.Zero(t, c.DroppedTime)
}

func TestFrameWithoutTimeHasNoStep(t *testing.T) {
	c := NewClock()
	drive(c, 50)
	drive(c, 60)
	require.Empty(t, drive(c, 60))
	require.Equal(t, uint64(1), c.Step)
	require.Equal(t, uint64(3), c.Frame)
}

func TestTimeThatGoesBackwardsIsCountedAndNeverRunTwice(t *testing.T) {
	for _, c := range []*Clock{NewClock(), NewClock(Fixed(Rate{components.TicksPerSecond, 1}))} {
		drive(c, 100)
		drive(c, 105)
		require.Empty(t, drive(c, 90))
		require.Equal(t, uint64(1), c.Backwards)
		require.Zero(t, c.FrameDt)
		require.Equal(t, components.Ticks(105), c.FrameNow)
		drive(c, 107)
		require.Equal(t, components.Ticks(107), c.Now)
	}
}

func TestFixedFrameHasAsManyEqualStepsAsFit(t *testing.T) {
	c := NewClock(Fixed(Hz(60))) // 960 ticks
	drive(c, 0)
	require.Empty(t, drive(c, 900))
	require.InDelta(t, 900.0/960, c.Alpha, 0)
	require.Equal(t, []components.Ticks{960}, drive(c, 960))
	require.Zero(t, c.Alpha)
	require.Equal(t, []components.Ticks{960, 960}, drive(c, 960*3+480))
	require.Equal(t, 0.5, c.Alpha)
	require.Equal(t, components.Ticks(960*3), c.Now)
	require.Equal(t, components.Ticks(960*3+480), c.FrameNow)
}

func TestStepKnowsItsPlaceInTheFrame(t *testing.T) {
	c := NewClock(Fixed(Hz(60)))
	c.Advance(0)
	require.Equal(t, 3, c.Advance(960*3))
	for i := range 3 {
		require.True(t, c.NextStep())
		require.Equal(t, i, c.StepInFrame)
		require.Equal(t, 3, c.FrameSteps)
		require.Equal(t, components.Ticks(960*(i+1)), c.Now)
	}
	require.False(t, c.NextStep())
	c.Advance(960 * 3)
	require.Zero(t, c.FrameSteps)
	require.Zero(t, c.StepInFrame)
}

func TestCatchUpIsCappedAndTheRestDropped(t *testing.T) {
	c := NewClock(Fixed(Hz(60)), MaxSteps(4))
	drive(c, 0)
	require.Len(t, drive(c, 960*10+480), 4)
	require.Equal(t, uint64(1), c.Overruns)
	require.Equal(t, components.Ticks(960*6), c.DroppedTime)
	require.Equal(t, 0.5, c.Alpha, "the part of a step survives")
	require.Equal(t, components.Ticks(960*4), c.Now)
	require.Len(t, drive(c, 960*11+480), 1)
	require.Equal(t, uint64(1), c.Overruns)
}

func TestExactlyTheCapIsNoOverrun(t *testing.T) {
	c := NewClock(Fixed(Hz(60)), MaxSteps(4))
	drive(c, 0)
	require.Len(t, drive(c, 960*4), 4)
	require.Zero(t, c.Overruns)
}

func TestKeptTimeIsWorkedOffAtTheCappedRate(t *testing.T) {
	c := NewClock(Fixed(Hz(60)), MaxSteps(4), Catch(KeepTime))
	drive(c, 0)
	require.Len(t, drive(c, 960*10+480), 4)
	require.Equal(t, 1.0, c.Alpha, "drawn as simulated while behind")
	require.Len(t, drive(c, 960*10+480), 4)
	require.Len(t, drive(c, 960*10+480), 2)
	require.Equal(t, components.Ticks(960*10), c.Now)
	require.Equal(t, 0.5, c.Alpha)
	require.Zero(t, c.DroppedTime)
	require.Equal(t, uint64(2), c.Overruns)
}

func TestHugeJumpsNeitherOverflowNorFlood(t *testing.T) {
	for _, up := range []CatchUp{DropTime, KeepTime} {
		c := NewClock(Fixed(Hz(60)), Catch(up))
		drive(c, math.MinInt64/2)
		require.Len(t, drive(c, math.MaxInt64), DefaultMaxSteps)
		require.Len(t, drive(c, math.MaxInt64), map[CatchUp]int{DropTime: 0, KeepTime: DefaultMaxSteps}[up])
		require.GreaterOrEqual(t, c.DroppedTime, components.Ticks(0))
		require.LessOrEqual(t, c.Alpha, 1.0)
	}
}

func TestBacklogBeyondAllTimeIsHeld(t *testing.T) {
	c := NewClock(Fixed(Hz(60)), Catch(KeepTime))
	drive(c, math.MinInt64)
	require.Len(t, drive(c, 0), DefaultMaxSteps)
	require.Len(t, drive(c, math.MaxInt64), DefaultMaxSteps)
	require.Len(t, drive(c, math.MaxInt64), DefaultMaxSteps)
}

func TestStepsAreEqualWhereverTheClockStarts(t *testing.T) {
	run := func(start components.Ticks) (steps []int, alphas []float64) {
		c := NewClock(Fixed(Hz(60)))
		for i := range components.Ticks(1000) {
			steps = append(steps, len(drive(c, start+i*components.Second/144)))
			alphas = append(alphas, c.Alpha)
		}
		return steps, alphas
	}
	steps, alphas := run(0)
	for _, start := range []components.Ticks{
		100_000 * components.Second, 16_777_216 * components.Second / 1000 * 1, -7, 1 << 50,
	} {
		s, a := run(start)
		require.Equal(t, steps, s)
		require.Equal(t, alphas, a)
	}
}

func TestFractionalRateDoesNotDrift(t *testing.T) {
	// 60000/1001 Hz is 960.96 ticks a step: 1001 ticks more than 960 x 1000
	// would miss in a thousand steps.
	c := NewClock(Fixed(Rate{60000, 1001}))
	drive(c, 0)
	now := components.Ticks(0)
	for c.Step < 600_000 {
		now += 2000
		for _, dt := range drive(c, now) {
			require.Contains(t, []components.Ticks{960, 961}, dt)
		}
		if c.Now > now || now-c.Now > 961 {
			t.Fatalf("world time %d at %d", c.Now, now)
		}
	}
	// Step k ends at floor(k x 57600 x 1001 / 60000), to the tick.
	require.Equal(t, components.Ticks(int64(c.Step)*57600*1001/60000), c.Now)
}

func TestClockLosesNoTimeButWhatItCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := Rate{rapid.Int64Range(1, 57600).Draw(t, "num"), rapid.Int64Range(1, 1001).Draw(t, "den")}
		c := NewClock(Fixed(rate), MaxSteps(rapid.IntRange(1, 12).Draw(t, "max")),
			Catch(CatchUp(rapid.IntRange(0, 1).Draw(t, "keep"))))
		start := components.Ticks(rapid.Int64Range(-1<<40, 1<<50).Draw(t, "start"))
		drive(c, start)
		now, simulated := start, components.Ticks(0)
		for range 50 {
			now += components.Ticks(rapid.Int64Range(0, 4*57600).Draw(t, "dt"))
			for _, dt := range drive(c, now) {
				if dt < 1 {
					t.Fatal("a step without time")
				}
				simulated += dt
			}
			if c.Now != start+simulated {
				t.Fatalf("Now %d, start %d + steps %d", c.Now, start, simulated)
			}
			if rest := now - c.Now - c.DroppedTime; rest != c.pending || rest < 0 {
				t.Fatalf("rest %d, pending %d", rest, c.pending)
			}
			if c.Alpha < 0 || c.Alpha > 1 {
				t.Fatalf("alpha %v", c.Alpha)
			}
		}
	})
}

func TestFixedClockIsIndependentOfFrameRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewClock(Fixed(Rate{60000, 1001}))
		drive(c, 0)
		now, k := components.Ticks(0), int64(0)
		for range 100 {
			now += components.Ticks(rapid.Int64Range(0, 7000).Draw(t, "dt"))
			c.Advance(now)
			for c.NextStep() {
				k++
				if want := components.Ticks(k * 57600 * 1001 / 60000); c.Now != want {
					t.Fatalf("step %d ends at %d, not %d", k, c.Now, want)
				}
			}
		}
	})
}

func TestStepsNotTakenStayPending(t *testing.T) {
	c := NewClock(Fixed(Hz(60)))
	c.Advance(0)
	require.Equal(t, 2, c.Advance(960*2))
	require.True(t, c.NextStep())
	require.Equal(t, 2, c.Advance(960*3))
	for c.NextStep() {
	}
	require.Equal(t, components.Ticks(960*3), c.Now)
}

func TestImpossibleRatesPanic(t *testing.T) {
	for _, r := range []Rate{{0, 1}, {60, 0}, {-60, 1}, {57601, 1}, {115201, 2}, {1, 86400}, {1 << 41, 1 << 41}} {
		require.Panics(t, func() { Fixed(r) }, r.String())
	}
	require.NotPanics(t, func() { Fixed(Rate{57600, 1}) })
	require.NotPanics(t, func() { Fixed(Rate{1, 86399}) })
	require.Panics(t, func() { MaxSteps(0) })
}

func TestRateIsPrintedInHertz(t *testing.T) {
	require.Equal(t, "60 Hz", Hz(60).String())
	require.Equal(t, "60000/1001 Hz", Rate{60000, 1001}.String())
	require.Equal(t, Hz(30), NewClock(Fixed(Hz(30))).Rate())
}

func TestClockDoesNotAllocate(t *testing.T) {
	c := NewClock(Fixed(Hz(60)))
	now := components.Ticks(0)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		now += 2000
		c.Advance(now)
		for c.NextStep() {
		}
	}))
}
