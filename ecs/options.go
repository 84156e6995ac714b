package ecs

import "fmt"

// Option configures an App or a Clock.
type Option func(*config)

type config struct {
	fixed         bool
	rate          Rate
	maxSteps      int
	catchUp       CatchUp
	workers       int
	capacity      int
	allowPointers bool
}

func newConfig(opts []Option) *config {
	c := &config{maxSteps: DefaultMaxSteps, workers: 1}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Fixed makes a frame as many equal steps as fit. Without it a frame is one
// step of its own length. A rate that is not positive, above 57,600 Hz, or
// slower than one step a day panics.
func Fixed(rate Rate) Option {
	rate.check()
	return func(c *config) { c.fixed, c.rate = true, rate }
}

// MaxSteps is the most steps a frame of a fixed clock runs, DefaultMaxSteps
// unless given. Less than 1 panics.
func MaxSteps(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("ecs.MaxSteps: %d, must be at least 1", n))
	}
	return func(c *config) { c.maxSteps = n }
}

// Catch says what happens to time beyond MaxSteps; DropTime unless given.
func Catch(up CatchUp) Option { return func(c *config) { c.catchUp = up } }

// Workers is the number of goroutines, the caller's among them, over which
// systems may split their work through the world's Pool resource; 1 unless
// given, which starts none. Less than 1 panics.
func Workers(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("ecs.Workers: %d, must be at least 1", n))
	}
	return func(c *config) { c.workers = n }
}

// Capacity is the number of rows that a new world's tables begin with; arche's
// default (128) unless given. An adopted world keeps its own.
func Capacity(rows int) Option {
	if rows < 1 {
		panic(fmt.Sprintf("ecs.Capacity: %d, must be at least 1", rows))
	}
	return func(c *config) { c.capacity = rows }
}

// AllowPointers lets App.Initialize pass although a registered component holds
// a pointer. arche corrupts such components when it moves them while the
// garbage collector marks; this is for a world whose owner knows that those
// entities are never moved.
func AllowPointers() Option { return func(c *config) { c.allowPointers = true } }
