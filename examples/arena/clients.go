package main

import (
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
)

// fixedHz is the rate of a client's steps with -tick fixed.
const fixedHz = 60

// client is one player, or the onlooker, with everything that is measured on
// it. It belongs to one goroutine; others read what publish leaves.
type client struct {
	index    int
	player   components.PlayerID
	node     *nettest.ClientNode
	conn     transport.Conn
	udp      transport.Conn // the innermost, whose counters count
	cheat    *nettest.Cheat
	silences []Silence
	owner    *ownerWatch
	proxies  *proxyWatch // the onlooker's
	rtt      nettest.Histogram
	// hands drive the own characters by the process's time, whatever the
	// client's clock says: whoever tampers with it has no faster hands.
	hands  *nettest.Sampler
	looked components.Ticks
	// playAt is how long after the start they take stick and buttons.
	playAt components.Ticks
	// note writes down a command, for a recording; nil without.
	note func(cmd command, at components.Ticks)
	// times of the frames, kept for a cheat's twin.
	times []components.Ticks

	// long counts the frames that were longer than a move may be.
	long uint64
	last components.Ticks
	// born is its first frame, met that it was ever connected.
	born components.Ticks
	met  bool

	playing  bool
	released bool
	left     bool
	// played and let are when it began to play and let go.
	played, let components.Ticks

	mu   sync.Mutex
	live clientLive
}

// clientLive is what others may see while the client runs.
type clientLive struct {
	stats     components.Stats
	net       transport.Stats
	rtt       components.Ticks
	connected bool
	// still: it has let go, and its characters have come to rest.
	still bool
	err   error
}

// command is what is done to a client from outside, at a frame.
type command uint16

const (
	cmdRelease command = iota + 1 // lets go of stick and buttons
	cmdLeave                      // says goodbye
	cmdPlay                       // takes stick and buttons
)

// handsAt is how long after the start the players begin to play. By then they
// are connected as a rule, so that what they do does not depend on how long
// that took.
const handsAt = 2 * components.Second

// clientOptions are a client's node by the flags.
func (c *Config) clientOptions(i int, k *keys) nettest.ClientOptions {
	set := c.Settings()
	profile := c.Profile
	o := nettest.ClientOptions{
		NodeConfig: nettest.NodeConfig{Level: c.ground(), Profile: &profile, Settings: &set, Session: session.Config{Secret: k.Clients[i]}},
		Player:     k.player(i), Reconnect: true,
	}
	if i == c.Clients {
		o.Player |= nettest.Onlooker
	}
	if c.FixedTick {
		o.FixedHz = fixedHz
	}
	return o
}

// newClient makes the i-th client on a connection; the last is the onlooker.
// conn may be a decoration of udp.
func newClient(cfg *Config, k *keys, i int, conn, udp transport.Conn, to netip.AddrPort, p *paths, pic *nettest.Picture) (*client, error) {
	c := &client{index: i, udp: udp, conn: conn, owner: new(ownerWatch)}
	o := cfg.clientOptions(i, k)
	c.player = o.Player
	for _, h := range cfg.Cheats {
		if h.Client != i {
			continue
		}
		cheat, err := nettest.NewCheat(h.Kind, cfg.Seed+uint64(i))
		if err != nil {
			return nil, err
		}
		c.cheat = cheat
		c.conn = cheat.Wrap(conn)
	}
	star := pic != nil && i == cfg.star()
	if star {
		d := components.DefaultDebug()
		d.ShowCorrections = true
		o.Debug = &d
		c.owner.picture = pic
	}
	o.Extend = func(app *ecs.App) {
		app.Add(c.owner)
		if c.cheat != nil {
			c.cheat.Extend(app)
		}
	}
	for _, s := range cfg.Silences {
		if s.Client == i {
			c.silences = append(c.silences, s)
		}
	}
	node, err := nettest.NewClientNode(c.conn, to, o)
	if err != nil {
		return nil, err
	}
	c.node, c.owner.node = node, node
	if c.cheat != nil {
		c.cheat.Started(node)
	}
	if i < cfg.Clients {
		c.hands, c.playAt = cfg.Sampler(i), handsAt
	} else {
		c.proxies = newProxyWatch(node, p)
		c.proxies.picture = pic
	}
	return c, nil
}

// star is the client whose path the picture shows: the first that neither
// cheats nor falls silent.
func (c *Config) star() int {
	odd := map[int]bool{}
	for _, h := range c.Cheats {
		odd[h.Client] = true
	}
	for _, s := range c.Silences {
		odd[s.Client] = true
	}
	for i := range c.Clients {
		if !odd[i] {
			return i
		}
	}
	return 0
}

