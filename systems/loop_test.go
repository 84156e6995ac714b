package systems_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

const (
	sec    = components.Second
	heroID = components.NetID(300)
)

// loop is a server, the owner's client and one onlooker's client in one
// process on virtual time, with a wire in memory between them that does what a
// network would: it copies what the systems left to where the other side's
// systems look for it, some time later, or loses it.
type loop struct {
	t        testing.TB
	cfg      loopConfig
	set      *components.Settings
	server   *ecs.App
	client   *ecs.App
	onlooker *ecs.App // nil unless cfg.onlooker
	verify   *systems.ServerVerify
	srvTable *components.ProfileTable
	cliTable *components.ProfileTable
	srvSpawn *systems.Spawner
	cliSpawn *systems.Spawner
	srv, own arche.Entity
	proxy    arche.Entity

	now, nextServer, nextClient components.Ticks
	up                          ring[upPacket]
	down                        ring[downPacket]
	snaps                       ring[components.ReplicatedMovement]
	sent, answered              int
	queueMax                    int

	srvStats, cliStats *components.Stats
	srvNet, cliNet     *components.NetClock
	queues             *components.MoveQueues
	received           *components.ReceivedQueues
	ids                loopIDs

	// ends are the hashes of the owner's saved ends by stamp, of moves sent.
	ends     map[components.Stamp]uint64
	verdicts int
	compared int // verdicts whose bits were compared
	ridden   int // of those on a moving base
	differ   []string
	maxError float64
	scratch  components.MoveData
}

type loopIDs struct{ state, pred, srvPred, rep, possession arche.ID }

type loopConfig struct {
	level    *collision.Level
	serverHz int64
	// frame is the client's frame length at frame n.
	frame func(n int) components.Ticks
	// fixedHz steps the client at a fixed tick; 0 is variable.
	fixedHz int64
	// delay one way; dropUp and dropDown lose the n-th packet; late adds to the
	// delay of the n-th packet up.
	delay            components.Ticks
	dropUp, dropDown func(n int) bool
	late             func(n int) components.Ticks
	start            components.Ticks
	startStamp       components.Stamp
	settings         func(*components.Settings)
	profile          func(*components.MovementProfile)
	at               components.Vec3
	yaw              float64
	input            func(in *components.Input, now, dt components.Ticks)
	// tamper may change a move's data on its way up.
	tamper   func(l *loop, m *components.MoveData)
	debug    *components.Debug
	check    bool // compare the bits at every verdict
	onlooker bool
	before   func(l *loop) // before each server frame
	// client adds to the owner's world before its systems look at it.
	client func(w *arche.World)
}

// fps is a constant frame rate whose frames sum exactly.
func fps(rate int64) func(int) components.Ticks {
	return func(n int) components.Ticks {
		at := func(i int64) components.Ticks { return components.Ticks(i * components.TicksPerSecond / rate) }
		return at(int64(n)+1) - at(int64(n))
	}
}

const maxCarried = 48

type upPacket struct {
	at    components.Ticks
	epoch uint16
	n     int
	moves [maxCarried]components.MoveData
}

type downPacket struct {
	at components.Ticks
	r  components.MoveResponse
}

// ring is a queue that uses its room again.
type ring[T any] struct {
	items   []T
	head, n int
}

func (r *ring[T]) push() *T {
	if r.n == len(r.items) {
		grown := make([]T, max(16, 2*len(r.items)))
		for i := range r.n {
			grown[i] = *r.at(i)
		}
		r.items, r.head = grown, 0
	}
	r.n++
	return r.at(r.n - 1)
}

func (r *ring[T]) at(i int) *T { return &r.items[(r.head+i)%len(r.items)] }

func (r *ring[T]) pop() {
	r.head = (r.head + 1) % len(r.items)
	r.n--
}

// remove takes out one in the middle: packets may overtake each other.
func (r *ring[T]) remove(i int) {
	for ; i > 0; i-- {
		*r.at(i) = *r.at(i - 1)
	}
	r.pop()
}

// wireEnd stands for netsync's systems.
type wireEnd struct {
	name  string
	phase ecs.Phase
	run   func()
}

func (s *wireEnd) Name() string            { return s.name }
func (s *wireEnd) Phase() ecs.Phase        { return s.phase }
func (s *wireEnd) Roles() ecs.Roles        { return ecs.AllRoles }
func (s *wireEnd) Initialize(*arche.World) {}
func (s *wireEnd) Finalize(*arche.World)   {}
func (s *wireEnd) Update(*arche.World)     { s.run() }

