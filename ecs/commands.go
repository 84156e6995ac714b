package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	arche "github.com/mlange-42/arche/ecs"
)

// maxFlushRounds bounds commands that queue commands: a chain this long is a
// loop.
const maxFlushRounds = 64

// SpawnFunc fills the components of an entity that a Spawn command made. It
// runs before the world's listener hears of the entity. arg is what was given
// to Spawn, so that one function, stored once, serves every call without a
// closure.
type SpawnFunc func(w *arche.World, e arche.Entity, arg uint64)

// Commands is a buffer of structural changes, a resource (*ecs.Commands). A
// query locks the world; what must change meanwhile is queued here and done in
// order at the end of the phase. Queueing and flushing reuse their memory and
// do not allocate once they have grown. It belongs to the world's goroutine.
type Commands struct {
	// Done counts commands carried out.
	Done uint64
	// Dead counts commands skipped because their entity had died.
	Dead uint64
	// Redundant counts commands with nothing left to do: every component to be
	// added was there, or every one to be removed was not.
	Redundant uint64

	w        *arche.World
	ops      []command
	ids      []arche.ID
	data     []byte
	spawns   []SpawnFunc
	funcs    []func(*arche.World)
	addIDs   []arche.ID
	remIDs   []arche.ID
	flushing bool

	init     func(arche.Entity) // built once: what arche calls for a new entity
	initFn   SpawnFunc
	initArg  uint64
	valueAt  command
	setValue func(arche.Entity)
}

type opKind uint8

const (
	opDespawn opKind = iota
	opExchange
	opValue
	opSpawn
	opFunc
)

// command is one queued change. ids[first:first+add] are to be added and the
// rem that follow removed; at and size find a value in data, a SpawnFunc in
// spawns or a function in funcs.
type command struct {
	entity    arche.Entity
	arg       uint64
	first, at int32
	size      int32
	add, rem  int16
	kind      opKind
}

// NewCommands returns an empty buffer for a world. An App makes its own.
func NewCommands(w *arche.World) *Commands {
	c := &Commands{w: w}
	c.init = func(e arche.Entity) { c.initFn(c.w, e, c.initArg) }
	c.setValue = func(e arche.Entity) { c.store(e, c.valueAt) }
	return c
}

// Len is the number of commands that wait.
func (c *Commands) Len() int { return len(c.ops) }

// Despawn removes the entity.
func (c *Commands) Despawn(e arche.Entity) {
	c.ops = append(c.ops, command{kind: opDespawn, entity: e})
}

// Add adds zeroed components; those the entity has by then are left alone.
func (c *Commands) Add(e arche.Entity, ids ...arche.ID) { c.Exchange(e, ids, nil) }

// Remove removes components; those the entity lacks by then are passed over.
func (c *Commands) Remove(e arche.Entity, ids ...arche.ID) { c.Exchange(e, nil, ids) }

// Exchange adds and removes components in one move. Removal comes first, so an
// ID in both lists ends as a zeroed component where the entity had it not, and
// is left alone where it had.
func (c *Commands) Exchange(e arche.Entity, add, rem []arche.ID) {
	first := len(c.ids)
	c.ids = append(append(c.ids, add...), rem...)
	c.ops = append(c.ops, command{
		kind: opExchange, entity: e, first: int32(first), add: int16(len(add)), rem: int16(len(rem)),
	})
}

// Spawn makes an entity with the given components and lets fill, which may be
// nil, set them.
func (c *Commands) Spawn(fill SpawnFunc, arg uint64, ids ...arche.ID) {
	first := len(c.ids)
	c.ids = append(c.ids, ids...)
	c.ops = append(c.ops, command{
		kind: opSpawn, arg: arg, first: int32(first), add: int16(len(ids)), at: int32(len(c.spawns)),
	})
	c.spawns = append(c.spawns, fill)
}

// Do runs any function with the unlocked world. It is the way out for what the
// typed commands cannot say; a closure that captures allocates.
func (c *Commands) Do(fn func(w *arche.World)) {
	c.ops = append(c.ops, command{kind: opFunc, at: int32(len(c.funcs))})
	c.funcs = append(c.funcs, fn)
}

