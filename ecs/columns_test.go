package ecs

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

// mover is a system over whole columns, split over the pool.
type mover struct {
	tables   *Tables
	pool     *Pool
	clock    *Clock
	pos, vel arche.ID
	p        []position
	v        []velocity
	dt       float64
	body     Range
}

func (m *mover) Initialize(w *arche.World) {
	m.pos, m.vel = RegisterComponent[position](w), RegisterComponent[velocity](w)
	m.tables = NewTables(w, arche.All(m.pos, m.vel))
	m.pool, m.clock = arche.GetResource[Pool](w), arche.GetResource[Clock](w)
	m.body = m.move
}

func (m *mover) Update(*arche.World) {
	m.dt = m.clock.Dt.Seconds()
	for m.tables.Open(); m.tables.Next(); {
		m.p, m.v = ColumnOf[position](m.tables, m.pos), ColumnOf[velocity](m.tables, m.vel)
		m.pool.Parallel(m.tables.Len(), 16, m.body)
	}
}

func (m *mover) Finalize(*arche.World) {}

func (m *mover) move(lo, hi, _ int) {
	for i := lo; i < hi; i++ {
		m.p[i].X += float64(m.v[i].X * m.dt)
	}
}

// TestColumnsLieAsArcheKeepsThem is the one that would notice if arche laid out
// its tables otherwise: in a world with many tables, grown and shrunk, each row
// of each column must be the very memory that arche itself names for it, and
// the walk must meet each entity once.
func TestColumnsLieAsArcheKeepsThem(t *testing.T) {
	w := arche.NewWorld(4)
	pos, vel := RegisterComponent[position](&w), RegisterComponent[velocity](&w)
	hit, tg := RegisterComponent[health](&w), RegisterComponent[tag](&w)
	child := RegisterComponent[childOf](&w)
	odd := RegisterComponent[[7]byte](&w)
	sets := [][]arche.ID{{pos}, {pos, vel}, {pos, hit}, {pos, odd, tg}, {pos, vel, hit, odd}, {vel}, {pos, child}}

	rng := rand.New(rand.NewPCG(1, 2))
	alive := map[arche.Entity]bool{}
	var parents []arche.Entity
	for range 3 {
		parents = append(parents, w.NewEntity())
	}
	for range 2000 {
		set := sets[rng.IntN(len(sets))]
		e := w.NewEntity(set...)
		if set[len(set)-1] == child && rng.IntN(4) > 0 {
			w.Relations().Set(e, child, parents[rng.IntN(3)])
		}
		alive[e] = set[0] == pos
	}
	i := 0
	var doomed []arche.Entity
	q := w.Query(arche.All())
	for q.Next() {
		if i++; i%3 == 0 && !w.Has(q.Entity(), tg) && q.Entity() != parents[0] {
			doomed = append(doomed, q.Entity())
		}
	}
	for _, e := range doomed {
		w.RemoveEntity(e)
		delete(alive, e)
	}
	want := 0
	for _, has := range alive {
		if has {
			want++
		}
	}

	seen, tables := map[arche.Entity]bool{}, 0
	walk := NewTables(&w, arche.All(pos))
	for walk.Open(); walk.Next(); {
		tables++
		p, h, o := ColumnOf[position](walk, pos), ColumnOf[health](walk, hit), ColumnOf[[7]byte](walk, odd)
		hasHit, hasOdd := walk.Has(hit), walk.Has(odd)
		require.Len(t, p, walk.Len())
		require.Equal(t, hasHit, h != nil)
		require.Equal(t, hasOdd, o != nil)
		for row, e := range walk.AppendEntities(nil) {
			require.False(t, seen[e], "met once")
			seen[e] = true
			require.Equal(t, w.Get(e, pos), unsafe.Pointer(&p[row]))
			if hasHit {
				require.Equal(t, w.Get(e, hit), unsafe.Pointer(&h[row]))
			}
			if hasOdd {
				require.Equal(t, w.Get(e, odd), unsafe.Pointer(&o[row]))
			}
		}
	}
	require.Len(t, seen, want)
	require.Greater(t, tables, 6, "relations to several targets make tables of their own")
	require.False(t, w.IsLocked())
}

