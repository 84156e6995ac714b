package session

import (
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/netsync/wire"
)

// ClientHandler is the game behind a Client. All calls come from within
// Receive. What is handed over is valid during the call only.
type ClientHandler interface {
	// Connected: the server let this client in.
	Connected()
	// Disconnected: the connection, or the attempt to make one, has ended, once
	// for each Connect. err is a *RefusedError, ErrNoAnswer or an *EndedError.
	Disconnected(err error)
	// Payload is what the server wrote between Begin and End, up to the zero
	// bits that fill the last byte. h.Time and h.Tick are the server's.
	Payload(h *wire.Header, r *bits.Reader)
	// Reliable is the next message of the reliable channel.
	Reliable(msg []byte)
	// Acked: the packet with this sequence has arrived. Each is told once at
	// most, and before the payload of the packet that told it.
	Acked(seq uint16)
}

// State is where a Client stands.
type State uint8

// The states of a Client.
const (
	Idle       State = iota // Connect was never called
	Requesting              // waits for a challenge
	Responding              // waits for the answer to its cookie
	Connected
	Ended // see Err
)

var stateNames = [...]string{"idle", "requesting", "responding", "connected", "ended"}

// String is a word for the state.
func (s State) String() string { return stateNames[s] }

// respondFor is how long a client repeats its response before it asks for a
// new challenge: its address may have changed since.
const respondFor = 2 * second

// Client is the client's end of a connection over one Conn.
type Client struct {
	core
	cfg     Config
	key     [2]uint64
	server  netip.AddrPort
	player  components.PlayerID
	state   State
	err     error
	tell    bool // err is to be told
	now     components.Ticks
	began   components.Ticks // of the attempt
	lastTry components.Ticks
	tries   uint64 // attempts ever, for their nonces
	nonce   uint64
	reply   wire.Response
	since   components.Ticks // of Responding
	replied components.Ticks // first response of this attempt
	replies int
	slot    int
	ticked  uint64 // newest tick of the server
	clock   clock
	back    backoff
	gone    notices
	handler ClientHandler
	rx      [transport.MaxDatagram]byte
	refused Counts
}

// NewClient makes a client that talks to the server at an address over conn,
// which stays the caller's to close. Player 0 is nobody and panics.
func NewClient(conn transport.Conn, server netip.AddrPort, player components.PlayerID, cfg Config) *Client {
	if player == 0 {
		panic("session.Client: player 0 is nobody")
	}
	c := &Client{server: transport.Normalize(server), player: player, cfg: cfg.withDefaults()}
	c.core.conn = conn
	c.key = c.cfg.key()
	return c
}

// Connect starts to connect. What an earlier connection of this client left
// behind is gone. ErrBusy if it stands, or is being made.
func (c *Client) Connect(now components.Ticks) error {
	if c.state != Idle && c.state != Ended {
		return ErrBusy
	}
	c.tries++
	c.nonce = siphash(c.key, useNonce, c.tries, uint64(now), uint64(c.player))
	c.core = core{cfg: &c.cfg, conn: c.core.conn, addr: c.server, kind: wire.KindUp}
	c.clock.reset(now)
	c.back = backoff{}
	c.ticked, c.slot, c.replies = 0, 0, 0
	c.err, c.tell = nil, false
	c.state, c.began, c.now = Requesting, now, now
	c.knock(now)
	return nil
}

// knock sends, again, what the handshake is at.
func (c *Client) knock(now components.Ticks) {
	c.lastTry = now
	q := wire.Request{
		Version: c.cfg.Version, Nonce: c.nonce, Player: c.player,
		StartSeq: bits.Seq16(c.cfg.StartSeq), Hashes: c.cfg.hashes(),
	}
	var b []byte
	if c.state == Requesting {
		b = q.Seal(c.buf[:])
	} else {
		c.reply.Request = q
		b = c.reply.Seal(c.buf[:])
	}
	c.stats.PacketsOut++
	c.stats.BytesOut += uint64(len(b))
	if c.conn.Send(b, c.server) != nil {
		c.stats.SendErrors++
	}
}

// Receive takes all that has arrived, hands out what valid packets hold, and
// ends what has timed out. now never goes back.
func (c *Client) Receive(now components.Ticks, h ClientHandler) {
	transport.SetFrame(c.conn, now)
	stale := now-c.now > maxGap
	c.now = now
	c.handler = h
	c.report()
	for range c.cfg.frameMost() {
		n, from, ok := c.conn.Receive(c.rx[:])
		if !ok {
			break
		}
		if why, ok := c.datagram(c.rx[:n], from, stale); !ok {
			c.refused[why]++
		}
		c.report()
	}
	c.clock.update(now)
	switch {
	case c.state == Connected && now-c.lastHeard >= c.cfg.Timeout:
		c.leave(ReasonTimeout)
	case (c.state == Requesting || c.state == Responding) && now-c.began >= c.cfg.Timeout:
		c.finish(ErrNoAnswer)
	}
	if c.state == Connected {
		c.back.update(now, &c.core)
		c.ackDelay = c.back.stretched(c.cfg.AckDelay)
	}
	c.report()
	c.handler = nil
}