// SetValue queues a component with its value: added if the entity lacks it,
// overwritten if not. T must be the type registered under id and hold no
// pointer; anything else panics with the type's name.
func SetValue[T any](c *Commands, e arche.Entity, id arche.ID, value T) {
	info, ok := arche.ComponentInfo(c.w, id)
	if !ok || info.Type != reflect.TypeFor[T]() {
		panic(fmt.Sprintf("ecs.SetValue: %v is not the type registered under its ID (%v)", reflect.TypeFor[T](), info.Type))
	}
	mustBePointerFree(info.Type)
	at := len(c.data)
	size := int(unsafe.Sizeof(value))
	if size > 0 {
		c.data = append(c.data, unsafe.Slice((*byte)(unsafe.Pointer(&value)), size)...)
	}
	first := len(c.ids)
	c.ids = append(c.ids, id)
	c.ops = append(c.ops, command{
		kind: opValue, entity: e, first: int32(first), add: 1, at: int32(at), size: int32(size),
	})
}

// Discard forgets everything that waits, for a user who resets the world.
func (c *Commands) Discard() {
	c.ops, c.ids, c.data = c.ops[:0], c.ids[:0], c.data[:0]
	clear(c.spawns)
	clear(c.funcs)
	c.spawns, c.funcs = c.spawns[:0], c.funcs[:0]
}

// Flush carries out everything that waits, in order, and what those commands
// queue in turn. The world must not be locked. A call from within a command is
// ignored; commands that queue commands without end panic.
func (c *Commands) Flush() {
	if c.flushing || len(c.ops) == 0 {
		return
	}
	if c.w.IsLocked() {
		panic("ecs.Commands: flush of a locked world: a query is still open")
	}
	c.flushing = true
	// A command that panics must not leave the rest to be done twice.
	defer c.endFlush()
	for done, round := 0, 0; done < len(c.ops); round++ {
		if round == maxFlushRounds {
			panic("ecs.Commands: commands keep queueing commands")
		}
		for end := len(c.ops); done < end; done++ {
			c.run(c.ops[done])
		}
	}
}

func (c *Commands) endFlush() {
	c.flushing = false
	c.Discard()
}

func (c *Commands) run(op command) {
	switch op.kind {
	case opSpawn:
		ids := c.ids[op.first : op.first+int32(op.add)]
		if fill := c.spawns[op.at]; fill != nil {
			c.initFn, c.initArg = fill, op.arg
			c.w.NewEntityFn(c.init, ids...)
			c.initFn = nil
		} else {
			c.w.NewEntity(ids...)
		}
		c.Done++
		return
	case opFunc:
		c.funcs[op.at](c.w)
		c.Done++
		return
	}
	if !Alive(c.w, op.entity) {
		c.Dead++
		return
	}
	switch op.kind {
	case opDespawn:
		c.w.RemoveEntity(op.entity)
	case opExchange:
		if !c.exchange(op) {
			c.Redundant++
			return
		}
	case opValue:
		if id := c.ids[op.first]; c.w.Has(op.entity, id) {
			c.store(op.entity, op)
		} else {
			c.valueAt = op
			c.addIDs = append(c.addIDs[:0], id)
			c.w.ExchangeFn(op.entity, c.addIDs, nil, c.setValue)
		}
	}
	c.Done++
}

// exchange reports whether anything was left to do.
func (c *Commands) exchange(op command) bool {
	mask := c.w.Mask(op.entity)
	before := mask
	split, end := op.first+int32(op.add), op.first+int32(op.add)+int32(op.rem)
	for _, id := range c.ids[split:end] {
		mask.Set(id, false)
	}
	for _, id := range c.ids[op.first:split] {
		mask.Set(id, true)
	}
	// Only what differs in the end is asked of arche, which panics at anything
	// else; clearing each difference as it is listed drops doubles.
	c.addIDs, c.remIDs = c.addIDs[:0], c.remIDs[:0]
	for _, id := range c.ids[op.first:end] {
		switch had, has := before.Get(id), mask.Get(id); {
		case has && !had:
			c.addIDs = append(c.addIDs, id)
			before.Set(id, true)
		case had && !has:
			c.remIDs = append(c.remIDs, id)
			before.Set(id, false)
		}
	}
	if len(c.addIDs)+len(c.remIDs) == 0 {
		return false
	}
	c.w.Exchange(op.entity, c.addIDs, c.remIDs)
	return true
}

func (c *Commands) store(e arche.Entity, op command) {
	if op.size == 0 {
		return
	}
	dst := unsafe.Slice((*byte)(c.w.Get(e, c.ids[op.first])), op.size)
	copy(dst, c.data[op.at:op.at+op.size])
}
