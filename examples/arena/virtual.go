package main

import (
	"fmt"
	"net/netip"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/transport"
)

// What cannot be measured while it all runs is measured afterwards, with the
// same settings over a network in memory, where one goroutine does everything.

// virtual is a server with some clients on a virtual clock.
type virtual struct {
	net    *transport.Network
	server *nettest.ServerNode
	tally  *tally
}

var virtualServer = netip.MustParseAddrPort("10.0.0.1:7777")

func virtualClient(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), 9000)
}

func newVirtual(cfg *Config, k *keys, cond transport.Conditioner) (*virtual, error) {
	v := &virtual{net: transport.NewNetwork(cond)}
	conn, err := v.net.Listen(virtualServer)
	if err != nil {
		return nil, err
	}
	v.server, err = nettest.NewServerNode(conn, cfg.serverOptions(k))
	return v, err
}

// client is an honest one.
func (v *virtual) client(cfg *Config, k *keys, i int) (*client, error) {
	conn, err := v.net.Listen(virtualClient(i))
	if err != nil {
		return nil, err
	}
	honest := *cfg
	honest.Cheats = nil
	return newClient(&honest, k, i, conn, conn, virtualServer, newPaths(), nil)
}

// afterwards fills in what is measured after the run.
func (r *run) afterwards(rep *nettest.Report) (err error) {
	if r.server == nil {
		return nil
	}
	if rep.AllocsPerServerTick, err = measureAllocs(r.cfg, r.keys); err != nil {
		return fmt.Errorf("measuring allocations: %w", err)
	}
	return r.judgeCheats(rep)
}

// The measurement of allocations: after a warm-up, the mean over some ticks, of
// as many clients as the run had but no more than a few, which all play. It is
// taken three times, and the middle one counts: the runtime's own goroutines
// allocate now and then.
const (
	allocClients  = 8
	allocWarmup   = 4 * components.Second
	allocTicks    = 60
	allocSections = 3
)

// measureAllocs is the mean number of heap allocations in a tick of the server
// in play, Receive to Send. Live this cannot be told: the counter is the whole
// process's, and the clients run at the same time.
func measureAllocs(cfg *Config, k *keys) (float64, error) {
	small := *cfg
	small.Clients = min(cfg.Clients, allocClients)
	v, err := newVirtual(&small, k, nil)
	if err != nil {
		return 0, err
	}
	defer v.server.App.Finalize()
	var clients []*client
	for i := range small.Clients {
		c, err := v.client(&small, k, i)
		if err != nil {
			return 0, err
		}
		defer c.close()
		clients = append(clients, c)
	}
	server, frame := newFrames(1, cfg.ServerHz), newFrames(1, 60)
	var before, after runtime.MemStats
	var sections [allocSections]uint64
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for tick, next := 0, components.Ticks(1); tick < allocSections*allocTicks; {
		for frame.next <= next {
			at := frame.next
			v.net.Advance(at)
			for _, c := range clients {
				if at >= handsAt && !c.playing {
					c.do(cmdPlay, at, at)
				}
				c.frame(at, at)
			}
			frame.after(at)
		}
		v.net.Advance(next)
		if next < allocWarmup {
			v.server.Frame(next)
		} else {
			runtime.ReadMemStats(&before)
			v.server.Frame(next)
			runtime.ReadMemStats(&after)
			sections[tick/allocTicks] += after.Mallocs - before.Mallocs
			tick++
		}
		next = server.after(next)
	}
	slices.Sort(sections[:])
	return float64(sections[allocSections/2]) / allocTicks, nil
}

// twin is a cheat's honest twin: the same player at the same place with the
// same input, its frames and the server's ticks at the same times, over a link
// of the same seed.
type twin struct {
	length float64
	tally  playerTally
	stats  components.Stats
}

func runTwin(cfg *Config, k *keys, c *client, ticks []components.Ticks) (*twin, error) {
	fleet, err := link.NewFleet(cfg.Link, cfg.Seed)
	if err != nil {
		return nil, err
	}
	cond := link.NewConditioner(fleet, virtualServer)
	for i := range c.index + 1 {
		cond.Link(virtualClient(i)) // the n-th client has the n-th link
	}
	v, err := newVirtual(cfg, k, cond)
	if err != nil {
		return nil, err
	}
	defer v.server.App.Finalize()
	n, err := v.client(cfg, k, c.index)
	if err != nil {
		return nil, err
	}
	defer n.close()
	t := newTally(v.server)
	v.server.App.Watch(&verifyTimer{tally: t})
	s := &server{node: v.server, paths: newPaths(), tracks: map[components.NetID]*track{}, tally: t}
	s.each = s.follow
	frames := c.times
	for len(ticks) > 0 || len(frames) > 0 {
		if len(frames) == 0 || (len(ticks) > 0 && ticks[0] <= frames[0]) {
			v.net.Advance(ticks[0])
			v.server.Frame(ticks[0])
			if v.server.App.Clock().FrameSteps > 0 {
				v.server.Net.Characters(s.each)
			}
			ticks = ticks[1:]
			continue
		}
		now := frames[0]
		v.net.Advance(now)
		if c.playing && now >= c.played && !n.playing {
			n.do(cmdPlay, now, now)
		}
		if c.released && now >= c.let && !n.released {
			n.do(cmdRelease, now, now)
		}
		n.frame(now, now)
		frames = frames[1:]
	}
	s.noteRefusals()
	out := &twin{length: s.length(n.player), stats: *n.node.Stats}
	out.tally = t.of(n.player)
	out.tally.refused = s.refused[n.player]
	return out, nil
}
