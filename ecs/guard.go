package ecs

import (
	"fmt"
	"runtime"

	arche "github.com/mlange-42/arche/ecs"
)

// MustBeUnlocked panics, naming the culprit, if the world is locked. A query
// that was left with break keeps its lock for good: structural changes panic
// from then on, and after 256 of them every query does. An App checks after
// each system, which costs four comparisons; in a plain model, call it after a
// system in doubt.
func MustBeUnlocked(w *arche.World, culprit string) {
	if w.IsLocked() {
		panic(fmt.Sprintf("ecs: %s left the world locked: a query was neither finished nor closed", culprit))
	}
}

// Alive reports whether an entity is alive, like w.Alive, which panics for an
// entity that a reset of the world, or another world, has left without a place.
// A reset also begins the generations anew, so that a handle from before it can
// name an entity made since; what outlives a reset needs a check of its own.
func Alive(w *arche.World, e arche.Entity) (alive bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(runtime.Error); !ok {
				panic(r)
			}
			alive = false
		}
	}()
	return w.Alive(e)
}

// mustBeUnlocked builds its message only when it is needed.
func (a *App) mustBeUnlocked(s *Scheduled, method string) {
	if a.w.IsLocked() {
		MustBeUnlocked(a.w, fmt.Sprintf("%s (%T, %v) in %s", s.Name, s.System, s.Phase, method))
	}
}
