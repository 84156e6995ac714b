package nettest_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/systems"
	"github.com/gaitnet/gait/systems/collision"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/ecs/event"
	"github.com/stretchr/testify/require"
)

// wander is an AI: it runs ahead and turns, a system like a game's own.
type wander struct {
	clock *ecs.Clock
	ids   [2]arche.ID
	who   arche.Filter
}

func (s *wander) Phase() ecs.Phase { return ecs.Input }
func (s *wander) Roles() ecs.Roles { return ecs.AllRoles }

// Before lets InputConsume take it in the same step.
func (s *wander) Before() []string { return []string{"InputConsume"} }

func (s *wander) Initialize(w *arche.World) {
	s.clock = ecs.Need[ecs.Clock](w)
	s.ids = [2]arche.ID{ecs.RegisterComponent[components.Input](w), ecs.RegisterComponent[components.LocallyControlled](w)}
	m := arche.All(s.ids[:]...)
	s.who = &m
}

func (s *wander) Update(w *arche.World) {
	q := w.Query(s.who)
	for q.Next() {
		press((*components.Input)(q.Get(s.ids[0])), keys{forward: 1, yaw: 20 * s.clock.Now.Seconds()})
	}
}

func (s *wander) Finalize(*arche.World) {}

// Promise 11: a listen server's host plays on it, sees the others smoothed,
// and is seen by them.
func TestListenServer(t *testing.T) {
	t.Parallel()
	o := nettest.Options{Clients: 2, Onlookers: 0, Seed: 90, Link: rtt(100*ms, 20*ms, 2)}
	o.Server.Listen, o.Server.Hz = true, 60
	o.Server.Level, o.Client.Level = flat(t), flat(t)
	o.Server.Extend = func(app *ecs.App) { app.Add(new(wander)) } // the host's hands
	s := session(t, o)
	spec := s.Server.SpawnAt(components.Vec3{-500, 0, 0}, 0)
	spec.ID = 1000
	host := s.Server.Spawner.Local(spec, true)
	drive(s, func(i int, at components.Ticks) keys { return keys{forward: 1, yaw: 30 * at.Seconds() * float64(i+1)} })
	s.Advance(2 * second)

	guest := owned(t, s, 0)
	var drawn, capsule nettest.Histogram
	var lastMesh, lastAt components.Vec3
	w := s.Server.App.World()
	eachTick(s, func() {
		hostMesh := nettest.Component[components.MeshTransform](w, host)
		at := nettest.Component[components.MovementState](w, host).Location
		require.LessOrEqual(t, exact.Dist(at, hostMesh.Location), runSpeed/60+0.01, "the host is drawn within its last tick")
		mesh, st := onServer[components.MeshTransform](s, guest).Location, onServer[components.MovementState](s, guest).Location
		if lastAt != (components.Vec3{}) {
			drawn.Add(exact.Dist(mesh, lastMesh))
			capsule.Add(exact.Dist(st, lastAt))
		}
		lastMesh, lastAt = mesh, st
	})
	seen := 0
	tr := follow(s, 1000)
	s.Advance(second / 10)
	eachFrame(s, func(i int) {
		mesh := meshOf(s.Clients[i], 1000)
		require.NotNil(t, mesh, "client %d sees the host", i)
		require.LessOrEqual(t, tr.away(mesh.Location, s.Now, second), 60.0, "client %d", i)
		seen++
	})
	s.Advance(span(minute, 3*second))
	require.Positive(t, seen)
	require.Less(t, drawn.Max(), capsule.Max(), "cm a frame: a guest's moves come in bursts, its mesh moves more evenly")
	require.Zero(t, s.Corrections(), correctionsBy(s))
	require.NotNil(t, onServer[components.LocallyControlled](s, 1000))
	require.Nil(t, onServer[components.ServerPrediction](s, 1000), "nothing of the host's is predicted or verified")
}

