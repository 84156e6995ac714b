package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/transport"
)

// replay runs server and clients again from a recording: each with the frame
// times and the datagrams that it had then, without sockets and without waiting.
// An error tells what came out differently.
func replay(flags *Config) (*nettest.Report, *run, error) {
	bad := func(err error) (*nettest.Report, *run, error) {
		return nil, nil, fmt.Errorf("%s: %w", flags.ReplayFile, err)
	}
	was, end, err := openRun(flags.Replay)
	if err != nil {
		return bad(err)
	}
	cfg := &was.Config
	cfg.Replay, cfg.JSON, cfg.Plot, cfg.Quiet = flags.Replay, flags.JSON, flags.Plot, flags.Quiet
	r := &run{cfg: cfg, keys: &was.Keys, paths: newPaths(), picture: newPicture(cfg), began: end.Began, ended: end.Ended}
	defer r.close()
	tapes, err := r.thread(flags.Replay, was)
	if err != nil {
		return bad(err)
	}
	for {
		// In the order of time, since the onlooker's probes look at the server.
		first := -1
		for i, p := range tapes {
			if at, ok := p.next(); ok && (first < 0 || at < tapes[first].at) {
				tapes[i].at, first = at, i
			}
		}
		if first < 0 {
			break
		}
		tapes[first].play()
	}
	for _, c := range r.clients {
		if !c.left {
			c.end()
		}
	}
	r.server.noteRefusals()
	r.server.shutdown()
	rep := r.report()
	for _, p := range tapes {
		if err := p.verify(); err != nil {
			return bad(err)
		}
	}
	if rep.StateHash != end.StateHash || rep.ServerTicks != end.Ticks {
		return bad(fmt.Errorf("the state hash is %s after %d ticks, and was %s after %d", rep.StateHash, rep.ServerTicks, end.StateHash, end.Ticks))
	}
	r.close()
	if err := r.afterwards(rep); err != nil {
		return bad(err)
	}
	return rep, r, nil
}

// openRun reads what a recording says of its run.
func openRun(rec *transport.Recording) (*recordedRun, *recordedEnd, error) {
	var was recordedRun
	var end recordedEnd
	for _, part := range []struct {
		tag  uint16
		into any
	}{{tagRun, &was}, {tagEnd, &end}} {
		e, ok := rec.Tagged(0, part.tag)
		if !ok {
			return nil, nil, errors.New("it is no recording of a whole run of the arena")
		}
		if err := json.Unmarshal(e.Data, part.into); err != nil {
			return nil, nil, fmt.Errorf("what it says of its run: %w", err)
		}
	}
	c := &was.Config
	if c.Clients < 1 || c.Clients > maxClients || len(was.Keys.Clients) != c.Clients+1 || was.Inputs < 0 || was.Inputs > 1<<16 ||
		c.FPS < 1 || c.FPS > maxFPS || c.ServerHz < 1 || c.ServerHz > maxHz || c.NetHz < 1 || c.NetHz > maxHz {
		return nil, nil, errors.New("what it says of its run cannot be")
	}
	var err error
	for _, h := range c.Cheats {
		if h.Client < 0 || h.Client >= c.Clients {
			return nil, nil, errors.New("it names a cheat that is no client")
		}
	}
	if c.Level, err = recordedLevel(rec, &was); err != nil {
		return nil, nil, err
	}
	for i := range was.Inputs {
		e, ok := rec.Tagged(uint16(i), tagInput)
		if !ok {
			return nil, nil, fmt.Errorf("input %d is missing", i)
		}
		in, err := nettest.ParseInput(e.Data)
		if err != nil {
			return nil, nil, err
		}
		c.Inputs = append(c.Inputs, in)
	}
	return &was, &end, nil
}

// reel is one stream that is played back.
type reel struct {
	name     string
	back     *transport.Playback
	at       components.Ticks
	frame    func(local, now components.Ticks)
	commands []transport.RecordEntry
	client   *client
}

// thread makes the nodes on playbacks of their streams.
func (r *run) thread(rec *transport.Recording, was *recordedRun) ([]*reel, error) {
	back, err := rec.Playback(0)
	if err != nil {
		return nil, err
	}
	if r.server, err = newServer(r.cfg, r.keys, back, back, r.paths); err != nil {
		return nil, err
	}
	r.server.star, r.server.picture = r.keys.player(r.cfg.star()), r.picture
	reels := []*reel{{name: "the server", back: back, frame: func(_, now components.Ticks) { r.server.frame(now) }}}
	if r.cfg.Listen != "" {
		return reels, nil
	}
	commands := map[uint16][]transport.RecordEntry{}
	for _, e := range rec.Records {
		if e.Kind == transport.RecordTagged && e.Tag > tagCommand {
			commands[e.Stream] = append(commands[e.Stream], e)
		}
	}
	for i := range r.cfg.Clients + 1 {
		back, err := rec.Playback(uint16(i + 1))
		if err != nil {
			return nil, err
		}
		c, err := newClient(r.cfg, r.keys, i, back, back, was.Server, r.paths, r.picture)
		if err != nil {
			return nil, err
		}
		r.clients = append(r.clients, c)
		reels = append(reels, &reel{
			name: fmt.Sprintf("client %d", i), back: back, frame: c.frame, client: c, commands: commands[uint16(i+1)],
		})
	}
	return reels, nil
}

// next is the process's time of the stream's next frame.
func (p *reel) next() (components.Ticks, bool) {
	local, ok := p.back.NextFrame()
	return p.process(local), ok
}

// process is the process's time at a client's own.
func (p *reel) process(local components.Ticks) components.Ticks {
	if p.client == nil || p.client.cheat == nil {
		return local
	}
	return undoCheat(p.client.cheat, local)
}

// undoCheat is when a cheat's clock shows a time, exactly: its clock runs at
// least as fast as the true one, so no two times show the same.
func undoCheat(c *nettest.Cheat, local components.Ticks) components.Ticks {
	lo, hi := components.Ticks(0), local
	for lo < hi {
		if mid := lo + (hi-lo)/2; c.Time(mid) < local {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// play runs the stream's next frame, and before it what was done to its client.
func (p *reel) play() {
	local, _ := p.back.NextFrame()
	for len(p.commands) > 0 && p.commands[0].When <= local {
		p.client.do(command(p.commands[0].Tag-tagCommand), local, p.process(local))
		p.commands = p.commands[1:]
	}
	p.frame(local, p.process(local))
}

// verify tells how the stream came out differently, nil if it did not.
func (p *reel) verify() error {
	if first, n := p.back.Diverged(); first != nil {
		return fmt.Errorf("%s did something else than when it was recorded, %d times; first: %w", p.name, n, first)
	}
	if in, out := p.back.Unfinished(); in+out > 0 {
		return fmt.Errorf("%s left %d datagrams unread and %d unsent", p.name, in, out)
	}
	return nil
}
