package ecs

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	arche "github.com/mlange-42/arche/ecs"
)

// Column is the column of component id in the table at which the query stands,
// from the query's row on, as a slice of n; nil if the table has no such
// component. n must not exceed the rows that are left, and T must be the type
// registered under id; ColumnOf takes care of both. The slice is good while the
// query is open.
//
// That the rows of a table lie one behind the other, sizeof(T) apart, is a fact
// of arche v0.15.3 and no promise. It is used here alone, and a test compares
// each row's address with arche's own.
func Column[T any](q *arche.Query, id arche.ID, n int) []T {
	p := q.Get(id)
	if p == nil {
		return nil
	}
	return unsafe.Slice((*T)(p), n)
}

// Tables walks the tables (archetypes) that match a filter, so that a system
// can work on whole columns: 1.5 ns an entity for six components instead of 8.
// Build it in Initialize:
//
//	s.tables = ecs.NewTables(w, arche.All(s.pos, s.vel))
//
// and use it in Update:
//
//	for s.tables.Open(); s.tables.Next(); {
//		pos := ecs.ColumnOf[Position](s.tables, s.pos)
//		vel := ecs.ColumnOf[Velocity](s.tables, s.vel)
//		...
//	}
//
// The world is locked while it walks. Leaving the loop early needs Close; Each
// does that by itself. Finding a table's size looks at every archetype of the
// world once, so a walk costs tables x archetypes x some ns.
type Tables struct {
	w      *arche.World
	filter arche.Filter
	q      arche.Query
	kinds  map[arche.Mask]*tableKind
	n, row int
	open   bool
}

// tableKind is what finds the size of the tables of one component set. It is
// kept, so that a walk does not allocate.
type tableKind struct {
	exact    arche.MaskFilter
	relation arche.ID
	related  bool
	target   arche.RelationFilter
}

// NewTables returns a walk over the tables that match the filter: an arche.Mask,
// a pointer to an arche.MaskFilter or arche.RelationFilter, or a cached filter.
func NewTables(w *arche.World, filter arche.Filter) *Tables {
	return &Tables{w: w, filter: filter, kinds: map[arche.Mask]*tableKind{}}
}

// Open begins a walk and locks the world. A walk that is open panics.
func (t *Tables) Open() {
	if t.open {
		panic("ecs.Tables: opened while open; a loop was left without Close")
	}
	t.q = t.w.Query(t.filter)
	t.open, t.n, t.row = true, 0, 0
}

// Next goes to the next table that has a row. When there is none it unlocks
// the world and returns false.
func (t *Tables) Next() bool {
	if !t.open {
		panic("ecs.Tables: Next without Open")
	}
	if t.n == 0 {
		t.open = t.q.Next()
	} else {
		t.open = t.q.Step(t.n - t.row)
	}
	if !t.open {
		t.n, t.row = 0, 0
		return false
	}
	t.n, t.row = t.size(), 0
	return true
}

// size counts the rows of the current table by a second query that matches it
// alone. arche keeps one table for each target of a relation, all with the same
// components, so there the target is part of the question.
func (t *Tables) size() int {
	mask := t.q.Mask()
	k := t.kinds[mask]
	if k == nil {
		k = &tableKind{exact: mask.Exclusive()}
		for _, id := range t.q.Ids() {
			if info, _ := arche.ComponentInfo(t.w, id); info.IsRelation {
				k.related, k.relation = true, id
			}
		}
		k.target.Filter = &k.exact
		t.kinds[mask] = k
	}
	var q arche.Query
	if k.related {
		k.target.Target = t.q.Relation(k.relation)
		q = t.w.Query(&k.target)
	} else {
		q = t.w.Query(&k.exact)
	}
	n := q.Count()
	q.Close()
	return n
}

// Len is the number of rows of the current table.
func (t *Tables) Len() int { return t.n }

// Has reports whether the current table has the component.
func (t *Tables) Has(id arche.ID) bool { return t.q.Has(id) }

// AppendEntities appends the entities of the current table to dst, in the order
// of its columns. It moves the walk to the table's last row: take the columns
// before it, and call it once a table.
func (t *Tables) AppendEntities(dst []arche.Entity) []arche.Entity {
	if t.n == 0 || t.row != 0 {
		panic("ecs.Tables: AppendEntities twice in a table, or outside of one")
	}
	dst = append(dst, t.q.Entity())
	for t.row < t.n-1 {
		t.q.Next()
		t.row++
		dst = append(dst, t.q.Entity())
	}
	return dst
}

// Close ends a walk early. On one that has ended it does nothing.
func (t *Tables) Close() {
	if t.open {
		t.q.Close()
		t.open, t.n, t.row = false, 0, 0
	}
}

// Each calls fn for each table and closes the walk, also if fn panics. fn
// returns false to stop.
func (t *Tables) Each(fn func(t *Tables) bool) {
	t.Open()
	defer t.Close()
	for t.Next() {
		if !fn(t) {
			return
		}
	}
}

// ColumnOf is the column of a component in the current table, Len long, nil if
// the table lacks it. It is good until the walk ends. It panics if T is not the
// type registered under id.
func ColumnOf[T any](t *Tables, id arche.ID) []T {
	info, ok := arche.ComponentInfo(t.w, id)
	if !ok || info.Type != reflect.TypeFor[T]() {
		panic(fmt.Sprintf("ecs.ColumnOf: %v is not the type registered under its ID (%v)", reflect.TypeFor[T](), info.Type))
	}
	if t.n == 0 || t.row != 0 {
		panic(fmt.Sprintf("ecs.ColumnOf: %v asked for outside of a table, or after AppendEntities", info.Type))
	}
	if size := unsafe.Sizeof(*new(T)); !columnFits(t.n, size) {
		panic(fmt.Sprintf("ecs.ColumnOf: %d rows of %v are more than arche can address (4 GiB a column)", t.n, info.Type))
	}
	return Column[T](&t.q, id, t.n)
}

// columnFits reports whether every row of a column has an address: arche
// computes a row's offset in 32 bits, and beyond them it wraps silently.
func columnFits(rows int, size uintptr) bool {
	return uint64(rows)*uint64(size) <= math.MaxUint32
}