// frame runs one frame: local is the time by the client's own clock, now the
// process's.
func (c *client) frame(local, now components.Ticks) {
	if c.last != 0 && now-c.last > c.node.Settings.MaxMove() {
		c.long++
	}
	c.last = now
	c.input(now)
	c.node.Frame(local)
	if c.proxies != nil {
		c.proxies.frame(now)
	} else {
		c.owner.frame(now)
	}
	if rtt := c.node.Clock.RTT; rtt > 0 && c.proxies == nil {
		c.rtt.Add(rtt.Seconds() * 1000)
	}
	if c.cheat != nil {
		c.times = append(c.times, now)
	}
	c.mu.Lock()
	c.live.stats = *c.node.Stats
	c.live.net = c.udp.Stats()
	c.live.rtt = c.node.Clock.RTT
	c.live.connected = c.node.Net.Session().State() == session.Connected
	c.live.err = c.failure(now)
	c.live.still = c.still()
	c.mu.Unlock()
}

// do carries out a command before the frame at local time.
func (c *client) do(cmd command, local, now components.Ticks) {
	if c.note != nil {
		c.note(cmd, local)
	}
	switch cmd {
	case cmdPlay:
		c.playing, c.looked, c.played = true, now, now
	case cmdRelease:
		c.released, c.let = true, now
	case cmdLeave:
		c.left = true
		c.end() // what comes after is an empty world
		c.node.Net.Disconnect()
	}
}

// input moves stick and buttons to where the hands have them at now.
func (c *client) input(now components.Ticks) {
	if c.hands == nil || !c.playing {
		return
	}
	for i := range c.node.Net.Owned() {
		e, _, ok := c.node.Own(i)
		if !ok {
			continue
		}
		in := nettest.Component[components.Input](c.node.App.World(), e)
		if c.released {
			c.hands.Release(in)
		} else {
			c.hands.Apply(in, now, now-c.looked)
		}
	}
	c.looked = now
}

// noAnswer is how long a client tries to reach a server that it has never met:
// the session's own time-out. One that it has met it looks for again for ever.
const noAnswer = 20 * components.Second

// failure is why the client cannot play, nil while it may.
func (c *client) failure(now components.Ticks) error {
	if c.born == 0 {
		c.born = now
	}
	c.met = c.met || c.node.Net.Session().State() == session.Connected
	if err := c.node.Net.Err(); err != nil {
		return err
	}
	if !c.met && now-c.born > noAnswer {
		return session.ErrNoAnswer
	}
	return nil
}

// still tells whether the hands have let go and all own characters rest.
func (c *client) still() bool {
	if !c.released {
		return false
	}
	for i := range c.node.Net.Owned() {
		if e, _, ok := c.node.Own(i); ok {
			st := nettest.Component[components.MovementState](c.node.App.World(), e)
			if st.Velocity != (components.Vec3{}) || st.Mode == components.ModeFalling {
				return false
			}
		}
	}
	return true
}

// local is what the client believes the time to be.
func (c *client) local(now components.Ticks) components.Ticks {
	if c.cheat != nil {
		return c.cheat.Time(now)
	}
	return now
}

// orders are what all clients of a run are told to do.
type orders struct {
	release, leave atomic.Bool
}

// run makes the client's frames in real time until stop closes. A silent
// client is a frozen process: it makes no frames and reads no packets, and when
// it wakes up it finds those that waited.
func (c *client) run(clock wallClock, fps int, began components.Ticks, o *orders, stop <-chan struct{}) {
	p := newPacer(clock, stop)
	f := newFrames(clock.now(), fps)
	for at := f.next; ; {
		now, ok := p.until(at)
		if !ok {
			return
		}
		if until, frozen := c.frozen(now - began); frozen {
			at = began + until
			f.next = at
			continue
		}
		local := c.local(now)
		if now-began >= c.playAt && !c.playing {
			c.do(cmdPlay, local, now)
		}
		if o.release.Load() && !c.released {
			c.do(cmdRelease, local, now)
		}
		if o.leave.Load() && !c.left {
			c.do(cmdLeave, local, now)
		}
		c.frame(local, now)
		at = f.after(now)
	}
}

// frozen tells whether the client is silent at a time since the start, and
// until when.
func (c *client) frozen(since components.Ticks) (until components.Ticks, frozen bool) {
	for _, s := range c.silences {
		from := components.TicksOf(s.At)
		to := from + components.TicksOf(s.For)
		if since >= from && since < to {
			until, frozen = max(until, to), true
		}
	}
	return until, frozen
}

// look copies what others may see.
func (c *client) look(into *clientLive) {
	c.mu.Lock()
	*into = c.live
	c.mu.Unlock()
}

// end takes what is measured after the standstill.
func (c *client) end() {
	if c.proxies != nil {
		c.proxies.end()
	}
}

func (c *client) close() {
	c.node.App.Finalize()
	c.conn.Close()
}
