package main

import (
	"time"

	"github.com/gaitnet/gait/components"
)

// wallClock is the one clock of the process: everybody's real time since it
// began, monotonic, in ticks.
type wallClock struct{ began time.Time }

func newWallClock() wallClock { return wallClock{time.Now()} }

// now is never 0: a world's time starts above it.
func (c wallClock) now() components.Ticks { return 1 + components.TicksOf(time.Since(c.began)) }

// pacer sleeps until a time on the clock, or until stop closes.
type pacer struct {
	clock wallClock
	stop  <-chan struct{}
	timer *time.Timer
}

func newPacer(clock wallClock, stop <-chan struct{}) *pacer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &pacer{clock, stop, t}
}

// until waits for a time and tells what it is then; false once stop is closed.
func (p *pacer) until(at components.Ticks) (now components.Ticks, ok bool) {
	for {
		now = p.clock.now()
		if now >= at {
			select {
			case <-p.stop:
				return now, false
			default:
				return now, true
			}
		}
		// A tick more, since ticks are rounded down.
		p.timer.Reset((at - now + 1).Duration())
		select {
		case <-p.timer.C:
		case <-p.stop:
			p.timer.Stop()
			return p.clock.now(), false
		}
	}
}

// frames spaces frames evenly at a rate. Whoever is late by more than a frame
// leaves out those that he missed.
type frames struct {
	rate int64
	next components.Ticks
	rem  int64
}

func newFrames(first components.Ticks, rate int) *frames {
	return &frames{rate: int64(rate), next: first}
}

// after is the time of the frame that follows the one that ran at now.
func (f *frames) after(now components.Ticks) components.Ticks {
	for {
		total := components.TicksPerSecond + f.rem
		f.next += components.Ticks(total / f.rate)
		f.rem = total % f.rate
		if f.next > now {
			return f.next
		}
	}
}
