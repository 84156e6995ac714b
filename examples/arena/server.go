package main

import (
	"sync"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
)

// server is the dedicated server with everything that is measured on it. It
// belongs to one goroutine; others read what publish leaves, and the paths.
type server struct {
	node    *nettest.ServerNode
	conn    transport.Conn
	udp     transport.Conn // the innermost, whose counters count
	paths   *paths
	verdict nettest.VerdictProbe
	verify  verifyTimer
	tickMs  nettest.Histogram
	tracks  map[components.NetID]*track
	each    func(components.NetID, components.PlayerID, *components.MovementState)
	// star is the player of the picture, and picture where its path goes.
	star    components.PlayerID
	picture *nettest.Picture
	// times of the ticks, kept for the twins of cheats.
	times     []components.Ticks
	keepTimes bool
	tally     *tally
	// refused are the packets of each player that were refused.
	refused map[components.PlayerID]session.Counts

	mu   sync.Mutex
	live serverLive
}

// serverLive is what others may see while the server runs.
type serverLive struct {
	stats   components.Stats
	players int
	ticks   nettest.Histogram // ms, since somebody last looked
}

// track follows one character on the server.
type track struct {
	path   *sharedPath
	player components.PlayerID
	last   components.Vec3
	length float64
	begun  bool
}

// verifyTimer is an ecs.Probe that adds up the wall time of ServerVerify.
type verifyTimer struct {
	began time.Time
	spent time.Duration
	tally *tally
}

func (v *verifyTimer) Begin(s *ecs.Scheduled) {
	if s.Name == verifyName {
		v.tally.before()
		v.began = time.Now()
	}
}

func (v *verifyTimer) End(s *ecs.Scheduled) {
	if s.Name == verifyName {
		v.spent += time.Since(v.began)
		v.tally.after()
	}
}

const verifyName = "ServerVerify"

// serverOptions are a server's node by the flags.
func (c *Config) serverOptions(k *keys) nettest.ServerOptions {
	set := c.Settings()
	profile := c.Profile
	return nettest.ServerOptions{
		NodeConfig: nettest.NodeConfig{
			Level: c.ground(), Profile: &profile, Settings: &set,
			Session: session.Config{Secret: k.Server, MaxPeers: 2*c.Clients + 64, MaxPacketsPerSecond: max(256, 2*c.FPS)},
		},
		Hz: int64(c.ServerHz),
		// A player's place does not depend on who came first.
		Join: func(s *nettest.ServerNode, player components.PlayerID) []components.CharacterSpec {
			if player&nettest.Onlooker != 0 {
				return nil
			}
			places := c.spawns()
			return []components.CharacterSpec{s.SpawnAt(places[int((playerNumber(player)-1)%uint64(len(places)))], 0)}
		},
	}
}

// playerNumber is which client of its process a player is, from 1.
func playerNumber(p components.PlayerID) uint64 { return uint64(p &^ nettest.Onlooker & playerMask) }

const playerMask = 1<<16 - 1

func newServer(cfg *Config, k *keys, conn, udp transport.Conn, p *paths) (*server, error) {
	node, err := nettest.NewServerNode(conn, cfg.serverOptions(k))
	if err != nil {
		return nil, err
	}
	s := &server{
		node: node, conn: conn, udp: udp, paths: p,
		tracks: map[components.NetID]*track{}, keepTimes: len(cfg.Cheats) > 0,
	}
	s.each = s.follow
	if len(cfg.Cheats) > 0 {
		s.tally = newTally(node)
	}
	s.verify.tally = s.tally
	node.Movement.Verify.Observer = &s.verdict
	node.App.Watch(&s.verify)
	return s, nil
}

// frame runs one frame at a time and looks at what it left.
func (s *server) frame(now components.Ticks) {
	began := time.Now()
	s.node.Frame(now)
	ms := float64(time.Since(began)) / float64(time.Millisecond)
	ticked := s.node.App.Clock().FrameSteps > 0
	if s.keepTimes {
		s.times = append(s.times, now)
	}
	if ticked {
		s.tickMs.Add(ms)
		s.node.Net.Characters(s.each)
	}
	s.mu.Lock()
	s.live.stats = *s.node.Stats
	s.live.players = s.node.Net.Players()
	if ticked {
		s.live.ticks.Add(ms)
	}
	s.mu.Unlock()
}

// follow takes one character's place after a tick.
func (s *server) follow(id components.NetID, player components.PlayerID, st *components.MovementState) {
	t := s.tracks[id]
	if t == nil {
		t = &track{path: s.paths.of(id), player: player}
		s.tracks[id] = t
		s.tally.watch(id, player)
	}
	now := s.node.App.Clock().Now
	t.path.push(now, st.Location)
	if t.begun {
		t.length += exact.Len2(exact.Sub(st.Location, t.last))
	}
	t.last, t.begun = st.Location, true
	if player == s.star && s.picture != nil {
		s.paths.star.Store(uint64(id))
		s.picture.Server.Add(now, st.Location, false)
	}
}

// run makes the server's ticks in real time until stop closes.
func (s *server) run(clock wallClock, hz int, stop <-chan struct{}) {
	p := newPacer(clock, stop)
	f := newFrames(clock.now(), hz)
	for at := f.next; ; {
		now, ok := p.until(at)
		if !ok {
			return
		}
		s.frame(now)
		at = f.after(now)
	}
}

// noteRefusals keeps what connections counted, while they are there.
func (s *server) noteRefusals() {
	s.refused = map[components.PlayerID]session.Counts{}
	s.node.Net.Session().Each(func(p *session.Peer) bool {
		s.refused[p.Player()] = p.Stats().Refused
		return true
	})
}

// shutdown tells everybody that the server ends.
func (s *server) shutdown() {
	s.node.Net.Session().Shutdown()
	s.node.Net.Session().Flush(s.node.App.Clock().FrameNow)
}

func (s *server) close() {
	s.node.App.Finalize()
	s.conn.Close()
}

// look copies what others may see and starts the tick times anew.
func (s *server) look(into *serverLive) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*into = s.live
	s.live.ticks.Reset()
}

// length of the way that a player's character went on the server, cm, as it is
// seen from above: what a cheat gains is to be compared with a walking speed,
// which falling is not bound by.
func (s *server) length(player components.PlayerID) (cm float64) {
	for _, t := range s.tracks {
		if t.player == player {
			cm += t.length
		}
	}
	return cm
}