func flatLevel(t testing.TB) *collision.Level {
	l, err := collision.NewBuilder().Floor(0, 1e6).Build()
	require.NoError(t, err)
	return l
}

func worldFor(t testing.TB, l *collision.Level) *collision.World {
	w := collision.NewWorld()
	require.NoError(t, w.AddLevel(0, l))
	return w
}

func get[T any](w *arche.World, e arche.Entity) *T { return (*T)(w.Get(e, arche.ComponentID[T](w))) }

func tableOf(t testing.TB, tune func(*components.MovementProfile)) *components.ProfileTable {
	p := components.DefaultProfile()
	if tune != nil {
		tune(&p)
	}
	table := new(components.ProfileTable)
	_, err := table.Add("hero", p)
	require.NoError(t, err)
	return table
}

var heroRef = components.ProfileRef{ID: 0, Revision: 1}

// newLoop makes the worlds and puts the character in.
func newLoop(t testing.TB, cfg loopConfig) *loop {
	if cfg.level == nil {
		cfg.level = flatLevel(t)
	}
	if cfg.serverHz == 0 {
		cfg.serverHz = 30
	}
	if cfg.frame == nil {
		cfg.frame = fps(60)
	}
	if cfg.at == (components.Vec3{}) {
		cfg.at = components.Vec3{0, 0, 90.15}
	}
	l := &loop{t: t, cfg: cfg, now: cfg.start, nextServer: cfg.start, nextClient: cfg.start, ends: map[components.Stamp]uint64{}}
	set := components.DefaultSettings()
	if cfg.settings != nil {
		cfg.settings(&set)
	}
	l.set = &set
	l.srvTable, l.cliTable = tableOf(t, cfg.profile), tableOf(t, cfg.profile)

	l.server = ecs.New(ecs.Server, ecs.Fixed(ecs.Hz(cfg.serverHz)), ecs.Catch(ecs.KeepTime))
	l.srvNet = &components.NetClock{Authority: true, SendScale: 1}
	arche.AddResource(l.server.World(), l.srvNet)
	m := &systems.Movement{Geometry: worldFor(t, cfg.level), Profiles: l.srvTable, Settings: &set, Debug: cfg.debug}
	l.server.Use(m)
	l.verify = m.Verify
	l.verify.Observer = l
	l.server.Add(&wireEnd{"ServerReceive", ecs.Receive, l.serverReceive}, &wireEnd{"ServerSend", ecs.Send, l.serverSend})
	l.server.Initialize()

	var opts []ecs.Option
	if cfg.fixedHz > 0 {
		opts = append(opts, ecs.Fixed(ecs.Hz(cfg.fixedHz)))
	}
	l.client = ecs.New(ecs.Client, opts...)
	l.cliNet = &components.NetClock{Synced: true, ServerNow: cfg.start, SendScale: 1}
	arche.AddResource(l.client.World(), l.cliNet)
	if cfg.client != nil {
		cfg.client(l.client.World())
	}
	cm := &systems.Movement{Geometry: worldFor(t, cfg.level), Profiles: l.cliTable, Settings: &set, Debug: cfg.debug}
	l.client.Use(cm)
	l.client.Add(&wireEnd{"ClientReceive", ecs.Receive, l.clientReceive}, &wireEnd{"ClientSend", ecs.Send, l.clientSend})
	l.client.Initialize()

	l.srvStats, l.cliStats = ecs.Need[components.Stats](l.server.World()), ecs.Need[components.Stats](l.client.World())
	l.received = ecs.Need[components.ReceivedQueues](l.server.World())
	l.queues = ecs.Need[components.MoveQueues](l.client.World())
	l.srvSpawn, l.cliSpawn = systems.NewSpawner(l.server.World()), systems.NewSpawner(l.client.World())

	spec := systems.SpecAt(heroID, l.srvTable, heroRef, cfg.at, cfg.yaw)
	spec.Possession = components.Possession{Player: 1, Epoch: 1, Acked: true}
	l.srv, l.own = l.srvSpawn.Remote(spec, false), l.cliSpawn.Owner(spec)
	if cfg.startStamp != 0 {
		l.pred().CurrentTimeStamp = cfg.startStamp
	}
	cw, sw := l.client.World(), l.server.World()
	l.ids = loopIDs{
		state: arche.ComponentID[components.MovementState](cw), pred: arche.ComponentID[components.ClientPrediction](cw),
		srvPred: arche.ComponentID[components.ServerPrediction](sw), rep: arche.ComponentID[components.ReplicatedMovement](sw),
		possession: arche.ComponentID[components.Possession](sw),
	}
	if cfg.onlooker {
		l.addOnlooker(spec)
	}
	t.Cleanup(func() {
		l.server.Finalize()
		l.client.Finalize()
		if l.onlooker != nil {
			l.onlooker.Finalize()
		}
	})
	return l
}

