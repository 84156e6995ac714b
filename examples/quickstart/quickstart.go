// Package quickstart is the shortest whole game: a server, a client, a
// character that runs. The README shows it; its test runs it.
package quickstart

import (
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/systems"
	"github.com/gaitnet/gait/systems/collision"
	arche "github.com/mlange-42/arche/ecs"
)

// Serve makes a dedicated server: every player who joins gets a character.
func Serve(conn transport.Conn) *ecs.App {
	ground := collision.NewWorld()
	_ = ground.AddLevel(0, collision.Arena()) // an empty world takes any level
	profiles := systems.DefaultProfiles()

	app := ecs.New(ecs.Server, ecs.Fixed(ecs.Hz(30)), ecs.Catch(ecs.KeepTime))
	app.Use(&systems.Movement{Geometry: ground, Profiles: profiles})
	app.Use(netsync.NewServer(conn, systems.NewSpawner(app.World()), netsync.ServerConfig{
		Level: collision.Arena().Hash(),
		Join: func(player components.PlayerID) []components.CharacterSpec {
			hero, _ := profiles.Newest(0)
			return []components.CharacterSpec{systems.SpecAt(0, profiles, hero, components.Vec3{0, 0, 90.15}, 0)}
		},
	}))
	app.Initialize()
	return app // call app.Frame(now) as often as you like
}

// Play makes a player's client; spawned gets each character as it appears.
func Play(conn transport.Conn, server netip.AddrPort, spawned func(e arche.Entity, own bool)) *ecs.App {
	ground := collision.NewWorld()
	_ = ground.AddLevel(0, collision.Arena())

	app := ecs.New(ecs.Client)
	app.Use(&systems.Movement{Geometry: ground})
	app.Use(netsync.NewClient(conn, server, 1, systems.NewSpawner(app.World()), netsync.ClientConfig{
		Level:   collision.Arena().Hash(),
		Spawned: func(e arche.Entity, _ components.CharacterSpec, own bool) { spawned(e, own) },
	}))
	app.Initialize()
	return app // once a frame: write the character's Input, app.Frame(now), draw its MeshTransform
}
