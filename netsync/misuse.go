package netsync

import (
	"fmt"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/transport"
	arche "github.com/mlange-42/arche/ecs"
)

// mustFit panics at what a plugin cannot work with: a programmer's errors, told
// where they are made instead of in the first frame that meets them. who is the
// plugin's name.
func mustFit(who string, app *ecs.App, conn transport.Conn, spawner Spawner) {
	if conn == nil {
		panic(who + ": it was given no connection")
	}
	if spawner == nil {
		panic(who + ": it was given no spawner")
	}
	if s, ok := spawner.(interface{ World() *arche.World }); ok && s.World() != app.World() {
		panic(who + ": its spawner makes characters in another world than the app's")
	}
	if ecs.Maybe[components.ProfileTable](app.World()) == nil {
		panic(who + ": the world holds no movement profiles; use systems.Movement before it")
	}
	for _, s := range app.Systems(ecs.Receive) {
		switch s.System.(type) {
		case *serverReceive, *clientReceive:
			panic(who + ": the app has a network already")
		}
	}
}

// mustHaveProfile panics at a character that no client could be told of.
func mustHaveProfile(t *components.ProfileTable, player components.PlayerID, spec *components.CharacterSpec) {
	if t.Get(spec.Profile) == nil {
		panic(fmt.Sprintf("netsync.ServerConfig: Join gave player %d a character of profile %d, revision %d, which the table does not hold",
			player, spec.Profile.ID, spec.Profile.Revision))
	}
}
