package nettest

import (
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestHistogramQuantilesAreNeverBelowAndBarelyAboveTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(1e-8, 1e7), 1, 60).Draw(t, "v")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		var h Histogram
		for _, x := range v {
			h.Add(x)
		}
		// The least of the values that at least the share q does not exceed.
		truth := math.Inf(1)
		for _, x := range v {
			n := 0
			for _, y := range v {
				if y <= x {
					n++
				}
			}
			if float64(n) >= q*float64(len(v)) && x < truth {
				truth = x
			}
		}
		got := h.Quantile(q)
		if got < truth || got > truth*(1+1.0/64) {
			t.Fatalf("quantile %v of %v is %v, told as %v", q, v, truth, got)
		}
	})
}

func TestHistogramIsExactForWholeNumbersZeroAndMax(t *testing.T) {
	var h Histogram
	for range 3 {
		h.Add(0)
	}
	for i := 1; i <= 7; i++ {
		h.Add(float64(i))
	}
	h.Add(0.1)
	h.Add(123.456)
	require.Equal(t, uint64(12), h.N())
	require.Equal(t, 0.0, h.Quantile(0.25))
	require.Equal(t, 2.0, h.Quantile(0.5))
	require.Equal(t, 7.0, h.Quantile(11.0/12))
	require.Equal(t, 123.456, h.Quantile(1))
	require.Equal(t, 123.456, h.Max())
	require.InDelta(t, (28+0.1+123.456)/12, h.Mean(), 1e-12)
}

func TestHistogramTellsNothingOfNothing(t *testing.T) {
	var h Histogram
	require.Equal(t, []float64{0, 0, 0}, []float64{h.Quantile(0.5), h.Max(), h.Mean()})
}

func TestHistogramShowsWhatIsNoNumber(t *testing.T) {
	var h Histogram
	h.Add(1)
	h.Add(math.NaN())
	require.Equal(t, math.MaxFloat64, h.Max())
	h.Reset()
	h.Add(math.Inf(1))
	require.Equal(t, math.MaxFloat64, h.Quantile(0.5))
	require.False(t, math.IsNaN(h.Mean()) || math.IsInf(h.Mean(), 0))
	h.Reset()
	h.Add(1e-300)
	h.Add(1e300)
	h.Add(-1)
	require.Equal(t, []float64{0, 1e-300, 1e300}, []float64{h.Quantile(0), math.Min(h.Quantile(0.5), 1e-300), h.Quantile(1)})
}

func TestMergedHistogramsCountAsOne(t *testing.T) {
	var a, b, both Histogram
	r := rng(1)
	for i := range 1000 {
		v := float64(r.below(100000)) / 977
		both.Add(v)
		if i%3 == 0 {
			a.Add(v)
		} else {
			b.Add(v)
		}
	}
	for _, v := range []float64{0, 1e-12, 1e12} {
		both.Add(v)
		b.Add(v)
	}
	a.Merge(&b)
	a.sum, both.sum = 0, 0 // equal up to the order of the additions
	require.Equal(t, both, a)
}

// drive walks an owner along x at 600 cm/s and 60 fps under an exponential
// smoothing law; at frame 30 a correction puts it 50 cm to the side.
func drive(hide bool) *OwnerProbe {
	var p OwnerProbe
	const dt = 1.0 / 60
	var capsule, offset components.Vec3
	for i := range 120 {
		if i == 30 {
			capsule[1] += 50
			if hide {
				offset[1] -= 50
			}
		}
		f := OwnerFrame{Start: capsule, OffsetBefore: offset}
		capsule[0] += 600 * dt
		offset[1] *= 1 - dt/0.1
		f.End, f.OffsetAfter = capsule, offset
		f.Mesh = capsule.Add(offset)
		p.Frame(&f)
	}
	return &p
}

func TestHiddenCorrectionDoesNotPop(t *testing.T) {
	p := drive(true)
	require.Equal(t, uint64(119), p.Pop.N())
	require.Less(t, p.Pop.Max(), 1e-9)
}

func TestBareCorrectionPopsByItsLength(t *testing.T) {
	require.InDelta(t, 50, drive(false).Pop.Max(), 1e-9)
}

func TestOwnerTeleportIsNoPop(t *testing.T) {
	var p OwnerProbe
	p.Frame(&OwnerFrame{})
	p.Frame(&OwnerFrame{Mesh: components.Vec3{9000, 0, 0}, Teleported: true})
	p.Lost()
	p.Frame(&OwnerFrame{Mesh: components.Vec3{0, 0, 77}})
	require.Zero(t, p.Pop.N())
	p.Frame(&OwnerFrame{Mesh: components.Vec3{0, 0, 80}})
	require.Equal(t, 3.0, p.Pop.Max())
}

