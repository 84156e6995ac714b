package nettest_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/systems"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

const (
	second = components.Second
	msec   = components.Second / 1000
	ms     = time.Millisecond
	// runSpeed of the default profile, cm/s.
	runSpeed = 600.0
)

// flat is an open floor without anything on it: what is measured there has no
// part of the level in it.
func flat(t testing.TB, obstacles ...collision.Scripted) *collision.Level {
	t.Helper()
	b := collision.NewBuilder().Floor(0, 1e6)
	for _, o := range obstacles {
		b.Obstacle(o.Obstacle, o.Motion)
	}
	for i := range 8 {
		b.Spawn(components.Vec3{0, float64(300 * i), 0})
	}
	l, err := b.Build()
	require.NoError(t, err)
	return l
}

// both changes what server and clients have in common.
func both(o *nettest.Options, f func(*nettest.NodeConfig)) {
	f(&o.Server.NodeConfig)
	f(&o.Client.NodeConfig)
}

// on plays a session on a level.
func on(l *collision.Level, o nettest.Options) nettest.Options {
	both(&o, func(c *nettest.NodeConfig) { c.Level = l })
	return o
}

// with changes the default settings of both ends.
func with(o nettest.Options, f func(*components.Settings)) nettest.Options {
	both(&o, func(c *nettest.NodeConfig) {
		s := components.DefaultSettings()
		if c.Settings != nil {
			s = *c.Settings
		}
		f(&s)
		c.Settings = &s
	})
	return o
}

func rtt(d, jitter time.Duration, loss float64) link.Config { return link.Symmetric(d, jitter, loss) }

// keys are what a player holds down for a frame.
type keys struct {
	forward, right, yaw float64
	jump, crouch        bool
}

// drive lets play hold the keys of every client's characters, from each frame
// for the next one, in place of who did before. at is the time since drive was
// called.
func drive(s *nettest.Session, play func(client int, at components.Ticks) keys) {
	p := &player{play, s.Now}
	if before, ok := players.Swap(s, p); ok {
		*before.(*player) = *p
		players.Store(s, before)
		return
	}
	eachFrame(s, func(i int) {
		hold(s.Clients[i], p.play(i, s.Now-p.start))
	})
}

type player struct {
	play  func(client int, at components.Ticks) keys
	start components.Ticks
}

// players holds who drives each session.
var players sync.Map

// hold presses keys for a client's next frame.
func hold(c *nettest.ClientNode, k keys) {
	for i := range c.Net.Owned() {
		if e, _, ok := c.Own(i); ok {
			press(nettest.Component[components.Input](c.App.World(), e), k)
		}
	}
}

func press(in *components.Input, k keys) {
	in.Vector = components.Vec3{k.forward, k.right, 0}
	in.Control.Yaw = k.yaw
	in.SetButton(components.FlagJumpPressed, k.jump)
	in.SetButton(components.FlagWantsToCrouch, k.crouch)
}

// eachFrame adds to what is called after a client's frame, eachTick after a
// server's tick.
func eachFrame(s *nettest.Session, f func(client int)) {
	before := s.OnClientFrame
	s.OnClientFrame = func(i int) {
		if before != nil {
			before(i)
		}
		f(i)
	}
}

func eachTick(s *nettest.Session, f func()) {
	before := s.OnServerTick
	s.OnServerTick = func() {
		if before != nil {
			before()
		}
		f()
	}
}

// straight holds the stick forward from now on.
func straight(int, components.Ticks) keys { return keys{forward: 1} }

// part of a client's entity; nil while it has none.
func part[T any](c *nettest.ClientNode, id components.NetID) *T {
	e, ok := c.Net.Entity(id)
	w := c.App.World()
	cid := arche.ComponentID[T](w)
	if !ok || !w.Has(e, cid) {
		return nil
	}
	return (*T)(w.Get(e, cid))
}

// onServer is a component of the server's copy; nil while there is none.
func onServer[T any](s *nettest.Session, id components.NetID) *T {
	e, ok := s.Server.Net.Entity(id)
	w := s.Server.App.World()
	cid := arche.ComponentID[T](w)
	if !ok || !w.Has(e, cid) {
		return nil
	}
	return (*T)(w.Get(e, cid))
}

// owned is the first character of a client.
func owned(t testing.TB, s *nettest.Session, client int) components.NetID {
	t.Helper()
	_, id, ok := s.Clients[client].Own(0)
	require.True(t, ok, "client %d owns a character", client)
	return id
}

// queueOf is a client's queue of saved moves; nil while it owns nothing.
func queueOf(c *nettest.ClientNode) *components.MoveQueue {
	ids := c.Net.Owned()
	if len(ids) == 0 {
		return nil
	}
	p := part[components.ClientPrediction](c, ids[0])
	if p == nil {
		return nil
	}
	return ecs.Need[components.MoveQueues](c.App.World()).Get(p.Queue)
}

