package netsync_test

import (
	"net/netip"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/systems"
	"github.com/gaitnet/gait/systems/collision"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

var serverAddr = netip.MustParseAddrPort("10.0.0.1:7777")

func moving(t *testing.T, role ecs.Roles) *ecs.App {
	ground := collision.NewWorld()
	require.NoError(t, ground.AddLevel(0, collision.Arena()))
	return ecs.New(role).Use(&systems.Movement{Geometry: ground})
}

func TestMisuseIsToldWhereItIsMade(t *testing.T) {
	conn, err := transport.NewNetwork(nil).Listen(serverAddr)
	require.NoError(t, err)
	server := func(conn transport.Conn, s netsync.Spawner) *netsync.Server {
		return netsync.NewServer(conn, s, netsync.ServerConfig{})
	}
	for name, c := range map[string]struct {
		role ecs.Roles
		make func(app *ecs.App) ecs.Plugin
		want string
	}{
		"no connection": {ecs.Server, func(app *ecs.App) ecs.Plugin {
			return server(nil, systems.NewSpawner(app.World()))
		}, "netsync.Server: it was given no connection"},
		"no spawner": {ecs.Client, func(app *ecs.App) ecs.Plugin {
			return netsync.NewClient(conn, serverAddr, 1, nil, netsync.ClientConfig{})
		}, "netsync.Client: it was given no spawner"},
		"a spawner of another world": {ecs.Server, func(app *ecs.App) ecs.Plugin {
			other := arche.NewWorld()
			return server(conn, systems.NewSpawner(&other))
		}, "netsync.Server: its spawner makes characters in another world than the app's"},
		"a second one": {ecs.Server, func(app *ecs.App) ecs.Plugin {
			app.Use(server(conn, systems.NewSpawner(app.World())))
			return server(conn, systems.NewSpawner(app.World()))
		}, "netsync.Server: the app has a network already"},
		"the other end's role": {ecs.Client, func(app *ecs.App) ecs.Plugin {
			return server(conn, systems.NewSpawner(app.World()))
		}, "netsync.Server: the app's role is Client, which has no authority"},
	} {
		t.Run(name, func(t *testing.T) {
			app := moving(t, c.role)
			p := c.make(app)
			require.PanicsWithValue(t, c.want, func() { app.Use(p) })
		})
	}
}

func TestNetworkBeforeMovementPanics(t *testing.T) {
	conn, err := transport.NewNetwork(nil).Listen(serverAddr)
	require.NoError(t, err)
	app := ecs.New(ecs.Server)
	s := netsync.NewServer(conn, systems.NewSpawner(app.World()), netsync.ServerConfig{})
	require.PanicsWithValue(t, "netsync.Server: the world holds no movement profiles; use systems.Movement before it",
		func() { app.Use(s) })
}

func TestJoinWithAnUnknownProfilePanics(t *testing.T) {
	network := transport.NewNetwork(nil)
	conn, err := network.Listen(serverAddr)
	require.NoError(t, err)
	peer, err := network.Listen(netip.MustParseAddrPort("10.0.0.2:9000"))
	require.NoError(t, err)
	app, player := moving(t, ecs.Server), moving(t, ecs.Client)
	app.Use(netsync.NewServer(conn, systems.NewSpawner(app.World()), netsync.ServerConfig{
		Join: func(components.PlayerID) []components.CharacterSpec { return make([]components.CharacterSpec, 1) },
	}))
	player.Use(netsync.NewClient(peer, serverAddr, 5, systems.NewSpawner(player.World()), netsync.ClientConfig{}))
	app.Initialize()
	player.Initialize()
	require.PanicsWithValue(t,
		"netsync.ServerConfig: Join gave player 5 a character of profile 0, revision 0, which the table does not hold",
		func() {
			for now := components.Ticks(0); now < 2*components.Second; now += components.Second / 60 {
				network.Advance(now)
				player.Frame(now)
				app.Frame(now)
			}
		})
}
