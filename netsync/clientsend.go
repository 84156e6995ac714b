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
	out.reset(c.sess, now)
	c.scratch.open = sentMoves{}
	for _, id := range c.owned {
		e, ok := c.Entity(id)
		if !ok || !c.world.Has(e, c.ids.pred) {
			continue
		}
		q := c.queues.Get((*components.ClientPrediction)(c.world.Get(e, c.ids.pred)).Queue)
		if q == nil || q.NumSends == 0 {
			continue
		}
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
	if c.set.Redundancy == components.RedundancyFull {
		plan.Full, plan.Budget = true, int(c.set.MoveBudgetBytes)
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
		wire.WriteContainer(out.w, q, &plan, ctx)
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

// sealed remembers which moves went out in a packet.
func (c *Client) sealed(seq uint16) {
	m := &c.sent[seq%sentRing]
	*m = c.scratch.open
	m.seq, m.valid = seq, true
	c.scratch.open = sentMoves{}
}

// Acked is the session's: the server has a packet, and with it, under full
// redundancy, every move up to the newest that it carried.
func (c *Client) Acked(seq uint16) {
	m := &c.sent[seq%sentRing]
	if !m.valid || m.seq != seq {
		return
	}
	m.valid = false
	if c.set.Redundancy != components.RedundancyFull {
		return
	}
	for _, mv := range m.moves[:m.n] {
		e, ok := c.Entity(mv.id)
		if !ok || !c.world.Has(e, c.ids.pred) {
			continue
		}
		q := c.queues.Get((*components.ClientPrediction)(c.world.Get(e, c.ids.pred)).Queue)
		if q == nil {
			continue
		}
		for i := q.Index(mv.stamp); i >= 0 && !q.At(i).Received; i-- {
			q.At(i).Received = true
		}
	}
}
