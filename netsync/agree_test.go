package netsync_test

import (
	"net/netip"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/systems"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/movement"
	"github.com/stretchr/testify/require"
)

// glide is a movement mode of a game.
type glide struct{}

func (glide) ID() components.MovementMode                          { return components.FirstCustomMode }
func (glide) Name() string                                         { return "glide" }
func (glide) Step(*movement.Context, *movement.StepState, float64) {}

func TestEndsWithDifferentModesDoNotPlayTogether(t *testing.T) {
	network := transport.NewNetwork(nil)
	app := func(role ecs.Roles, modes *movement.Modes) *ecs.App {
		ground := collision.NewWorld()
		require.NoError(t, ground.AddLevel(0, collision.Arena()))
		return ecs.New(role).Use(&systems.Movement{Geometry: ground, Modes: modes})
	}
	play := func(t *testing.T, port uint16, theirs *movement.Modes) error {
		at := netip.AddrPortFrom(serverAddr.Addr(), port)
		sc, err := network.Listen(at)
		require.NoError(t, err)
		cc, err := network.Listen(netip.AddrPortFrom(netip.MustParseAddr("10.0.0.2"), port))
		require.NoError(t, err)
		ours := movement.NewModes()
		ours.Register(glide{})
		server, client := app(ecs.Server, ours), app(ecs.Client, theirs)
		server.Use(netsync.NewServer(sc, systems.NewSpawner(server.World()), netsync.ServerConfig{}))
		net := netsync.NewClient(cc, at, 1, systems.NewSpawner(client.World()), netsync.ClientConfig{})
		client.Use(net)
		server.Initialize()
		client.Initialize()
		for now := components.Ticks(0); now < 2*components.Second; now += components.Second / 60 {
			network.Advance(now)
			server.Frame(now)
			client.Frame(now)
		}
		require.Equal(t, net.Err() == nil, net.Session().State() == session.Connected)
		return net.Err()
	}
	same := movement.NewModes()
	same.Register(glide{})
	require.NoError(t, play(t, 1000, same))
	var refused *session.RefusedError
	require.ErrorAs(t, play(t, 1001, nil), &refused)
	require.Equal(t, "registered types and modes", refused.Which)
}
