package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
)

// MovementEvent is something that a character did in a move that was
// simulated for the first time in this world: jumped, landed, changed its
// mode. A replayed move reports nothing again, so a sound is played once.
type MovementEvent struct {
	movement.Event
	Character components.NetID
	// Stamp of the move, 0 where there is none; Ordinal of the event within it.
	// Together with the kind they are the event's identity.
	Stamp   components.Stamp
	Ordinal uint8
}

// Events are the movement events of the present frame, a resource. A game's
// own systems read it in the Visual phase; EventsClear empties it at the next
// frame's start.
type Events struct {
	list    []MovementEvent
	Dropped uint64
}

// MaxFrameEvents bounds the events kept of one frame.
const MaxFrameEvents = 4096

// NewEvents is an empty buffer with room for a frame.
func NewEvents() *Events { return &Events{list: make([]MovementEvent, 0, 256)} }

// All are the events of this frame, in the order in which they happened within
// each character.
func (e *Events) All() []MovementEvent { return e.list }

// Clear empties the buffer.
func (e *Events) Clear() { e.list = e.list[:0] }

func (e *Events) take(ctx *movement.Context, id components.NetID, stamp components.Stamp) {
	for i := range ctx.NumEvents {
		if len(e.list) == MaxFrameEvents {
			e.Dropped++
			continue
		}
		e.list = append(e.list, MovementEvent{Event: ctx.Events[i], Character: id, Stamp: stamp, Ordinal: uint8(i)})
	}
}

// EventsClear empties the frame's events at the start of the next.
type EventsClear struct{ events *Events }

func (s *EventsClear) Phase() ecs.Phase { return ecs.Receive }
func (s *EventsClear) Roles() ecs.Roles { return ecs.AllRoles }

// Initialize looks up the buffer.
func (s *EventsClear) Initialize(w *arche.World) { s.events = ecs.Provide(w, NewEvents) }

// Update empties it.
func (s *EventsClear) Update(*arche.World) { s.events.Clear() }

func (s *EventsClear) Finalize(*arche.World) {}
