package ecs

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Range works on the half-open range [lo, hi). worker says which of the pool's
// workers runs it, 0 <= worker < Pool.Workers, for scratch memory of one's own.
// Which worker gets which range is not the same from run to run, so nothing of
// the result may depend on it.
type Range func(lo, hi, worker int)

// Pool runs ranges of work on several goroutines, a resource (*ecs.Pool). Its
// goroutines start with the pool and wait between runs. A nil pool, one of one
// worker, and a closed one run everything on the caller's goroutine.
//
// Splitting pays when the work is heavy, not when the entities are many: two
// cores gain nothing on 10,000 entities with a few adds each.
type Pool struct {
	workers int
	wake    chan struct{}
	exited  sync.WaitGroup
	busy    atomic.Bool

	// One run; written before wake, read after it.
	fn       Range
	n, grain int
	next     atomic.Int64
	joined   sync.WaitGroup

	mu      sync.Mutex
	panicAt int
	panicV  any
}

// NewPool returns a pool of that many workers, the caller of Parallel among
// them. Close it to end its goroutines.
func NewPool(workers int) *Pool {
	if workers < 1 {
		panic(fmt.Sprintf("ecs.NewPool: %d workers, must be at least 1", workers))
	}
	p := &Pool{workers: workers}
	if workers > 1 {
		p.wake = make(chan struct{}, workers-1)
		p.exited.Add(workers - 1)
		for i := 1; i < workers; i++ {
			go p.work(p.wake, i)
		}
	}
	return p
}

// Workers is the number of workers, 1 for a nil or closed pool.
func (p *Pool) Workers() int {
	if p == nil {
		return 1
	}
	return p.workers
}

// Parallel splits [0, n) into ranges of grain (the last may be shorter; less
// than 1 counts as 1), runs fn on each exactly once, and returns when all are
// done. The ranges are the same for every number of workers, and with one they
// run in order. It does not allocate, but fn escapes: store a function once, in
// a field, rather than writing a closure that captures at each call. If fn
// panics, the panic of the lowest range is raised again in the caller; with
// several workers the other ranges are done all the same. fn must not call
// Parallel; with several workers that panics.
func (p *Pool) Parallel(n, grain int, fn Range) {
	if grain < 1 {
		grain = 1
	}
	if p.Workers() == 1 || n <= grain {
		for lo := 0; lo < n; lo += grain {
			fn(lo, min(lo+grain, n), 0)
		}
		return
	}
	if !p.busy.CompareAndSwap(false, true) {
		panic("ecs.Pool: Parallel called from within Parallel")
	}
	p.fn, p.n, p.grain = fn, n, grain
	p.next.Store(0)
	p.panicAt, p.panicV = n, nil
	helpers := min(p.workers, (n+grain-1)/grain) - 1
	p.joined.Add(helpers)
	for range helpers {
		p.wake <- struct{}{}
	}
	p.drain(0)
	p.joined.Wait()
	v := p.panicV
	p.fn, p.panicV = nil, nil
	p.busy.Store(false)
	if v != nil {
		panic(v)
	}
}

func (p *Pool) work(wake <-chan struct{}, worker int) {
	defer p.exited.Done()
	for range wake {
		p.drain(worker)
		p.joined.Done()
	}
}

// drain takes ranges until none is left.
func (p *Pool) drain(worker int) {
	for {
		lo := int(p.next.Add(int64(p.grain))) - p.grain
		if lo >= p.n {
			return
		}
		p.one(lo, min(lo+p.grain, p.n), worker)
	}
}

func (p *Pool) one(lo, hi, worker int) {
	defer func() {
		if v := recover(); v != nil {
			p.mu.Lock()
			if lo < p.panicAt {
				p.panicAt, p.panicV = lo, v
			}
			p.mu.Unlock()
		}
	}()
	p.fn(lo, hi, worker)
}

// Close ends the pool's goroutines and waits for them. Parallel then runs on
// the caller alone. It may be called more than once, and not within Parallel.
func (p *Pool) Close() {
	if p == nil || p.wake == nil {
		return
	}
	close(p.wake)
	p.exited.Wait()
	p.wake, p.workers = nil, 1
}