// Flush sends what is due: the handshake, acknowledgements, reliable messages,
// keep-alives, notices of an ended connection. Call it after what the game
// sends.
func (c *Client) Flush(now components.Ticks) {
	switch c.state {
	case Requesting, Responding:
		if now-c.lastTry >= c.cfg.Retry {
			if c.state == Responding && now-c.since >= respondFor {
				c.state = Requesting
			}
			c.knock(now)
		}
	case Connected:
		// The server takes the connection for one when it has heard this end.
		if !c.any && now-c.lastSent >= c.cfg.Retry && !c.building {
			c.begin(now)
			c.end()
		}
		c.flush(now)
	}
	c.gone.flush(now, c.conn)
}

func (c *Client) datagram(b []byte, from netip.AddrPort, stale bool) (Refusal, bool) {
	if from != c.server {
		return WrongAddress, false
	}
	kind, ok := wire.PeekKind(b)
	if !ok {
		return Short, false
	}
	switch kind {
	case wire.KindChallenge, wire.KindAccept, wire.KindRefuse:
		return c.answer(b)
	case wire.KindDown, wire.KindDisconnect:
	default:
		return WrongKind, false
	}
	id, ok := wire.PeekConn(b)
	switch {
	case !ok:
		return Short, false
	case c.state != Connected:
		return NotConnected, false
	case id != c.id:
		return UnknownConnection, false
	}
	if kind == wire.KindDisconnect {
		reason, why, ok := c.farewellReason(b)
		if ok {
			c.finish(&EndedError{reason})
		}
		return why, ok
	}
	return c.packet(b, stale)
}

func (c *Client) packet(b []byte, stale bool) (Refusal, bool) {
	section, why, ok := c.parse(b, wire.KindDown)
	if !ok {
		return why, false
	}
	h := &c.in
	h.ResolveTime(c.now+c.clock.target, c.ticked)
	c.stats.PacketsIn++
	c.stats.BytesIn += uint64(len(b))
	c.clock.down(c.now, h.Time)
	sentAt, sampled := c.accept(c.now, section, stale, clientSink{c})
	if sampled {
		heard := h.Time - h.Hold
		c.clock.up(c.now, sentAt, heard)
		c.back.sample(c.now, sentAt, heard-sentAt)
	}
	if c.newest == h.Seq {
		c.newestOf, c.ticked = h.Time, h.Tick
	}
	if !c.deliver(clientSink{c}) {
		c.leave(ReasonProtocol)
	}
	return 0, true
}

// answer takes the server's part of the handshake.
func (c *Client) answer(b []byte) (Refusal, bool) {
	if len(b) > wire.KnockBytes {
		return Oversized, false
	}
	kind, body, ok := wire.OpenHandshake(b)
	if !ok {
		return BadCRC, false
	}
	waiting := c.state == Requesting || c.state == Responding
	switch kind {
	case wire.KindChallenge:
		var m wire.Challenge
		if m.Read(body) != nil {
			return Malformed, false
		}
		if m.Nonce == c.nonce && c.state == Connected {
			c.challenged(&m)
			return 0, true
		}
		if m.Nonce != c.nonce || c.state != Requesting {
			return BadNonce, false
		}
		c.reply.Issued, c.reply.Cookie = m.Issued, m.Cookie
		c.state, c.since = Responding, c.now
		if c.replies++; c.replies == 1 {
			c.replied = c.now
		}
		c.knock(c.now)
	case wire.KindAccept:
		var m wire.Accept
		if m.Read(body) != nil || m.Conn == 0 {
			return Malformed, false
		}
		if m.Nonce != c.nonce || !waiting {
			return BadNonce, false
		}
		c.accepted(&m)
	case wire.KindRefuse:
		var m wire.Refuse
		if m.Read(body) != nil {
			return Malformed, false
		}
		if m.Nonce != c.nonce || !waiting {
			return BadNonce, false
		}
		e := &RefusedError{Code: m.Code, Server: m.Server, Client: m.Client, Text: m.Text}
		if m.Code == wire.RefuseHash && int(m.Which) < len(c.cfg.Hashes) {
			e.Which = c.cfg.Hashes[m.Which].name(int(m.Which))
		}
		c.finish(e)
	}
	return 0, true
}

func (c *Client) accepted(m *wire.Accept) {
	c.state = Connected
	c.start(c.now, m.Conn, c.nonce, bits.Seq16(c.cfg.StartSeq), m.StartSeq)
	c.lastSent = c.now - c.cfg.KeepAlive // the server waits for the first packet
	c.slot, c.ticked = int(m.Slot), m.Tick
	c.clock.down(c.now, m.Time)
	c.clock.up(c.now, c.replied, m.Time) // whichever response it answers, the first was not sent later
	c.clock.update(c.now)
	c.back.start(c.now)
	c.handler.Connected()
}

// Disconnect ends the connection, or the attempt, and tells the server.
// Disconnected is called within the running or the next Receive.
func (c *Client) Disconnect(why Reason) { c.leave(why) }

