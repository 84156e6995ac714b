package systems

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/collision"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

// onlookerRig is one onlooker's world on virtual time: a path that the server
// gathers snapshots of, a seeded link, a client that draws.
type onlookerRig struct {
	t     testing.TB
	app   *ecs.App
	spawn *Spawner
	set   *components.Settings
	stats *components.Stats
	net   *components.NetClock
	geo   *collision.World
	e     arche.Entity

	path func(at components.Ticks) components.ReplicatedMovement
	// interval of the snapshots; delay, jitter and loss (0..1) of the link.
	interval, delay, jitter components.Ticks
	loss                    float64
	silent                  bool // nothing is sent
	rng                     *rand.Rand

	now    components.Ticks // the server's; the client's own clock differs
	shift  components.Ticks
	next   components.Ticks
	queue  []rigArrival
	drawn  []rigFrame
	before func(r *onlookerRig) // each frame, before it runs
}

type rigArrival struct {
	at  components.Ticks
	rep components.ReplicatedMovement
}

// rigFrame is what one frame showed.
type rigFrame struct {
	at, dt        components.Ticks
	mesh, capsule components.Vec3
	yaw           float64
}

// rigReceive stands for netsync's receiving system.
type rigReceive struct{ r *onlookerRig }

func (s rigReceive) Name() string            { return "ClientReceive" }
func (s rigReceive) Phase() ecs.Phase        { return ecs.Receive }
func (s rigReceive) Roles() ecs.Roles        { return ecs.AllRoles }
func (s rigReceive) Initialize(*arche.World) {}
func (s rigReceive) Finalize(*arche.World)   {}
func (s rigReceive) Update(w *arche.World)   { s.r.receive() }
func rigTicks(s float64) components.Ticks    { return components.TicksFromSeconds(s) }
func rigVec(x, y, z float64) components.Vec3 { return components.Vec3{x, y, z} }
func rigStanding(z float64) float64          { return z + 88 + 2.15 }
func rigFlat(t testing.TB) *collision.World {
	return rigWorld(t, collision.NewBuilder().Floor(0, 1e6))
}

func rigWorld(t testing.TB, b *collision.Builder) *collision.World {
	l, err := b.Build()
	require.NoError(t, err)
	w := collision.NewWorld()
	require.NoError(t, w.AddLevel(0, l))
	return w
}

// newOnlooker makes a rig of one proxy. start is the server's time at the first
// frame; tune, if given, may change settings before anything looks at them.
func newOnlooker(t testing.TB, geo *collision.World, mode components.SmoothingMode, start components.Ticks, path func(components.Ticks) components.ReplicatedMovement, tune func(*components.Settings), opts ...ecs.Option) *onlookerRig {
	r := &onlookerRig{
		t: t, geo: geo, path: path, interval: components.Second / 10, delay: components.Second / 20,
		rng: rand.New(rand.NewPCG(7, 11)), now: start, next: start, shift: 12345,
	}
	set := components.DefaultSettings()
	set.Smoothing, set.NetUpdateFrequency = mode, 10
	if tune != nil {
		tune(&set)
	}
	r.set = &set
	r.app = ecs.New(ecs.Client, opts...)
	w := r.app.World()
	arche.AddResource(w, &set)
	arche.AddResource(w, &Geometry{geo})
	table := DefaultProfiles()
	arche.AddResource(w, table)
	r.net = &components.NetClock{SendScale: 1, Synced: true, ServerNow: start}
	arche.AddResource(w, r.net)
	r.app.Add(rigReceive{r}, new(SmoothCorrection), new(Bases), new(VisualBegin), new(SimulatedTick),
		new(VisualEnd), new(ObstaclePoses), new(MeshSmooth))
	r.app.Initialize()
	r.stats = ecs.Need[components.Stats](w)
	r.spawn = NewSpawner(w)
	first := path(start)
	spec := SpecAt(1, table, components.ProfileRef{Revision: 1}, first.Location, first.Rotation.Yaw)
	spec.State.Mode = first.Mode
	r.e = r.spawn.Proxy(spec)
	t.Cleanup(r.app.Finalize)
	r.app.Frame(r.now - r.shift)
	return r
}

