package main

import (
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/transport"
)

// keys are the secrets of a run's sessions, drawn anew for each run and kept in
// a recording: connection IDs and nonces follow from them.
type keys struct {
	Server  [16]byte
	Clients [][16]byte
	// Base is what the players of this process have in front of their number:
	// 0 where the server is in it.
	Base uint64
}

func newKeys(clients int, alone bool) *keys {
	k := &keys{Clients: make([][16]byte, clients)}
	crand.Read(k.Server[:]) // never fails: it ends the program instead
	for i := range k.Clients {
		crand.Read(k.Clients[i][:])
	}
	if alone {
		// Clients of two processes must not be the same players.
		var b [8]byte
		crand.Read(b[:])
		k.Base = binary.LittleEndian.Uint64(b[:]) >> 2 &^ playerMask
	}
	return k
}

func (k *keys) player(i int) components.PlayerID { return components.PlayerID(k.Base | uint64(i+1)) }

// run is one run in this process: the server, the clients, or both.
type run struct {
	cfg     *Config
	keys    *keys
	clock   wallClock
	paths   *paths
	picture *nettest.Picture
	server  *server
	clients []*client // the last is the onlooker
	relay   *link.Relay
	tape    *tape
	began   components.Ticks
	ended   components.Ticks

	orders     orders
	stopServer chan struct{}
	stopAll    chan struct{}
	serverWG   sync.WaitGroup
	clientWG   sync.WaitGroup
}

// players are the clients without the onlooker.
func (r *run) players() []*client {
	if len(r.clients) == 0 {
		return nil
	}
	return r.clients[:min(len(r.clients), r.cfg.Clients)]
}

// newRun makes what the flags ask for; nothing runs yet. With an error
// everything is closed again.
func newRun(cfg *Config) (*run, error) {
	r := &run{
		cfg: cfg, keys: newKeys(cfg.Clients+1, cfg.Connect != ""), paths: newPaths(), picture: newPicture(cfg),
		stopServer: make(chan struct{}), stopAll: make(chan struct{}),
	}
	if err := r.open(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *run) open() (err error) {
	if r.cfg.Record != "" {
		if r.tape, err = newTape(r.cfg.Record); err != nil {
			return err
		}
	}
	target := r.cfg.Connect
	if target == "" {
		listen := r.cfg.Listen
		if listen == "" {
			listen = "127.0.0.1:0"
		}
		udp, err := transport.ListenUDPWith(listen, transport.UDPConfig{Queue: max(transport.DefaultQueue, 16*r.cfg.Clients)})
		if err != nil {
			return err
		}
		if r.server, err = newServer(r.cfg, r.keys, r.tape.conn(0, udp), udp, r.paths); err != nil {
			udp.Close()
			return err
		}
		r.server.star, r.server.picture = r.keys.player(r.cfg.star()), r.picture
		target = udp.LocalAddr().String()
	}
	if r.cfg.Listen != "" {
		return r.tape.begin(r.cfg, r.keys, netip.AddrPort{})
	}
	to, err := netip.ParseAddrPort(target)
	if err != nil {
		return err
	}
	if r.cfg.Connect == "" || r.cfg.LinkGiven {
		fleet, err := link.NewFleet(r.cfg.Link, r.cfg.Seed)
		if err != nil {
			return err
		}
		if r.relay, err = link.NewFleetRelay("127.0.0.1:0", target, fleet); err != nil {
			return err
		}
		to = r.relay.Addr()
	}
	local := "127.0.0.1:0"
	if !to.Addr().IsLoopback() {
		local = ":0"
	}
	for i := range r.cfg.Clients + 1 {
		udp, err := transport.ListenUDPWith(local, transport.UDPConfig{Queue: 512})
		if err != nil {
			return err
		}
		c, err := newClient(r.cfg, r.keys, i, r.tape.conn(i+1, udp), udp, to, r.paths, r.picture)
		if err != nil {
			udp.Close()
			return err
		}
		c.note = r.tape.noteFor(i + 1)
		r.clients = append(r.clients, c)
	}
	return r.tape.begin(r.cfg, r.keys, to)
}

// start lets everybody run. Clients begin one after the other, so that the n-th
// gets the n-th link and with it the fate that its seed has for it.
func (r *run) start() error {
	r.clock = newWallClock()
	r.began = r.clock.now()
	if r.server != nil {
		r.serverWG.Add(1)
		go func() {
			defer r.serverWG.Done()
			r.server.run(r.clock, r.cfg.ServerHz, r.stopServer)
		}()
	}
	seen := 0
	for i, c := range r.clients {
		r.clientWG.Add(1)
		go func() {
			defer r.clientWG.Done()
			c.run(r.clock, r.cfg.FPS, r.began, &r.orders, r.stopAll)
		}()
		if r.relay == nil {
			continue
		}
		if _, frozen := c.frozen(r.clock.now() - r.began); frozen {
			continue // it gets the link that is next when it wakes up
		}
		seen++
		for limit := time.Now().Add(5 * time.Second); r.relay.Clients() < seen; time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				return fmt.Errorf("client %d could not reach the relay at %v", i, r.relay.Addr())
			}
		}
	}
	return nil
}

