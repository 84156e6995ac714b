package main

import (
	"sync"
	"sync/atomic"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/nettest"
)

// paths is where the server had every character lately, for the onlooker's
// probes: the one thing that two worlds of this process share, beside the
// counters for the table. Each path has a lock of its own, held for as long as
// it takes to add a place or to look through a second of them.
type paths struct {
	mu   sync.RWMutex
	byID map[components.NetID]*sharedPath
	// star is the character of the picture, 0 before it is there.
	star atomic.Uint64
}

type sharedPath struct {
	mu   sync.Mutex
	path nettest.Path
}

func newPaths() *paths { return &paths{byID: map[components.NetID]*sharedPath{}} }

// of is a character's path, made if it is new.
func (p *paths) of(id components.NetID) *sharedPath {
	p.mu.RLock()
	s := p.byID[id]
	p.mu.RUnlock()
	if s != nil {
		return s
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s = p.byID[id]; s == nil {
		s = new(sharedPath)
		p.byID[id] = s
	}
	return s
}

func (s *sharedPath) push(at components.Ticks, place components.Vec3) {
	s.mu.Lock()
	s.path.Push(at, place, false)
	s.mu.Unlock()
}

func (s *sharedPath) measure(probe *nettest.ProxyProbe, f *nettest.ProxyFrame) {
	s.mu.Lock()
	probe.Frame(&s.path, f)
	s.mu.Unlock()
}