func stateOf(c *nettest.ClientNode, id components.NetID) *components.MovementState {
	return part[components.MovementState](c, id)
}

func meshOf(c *nettest.ClientNode, id components.NetID) *components.MeshTransform {
	return part[components.MeshTransform](c, id)
}

// settled lets everything stand still and then compares every owner and every
// onlooker with the server: exact for owners, as quantised for the others.
func settled(t testing.TB, s *nettest.Session, why string) {
	t.Helper()
	standStill(s)
	agree(t, s, why, 1e-9)
}

// settledNear is settled where the server had to fill a silence by itself: what
// that left within the threshold is not corrected.
func settledNear(t testing.TB, s *nettest.Session, why string) {
	t.Helper()
	standStill(s)
	agree(t, s, why, math.Sqrt(s.Server.Settings.MaxPositionErrorSquared))
}

func standStill(s *nettest.Session) {
	s.Stop()
	drive(s, func(int, components.Ticks) keys { return keys{} })
	s.Advance(3 * second / 2)
}

// agree compares everybody with the server as they stand.
func agree(t testing.TB, s *nettest.Session, why string, owners float64) {
	t.Helper()
	for i, c := range s.Clients {
		own := c.Net.Owned()
		s.Server.Net.Characters(func(id components.NetID, p components.PlayerID, st *components.MovementState) {
			got := stateOf(c, id)
			require.NotNil(t, got, "%s: client %d knows character %d", why, i, id)
			limit := 0.02 // what a snapshot rounds to
			if slices.Contains(own, id) {
				limit = owners
				if c.Settings.Redundancy == components.RedundancyReference {
					// What is lost is not made up for within the threshold.
					limit = math.Sqrt(c.Settings.MaxPositionErrorSquared)
				}
			}
			// A base has gone on since the server executed the last move.
			is, was := got.Location, st.Location
			if st.Base != 0 && st.Base == got.Base {
				is, was = got.BaseLocation, st.BaseLocation
			}
			require.LessOrEqual(t, exact.Dist(is, was), limit,
				"%s: client %d has character %d at %v, the server at %v (base %d)", why, i, id, is, was, st.Base)
			require.Equal(t, st.Mode, got.Mode, why)
			require.Equal(t, st.Crouched, got.Crouched, why)
		})
	}
}

// correctionsBy is a line for messages.
func correctionsBy(s *nettest.Session) string {
	out := ""
	for i, c := range s.Clients {
		for r, n := range c.Stats.Corrections {
			if n > 0 {
				out += fmt.Sprintf("client %d: %d %s; ", i, n, components.CorrectionReason(r))
			}
		}
	}
	return out
}

// events counts the movement events of a kind, on a client or on the server.
func events(w *arche.World, id components.NetID, kind movement.EventKind) (n int) {
	for _, e := range ecs.Need[systems.Events](w).All() {
		if e.Character == id && e.Kind == kind {
			n++
		}
	}
	return n
}

// finite reports the first number in v that is none, by its path.
func finite(v any) string { return notFinite(reflect.ValueOf(v), reflect.TypeOf(v).String()) }

func notFinite(v reflect.Value, path string) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return ""
		}
		return notFinite(v.Elem(), path)
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Sprintf("%s is %v", path, f)
		}
	case reflect.Array:
		for i := range v.Len() {
			if s := notFinite(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); s != "" {
				return s
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if s := notFinite(v.Field(i), path+"."+v.Type().Field(i).Name); s != "" {
				return s
			}
		}
	}
	return ""
}

// setLink changes the conditions of a client's link from now on.
func setLink(t testing.TB, s *nettest.Session, client int, cfg link.Config) {
	t.Helper()
	require.NoError(t, s.Links.Link(nettest.ClientAddr(client)).SetConfig(cfg))
}

// near tells whether a place lies within reach of where the server has had the
// character in the last second.
type trail struct {
	places []components.Vec3
	times  []components.Ticks
}

// follow keeps a trail of a character's places on the server.
func follow(s *nettest.Session, id components.NetID) *trail {
	tr := &trail{}
	eachTick(s, func() {
		if st := onServer[components.MovementState](s, id); st != nil {
			tr.places = append(tr.places, st.Location)
			tr.times = append(tr.times, s.Now)
		}
	})
	return tr
}

// away is the distance of a place from the trail of the last span.
func (tr *trail) away(at components.Vec3, now, span components.Ticks) float64 {
	best := math.Inf(1)
	for i := len(tr.places) - 1; i >= 0 && tr.times[i] >= now-span; i-- {
		best = min(best, exact.Dist(tr.places[i], at))
	}
	return best
}

// newWorld is a world of a user's.
func newWorld() *arche.World {
	w := arche.NewWorld()
	return &w
}
