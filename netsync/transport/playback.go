package transport

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"

	"github.com/gaitnet/gait/components"
)

// ErrSendFailedThen is what a Playback's Send returns where the recorded one
// returned an error.
var ErrSendFailedThen = errors.New("transport: sending failed when this was recorded")

// Playback is a Conn that plays a stream of a recording: in each frame it
// gives out the datagrams that were received in that frame, and it compares
// what is sent with what was sent then. The owner runs as it did, with
//
//	for now, ok := p.NextFrame(); ok; now, ok = p.NextFrame() {
//		tick(now) // calls SetFrame(now), Receive and Send
//	}
//
// If it does the same things, it gets the same datagrams from the same calls.
type Playback struct {
	addr   netip.AddrPort
	frames []components.Ticks
	in     []played
	out    []played
	frame  int // frames begun
	dry    uint16
	nextIn int
	nextO  int
	closed bool
	stats  Stats
	first  error
	count  uint64
}

// played is a datagram and the number of frames that had begun before it.
type played struct {
	frame int
	entry *RecordEntry
}

var (
	_ Conn   = (*Playback)(nil)
	_ Framed = (*Playback)(nil)
)

// Playback makes a Conn that plays a stream. Each call makes a new one, at its
// start. The error is ErrNoStream.
func (r *Recording) Playback(stream uint16) (*Playback, error) {
	p := &Playback{}
	found := false
	for i := range r.Records {
		e := &r.Records[i]
		if e.Stream != stream {
			continue
		}
		switch e.Kind {
		case RecordStream:
			p.addr, found = e.Addr, true
		case RecordFrame:
			p.frames = append(p.frames, e.When)
		case RecordReceived:
			p.in = append(p.in, played{len(p.frames), e})
		case RecordSent, RecordSendFailed:
			p.out = append(p.out, played{len(p.frames), e})
		}
	}
	if !found {
		return nil, ErrNoStream
	}
	return p, nil
}

// NextFrame is the time of the next recorded frame; ok is false after the
// last.
func (p *Playback) NextFrame() (now components.Ticks, ok bool) {
	if p.frame >= len(p.frames) {
		return 0, false
	}
	return p.frames[p.frame], true
}

// SetFrame implements Framed.
func (p *Playback) SetFrame(now components.Ticks) {
	switch want, ok := p.NextFrame(); {
	case !ok:
		p.diverge("frame %d at tick %d: the recording has ended", p.frame+1, now)
	case want != now:
		p.diverge("frame %d: at tick %d, recorded at %d", p.frame+1, now, want)
	}
	p.frame++
	p.dry = 0
}

// Receive implements Conn.
func (p *Playback) Receive(buf []byte) (n int, from netip.AddrPort, ok bool) {
	needWholeBuffer("transport.Playback", buf)
	if p.nextIn == len(p.in) || p.closed {
		return 0, netip.AddrPort{}, false
	}
	next := p.in[p.nextIn]
	switch {
	case next.frame > p.frame || (next.frame == p.frame && next.entry.Tag > p.dry):
		if p.dry < 1<<16-1 {
			p.dry++
		}
		return 0, netip.AddrPort{}, false
	case next.frame < p.frame:
		p.diverge("frame %d: receives what was received in frame %d", p.frame, next.frame)
	}
	p.nextIn++
	n = copy(buf, next.entry.Data)
	p.stats.PacketsIn++
	p.stats.BytesIn += uint64(n)
	return n, next.entry.Addr, true
}

// Send implements Conn. Nothing leaves; the datagram is compared with the
// recorded one.
func (p *Playback) Send(b []byte, to netip.AddrPort) error {
	if p.closed {
		p.stats.SendErrors++
		return ErrClosed
	}
	if p.nextO == len(p.out) {
		p.diverge("frame %d: sends more than was recorded", p.frame)
	} else {
		next := p.out[p.nextO]
		p.nextO++
		failed := next.entry.Kind == RecordSendFailed
		switch {
		case next.frame != p.frame:
			p.diverge("frame %d: sends what was sent in frame %d", p.frame, next.frame)
		case next.entry.Addr != to:
			p.diverge("frame %d: sends to %v, recorded to %v", p.frame, to, next.entry.Addr)
		case !failed && !bytes.Equal(next.entry.Data, b):
			p.diverge("frame %d: sends %d other bytes to %v", p.frame, len(b), to)
		}
		if failed {
			p.stats.SendErrors++
			return ErrSendFailedThen
		}
	}
	p.stats.PacketsOut++
	p.stats.BytesOut += uint64(len(b))
	return nil
}

// Unfinished is how many recorded datagrams have not been received and sent
// again yet.
func (p *Playback) Unfinished() (received, sent int) {
	return len(p.in) - p.nextIn, len(p.out) - p.nextO
}

// Diverged says how the owner first did something else than when it was
// recorded, and how many times in all; nil if never.
func (p *Playback) Diverged() (first error, count uint64) { return p.first, p.count }

func (p *Playback) diverge(format string, args ...any) {
	if p.count++; p.first == nil {
		p.first = fmt.Errorf("transport: playback: "+format, args...)
	}
}

// LocalAddr implements Conn: the address that the recorded Conn had.
func (p *Playback) LocalAddr() netip.AddrPort { return p.addr }

// Stats implements Conn.
func (p *Playback) Stats() Stats { return p.stats }

// Close implements Conn.
func (p *Playback) Close() error {
	p.closed = true
	return nil
}