// watch has a server at 30 Hz that walks along a square wave of x and y at 600
// cm/s, and a mesh that shows it trailing behind at 144 fps.
func watch(trail components.Ticks) *ProxyProbe {
	var path Path
	var p ProxyProbe
	at := func(t components.Ticks) components.Vec3 {
		if t < 0 {
			t = 0
		}
		d := float64(t.Seconds() * 600)
		if d < 700 {
			return components.Vec3{d, 0, 0}
		}
		return components.Vec3{700, d - 700, 0}
	}
	for now := components.Ticks(0); now < 3*components.Second; now += 400 {
		for s := components.Ticks(0); s <= now; s += 1920 {
			if s > now-400 {
				path.Push(s, at(s), false)
			}
		}
		if now > 400+trail+components.Second/10 {
			v := at(now - trail).Sub(at(now - trail - 400)).Mul(144)
			p.Frame(&path, &ProxyFrame{Now: now, Dt: 400, Mesh: at(now - trail), Velocity: v})
		}
	}
	return &p
}

func TestProxyLagIsTheTimeSinceTheServerWasThere(t *testing.T) {
	for _, trail := range []components.Ticks{3000, 5760, 28800} {
		p := watch(trail)
		require.InDelta(t, trail.Seconds()*1000, p.Lag.Quantile(0.5), trail.Seconds()*1000/64+1)
		// Only where the corner was cut between two ticks is it any different.
		require.InDelta(t, trail.Seconds()*1000, p.Lag.Max(), 1000/30)
		require.Less(t, p.Pop.Max(), 1e-6)
	}
}

func TestProxyLagIsNotMeasuredAtRest(t *testing.T) {
	var path Path
	var p ProxyProbe
	for now := components.Ticks(0); now < components.Second; now += 960 {
		path.Push(now, components.Vec3{float64(now.Seconds() * 49), 0, 0}, false)
		p.Frame(&path, &ProxyFrame{Now: now, Dt: 960, Mesh: components.Vec3{}})
	}
	require.Zero(t, p.Lag.N())
	require.Equal(t, uint64(59), p.Pop.N())
}

func TestProxyPopIsTheStepLessVelocityAndCarriage(t *testing.T) {
	var path Path
	var p ProxyProbe
	path.Push(0, components.Vec3{}, false)
	p.Frame(&path, &ProxyFrame{Now: 0, Dt: 960})
	p.Frame(&path, &ProxyFrame{Now: 960, Dt: 960, Mesh: components.Vec3{10, 3, 4}, Velocity: components.Vec3{600, 0, 0}})
	require.InDelta(t, 5, p.Pop.Max(), 1e-12)
	p.Pop.Reset()
	p.Frame(&path, &ProxyFrame{Now: 1920, Dt: 960, Mesh: components.Vec3{10, 3, 6}, Carried: components.Vec3{0, 0, 2}})
	require.Zero(t, p.Pop.Max())
	p.Frame(&path, &ProxyFrame{Now: 2880, Dt: 960, Mesh: components.Vec3{900, 0, 0}, Teleported: true})
	require.Equal(t, uint64(1), p.Pop.N())
	p.End(components.Vec3{1, 2, 3}, components.Vec3{1, 2, 5})
	require.Equal(t, 2.0, p.EndError)
}

func TestNearestOfAStandingServerIsNow(t *testing.T) {
	var path Path
	for now := components.Ticks(0); now <= components.Second; now += 1920 {
		path.Push(now, components.Vec3{5, 0, 0}, false)
	}
	ago, distance, speed, ok := path.Nearest(components.Second, components.Vec3{0, 12, 0})
	require.True(t, ok)
	require.Equal(t, []float64{0, 13, 0}, []float64{ago, distance, speed})
}

func TestNearestLooksBackOneSecondAndNoFurther(t *testing.T) {
	var path Path
	for i := range components.Ticks(200) { // 3.33 s at 300 cm/s
		path.Push(i*960, components.Vec3{float64(i) * 5, 0, 0}, false)
	}
	now := 199*960 + components.Ticks(100)
	ago, distance, _, ok := path.Nearest(now, components.Vec3{})
	require.True(t, ok)
	require.InDelta(t, 1, ago, 1e-12)
	require.InDelta(t, (now-components.Second).Seconds()*300, distance, 1e-9)
	_, _, _, ok = path.Nearest(now+2*components.Second, components.Vec3{})
	require.False(t, ok)
}

func TestNearestDoesNotInterpolateOverATeleport(t *testing.T) {
	var path Path
	path.Push(0, components.Vec3{}, false)
	path.Push(1920, components.Vec3{10, 0, 0}, false)
	path.Push(3840, components.Vec3{9000, 0, 0}, true)
	path.Push(1920, components.Vec3{4500, 0, 0}, false) // not later: ignored
	_, distance, _, _ := path.Nearest(3840, components.Vec3{4500, 0, 0})
	require.Equal(t, 4490.0, distance)
}

