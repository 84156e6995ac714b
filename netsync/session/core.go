package session

import (
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/netsync/wire"
)

// reorderTolerance is how many later packets must be acknowledged before one
// that is not is taken for lost.
const reorderTolerance = 3

// reliablePackets a second carry nothing but fragments, at most. With the moves
// of a client that sends 120 times a second this stays below what a server
// accepts by default.
const (
	reliablePackets = 100
	reliableBurst   = 8
)

// core is what both ends of a connection have in common: sequences,
// acknowledgements, round trips, the reliable channel, and the packet under
// construction.
type core struct {
	cfg        *Config
	conn       transport.Conn
	addr       netip.AddrPort
	proof      addressProof
	kind       wire.Kind // of the packets that this end sends
	id         uint32
	seal, open Sealer
	live       bool

	// What is sent.
	sendSeq  bits.Seq16 // of the next packet
	sent     ring[sentPacket]
	sentAll  uint64
	decided  bits.Seq16 // packets before it are acknowledged or lost
	lastSent components.Ticks
	stamp    components.Ticks // of the packet under construction
	tick     uint64
	view     components.Ticks
	hasView  bool
	building bool
	head     int // bits
	out      wire.Header
	w        bits.Writer
	buf      [transport.MaxDatagram]byte

	// What is received.
	received  ring[struct{}]
	any       bool
	newest    bits.Seq16
	newestAt  components.Ticks
	newestOf  components.Ticks // its stamp, if it came from a server
	holdTold  bool
	ackDue    bool
	ackSince  components.Ticks
	ackDelay  components.Ticks // Config.AckDelay, stretched as the sends are
	told      bits.Seq16       // the other end knows what of up to this one was received
	retell    bool             // a packet came late: what was sent before retellFrom did not tell it
	retellAt  bits.Seq16
	lastHeard components.Ticks
	heard     bits.Seq16 // the other end's first sequence
	in        wire.Header
	payload   bits.Reader

	rtt   roundTrips
	rel   channel
	pace  limiter
	stats Stats

	ackedBytes               uint64 // UDP and IPv4 headers counted
	notedPackets, notedBytes uint64 // in the server's totals already
}

// headerBytes of UDP and IPv4 belong to each packet.
const headerBytes = 28

// sentPacket is what the sender remembers of a packet.
type sentPacket struct {
	at        components.Ticks
	covers    bits.Seq16 // the acknowledgement it carried
	fragments [wire.SectionFragments]bits.Seq16
	size      uint16
	n         uint8 // fragments
	hasAck    bool
	acked     bool
	lost      bool
}

// Stats counts what one end of a connection has seen. Bytes are UDP payload.
type Stats struct {
	PacketsIn, BytesIn   uint64
	PacketsOut, BytesOut uint64
	// Acked packets are known to have arrived, Lost ones were given up; one
	// that was acknowledged after that counts as both.
	Acked, Lost uint64
	// Resent counts fragments of the reliable channel that went again.
	Resent uint64
	// Migrations counts changes of the other end's address.
	Migrations uint64
	SendErrors uint64
	Refused    Counts
}

// sink takes what a packet holds.
type sink interface {
	acked(seq uint16)
	payload(h *wire.Header, r *bits.Reader)
	reliable(msg []byte)
}

// start makes a connection that stands.
func (c *core) start(now components.Ticks, id uint32, nonce uint64, mine, theirs bits.Seq16) {
	up := c.kind == wire.KindUp
	size := sentByServer
	if up {
		size = sentByClient
	}
	c.id, c.live = id, true
	c.seal = c.cfg.Sealer(SealInfo{c.cfg.Version, id, nonce, up})
	c.open = c.cfg.Sealer(SealInfo{c.cfg.Version, id, nonce, !up})
	c.sendSeq, c.decided = mine, mine
	c.sent = newRing[sentPacket](size)
	c.received = newRing[struct{}](receiveWindow)
	c.heard, c.told = theirs, theirs.Add(-1)
	c.lastSent, c.lastHeard = now, now
	c.ackDelay = c.cfg.AckDelay
	c.rel = newChannel(c.cfg.ReliableBytes, mine, theirs)
	c.pace = newLimiter(now, reliablePackets, reliableBurst)
}

