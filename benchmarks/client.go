package main

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/systems"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/go-gl/mathgl/mgl32"
	arche "github.com/mlange-42/arche/ecs"
)

// clientApp is a client's world without a network, whose time is known.
func clientApp() (*ecs.App, *systems.Spawner, *components.ProfileTable) {
	app := ecs.New(ecs.Client)
	ground := collision.NewWorld()
	if err := ground.AddLevel(0, collision.Arena()); err != nil {
		panic(err)
	}
	table := systems.DefaultProfiles()
	app.Use(&systems.Movement{Geometry: ground, Profiles: table})
	w := app.World()
	net := ecs.Provide(w, func() *components.NetClock { return new(components.NetClock) })
	net.Synced, net.SendScale = true, 1
	return app, systems.NewSpawner(w), table
}

// predict is n owners in one world: input, prediction, saving, drawing. Their
// answers come 100 ms later, so that the queues are as long as in a game.
func predict(n int) func(b *testing.B) {
	return func(b *testing.B) {
		app, spawner, table := clientApp()
		w := app.World()
		ref, _ := table.Newest(0)
		queues := ecs.Need[components.MoveQueues](w)
		inputID, predID := arche.ComponentID[components.Input](w), arche.ComponentID[components.ClientPrediction](w)
		recording := nettest.GenerateInput(5, 120)
		entities, samplers := make([]arche.Entity, n), make([]*nettest.Sampler, n)
		for i := range n {
			spec := systems.SpecAt(components.NetID(1000+i), table, ref, components.Vec3{float64(i%40-20) * 60, float64(i/40-20) * 60, 90.15}, 0)
			spec.Possession.Acked = true
			entities[i] = spawner.Owner(spec)
			samplers[i] = nettest.NewSampler(recording, components.Ticks(i)*components.Second)
		}
		app.Initialize()
		now, dt := components.Ticks(0), components.Second/60
		ecs.Need[components.NetClock](w).ServerNow = 0
		app.Frame(now)
		frame := func() {
			now += dt
			ecs.Need[components.NetClock](w).ServerNow = now
			for i, e := range entities {
				samplers[i].Apply((*components.Input)(w.Get(e, inputID)), now, dt)
				q := queues.Get((*components.ClientPrediction)(w.Get(e, predID)).Queue)
				q.NumSends = 0
				if q.Len() > 12 {
					q.Ack(q.Len() - 7)
				}
			}
		}
		for range 30 {
			frame()
			app.Frame(now)
		}
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			b.StopTimer()
			frame()
			b.StartTimer()
			app.Frame(now)
		}
		perMove(b, n)
	}
}

// replay is a correction followed by a replay of ten moves, n owners at once.
func replay(n int) func(b *testing.B) {
	return func(b *testing.B) {
		app, spawner, table := clientApp()
		w := app.World()
		ref, _ := table.Newest(0)
		queues := ecs.Need[components.MoveQueues](w)
		predID, stateID := arche.ComponentID[components.ClientPrediction](w), arche.ComponentID[components.MovementState](w)
		entities := make([]arche.Entity, n)
		for i := range n {
			spec := systems.SpecAt(components.NetID(1000+i), table, ref, components.Vec3{float64(i%40-20) * 60, float64(i/40-20) * 60, 90.15}, 0)
			entities[i] = spawner.Owner(spec)
			st := spec.State
			q := queues.Get((*components.ClientPrediction)(w.Get(entities[i], predID)).Queue)
			for k := range 10 {
				m, _ := q.Push()
				m.Start, m.End = st, st
				m.Cmd = components.MoveCommand{
					Acceleration: components.Vec3{2048, 0, 0}, Dt: components.Second / 60, Profile: ref,
					Stamp: components.Stamp(components.Ticks(k+1) * components.Second / 60),
				}
			}
		}
		system := new(systems.Replay)
		app.Initialize()
		system.Initialize(w)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			b.StopTimer()
			for _, e := range entities {
				p := (*components.ClientPrediction)(w.Get(e, predID))
				p.UpdatePosition = true
				*(*components.MovementState)(w.Get(e, stateID)) = queues.Get(p.Queue).At(0).Start
			}
			b.StartTimer()
			system.Update(w)
		}
		perMove(b, n)
	}
}

// smooth is MeshSmooth over n proxies whose meshes are all on their way back.
func smooth(n int) func(b *testing.B) {
	return func(b *testing.B) {
		app, spawner, table := clientApp()
		w := app.World()
		ref, _ := table.Newest(0)
		meshID := arche.ComponentID[components.MeshSmoothing](w)
		entities := make([]arche.Entity, n)
		for i := range n {
			entities[i] = spawner.Proxy(systems.SpecAt(components.NetID(1000+i), table, ref, components.Vec3{0, 0, 90.15}, 0))
		}
		system := new(systems.MeshSmooth)
		app.Initialize()
		system.Initialize(w)
		now := components.Ticks(0)
		app.Frame(now)
		app.Clock().FrameDt = components.Second / 60
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			if i%20 == 0 {
				b.StopTimer()
				for _, e := range entities {
					ms := (*components.MeshSmoothing)(w.Get(e, meshID))
					ms.TranslationOffset, ms.Complete = mgl32.Vec3{40, 30, 0}, false
				}
				b.StartTimer()
			}
			system.Update(w)
		}
		perMove(b, n)
	}
}
