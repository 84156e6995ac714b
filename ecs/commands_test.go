package ecs

import (
	"testing"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

type commandWorld struct {
	w             *arche.World
	c             *Commands
	pos, vel, hit arche.ID
}

func newCommandWorld() commandWorld {
	w := arche.NewWorld()
	return commandWorld{
		&w, NewCommands(&w),
		RegisterComponent[position](&w), RegisterComponent[velocity](&w), RegisterComponent[health](&w),
	}
}

func TestCommandsWaitUntilTheFlush(t *testing.T) {
	cw := newCommandWorld()
	e := cw.w.NewEntity(cw.pos)
	q := cw.w.Query(arche.All(cw.pos))
	for q.Next() {
		cw.c.Despawn(q.Entity())
		cw.c.Add(q.Entity(), cw.vel)
	}
	require.True(t, cw.w.Alive(e))
	require.Equal(t, 2, cw.c.Len())
	cw.c.Flush()
	require.False(t, cw.w.Alive(e))
	require.Zero(t, cw.c.Len())
	require.Equal(t, uint64(1), cw.c.Done)
	require.Equal(t, uint64(1), cw.c.Dead)
}

func TestAddAndRemoveKeepTheOtherComponents(t *testing.T) {
	cw := newCommandWorld()
	e := cw.w.NewEntity(cw.pos, cw.hit)
	*(*position)(cw.w.Get(e, cw.pos)) = position{1, 2, 3}
	cw.c.Add(e, cw.vel)
	cw.c.Remove(e, cw.hit)
	cw.c.Flush()
	require.True(t, cw.w.Has(e, cw.vel))
	require.False(t, cw.w.Has(e, cw.hit))
	require.Equal(t, position{1, 2, 3}, *(*position)(cw.w.Get(e, cw.pos)))
}

func TestCommandOnARecycledEntityIsSkipped(t *testing.T) {
	cw := newCommandWorld()
	old := cw.w.NewEntity(cw.pos)
	cw.c.Add(old, cw.vel)
	cw.w.RemoveEntity(old)
	fresh := cw.w.NewEntity(cw.pos)
	require.Equal(t, old.ID(), fresh.ID())
	cw.c.Flush()
	require.False(t, cw.w.Has(fresh, cw.vel))
	require.Equal(t, uint64(1), cw.c.Dead)
}

func TestDespawnQueuedTwiceHappensOnce(t *testing.T) {
	cw := newCommandWorld()
	e := cw.w.NewEntity()
	cw.c.Despawn(e)
	cw.c.Despawn(e)
	cw.c.Flush()
	require.Equal(t, uint64(1), cw.c.Done)
	require.Equal(t, uint64(1), cw.c.Dead)
}

func TestAddingWhatIsThereIsRedundant(t *testing.T) {
	cw := newCommandWorld()
	e := cw.w.NewEntity(cw.pos)
	*(*position)(cw.w.Get(e, cw.pos)) = position{X: 7}
	cw.c.Add(e, cw.pos, cw.pos)
	cw.c.Remove(e, cw.vel)
	cw.c.Flush()
	require.Equal(t, uint64(2), cw.c.Redundant)
	require.Equal(t, 7.0, (*position)(cw.w.Get(e, cw.pos)).X)
}

func TestAddListingAComponentTwiceAddsIt(t *testing.T) {
	cw := newCommandWorld()
	e := cw.w.NewEntity()
	cw.c.Add(e, cw.pos, cw.vel, cw.pos)
	cw.c.Flush()
	require.True(t, cw.w.Has(e, cw.pos))
	require.True(t, cw.w.Has(e, cw.vel))
}

func TestRemoveListingAComponentTwiceRemovesIt(t *testing.T) {
	cw := newCommandWorld()
	e := cw.w.NewEntity(cw.pos, cw.vel)
	cw.c.Remove(e, cw.pos, cw.vel, cw.pos)
	cw.c.Flush()
	require.Equal(t, arche.Mask{}, cw.w.Mask(e))
	require.Equal(t, uint64(1), cw.c.Done)
}

func TestCommandOnAnEntityFromBeforeAResetIsSkipped(t *testing.T) {
	cw := newCommandWorld()
	cw.w.NewEntity()
	e := cw.w.NewEntity(cw.pos)
	cw.c.Despawn(e)
	cw.c.Despawn(arche.Entity{})
	cw.w.Reset()
	require.Panics(t, func() { cw.w.Alive(e) }, "arche itself does not survive the question")
	cw.c.Flush()
	require.Equal(t, uint64(2), cw.c.Dead)
}

func TestExchangeMovesOnce(t *testing.T) {
	cw := newCommandWorld()
	moves := 0
	listen := countChanges(&moves)
	cw.w.SetListener(listen)
	e := cw.w.NewEntity(cw.pos)
	cw.c.Exchange(e, []arche.ID{cw.vel}, []arche.ID{cw.pos})
	cw.c.Exchange(e, []arche.ID{cw.vel}, []arche.ID{cw.vel})
	cw.c.Flush()
	require.Equal(t, cw.w.Mask(e), arche.All(cw.vel))
	require.Equal(t, 1, moves)
	require.Equal(t, uint64(1), cw.c.Redundant)
}

func TestSpawnIsFilledBeforeTheListenerHears(t *testing.T) {
	cw := newCommandWorld()
	heard := -1.0
	cw.w.SetListener(onCreate(func(w *arche.World, e arche.Entity) { heard = (*position)(w.Get(e, cw.pos)).X }))
	cw.c.Spawn(func(w *arche.World, e arche.Entity, arg uint64) {
		(*position)(w.Get(e, cw.pos)).X = float64(arg)
	}, 42, cw.pos, cw.vel)
	cw.c.Spawn(nil, 0, cw.pos)
	require.Zero(t, count(cw.w, cw.pos))
	cw.c.Flush()
	require.Equal(t, 2, count(cw.w, cw.pos))
	require.Equal(t, 1, count(cw.w, cw.vel))
	require.Equal(t, 0.0, heard, "the second, unfilled one was heard last")
}

func TestSpawnedEntityIsHeardWithItsValues(t *testing.T) {
	cw := newCommandWorld()
	heard := -1.0
	cw.w.SetListener(onCreate(func(w *arche.World, e arche.Entity) { heard = (*position)(w.Get(e, cw.pos)).X }))
	cw.c.Spawn(func(w *arche.World, e arche.Entity, arg uint64) {
		(*position)(w.Get(e, cw.pos)).X = float64(arg)
	}, 42, cw.pos)
	cw.c.Flush()
	require.Equal(t, 42.0, heard)
}

func TestSetValueAddsOrOverwrites(t *testing.T) {
	cw := newCommandWorld()
	has, lacks := cw.w.NewEntity(cw.pos), cw.w.NewEntity(cw.hit)
	SetValue(cw.c, has, cw.pos, position{1, 2, 3})
	SetValue(cw.c, lacks, cw.pos, position{4, 5, 6})
	SetValue(cw.c, lacks, cw.hit, health{9})
	cw.c.Flush()
	require.Equal(t, position{1, 2, 3}, *(*position)(cw.w.Get(has, cw.pos)))
	require.Equal(t, position{4, 5, 6}, *(*position)(cw.w.Get(lacks, cw.pos)))
	require.Equal(t, health{9}, *(*health)(cw.w.Get(lacks, cw.hit)))
}

func TestSetValueOfAnEmptyTypeAddsIt(t *testing.T) {
	cw := newCommandWorld()
	id := RegisterComponent[tag](cw.w)
	e := cw.w.NewEntity()
	SetValue(cw.c, e, id, tag{})
	cw.c.Flush()
	require.True(t, cw.w.Has(e, id))
}

func TestSetValueOfAnotherTypePanicsWithItsName(t *testing.T) {
	cw := newCommandWorld()
	e := cw.w.NewEntity(cw.pos)
	require.PanicsWithValue(t, "ecs.SetValue: ecs.velocity is not the type registered under its ID (ecs.position)",
		func() { SetValue(cw.c, e, cw.pos, velocity{}) })
}

func TestSetValueWithAPointerPanics(t *testing.T) {
	cw := newCommandWorld()
	id := arche.ComponentID[inventory](cw.w)
	e := cw.w.NewEntity()
	require.Panics(t, func() { SetValue(cw.c, e, id, inventory{}) })
}

func TestCommandsRunInOrder(t *testing.T) {
	cw := newCommandWorld()
	e := cw.w.NewEntity()
	var seen []bool
	look := func(w *arche.World) { seen = append(seen, w.Has(e, cw.pos)) }
	cw.c.Do(look)
	cw.c.Add(e, cw.pos)
	cw.c.Do(look)
	cw.c.Remove(e, cw.pos)
	cw.c.Do(look)
	cw.c.Flush()
	require.Equal(t, []bool{false, true, false}, seen)
}

func TestCommandQueuedByACommandRunsInTheSameFlush(t *testing.T) {
	cw := newCommandWorld()
	e := cw.w.NewEntity()
	cw.c.Do(func(*arche.World) {
		cw.c.Add(e, cw.pos)
		cw.c.Flush() // ignored
		require.False(t, cw.w.Has(e, cw.pos))
	})
	cw.c.Flush()
	require.True(t, cw.w.Has(e, cw.pos))
}

func TestCommandsWithoutEndPanicAndLeaveNothing(t *testing.T) {
	cw := newCommandWorld()
	var again func(*arche.World)
	again = func(*arche.World) { cw.c.Do(again) }
	cw.c.Do(again)
	require.PanicsWithValue(t, "ecs.Commands: commands keep queueing commands", func() { cw.c.Flush() })
	require.Zero(t, cw.c.Len())
	e := cw.w.NewEntity()
	cw.c.Despawn(e)
	cw.c.Flush()
	require.False(t, cw.w.Alive(e), "the buffer works again")
}

func TestFlushOfALockedWorldPanicsAndKeepsTheCommands(t *testing.T) {
	cw := newCommandWorld()
	e := cw.w.NewEntity(cw.pos)
	cw.c.Despawn(e)
	q := cw.w.Query(arche.All(cw.pos))
	require.Panics(t, func() { cw.c.Flush() })
	q.Close()
	cw.c.Flush()
	require.False(t, cw.w.Alive(e))
}

func TestDiscardForgetsWhatWaits(t *testing.T) {
	cw := newCommandWorld()
	e := cw.w.NewEntity()
	cw.c.Despawn(e)
	cw.c.Discard()
	cw.c.Flush()
	require.True(t, cw.w.Alive(e))
}

func TestCommandsDoNotAllocateInSteadyState(t *testing.T) {
	cw := newCommandWorld()
	e := cw.w.NewEntity(cw.pos)
	var born arche.Entity
	fill := func(w *arche.World, e arche.Entity, arg uint64) { born = e }
	work := func(w *arche.World) {}
	run := func() {
		cw.c.Add(e, cw.vel, cw.hit)
		cw.c.Remove(e, cw.vel)
		cw.c.Remove(e, cw.hit)
		SetValue(cw.c, e, cw.pos, position{X: 1})
		SetValue(cw.c, e, cw.vel, velocity{X: 1})
		cw.c.Remove(e, cw.vel)
		cw.c.Spawn(fill, 3, cw.pos, cw.hit)
		cw.c.Do(work)
		cw.c.Flush()
		cw.c.Despawn(born)
		cw.c.Flush()
	}
	run()
	require.Zero(t, testing.AllocsPerRun(100, run))
}
