package nettest_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/nettest"
	conns "github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/systems/collision"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

// edges calls f with copies of v in each of which one number or switch is as
// extreme as valid lets it be.
func edges[T any](v T, valid func(*T) error, f func(name string, v T)) {
	for i := range reflect.TypeFor[T]().NumField() {
		field := reflect.TypeFor[T]().Field(i)
		for _, x := range []float64{-1e300, -1e9, -1e6, -600, -1, 0, 1e-300, 1e-9, 0.001, 0.01, 0.1, 1, 2, 10, 60, 512, 1e3, 1e4, 1e6, 1e9, 1e12, 1e300} {
			c := v
			switch p := reflect.ValueOf(&c).Elem().Field(i); {
			case p.CanFloat():
				p.SetFloat(x)
			case p.CanInt():
				if math.Abs(x) > math.MaxInt32 || p.OverflowInt(int64(x)) {
					continue
				}
				p.SetInt(int64(x))
			case p.CanUint():
				if x < 0 || x > math.MaxInt32 || p.OverflowUint(uint64(x)) {
					continue
				}
				p.SetUint(uint64(x))
			case p.Kind() == reflect.Bool:
				p.SetBool(x < 0)
			}
			if valid(&c) == nil {
				f(fmt.Sprintf("%s %g", field.Name, x), c)
			}
		}
	}
}

// soundState makes sure that nothing in a session is a number that is none,
// and that everybody is still connected.
func soundState(t testing.TB, s *nettest.Session, why string) {
	t.Helper()
	s.Server.Net.Characters(func(id components.NetID, _ components.PlayerID, st *components.MovementState) {
		require.Empty(t, finite(st), "%s: on the server", why)
	})
	for i, c := range s.Clients {
		require.Equal(t, conns.Connected, c.Net.Session().State(), "%s: client %d", why, i)
		s.Server.Net.Characters(func(id components.NetID, _ components.PlayerID, _ *components.MovementState) {
			require.Empty(t, finite(stateOf(c, id)), "%s: client %d", why, i)
			require.Empty(t, finite(meshOf(c, id)), "%s: client %d", why, i)
		})
	}
}

// TestExtremeSettingsWhileRunningHarmNothing: each setting goes to each extreme
// that is valid and back, while everybody plays.
func TestExtremeSettingsWhileRunningHarmNothing(t *testing.T) {
	t.Parallel()
	o := nettest.Options{Clients: 1, Onlookers: 1, Seed: 150, Link: rtt(60*ms, 10*ms, 2)}
	o.Client.Input = humans(t)[0]
	s := session(t, o)
	def := *s.Server.Settings
	n := 0
	edges(def, (*components.Settings).Validate, func(name string, v components.Settings) {
		n++
		*s.Server.Settings = v
		for _, c := range s.Clients {
			// What only draws does not travel.
			*c.Settings = v
		}
		s.Advance(second / 4)
		soundState(t, s, name)
	})
	require.Greater(t, n, 300)
	*s.Server.Settings = def
	for _, c := range s.Clients {
		*c.Settings = def
	}
	s.Advance(2 * second)
	settled(t, s, "after all extremes")
}

// TestSettingsThatNothingWorksWithPanicByName: a server does not go on with
// settings that every client refuses.
func TestSettingsThatNothingWorksWithPanicByName(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]func(*components.Settings){
		"NetUpdateFrequency": func(v *components.Settings) { v.NetUpdateFrequency = 0 },
		"MaxSmoothDistance":  func(v *components.Settings) { v.MaxSmoothDistance = math.NaN() },
	} {
		s := session(t, on(flat(t), nettest.Options{Clients: 1, Seed: 155}))
		good := *s.Server.Settings
		bad(s.Server.Settings)
		require.PanicsWithValue(t, fmt.Sprintf("netsync.Server: %v", s.Server.Settings.Validate()), func() { s.Advance(second / 10) })
		require.ErrorContains(t, s.Server.Settings.Validate(), name)
		*s.Server.Settings = good
	}
}

// TestExtremeProfilesAreSimulatedAlike: each number of a profile at each
// extreme that is valid, as a revision while a human plays.
func TestExtremeProfilesAreSimulatedAlike(t *testing.T) {
	t.Parallel()
	o := nettest.Options{Clients: 1, Onlookers: 1, Seed: 151, Link: rtt(60*ms, 0, 0)}
	o.Client.Input = humans(t)[0]
	s := session(t, o)
	n := 0
	edges(components.DefaultProfile(), (*components.MovementProfile).Validate, func(name string, v components.MovementProfile) {
		n++
		require.NoError(t, s.Server.Net.Revise(s.Server.Ref.ID, v), name)
		s.Advance(second / 3)
		soundState(t, s, name)
	})
	require.Greater(t, n, 200)
	require.NoError(t, s.Server.Net.Revise(s.Server.Ref.ID, components.DefaultProfile()))
	s.Advance(2 * second)
	soundState(t, s, "at the end")
	live(t, driven(s), 0, "at the end")
}

