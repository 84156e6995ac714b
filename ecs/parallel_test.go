package ecs

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestEveryIndexIsWorkedOnOnceWhateverTheSplit(t *testing.T) {
	pools := []*Pool{nil, NewPool(1), NewPool(2), NewPool(5)}
	defer func() {
		for _, p := range pools {
			p.Close()
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(-1, 300).Draw(t, "n")
		grain := rapid.IntRange(-1, 100).Draw(t, "grain")
		for _, p := range pools {
			hits := make([]int, max(n, 0))
			var ranges, bad atomic.Int64
			p.Parallel(n, grain, func(lo, hi, worker int) {
				ranges.Add(1)
				if worker < 0 || worker >= p.Workers() || hi <= lo || lo%max(grain, 1) != 0 {
					bad.Add(1)
				}
				for i := lo; i < hi; i++ {
					hits[i]++ // disjoint, or the race detector speaks
				}
			})
			if want := int64((max(n, 0) + max(grain, 1) - 1) / max(grain, 1)); ranges.Load() != want || bad.Load() != 0 {
				t.Fatalf("%d ranges, want %d; %d bad", ranges.Load(), want, bad.Load())
			}
			for i, h := range hits {
				if h != 1 {
					t.Fatalf("index %d worked on %d times", i, h)
				}
			}
		}
	})
}

func TestResultDoesNotDependOnTheNumberOfWorkers(t *testing.T) {
	run := func(workers int) []float64 {
		p := NewPool(workers)
		defer p.Close()
		out := make([]float64, 1000)
		for range 20 {
			p.Parallel(len(out), 7, func(lo, hi, _ int) {
				for i := lo; i < hi; i++ {
					out[i] = out[i]*1.25 + float64(i)
				}
			})
		}
		return out
	}
	want := run(1)
	for _, workers := range []int{2, 3, 8} {
		require.Equal(t, want, run(workers))
	}
}

func TestOneWorkerRunsTheRangesInOrder(t *testing.T) {
	p := NewPool(1)
	defer p.Close()
	var los []int
	p.Parallel(10, 4, func(lo, hi, worker int) {
		los = append(los, lo, hi)
		require.Zero(t, worker)
	})
	require.Equal(t, []int{0, 4, 4, 8, 8, 10}, los)
}

func TestNoTwoRangesOfAWorkerOverlapInTime(t *testing.T) {
	p := NewPool(4)
	defer p.Close()
	var inside [4]atomic.Int32
	var clash atomic.Bool
	for range 50 {
		p.Parallel(64, 1, func(_, _, worker int) {
			if inside[worker].Add(1) != 1 {
				clash.Store(true)
			}
			runtime.Gosched()
			inside[worker].Add(-1)
		})
	}
	require.False(t, clash.Load())
}

func TestParallelReturnsWhenTheLastRangeIsDone(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for range 20 {
		helping, done := make(chan struct{}), false
		var once sync.Once
		p.Parallel(2, 1, func(_, _, worker int) {
			if worker == 0 {
				<-helping // so that the caller's own part ends first
				return
			}
			once.Do(func() { close(helping) })
			for range 1000 {
				runtime.Gosched()
			}
			done = true
		})
		require.True(t, done)
	}
}

func TestCloseEndsEveryGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	p := NewPool(4)
	p.Parallel(100, 1, func(_, _, _ int) {})
	p.Close()
	p.Close()
	require.NoError(t, goleak.Find(before))
}

func TestAppEndsItsPool(t *testing.T) {
	before := goleak.IgnoreCurrent()
	a := New(Server, Workers(4))
	require.Equal(t, 4, a.Pool().Workers())
	a.Initialize()
	a.Finalize()
	require.NoError(t, goleak.Find(before))
	New(Server, Workers(4)).Finalize()
	require.NoError(t, goleak.Find(before), "also one that never ran")
}

func TestClosedPoolRunsOnTheCaller(t *testing.T) {
	p := NewPool(3)
	p.Close()
	require.Equal(t, 1, p.Workers())
	n := 0
	p.Parallel(10, 1, func(_, _, worker int) { n += 1 + worker })
	require.Equal(t, 10, n)
}

func TestPanicOfTheLowestRangeReachesTheCaller(t *testing.T) {
	for _, workers := range []int{1, 4} {
		p := NewPool(workers)
		require.PanicsWithValue(t, 20, func() {
			p.Parallel(100, 10, func(lo, _, _ int) {
				if lo >= 20 {
					panic(lo)
				}
			})
		})
		n := atomic.Int32{}
		p.Parallel(100, 10, func(_, _, _ int) { n.Add(1) })
		require.Equal(t, int32(10), n.Load(), "the pool works again")
		p.Close()
	}
}

func TestParallelWithinParallelPanics(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	require.PanicsWithValue(t, "ecs.Pool: Parallel called from within Parallel", func() {
		p.Parallel(10, 1, func(_, _, _ int) { p.Parallel(10, 1, func(_, _, _ int) {}) })
	})
	require.Panics(t, func() { NewPool(0) })
}

func TestParallelDoesNotAllocate(t *testing.T) {
	var sum atomic.Int64
	body := Range(func(lo, hi, _ int) { sum.Add(int64(hi - lo)) })
	for _, workers := range []int{1, 3} {
		p := NewPool(workers)
		require.Zero(t, testing.AllocsPerRun(100, func() { p.Parallel(1000, 10, body) }))
		p.Close()
	}
}
