package systems_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/listener"
	"github.com/stretchr/testify/require"
)

func TestTeleportCorrectsTheOwnerOnce(t *testing.T) {
	for _, in := range []func(*components.Input, components.Ticks, components.Ticks){standstill, forward} {
		l := newLoop(t, loopConfig{delay: sec / 100, serverHz: 60, input: in})
		l.run(sec)
		l.srvSpawn.Teleport(l.srv, components.Vec3{0, 9000, 90.15}, 90)
		l.run(sec)
		require.Equal(t, uint64(1), l.cliStats.TotalCorrections())
		require.Greater(t, l.owner().Location[1], 8999.0)
		l.cfg.input = standstill
		l.run(sec)
		l.agree()
	}
}

// A teleport to where the owner is anyway, only its velocity taken: no claim
// would show the difference at once.
func TestTeleportOnTheSpotIsAnswered(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 100, serverHz: 60, input: forward})
	l.run(sec)
	l.srvSpawn.Teleport(l.srv, l.state().Location, 0)
	l.run(sec / 10)
	require.Equal(t, uint64(1), l.srvStats.CorrectionsOut[components.CorrectRequested])
}

// counted is what the kernel was asked to move in a server tick.
func simulated(l *loop) uint64 { return l.srvStats.Moves + l.srvStats.ForcedMoves }

func (l *loop) slots() (received, poses int) {
	return l.received.Len(), ecs.Need[components.PoseRings](l.server.World()).Len()
}

func TestCharacterTakenOverByTheServerMakesOneStepATick(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 20, serverHz: 60, input: forward})
	l.run(sec)
	pos := l.srvSpawn.Possess(l.srv, 0)
	require.Equal(t, components.Possession{Epoch: 2}, pos)
	received, poses := l.slots()
	require.Zero(t, received)
	require.Zero(t, poses)

	l.nextClient = 1 << 50 // its packets are still under way
	moves := simulated(l)
	v := l.state().Velocity[0]
	for range 20 {
		x := l.state().Location[0]
		get[components.Input](l.server.World(), l.srv).Add(1, 0, 0)
		l.run(sec / 60)
		require.InDelta(t, v/60, l.state().Location[0]-x, 0.05)
	}
	require.Equal(t, moves, simulated(l))
}

func TestCharacterGivenToAnotherPlayerLeaksNoSlot(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 20, serverHz: 60, input: forward})
	l.run(sec)
	for i := range 20 {
		l.srvSpawn.Possess(l.srv, components.PlayerID(i%3)) // the server itself among them
	}
	l.srvSpawn.Possess(l.srv, 5)
	received, poses := l.slots()
	require.Equal(t, 1, received)
	require.Equal(t, 1, poses)
	require.NotNil(t, l.inbox())
	require.Equal(t, components.Possession{Player: 5, Epoch: 22}, *get[components.Possession](l.server.World(), l.srv))
	require.False(t, l.srvPred().HasStamp) // nothing of the old owner's clock
}

func TestNewOwnerIsFollowedInItsEpoch(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 20, input: forward})
	l.run(sec)
	pos := l.srvSpawn.Possess(l.srv, 1)
	pos.Acked = true
	l.run(sec / 2)
	*get[components.Possession](l.client.World(), l.own) = pos
	l.queue().Reset()
	*l.owner() = *l.state()
	l.run(sec)
	require.Zero(t, l.cliStats.TotalCorrections())
	l.cfg.input = standstill
	l.run(sec)
	l.agree()
}

func slabWorld(t *testing.T, role ecs.Roles) (*ecs.App, *systems.Spawner, components.CharacterSpec) {
	table := tableOf(t, nil)
	app := ecs.New(role)
	set := components.DefaultSettings()
	set.Smoothing = components.SmoothBuffered
	app.Use(&systems.Movement{Geometry: worldFor(t, flatLevel(t)), Profiles: table, Settings: &set})
	app.Initialize()
	t.Cleanup(app.Finalize)
	return app, systems.NewSpawner(app.World()), systems.SpecAt(heroID, table, heroRef, components.Vec3{0, 0, 90.15}, 0)
}

// held counts the slots in use of every slab.
type slabs struct {
	queues   *components.MoveQueues
	received *components.ReceivedQueues
	poses    *components.PoseRings
	buffers  *components.SnapshotBuffers
}

func slabsOf(w *arche.World) slabs {
	return slabs{ecs.Need[components.MoveQueues](w), ecs.Need[components.ReceivedQueues](w),
		ecs.Need[components.PoseRings](w), ecs.Need[components.SnapshotBuffers](w)}
}

