package nettest

import (
	"fmt"
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/systems"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
)

// NodeConfig is what a server's and a client's node have in common: both ends
// build their world from it, and the handshake compares what must be equal.
type NodeConfig struct {
	// Level both ends play on; nil is collision.Arena.
	Level *collision.Level
	// Profile of every character; nil is the default one.
	Profile *components.MovementProfile
	// Settings of this world; nil is DefaultSettings. A node takes a copy.
	Settings *components.Settings
	// Debug switches of this world, nil for none.
	Debug *components.Debug
	// Session settings.
	Session session.Config
	// Modes of movement; nil is the built-in ones.
	Modes *movement.Modes
	// World is a user's world to adopt, which may hold whatever it likes; nil
	// makes a new one. One node at a time can run over it.
	World *arche.World
	// Register adds a game's own types and modes to the world's registry.
	Register func(r *components.Registry)
	// Extend adds a game's own plugins before the app is initialized.
	Extend func(app *ecs.App)
}

func (c *NodeConfig) fill() {
	if c.Level == nil {
		c.Level = collision.Arena()
	}
	if c.Profile == nil {
		p := components.DefaultProfile()
		c.Profile = &p
	}
	set := components.DefaultSettings()
	if c.Settings != nil {
		set = *c.Settings
	}
	c.Settings = &set
	if c.Debug != nil {
		d := *c.Debug
		c.Debug = &d
	}
}

// node is a world of its own with everything in it.
type node struct {
	App      *ecs.App
	Movement *systems.Movement
	Spawner  *systems.Spawner
	Profiles *components.ProfileTable
	Ref      components.ProfileRef
	Level    *collision.Level
	Ground   *collision.World
	Settings *components.Settings
	Stats    *components.Stats
	Clock    *components.NetClock
}

func newNode(role ecs.Roles, cfg *NodeConfig, opts ...ecs.Option) (*node, error) {
	n := &node{Level: cfg.Level, Settings: cfg.Settings}
	if cfg.World != nil {
		n.App = ecs.Adopt(cfg.World, role, opts...)
	} else {
		n.App = ecs.New(role, opts...)
	}
	w := n.App.World()
	if cfg.Register != nil && ecs.Maybe[components.Registry](w) == nil {
		reg := components.NewRegistry()
		cfg.Register(reg)
		arche.AddResource(w, reg)
	}
	again := ecs.Maybe[components.ProfileTable](w) != nil // a node ran here before
	n.Profiles = ecs.Provide(w, func() *components.ProfileTable { return new(components.ProfileTable) })
	ref, ok := n.Profiles.Newest(0)
	if !ok {
		var err error
		if ref, err = n.Profiles.Add("character", *cfg.Profile); err != nil {
			return nil, err
		}
	}
	if err := cfg.Settings.Validate(); err != nil {
		return nil, err
	}
	n.Ref = ref
	n.Ground = collision.NewWorld()
	if err := n.Ground.AddLevel(0, cfg.Level); err != nil {
		return nil, err
	}
	n.Movement = &systems.Movement{Geometry: n.Ground, Profiles: n.Profiles, Settings: cfg.Settings, Modes: cfg.Modes, Debug: cfg.Debug}
	n.App.Use(n.Movement)
	n.Settings = ecs.Need[components.Settings](w)
	n.Spawner = systems.NewSpawner(w)
	n.Stats = ecs.Provide(w, func() *components.Stats { return new(components.Stats) })
	n.Clock = ecs.Provide(w, func() *components.NetClock { return &components.NetClock{SendScale: 1} })
	if again {
		n.Ground, _ = ecs.Need[systems.Geometry](w).Geometry.(*collision.World)
		return n, nil
	}
	for _, o := range cfg.Level.Obstacles() {
		n.Spawner.Obstacle(o.Obstacle)
	}
	return n, nil
}

// ServerNode is a dedicated server, or a listen server, in a world of its own.
type ServerNode struct {
	*node
	Net  *netsync.Server
	Conn transport.Conn
	// Chain hashes the authoritative state after every tick.
	Chain  HashChain
	spawns int
	hz     int64
}

// ServerOptions are a server's own.
type ServerOptions struct {
	NodeConfig
	// Hz is the fixed rate of the server's ticks; 0 is 30.
	Hz int64
	// Join says what a player gets; nil gives one character at the level's
	// next spawn point. An onlooker (PlayerID 0 is nobody; see Onlooker) gets
	// nothing.
	Join func(s *ServerNode, player components.PlayerID) []components.CharacterSpec
	// Admit is asked before a player is let in; nil lets everybody in.
	Admit func(player components.PlayerID, from netip.AddrPort) (text string, ok bool)
	// Linger is how long the characters of a lost player stay.
	Linger components.Ticks
	// Listen makes a listen server, which shows what it simulates.
	Listen bool
}

// Onlooker is the bit of a PlayerID that marks one who only looks on, by the
// harness's default Join.
const Onlooker components.PlayerID = 1 << 63