// Promise 11: standalone, the same systems without any network, moves a
// character as a server moves its AI, to the bit.
func TestStandaloneMovesLikeAServer(t *testing.T) {
	t.Parallel()
	o := nettest.Options{Onlookers: 1, Seed: 91}
	o.Server.Extend = func(app *ecs.App) { app.Add(new(wander)) }
	s := session(t, o)
	start := s.Now
	e := s.Server.Spawner.Local(s.Server.SpawnAt(components.Vec3{0, 0, 0}, 0), false)

	app := ecs.New(ecs.Standalone, ecs.Fixed(ecs.Hz(30)))
	ground := collision.NewWorld()
	require.NoError(t, ground.AddLevel(0, collision.Arena()))
	app.Use(&systems.Movement{Geometry: ground})
	app.Add(new(wander))
	app.Initialize()
	defer app.Finalize()
	table := ecs.Need[components.ProfileTable](app.World())
	ref, _ := table.Newest(0)
	sp := systems.NewSpawner(app.World())
	alone := sp.Local(systems.SpecAt(1, table, ref, nettest.Component[components.MovementState](s.Server.App.World(), e).Location, 0), true)
	app.Frame(s.Server.App.Clock().FrameNow)
	ticks := 0
	eachTick(s, func() {
		app.Frame(s.Now)
		want := nettest.Component[components.MovementState](s.Server.App.World(), e)
		require.Equal(t, *want, *nettest.Component[components.MovementState](app.World(), alone))
		ticks++
	})
	s.Advance(20 * second)
	require.Greater(t, ticks, 500)
	require.Greater(t, s.Now-start, 19*second)
	require.True(t, nettest.Component[components.MeshTransform](app.World(), alone).Valid, "it is drawn")
}

// Promise 11, case 17: a server-controlled character takes one step a tick,
// and one that goes from the server to a player, to another and back, exactly
// one in all; nothing of the old owner stays.
func TestSwitchingTheOwnerWhileRunning(t *testing.T) {
	t.Parallel()
	o := on(flat(t), nettest.Options{Onlookers: 3, Seed: 92, Link: rtt(100*ms, 10*ms, 2)})
	o.Server.Extend = func(app *ecs.App) { app.Add(new(wander)) }
	s := session(t, o)
	e := s.Server.Spawner.Local(s.Server.SpawnAt(components.Vec3{}, 0), false)
	s.Advance(second)
	var id components.NetID
	s.Server.Net.Characters(func(i components.NetID, _ components.PlayerID, _ *components.MovementState) { id = i })
	drive(s, func(_ int, at components.Ticks) keys { return keys{forward: 1, yaw: 20 * at.Seconds()} })
	tr := follow(s, id)
	// way is what it went in the ticks since the n-th.
	way := func(n int) (sum float64) {
		for i := max(n, 1); i < len(tr.places); i++ {
			sum += exact.Dist(tr.places[i-1], tr.places[i])
		}
		return sum
	}
	eachTick(s, func() {
		if n := len(tr.places); n > 1 {
			// A tick's moves of an owner, late ones with them.
			limit := runSpeed*2/30 + 0.1 + 0.02*runSpeed
			if onServer[components.LocallyControlled](s, id) != nil {
				limit = runSpeed/30 + 0.01
			}
			require.LessOrEqual(t, exact.Dist(tr.places[n-2], tr.places[n-1]), limit, "cm in one tick")
		}
	})
	previous := -1
	for round, owner := range []int{-1, 0, 1, -1, 2, 0, -1} {
		if owner >= 0 {
			s.Server.Spawner.Possess(e, s.Clients[owner].Player)
		} else if round > 0 {
			s.Server.Spawner.Possess(e, 0)
		}
		changed := len(tr.places)
		s.Advance(second)
		require.LessOrEqual(t, way(changed), runSpeed*1.1, "round %d: never two steps a tick", round)
		changed = len(tr.places)
		s.Advance(second)
		require.InDelta(t, runSpeed, way(changed), 0.1*runSpeed, "round %d: and one when it has settled", round)
		for i, c := range s.Clients {
			queues := ecs.Need[components.MoveQueues](c.App.World())
			if i == owner {
				require.Equal(t, []components.NetID{id}, c.Net.Owned())
				require.Equal(t, 1, queues.Len())
				continue
			}
			require.Empty(t, c.Net.Owned(), "round %d: client %d", round, i)
			require.Zero(t, queues.Len(), "round %d: client %d holds no queue", round, i)
			require.NotNil(t, part[components.SimulatedProxy](c, id))
			require.LessOrEqual(t, tr.away(meshOf(c, id).Location, s.Now, second), 60.0, "client %d sees it", i)
		}
		received := ecs.Need[components.ReceivedQueues](s.Server.App.World()).Len()
		require.Equal(t, map[bool]int{true: 1, false: 0}[owner >= 0], received)
		previous = owner
	}
	require.Equal(t, -1, previous)
	require.Zero(t, s.Corrections(), correctionsBy(s))
	require.Positive(t, s.Server.Stats.MovesDropped[components.DropNotOwner]+s.Server.Stats.MovesDropped[components.DropEpoch]+
		s.Server.Stats.MovesDropped[components.DropUnknownCharacter], "the old owners' last moves were refused")
}

