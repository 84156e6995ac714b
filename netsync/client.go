package netsync

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
	arche "github.com/mlange-42/arche/ecs"
)

// ClientConfig is what a client needs to know beside its connection.
type ClientConfig struct {
	// Session holds time-outs; its version is the game's own, and the hashes
	// are filled in. Both ends must agree.
	Session session.Config
	// Level is the level's hash, which must be the server's.
	Level uint64
	// Spawned is told when a character appears; owner says that it is this
	// player's own. Despawned when it goes.
	Spawned   func(e arche.Entity, spec components.CharacterSpec, owner bool)
	Despawned func(e arche.Entity, id components.NetID)
	// Keyframe is told where the server had an obstacle at a time, for the
	// level's history (collision.World.PushKeyframe).
	Keyframe func(id components.NetID, at components.Ticks, pose components.Pose)
	// Connected and Disconnected follow the connection. err says why it ended
	// or never began.
	Connected    func()
	Disconnected func(err error)
	// Reconnect connects again under the same player after a time-out or the
	// end of the server, which may be starting anew, as long as the server
	// does not refuse.
	Reconnect bool
}

// Client is the network of an app that is connected to a server, a plugin.
// It begins to connect at the app's first frame.
type Client struct {
	cfg     ClientConfig
	conn    transport.Conn
	server  netip.AddrPort
	player  components.PlayerID
	sess    *session.Client
	spawner Spawner
	world   *arche.World
	clock   *ecs.Clock
	set     *components.Settings
	stats   *components.Stats
	net     *components.NetClock
	table   *components.ProfileTable
	queues  *components.MoveQueues
	ids     clientIDs
	known   map[components.NetID]knownCharacter
	types   types
	csv     *MovesCSV
	owned   []components.NetID
	sent    [sentRing]sentMoves
	scratch clientScratch
	budget  moveBudget
	err     error
	leaving bool

	// Net counts what the network refused.
	Net NetStats
}

// knownCharacter is this world's copy of a character, and what came of the
// game's own types for it.
type knownCharacter struct {
	entity  arche.Entity
	typesAt components.Ticks
	got     uint64
}

type clientIDs struct {
	char, state, profile, possession, pred, rep, update arche.ID
	autonomous                                          arche.ID
}

// sentRing is how many packets a client remembers the moves of.
const sentRing = 1024

// sentMoves is the newest move of each character that one packet carried.
type sentMoves struct {
	seq   uint16
	valid bool
	n     int
	moves [maxOwned]sentMove
}

type sentMove struct {
	id    components.NetID
	stamp components.Stamp
}

// maxOwned bounds the characters of one connection (split screen and pets).
const maxOwned = 8

// NewClient makes the plugin. player names who plays: it is the same after a
// reconnect. The connection stays the caller's to close.
func NewClient(conn transport.Conn, server netip.AddrPort, player components.PlayerID, spawner Spawner, cfg ClientConfig) *Client {
	return &Client{
		cfg: cfg, conn: conn, server: server, player: player, spawner: spawner,
		known: make(map[components.NetID]knownCharacter),
	}
}

// Build adds the client's two systems to an app; like a server's, after the
// Movement plugin.
func (c *Client) Build(app *ecs.App) {
	if !ecs.Client.Has(app.Role()) {
		panic(fmt.Sprintf("netsync.Client: the app's role is %v, not Client", app.Role()))
	}
	mustFit("netsync.Client", app, c.conn, c.spawner)
	c.sess = session.NewClient(c.conn, c.server, c.player, agreement(app.World(), c.cfg.Session, c.cfg.Level))
	app.Add(&clientReceive{c}, &clientSend{c})
}

// Session is the layer below: state, clock, refusals, the counters of packets.
func (c *Client) Session() *session.Client { return c.sess }

// Err is why there is no connection; nil while there is one or may be.
func (c *Client) Err() error { return c.err }

// Owned are the characters of this player, in the order in which they came.
func (c *Client) Owned() []components.NetID { return c.owned }

// Entity is this world's copy of a character.
func (c *Client) Entity(id components.NetID) (arche.Entity, bool) {
	k, ok := c.known[id]
	return k.entity, ok && c.holds(k.entity, id)
}

// holds tells whether an entity still is this world's copy of a character: after
// a reset of the world its number may be that of anything.
func (c *Client) holds(e arche.Entity, id components.NetID) bool {
	return ecs.Alive(c.world, e) && c.world.Has(e, c.ids.char) &&
		(*components.Character)(c.world.Get(e, c.ids.char)).ID == id
}

// release takes an entity out of the world, if it still is that character.
func (c *Client) release(e arche.Entity, id components.NetID) {
	if c.cfg.Despawned != nil {
		c.cfg.Despawned(e, id)
	}
	if c.holds(e, id) {
		c.spawner.Despawn(e)
	}
}

// queue is the saved moves of an own character; nil where there are none.
func (c *Client) queue(id components.NetID) *components.MoveQueue {
	e, ok := c.Entity(id)
	if !ok || !c.world.Has(e, c.ids.pred) {
		return nil
	}
	return c.queues.Get((*components.ClientPrediction)(c.world.Get(e, c.ids.pred)).Queue)
}

// Disconnect tells the server goodbye at the next Send phase.
func (c *Client) Disconnect() { c.leaving = true }

func (c *Client) initialize(w *arche.World) {
	if c.world != nil {
		return
	}
	c.world = w
	c.clock = ecs.Need[ecs.Clock](w)
	c.set = ecs.Provide(w, func() *components.Settings { v := components.DefaultSettings(); return &v })
	c.stats = ecs.Provide(w, func() *components.Stats { return new(components.Stats) })
	c.net = ecs.Provide(w, func() *components.NetClock { return &components.NetClock{SendScale: 1} })
	c.table = ecs.Need[components.ProfileTable](w)
	c.queues = ecs.Provide(w, func() *components.MoveQueues { return new(components.MoveQueues) })
	c.ids = clientIDs{
		ecs.RegisterComponent[components.Character](w), ecs.RegisterComponent[components.MovementState](w),
		ecs.RegisterComponent[components.ProfileRef](w), ecs.RegisterComponent[components.Possession](w),
		ecs.RegisterComponent[components.ClientPrediction](w), ecs.RegisterComponent[components.ReplicatedMovement](w),
		ecs.RegisterComponent[components.NetUpdate](w), ecs.RegisterComponent[components.AutonomousProxy](w),
	}
	c.types.initialize(w)
	c.csv = ecs.Maybe[MovesCSV](w)
}

// clear removes everything that a session left in the world.
func (c *Client) clear() {
	// By ID: a game hears of it in the same order each time.
	for _, id := range slices.Sorted(maps.Keys(c.known)) {
		e := c.known[id].entity
		delete(c.known, id)
		c.release(e, id)
	}
	c.owned = c.owned[:0]
	c.sent = [sentRing]sentMoves{}
	c.budget = moveBudget{}
	*c.net = components.NetClock{SendScale: 1}
	c.table.Reset()
}
