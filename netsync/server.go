package netsync

import (
	"fmt"
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
	arche "github.com/mlange-42/arche/ecs"
)

// ServerConfig is what a server needs to know beside its connection.
type ServerConfig struct {
	// Session holds time-outs and limits; its version is the game's own, and
	// the hashes are filled in.
	Session session.Config
	// Level is the level's hash; a client with another is refused.
	Level uint64
	// Admit is asked before a player is let in, perhaps more than once: if ok is
	// false, text is the sentence that the player gets to read. nil lets
	// everybody in.
	Admit func(player components.PlayerID, from netip.AddrPort) (text string, ok bool)
	// Join says what a player who joined gets: each spec becomes a character
	// that it owns. Place, profile and kind are the game's to choose; IDs and
	// possession are set here. nil gives nothing (onlookers).
	Join func(player components.PlayerID) []components.CharacterSpec
	// Left is told when a player's characters were removed.
	Left func(player components.PlayerID, why session.Reason)
	// Linger is how long a player's characters stay after it was lost, for a
	// reconnect to take them over; 0 removes them at once.
	Linger components.Ticks
	// Drawn: this server shows what it simulates (a listen server).
	Drawn bool
}

// Server is the network of an app that has the authority, a plugin.
type Server struct {
	cfg     ServerConfig
	conn    transport.Conn
	sess    *session.Server
	spawner Spawner
	world   *arche.World
	clock   *ecs.Clock
	set     *components.Settings
	stats   *components.Stats
	table   *components.ProfileTable
	queues  *components.ReceivedQueues
	roster  roster
	links   []*link
	absent  []absence
	scratch serverScratch
	settle  settingsState
	types   types
	// obstacles are those with keyframes, in the order in which they were first
	// told.
	obstacles     []toldObstacle
	obstacleIndex map[components.NetID]int
	// gathered is the time up to which snapshots were sent: a frame of several
	// steps may have gathered in any of them.
	gathered components.Ticks

	// Net counts what the network refused.
	Net NetStats
}

// link is what the server knows of one connection.
type link struct {
	peer   *session.Peer
	player components.PlayerID
	// known[i] is what the connection was told of roster slot i.
	known   []knownState
	version uint64
	gone    bool
	// What it was told last.
	toldSettings  uint64
	toldPlayers   int32
	toldRevisions []uint16
	toldKeyframes []uint64
}

type knownState struct {
	id          components.NetID
	incarnation uint32
	ref         components.ProfileRef
	epoch       uint16
	role        knownRole
	// owesTypes: the spawn was told, and the game's own types not yet.
	owesTypes bool
}

type knownRole uint8

const (
	unknown knownRole = iota
	asProxy
	asOwner
)

// absence is a player whose characters wait for it to come back.
type absence struct {
	player components.PlayerID
	until  components.Ticks
	why    session.Reason
}

// NewServer makes the plugin. The connection stays the caller's to close.
func NewServer(conn transport.Conn, spawner Spawner, cfg ServerConfig) *Server {
	return &Server{cfg: cfg, conn: conn, spawner: spawner}
}

// Build adds the server's two systems to an app. The world must hold its
// movement profiles by now, and a game's registry what it registers: use the
// Movement plugin first.
func (s *Server) Build(app *ecs.App) {
	if !(ecs.Server | ecs.ListenServer).Has(app.Role()) {
		panic(fmt.Sprintf("netsync.Server: the app's role is %v, which has no authority", app.Role()))
	}
	mustFit("netsync.Server", app, s.conn, s.spawner)
	s.sess = session.NewServer(s.conn, agreement(app.World(), s.cfg.Session, s.cfg.Level))
	app.Add(&serverReceive{s}, &serverSend{s})
}

// Session is the layer below: peers, refusals, the counters of packets.
func (s *Server) Session() *session.Server { return s.sess }

// Kick ends a player's connection.
func (s *Server) Kick(player components.PlayerID, why session.Reason) bool {
	for _, l := range s.links {
		if l.player == player && !l.gone {
			l.peer.Disconnect(why)
			return true
		}
	}
	return false
}

// Players is the number of connections.
func (s *Server) Players() int { return len(s.links) }

// Entity is the server's copy of a character.
func (s *Server) Entity(id components.NetID) (arche.Entity, bool) {
	if slot := s.roster.find(s.world, id); slot != nil {
		return slot.entity, true
	}
	return arche.Entity{}, false
}

// Characters calls fn with every networked character in NetID order: the order
// in which a state hash must be taken. The pointers are good during the call.
func (s *Server) Characters(fn func(id components.NetID, player components.PlayerID, state *components.MovementState)) {
	s.roster.scan(s.world)
	for _, i := range s.roster.order {
		slot := &s.roster.slots[i]
		fn(slot.id, slot.player, slot.state)
	}
}

func (s *Server) initialize(w *arche.World) {
	if s.world != nil {
		return
	}
	s.world = w
	s.clock = ecs.Need[ecs.Clock](w)
	s.set = ecs.Provide(w, func() *components.Settings { v := components.DefaultSettings(); return &v })
	s.stats = ecs.Provide(w, func() *components.Stats { return new(components.Stats) })
	s.queues = ecs.Provide(w, func() *components.ReceivedQueues { return new(components.ReceivedQueues) })
	s.table = ecs.Need[components.ProfileTable](w)
	net := ecs.Provide(w, func() *components.NetClock { return &components.NetClock{SendScale: 1} })
	net.Authority, net.Synced = true, true
	s.roster.initialize(w)
	s.types.initialize(w)
}

// NetStats counts what the layer above sessions refused, by reason.
type NetStats struct {
	// Malformed messages ended the reading of their packet.
	Malformed uint64
	// UnknownCharacter: a snapshot or an answer for a character not spawned here.
	UnknownCharacter uint64
	// Stale: for an incarnation that is gone.
	Stale uint64
	// ReliableMalformed messages of the reliable channel.
	ReliableMalformed uint64
	// NoRoom: a reliable message had to wait for a later tick.
	NoRoom uint64
	// WrongDirection: a message of a kind that its receiver never takes.
	WrongDirection uint64
}