// Promise 11: two players on one connection.
func TestTwoCharactersOnOneConnection(t *testing.T) {
	t.Parallel()
	o := on(flat(t), nettest.Options{Clients: 2, Onlookers: 1, Seed: 93, Link: rtt(100*ms, 20*ms, 5)})
	o.Server.Join = func(s *nettest.ServerNode, p components.PlayerID) []components.CharacterSpec {
		if p&nettest.Onlooker != 0 {
			return nil
		}
		return []components.CharacterSpec{s.Spawn(), s.Spawn()}
	}
	s := session(t, o)
	s.Advance(second / 2)
	eachFrame(s, func(i int) {
		c := s.Clients[i]
		for k := range c.Net.Owned() {
			e, _, _ := c.Own(k)
			press(nettest.Component[components.Input](c.App.World(), e), keys{forward: 1, yaw: 90*float64(k) + 20*s.Now.Seconds(), jump: int(s.Now/second)%3 == k})
		}
	})
	s.Advance(span(minute, 5*second))
	require.Zero(t, s.Corrections(), correctionsBy(s))
	for i := range 2 {
		c := s.Clients[i]
		require.Len(t, c.Net.Owned(), 2)
		a, b := stateOf(c, c.Net.Owned()[0]), stateOf(c, c.Net.Owned()[1])
		require.Greater(t, exact.Dist(a.Location, b.Location), 500.0, "they went their own ways")
		require.Positive(t, c.Stats.Acks)
	}
	n := 0
	s.Server.Net.Characters(func(components.NetID, components.PlayerID, *components.MovementState) { n++ })
	require.Equal(t, 4, n)
	s.OnClientFrame = nil
	for i := range 2 {
		for k := range 2 {
			e, _, _ := s.Clients[i].Own(k)
			press(nettest.Component[components.Input](s.Clients[i].App.World(), e), keys{})
		}
	}
	s.Advance(2 * second)
	agree(t, s, "two on one connection", 1e-9)
}

// health is a component of a user's own, counted down by a system of theirs.
type health struct{ Left int32 }

type ageing struct {
	id   arche.ID
	who  arche.Filter
	seen *int
}

func (s *ageing) Initialize(w *arche.World) {
	s.id = arche.ComponentID[health](w)
	m := arche.All(s.id)
	s.who = &m
}

func (s *ageing) Update(w *arche.World) {
	q := w.Query(s.who)
	for q.Next() {
		(*health)(q.Get(s.id)).Left--
		*s.seen++
	}
}

func (s *ageing) Finalize(*arche.World) {}

// counter is a user's listener.
type counter struct{ made, removed int }

func (c *counter) Notify(_ *arche.World, e arche.EntityEvent) {
	if e.Contains(event.EntityCreated) {
		c.made++
	}
	if e.Contains(event.EntityRemoved) {
		c.removed++
	}
}
func (c *counter) Subscriptions() event.Subscription {
	return event.EntityCreated | event.EntityRemoved
}
func (c *counter) Components() *arche.Mask { return nil }

