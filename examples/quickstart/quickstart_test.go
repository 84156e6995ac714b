package quickstart_test

import (
	"fmt"
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/examples/quickstart"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/transport"
	arche "github.com/mlange-42/arche/ecs"
)

func Example() {
	// Over a memory network on virtual time; transport.ListenUDP does the same
	// over a socket.
	network := transport.NewNetwork(nil)
	at := netip.MustParseAddrPort("10.0.0.1:7777")
	serverConn, _ := network.Listen(at)
	clientConn, _ := network.Listen(netip.MustParseAddrPort("10.0.0.2:9000"))

	var hero arche.Entity
	server := quickstart.Serve(serverConn)
	client := quickstart.Play(clientConn, at, func(e arche.Entity, own bool) { hero = e })

	for now := components.Ticks(0); now < 3*components.Second; now += components.Second / 60 {
		network.Advance(now)
		server.Frame(now)
		if client.World().Alive(hero) && !hero.IsZero() {
			nettest.Component[components.Input](client.World(), hero).Add(1, 0, 0) // forward
		}
		client.Frame(now)
	}
	mesh := nettest.Component[components.MeshTransform](client.World(), hero)
	stats := nettest.Component[components.MovementState](client.World(), hero)
	fmt.Println("runs at", stats.Velocity.Len(), "cm/s; drawn where it is:", mesh.Location == stats.Location)
	// Output: runs at 600 cm/s; drawn where it is: true
}
