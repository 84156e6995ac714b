package ecs

import (
	"testing"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/ecs/event"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type position struct{ X, Y, Z float64 }
type velocity struct{ X, Y, Z float64 }
type health struct{ Points int32 }
type tag struct{}
type childOf struct {
	arche.Relation
	Weight float32
}

// stub is a system that records its calls in a shared log.
type stub struct {
	name          string
	phase         Phase
	roles         Roles
	after, before []string
	log           *[]string
	update        func(w *arche.World)
}

func (s *stub) Name() string     { return s.name }
func (s *stub) Phase() Phase     { return s.phase }
func (s *stub) Roles() Roles     { return s.roles }
func (s *stub) After() []string  { return s.after }
func (s *stub) Before() []string { return s.before }

func (s *stub) note(what string) {
	if s.log != nil {
		*s.log = append(*s.log, what+s.name)
	}
}
func (s *stub) Initialize(*arche.World) { s.note("init ") }
func (s *stub) Finalize(*arche.World)   { s.note("final ") }
func (s *stub) Update(w *arche.World) {
	s.note("")
	if s.update != nil {
		s.update(w)
	}
}

// onePerPhase is a system in each phase, named after it, for all roles.
func onePerPhase(log *[]string) (list []Placed) {
	for p := range Phase(PhaseCount) {
		list = append(list, &stub{name: p.String(), phase: p, roles: AllRoles, log: log})
	}
	return list
}

func names(list []Scheduled) (out []string) {
	for _, s := range list {
		out = append(out, s.Name)
	}
	return out
}

// at is a system that runs fn in a phase.
func at(p Phase, fn func(w *arche.World)) *stub {
	return &stub{name: "fn", phase: p, roles: AllRoles, update: fn}
}

// listener is a user's listener.
type listener struct {
	events event.Subscription
	fn     func(w *arche.World, e arche.Entity)
}

func (l *listener) Notify(w *arche.World, evt arche.EntityEvent) { l.fn(w, evt.Entity) }
func (l *listener) Subscriptions() event.Subscription            { return l.events }
func (l *listener) Components() *arche.Mask                      { return nil }

func onCreate(fn func(w *arche.World, e arche.Entity)) *listener {
	return &listener{event.EntityCreated, fn}
}

// countChanges counts exchanges of components, not creations.
func countChanges(n *int) *listener {
	return &listener{event.ComponentRemoved, func(*arche.World, arche.Entity) { *n++ }}
}

func count(w *arche.World, ids ...arche.ID) int {
	q := w.Query(arche.All(ids...))
	defer q.Close()
	return q.Count()
}
