package session

import (
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/transport"
)

// A Disconnect is not acknowledged: it goes out at once and a few times more,
// and if all are lost the other end times out.
const (
	noticeRepeats  = 4
	noticeInterval = second / 10
)

// notice is a Disconnect that is being repeated.
type notice struct {
	b    []byte
	addr netip.AddrPort
	left int
	next components.Ticks
}

type notices []notice

// add sends b once and keeps it for more. It copies b.
func (q *notices) add(now components.Ticks, conn transport.Conn, b []byte, to netip.AddrPort) {
	conn.Send(b, to) // lost or not, it goes again
	*q = append(*q, notice{append([]byte(nil), b...), to, noticeRepeats, now + noticeInterval})
}

func (q *notices) flush(now components.Ticks, conn transport.Conn) {
	if len(*q) == 0 {
		return
	}
	keep := (*q)[:0]
	for _, n := range *q {
		if now >= n.next {
			conn.Send(n.b, n.addr)
			n.left--
			n.next = now + noticeInterval
		}
		if n.left > 0 {
			keep = append(keep, n)
		}
	}
	clear((*q)[len(keep):])
	*q = keep
}