// play shows the table until the run's time is over or quit says so, then lets
// everybody stand still, and ends everything that runs.
func (r *run) play(table *Table, quit <-chan struct{}) error {
	if err := r.start(); err != nil {
		r.stop()
		return err
	}
	meter := &sampler{run: r}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	var over <-chan time.Time
	if r.cfg.Duration > 0 {
		over = time.After(r.cfg.Duration - time.Since(r.clock.began))
	}
	meter.sample()
	for playing := true; playing; {
		select {
		case <-second.C:
			table.Show(meter.sample())
			if r.allFailed() {
				playing = false
			}
		case <-over:
			playing = false
		case <-quit:
			playing = false
		}
	}
	wait := func(d time.Duration) {
		for over := time.After(d); ; {
			select {
			case <-second.C:
				table.Show(meter.sample())
			case <-over:
				return
			}
		}
	}
	if len(r.clients) > 0 && !r.allFailed() {
		r.orders.release.Store(true)
		meter.note = "standing still"
		limit := time.Now().Add(restLimit)
		for !r.resting() && time.Now().Before(limit) {
			wait(10 * time.Millisecond)
		}
		wait(r.standstill())
	}
	err := r.failure()
	r.stop()
	table.Close()
	if err == nil && r.cfg.Connect != "" && !r.met() {
		return fmt.Errorf("the server at %s has not answered yet", r.cfg.Connect)
	}
	return err
}

// met tells, after the clients have ended, whether any player was ever let in.
func (r *run) met() bool {
	return slices.ContainsFunc(r.players(), func(c *client) bool { return c.met })
}

// restLimit is how long the players may take to come to rest: one may have let
// go high in the air. One that cheats may never.
const restLimit = 3 * time.Second

// resting tells whether every player has let go and come to rest.
func (r *run) resting() bool {
	for _, c := range r.players() {
		var l clientLive
		if c.look(&l); l.connected && !l.still {
			return false
		}
	}
	return true
}

// standstill is the round trip and a second.
func (r *run) standstill() time.Duration {
	rtt := r.cfg.RTT
	for _, c := range r.players() {
		var l clientLive
		if c.look(&l); l.connected {
			rtt = max(rtt, l.rtt.Duration())
		}
	}
	return min(rtt, 10*time.Second) + time.Second
}

// stop ends every goroutine: the clients first, so that the onlooker's last
// frame is of a game that still runs.
func (r *run) stop() {
	r.ended = r.clock.now()
	if r.server == nil {
		// The server is elsewhere and is told; a few frames repeat it.
		r.orders.leave.Store(true)
		time.Sleep(r.cfg.RTT/2 + r.cfg.Jitter + 200*time.Millisecond)
	}
	close(r.stopAll)
	r.clientWG.Wait()
	close(r.stopServer)
	r.serverWG.Wait()
	if r.server != nil {
		for _, c := range r.clients {
			c.end()
		}
		r.server.noteRefusals()
		r.server.shutdown()
	}
}

// allFailed tells whether no client is left that could play.
func (r *run) allFailed() bool {
	for _, c := range r.players() {
		var l clientLive
		if c.look(&l); l.err == nil {
			return false
		}
	}
	return len(r.players()) > 0
}

// failure is the first client's reason not to have played, nil if all did.
func (r *run) failure() error {
	for _, c := range r.players() {
		var l clientLive
		if c.look(&l); l.err != nil {
			var refused *session.RefusedError
			if errors.As(l.err, &refused) {
				return errors.New("the server refused: " + refused.Text)
			}
			return fmt.Errorf("client %s: %w", strconv.Itoa(c.index), l.err)
		}
	}
	return nil
}

// close gives back everything; it may be called on a run that was half made.
func (r *run) close() {
	for _, c := range r.clients {
		c.close()
	}
	if r.relay != nil {
		r.relay.Close()
	}
	if r.server != nil {
		r.server.close()
	}
	r.tape.close()
}
