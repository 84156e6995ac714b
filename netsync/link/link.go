package link

import (
	"net/netip"
	"strings"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/transport"
)

// Fate is what happened to a packet that was pushed: a set of flags. A packet
// without Gone's flags arrives.
type Fate uint8

// The flags of a Fate.
const (
	Lost       Fate = 1 << iota // lost by itself
	BurstLost                   // lost in a burst
	QueueDrop                   // the bottleneck's queue was full
	TooLarge                    // longer than transport.MaxDatagram
	Duplicated                  // arrives twice
	Corrupted                   // arrives with flipped bits
	Reordered                   // held back
	Gone            = Lost | BurstLost | QueueDrop | TooLarge
	Passed     Fate = 0
)

// String lists the flags.
func (f Fate) String() string {
	if f == Passed {
		return "passed"
	}
	var s []string
	for i, name := range []string{"lost", "burst-lost", "queue-dropped", "too large", "duplicated", "corrupted", "reordered"} {
		if f&(1<<i) != 0 {
			s = append(s, name)
		}
	}
	return strings.Join(s, ", ")
}

// Stats counts the packets of one direction by fate. Pushed is the sum of
// Passed, Lost, BurstLost, QueueDropped and Oversized; the others count among
// the passed.
type Stats struct {
	Pushed, Passed                   uint64
	Lost, BurstLost                  uint64
	QueueDropped, Oversized          uint64
	Duplicated, Corrupted, Reordered uint64
	BytesPassed                      uint64 // payload, duplicates not counted
}

// plan is a Path with the defaults filled in, the trace laid over it, and its
// units made those of the machine.
type plan struct {
	delay, jitter, hold         components.Ticks
	loss                        float64 // 0..1
	duplicate, corrupt, reorder uint64  // limits of chance
	bursts                      *bursts // nil: independent losses
	roundTrips                  *Trace
	capacity                    *Trace
	bandwidth                   int64
	start                       components.Ticks
	queuePackets, queueBytes    int
	queueTime                   components.Ticks
}

func newPlan(p Path, dir Direction) *plan {
	p = p.withDefaults()
	var trace *Trace
	if p.Trace != nil {
		trace = p.Trace
		if trace.kind == Profile {
			q := trace.profile[dir]
			p.Delay, p.Jitter, p.Loss, p.Bandwidth = q.Delay, q.Jitter, q.Loss, q.Bandwidth
			p.Reorder, p.Corrupt = q.Reorder, q.Corrupt
		}
	}
	pl := &plan{
		delay: ticks(p.Delay), jitter: ticks(p.Jitter), hold: ticks(p.ReorderHold),
		loss:      p.Loss / 100,
		duplicate: limitOf(p.Duplicate / 100), corrupt: limitOf(p.Corrupt / 100), reorder: limitOf(p.Reorder / 100),
		bandwidth: p.Bandwidth, start: ticks(p.TraceStart),
		queuePackets: p.QueuePackets, queueBytes: p.QueueBytes, queueTime: ticks(p.QueueTime),
	}
	if mean, most := p.burst(); most > 1 {
		b := newBursts(mean, most)
		pl.bursts = &b
	}
	if trace != nil {
		switch trace.kind {
		case RoundTrips:
			pl.roundTrips = trace
		case Opportunities, Rates:
			pl.capacity, pl.bandwidth = trace, 0
		}
	}
	return pl
}

// lane is one direction of one client's link.
type lane struct {
	*plan
	seed     uint64
	ordinal  uint64
	queue    bottleneck
	burst    int  // packets that the present burst will still take
	gap      bool // the last packet ended a burst: this one gets through
	lastDue  components.Ticks
	inFlight int
	stats    Stats
}

// follow puts a lane under a plan. What is on its way stays.
func (l *lane) follow(p *plan) {
	if l.plan == nil || l.plan.capacity != p.capacity || l.plan.start != p.start {
		l.queue.slot, l.queue.left = 0, opportunityBytes
	}
	l.queue.rate, l.queue.trace, l.queue.start = p.bandwidth, p.capacity, p.start
	l.queue.spent = 0
	l.plan = p
}

// lose decides on loss. It makes two draws, whatever comes of them.
func (l *lane) lose(p float64, d *draws) Fate {
	first, length := *d, *d
	d.next()
	length.next()
	d.next()
	if l.bursts == nil {
		if first.chance(limitOf(p)) {
			return Lost
		}
		return Passed
	}
	if l.burst == 0 {
		if l.gap && p < 1 {
			l.gap = false
			return Passed
		}
		if !first.chance(l.bursts.start(p)) {
			return Passed
		}
		l.burst = l.bursts.length(&length)
	}
	l.burst--
	l.gap = l.burst == 0
	return BurstLost
}

