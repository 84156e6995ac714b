package nettest

import (
	"fmt"
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
)

// Options describe a whole session in one process on virtual time.
type Options struct {
	Server ServerOptions
	// Client is every client's options; Player and InputStart are filled in.
	Client ClientOptions
	// Clients play; Onlookers only look on.
	Clients, Onlookers int
	// FPS is the clients' frame rate; 0 is 60. ClientFPS, if set, gives each
	// client's at a time, for rates that change.
	FPS       float64
	ClientFPS func(client int, now components.Ticks) float64
	// Input gives each player its own input instead of Client.Input.
	Input func(client int) *Input
	// Link conditions every client's link.
	Link link.Config
	Seed uint64
	// Start is the virtual time at which everything begins.
	Start components.Ticks
	// Wrap changes a client's connection: a cheat, a recorder; WrapServer the
	// server's.
	Wrap       func(client int, conn transport.Conn) transport.Conn
	WrapServer func(conn transport.Conn) transport.Conn
	// Time bends a client's clock: what it believes the time to be; nil is the
	// truth.
	Time func(client int, now components.Ticks) components.Ticks
}

// Session is a server and its clients over a conditioned memory network, on a
// virtual clock: connect, exchange, advance, assert. Everything in it is
// decided by its options, so two runs are equal to the bit.
type Session struct {
	Now     components.Ticks
	Server  *ServerNode
	Clients []*ClientNode
	Network *transport.Network
	Links   *link.Conditioner
	Fleet   *link.Fleet

	opts   Options
	tick   int64
	start  components.Ticks
	frames []frameClock
	// OnServerTick and OnClientFrame are called after each, for probes.
	OnServerTick  func()
	OnClientFrame func(client int)
	// Paused clients make no frames.
	Paused []bool
	// ServerPaused stops the server's ticks.
	ServerPaused bool
}

type frameClock struct {
	next components.Ticks
	rem  float64
}

// ServerAddr is where the session's server listens on its memory network.
var ServerAddr = netip.MustParseAddrPort("10.0.0.1:7777")

// ClientAddr is the i-th client's address.
func ClientAddr(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), 9000)
}