// begin starts a packet.
func (c *core) begin(now components.Ticks) *bits.Writer {
	if c.building {
		panic("session: Begin before End or Discard of the packet before")
	}
	c.building = true
	if !c.live {
		c.w.Reset(nil)
		return &c.w
	}
	c.stamp = now
	c.out = wire.Header{
		Kind: c.kind, Conn: c.id, Seq: c.sendSeq,
		HasAck: c.any, Ack: c.newest,
		HasHold: c.any && !c.holdTold, Hold: now - c.newestAt,
		HasView: c.hasView, View: c.view,
		Time: now, Tick: c.tick,
	}
	if c.any {
		need := min(max(c.newest.Diff(c.told)-1, 0), 32)
		c.out.AckWidth = wire.AckBitsFor(need)
		for i := range int(c.out.AckWidth) {
			if c.received.get(c.newest.Add(-1-i)) != nil {
				c.out.AckBits |= 1 << i
			}
		}
	}
	c.w.Reset(c.buf[:len(c.buf)-c.seal.Overhead()])
	c.out.Write(&c.w, c.newestOf)
	c.head = c.w.Bits()
	return &c.w
}

func (c *core) discard() { c.building = false }

// end sends the packet that begin started.
func (c *core) end() (bits.Seq16, error) {
	if !c.building {
		panic("session: End without Begin")
	}
	c.building = false
	if !c.live {
		return 0, ErrNotConnected
	}
	b := c.w.Bytes()
	if b == nil {
		return 0, ErrPacketOverflow
	}
	now, seq := c.stamp, c.sendSeq
	if c.w.Bits() > c.head {
		b[0] |= wire.FlagPayload
	}
	c.forget(now)
	p := c.sent.put(seq)
	*p = sentPacket{at: now, covers: c.out.Ack, hasAck: c.out.HasAck}
	n := len(b)
	b = c.rel.fill(b, len(c.buf)-c.seal.Overhead()-n, p, seq, now, c.rtt.timeout())
	if len(b) > n {
		b[0] |= wire.FlagReliable
	}
	b = c.seal.Seal(b)
	p.size = uint16(len(b))
	c.sendSeq++
	c.sentAll++
	c.lastSent = now
	if c.out.HasAck && c.out.Ack == c.newest {
		c.holdTold, c.ackDue = true, false
	}
	c.stats.PacketsOut++
	c.stats.BytesOut += uint64(len(b))
	if !c.proof.allows(len(b)) {
		return seq, nil // like a loss
	}
	if err := c.conn.Send(b, c.addr); err != nil {
		c.stats.SendErrors++
		return seq, err
	}
	return seq, nil
}

// forget gives up the packet whose place in the ring the next one takes.
func (c *core) forget(now components.Ticks) {
	if old := c.sendSeq.Add(-c.sent.size()); c.decided.Diff(old) <= 0 {
		c.giveUp(old, now)
		c.decided = old.Next()
	}
}

func (c *core) giveUp(seq bits.Seq16, now components.Ticks) {
	p := c.sent.get(seq)
	if p == nil || p.acked || p.lost {
		return
	}
	p.lost = true
	c.stats.Lost++
	c.rel.lost(p, seq, now, c.rtt.mean())
}

// flush sends what is due and rides on no other packet.
func (c *core) flush(now components.Ticks) {
	if !c.live || c.building {
		return
	}
	for c.relDue(now) {
		if !c.pace.take(now) {
			break
		}
		c.begin(now)
		if _, err := c.end(); err != nil {
			return
		}
	}
	if (c.ackDue && now-c.ackSince >= c.ackDelay) || now-c.lastSent >= c.cfg.KeepAlive {
		c.begin(now)
		c.end()
	}
}

func (c *core) relDue(now components.Ticks) bool {
	_, f := c.rel.due(now, c.rtt.timeout())
	return f != nil
}

// parse opens and checks a datagram whole and changes nothing but c.in and
// c.payload. section is its reliable section.
func (c *core) parse(b []byte, kind wire.Kind) (section []byte, why Refusal, ok bool) {
	b, ok = c.open.Open(b)
	if !ok {
		return nil, BadCRC, false
	}
	reliable := len(b) > 0 && b[0]&wire.FlagReliable != 0
	if reliable {
		if b, section, ok = wire.Section(b); !ok || !c.rel.accepts(section) {
			return nil, Malformed, false
		}
	}
	h, r := &c.in, &c.payload
	r.Reset(b)
	wire.ReadHeader(r, h)
	if r.Err() != nil || h.Kind != kind || h.Conn != c.id || h.Reliable != reliable {
		return nil, Malformed, false
	}
	if h.Payload {
		if r.Remaining() == 0 {
			return nil, Malformed, false
		}
	} else if end := *r; end.Finish() != nil {
		return nil, Malformed, false
	}
	if h.HasAck && !c.wasSent(h) {
		return nil, FutureAck, false
	}
	switch {
	case c.tooOld(h.Seq):
		return nil, TooOld, false
	case c.received.get(h.Seq) != nil:
		return nil, Duplicate, false
	}
	return section, 0, true
}