// push decides a packet's fate and, if it arrives, puts it into the schedule.
// The draws are made in a fixed order and number, so that settings do not
// shift one another's luck.
func (l *lane) push(s *schedule, now components.Ticks, p parcel) Fate {
	d := draws(derive(l.seed, l.ordinal))
	l.ordinal++
	l.stats.Pushed++

	delay, loss := l.delay, l.loss
	if l.roundTrips != nil {
		delay, loss = l.roundTrips.roundTrip(now + l.start)
	}
	gone := l.lose(loss, &d)
	fate := Passed
	if d.chance(l.corrupt) && len(p.b) > 0 {
		fate |= Corrupted
	}
	if d.chance(l.duplicate) {
		fate |= Duplicated
	}
	if d.chance(l.reorder) {
		fate |= Reordered
	}
	delay += components.Ticks(d.below(uint64(l.jitter) + 1))

	leave := now
	switch {
	case len(p.b) > transport.MaxDatagram:
		l.stats.Oversized++
		return TooLarge
	case l.inFlight >= maxInFlight:
		l.stats.QueueDropped++
		return QueueDrop
	case l.queue.limited():
		var ok bool
		if leave, ok = l.queue.push(now, len(p.b)+HeaderBytes, l.plan); !ok {
			l.stats.QueueDropped++
			return QueueDrop
		}
	}
	switch gone {
	case Lost:
		l.stats.Lost++
		return gone
	case BurstLost:
		l.stats.BurstLost++
		return gone
	}
	l.stats.Passed++
	l.stats.BytesPassed += uint64(len(p.b))

	due := max(leave+delay, l.lastDue)
	if fate&Reordered != 0 {
		l.stats.Reordered++
		due += l.hold
	} else {
		l.lastDue = due
	}
	p.lane = l
	l.inFlight++
	p.b = s.add(due, p)
	if fate&Corrupted != 0 {
		l.stats.Corrupted++
		flip(p.b, &d)
	}
	if fate&Duplicated != 0 {
		l.stats.Duplicated++
		l.inFlight++
		s.add(due, p)
	}
	return fate
}

// flip turns 1 to 3 different bits.
func flip(b []byte, d *draws) {
	var at [3]uint64
	n := 1 + int(d.below(3))
	for i := 0; i < n; {
		at[i] = d.below(uint64(len(b)) * 8)
		if (i > 0 && at[i] == at[0]) || (i > 1 && at[i] == at[1]) {
			continue // a bit turned twice would be none
		}
		b[at[i]/8] ^= 1 << (at[i] % 8)
		i++
	}
}

// Link is the link between one client and the server. It has no clock and no
// goroutine; time is what it is told. It is not safe for concurrent use.
type Link struct {
	lanes [2]lane
	own   schedule
	to    *schedule // own, or one that several links share
}

// New makes the link of client 0 of a fleet. The error is a *ConfigError.
func New(cfg Config, seed uint64) (*Link, error) {
	f, err := NewFleet(cfg, seed)
	if err != nil {
		return nil, err
	}
	return f.Link(0), nil
}

// Push sends a packet at now, which should not fall from call to call. b is
// copied. It returns the packet's fate, for counting; nothing else needs it.
func (l *Link) Push(now components.Ticks, dir Direction, b []byte) Fate {
	return l.push(now, dir, b, netip.AddrPort{}, netip.AddrPort{})
}

func (l *Link) push(now components.Ticks, dir Direction, b []byte, from, to netip.AddrPort) Fate {
	return l.lanes[dir].push(l.to, now, parcel{b: b, dir: dir, from: from, to: to})
}

// Next is when the next packet arrives; ok is false when none is on its way.
func (l *Link) Next() (due components.Ticks, ok bool) { return l.to.next() }

// Pop returns the next packet that has arrived by now, in order of arrival. b
// is valid until the next call of Pop.
func (l *Link) Pop(now components.Ticks) (b []byte, dir Direction, ok bool) {
	p, ok := l.to.pop(now)
	return p.b, p.dir, ok
}

// SetConfig changes the settings from the next packet on. What is on its way
// stays, and the packets' ordinals, and so their luck, go on counting. The
// error is a *ConfigError and changes nothing.
func (l *Link) SetConfig(cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	l.lanes[Up].follow(newPlan(cfg.Up, Up))
	l.lanes[Down].follow(newPlan(cfg.Down, Down))
	return nil
}

// Stats is a copy of a direction's counters.
func (l *Link) Stats(dir Direction) Stats { return l.lanes[dir].stats }
