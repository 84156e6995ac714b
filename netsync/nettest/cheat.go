package nettest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/transport"
	arche "github.com/mlange-42/arche/ecs"
)

// CheatKinds are the ways in which a tampered client tries to gain something.
// The server and the other clients know nothing of them.
var CheatKinds = []string{
	"clock1.1", "clock2", // its clock runs fast
	"speed2",          // its profile's speeds are doubled
	"teleport",        // it puts itself 10 m ahead every 2 s
	"fly",             // it flies
	"lagswitch",       // silent for 1 s, then a burst
	"stale", "future", // packets of a second ago; stamps from the future
	"flood", "garbage", // fifty of each packet; packets of random bits
}

// Cheat is one tampered client.
type Cheat struct {
	Kind string
	rng  *rand.Rand
}

// NewCheat refuses a kind that is not one of CheatKinds.
func NewCheat(kind string, seed uint64) (*Cheat, error) {
	for _, k := range CheatKinds {
		if k == kind {
			return &Cheat{Kind: kind, rng: rand.New(rand.NewPCG(seed, 0xc4ea7))}, nil
		}
	}
	return nil, fmt.Errorf("nettest: there is no cheat %q; there are %s", kind, strings.Join(CheatKinds, ", "))
}

// Time is what the cheat's process believes the time to be.
func (c *Cheat) Time(now components.Ticks) components.Ticks {
	switch c.Kind {
	case "clock1.1":
		return now + now/10
	case "clock2":
		return 2 * now
	}
	return now
}

// Wrap changes what goes out on the cheat's connection.
func (c *Cheat) Wrap(conn transport.Conn) transport.Conn {
	switch c.Kind {
	case "lagswitch", "stale", "flood", "garbage":
		return &cheatConn{Conn: conn, cheat: c}
	}
	return conn
}

// Extend adds what the cheat changes within its own world.
func (c *Cheat) Extend(app *ecs.App) {
	switch c.Kind {
	case "teleport", "fly", "future":
		app.Add(&cheatSystem{cheat: c})
	}
}

// Started changes a node that was made honestly: the handshake's hashes are
// those of the honest profile.
func (c *Cheat) Started(n *ClientNode) {
	if c.Kind != "speed2" {
		return
	}
	p := n.Profiles.Get(n.Ref)
	p.MaxWalkSpeed *= 2
	p.MaxWalkSpeedCrouched *= 2
}

// cheatConn is a connection whose packets are held back, repeated or joined by
// others.
type cheatConn struct {
	transport.Conn
	cheat *Cheat
	now   components.Ticks
	held  []heldPacket
}

type heldPacket struct {
	at components.Ticks
	b  []byte
	to netip.AddrPort
}

// SetFrame tells the time, and passes it on.
func (c *cheatConn) SetFrame(now components.Ticks) {
	transport.SetFrame(c.Conn, now)
	c.now = now
	if c.cheat.Kind == "lagswitch" && !c.silent() {
		for _, h := range c.held {
			_ = c.Conn.Send(h.b, h.to) // a burst that does not fit is the cheat's own loss
		}
		c.held = c.held[:0]
	}
}

// silent: the first second of every three.
func (c *cheatConn) silent() bool { return c.now%(3*components.Second) < components.Second }

func (c *cheatConn) Send(b []byte, to netip.AddrPort) error {
	switch c.cheat.Kind {
	case "lagswitch":
		if c.silent() {
			c.held = append(c.held, heldPacket{c.now, append([]byte(nil), b...), to})
			return nil
		}
	case "stale":
		c.held = append(c.held, heldPacket{c.now, append([]byte(nil), b...), to})
		for len(c.held) > 0 && c.now-c.held[0].at > components.Second {
			if err := c.Conn.Send(c.held[0].b, to); err != nil {
				return err
			}
			c.held = c.held[1:]
		}
	case "flood":
		for range 49 {
			if err := c.Conn.Send(b, to); err != nil {
				return err
			}
		}
	case "garbage":
		junk := make([]byte, 1+c.cheat.rng.IntN(200))
		for i := range junk {
			junk[i] = byte(c.cheat.rng.Uint32())
		}
		if err := c.Conn.Send(junk, to); err != nil {
			return err
		}
		// And a copy of the real packet with one bit turned over.
		flipped := append([]byte(nil), b...)
		flipped[c.cheat.rng.IntN(len(b))] ^= 1 << c.cheat.rng.IntN(8)
		if err := c.Conn.Send(flipped, to); err != nil {
			return err
		}
	}
	return c.Conn.Send(b, to)
}

// cheatSystem changes the cheat's own predicted state.
type cheatSystem struct {
	cheat  *Cheat
	clock  *ecs.Clock
	filter arche.Filter
	state  arche.ID
	intent arche.ID
	pred   arche.ID
	next   components.Ticks
}

func (s *cheatSystem) Phase() ecs.Phase { return ecs.Input }
func (s *cheatSystem) Roles() ecs.Roles { return ecs.Client }

// After lets the honest input be taken first.
func (s *cheatSystem) After() []string { return []string{"InputConsume"} }

func (s *cheatSystem) Initialize(w *arche.World) {
	s.state, s.intent = ecs.RegisterComponent[components.MovementState](w), ecs.RegisterComponent[components.Intent](w)
	s.pred = ecs.RegisterComponent[components.ClientPrediction](w)
	m := arche.All(s.state, s.intent, s.pred)
	s.filter = &m
	s.clock = ecs.Need[ecs.Clock](w)
}

func (s *cheatSystem) Update(w *arche.World) {
	due := s.clock.Now >= s.next
	if due {
		s.next = s.clock.Now + 2*components.Second
	}
	q := w.Query(s.filter)
	for q.Next() {
		st := (*components.MovementState)(q.Get(s.state))
		switch s.cheat.Kind {
		case "teleport":
			if due {
				st.Location[0] += 1000
			}
		case "fly":
			st.Mode = components.ModeFlying
			(*components.Intent)(q.Get(s.intent)).Acceleration[2] = 1000
		case "future":
			p := (*components.ClientPrediction)(q.Get(s.pred))
			if ahead := p.CurrentTimeStamp + components.Stamp(130*components.Second); due && components.Ticks(ahead) < components.StampResetPeriod {
				p.CurrentTimeStamp = ahead
			}
		}
	}
}

func (s *cheatSystem) Finalize(*arche.World) {}