// Promise 11: a user's world, with entities, components, systems, a listener
// and a name for IDs of its own, adopted on both sides.
func TestAdoptedWorldsOnBothSides(t *testing.T) {
	t.Parallel()
	var worlds [2]arche.World
	var listeners [2]counter
	var aged [2]int
	own := func(i int) *arche.World {
		worlds[i] = arche.NewWorld()
		w := &worlds[i]
		id := arche.ComponentID[health](w)
		for range 5 {
			e := w.NewEntity(id)
			(*health)(w.Get(e, id)).Left = 1 << 20
		}
		w.SetListener(&listeners[i])
		return w
	}
	o := nettest.Options{Clients: 1, Seed: 94, Link: rtt(100*ms, 10*ms, 2)}
	o.Server.World, o.Client.World = own(0), own(1)
	o.Server.Extend = func(app *ecs.App) { app.AddTo(ecs.Simulate, ecs.AllRoles, &ageing{seen: &aged[0]}) }
	o.Client.Extend = func(app *ecs.App) { app.AddTo(ecs.Simulate, ecs.AllRoles, &ageing{seen: &aged[1]}) }
	o.Client.Input = humans(t)[0]
	s, err := nettest.NewSession(o)
	require.NoError(t, err)
	require.NoError(t, s.Connect(5*second))
	s.Advance(10 * second)
	require.Zero(t, s.Corrections(), correctionsBy(s))
	settled(t, s, "in adopted worlds")
	for i, who := range []string{"server", "client"} {
		require.Positive(t, aged[i], "%s: the user's system ran", who)
		require.Positive(t, listeners[i].made, "%s: the user's listener heard of the characters", who)
	}
	id := owned(t, s, 0)
	e, _ := s.Clients[0].Net.Entity(id)
	require.True(t, worlds[1].Alive(e))

	// A second session over the same worlds, as after a return to the menu.
	require.NoError(t, s.Restart(0))
	require.False(t, ecs.Alive(&worlds[1], e) && worlds[1].Has(e, arche.ComponentID[components.Character](&worlds[1])), "nothing of the first is left")
	require.Zero(t, ecs.Need[components.MoveQueues](&worlds[1]).Len())
	require.NoError(t, s.Connect(5*second))
	s.Advance(3 * second)
	require.Zero(t, s.Corrections(), correctionsBy(s))
	settled(t, s, "in the second session")
	s.Close()
	require.Equal(t, 5, entitiesWith[health](&worlds[1]), "the user's entities outlive the app")
	require.Zero(t, entitiesWith[components.Character](&worlds[1]), "the network's do not")
	require.Zero(t, listeners[1].made-listeners[1].removed-entitiesWith[components.Obstacle](&worlds[1]))
}

func entitiesWith[T any](w *arche.World) int {
	q := w.Query(arche.All(arche.ComponentID[T](w)))
	n := q.Count()
	q.Close()
	return n
}

// Promise 11: a session that is recorded at its connections is played again,
// each end by itself, with the same packets and the same state at every tick.
func TestRecordedSessionPlaysAgain(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	rec := transport.NewRecorder(&file)
	in := humans(t)[0]
	o := nettest.Options{Clients: 2, Onlookers: 1, Seed: 95, Link: rtt(100*ms, 20*ms, 5)}
	o.Client.Input = in
	o.WrapServer = func(c transport.Conn) transport.Conn { return rec.Conn(0, c) }
	o.Wrap = func(i int, c transport.Conn) transport.Conn { return rec.Conn(uint16(i+1), c) }
	s := session(t, o)
	s.Advance(span(minute, 8*second))
	want := s.Server.Chain
	last := map[int]components.MovementState{}
	for i := range 2 {
		last[i] = *stateOf(s.Clients[i], owned(t, s, i))
	}
	require.NoError(t, rec.Close())

	r, err := transport.OpenRecording(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	for stream := range 4 {
		t.Run(fmt.Sprintf("stream %d", stream), func(t *testing.T) {
			p, err := r.Playback(uint16(stream))
			require.NoError(t, err)
			var frame func(components.Ticks)
			var end func()
			if stream == 0 {
				so := o.Server
				so.Session.Secret = nettest.ServerSecret(o.Seed)
				n, err := nettest.NewServerNode(p, so)
				require.NoError(t, err)
				frame, end = n.Frame, func() {
					require.Equal(t, want.Ticks(), n.Chain.Ticks())
					require.Equal(t, want.String(), n.Chain.String())
				}
			} else {
				co := o.Client
				i := stream - 1
				co.Player = s.Clients[i].Player
				co.Session.Secret = nettest.ClientSecret(o.Seed, i)
				co.InputStart = components.Ticks(i) * 7 * second
				if i == 2 {
					co.Input = nil
				}
				n, err := nettest.NewClientNode(p, nettest.ServerAddr, co)
				require.NoError(t, err)
				frame, end = n.Frame, func() {
					if i < 2 {
						_, id, ok := n.Own(0)
						require.True(t, ok)
						require.Equal(t, last[i], *stateOf(n, id))
					}
				}
			}
			for now, ok := p.NextFrame(); ok; now, ok = p.NextFrame() {
				frame(now)
			}
			first, n := p.Diverged()
			require.NoError(t, first)
			require.Zero(t, n)
			received, sent := p.Unfinished()
			require.Zero(t, received+sent)
			end()
		})
	}
}
