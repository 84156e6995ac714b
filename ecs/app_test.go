package ecs

import (
	"testing"

	"github.com/gaitnet/gait/components"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

const step60 = components.TicksPerSecond / 60

var stepPhases = []string{"Bases", "Replay", "Input", "Simulate", "Gather"}

// record returns an initialized app whose systems log their phase's name.
func record(t *testing.T, role Roles, opts ...Option) (*App, *[]string) {
	log := new([]string)
	a := New(role, opts...)
	a.Add(onePerPhase(log)...)
	a.Initialize()
	t.Cleanup(a.Finalize)
	*log = nil
	return a, log
}

func frame(a *App, log *[]string, now components.Ticks) []string {
	*log = nil
	a.Frame(now)
	return *log
}

func around(steps int) []string {
	out := []string{"Receive"}
	for range steps {
		out = append(out, stepPhases...)
	}
	return append(out, "Visual", "Send")
}

func TestVariableFrameRunsEveryPhaseOnce(t *testing.T) {
	a, log := record(t, Client)
	require.Equal(t, around(0), frame(a, log, 0), "the first frame starts the clock")
	require.Equal(t, around(1), frame(a, log, 700))
	require.Equal(t, around(1), frame(a, log, 7000))
	require.Equal(t, around(0), frame(a, log, 7000), "no time, no step")
}

func TestFixedFrameRepeatsTheStepPhases(t *testing.T) {
	for _, role := range []Roles{Server, Client, ListenServer, Standalone} {
		a, log := record(t, role, Fixed(Hz(60)))
		require.Equal(t, around(0), frame(a, log, 0))
		require.Equal(t, around(3), frame(a, log, step60*3))
		require.Equal(t, around(0), frame(a, log, step60*3+1))
		require.Equal(t, around(1), frame(a, log, step60*4))
		require.Equal(t, around(DefaultMaxSteps), frame(a, log, step60*100))
	}
}

func TestPerStepPhasesAreThoseThatRepeat(t *testing.T) {
	var list []string
	for p := range Phase(PhaseCount) {
		if p.PerStep() {
			list = append(list, p.String())
		}
	}
	require.Equal(t, stepPhases, list)
}

func TestReplayWaitsForTheNextStep(t *testing.T) {
	a := New(Client, Fixed(Hz(60)))
	pending, replayedAt := false, uint64(0)
	a.AddTo(Receive, AllRoles, at(Receive, func(*arche.World) { pending = a.Clock().Frame == 2 || pending }))
	a.AddTo(Replay, AllRoles, at(Replay, func(*arche.World) {
		if pending {
			pending, replayedAt = false, a.Clock().Frame
		}
	}))
	a.Initialize()
	defer a.Finalize()
	a.Frame(0)
	a.Frame(10)
	require.True(t, pending)
	a.Frame(step60)
	require.Equal(t, uint64(3), replayedAt)
}

func TestSystemsReadTheClockOfTheirStep(t *testing.T) {
	a := New(Server, Fixed(Hz(60)))
	var now []components.Ticks
	a.AddTo(Simulate, AllRoles, at(Simulate, func(w *arche.World) {
		c := arche.GetResource[Clock](w)
		require.Equal(t, components.Ticks(step60), c.Dt)
		now = append(now, c.Now)
	}))
	a.Initialize()
	defer a.Finalize()
	a.Frame(500)
	a.Frame(500 + step60*2)
	require.Equal(t, []components.Ticks{500 + step60, 500 + step60*2}, now)
}

func TestRoleSelectsTheSchedule(t *testing.T) {
	list := []Placed{
		&stub{name: "s", phase: Simulate, roles: Server | ListenServer},
		&stub{name: "c", phase: Simulate, roles: Client},
		&stub{name: "all", phase: Simulate, roles: AllRoles},
	}
	for role, want := range map[Roles][]string{
		Server: {"s", "all"}, ListenServer: {"s", "all"}, Client: {"c", "all"}, Standalone: {"all"},
	} {
		require.Equal(t, want, names(New(role).Add(list...).Systems(Simulate)), role.String())
	}
}

func TestSystemsInitializeInOrderAndFinalizeInReverse(t *testing.T) {
	var log []string
	a := New(Client)
	a.Add(
		&stub{name: "c", phase: Send, roles: AllRoles, log: &log},
		&stub{name: "b", phase: Input, roles: AllRoles, log: &log, after: []string{"a"}},
		&stub{name: "a", phase: Input, roles: AllRoles, log: &log},
		&stub{name: "out", phase: Input, roles: Server, log: &log},
	)
	a.Initialize()
	a.Finalize()
	a.Finalize()
	require.Equal(t, []string{"init a", "init b", "init c", "final c", "final b", "final a"}, log)
}

func TestPluginBuildsIntoTheApp(t *testing.T) {
	a := New(Client)
	a.Use(PluginFunc(func(a *App) { a.Add(in(Input, "plugged", nil, nil)) }))
	require.Equal(t, []string{"plugged"}, names(a.Systems(Input)))
}

func TestAddToOverrulesASystemsOwnPlace(t *testing.T) {
	a := New(Client)
	a.AddTo(Send, Client, &stub{name: "moved", phase: Input, roles: Server})
	require.Equal(t, []string{"moved"}, names(a.Systems(Send)))
	require.Empty(t, a.Systems(Input))
}

func TestCommandsAreCarriedOutAtTheEndOfTheirPhase(t *testing.T) {
	a := New(Server)
	pos := RegisterComponent[position](a.World())
	e := a.World().NewEntity(pos)
	var sawInSamePhase, sawInNext bool
	a.Add(
		at(Input, func(w *arche.World) { a.Commands().Despawn(e) }),
		at(Input, func(w *arche.World) { sawInSamePhase = w.Alive(e) }),
		at(Simulate, func(w *arche.World) { sawInNext = w.Alive(e) }),
	)
	a.Initialize()
	defer a.Finalize()
	a.Frame(0)
	a.Frame(1)
	require.True(t, sawInSamePhase)
	require.False(t, sawInNext)
}

// queuer queues a spawn when it is initialized and when it is finalized.
type queuer struct{ unnamed }

func (queuer) Initialize(w *arche.World) { arche.GetResource[Commands](w).Spawn(nil, 0) }
func (queuer) Finalize(w *arche.World)   { arche.GetResource[Commands](w).Spawn(nil, 0) }

func TestCommandsOfInitializeAndFinalizeAreCarriedOut(t *testing.T) {
	a := New(Client)
	a.AddTo(Input, AllRoles, queuer{})
	a.Initialize()
	require.Equal(t, 1, count(a.World()))
	a.Finalize()
	require.Equal(t, 2, count(a.World()))
}

func TestQueryLeftOpenPanicsWithTheSystemsName(t *testing.T) {
	a := New(Server)
	pos := RegisterComponent[position](a.World())
	a.World().NewEntity(pos)
	a.Add(&stub{name: "Leaky", phase: Gather, roles: AllRoles, update: func(w *arche.World) {
		q := w.Query(arche.All(pos))
		for q.Next() {
			break
		}
	}})
	a.Initialize()
	a.Frame(0)
	require.PanicsWithValue(t,
		"ecs: Leaky (*ecs.stub, Gather) in Update left the world locked: a query was neither finished nor closed",
		func() { a.Frame(1) })
}

func TestQueryOpenOutsideOfTheAppIsToldApart(t *testing.T) {
	a, _ := record(t, Server)
	q := a.World().Query(arche.All())
	require.PanicsWithValue(t, "ecs.App: the world is locked at the start of a frame: a query is open outside of the App",
		func() { a.Frame(0) })
	q.Close()
	require.NotPanics(t, func() { a.Frame(0) })
}

func TestMustBeUnlockedNamesTheCulprit(t *testing.T) {
	w := arche.NewWorld()
	require.NotPanics(t, func() { MustBeUnlocked(&w, "x") })
	q := w.Query(arche.All())
	defer q.Close()
	require.PanicsWithValue(t, "ecs: x left the world locked: a query was neither finished nor closed",
		func() { MustBeUnlocked(&w, "x") })
}

func TestAdoptedWorldStaysItsUsers(t *testing.T) {
	w := arche.NewWorld()
	pos := RegisterComponent[position](&w)
	before := w.NewEntity(pos)
	*(*position)(w.Get(before, pos)) = position{1, 2, 3}
	type userResource struct{ N int }
	arche.AddResource(&w, &userResource{7})
	heard := 0
	w.SetListener(onCreate(func(*arche.World, arche.Entity) { heard++ }))

	a := Adopt(&w, Server)
	a.Add(onePerPhase(nil)...)
	a.Initialize()
	a.Frame(0)
	between := w.NewEntity(pos)
	a.Frame(1)
	require.Same(t, &w, a.World())
	require.Equal(t, 1, heard, "the listener is still there and heard only of the user's entity")
	a.Finalize()

	require.True(t, w.Alive(before) && w.Alive(between))
	require.Equal(t, position{1, 2, 3}, *(*position)(w.Get(before, pos)))
	require.Equal(t, 2, count(&w))
	require.Equal(t, 7, arche.GetResource[userResource](&w).N)
	require.False(t, w.Resources().Has(arche.ResourceID[Clock](&w)), "what the app added is gone")
	require.False(t, w.Resources().Has(arche.ResourceID[Commands](&w)))
	require.False(t, w.Resources().Has(arche.ResourceID[Pool](&w)))
}

func TestOneAppAtATimeDrivesAWorld(t *testing.T) {
	w := arche.NewWorld()
	a := Adopt(&w, Client)
	require.Panics(t, func() { Adopt(&w, Server) })
	a.Finalize()
	b := Adopt(&w, Server)
	b.Initialize()
	b.Frame(0)
	a.Finalize() // does not take b's resources
	require.Same(t, b.Clock(), arche.GetResource[Clock](&w))
	b.Finalize()
}

func TestAppSurvivesAResetOfItsWorld(t *testing.T) {
	a, log := record(t, Server)
	a.Frame(0)
	a.World().Reset()
	require.Equal(t, around(1), frame(a, log, 5))
	require.Same(t, a.Clock(), arche.GetResource[Clock](a.World()))
	require.Same(t, a.Commands(), arche.GetResource[Commands](a.World()))
}

func TestTwoWorldsInOneProcessDoNotMix(t *testing.T) {
	server, client := New(Server, Fixed(Hz(30))), New(Client)
	// Other IDs in each world for the same types.
	RegisterComponent[velocity](client.World())
	for _, a := range []*App{server, client} {
		a.AddTo(Simulate, AllRoles, &mover{})
		pos, vel := RegisterComponent[position](a.World()), RegisterComponent[velocity](a.World())
		e := a.World().NewEntity(pos, vel)
		(*velocity)(a.World().Get(e, vel)).X = 1
		a.Initialize()
		defer a.Finalize()
	}
	for now := components.Ticks(0); now <= components.Second; now += step60 {
		server.Frame(now)
		client.Frame(now)
	}
	require.Equal(t, uint64(30), server.Clock().Step)
	require.Equal(t, uint64(60), client.Clock().Step)
	for _, a := range []*App{server, client} {
		pos := arche.ComponentID[position](a.World())
		q := a.World().Query(arche.All(pos))
		require.True(t, q.Next())
		require.InDelta(t, 1, (*position)(q.Get(pos)).X, 1e-9)
		q.Close()
	}
}

func TestComponentWithAPointerStopsInitialize(t *testing.T) {
	a := New(Client)
	arche.ComponentID[inventory](a.World())
	require.PanicsWithValue(t, "ecs.App: "+CheckWorld(a.World()).Error(), a.Initialize)
	b := New(Client, AllowPointers())
	arche.ComponentID[inventory](b.World())
	require.NotPanics(t, b.Initialize)
}

func TestMisuseOfAnAppPanics(t *testing.T) {
	require.PanicsWithValue(t, "ecs.App: an app has one role, got Server|Client", func() { New(Server | Client) })
	require.Panics(t, func() { New(0) })
	a := New(Client)
	require.Panics(t, func() { a.Frame(0) }, "before Initialize")
	s := in(Input, "x", nil, nil)
	a.Add(s)
	require.PanicsWithValue(t, "ecs.App: *ecs.stub added twice", func() { a.Add(s) })
	require.Panics(t, func() { a.AddTo(Phase(9), Client, unnamed{}) })
	require.Panics(t, func() { a.AddTo(Input, 0, unnamed{}) })
	a.Initialize()
	require.PanicsWithValue(t, "ecs.App: ecs.unnamed added after Initialize", func() { a.AddTo(Input, Client, unnamed{}) })
	require.Panics(t, a.Initialize)
	a.Finalize()
	require.Panics(t, func() { a.Frame(0) }, "after Finalize")
	require.Panics(t, func() { Capacity(0) })
	require.Panics(t, func() { Workers(0) })
}

type countingProbe struct {
	open   string
	begins map[string]int
	ends   map[string]int
}

func (p *countingProbe) Begin(s *Scheduled) { p.open = s.Name; p.begins[s.Name]++ }
func (p *countingProbe) End(s *Scheduled) {
	if p.open == s.Name {
		p.ends[s.Name]++
	}
}

func TestProbeSeesEachSystemBeginAndEnd(t *testing.T) {
	a, _ := record(t, Client, Fixed(Hz(60)))
	p := &countingProbe{begins: map[string]int{}, ends: map[string]int{}}
	a.Watch(p)
	a.Frame(0)
	a.Frame(step60 * 2)
	require.Equal(t, p.begins, p.ends)
	require.Equal(t, 2, p.begins["Receive"])
	require.Equal(t, 2, p.begins["Simulate"])
	require.Len(t, p.begins, PhaseCount)
	a.Watch(nil)
	a.Frame(step60 * 3)
	require.Equal(t, 2, p.begins["Send"])
}

func TestSteadyFrameDoesNotAllocate(t *testing.T) {
	for _, opts := range [][]Option{nil, {Fixed(Hz(60)), Workers(2)}} {
		a := New(Server, opts...)
		pos, vel := RegisterComponent[position](a.World()), RegisterComponent[velocity](a.World())
		for range 100 {
			a.World().NewEntity(pos, vel)
		}
		e := a.World().NewEntity(pos)
		a.AddTo(Simulate, AllRoles, &mover{})
		a.Add(at(Gather, func(*arche.World) {
			a.Commands().Add(e, vel)
			a.Commands().Remove(e, vel)
		}))
		a.Initialize()
		now := components.Ticks(0)
		run := func() {
			now += 1500
			a.Frame(now)
		}
		for range 4 {
			run()
		}
		require.Zero(t, testing.AllocsPerRun(100, run))
		a.Finalize()
	}
}