func (s slabs) used() int { return s.queues.Len() + s.received.Len() + s.poses.Len() + s.buffers.Len() }

func TestDespawnGivesEverySlotBack(t *testing.T) {
	app, spawn, spec := slabWorld(t, ecs.Client)
	s := slabsOf(app.World())
	all := []arche.Entity{spawn.Owner(spec), spawn.Proxy(spec), spawn.Remote(spec, true), spawn.Local(spec, true)}
	require.Equal(t, 4, s.used()) // a queue, a buffer, received moves, poses
	for _, e := range all {
		spawn.Despawn(e)
		spawn.Despawn(e) // twice does nothing
	}
	require.Zero(t, s.used())
}

func frames(app *ecs.App, n int) {
	from := app.Clock().FrameNow
	for i := range n {
		app.Frame(from + components.Ticks(i+1)*960)
	}
}

func TestSweepFindsSlotsOfRemovedEntities(t *testing.T) {
	app, spawn, spec := slabWorld(t, ecs.Client)
	s := slabsOf(app.World())
	for range 5 {
		app.World().RemoveEntity(spawn.Owner(spec)) // behind the spawner's back
	}
	kept := spawn.Owner(spec)
	frames(app, 70)
	require.Equal(t, 1, s.used())
	require.Equal(t, uint64(5), ecs.Need[components.Stats](app.World()).LostSlots)
	require.NotNil(t, s.queues.Get(get[components.ClientPrediction](app.World(), kept).Queue))
}

func TestSweepFindsSlotsOfRemovedComponents(t *testing.T) {
	app, spawn, spec := slabWorld(t, ecs.Server)
	s := slabsOf(app.World())
	e := spawn.Remote(spec, false)
	app.World().Remove(e, arche.ComponentID[components.ServerPrediction](app.World()))
	frames(app, 70)
	require.Zero(t, s.used())
}

func TestSweepFindsSlotsAfterAWorldReset(t *testing.T) {
	app, spawn, spec := slabWorld(t, ecs.Client)
	s := slabsOf(app.World())
	for range 7 {
		spawn.Owner(spec)
		spawn.Proxy(spec)
	}
	app.World().Reset()
	again := spawn.Owner(spec) // lands on an entity of before
	frames(app, 70)
	require.Equal(t, 1, s.used())
	require.NotNil(t, s.queues.Get(get[components.ClientPrediction](app.World(), again).Queue))
}

func TestListenerGivesSlotsBackAtOnce(t *testing.T) {
	app, spawn, spec := slabWorld(t, ecs.Server)
	w := app.World()
	s := slabsOf(w)
	dispatch := listener.NewDispatch(systems.NewSlotListener(w))
	w.SetListener(&dispatch)
	w.RemoveEntity(spawn.Owner(spec))
	w.RemoveEntity(spawn.Proxy(spec))
	w.RemoveEntity(spawn.Remote(spec, false))
	require.Zero(t, s.used())
	e := spawn.Remote(spec, false)
	w.Remove(e, arche.ComponentID[components.ServerPrediction](w))
	require.Zero(t, s.used())
	kept := spawn.Remote(spec, false)
	spawn.Possess(kept, 0)
	require.Zero(t, s.used())
	spawn.Possess(kept, 3)
	require.Equal(t, 2, s.used())
	w.Batch().RemoveEntities(arche.All())
	require.Zero(t, s.used())
	frames(app, 70)
	require.Zero(t, ecs.Need[components.Stats](w).LostSlots)
}

func TestEventsAreReportedOnceUnderReplays(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 20, input: func(in *components.Input, now, _ components.Ticks) {
		in.Vector = components.Vec3{1, 0, 0}
		in.SetButton(components.FlagJumpPressed, now%(2*sec) < sec/10)
	}})
	events := ecs.Need[systems.Events](l.client.World())
	jumps, landings := 0, 0
	type identity struct {
		stamp   components.Stamp
		kind    movement.EventKind
		ordinal uint8
	}
	seen := map[identity]int{}
	for range 6 * 60 {
		l.srvPred().ForceUpdate = true // replays all the time
		l.frame()
		for _, e := range events.All() {
			seen[identity{e.Stamp, e.Kind, e.Ordinal}]++
			switch e.Kind {
			case movement.EventJumped:
				jumps++
			case movement.EventLanded:
				landings++
			}
		}
		l.until(l.now)
	}
	require.Equal(t, 3, jumps)
	require.Equal(t, 3, landings)
	for id, n := range seen {
		require.Equal(t, 1, n, "%+v", id)
	}
	require.NotZero(t, l.cliStats.Replays)
}
