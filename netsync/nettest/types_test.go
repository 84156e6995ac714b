package nettest_test

import (
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

type (
	gameHealth struct{ Points int32 }
	ammo       struct{ Rounds uint16 }
	mood       struct{ Anger float64 }
	team       struct{ Number uint8 }
)

func registerTypes(r *components.Registry) {
	components.RegisterReplicated(r, "game.health", components.ToAll, components.ExactCodec[gameHealth]())
	components.RegisterReplicated(r, "game.ammo", components.OwnerOnly, components.ExactCodec[ammo]())
	components.RegisterReplicated(r, "game.mood", components.SkipOwner, components.ExactCodec[mood]())
	components.RegisterReplicated(r, "game.team", components.Once, components.ExactCodec[team]())
}

func valueOf[T any](w *arche.World, e arche.Entity) (T, bool) {
	id := arche.ComponentID[T](w)
	if !w.Has(e, id) {
		var none T
		return none, false
	}
	return *(*T)(w.Get(e, id)), true
}

// typesSession has a player and an onlooker; the player's character has every
// type from its spawn on.
func typesSession(t *testing.T) (s *nettest.Session, server, owner, onlooker arche.Entity) {
	o := nettest.Options{Clients: 1, Onlookers: 1, Seed: 4, Link: link.Symmetric(100*time.Millisecond, 10*time.Millisecond, 10)}
	o.Server.Register, o.Client.Register = registerTypes, registerTypes
	s = session(t, o)
	owner, id, ok := s.Clients[0].Own(0)
	require.True(t, ok)
	server, ok = s.Server.Net.Entity(id)
	require.True(t, ok)
	w := s.Server.App.World()
	w.Add(server, arche.ComponentID[gameHealth](w), arche.ComponentID[ammo](w), arche.ComponentID[mood](w), arche.ComponentID[team](w))
	nettest.Component[gameHealth](w, server).Points = 75
	nettest.Component[ammo](w, server).Rounds = 12
	nettest.Component[mood](w, server).Anger = 0.5
	nettest.Component[team](w, server).Number = 3
	s.Advance(components.Second)
	onlooker, ok = s.Clients[1].Net.Entity(id)
	require.True(t, ok)
	return s, server, owner, onlooker
}

func TestRegisteredTypesReachThoseTheyAreFor(t *testing.T) {
	s, _, owner, onlooker := typesSession(t)
	own, other := s.Clients[0].App.World(), s.Clients[1].App.World()
	h, ok := valueOf[gameHealth](own, owner)
	require.True(t, ok)
	require.Equal(t, int32(75), h.Points)
	h, ok = valueOf[gameHealth](other, onlooker)
	require.True(t, ok)
	require.Equal(t, int32(75), h.Points)
	a, ok := valueOf[ammo](own, owner)
	require.True(t, ok)
	require.Equal(t, uint16(12), a.Rounds)
	_, ok = valueOf[ammo](other, onlooker)
	require.False(t, ok, "ammunition is for its owner")
	_, ok = valueOf[mood](own, owner)
	require.False(t, ok, "the mood is for the others")
	m, ok := valueOf[mood](other, onlooker)
	require.True(t, ok)
	require.Equal(t, 0.5, m.Anger)
	_, ok = valueOf[team](other, onlooker)
	require.False(t, ok, "what is told once is told at the spawn, and this came later")
}

func TestWhatIsToldOnceComesWithTheSpawn(t *testing.T) {
	s, server, _, _ := typesSession(t)
	require.NoError(t, s.Restart(1))
	s.Advance(2 * components.Second)
	id := nettest.Component[components.Character](s.Server.App.World(), server).ID
	e, ok := s.Clients[1].Net.Entity(id)
	require.True(t, ok)
	n, ok := valueOf[team](s.Clients[1].App.World(), e)
	require.True(t, ok)
	require.Equal(t, uint8(3), n.Number)
}

func TestChangedAndRemovedTypesFollow(t *testing.T) {
	s, server, owner, onlooker := typesSession(t)
	w := s.Server.App.World()
	nettest.Component[gameHealth](w, server).Points = -5
	w.Remove(server, arche.ComponentID[mood](w))
	s.Advance(components.Second)
	h, _ := valueOf[gameHealth](s.Clients[0].App.World(), owner)
	require.Equal(t, int32(-5), h.Points)
	_, ok := valueOf[mood](s.Clients[1].App.World(), onlooker)
	require.False(t, ok)
}