// NewServerNode makes a server on a connection, which stays the caller's.
func NewServerNode(conn transport.Conn, o ServerOptions) (*ServerNode, error) {
	o.fill()
	if o.Hz == 0 {
		o.Hz = 30
	}
	role := ecs.Server
	if o.Listen {
		role = ecs.ListenServer
	}
	n, err := newNode(role, &o.NodeConfig, ecs.Fixed(ecs.Hz(o.Hz)), ecs.Catch(ecs.KeepTime))
	if err != nil {
		return nil, err
	}
	s := &ServerNode{node: n, Conn: conn, hz: o.Hz}
	join := o.Join
	if join == nil {
		join = func(s *ServerNode, player components.PlayerID) []components.CharacterSpec {
			if player&Onlooker != 0 {
				return nil
			}
			return []components.CharacterSpec{s.Spawn()}
		}
	}
	s.Net = netsync.NewServer(conn, n.Spawner, netsync.ServerConfig{
		Session: o.Session, Level: n.Level.Hash(), Linger: o.Linger, Drawn: o.Listen, Admit: o.Admit,
		Join: func(p components.PlayerID) []components.CharacterSpec { return join(s, p) },
	})
	n.App.Use(s.Net)
	if o.Extend != nil {
		o.Extend(n.App)
	}
	n.App.Initialize()
	return s, nil
}

// Spawn is the spec of a standing character at the level's next spawn point.
func (s *ServerNode) Spawn() components.CharacterSpec {
	feet := components.Vec3{}
	if sp := s.Level.Spawns(); len(sp) > 0 {
		feet = sp[s.spawns%len(sp)]
		s.spawns++
	}
	return s.SpawnAt(feet, 0)
}

// SpawnAt is the spec of a standing character whose feet are at a place.
func (s *ServerNode) SpawnAt(feet components.Vec3, yaw float64) components.CharacterSpec {
	p := s.Profiles.Get(s.Ref)
	at := feet
	at[2] += p.CapsuleHalfHeight + movement.FloorDistance
	return systems.SpecAt(0, s.Profiles, s.Ref, at, yaw)
}

// Frame runs one frame at a server time and chains the state's hash when it
// held a tick.
func (s *ServerNode) Frame(now components.Ticks) {
	s.App.Frame(now)
	if s.App.Clock().FrameSteps > 0 {
		s.Chain.Begin(s.App.Clock().Now)
		s.Net.Characters(s.chain)
		s.Chain.End()
	}
}

func (s *ServerNode) chain(id components.NetID, _ components.PlayerID, st *components.MovementState) {
	s.Chain.Add(id, st)
}

// State is a copy of a character's authoritative state.
func (s *ServerNode) State(id components.NetID) (components.MovementState, bool) {
	e, ok := s.Net.Entity(id)
	if !ok {
		return components.MovementState{}, false
	}
	return *Component[components.MovementState](s.App.World(), e), true
}

// ClientNode is one player, or an onlooker, in a world of its own.
type ClientNode struct {
	*node
	Net    *netsync.Client
	Conn   transport.Conn
	Player components.PlayerID
	// Inputs drives every character that this client owns; nil stands still.
	Inputs *Sampler
	last   components.Ticks
	begun  bool
}

// ClientOptions are a client's own.
type ClientOptions struct {
	NodeConfig
	Player components.PlayerID
	// FixedHz runs the fixed-tick option; 0 is one variable step a frame.
	FixedHz int64
	Input   *Input
	// InputStart is where in the input this client begins.
	InputStart components.Ticks
	Reconnect  bool
	Spawned    func(e arche.Entity, spec components.CharacterSpec, owner bool)
}

// NewClientNode makes a client that connects to server at its first frame.
func NewClientNode(conn transport.Conn, server netip.AddrPort, o ClientOptions) (*ClientNode, error) {
	o.fill()
	opts := []ecs.Option{}
	if o.FixedHz > 0 {
		opts = append(opts, ecs.Fixed(ecs.Hz(o.FixedHz)))
	}
	n, err := newNode(ecs.Client, &o.NodeConfig, opts...)
	if err != nil {
		return nil, err
	}
	c := &ClientNode{node: n, Conn: conn, Player: o.Player}
	if o.Input != nil {
		c.Inputs = NewSampler(o.Input, o.InputStart)
	}
	c.Net = netsync.NewClient(conn, server, o.Player, n.Spawner, netsync.ClientConfig{
		Session: o.Session, Level: n.Level.Hash(), Reconnect: o.Reconnect, Spawned: o.Spawned,
		Keyframe: func(id components.NetID, at components.Ticks, pose components.Pose) {
			n.Ground.PushKeyframe(id, at, pose)
		},
	})
	n.App.Use(c.Net)
	if o.Extend != nil {
		o.Extend(n.App)
	}
	n.App.Initialize()
	return c, nil
}

// Frame feeds the input of the frame's span and runs one frame.
func (c *ClientNode) Frame(now components.Ticks) {
	dt := components.Ticks(0)
	if c.begun {
		dt = now - c.last
	}
	c.begun, c.last = true, now
	if c.Inputs != nil {
		for _, id := range c.Net.Owned() {
			if e, ok := c.Net.Entity(id); ok {
				c.Inputs.Apply(Component[components.Input](c.App.World(), e), now, dt)
			}
		}
	}
	c.App.Frame(now)
}

// Own is the client's own i-th character; false while it has none.
func (c *ClientNode) Own(i int) (arche.Entity, components.NetID, bool) {
	ids := c.Net.Owned()
	if i >= len(ids) {
		return arche.Entity{}, 0, false
	}
	e, ok := c.Net.Entity(ids[i])
	return e, ids[i], ok
}

// Component is an entity's component in a world; it panics with the type's
// name where the entity has none. Not for hot paths.
func Component[T any](w *arche.World, e arche.Entity) *T {
	id := arche.ComponentID[T](w)
	if !w.Has(e, id) {
		panic(fmt.Sprintf("nettest: the entity has no %T", *new(T)))
	}
	return (*T)(w.Get(e, id))
}