// NewSession makes everything; nothing has run yet.
func NewSession(o Options) (*Session, error) {
	fleet, err := link.NewFleet(o.Link, o.Seed)
	if err != nil {
		return nil, err
	}
	s := &Session{opts: o, Now: o.Start, start: o.Start, Fleet: fleet}
	s.Links = link.NewConditioner(fleet, ServerAddr)
	s.Network = transport.NewNetwork(s.Links)
	s.Network.Advance(o.Start)
	mem, err := s.Network.Listen(ServerAddr)
	if err != nil {
		return nil, err
	}
	var conn transport.Conn = mem
	if o.WrapServer != nil {
		conn = o.WrapServer(conn)
	}
	o.Server.Session.Secret = ServerSecret(o.Seed)
	if s.Server, err = NewServerNode(conn, o.Server); err != nil {
		return nil, err
	}
	for i := range o.Clients + o.Onlookers {
		if err := s.addClient(i, i >= o.Clients); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ServerSecret and ClientSecret are the secrets of a session's nodes: a node
// that plays a recording of one again needs the same.
func ServerSecret(seed uint64) [16]byte { return secret(seed, 0) }

// ClientSecret is the i-th client's.
func ClientSecret(seed uint64, i int) [16]byte { return secret(seed, byte(i+1)) }

// secret makes the sessions' randomness a function of the seed.
func secret(seed uint64, who byte) (k [16]byte) {
	for i := range 8 {
		k[i] = byte(seed >> (8 * i))
	}
	k[8], k[15] = who, 1
	return k
}

func (s *Session) addClient(i int, onlooker bool) error {
	c, err := s.newClient(i, onlooker)
	if err != nil {
		return err
	}
	s.Clients = append(s.Clients, c)
	s.Paused = append(s.Paused, false)
	// Clients do not begin their frames at the same moment.
	s.frames = append(s.frames, frameClock{next: s.Now + components.Ticks(i*137%960)})
	return nil
}

func (s *Session) newClient(i int, onlooker bool) (*ClientNode, error) {
	mem, err := s.Network.Listen(ClientAddr(i))
	if err != nil {
		return nil, err
	}
	var conn transport.Conn = mem
	if s.opts.Wrap != nil {
		conn = s.opts.Wrap(i, conn)
	}
	co := s.opts.Client
	co.Player = components.PlayerID(i + 1)
	if onlooker {
		co.Player |= Onlooker
		co.Input = nil
	}
	if s.opts.Input != nil && !onlooker {
		co.Input = s.opts.Input(i)
	} else {
		co.InputStart += components.Ticks(i) * 7 * components.Second
	}
	co.Session.Secret = ClientSecret(s.opts.Seed, i)
	return NewClientNode(conn, ServerAddr, co)
}

// Restart ends a client's process as if it had crashed and starts it again
// under the same player.
func (s *Session) Restart(i int) error {
	old := s.Clients[i]
	if err := old.Conn.Close(); err != nil {
		return err
	}
	old.App.Finalize()
	c, err := s.newClient(i, old.Player&Onlooker != 0)
	if err != nil {
		return err
	}
	s.Clients[i] = c
	return nil
}

// Advance runs the session for a span of virtual time: server ticks and client
// frames in the order of their times, the server first where they coincide.
func (s *Session) Advance(d components.Ticks) {
	end := s.Now + d
	for {
		at, who := s.serverNext(), -1
		for i := range s.frames {
			if s.frames[i].next < at {
				at, who = s.frames[i].next, i
			}
		}
		if at > end {
			break
		}
		s.Now = at
		s.Network.Advance(at)
		if who < 0 {
			s.tick++
			if s.ServerPaused {
				continue
			}
			s.Server.Frame(at)
			if s.OnServerTick != nil {
				s.OnServerTick()
			}
			continue
		}
		s.scheduleFrame(who)
		if s.Paused[who] {
			continue
		}
		local := at
		if s.opts.Time != nil {
			local = s.opts.Time(who, at)
		}
		s.Clients[who].Frame(local)
		if s.OnClientFrame != nil {
			s.OnClientFrame(who)
		}
	}
	s.Now = end
	s.Network.Advance(end)
}

func (s *Session) serverNext() components.Ticks {
	return s.start + components.Ticks(s.tick*components.TicksPerSecond/s.Server.hz)
}

// scheduleFrame sets a client's next frame; the fraction of a tick that its
// rate leaves is carried on.
func (s *Session) scheduleFrame(i int) {
	fps := s.opts.FPS
	if s.opts.ClientFPS != nil {
		fps = s.opts.ClientFPS(i, s.Now)
	}
	if fps <= 0 {
		fps = 60
	}
	f := &s.frames[i]
	span := components.TicksPerSecond/fps + f.rem
	whole := components.Ticks(span)
	if whole < 1 {
		whole = 1
	}
	f.rem = span - float64(whole)
	f.next += whole
}

// Connect advances until every player owns a character and every client is
// connected and knows the server's time; an error after limit.
func (s *Session) Connect(limit components.Ticks) error {
	end := s.Now + limit
	for s.Now < end {
		s.Advance(components.Second / 20)
		if s.ready() {
			return nil
		}
	}
	for i, c := range s.Clients {
		if err := c.Net.Err(); err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
	}
	return fmt.Errorf("nettest: not everybody was connected within %.1f s", limit.Seconds())
}

func (s *Session) ready() bool {
	for _, c := range s.Clients {
		if c.Net.Session().State() != session.Connected || !c.Clock.Synced {
			return false
		}
		if _, _, ok := c.Own(0); !ok && c.Player&Onlooker == 0 {
			return false
		}
	}
	return true
}

// Stop lets go of every key, so that everything comes to rest.
func (s *Session) Stop() {
	for _, c := range s.Clients {
		if c.Inputs == nil {
			continue
		}
		for i := range c.Net.Owned() {
			if e, _, ok := c.Own(i); ok {
				c.Inputs.Release(Component[components.Input](c.App.World(), e))
			}
		}
		c.Inputs = nil
	}
}

// Corrections that the owners applied, over all clients.
func (s *Session) Corrections() (n uint64) {
	for _, c := range s.Clients {
		n += c.Stats.TotalCorrections()
	}
	return n
}

// Close ends every app and connection.
func (s *Session) Close() {
	for _, c := range s.Clients {
		c.App.Finalize()
		c.Conn.Close()
	}
	s.Server.App.Finalize()
	s.Server.Conn.Close()
}
