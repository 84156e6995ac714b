package session

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

// Limits of the fragments in flight. The window grows by one fragment a round
// trip and halves at a loss, but never below flightMin: reliable messages are
// few and late ones hurt, and at 8 fragments a round trip they are no load.
const (
	flightStart = 16
	flightMin   = 8
	flightMax   = 64
	maxBackoff  = 3
)

// channel is the reliable ordered stream of one connection, both ways.
//
// Outgoing messages, each behind its length, form a stream of bytes that is cut
// into fragments. The last fragment stays open and grows until it is sent for
// the first time, so small messages share fragments. A packet remembers which
// fragments it carried: when it is acknowledged they are done, when it is lost
// or unanswered for too long they go again.
//
// Incoming fragments wait in a ring until those before them are there.
// Memory is taken at the first use and then kept.
type channel struct {
	limit int

	out        ring[outFragment]
	base, next bits.Seq16 // fragments base..next-1 are not all acknowledged
	queued     int        // bytes in them
	flying     int        // sent, not acknowledged, not known lost
	flight     int        // most that may fly
	grown      int        // acknowledged since the window grew
	cutUntil   components.Ticks
	backoff    uint
	backUntil  components.Ticks
	resent     uint64

	in     ring[inFragment]
	expect bits.Seq16
	asm    []byte // in-order bytes, the first used of them handed out
	used   int
}

type outFragment struct {
	data   []byte
	state  fragmentState
	packet bits.Seq16 // that carried it last
	at     components.Ticks
}

type fragmentState uint8

const (
	waiting fragmentState = iota // never sent
	flying
	lost // to be sent again
	done
)

type inFragment struct{ data []byte }

func newChannel(limit int, start, peerStart bits.Seq16) channel {
	return channel{limit: limit, base: start, next: start, expect: peerStart, flight: flightStart}
}

// send queues a message.
func (c *channel) send(msg []byte) error {
	if len(msg) > wire.MessageMax {
		return ErrMessageTooLong
	}
	var head [wire.MessageHeaderMax]byte
	length := wire.AppendMessageLength(head[:0], len(msg))
	size := len(length) + len(msg)
	if c.queued+size > c.limit || c.next.Diff(c.base)+size/wire.FragmentMax+1 > fragmentWindow {
		return ErrQueueFull
	}
	if c.out.slots == nil {
		c.out = newRing[outFragment](fragmentWindow)
	}
	c.append(length)
	c.append(msg)
	return nil
}

func (c *channel) append(b []byte) {
	c.queued += len(b)
	for len(b) > 0 {
		var f *outFragment
		if c.next != c.base {
			f = c.out.get(c.next.Add(-1))
		}
		if f == nil || f.state != waiting || len(f.data) == wire.FragmentMax {
			f = c.out.put(c.next)
			*f = outFragment{data: f.data[:0]}
			c.next++
		}
		n := min(len(b), wire.FragmentMax-len(f.data))
		f.data = append(f.data, b[:n]...)
		b = b[n:]
	}
}

// due is the first fragment that should go out now, nil if none should.
func (c *channel) due(now, timeout components.Ticks) (bits.Seq16, *outFragment) {
	if c.base == c.next {
		return 0, nil
	}
	timeout = min(timeout<<c.backoff, 3*second)
	for s := c.base; s != c.next; s++ {
		f := c.out.get(s)
		switch f.state {
		case lost:
			return s, f
		case flying:
			if now-f.at >= timeout {
				if now >= c.backUntil {
					c.backoff = min(c.backoff+1, maxBackoff)
					c.backUntil = now + timeout
				}
				c.unfly(f)
				return s, f
			}
		case waiting:
			// Waiting ones are the newest, so all that follow are waiting too.
			if c.flying < c.flight {
				return s, f
			}
			return 0, nil
		}
	}
	return 0, nil
}

func (c *channel) unfly(f *outFragment) {
	f.state = lost
	c.flying--
}

// fill appends what is due and fits in room bytes to b, as a reliable section,
// and writes down in p what it was.
func (c *channel) fill(b []byte, room int, p *sentPacket, seq bits.Seq16, now, timeout components.Ticks) []byte {
	start := len(b)
	room -= wire.SectionTrailer
	for int(p.n) < wire.SectionFragments {
		s, f := c.due(now, timeout)
		if f == nil || wire.FragmentHeader+len(f.data) > room {
			break
		}
		room -= wire.FragmentHeader + len(f.data)
		b = wire.AppendFragment(b, s, f.data)
		if f.state == lost {
			c.resent++
		}
		f.state, f.packet, f.at = flying, seq, now
		c.flying++
		p.fragments[p.n] = s
		p.n++
	}
	if len(b) == start {
		return b
	}
	return wire.EndSection(b, start)
}

// acked ends what a packet carried.
func (c *channel) acked(p *sentPacket) {
	for _, s := range p.fragments[:p.n] {
		f := c.out.get(s)
		if s.Diff(c.base) < 0 || f == nil || f.state == done {
			continue
		}
		if f.state == flying {
			c.flying--
		}
		f.state = done
		c.queued -= len(f.data)
		c.backoff = 0
		if c.grown++; c.grown >= c.flight {
			c.grown = 0
			c.flight = min(c.flight+1, flightMax)
		}
	}
	for c.base != c.next && c.out.get(c.base).state == done {
		c.out.remove(c.base)
		c.base++
	}
}

// lost marks what a packet carried and no later one has carried since.
func (c *channel) lost(p *sentPacket, seq bits.Seq16, now, rtt components.Ticks) {
	any := false
	for _, s := range p.fragments[:p.n] {
		f := c.out.get(s)
		if s.Diff(c.base) >= 0 && f != nil && f.state == flying && f.packet == seq {
			c.unfly(f)
			any = true
		}
	}
	if any && now >= c.cutUntil {
		c.cutUntil = now + rtt
		c.flight = max(c.flight/2, flightMin)
	}
}

// accepts tells whether all fragments of a section lie within the window.
func (c *channel) accepts(section []byte) bool {
	for len(section) > 0 {
		var seq bits.Seq16
		seq, _, section = wire.NextFragment(section)
		if seq.Diff(c.expect) >= fragmentWindow {
			return false
		}
	}
	return true
}

// take keeps the fragments of a section that are new.
func (c *channel) take(section []byte) {
	for len(section) > 0 {
		var seq bits.Seq16
		var data []byte
		seq, data, section = wire.NextFragment(section)
		if seq.Diff(c.expect) < 0 {
			continue
		}
		if c.in.slots == nil {
			c.in = newRing[inFragment](fragmentWindow)
		}
		if c.in.get(seq) != nil {
			continue
		}
		f := c.in.put(seq)
		f.data = append(f.data[:0], data...)
	}
}

// pull is the next whole message in order, valid until the next call of take
// or pull. bad: the stream is broken for good.
func (c *channel) pull() (msg []byte, ok, bad bool) {
	for {
		rest := c.asm[c.used:]
		n, head := wire.MessageLength(rest)
		if head < 0 {
			return nil, false, true
		}
		if head > 0 && len(rest)-head >= n {
			c.used += head + n
			return rest[head : head+n : head+n], true, false
		}
		if c.used > 0 {
			c.asm = c.asm[:copy(c.asm, rest)]
			c.used = 0
		}
		if c.in.slots == nil {
			return nil, false, false
		}
		f := c.in.get(c.expect)
		if f == nil {
			return nil, false, false
		}
		c.asm = append(c.asm, f.data...)
		c.in.remove(c.expect)
		c.expect++
	}
}
