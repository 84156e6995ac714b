package nettest_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

func TestEveryContainerIsALineOfTheCSV(t *testing.T) {
	var out bytes.Buffer
	csv := netsync.NewMovesCSV(&out)
	o := nettest.Options{Clients: 1, Seed: 2, Link: link.Symmetric(100*time.Millisecond, 0, 0)}
	o.Client.Input = nettest.GenerateInput(2, 30)
	o.Client.Extend = func(app *ecs.App) { arche.AddResource(app.World(), csv) }
	s := session(t, o)
	s.Advance(2 * components.Second)
	require.NoError(t, csv.Flush())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Equal(t, "time_s,character,stamp_s,moves,given_up,bits", lines[0])
	require.Len(t, lines, int(s.Clients[0].Stats.ContainersSent)+1)
	require.Len(t, strings.Split(lines[len(lines)-1], ","), 6)
}

func TestStepsOfOnlookersCapsulesAreRecordedWhenAsked(t *testing.T) {
	o := nettest.Options{Clients: 1, Onlookers: 1, Seed: 2, Link: link.Symmetric(100*time.Millisecond, 0, 0)}
	o.Client.Input = nettest.GenerateInput(2, 30)
	debug := components.DefaultDebug()
	o.Client.Debug = &debug
	s := session(t, o)
	w := s.Clients[1].App.World()
	log := ecs.Need[components.SimulatedCorrectionLog](w)
	s.Advance(components.Second)
	require.Zero(t, log.N, "off by default")
	ecs.Need[components.Debug](w).ShowSimulatedCorrections = true
	s.Advance(5 * components.Second)
	require.Positive(t, log.N)
	_, id, _ := s.Clients[0].Own(0)
	require.Equal(t, id, log.At(0).Character)
}

func TestServerThatEndsSaysGoodbye(t *testing.T) {
	o := nettest.Options{Clients: 1, Seed: 2}
	s, err := nettest.NewSession(o)
	require.NoError(t, err)
	require.NoError(t, s.Connect(5*components.Second))
	s.Server.App.Finalize()
	s.ServerPaused = true
	s.Advance(components.Second / 2)
	require.Error(t, s.Clients[0].Net.Err())
	_, _, ok := s.Clients[0].Own(0)
	require.False(t, ok, "nothing of the session is left")
}

func TestServerThatEndedAndStartsAnewIsFoundAtOnce(t *testing.T) {
	o := nettest.Options{Clients: 1, Seed: 3}
	o.Client.Reconnect = true
	s := session(t, o)
	old := s.Server
	old.App.Finalize()
	s.ServerPaused = true
	s.Advance(components.Second / 2)
	require.NoError(t, old.Conn.Close())
	conn, err := s.Network.Listen(nettest.ServerAddr)
	require.NoError(t, err)
	o.Server.Session.Secret = [16]byte{5}
	s.Server, err = nettest.NewServerNode(conn, o.Server)
	require.NoError(t, err)
	s.ServerPaused = false
	s.Advance(2 * components.Second)
	_, _, ok := s.Clients[0].Own(0)
	require.True(t, ok)
}

// greedy asks for more acceleration than its profile has.
type greedy struct {
	filter arche.Filter
	intent arche.ID
	factor float64
}

func (g *greedy) Phase() ecs.Phase { return ecs.Input }
func (g *greedy) Roles() ecs.Roles { return ecs.Client }
func (g *greedy) After() []string  { return []string{"InputConsume"} }
func (g *greedy) Initialize(w *arche.World) {
	g.intent = ecs.RegisterComponent[components.Intent](w)
	m := arche.All(g.intent)
	g.filter = &m
}

func (g *greedy) Update(w *arche.World) {
	q := w.Query(g.filter)
	for q.Next() {
		in := (*components.Intent)(q.Get(g.intent))
		for i := range in.Acceleration {
			in.Acceleration[i] = movement.RoundAcceleration(components.Vec3{in.Acceleration[i] * g.factor})[0]
		}
	}
}

func (g *greedy) Finalize(*arche.World) {}

func TestMoreAccelerationThanTheProfileHasIsCorrectedByName(t *testing.T) {
	for _, factor := range []float64{1, 1.5} {
		o := nettest.Options{Clients: 1, Seed: 2, Link: link.Symmetric(100*time.Millisecond, 0, 0)}
		o.Client.Input = nettest.GenerateInput(2, 30)
		o.Client.Extend = func(app *ecs.App) { app.Add(&greedy{factor: factor}) }
		s := session(t, o)
		s.Advance(10 * components.Second)
		got := s.Clients[0].Stats.Corrections[components.CorrectAcceleration]
		require.Equal(t, factor > 1, got > 0, "%v times: %d", factor, got)
	}
}