func TestTablesHeedTheirFilter(t *testing.T) {
	w := arche.NewWorld()
	pos, vel := RegisterComponent[position](&w), RegisterComponent[velocity](&w)
	child := RegisterComponent[childOf](&w)
	parent, other := w.NewEntity(), w.NewEntity()
	w.NewEntity(pos)
	w.NewEntity(pos, vel)
	w.NewEntity(pos, vel)
	for _, target := range []arche.Entity{parent, other, parent} {
		w.Relations().Set(w.NewEntity(child), child, target)
	}
	rows := func(f arche.Filter) (n int) {
		for tb := NewTables(&w, f); ; n += tb.Len() {
			if !tb.open {
				tb.Open()
			}
			if !tb.Next() {
				return n
			}
		}
	}
	without := arche.All(pos).Without(vel)
	toParent := arche.NewRelationFilter(arche.All(child), parent)
	cached := w.Cache().Register(arche.All(pos))
	require.Equal(t, 3, rows(arche.All(pos)))
	require.Equal(t, 1, rows(&without))
	require.Equal(t, 2, rows(&toParent))
	require.Equal(t, 3, rows(&cached))
	require.Equal(t, 0, rows(arche.All(vel, child)))
}

func TestTablesMeetWhatCameSinceTheLastWalk(t *testing.T) {
	w := arche.NewWorld()
	pos, vel := RegisterComponent[position](&w), RegisterComponent[velocity](&w)
	walk := NewTables(&w, arche.All(pos))
	sizes := func() (out []int) {
		for walk.Open(); walk.Next(); {
			out = append(out, walk.Len())
		}
		return out
	}
	require.Empty(t, sizes())
	w.NewEntity(pos)
	require.Equal(t, []int{1}, sizes())
	w.NewEntity(pos)
	w.NewEntity(pos, vel)
	require.Equal(t, []int{2, 1}, sizes())
}

func TestColumnFromTheMiddleOfATable(t *testing.T) {
	w := arche.NewWorld()
	pos := RegisterComponent[position](&w)
	for i := range 5 {
		(*position)(w.Get(w.NewEntity(pos), pos)).X = float64(i)
	}
	q := w.Query(arche.All(pos))
	defer q.Close()
	q.Next()
	q.Step(2)
	col := Column[position](&q, pos, 3)
	require.Equal(t, []position{{X: 2}, {X: 3}, {X: 4}}, col)
}

func TestColumnThatArcheCannotAddressIsRefused(t *testing.T) {
	require.True(t, columnFits(1<<20, 4095))
	require.False(t, columnFits(1<<20, 4096))
}

func TestEachUnlocksHoweverItEnds(t *testing.T) {
	w := arche.NewWorld()
	pos := RegisterComponent[position](&w)
	w.NewEntity(pos)
	walk := NewTables(&w, arche.All(pos))
	walk.Each(func(*Tables) bool { return false })
	require.False(t, w.IsLocked())
	require.Panics(t, func() { walk.Each(func(*Tables) bool { panic("x") }) })
	require.False(t, w.IsLocked())
	calls := 0
	walk.Each(func(*Tables) bool { calls++; return true })
	require.Equal(t, 1, calls)
	require.False(t, w.IsLocked())
}

func TestMisuseOfTablesPanics(t *testing.T) {
	w := arche.NewWorld()
	pos, vel := RegisterComponent[position](&w), RegisterComponent[velocity](&w)
	w.NewEntity(pos, vel)
	w.NewEntity(pos, vel)
	walk := NewTables(&w, arche.All(pos))
	require.Panics(t, func() { walk.Next() })
	walk.Open()
	require.Panics(t, func() { walk.Open() })
	require.Panics(t, func() { ColumnOf[position](walk, pos) }, "before Next")
	walk.Next()
	require.PanicsWithValue(t, "ecs.ColumnOf: ecs.velocity is not the type registered under its ID (ecs.position)",
		func() { ColumnOf[velocity](walk, pos) })
	walk.AppendEntities(nil)
	require.Panics(t, func() { ColumnOf[position](walk, pos) }, "the row is the last one by now")
	require.Panics(t, func() { walk.AppendEntities(nil) })
	walk.Close()
	walk.Close()
	require.False(t, w.IsLocked())
}

func TestWalkDoesNotAllocate(t *testing.T) {
	w := arche.NewWorld()
	pos, vel, child := RegisterComponent[position](&w), RegisterComponent[velocity](&w), RegisterComponent[childOf](&w)
	w.NewEntity(pos)
	w.NewEntity(pos, vel)
	w.Relations().Set(w.NewEntity(pos, child), child, w.NewEntity())
	walk := NewTables(&w, arche.All(pos))
	ents := make([]arche.Entity, 0, 8)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for walk.Open(); walk.Next(); {
			ColumnOf[position](walk, pos)[0].X++
			ents = walk.AppendEntities(ents[:0])
		}
	}))
}
