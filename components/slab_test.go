package components

import (
	"testing"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A slab against a map: whatever the order of calls, a handle finds what was
// put in under it until it is freed, and nothing after that.
func TestSlabBehavesAsAMap(t *testing.T) {
	world := arche.NewWorld()
	var owners []arche.Entity
	for range 8 {
		owners = append(owners, world.NewEntity())
	}
	type entry struct {
		value int
		owner arche.Entity
	}
	rapid.Check(t, func(rt *rapid.T) {
		var s Slab[int]
		model := map[Handle]entry{}
		var dead, alive []Handle
		drop := func(i int) {
			dead = append(dead, alive[i])
			delete(model, alive[i])
			alive = append(alive[:i], alive[i+1:]...)
		}
		pick := func(rt *rapid.T) int {
			if len(alive) == 0 {
				rt.Skip("nothing is alive")
			}
			return rapid.IntRange(0, len(alive)-1).Draw(rt, "i")
		}
		most := 0
		rt.Repeat(map[string]func(*rapid.T){
			"alloc": func(rt *rapid.T) {
				o := rapid.SampledFrom(owners).Draw(rt, "owner")
				h := s.Alloc(o)
				require.NotZero(rt, h)
				require.NotContains(rt, model, h)
				require.NotContains(rt, dead, h)
				require.Zero(rt, *s.Get(h), "cleared")
				v := rapid.Int().Draw(rt, "v")
				*s.Get(h) = v
				model[h] = entry{v, o}
				alive = append(alive, h)
				most = max(most, len(alive))
			},
			"free": func(rt *rapid.T) {
				i := pick(rt)
				s.Free(alive[i])
				drop(i)
			},
			"free stale": func(rt *rapid.T) {
				if len(dead) > 0 {
					s.Free(rapid.SampledFrom(dead).Draw(rt, "dead"))
				}
				s.Free(0)
			},
			"sweep": func(rt *rapid.T) {
				gone := rapid.SampledFrom(owners).Draw(rt, "gone")
				n := s.Sweep(func(o arche.Entity, h Handle) bool {
					require.Equal(rt, model[h].owner, o)
					return o != gone
				})
				was := len(alive)
				for i := len(alive) - 1; i >= 0; i-- {
					if model[alive[i]].owner == gone {
						drop(i)
					}
				}
				require.Equal(rt, was-len(alive), n)
			},
			"": func(rt *rapid.T) {
				require.Equal(rt, len(model), s.Len())
				require.Equal(rt, most, s.Cap(), "slots are used again")
				for h, e := range model {
					require.Equal(rt, e.value, *s.Get(h))
					require.Equal(rt, e.owner, s.Owner(h))
				}
				for _, h := range dead {
					require.Nil(rt, s.Get(h))
					require.Equal(rt, arche.Entity{}, s.Owner(h))
				}
			},
		})
	})
}

func TestForeignHandlesFindNothing(t *testing.T) {
	var s Slab[int]
	require.Nil(t, s.Get(0))
	h := s.Alloc(arche.Entity{})
	for _, bad := range []Handle{0, h + 1, h ^ 1<<slotBits, h &^ slotMask, ^Handle(0)} {
		require.Nil(t, s.Get(bad), "%#x", bad)
	}
}

func TestGenerationsSkipZero(t *testing.T) {
	var s Slab[int]
	first := s.Alloc(arche.Entity{})
	h := first
	for range genMask - 1 {
		s.Free(h)
		h = s.Alloc(arche.Entity{})
		require.NotEqual(t, first, h)
		require.NotZero(t, uint32(h)>>slotBits)
	}
	s.Free(h)
	require.Equal(t, first, s.Alloc(arche.Entity{}), "4,095 generations later")
}

func TestUsedSlabDoesNotAllocate(t *testing.T) {
	var s Slab[MoveQueue]
	s.Free(s.Alloc(arche.Entity{}))
	require.Zero(t, testing.AllocsPerRun(10, func() { s.Free(s.Alloc(arche.Entity{})) }))
}
