package session

import (
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/netsync/wire"
)

// ServerHandler is the game behind a Server. All calls come from within
// Receive. Each Connected is followed by exactly one Disconnected of the same
// peer. What is handed over is valid during the call only.
type ServerHandler interface {
	// Connected: p may be sent to from now on.
	Connected(p *Peer)
	// Disconnected: p has ended; nothing of it remains in the Server.
	Disconnected(p *Peer, why Reason)
	// Payload is what the client wrote between Begin and End, up to the zero
	// bits that fill the last byte. h.View is the server time that the client
	// looked at, if h.HasView.
	Payload(p *Peer, h *wire.Header, r *bits.Reader)
	// Reliable is the next message of the reliable channel.
	Reliable(p *Peer, msg []byte)
	// Acked: the packet to p with this sequence has arrived. Each is told once
	// at most, and before the payload of the packet that told it.
	Acked(p *Peer, seq uint16)
}

// Admitter is what a ServerHandler has that wants to turn players away.
type Admitter interface {
	// Admit is asked when a client has proved its address, perhaps more than
	// once. If ok is false, text is the sentence that the player gets to read.
	Admit(player components.PlayerID, from netip.AddrPort) (text string, ok bool)
}

// Server is the server's end of all its connections over one Conn.
type Server struct {
	cfg    Config
	key    [2]uint64
	conn   transport.Conn
	now    components.Ticks
	begun  bool
	tick   uint64
	slots  []*Peer // by index, nil: free
	byID   map[uint32]*Peer
	byName map[components.PlayerID]*Peer // the confirmed ones
	ended  []*Peer
	gone   notices
	made   uint64 // connections ever, for their IDs
	sink   peerSink
	buf    [transport.MaxDatagram]byte
	answer [transport.MaxDatagram]byte
	stats  ServerStats
}

// ServerStats counts over all connections, past ones included. Bytes are UDP
// payload.
type ServerStats struct {
	PacketsIn, BytesIn   uint64 // all that came in, refused ones too
	PacketsOut, BytesOut uint64 // of connections; answers to knocks are not in it
	Answers, AnswerBytes uint64 // to knocks
	Connected            uint64
	Ended                [8]uint64 // by Reason
	Refused              Counts
}

// NewServer makes a server on conn, which stays the caller's to close.
func NewServer(conn transport.Conn, cfg Config) *Server {
	cfg = cfg.withDefaults()
	return &Server{
		cfg: cfg, key: cfg.key(), conn: conn,
		byID: map[uint32]*Peer{}, byName: map[components.PlayerID]*Peer{},
	}
}

// SetTick sets the tick that packets carry from now on.
func (s *Server) SetTick(tick uint64) { s.tick = tick }

// Stats is a copy of the counters.
func (s *Server) Stats() ServerStats { return s.stats }

// Len is the number of connected peers.
func (s *Server) Len() int { return len(s.byName) }

// Peer is the connected peer of a player, nil if there is none.
func (s *Server) Peer(player components.PlayerID) *Peer { return s.byName[player] }

// Each calls f for each connected peer in the order of Index, until it gives
// false.
func (s *Server) Each(f func(p *Peer) bool) {
	for _, p := range s.slots {
		if p != nil && p.Connected() && !f(p) {
			return
		}
	}
}

// Receive takes all that has arrived, answers knocks, hands out what valid
// packets hold, and ends what has timed out. now never goes back.
func (s *Server) Receive(now components.Ticks, h ServerHandler) {
	transport.SetFrame(s.conn, now)
	stale := s.begun && now-s.now > maxGap
	s.now, s.begun = now, true
	s.sink.h = h
	s.reap(h)
	for range s.cfg.frameMost() { // a flood must not keep the tick from its end
		n, from, ok := s.conn.Receive(s.buf[:])
		if !ok {
			break
		}
		s.stats.PacketsIn++
		s.stats.BytesIn += uint64(n)
		if why, ok := s.datagram(s.buf[:n], from, stale, h); !ok {
			s.stats.Refused[why]++
		}
		s.reap(h)
	}
	for _, p := range s.slots {
		if p == nil || !p.live {
			continue
		}
		if p.confirmed && now-p.lastHeard >= s.cfg.Timeout {
			s.end(p, ReasonTimeout)
		} else if !p.confirmed && now-p.began >= min(pendingLife, s.cfg.Timeout) {
			s.drop(p)
		}
	}
	s.reap(h)
	s.sink = peerSink{}
}

// Flush sends what is due: acknowledgements, reliable messages, keep-alives,
// and notices of ended connections. Call it after what the game sends.
func (s *Server) Flush(now components.Ticks) {
	s.now, s.begun = max(s.now, now), true
	for _, p := range s.slots {
		if p != nil && p.Connected() {
			p.tick = s.tick
			s.noteSent(&p.core)
			p.flush(now)
			s.noteSent(&p.core)
		}
	}
	s.gone.flush(now, s.conn)
}

