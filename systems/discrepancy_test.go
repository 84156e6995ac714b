package systems

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/stretchr/testify/require"
)

// clockwatch drives the detection alone: a server's time and a client's stamps.
type clockwatch struct {
	s      ServerVerify
	v      verified
	set    components.Settings
	stamp  float64 // the client's clock in ticks, without resets
	told   int
	resets int
}

func newClockwatch(antiCheat bool) *clockwatch {
	c := &clockwatch{set: components.DefaultSettings()}
	if antiCheat {
		c.set.AntiCheat()
	} else {
		c.set.DiscrepancyDetection = true
	}
	c.s.shared = shared{set: &c.set, stats: new(components.Stats)}
	c.s.clock = ecs.NewClock()
	c.s.OnDiscrepancy = func(components.NetID, *components.TimeDiscrepancy, float64) { c.told++ }
	c.v = verified{char: new(components.Character), pred: new(components.ServerPrediction)}
	return c
}

// step lets the server's time go on by one span and the client's by another.
func (c *clockwatch) step(server components.Ticks, client float64) {
	c.s.clock.Now += server
	period := float64(components.StampResetPeriod)
	reset := false
	if c.stamp += client; c.stamp > period {
		c.stamp -= period
		reset = true
		c.resets++
		c.v.pred.Discrepancy.LastClientStamp -= components.StampResetPeriod
	}
	c.s.discrepancy(&c.v, components.Ticks(c.stamp), 0, reset)
}

const watchTick = components.Ticks(960)

// flaggedAfter is when the first detection comes, in seconds; 0 for never.
func (c *clockwatch) flaggedAfter(rate, limit float64) float64 {
	for c.s.clock.Now.Seconds() < limit {
		c.step(watchTick, float64(watchTick)*rate)
		if c.v.pred.Discrepancy.Detections > 0 {
			return c.s.clock.Now.Seconds()
		}
	}
	return 0
}

func TestHonestDriftOfTenHoursIsNeverFlaggedByOurProfile(t *testing.T) {
	for _, ppm := range []float64{200, -200} {
		c := newClockwatch(true)
		require.Zero(t, c.flaggedAfter(1+ppm/1e6, 36000))
		require.Greater(t, c.resets, 140)
	}
}

func TestHonestDriftIsFlaggedAfter21MinutesWithoutAnAllowance(t *testing.T) {
	c := newClockwatch(false)
	require.InDelta(t, 21*60, c.flaggedAfter(1+200e-6, 36000), 30)
}

func TestFastClocksAreFlaggedWhenTheyPassTheMargin(t *testing.T) {
	for _, rate := range []float64{1.02, 1.1, 2} {
		at := newClockwatch(true).flaggedAfter(rate, 200)
		require.InDelta(t, 1/(rate-1-0.001), at, 1+at*0.02, "%v", rate)
	}
}

func burst(c *clockwatch) {
	for range 600 {
		c.step(watchTick, float64(watchTick))
	}
	c.s.clock.Now += 2 * components.Second // nothing arrives for 2 s
	for range 120 {
		c.step(0, float64(watchTick)) // and then all at once
	}
	for range 600 {
		c.step(watchTick, float64(watchTick))
	}
}

func TestBurstAfterAnOutageOf2SecondsIsNotFlaggedByOurProfile(t *testing.T) {
	c := newClockwatch(true)
	burst(c)
	require.Zero(t, c.told)
}

func TestBurstAfterAnOutageOf2SecondsIsFlaggedWithTheReferencesFloor(t *testing.T) {
	c := newClockwatch(false)
	burst(c)
	require.NotZero(t, c.told)
}

func TestPauseIsNotSavedUpBeyondTheFloor(t *testing.T) {
	c := newClockwatch(true)
	c.step(watchTick, 960)
	c.step(100*components.Second, 960)
	require.Equal(t, -3.0, c.v.pred.Discrepancy.Time)
}

func TestLifetimeRawIgnoresTheDriftAllowance(t *testing.T) {
	c := newClockwatch(true)
	for range 60 * 100 {
		c.step(watchTick, float64(watchTick)*1.002)
	}
	d := &c.v.pred.Discrepancy
	require.InDelta(t, 0.2, d.LifetimeRaw, 0.001)
	require.InDelta(t, 0.1, d.Lifetime, 0.001)
}

func TestDetectionAloneResolvesNothing(t *testing.T) {
	c := newClockwatch(false)
	c.flaggedAfter(2, 10)
	require.Equal(t, 1, c.told)
	require.False(t, c.v.pred.Discrepancy.Resolving)
}

func TestWithoutDetectionNothingIsWatched(t *testing.T) {
	c := newClockwatch(false)
	c.set.DiscrepancyDetection = false
	require.Zero(t, c.flaggedAfter(2, 10))
	require.Zero(t, c.v.pred.Discrepancy.LifetimeRaw)
}
