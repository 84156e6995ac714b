package session

import (
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/wire"
)

// A connection may change its address (a phone leaves its network). Anyone can
// write any sender on a datagram, though, so until the new address has proved
// that somebody listens there it gets no more bytes than came from it, like an
// address that is not connected. The proof is the handshake's own: a challenge
// with a cookie that only that address sees, and a response that carries it.
type addressProof struct {
	// wanted: the address is new and has not proved itself.
	wanted bool
	// credit is how many bytes may still go there, asked when the last
	// challenge did.
	credit int
	asked  components.Ticks
	begun  bool
}

// moved begins it for an address that a connection was heard from first.
func (a *addressProof) moved() { *a = addressProof{wanted: true} }

// heard adds what came from there.
func (a *addressProof) heard(n int) {
	if a.wanted {
		a.credit += n
	}
}

// allows tells whether n bytes may go there, and takes them off.
func (a *addressProof) allows(n int) bool {
	if !a.wanted {
		return true
	}
	if n > a.credit {
		return false
	}
	a.credit -= n
	return true
}

// migrate follows a connection to the address its newest packet came from.
func (s *Server) migrate(p *Peer, from netip.AddrPort, n int) {
	if from != p.addr {
		p.addr = from
		p.stats.Migrations++
		p.proof.moved()
	}
	p.proof.heard(n)
	if a := &p.proof; a.wanted && (!a.begun || s.now-a.asked >= s.cfg.Retry) {
		c := wire.Challenge{Nonce: p.nonce, Issued: s.now, Cookie: cookie(s.key, from, p.nonce, p.player, s.now)}
		if b := c.Seal(s.answer[:]); a.allows(len(b)) {
			a.asked, a.begun = s.now, true
			s.say(b, from)
		}
	}
}

// proved takes a response with a good cookie for a connection that exists:
// true if it was the proof of an address.
func (s *Server) proved(p *Peer, from netip.AddrPort) bool {
	if !p.proof.wanted || from != p.addr {
		return false
	}
	p.proof = addressProof{}
	return true
}

// challenged answers the server's question whether this client is where its
// packets come from.
func (c *Client) challenged(m *wire.Challenge) {
	c.reply.Issued, c.reply.Cookie = m.Issued, m.Cookie
	if c.now-c.lastTry >= c.cfg.Retry/2 {
		c.knock(c.now)
	}
}
