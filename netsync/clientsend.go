package netsync

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/wire"
	arche "github.com/mlange-42/arche/ecs"
)

// clientSend sends at the end of the frame the containers that Predict asked
// for, all characters of the connection in one datagram where they fit, and
// whatever the session owes.
type clientSend struct{ *Client }

func (c *clientSend) Name() string     { return "ClientSend" }
func (c *clientSend) Phase() ecs.Phase { return ecs.Send }
func (c *clientSend) Roles() ecs.Roles { return ecs.Client }

func (c *clientSend) Initialize(w *arche.World) {
	c.initialize(w)
	c.scratch.out.sealed = c.sealed
}

// clientScratch is room that is used again every frame.
type clientScratch struct {
	response components.MoveResponse
	snapshot components.ReplicatedMovement
	out      packer[*session.Client]
	open     sentMoves
	msg      [64]byte
}

func (c *clientSend) Update(*arche.World) {
	now := c.clock.FrameNow
	if c.sess.State() == session.Connected {
		c.containers(now)
	}
	if st := c.sess.State(); c.leaving && st != session.Idle && st != session.Ended {
		c.sess.Disconnect(session.ReasonQuit)
	}
	c.sess.Flush(now)
}

func (c *clientSend) Finalize(*arche.World) {}

func (c *Client) containers(now components.Ticks) {
	out := &c.scratch.out
	c.sess.SetView(c.net.ObstacleTime)
	c.budget.update(now, c.set.MoveBudgetBytes, c.net.SendScale)
	out.reset(c.sess, now)
	c.scratch.open = sentMoves{}
	for _, id := range c.owned {
		q := c.queue(id)
		if q == nil || q.NumSends == 0 {
			continue
		}
		e, _ := c.Entity(id)
		epoch := (*components.Possession)(c.world.Get(e, c.ids.possession)).Epoch
		first := 0
		if c.set.Redundancy == components.RedundancyFull {
			// The last container of the frame carries all that the others would.
			first = q.NumSends - 1
		}
		for i := first; i < q.NumSends; i++ {
			c.container(id, epoch, q, q.Sends[i])
		}
		q.NumSends = 0
	}
	c.Net.NoRoom += out.end()
}

func (c *Client) container(id components.NetID, epoch uint16, q *components.MoveQueue, send components.MoveSend) {
	newest := q.Index(send.New)
	if newest < 0 {
		return // answered or dropped within the frame
	}
	out := &c.scratch.out
	plan := wire.ContainerPlan{ID: id, Epoch: epoch, New: newest, Pending: -1, Old: -1}
	if p := c.table.Get(q.At(newest).Cmd.Profile); p != nil {
		plan.Stick = wire.StickFor(p.MaxAcceleration)
	}
	if c.set.Redundancy == components.RedundancyFull {
		plan.Full, plan.Budget = true, int(c.budget.bytes)
	} else {
		if send.Dual && newest > 0 {
			plan.Pending = newest - 1
		}
		if send.Old != 0 {
			plan.Old = q.Index(send.Old)
		}
	}
	for out.begin(); out.trying(); {
		// Where the header tells the view, the obstacle time need not be told whole.
		ctx := wire.ContainerContext{ViewTime: c.net.ObstacleTime, HasView: c.sess.ViewTold()}
		from := out.w.Bits()
		rep, _ := wire.WriteContainer(out.w, q, &plan, ctx)
		if c.csv != nil {
			c.csv.note(c.clock.FrameNow, id, send.New, rep, out.w.Bits()-from)
		}
	}
	for i := 0; i <= newest; i++ {
		q.At(i).Sent = true
	}
	c.stats.ContainersSent++
	if o := &c.scratch.open; o.n < maxOwned {
		o.moves[o.n] = sentMove{id, send.New}
		o.n++
	}
}

// moveBudget is how many bytes of repeated moves a container may have: all of
// MoveBudgetBytes while the link carries what is sent. On a link that is full,
// what waits for an answer waits in the link's queue, and to repeat it would fill
// that faster than the stretched sends empty it. So each stretch leaves a third
// of it, but room for the moves of two intervals, some 6 bytes each; and when the
// sends are no longer stretched it grows back slowly, so that the back-off sees
// in time when that is too much.
type moveBudget struct {
	bytes, scale float64
	at           components.Ticks
}

// budgetGrows is how long the whole budget takes to grow back, s.
const budgetGrows = 20

func (b *moveBudget) update(now components.Ticks, whole int32, scale float64) {
	most := float64(whole)
	switch {
	case b.at == 0:
		b.bytes = most
	case scale > b.scale:
		b.bytes /= 3
	case scale <= 1:
		b.bytes += most * (now - b.at).Seconds() / budgetGrows
	}
	b.bytes = min(max(b.bytes, 12*scale), most)
	b.at, b.scale = now, scale
}

// sealed remembers which moves went out in a packet.
func (c *Client) sealed(seq uint16) {
	m := &c.sent[seq%sentRing]
	*m = c.scratch.open
	m.seq, m.valid = seq, true
	c.scratch.open = sentMoves{}
}

// Acked is the session's: the server has a packet, and with it, under full
// redundancy, every move up to the newest that it carried. Older ones that the
// budget gave up are marked as well: the server is past them.
func (c *clientReceive) Acked(seq uint16) {
	m := &c.sent[seq%sentRing]
	if !m.valid || m.seq != seq {
		return
	}
	m.valid = false
	if c.set.Redundancy != components.RedundancyFull {
		return
	}
	for _, mv := range m.moves[:m.n] {
		q := c.queue(mv.id)
		if q == nil {
			continue
		}
		for i := q.Index(mv.stamp); i >= 0 && !q.At(i).Received; i-- {
			q.At(i).Received = true
		}
	}
}
