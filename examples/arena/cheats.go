package main

import (
	"fmt"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/session"
)

// tally counts what becomes of each player's moves, which the server's counters
// tell only for all players together. It looks at the queues before ServerVerify
// works them off and draws the same conclusions from the stamps. A nil tally
// does nothing.
type tally struct {
	node    *nettest.ServerNode
	queues  *components.ReceivedQueues
	players []*playerTally
}

// playerTally is one player's.
type playerTally struct {
	id       components.NetID
	player   components.PlayerID
	accepted uint64
	dropped  [components.NumDropReasons]uint64
	forced   uint64 // ticks in which the server moved a silent character
	fast     uint32 // detections of a clock that runs fast
	refused  session.Counts

	waiting int
	stamp   components.Ticks
	has     bool
	last    components.Stamp
}

func newTally(node *nettest.ServerNode) *tally {
	return &tally{node: node, queues: ecs.Need[components.ReceivedQueues](node.App.World())}
}

func (t *tally) watch(id components.NetID, player components.PlayerID) {
	if t != nil {
		t.players = append(t.players, &playerTally{id: id, player: player})
	}
}

// of is a player's tally over all its characters.
func (t *tally) of(player components.PlayerID) (sum playerTally) {
	for _, p := range t.players {
		if p.player != player {
			continue
		}
		sum.accepted += p.accepted
		sum.forced += p.forced
		sum.fast += p.fast
		for i, n := range p.dropped {
			sum.dropped[i] += n
		}
	}
	return sum
}

func (t *tally) find(p *playerTally) (*components.ServerPrediction, *components.ReceivedMoves) {
	e, ok := t.node.Net.Entity(p.id)
	if !ok {
		return nil, nil
	}
	pred := nettest.Component[components.ServerPrediction](t.node.App.World(), e)
	return pred, t.queues.Get(pred.Received)
}

func (t *tally) before() {
	if t == nil {
		return
	}
	for _, p := range t.players {
		p.waiting = 0
		pred, queue := t.find(p)
		if queue == nil {
			continue
		}
		p.waiting = queue.N
		p.stamp, p.has, p.last = pred.CurrentClientTimeStamp, pred.HasStamp, pred.Last.Stamp
		if pred.Forced.Active {
			p.forced++
		}
	}
}

func (t *tally) after() {
	if t == nil {
		return
	}
	for _, p := range t.players {
		pred, queue := t.find(p)
		if queue == nil {
			continue
		}
		p.fast = pred.Discrepancy.Detections
		// The queue is empty now, but what was in it still stands there.
		for i := range p.waiting {
			p.judge(&queue.Moves[i])
		}
	}
}

// judge is ServerVerify's check of a stamp.
func (p *playerTally) judge(m *components.MoveData) {
	const half = components.StampResetPeriod / 2
	stamp := components.Ticks(m.Cmd.Stamp)
	if stamp == 0 || m.Cmd.Dt <= 0 {
		p.dropped[components.DropZeroStamp]++
		return
	}
	if p.has {
		switch diff := stamp - p.stamp; {
		case diff < -half && stamp > p.stamp-components.StampResetPeriod:
		case diff > half:
			p.dropped[components.DropTooFarAhead]++
			return
		case diff <= 0 && (m.Kind == components.MoveOld || p.last == m.Cmd.Stamp):
			p.dropped[components.DropRedundant]++
			return
		case diff <= 0:
			p.dropped[components.DropExpired]++
			return
		}
	}
	p.stamp, p.has, p.last = stamp, true, m.Cmd.Stamp
	p.accepted++
}

// judgeCheats lets each cheat's honest twin play and tells what the cheat gained
// over it, and which counters noticed: those that counted more than the twin's.
func (r *run) judgeCheats(rep *nettest.Report) error {
	for _, h := range r.cfg.Cheats {
		c := r.clients[h.Client]
		t, err := runTwin(r.cfg, r.keys, c, r.server.times)
		if err != nil {
			return fmt.Errorf("the honest twin of client %d: %w", h.Client, err)
		}
		got := r.server.tally.of(c.player)
		got.refused = r.server.refused[c.player]
		rep.Cheaters = append(rep.Cheaters, nettest.Cheater{
			Kind: h.Kind, Client: h.Client, MovesAccepted: got.accepted,
			GainCm: r.server.length(c.player) - t.length, NoticedBy: noticed(&got, c.node.Stats, t),
		})
	}
	return nil
}

// noticed names the counters that counted more for the cheat than for its twin.
func noticed(got *playerTally, stats *components.Stats, t *twin) (by []string) {
	add := func(more bool, name string) {
		if more {
			by = append(by, name)
		}
	}
	add(got.fast > t.tally.fast, "time_discrepancy")
	for i := components.CorrectNone + 1; i < components.NumCorrectionReasons; i++ {
		add(stats.Corrections[i] > t.stats.Corrections[i], "corrections."+i.String())
	}
	for i := range components.NumDropReasons {
		// A redundant copy is no fault.
		add(i != components.DropRedundant && got.dropped[i] > t.tally.dropped[i], "moves_dropped."+i.String())
	}
	for i := range session.Refusals {
		add(got.refused[i] > t.tally.refused[i], "packets_refused."+i.String())
	}
	add(got.forced > t.tally.forced, "forced_moves")
	return by
}