func (l *loop) addOnlooker(spec components.CharacterSpec) {
	l.onlooker = ecs.New(ecs.Client)
	w := l.onlooker.World()
	arche.AddResource(w, &components.NetClock{Synced: true, ServerNow: l.now, SendScale: 1})
	l.onlooker.Use(&systems.Movement{Geometry: worldFor(l.t, l.cfg.level), Profiles: tableOf(l.t, l.cfg.profile), Settings: l.set})
	l.onlooker.Add(&wireEnd{"ClientReceive", ecs.Receive, l.proxyReceive})
	l.onlooker.Initialize()
	l.proxy = systems.NewSpawner(w).Proxy(spec)
}

func (l *loop) state() *components.MovementState {
	return get[components.MovementState](l.server.World(), l.srv)
}
func (l *loop) owner() *components.MovementState {
	return get[components.MovementState](l.client.World(), l.own)
}
func (l *loop) input() *components.Input { return get[components.Input](l.client.World(), l.own) }
func (l *loop) pred() *components.ClientPrediction {
	return get[components.ClientPrediction](l.client.World(), l.own)
}
func (l *loop) srvPred() *components.ServerPrediction {
	return get[components.ServerPrediction](l.server.World(), l.srv)
}
func (l *loop) queue() *components.MoveQueue { return l.queues.Get(l.pred().Queue) }
func (l *loop) inbox() *components.ReceivedMoves {
	if !l.server.World().Has(l.srv, l.ids.srvPred) {
		return nil // the server moves it itself
	}
	return l.received.Get((*components.ServerPrediction)(l.server.World().Get(l.srv, l.ids.srvPred)).Received)
}

// Verdict sees every claim that the server compares.
func (l *loop) Verdict(_ components.NetID, stamp components.Stamp, server *components.MovementState, claim components.Vec3) {
	l.verdicts++
	l.maxError = max(l.maxError, exact.Dist(server.Location, claim))
	if !l.cfg.check {
		return
	}
	want, ok := l.ends[stamp]
	if ok {
		l.compared++
		if server.Base != 0 {
			l.ridden++
		}
	}
	if ok && movement.HashState(0, server) != want && len(l.differ) < 5 {
		l.differ = append(l.differ, fmt.Sprintf("stamp %d at %v: server %+v", stamp, l.now, *server))
	}
}

func (l *loop) serverReceive() {
	q := l.inbox()
	epoch := (*components.Possession)(l.server.World().Get(l.srv, l.ids.possession)).Epoch
	for i := 0; i < l.up.n; {
		p := l.up.at(i)
		if p.at > l.now {
			i++
			continue
		}
		for k := range p.n {
			if p.epoch != epoch || q == nil {
				l.srvStats.MovesDropped[components.DropEpoch]++
				continue
			}
			if q.N == components.MaxReceivedMoves {
				l.srvStats.MovesDropped[components.DropQueueFull]++
				continue
			}
			q.Moves[q.N] = p.moves[k]
			q.N++
		}
		l.up.remove(i)
	}
}

func (l *loop) serverSend() {
	w := l.server.World()
	if w.Has(l.srv, l.ids.srvPred) {
		a := &(*components.ServerPrediction)(w.Get(l.srv, l.ids.srvPred)).Pending
		if a.Send {
			l.answered++
			if l.cfg.dropDown == nil || !l.cfg.dropDown(l.answered) {
				d := l.down.push()
				d.at = l.now + l.cfg.delay
				d.r = components.MoveResponse{State: a.State, Stamp: a.Stamp, AckGood: a.AckGood, Reason: a.Reason,
					Epoch: (*components.Possession)(w.Get(l.srv, l.ids.possession)).Epoch}
			}
			a.Valid, a.Send = false, false
		}
	}
	if rep := (*components.ReplicatedMovement)(w.Get(l.srv, l.ids.rep)); l.onlooker != nil && rep.ServerTime == l.server.Clock().Now {
		*l.snaps.push() = *rep
	}
}

func (l *loop) proxyReceive() {
	w := l.onlooker.World()
	ecs.Need[components.NetClock](w).ServerNow = l.now
	for l.snaps.n > 0 && l.snaps.at(0).ServerTime+l.cfg.delay <= l.now {
		*get[components.ReplicatedMovement](w, l.proxy) = *l.snaps.at(0)
		get[components.NetUpdate](w, l.proxy).Received = true
		l.snaps.pop()
	}
}