// Shutdown ends every connection and tells the clients. Flush a few times more
// to repeat it, or close the Conn at once.
func (s *Server) Shutdown() {
	for _, p := range s.slots {
		if p != nil {
			s.end(p, ReasonShutdown)
		}
	}
}

func (s *Server) datagram(b []byte, from netip.AddrPort, stale bool, h ServerHandler) (Refusal, bool) {
	kind, ok := wire.PeekKind(b)
	if !ok {
		return Short, false
	}
	switch kind {
	case wire.KindRequest, wire.KindResponse:
		return s.knock(b, from, h)
	case wire.KindUp, wire.KindDisconnect:
	default:
		return WrongKind, false
	}
	id, ok := wire.PeekConn(b)
	if !ok {
		return Short, false
	}
	p := s.byID[id]
	if p == nil || !p.live {
		return UnknownConnection, false
	}
	why, ok := s.connected(p, kind, b, from, stale)
	if !ok {
		p.stats.Refused[why]++
	}
	return why, ok
}

// connected takes a packet that names the connection of p.
func (s *Server) connected(p *Peer, kind wire.Kind, b []byte, from netip.AddrPort, stale bool) (Refusal, bool) {
	if kind == wire.KindDisconnect {
		reason, why, ok := p.farewellReason(b)
		if ok {
			s.close(p, reason)
		}
		return why, ok
	}
	section, why, ok := p.parse(b, wire.KindUp)
	if !ok {
		return why, false
	}
	if !p.bucket.take(s.now) {
		return RateLimited, false
	}
	if !p.confirmed {
		s.confirm(p)
		if !p.live { // the game did not want it
			return 0, true
		}
	}
	if from == p.addr || !p.any || p.in.Seq.Diff(p.newest) > 0 {
		s.migrate(p, from, len(b))
	}
	if p.in.HasView {
		if acked := p.sent.get(p.in.Ack); acked != nil {
			p.in.ResolveView(acked.at)
		} else {
			p.in.HasView, p.in.View = false, 0
		}
	}
	p.stats.PacketsIn++
	p.stats.BytesIn += uint64(len(b))
	s.sink.p = p
	p.accept(s.now, section, stale, &s.sink)
	if !p.deliver(&s.sink) {
		s.end(p, ReasonProtocol)
	}
	return 0, true
}

// confirm makes a connection count, now that its client has used it, and ends
// an older one of the same player.
func (s *Server) confirm(p *Peer) {
	if old := s.byName[p.player]; old != nil {
		s.end(old, ReasonReplaced)
		s.reap(s.sink.h)
	}
	p.confirmed = true
	s.byName[p.player] = p
	s.stats.Connected++
	s.sink.h.Connected(p)
}

// end closes a connection from this side and says so to the other.
func (s *Server) end(p *Peer, why Reason) {
	if !p.live {
		return
	}
	var buf [wire.KnockBytes]byte
	if p.proof.wanted {
		s.close(p, why)
		return
	}
	s.gone.add(s.now, s.conn, p.farewell(buf[:], why), p.addr)
	s.close(p, why)
}

// close ends a connection; reap tells the game.
func (s *Server) close(p *Peer, why Reason) {
	p.live, p.building, p.why = false, false, why
	s.ended = append(s.ended, p)
}

// drop forgets a connection that was never used.
func (s *Server) drop(p *Peer) {
	p.live = false
	s.free(p)
}

func (s *Server) free(p *Peer) {
	s.slots[p.index] = nil
	delete(s.byID, p.id)
}

// reap takes ended connections out of all tables and tells the game.
func (s *Server) reap(h ServerHandler) {
	for len(s.ended) > 0 {
		p := s.ended[0]
		s.ended[0] = nil
		s.ended = s.ended[1:]
		s.free(p)
		if !p.confirmed {
			continue
		}
		delete(s.byName, p.player) // before a newer one of the player takes the place
		s.stats.Ended[p.why]++
		h.Disconnected(p, p.why)
	}
	s.ended = s.ended[:0]
}

// noteSent adds what a connection has sent since the last call to the totals.
func (s *Server) noteSent(c *core) {
	s.stats.PacketsOut += c.stats.PacketsOut - c.notedPackets
	s.stats.BytesOut += c.stats.BytesOut - c.notedBytes
	c.notedPackets, c.notedBytes = c.stats.PacketsOut, c.stats.BytesOut
}

// Slots is the number of slots in use: connected peers, and those that were
// let in and not heard of yet.
func (s *Server) Slots() (n int) {
	for _, p := range s.slots {
		if p != nil {
			n++
		}
	}
	return n
}
