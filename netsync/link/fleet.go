package link

import (
	"net/netip"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/transport"
)

// Fleet makes the links of many clients from one seed. The n-th client's link
// has a seed of its own, so that what happens to its packets does not depend
// on the other clients.
type Fleet struct {
	seed    uint64
	plans   [2]*plan
	special map[int][2]*plan
}

// NewFleet makes a fleet whose links all have the same settings. The error is
// a *ConfigError.
func NewFleet(cfg Config, seed uint64) (*Fleet, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Fleet{seed: seed, plans: [2]*plan{newPlan(cfg.Up, Up), newPlan(cfg.Down, Down)}}, nil
}

// SetClient gives one client, counted from 0, settings of its own; they hold
// for links made later. The error is a *ConfigError.
func (f *Fleet) SetClient(client int, cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if f.special == nil {
		f.special = map[int][2]*plan{}
	}
	f.special[client] = [2]*plan{newPlan(cfg.Up, Up), newPlan(cfg.Down, Down)}
	return nil
}

// Link makes the link of a client, counted from 0. Each call makes a new one,
// at its first packet.
func (f *Fleet) Link(client int) *Link { return f.link(client, nil) }

func (f *Fleet) link(client int, shared *schedule) *Link {
	plans, ok := f.special[client]
	if !ok {
		plans = f.plans
	}
	l := &Link{to: shared}
	if shared == nil {
		l.to = &l.own
	}
	seed := derive(f.seed, uint64(client))
	for dir := range l.lanes {
		l.lanes[dir].seed = derive(seed, uint64(dir))
		l.lanes[dir].follow(plans[dir])
	}
	return l
}

// Conditioner puts the links of a fleet between the endpoints of a memory
// network and its server. It implements transport.Conditioner.
type Conditioner struct {
	fleet    *Fleet
	server   netip.AddrPort
	links    map[netip.AddrPort]*Link
	line     schedule
	unlinked uint64
}

var _ transport.Conditioner = (*Conditioner)(nil)

// NewConditioner makes a Conditioner for the server at an address. Everyone
// else is a client, counted in the order of its first packet or of its first
// Link call. What clients send each other passes no link and is dropped.
func NewConditioner(fleet *Fleet, server netip.AddrPort) *Conditioner {
	return &Conditioner{fleet: fleet, server: transport.Normalize(server), links: map[netip.AddrPort]*Link{}}
}

// Link is the link of the client at an address, made if it is new. Use it for
// its Stats and to change its settings; its Next and Pop are those of all.
func (c *Conditioner) Link(client netip.AddrPort) *Link {
	l := c.links[client]
	if l == nil {
		l = c.fleet.link(len(c.links), &c.line)
		c.links[client] = l
	}
	return l
}

// Push implements transport.Conditioner.
func (c *Conditioner) Push(now components.Ticks, from, to netip.AddrPort, b []byte) {
	switch {
	case to == c.server:
		c.Link(from).push(now, Up, b, from, to)
	case from == c.server:
		c.Link(to).push(now, Down, b, from, to)
	default:
		c.unlinked++
	}
}

// Next implements transport.Conditioner.
func (c *Conditioner) Next() (due components.Ticks, ok bool) { return c.line.next() }

// Pop implements transport.Conditioner.
func (c *Conditioner) Pop(now components.Ticks) (b []byte, from, to netip.AddrPort, ok bool) {
	p, ok := c.line.pop(now)
	return p.b, p.from, p.to, ok
}

// Unlinked counts what was dropped because neither end is the server.
func (c *Conditioner) Unlinked() uint64 { return c.unlinked }
