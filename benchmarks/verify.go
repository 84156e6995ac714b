package main

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/systems"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
)

// crowd is a server with n remotely controlled characters on the arena, and
// the moves that their owners send: 60 a second, two a tick of 30 Hz.
type crowd struct {
	app      *ecs.App
	w        *arche.World
	profiles *components.ProfileTable
	queues   *components.ReceivedQueues
	entities []arche.Entity
	handles  []components.Handle
	input    []components.Input
	samplers []*nettest.Sampler
	srv, st  arche.ID
	now      components.Ticks
	stamp    components.Ticks
}

const movesPerTick = 2

func newCrowd(n int) *crowd {
	c := &crowd{app: ecs.New(ecs.Server, ecs.Fixed(ecs.Hz(30))), profiles: systems.DefaultProfiles()}
	ground := collision.NewWorld()
	if err := ground.AddLevel(0, collision.Arena()); err != nil {
		panic(err)
	}
	c.w = c.app.World()
	c.app.Use(&systems.Movement{Geometry: ground, Profiles: c.profiles})
	spawner := systems.NewSpawner(c.w)
	c.srv = arche.ComponentID[components.ServerPrediction](c.w)
	c.st = arche.ComponentID[components.MovementState](c.w)
	c.queues = ecs.Need[components.ReceivedQueues](c.w)
	ref, _ := c.profiles.Newest(0)
	recording := nettest.GenerateInput(3, 120)
	for i := range n {
		// A grid over the arena's open floor.
		x, y := float64(i%40-20)*60, float64(i/40%40-20)*60
		spec := systems.SpecAt(components.NetID(1000+i), c.profiles, ref, components.Vec3{x, y, 90.15}, float64(i%360))
		e := spawner.Remote(spec, false)
		c.entities = append(c.entities, e)
		c.handles = append(c.handles, (*components.ServerPrediction)(c.w.Get(e, c.srv)).Received)
		c.samplers = append(c.samplers, nettest.NewSampler(recording, components.Ticks(i*977)*components.Second/60))
	}
	c.input = make([]components.Input, n)
	c.app.Initialize()
	c.app.Frame(0)
	return c
}

// fill queues one tick's moves of every character.
func (c *crowd) fill() {
	const dt = components.Second / 60
	p := c.profiles.Get(components.ProfileRef{Revision: 1})
	for k := range movesPerTick {
		c.stamp += dt
		if c.stamp > components.StampResetPeriod {
			c.stamp -= components.StampResetPeriod
		}
		at := c.now + components.Ticks(k+1)*dt
		for i, h := range c.handles {
			in := &c.input[i]
			c.samplers[i].Apply(in, at, dt)
			q := c.queues.Get(h)
			m := &q.Moves[q.N]
			q.N++
			m.Kind = components.MoveOld
			m.Cmd = components.MoveCommand{
				Acceleration: movement.ScaleInput(in.Vector, in.Control.Yaw, components.ModeWalking, p),
				ObstacleTime: at, Dt: dt, Stamp: components.Stamp(c.stamp),
				Profile: components.ProfileRef{Revision: 1}, Control: in.Control.Pack(), Flags: in.Held,
			}
			in.Vector, in.Pressed = components.Vec3{}, 0
			if k == movesPerTick-1 {
				m.Kind = components.MoveNew
			}
		}
	}
}

func (c *crowd) tick() {
	c.now += components.Second / 30
	c.app.Frame(c.now)
}

func (c *crowd) hash() (h uint64) {
	for _, e := range c.entities {
		h = movement.HashState(h, (*components.MovementState)(c.w.Get(e, c.st)))
	}
	return h
}

// verify is the whole server tick without a network: verification, verdicts,
// snapshots.
func verify(n int) func(b *testing.B) {
	return func(b *testing.B) {
		c := newCrowd(n)
		for range 10 {
			c.fill()
			c.tick()
		}
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			b.StopTimer()
			c.fill()
			b.StartTimer()
			c.tick()
		}
		perMove(b, n*movesPerTick)
	}
}

// bare is the plain loop beside it: the kernel alone over an array of states.
func bare(n int) func(b *testing.B) {
	return func(b *testing.B) {
		c := newCrowd(n)
		states := make([]components.MovementState, n)
		for i, e := range c.entities {
			states[i] = *(*components.MovementState)(c.w.Get(e, c.st))
		}
		p := c.profiles.Get(components.ProfileRef{Revision: 1})
		var ctx movement.Context
		ctx.Geometry = ecs.Need[systems.Geometry](c.w).Geometry
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			b.StopTimer()
			c.fill()
			c.now += components.Second / 30
			b.StartTimer()
			for i, h := range c.handles {
				q := c.queues.Get(h)
				for k := range q.N {
					ctx.Move(&states[i], &q.Moves[k].Cmd, p)
				}
				q.N = 0
			}
		}
		perMove(b, n*movesPerTick)
	}
}

// perMove reports the time of one of n things that an iteration did.
func perMove(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/each")
}
