package movement

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
)

// Vec3 is mathgl's vector of float64, cm.
type Vec3 = components.Vec3

// EventKind says what happened in a move.
type EventKind uint8

// The kinds of event.
const (
	EventNone EventKind = iota
	// EventJumped: Velocity is the velocity after the jump.
	EventJumped
	// EventLanded: Velocity is the velocity of the impact.
	EventLanded
	// EventModeChanged: from FromMode to Mode.
	EventModeChanged
	// EventStuck: the character is inside geometry and was not got out.
	EventStuck
	// EventBaseChanged: the character stands on another base, or on none.
	EventBaseChanged
	// EventCrouched and EventUncrouched: the capsule changed its height.
	EventCrouched
	EventUncrouched
	// EventInvalid: the state or the command was not finite or made no sense;
	// the move was refused and the state left as it was.
	EventInvalid
)

// MaxEvents is the room for the events of one move.
const MaxEvents = 16

// Event is something that happened in a move.
type Event struct {
	Kind           EventKind
	Mode, FromMode components.MovementMode
	Velocity       Vec3
}

// Stats counts the work of a context since it was made.
type Stats struct {
	Moves, Steps            uint64
	Sweeps, Overlaps, Rays  uint64
	Invalid, Stuck          uint64
	EventsDropped           uint64
	StepUps, Depenetrations uint64
}

// Context belongs to one worker: the queries, the scratch and the events of a
// move live in it, so that a move allocates nothing. What an earlier move left
// in it never shows in a later one.
type Context struct {
	// Geometry is the level and its obstacles; Scene the room to ask in.
	Geometry collision.Geometry
	Scene    components.SceneID
	// Modes is the table of movement modes; nil for the built-in ones.
	Modes *Modes

	// Events[:NumEvents] are those of the last move, in order.
	Events    [MaxEvents]Event
	NumEvents int
	Stats     Stats

	q  collision.Query
	st StepState
}

func (c *Context) emit(k EventKind, st *StepState, from components.MovementMode, v Vec3) {
	if c.NumEvents >= MaxEvents {
		c.Stats.EventsDropped++
		return
	}
	c.Events[c.NumEvents] = Event{Kind: k, Mode: st.S.Mode, FromMode: from, Velocity: v}
	c.NumEvents++
}

// skin is the distance kept from a surface that stopped a move, along its
// normal, cm.
const skin = 0.02

// query prepares c.q for a capsule of the character's size at its place.
func (c *Context) query(st *StepState) *collision.Query {
	q := &c.q
	q.Start = st.S.Location
	q.Radius, q.HalfHeight = st.S.Radius, st.S.HalfHeight
	q.Time, q.Scene, q.Ignore = st.Time, c.Scene, 0
	return q
}

// sweep asks the geometry; the answer is in c.q.Hit.
func (c *Context) sweep(q *collision.Query) bool {
	c.Stats.Sweeps++
	return c.Geometry.Sweep(q) && q.Hit.Blocking
}

func (c *Context) ray(q *collision.Query) bool {
	c.Stats.Rays++
	return c.Geometry.Ray(q) && q.Hit.Blocking
}

func (c *Context) overlap(q *collision.Query) bool {
	c.Stats.Overlaps++
	return c.Geometry.Overlap(q)
}

// SweepMove moves the character by delta up to the first contact, the skin
// kept. It returns the share of delta travelled and the contact (Blocking is
// false for none). A character that starts inside something and would move
// further in stays where it is.
func (c *Context) SweepMove(st *StepState, delta Vec3) (float64, collision.Hit) {
	return c.sweepMove(st, delta, 0)
}

func (c *Context) sweepMove(st *StepState, delta Vec3, ignore components.NetID) (float64, collision.Hit) {
	if exact.LenSq(delta) < 1e-20 {
		return 1, collision.Hit{Fraction: 1}
	}
	q := c.query(st)
	q.Delta, q.Ignore = delta, ignore
	if !c.sweep(q) {
		st.S.Location = exact.Add(st.S.Location, delta)
		return 1, collision.Hit{Fraction: 1}
	}
	if q.Hit.StartPenetrating {
		return 0, q.Hit
	}
	f := backOff(&q.Hit, delta)
	if f > 0 {
		st.S.Location = exact.AddScaled(q.Start, delta, f)
	}
	return f, q.Hit
}

// backOff is the fraction of delta at which the contact is still skin away.
func backOff(h *collision.Hit, delta Vec3) float64 {
	into := -exact.Dot(delta, h.Normal)
	if l := exact.Len(delta); into < float64(l*1e-3) {
		into = float64(l * 1e-3)
	}
	f := h.Fraction - skin/into
	if !(f > 0) {
		return 0
	}
	return f
}
