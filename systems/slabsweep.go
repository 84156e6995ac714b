package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/ecs/event"
)

// SlabSweep gives back the slots of entities that are gone: a world reset fires
// no listener event, and a user may have replaced ours. It looks every
// sweepInterval frames; SlotListener gives slots back at once.
type SlabSweep struct {
	world  *arche.World
	clock  *ecs.Clock
	stats  *components.Stats
	slots  slots
	frames uint64
}

const sweepInterval = 64

func (s *SlabSweep) Phase() ecs.Phase { return ecs.Send }
func (s *SlabSweep) Roles() ecs.Roles { return ecs.AllRoles }

// Initialize looks up the slabs.
func (s *SlabSweep) Initialize(w *arche.World) {
	s.world = w
	s.clock = ecs.Need[ecs.Clock](w)
	s.stats = ecs.Provide(w, func() *components.Stats { return new(components.Stats) })
	s.slots.initialize(w)
}

// Update sweeps from time to time.
func (s *SlabSweep) Update(*arche.World) {
	if s.frames++; s.frames%sweepInterval == 0 {
		s.Sweep()
	}
}

// Sweep frees every slot that no living entity holds, now.
func (s *SlabSweep) Sweep() {
	n := 0
	n += s.slots.queues.Sweep(s.slots.keepsQueue)
	n += s.slots.received.Sweep(s.slots.keepsReceived)
	n += s.slots.poses.Sweep(s.slots.keepsPoses)
	n += s.slots.buffers.Sweep(s.slots.keepsBuffer)
	s.stats.LostSlots += uint64(n)
}

func (s *SlabSweep) Finalize(*arche.World) {}

// slots knows every slab and which component holds its handles. The keeps
// functions are made once: a method value made per call would allocate.
type slots struct {
	world         *arche.World
	pred, srv, ms arche.ID
	queues        *components.MoveQueues
	received      *components.ReceivedQueues
	poses         *components.PoseRings
	buffers       *components.SnapshotBuffers
	keepsQueue    func(arche.Entity, components.Handle) bool
	keepsReceived func(arche.Entity, components.Handle) bool
	keepsPoses    func(arche.Entity, components.Handle) bool
	keepsBuffer   func(arche.Entity, components.Handle) bool
}

func (s *slots) initialize(w *arche.World) {
	s.world = w
	s.pred = ecs.RegisterComponent[components.ClientPrediction](w)
	s.srv = ecs.RegisterComponent[components.ServerPrediction](w)
	s.ms = ecs.RegisterComponent[components.MeshSmoothing](w)
	s.queues = ecs.Provide(w, func() *components.MoveQueues { return new(components.MoveQueues) })
	s.received = ecs.Provide(w, func() *components.ReceivedQueues { return new(components.ReceivedQueues) })
	s.poses = ecs.Provide(w, func() *components.PoseRings { return new(components.PoseRings) })
	s.buffers = ecs.Provide(w, func() *components.SnapshotBuffers { return new(components.SnapshotBuffers) })
	s.keepsQueue = func(e arche.Entity, h components.Handle) bool {
		c := held[components.ClientPrediction](w, e, s.pred)
		return c != nil && c.Queue == h
	}
	s.keepsReceived = func(e arche.Entity, h components.Handle) bool {
		c := held[components.ServerPrediction](w, e, s.srv)
		return c != nil && c.Received == h
	}
	s.keepsPoses = func(e arche.Entity, h components.Handle) bool {
		c := held[components.ServerPrediction](w, e, s.srv)
		return c != nil && c.Poses == h
	}
	s.keepsBuffer = func(e arche.Entity, h components.Handle) bool {
		c := held[components.MeshSmoothing](w, e, s.ms)
		return c != nil && c.Buffer == h
	}
}

// held is an entity's component, nil where either is gone.
func held[T any](w *arche.World, e arche.Entity, id arche.ID) *T {
	if e.IsZero() || !ecs.Alive(w, e) || !w.Has(e, id) {
		return nil
	}
	return (*T)(w.Get(e, id))
}

// SlotListener gives an entity's slots back the moment it is removed or loses
// the component that holds them. Offer it to arche's listener.NewDispatch
// beside your own listeners, or set it alone; without it SlabSweep finds the
// slots a second later.
type SlotListener struct{ slots slots }

// NewSlotListener makes one for a world.
func NewSlotListener(w *arche.World) *SlotListener {
	l := new(SlotListener)
	l.slots.initialize(w)
	return l
}

// Notify frees what the entity held. A removed component can no longer be read
// when the event comes, so its slab is swept for it: such removals are rare.
func (l *SlotListener) Notify(w *arche.World, e arche.EntityEvent) {
	s := &l.slots
	if !e.Contains(event.EntityRemoved) {
		if e.Removed.Get(s.pred) {
			s.queues.Sweep(s.keepsQueue)
		}
		if e.Removed.Get(s.srv) {
			s.received.Sweep(s.keepsReceived)
			s.poses.Sweep(s.keepsPoses)
		}
		if e.Removed.Get(s.ms) {
			s.buffers.Sweep(s.keepsBuffer)
		}
		return
	}
	s.free(e.Entity)
}

// free gives back every slot that a living entity holds.
func (s *slots) free(e arche.Entity) {
	if c := held[components.ClientPrediction](s.world, e, s.pred); c != nil {
		s.queues.Free(c.Queue)
	}
	if c := held[components.ServerPrediction](s.world, e, s.srv); c != nil {
		s.received.Free(c.Received)
		s.poses.Free(c.Poses)
	}
	if c := held[components.MeshSmoothing](s.world, e, s.ms); c != nil {
		s.buffers.Free(c.Buffer)
	}
}

// Subscriptions are removals of entities and of components.
func (l *SlotListener) Subscriptions() event.Subscription {
	return event.EntityRemoved | event.ComponentRemoved
}

// Components are all: an entity is removed with whatever it has.
func (l *SlotListener) Components() *arche.Mask { return nil }
