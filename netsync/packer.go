package netsync

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

// sender is one end of a connection: a server's peer, or a client.
type sender interface {
	Begin(now components.Ticks) *bits.Writer
	End() (uint16, error)
}

// packer fills datagrams: a message that does not fit goes into the next one.
//
//	for out.begin(); out.trying(); {
//		write a message to out.w
//	}
//
// writes it once, or twice where the first datagram was full.
type packer[S sender] struct {
	to    S
	now   components.Ticks
	w     *bits.Writer
	mark  bits.Mark
	tries int
	lost  uint64
	// sealed is called with the sequence of each datagram that went out.
	sealed func(seq uint16)
}

func (p *packer[S]) reset(to S, now components.Ticks) {
	p.to, p.now, p.w, p.lost = to, now, nil, 0
}

func (p *packer[S]) begin() { p.tries = 0 }

func (p *packer[S]) trying() bool {
	if p.tries > 0 {
		if p.w.Err() == nil {
			return false
		}
		p.w.Rollback(p.mark)
		if p.tries == 2 {
			p.lost++
			return false
		}
		p.flush()
	}
	if p.w == nil {
		if p.w = p.to.Begin(p.now); p.w == nil {
			p.lost++
			return false
		}
	}
	p.tries++
	p.mark = p.w.Mark()
	return true
}

func (p *packer[S]) flush() {
	if p.w == nil {
		return
	}
	p.w = nil
	if seq, err := p.to.End(); err == nil && p.sealed != nil {
		p.sealed(seq)
	}
}

// end sends what is open and tells how many messages found no room at all.
func (p *packer[S]) end() uint64 {
	p.flush()
	return p.lost
}