// tooOld tells whether seq lies behind the window, or half a ring away, where
// there is no before and after.
func (c *core) tooOld(seq bits.Seq16) bool {
	if !c.any {
		return seq.Diff(c.heard) < 0
	}
	d := c.newest.Diff(seq)
	return d >= receiveWindow || d == -1<<15
}

// wasSent tells whether all that h acknowledges was sent.
func (c *core) wasSent(h *wire.Header) bool {
	ago := c.sendSeq.Diff(h.Ack) // 1 for the newest
	if ago < 1 || uint64(ago) > c.sentAll {
		return false
	}
	before := c.sentAll - uint64(ago) // packets sent before Ack
	return before >= 32 || h.AckBits>>before == 0
}

// accept takes a packet that parse found good. stale: it may have waited for
// long to be read, so its times tell nothing. It gives the send time of the
// acknowledged packet if that makes a new sample.
func (c *core) accept(now components.Ticks, section []byte, stale bool, s sink) (sentAt components.Ticks, sampled bool) {
	h := &c.in
	c.lastHeard = now
	c.arrived(now, h)
	if h.Payload || h.Reliable {
		if !c.ackDue {
			c.ackDue, c.ackSince = true, now
		}
	}
	c.rel.take(section)
	if h.HasAck {
		sentAt, sampled = c.acks(now, h, stale, s)
	}
	return sentAt, sampled
}

// arrived books h.Seq as received.
func (c *core) arrived(now components.Ticks, h *wire.Header) {
	if c.any && h.Seq.Diff(c.newest) < 0 {
		c.received.put(h.Seq)
		c.retell, c.retellAt = true, c.sendSeq
		if c.building {
			c.retellAt++
		}
		if h.Seq.Diff(c.told) <= 0 {
			c.told = h.Seq.Add(-1)
		}
		return
	}
	if c.any {
		c.received.skip(c.newest.Next(), h.Seq)
	}
	c.received.put(h.Seq)
	c.any, c.newest, c.newestAt, c.holdTold = true, h.Seq, now, false
	if h.Seq.Diff(c.told) > 64 { // what lies further back can be told no more
		c.told = h.Seq.Add(-64)
	}
}

// acks books what h acknowledges, the oldest first.
func (c *core) acks(now components.Ticks, h *wire.Header, stale bool, s sink) (sentAt components.Ticks, sampled bool) {
	for i := int(h.AckWidth) - 1; i >= 0; i-- {
		if h.AckBits>>i&1 != 0 {
			c.ack(h.Ack.Add(-1-i), s)
		}
	}
	if p := c.ack(h.Ack, s); p != nil && h.HasHold {
		sentAt, sampled = p.at, true
		if !stale {
			c.rtt.sample(now - p.at - h.Hold)
		}
	}
	for end := h.Ack.Add(1 - reorderTolerance); c.decided.Diff(end) < 0; c.decided++ {
		c.giveUp(c.decided, now)
	}
	return sentAt, sampled
}

// ack books one packet and gives it if that was new.
func (c *core) ack(seq bits.Seq16, s sink) *sentPacket {
	p := c.sent.get(seq)
	if p == nil || p.acked {
		return nil
	}
	p.acked = true
	c.stats.Acked++
	c.ackedBytes += uint64(p.size) + headerBytes
	c.rel.acked(p)
	if p.hasAck && (!c.retell || seq.Diff(c.retellAt) >= 0) {
		c.retell = false
		if p.covers.Diff(c.told) > 0 {
			c.told = p.covers
		}
	}
	s.acked(uint16(seq))
	return p
}

// deliver hands out what accept took: messages in order, then the payload.
// It is false if the reliable stream is broken.
func (c *core) deliver(s sink) bool {
	for c.in.Reliable && c.live {
		msg, ok, bad := c.rel.pull()
		if bad {
			return false
		}
		if !ok {
			break
		}
		s.reliable(msg)
	}
	if c.in.Payload && c.live {
		s.payload(&c.in, &c.payload)
	}
	return true
}

// farewell packs a Disconnect into buf.
func (c *core) farewell(buf []byte, why Reason) []byte {
	var w bits.Writer
	w.Reset(buf[:len(buf)-c.seal.Overhead()])
	d := wire.Disconnect{Conn: c.id, Seq: c.sendSeq, Reason: why}
	d.Write(&w)
	c.sendSeq++
	return c.seal.Seal(w.Bytes())
}

// farewellReason opens a Disconnect.
func (c *core) farewellReason(b []byte) (Reason, Refusal, bool) {
	b, ok := c.open.Open(b)
	if !ok {
		return 0, BadCRC, false
	}
	var d wire.Disconnect
	if d.Read(bits.NewReader(b)) != nil || d.Conn != c.id {
		return 0, Malformed, false
	}
	return d.Reason, 0, true
}