func (l *loop) clientReceive() {
	l.cliNet.ServerNow = l.now
	q := l.queue()
	for l.down.n > 0 && l.down.at(0).at <= l.now {
		if q.NumResponses < components.MaxResponses {
			q.Responses[q.NumResponses] = l.down.at(0).r
			q.NumResponses++
		}
		l.down.pop()
	}
}

func round100(v components.Vec3) components.Vec3 {
	for i := range v {
		v[i] = math.Round(v[i]*100) / 100
	}
	return v
}

// clientSend is the container of the wire: with full redundancy every move up
// to the newest that fits, else old, pending and new.
func (l *loop) clientSend() {
	q := l.queue()
	l.queueMax = max(l.queueMax, q.Len())
	for i := range q.NumSends {
		l.container(q, q.Sends[i])
	}
	q.NumSends = 0
}

func (l *loop) container(q *components.MoveQueue, send components.MoveSend) {
	newest := q.Index(send.New)
	if newest < 0 {
		return
	}
	l.cliStats.ContainersSent++
	l.sent++
	p := l.up.push()
	p.at, p.n = l.now+l.cfg.delay, 0
	if l.cfg.late != nil {
		p.at += l.cfg.late(l.sent)
	}
	p.epoch = (*components.Possession)(l.client.World().Get(l.own, arche.ComponentID[components.Possession](l.client.World()))).Epoch
	if l.set.Redundancy == components.RedundancyFull {
		for i := max(0, newest-maxCarried+1); i < newest; i++ {
			l.add(p, q.At(i), components.MoveOld)
		}
	} else {
		if i := q.Index(send.Old); send.Old != 0 && i >= 0 {
			l.add(p, q.At(i), components.MoveOld)
		}
		if send.Dual && newest > 0 {
			l.add(p, q.At(newest-1), components.MovePending)
		}
	}
	l.add(p, q.At(newest), components.MoveNew)
	if l.cfg.dropUp != nil && l.cfg.dropUp(l.sent) {
		l.up.n--
	}
}

func (l *loop) add(p *upPacket, m *components.SavedMove, kind components.MoveKind) {
	m.Sent = true
	d := &l.scratch
	*d = components.MoveData{Cmd: m.Cmd, Kind: kind}
	if kind == components.MoveNew {
		d.ClaimMode, d.ClaimBase, d.Claim = m.End.Mode, m.End.Base, round100(m.End.Location)
		if m.End.Base != 0 {
			d.Claim = round100(m.End.BaseLocation)
		}
		if l.cfg.check {
			l.ends[m.Cmd.Stamp] = movement.HashState(0, &m.End)
		}
	}
	if l.cfg.tamper != nil {
		l.cfg.tamper(l, d)
	}
	p.moves[p.n] = *d
	p.n++
}

// clientFrame runs one frame of the owner, and of the onlooker with it.
func (l *loop) clientFrame(dt components.Ticks) {
	if l.cfg.input != nil {
		l.cfg.input(l.input(), l.now, dt)
	}
	l.client.Frame(l.now)
	if l.onlooker != nil {
		l.onlooker.Frame(l.now)
	}
}

func (l *loop) serverFrame() {
	if l.cfg.before != nil {
		l.cfg.before(l)
	}
	l.server.Frame(l.now)
}

// until runs both sides to a time: the client first where they coincide.
func (l *loop) until(end components.Ticks) {
	tick := components.TicksPerSecond / l.cfg.serverHz
	for {
		next := min(l.nextClient, l.nextServer)
		if next > end {
			l.now = max(l.now, end)
			return
		}
		l.now = next
		if l.nextClient == next {
			n := int(l.client.Clock().Frame)
			dt := components.Ticks(0)
			if n > 0 {
				dt = next - l.client.Clock().FrameNow
			}
			l.nextClient += l.cfg.frame(n)
			l.clientFrame(dt)
		}
		if l.nextServer == next {
			l.nextServer += components.Ticks(tick)
			l.serverFrame()
		}
	}
}

// run goes on for a span.
func (l *loop) run(d components.Ticks) { l.until(l.now + d) }

// agree asserts that both ends have the same bits once all is answered.
func (l *loop) agree() {
	l.t.Helper()
	require.Equal(l.t, movement.HashState(0, l.state()), movement.HashState(0, l.owner()),
		"server %+v\nowner %+v", *l.state(), *l.owner())
}

func secs(s float64) components.Ticks { return components.TicksFromSeconds(s) }
