package components

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMoveQueueBehavesAsASlice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := new(MoveQueue)
		var model []Stamp
		var next, acked Stamp
		hasAcked, pending := false, false
		slots := map[Stamp]int{}
		push := func(rt *rapid.T) {
			next++
			m, dropped := q.Push()
			require.Equal(rt, len(model) == MaxSavedMoves, dropped)
			require.Equal(rt, SavedMove{}, *m, "cleared")
			m.Cmd.Stamp = next
			m.Events = 9
			if model = append(model, next); dropped {
				model = model[1:]
			}
			slots[next] = q.Slot(q.Len() - 1)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"push": push,
			"push many": func(rt *rapid.T) {
				for range rapid.IntRange(2, MaxSavedMoves+5).Draw(rt, "n") {
					push(rt)
				}
			},
			"hold back": func(rt *rapid.T) {
				if len(model) > 0 {
					q.Pending, pending = true, true
				}
			},
			"pop": func(rt *rapid.T) {
				q.PopNewest()
				if len(model) > 0 {
					model, pending = model[:len(model)-1], false
				}
			},
			"ack": func(rt *rapid.T) {
				i := rapid.IntRange(-1, len(model)+1).Draw(rt, "i")
				q.Ack(i)
				if i >= 0 && i < len(model) {
					acked, hasAcked = model[i], true
					if model = model[i+1:]; len(model) == 0 {
						pending = false
					}
				}
			},
			"reset": func(rt *rapid.T) {
				q.NumResponses, q.NumSends = 1, 1
				q.Reset()
				model, acked, hasAcked, pending = nil, 0, false, false
				require.Zero(rt, q.NumResponses+q.NumSends)
			},
			"": func(rt *rapid.T) {
				require.Equal(rt, len(model), q.Len())
				require.Equal(rt, pending, q.Pending)
				require.Equal(rt, hasAcked, q.HasLastAcked)
				require.Equal(rt, acked, q.LastAcked.Cmd.Stamp)
				seen := map[int]bool{}
				for i, s := range model {
					require.Equal(rt, s, q.At(i).Cmd.Stamp)
					require.Equal(rt, i, q.Index(s))
					require.Equal(rt, slots[s], q.Slot(i), "a move keeps its place")
					require.False(rt, seen[q.Slot(i)])
					seen[q.Slot(i)] = true
				}
				require.Equal(rt, -1, q.Index(next+1))
				if len(model) == 0 {
					require.Nil(rt, q.Newest())
				} else {
					require.Same(rt, q.At(len(model)-1), q.Newest())
				}
			},
		})
	})
}