// TestFallWithoutEndStaysFinite: a level with nothing in it, neither a floor nor
// a place to spawn at.
func TestFallWithoutEndStaysFinite(t *testing.T) {
	t.Parallel()
	l, err := collision.NewBuilder().Build()
	require.NoError(t, err)
	s := session(t, on(l, nettest.Options{Clients: 1, Onlookers: 1, Seed: 152, FPS: 30, Link: rtt(60*ms, 10*ms, 2)}))
	drive(s, straight)
	s.Advance(span(30*minute, minute))
	soundState(t, s, "in the air")
	require.Zero(t, s.Corrections(), correctionsBy(s))
	id := owned(t, s, 0)
	require.Less(t, onServer[components.MovementState](s, id).Location[2], -1e5)
	require.InDelta(t, onServer[components.MovementState](s, id).Location[2], stateOf(s.Clients[1], id).Location[2], 2000)

	// As far down as a month of falling leads.
	e, _ := s.Server.Net.Entity(id)
	for _, z := range []float64{-1e8, -1e9, -1e10} {
		s.Server.Spawner.Teleport(e, components.Vec3{0, 0, z}, 0)
		s.Advance(2 * second)
		soundState(t, s, fmt.Sprint(z))
		got := onServer[components.MovementState](s, id).Location[2]
		require.InDelta(t, got, stateOf(s.Clients[0], id).Location[2], 2000+1e-9*math.Abs(z), "%g: the owner", z)
	}
}

// TestObstacleThatGoesUnderItsRider: the base is taken out of the world on both
// ends, one after the other, and its rider stands on the floor in the end.
func TestObstacleThatGoesUnderItsRider(t *testing.T) {
	for _, first := range []string{"server", "clients"} {
		t.Run(first+" first", func(t *testing.T) {
			t.Parallel()
			s := session(t, on(flat(t, carousel), riders(nettest.Options{Clients: 1, Onlookers: 1, Seed: 153, Link: rtt(100*ms, 10*ms, 2)})))
			drive(s, func(int, components.Ticks) keys { return keys{} })
			s.Advance(2 * second)
			id, base := owned(t, s, 0), carousel.Obstacle.ID
			require.Equal(t, base, onServer[components.MovementState](s, id).Base, "it rides")
			gone := func(who string) {
				if who == "server" {
					require.True(t, s.Server.Ground.RemoveObstacle(base))
					return
				}
				for _, c := range s.Clients {
					require.True(t, c.Ground.RemoveObstacle(base))
				}
			}
			gone(first)
			s.Advance(second / 2)
			for _, who := range []string{"server", "clients"} {
				if who != first {
					gone(who)
				}
			}
			s.Advance(3 * second)
			soundState(t, s, "without its base")
			st := onServer[components.MovementState](s, id)
			require.Zero(t, st.Base)
			require.Equal(t, components.ModeWalking, st.Mode)
			require.InDelta(t, 90, st.Location[2], 1, "on the floor")
			live(t, driven(s), 0, "without its base")
			settled(t, s, "without its base")
		})
	}
}

// TestWorldWith200TypesIsAdopted: a user's game with many component types of
// its own, on both sides.
func TestWorldWith200TypesIsAdopted(t *testing.T) {
	t.Parallel()
	crowded := func() *arche.World {
		w := newWorld()
		for i := range 200 {
			id := arche.TypeID(w, reflect.ArrayOf(i+1, reflect.TypeFor[int32]()))
			w.NewEntity(id)
		}
		return w
	}
	o := on(flat(t), nettest.Options{Clients: 1, Seed: 154, Link: rtt(60*ms, 10*ms, 2)})
	o.Server.World, o.Client.World = crowded(), crowded()
	s := session(t, o)
	drive(s, straight)
	s.Advance(2 * second)
	require.Zero(t, s.Corrections(), correctionsBy(s))
	settled(t, s, "among 200 types")
}

// TestTwoServersInOneProcess: with other levels, settings and profiles, their
// frames in turn; each is as it is alone.
func TestTwoServersInOneProcess(t *testing.T) {
	t.Parallel()
	in := humans(t)[0]
	make := func(i int) *nettest.Session {
		o := nettest.Options{Clients: 2, Onlookers: 1, Seed: uint64(160 + i), Link: rtt(60*ms, 10*ms, 2)}
		o.Client.Input = in
		if i == 1 {
			o = on(flat(t), o)
			p := components.DefaultProfile()
			p.MaxWalkSpeed = 900
			both(&o, func(c *nettest.NodeConfig) { c.Profile = &p })
			o = with(o, func(s *components.Settings) { s.NetUpdateFrequency = 7 })
		}
		return session(t, o)
	}
	var alone, together [2]string
	for i := range alone {
		s := make(i)
		for range 100 {
			s.Advance(second / 20)
		}
		alone[i] = s.Server.Chain.String()
	}
	two := [2]*nettest.Session{make(0), make(1)}
	for range 100 {
		for _, s := range two {
			s.Advance(second / 20)
		}
	}
	for i, s := range two {
		together[i] = s.Server.Chain.String()
	}
	require.Equal(t, alone, together)
	require.NotEqual(t, alone[0], alone[1])
}