func (c *Client) leave(why Reason) {
	switch c.state {
	case Connected:
		var buf [wire.KnockBytes]byte
		c.gone.add(c.now, c.conn, c.farewell(buf[:], why), c.server)
		c.finish(&EndedError{why})
	case Requesting, Responding:
		c.finish(&EndedError{why})
	}
}

func (c *Client) finish(err error) {
	c.state, c.err, c.tell = Ended, err, true
	c.live, c.building = false, false
}

// report tells the game of the end.
func (c *Client) report() {
	if c.tell {
		c.tell = false
		c.handler.Disconnected(c.err)
	}
}

// Begin starts a packet, sent at now, and gives the writer for its messages,
// cut off where the datagram ends. End sends it, Discard drops it; one of them
// comes before the next Begin.
func (c *Client) Begin(now components.Ticks) *bits.Writer { return c.begin(now) }

// End sends the packet that Begin started, with as much of the reliable
// channel as fits, and gives its sequence, which Acked will name. Errors are
// ErrNotConnected, ErrPacketOverflow (nothing was sent, no sequence was used)
// or the transport's own, which is like a loss.
func (c *Client) End() (seq uint16, err error) {
	s, err := c.end()
	return uint16(s), err
}

// Discard drops the packet that Begin started.
func (c *Client) Discard() { c.discard() }

// SendReliable queues a message, which arrives exactly once and in order if
// the connection lasts. msg is copied. Errors are ErrNotConnected,
// ErrMessageTooLong and ErrQueueFull.
func (c *Client) SendReliable(msg []byte) error {
	if !c.live {
		return ErrNotConnected
	}
	return c.rel.send(msg)
}

// ReliableQueued is the number of bytes in the reliable channel that are not
// acknowledged.
func (c *Client) ReliableQueued() int { return c.rel.queued }

// SetView sets the server time that this client looks at; packets carry it
// from now on, to within a wire.HoldUnit.
func (c *Client) SetView(t components.Ticks) { c.view, c.hasView = t, true }

// viewSure is how old the acknowledged packet may be, from its sending on, for
// the server to remember its stamp: it keeps the last 256, which is 20 a tick
// at 30 ticks a second.
const viewSure = 2 * second / 5

// ViewTold tells whether the packet that Begin started carries the view so that
// the server can surely make it whole: what follows may rest on it.
func (c *Client) ViewTold() bool {
	if !c.building || !c.out.HasAck || !c.out.HasView || c.stamp-c.newestAt+c.rtt.mean() >= viewSure {
		return false
	}
	d := c.out.View - c.newestOf
	return d > -10*second && d < 10*second
}

// State is where the client stands.
func (c *Client) State() State { return c.state }

// Err is why the client is in Ended, nil in any other state.
func (c *Client) Err() error { return c.err }

// Player is who this client is.
func (c *Client) Player() components.PlayerID { return c.player }

// ID is the connection's ID, 0 before there is one.
func (c *Client) ID() uint32 { return c.id }

// Slot is this client's Index on the server.
func (c *Client) Slot() int { return c.slot }

// ServerNow is the server's time at now, as far as it is known; 0 before the
// server's first answer. While Synced it does not run back, and neither jumps
// nor runs faster or slower than real time by more than a tenth, unless it was
// wrong by more than 1 s.
func (c *Client) ServerNow(now components.Ticks) components.Ticks {
	if c.clock.downs == 0 {
		return 0
	}
	return c.clock.server(now)
}

// Synced tells whether ServerNow is good enough to predict with.
func (c *Client) Synced() bool { return c.state == Connected && c.clock.synced }

// ClockJumps counts the times that ServerNow jumped while synced.
func (c *Client) ClockJumps() uint64 { return c.clock.jumps }

// ServerTick is the tick of the newest packet from the server.
func (c *Client) ServerTick() uint64 { return c.ticked }

// RTT is the smoothed round trip, without the time that the server held its
// answer back. 0 until it is known.
func (c *Client) RTT() components.Ticks { return c.rtt.mean() }

// Jitter is the smoothed deviation of the round trip.
func (c *Client) Jitter() components.Ticks { return c.rtt.jitter() }

// LastHeard is when a valid packet came in last.
func (c *Client) LastHeard() components.Ticks { return c.lastHeard }

// SendScale is by how much the interval between two sends should be
// stretched, 1..12, so that the link upstream carries them.
func (c *Client) SendScale() float64 { return c.back.factor() }

// NetSpeed is how many bytes a second the link upstream was found to carry,
// UDP and IPv4 headers counted; 0 while there is no sign of a limit.
func (c *Client) NetSpeed() int { return c.back.speed() }

// Stats is a copy of the counters of the present connection, and of all
// refusals since the client was made.
func (c *Client) Stats() Stats {
	st := c.stats
	st.Resent = c.rel.resent
	st.Refused = c.refused
	return st
}

type clientSink struct{ c *Client }

func (s clientSink) acked(seq uint16)                       { s.c.handler.Acked(seq) }
func (s clientSink) payload(h *wire.Header, r *bits.Reader) { s.c.handler.Payload(h, r) }
func (s clientSink) reliable(msg []byte)                    { s.c.handler.Reliable(msg) }
