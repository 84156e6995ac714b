package ecs

import (
	"strings"
	"testing"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func in(p Phase, name string, after, before []string) *stub {
	return &stub{name: name, phase: p, roles: AllRoles, after: after, before: before}
}

func TestSystemsRunInOrderOfAddingWithinAPhase(t *testing.T) {
	a := New(Client)
	a.Add(in(Input, "b", nil, nil), in(Simulate, "c", nil, nil), in(Input, "a", nil, nil))
	require.Equal(t, []string{"b", "a"}, names(a.Systems(Input)))
	require.Equal(t, []string{"c"}, names(a.Systems(Simulate)))
}

func TestAfterAndBeforeChangeTheOrder(t *testing.T) {
	a := New(Client)
	a.Add(
		in(Input, "last", []string{"mid"}, nil),
		in(Input, "mid", nil, nil),
		in(Input, "free", nil, nil),
		in(Input, "first", nil, []string{"mid", "free"}),
	)
	require.Equal(t, []string{"first", "mid", "last", "free"}, names(a.Systems(Input)))
}

func TestAbsentNameIsIgnoredAndShown(t *testing.T) {
	a := New(Client)
	a.Add(in(Input, "x", []string{"nobody"}, []string{"noone"}))
	require.Equal(t, []string{"nobody", "noone"}, a.Systems(Input)[0].Absent)
	var b strings.Builder
	require.NoError(t, a.WriteSchedule(&b))
	require.Equal(t, "Client\n  Input    x (absent: nobody, noone)\n", b.String())
}

func TestNameOfAnotherRoleIsAbsent(t *testing.T) {
	a := New(Client)
	server := in(Input, "server", nil, nil)
	server.roles = Server
	a.Add(server, in(Input, "x", []string{"server"}, nil))
	require.Equal(t, []string{"server"}, a.Systems(Input)[0].Absent)
}

func TestDependencyOnAnEarlierPhaseHoldsAlready(t *testing.T) {
	a := New(Client)
	a.Add(in(Simulate, "x", []string{"early"}, nil), in(Input, "early", nil, []string{"x"}))
	require.Equal(t, []string{"x"}, names(a.Systems(Simulate)))
	require.Empty(t, a.Systems(Simulate)[0].Absent)
}

func TestDependencyAgainstTheOrderOfPhasesPanics(t *testing.T) {
	a := New(Client)
	a.Add(in(Input, "x", []string{"late"}, nil), in(Send, "late", nil, nil))
	require.PanicsWithValue(t, "ecs.App: x (Input) wants to run after late (Send), against the order of phases", a.Initialize)
	b := New(Client)
	b.Add(in(Send, "x", nil, []string{"early"}), in(Input, "early", nil, nil))
	require.PanicsWithValue(t, "ecs.App: x (Send) wants to run before early (Input), against the order of phases", b.Initialize)
}

func TestCyclePanicsWithItsNames(t *testing.T) {
	a := New(Client)
	a.Add(
		in(Input, "outside", nil, nil),
		in(Input, "tail", []string{"a"}, nil),
		in(Input, "a", []string{"c"}, nil),
		in(Input, "b", []string{"a"}, nil),
		in(Input, "c", []string{"b"}, nil),
	)
	require.PanicsWithValue(t, "ecs.App: systems wait for each other: a after c after b after a", a.Initialize)
	b := New(Client)
	b.Add(in(Input, "self", []string{"self"}, nil))
	require.PanicsWithValue(t, "ecs.App: systems wait for each other: self after self", b.Initialize)
}

func TestOrderKeepsEveryDependency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		rank := rapid.Permutation(seq(n)).Draw(t, "rank")
		list := make([]Scheduled, n)
		for i := range list {
			list[i].Name = string(rune('a' + i))
		}
		type edge struct{ first, then string }
		var edges []edge
		for range rapid.IntRange(0, 20).Draw(t, "edges") {
			i, j := rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j")
			if rank[i] >= rank[j] {
				continue // follows the ranks, so there is no cycle
			}
			edges = append(edges, edge{list[i].Name, list[j].Name})
			if rapid.Bool().Draw(t, "after") {
				list[j].after = append(list[j].after, list[i].Name)
			} else {
				list[i].before = append(list[i].before, list[j].Name)
			}
		}
		place := map[string]int{}
		for i, s := range sortPhase(list) {
			place[s.Name] = i
		}
		if len(place) != n {
			t.Fatalf("%d of %d placed", len(place), n)
		}
		for _, e := range edges {
			if place[e.first] >= place[e.then] {
				t.Fatalf("%s is not before %s", e.first, e.then)
			}
		}
	})
}

func seq(n int) (s []int) {
	for i := range n {
		s = append(s, i)
	}
	return s
}

type unnamed struct{}

func (unnamed) Initialize(*arche.World) {}
func (unnamed) Update(*arche.World)     {}
func (unnamed) Finalize(*arche.World)   {}

type generic[T any] struct{ unnamed }

func TestSystemIsNamedAfterItsType(t *testing.T) {
	require.Equal(t, "unnamed", NameOf(unnamed{}))
	require.Equal(t, "unnamed", NameOf(&unnamed{}))
	require.Equal(t, "generic[github.com/gaitnet/gait/ecs.position]", NameOf(&generic[position]{}))
	require.Equal(t, "own", NameOf(&stub{name: "own"}))
}

func TestSystemsReturnsACopy(t *testing.T) {
	a := New(Client)
	a.Add(in(Input, "x", nil, nil))
	a.Systems(Input)[0].Name = "changed"
	require.Equal(t, []string{"x"}, names(a.Systems(Input)))
}
