package session

import (
	"fmt"
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

// pendingLife is how long a connection waits for its first packet before its
// slot is given back. Until then the game knows nothing of it, and an older
// connection of the same player goes on: so a copy of an old response, sent
// again by anyone, throws nobody out.
const pendingLife = 5 * second

// knock takes a Request or a Response. Neither is kept; both are as long as
// any answer to them, and get one at most.
func (s *Server) knock(b []byte, from netip.AddrPort, h ServerHandler) (Refusal, bool) {
	switch {
	case len(b) < wire.KnockBytes:
		return Short, false
	case len(b) > wire.KnockBytes:
		return Oversized, false
	}
	kind, body, ok := wire.OpenHandshake(b)
	if !ok {
		return BadCRC, false
	}
	if kind == wire.KindRequest {
		var q wire.Request
		if q.Read(body) != nil || q.Player == 0 {
			return Malformed, false
		}
		return s.request(&q, from)
	}
	var q wire.Response
	if q.Read(body) != nil || q.Player == 0 {
		return Malformed, false
	}
	return s.response(&q, from, h)
}

func (s *Server) request(q *wire.Request, from netip.AddrPort) (Refusal, bool) {
	if f, why, ok := s.disagree(q); !ok {
		s.say(f.Seal(s.answer[:]), from)
		return why, false
	}
	c := wire.Challenge{Nonce: q.Nonce, Issued: s.now, Cookie: cookie(s.key, from, q.Nonce, q.Player, s.now)}
	s.say(c.Seal(s.answer[:]), from)
	return 0, true
}

// disagree is the refusal for a client that cannot play here.
func (s *Server) disagree(q *wire.Request) (wire.Refuse, Refusal, bool) {
	if q.Version != s.cfg.Version {
		return wire.Refuse{
			Nonce: q.Nonce, Code: wire.RefuseVersion, Server: uint64(s.cfg.Version), Client: uint64(q.Version),
			Text: fmt.Sprintf("The server speaks protocol version %d and the client version %d.", s.cfg.Version, q.Version),
		}, WrongVersion, false
	}
	for i, mine := range s.cfg.Hashes {
		if theirs := q.Hashes[i]; theirs != mine.Hash {
			return wire.Refuse{
				Nonce: q.Nonce, Code: wire.RefuseHash, Which: uint8(i), Server: mine.Hash, Client: theirs,
				Text: fmt.Sprintf("Server and client differ in %s: the server has %016x, the client %016x.",
					mine.name(i), mine.Hash, theirs),
			}, WrongHash, false
		}
	}
	return wire.Refuse{}, 0, true
}

// name is the hash's name, or its number if it has none, cut so that the
// sentence around it always fits.
func (n NamedHash) name(i int) string {
	if n.Name == "" {
		return fmt.Sprintf("hash %d", i)
	}
	return n.Name[:min(len(n.Name), 64)]
}

func (s *Server) response(q *wire.Response, from netip.AddrPort, h ServerHandler) (Refusal, bool) {
	age := s.now - q.Issued
	if age < 0 || age > s.cfg.CookieLife || q.Cookie != cookie(s.key, from, q.Nonce, q.Player, q.Issued) {
		return BadCookie, false
	}
	if f, why, ok := s.disagree(&q.Request); !ok {
		s.say(f.Seal(s.answer[:]), from)
		return why, false
	}
	p, older := s.find(&q.Request)
	if p != nil && s.proved(p, from) {
		return 0, true
	}
	if p != nil { // the Accept was lost
		s.accept(p, from)
		return 0, true
	}
	if older != nil && q.Issued < older.issued {
		return BadCookie, false
	}
	if a, ok := h.(Admitter); ok {
		if text, ok := a.Admit(q.Player, from); !ok {
			s.refuse(q, wire.RefuseGame, text, from)
			return RefusedByGame, false
		}
	}
	if older != nil {
		s.drop(older)
	}
	if !s.room(q.Player) {
		s.refuse(q, wire.RefuseFull, fmt.Sprintf("The server is full: all %d places are taken.", s.cfg.MaxPeers), from)
		return ServerFull, false
	}
	s.accept(s.admit(q, from), from)
	return 0, true
}

// find is the connection that this attempt has made already, and a pending one
// of an earlier attempt of the same player.
func (s *Server) find(q *wire.Request) (same, older *Peer) {
	for _, p := range s.slots {
		if p == nil || !p.live || p.player != q.Player {
			continue
		}
		if p.nonce == q.Nonce {
			return p, nil
		}
		if !p.confirmed {
			older = p
		}
	}
	return nil, older
}

// room tells whether a player may have a slot, and makes one out of the oldest
// pending connection if it must. A player who comes back takes none.
func (s *Server) room(player components.PlayerID) bool {
	if s.byName[player] != nil {
		return true
	}
	n := len(s.byName)
	var oldest *Peer
	for _, p := range s.slots {
		if p == nil || !p.live || p.confirmed || s.byName[p.player] != nil {
			continue
		}
		n++
		if oldest == nil || p.began < oldest.began {
			oldest = p
		}
	}
	if n < s.cfg.MaxPeers {
		return true
	}
	if oldest == nil {
		return false
	}
	s.drop(oldest)
	return true
}

// admit makes a pending connection.
func (s *Server) admit(q *wire.Response, from netip.AddrPort) *Peer {
	p := &Peer{server: s, player: q.Player, nonce: q.Nonce, issued: q.Issued, began: s.now}
	p.cfg, p.conn, p.addr, p.kind = &s.cfg, s.conn, from, wire.KindDown
	p.bucket = newLimiter(s.now, s.cfg.MaxPacketsPerSecond, s.cfg.Burst)
	id := uint32(0)
	for id == 0 || s.byID[id] != nil {
		s.made++
		id = uint32(siphash(s.key, useConn, s.made, q.Nonce))
	}
	p.start(s.now, id, q.Nonce, bits.Seq16(s.cfg.StartSeq), q.StartSeq)
	s.byID[id] = p
	p.index = len(s.slots)
	for i, taken := range s.slots {
		if taken == nil {
			p.index = i
			break
		}
	}
	if p.index == len(s.slots) {
		s.slots = append(s.slots, nil)
	}
	s.slots[p.index] = p
	return p
}

func (s *Server) accept(p *Peer, to netip.AddrPort) {
	a := wire.Accept{
		Nonce: p.nonce, Conn: p.id, Slot: uint16(p.index), StartSeq: bits.Seq16(s.cfg.StartSeq), Time: s.now, Tick: s.tick,
	}
	s.say(a.Seal(s.answer[:]), to)
}

func (s *Server) refuse(q *wire.Response, code wire.RefuseCode, text string, to netip.AddrPort) {
	f := wire.Refuse{Nonce: q.Nonce, Code: code, Text: text}
	s.say(f.Seal(s.answer[:]), to)
}

func (s *Server) say(b []byte, to netip.AddrPort) {
	s.stats.Answers++
	s.stats.AnswerBytes += uint64(len(b))
	if s.conn.Send(b, to) != nil {
		return // the client asks again
	}
}