func TestVerdictErrorIsTheClaimsDistance(t *testing.T) {
	var p VerdictProbe
	s := components.MovementState{Location: components.Vec3{1, 2, 3}}
	p.Verdict(3, 100, &s, components.Vec3{1, 2, 3})
	p.Verdict(4, 200, &s, components.Vec3{1, 5, 7})
	p.Verdict(5, 300, &s, components.Vec3{1, 2, 4})
	require.Equal(t, uint64(3), p.Error.N())
	require.Equal(t, 5.0, p.Error.Max())
	require.Equal(t, 1.0, p.Error.Quantile(0.5))
	require.Equal(t, components.NetID(4), p.WorstID)
	require.Equal(t, components.Stamp(200), p.WorstStamp)
}

func TestMeasuringDoesNotAllocate(t *testing.T) {
	var path Path
	var owner OwnerProbe
	var proxy ProxyProbe
	var verdict VerdictProbe
	var hash HashChain
	var s components.MovementState
	now := components.Ticks(0)
	tick := func() {
		now += 960
		s.Location[0] = float64(now.Seconds() * 600)
		path.Push(now, s.Location, false)
		owner.Frame(&OwnerFrame{Mesh: s.Location})
		proxy.Frame(&path, &ProxyFrame{Now: now, Dt: 960, Mesh: s.Location})
		verdict.Verdict(1, 2, &s, s.Location)
		hash.Begin(now)
		hash.Add(7, &s)
		hash.Add(2, &s)
		hash.End()
	}
	tick()
	require.Zero(t, testing.AllocsPerRun(100, tick))
}

func TestHashChainSeesEveryBitOrderAndTick(t *testing.T) {
	a, b := components.MovementState{Location: components.Vec3{1, 2, 3}}, components.MovementState{Location: components.Vec3{4, 5, 6}}
	sum := func(steps func(c *HashChain)) uint64 {
		var c HashChain
		steps(&c)
		return c.Sum()
	}
	one := func(at components.Ticks, ids [2]components.NetID, x, y components.MovementState) func(*HashChain) {
		return func(c *HashChain) {
			c.Begin(at)
			c.Add(ids[0], &x)
			c.Add(ids[1], &y)
			c.End()
		}
	}
	base := sum(one(1, [2]components.NetID{1, 2}, a, b))
	require.Equal(t, base, sum(one(1, [2]components.NetID{2, 1}, b, a)), "the order of adding is of no matter")
	require.NotEqual(t, base, sum(one(1, [2]components.NetID{1, 2}, b, a)), "swapped characters")
	require.NotEqual(t, base, sum(one(2, [2]components.NetID{1, 2}, a, b)), "another time")
	c := a
	c.Location[2] = math.Nextafter(3, 4)
	require.NotEqual(t, base, sum(one(1, [2]components.NetID{1, 2}, c, b)), "one bit")
	require.NotEqual(t,
		sum(func(c *HashChain) {
			one(1, [2]components.NetID{1, 2}, a, b)(c)
			one(2, [2]components.NetID{1, 2}, a, a)(c)
		}),
		sum(func(c *HashChain) {
			one(1, [2]components.NetID{1, 2}, a, a)(c)
			one(2, [2]components.NetID{1, 2}, a, b)(c)
		}),
		"the order of ticks")
	require.NotEqual(t, base, sum(func(c *HashChain) {
		c.Begin(1)
		c.Add(1, &a)
		c.End()
	}), "a character less")
}

func TestHashChainPanicsOutOfOrder(t *testing.T) {
	var c HashChain
	require.Panics(t, func() { c.Add(1, &components.MovementState{}) })
	c.Begin(0)
	require.Panics(t, func() { c.Begin(1) })
}

func TestRateMeterTellsOnceASecond(t *testing.T) {
	var m RateMeter
	var tot Totals
	_, ok := m.Update(0, 2, &tot)
	require.False(t, ok)
	tot.Moves, tot.UpBytes, tot.Corrections[components.CorrectForced] = 30, 1000, 4
	_, ok = m.Update(components.Second-1, 2, &tot)
	require.False(t, ok)
	r, ok := m.Update(2*components.Second, 2, &tot)
	require.True(t, ok)
	require.Equal(t, 2.0, r.Span)
	require.Equal(t, 15.0, r.Moves)
	require.Equal(t, 2.0, r.Corrections[components.CorrectForced])
	require.Equal(t, 2.0, r.UpKbps)
	tot.Moves, tot.Acks = 10, 7
	r, ok = m.Update(3*components.Second, 0, &tot)
	require.True(t, ok)
	require.Equal(t, []float64{0, 7, 0}, []float64{r.Moves, r.Acks, r.UpKbps})
}

func TestTotalsAddUpWhatTheWorldsCounted(t *testing.T) {
	var tot Totals
	owner := components.Stats{Acks: 3, Replays: 2, ReplayedMoves: 9, Moves: 1000}
	owner.Corrections[components.CorrectPosition] = 5
	tot.AddOwner(&owner)
	tot.AddOwner(&owner)
	tot.AddServer(&components.Stats{Moves: 11, Acks: 1000})
	require.Equal(t, []uint64{11, 6, 4, 18, 10}, []uint64{tot.Moves, tot.Acks, tot.Replays, tot.ReplayedMoves, tot.Corrections[components.CorrectPosition]})
}
