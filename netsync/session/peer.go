package session

import (
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

// Peer is a client as the server sees it, from Connected to Disconnected.
// After that its methods do nothing.
type Peer struct {
	// User is whatever the game wants to find here.
	User any

	core
	server    *Server
	player    components.PlayerID
	index     int
	nonce     uint64
	issued    components.Ticks
	began     components.Ticks
	confirmed bool
	why       Reason
	bucket    limiter
}

// Begin starts a packet to p, sent at now (which goes out as the server's
// time), and gives the writer for its messages, cut off where the datagram
// ends. End sends it, Discard drops it; one of them comes before the next
// Begin. The writer belongs to p.
func (p *Peer) Begin(now components.Ticks) *bits.Writer {
	p.tick = p.server.tick
	return p.begin(now)
}

// End sends the packet that Begin started, with as much of the reliable
// channel as fits, and gives its sequence, which Acked will name. Errors are
// ErrNotConnected, ErrPacketOverflow (nothing was sent, no sequence was used)
// or the transport's own, which is like a loss.
func (p *Peer) End() (seq uint16, err error) {
	p.server.noteSent(&p.core)
	s, err := p.end()
	p.server.noteSent(&p.core)
	return uint16(s), err
}

// Discard drops the packet that Begin started.
func (p *Peer) Discard() { p.discard() }

// SendReliable queues a message, which arrives exactly once and in order if
// the connection lasts. msg is copied. Errors are ErrNotConnected,
// ErrMessageTooLong and ErrQueueFull.
func (p *Peer) SendReliable(msg []byte) error {
	if !p.live {
		return ErrNotConnected
	}
	return p.rel.send(msg)
}

// ReliableQueued is the number of bytes in the reliable channel that are not
// acknowledged.
func (p *Peer) ReliableQueued() int { return p.rel.queued }

// Disconnect ends the connection and tells the other end why. Disconnected is
// called within the running or the next Receive.
func (p *Peer) Disconnect(why Reason) { p.server.end(p, why) }

// Connected tells whether the connection stands.
func (p *Peer) Connected() bool { return p.live && p.confirmed }

// Player is who is connected.
func (p *Peer) Player() components.PlayerID { return p.player }

// ID is the connection's ID, new with each connection.
func (p *Peer) ID() uint32 { return p.id }

// Index is a small number that no other peer has as long as this one is
// connected: below Config.MaxPeers, or above by as many as are being replaced
// by a reconnect of the same player.
func (p *Peer) Index() int { return p.index }

// Addr is the address at which p was heard last.
func (p *Peer) Addr() netip.AddrPort { return p.addr }

// RTT is the smoothed round trip, without the time that the client held its
// answer back. 0 until it is known.
func (p *Peer) RTT() components.Ticks { return p.rtt.mean() }

// Jitter is the smoothed deviation of the round trip.
func (p *Peer) Jitter() components.Ticks { return p.rtt.jitter() }

// LastHeard is when a valid packet came in last.
func (p *Peer) LastHeard() components.Ticks { return p.lastHeard }

// Stats is a copy of the counters.
func (p *Peer) Stats() Stats {
	st := p.stats
	st.Resent = p.rel.resent
	return st
}

// peerSink hands what a peer's packet holds to the game.
type peerSink struct {
	p *Peer
	h ServerHandler
}

func (s *peerSink) acked(seq uint16)                       { s.h.Acked(s.p, seq) }
func (s *peerSink) payload(h *wire.Header, r *bits.Reader) { s.h.Payload(s.p, h, r) }
func (s *peerSink) reliable(msg []byte)                    { s.h.Reliable(s.p, msg) }
