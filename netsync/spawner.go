package netsync

import (
	"github.com/gaitnet/gait/components"
	arche "github.com/mlange-42/arche/ecs"
)

// Spawner makes and removes the entities that the network asks for. The one of
// package systems fits; a game wraps it to add components of its own.
type Spawner interface {
	// Remote makes the server's copy of a character with a remote owner; drawn
	// adds its mesh (a listen server).
	Remote(spec components.CharacterSpec, drawn bool) arche.Entity
	// Owner and Proxy make a client's copies.
	Owner(spec components.CharacterSpec) arche.Entity
	Proxy(spec components.CharacterSpec) arche.Entity
	// Possess gives the server's copy to a player in a new epoch.
	Possess(e arche.Entity, player components.PlayerID) components.Possession
	// Despawn removes an entity and gives back what it held.
	Despawn(e arche.Entity)
}

// FirstCharacterID is the first NetID that a server gives to a character; the
// ones below are for the obstacles of a level, which both ends number alike.
const FirstCharacterID components.NetID = 256