func (r *onlookerRig) state() *components.MovementState {
	return (*components.MovementState)(r.app.World().Get(r.e, r.spawn.state))
}
func (r *onlookerRig) mesh() *components.MeshSmoothing {
	return (*components.MeshSmoothing)(r.app.World().Get(r.e, r.spawn.mesh))
}
func (r *onlookerRig) transform() *components.MeshTransform {
	return (*components.MeshTransform)(r.app.World().Get(r.e, r.spawn.transform))
}
func (r *onlookerRig) update() *components.NetUpdate {
	return (*components.NetUpdate)(r.app.World().Get(r.e, r.spawn.update))
}
func (r *onlookerRig) rep() *components.ReplicatedMovement {
	return (*components.ReplicatedMovement)(r.app.World().Get(r.e, r.spawn.rep))
}

// deliver is what netsync does with one snapshot.
func (r *onlookerRig) deliver(rep components.ReplicatedMovement) {
	*r.rep() = rep
	r.update().Received = true
}

func (r *onlookerRig) receive() {
	r.net.ServerNow = r.now
	for len(r.queue) > 0 && r.queue[0].at <= r.now {
		r.deliver(r.queue[0].rep)
		r.queue = r.queue[1:]
	}
}

// gather sends the snapshots that are due.
func (r *onlookerRig) gather() {
	for ; r.next <= r.now; r.next += r.interval {
		rep := r.path(r.next)
		rep.ServerTime, rep.TransformTime = r.next, r.next
		lost := r.rng.Float64() < r.loss
		at := r.next + r.delay
		if r.jitter > 0 {
			at += components.Ticks(r.rng.Int64N(int64(r.jitter)))
		}
		if n := len(r.queue); n > 0 {
			at = max(at, r.queue[n-1].at)
		}
		if !lost && !r.silent {
			r.queue = append(r.queue, rigArrival{at, rep})
		}
	}
}

// frame runs one frame of a length and keeps what it showed.
func (r *onlookerRig) frame(dt components.Ticks) *rigFrame {
	r.now += dt
	r.gather()
	if r.before != nil {
		r.before(r)
	}
	r.app.Frame(r.now - r.shift)
	tr := r.transform()
	require.True(r.t, exact.Finite(tr.Location))
	r.drawn = append(r.drawn, rigFrame{at: r.now, dt: dt, mesh: tr.Location, capsule: r.state().Location, yaw: tr.Rotation.Yaw})
	return &r.drawn[len(r.drawn)-1]
}

// run draws at a rate for a span of seconds; the frames' lengths sum exactly.
func (r *onlookerRig) run(fps, seconds float64) {
	n := int(math.Round(fps * seconds))
	begin := r.now
	for i := range n {
		r.frame(begin + components.Ticks(math.Round(float64(i+1)/fps*components.TicksPerSecond)) - r.now)
	}
}

// forget drops the frames drawn so far.
func (r *onlookerRig) forget() { r.drawn = r.drawn[:0] }

// walker is a snapshot of someone on the flat floor.
func rigWalker(x, v float64) components.ReplicatedMovement {
	return components.ReplicatedMovement{
		Location: rigVec(x, 0, rigStanding(0)), Velocity: rigVec(v, 0, 0), GravityDir: rigVec(0, 0, -1), Mode: components.ModeWalking,
	}
}

// steadyRun runs along x at a speed from a time on.
func rigSteady(start components.Ticks, speed float64) func(components.Ticks) components.ReplicatedMovement {
	return func(at components.Ticks) components.ReplicatedMovement {
		return rigWalker(speed*(at-start).Seconds(), speed)
	}
}

// squareWave runs half a second and stands half a second.
func rigSquare(start components.Ticks, speed float64) func(components.Ticks) components.ReplicatedMovement {
	return func(at components.Ticks) components.ReplicatedMovement {
		t := at - start
		whole, part := t/components.Second, t%components.Second
		x := float64(whole)*speed/2 + speed*min(part, components.Second/2).Seconds()
		if part < components.Second/2 {
			return rigWalker(x, speed)
		}
		return rigWalker(x, 0)
	}
}

var rigModes = []components.SmoothingMode{components.SmoothExponential, components.SmoothLinear, components.SmoothDisabled, components.SmoothBuffered}
