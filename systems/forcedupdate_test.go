package systems_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems"
	arche "github.com/mlange-42/arche/ecs"
)

// hitchServer is a server of variable steps with one character whose owner
// sent a single move.
type hitchServer struct {
	app *ecs.App
	e   arche.Entity
	now components.Ticks
}

func newHitchServer(t *testing.T) *hitchServer {
	table := tableOf(t, nil)
	app := ecs.New(ecs.Server)
	arche.AddResource(app.World(), &components.NetClock{Authority: true, SendScale: 1})
	app.Use(&systems.Movement{Geometry: worldFor(t, flatLevel(t)), Profiles: table})
	app.Initialize()
	t.Cleanup(app.Finalize)
	s := &hitchServer{app: app}
	spec := systems.SpecAt(heroID, table, heroRef, components.Vec3{0, 0, 90.15}, 0)
	spec.Possession = components.Possession{Player: 1, Epoch: 1, Acked: true}
	s.e = systems.NewSpawner(app.World()).Remote(spec, false)
	app.Frame(0)
	q := ecs.Need[components.ReceivedQueues](app.World()).Get(get[components.ServerPrediction](app.World(), s.e).Received)
	q.Moves[0] = components.MoveData{Cmd: components.MoveCommand{Stamp: 960, Dt: 960, Profile: heroRef}, Kind: components.MoveNew}
	q.N = 1
	return s
}

func (s *hitchServer) frame(dt components.Ticks) {
	s.now += dt
	s.app.Frame(s.now)
}

func (s *hitchServer) forced() uint64 {
	return ecs.Need[components.Stats](s.app.World()).ForcedMoves
}
