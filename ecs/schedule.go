package ecs

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Scheduled is one system in an App's schedule.
type Scheduled struct {
	Name   string
	Phase  Phase
	Roles  Roles
	System System
	// Absent are names in its After and Before that no system of the schedule
	// has.
	Absent []string

	after, before []string
}

func scheduled(s System, p Phase, r Roles) Scheduled {
	if int(p) >= PhaseCount {
		panic(fmt.Sprintf("ecs.App: %T names %v, which is no phase", s, p))
	}
	if r == 0 || r&^AllRoles != 0 {
		panic(fmt.Sprintf("ecs.App: %T names the roles %v", s, r))
	}
	e := Scheduled{Name: NameOf(s), Phase: p, Roles: r, System: s}
	if a, ok := s.(RunsAfter); ok {
		e.after = a.After()
	}
	if b, ok := s.(RunsBefore); ok {
		e.before = b.Before()
	}
	return e
}

// plan orders systems: by phase, within a phase by declared dependencies, and
// where those leave a choice by order of adding. It panics at a contradiction.
func plan(added []Scheduled) [PhaseCount][]Scheduled {
	var phases [PhaseCount][]Scheduled
	for _, e := range added {
		e.Absent = nil
		for _, name := range e.after {
			e.checkReference(added, name, "after", func(other Phase) bool { return other > e.Phase })
		}
		for _, name := range e.before {
			e.checkReference(added, name, "before", func(other Phase) bool { return other < e.Phase })
		}
		phases[e.Phase] = append(phases[e.Phase], e)
	}
	for p := range phases {
		phases[p] = sortPhase(phases[p])
	}
	return phases
}

func (e *Scheduled) checkReference(all []Scheduled, name, word string, wrong func(Phase) bool) {
	found := false
	for i := range all {
		if all[i].Name != name {
			continue
		}
		found = true
		if wrong(all[i].Phase) {
			panic(fmt.Sprintf("ecs.App: %s (%v) wants to run %s %s (%v), against the order of phases",
				e.Name, e.Phase, word, name, all[i].Phase))
		}
	}
	if !found {
		e.Absent = append(e.Absent, name)
	}
}

// sortPhase is Kahn's algorithm that always takes the earliest added system
// that nothing holds back, so that the result does not depend on anything else.
func sortPhase(list []Scheduled) []Scheduled {
	// waits[i][j]: i runs after j.
	waits := make([][]bool, len(list))
	for i := range waits {
		waits[i] = make([]bool, len(list))
	}
	for i := range list {
		for j := range list {
			if slices.Contains(list[i].after, list[j].Name) {
				waits[i][j] = true
			}
			if slices.Contains(list[i].before, list[j].Name) {
				waits[j][i] = true
			}
		}
	}
	placed := make([]bool, len(list))
	out := make([]Scheduled, 0, len(list))
	for len(out) < len(list) {
		next := -1
		for i := range list {
			if !placed[i] && !heldBack(waits[i], placed) {
				next = i
				break
			}
		}
		if next < 0 {
			panic("ecs.App: systems wait for each other: " + cycle(list, waits, placed))
		}
		placed[next] = true
		out = append(out, list[next])
	}
	return out
}

func heldBack(waits, placed []bool) bool {
	for j, w := range waits {
		if w && !placed[j] {
			return true
		}
	}
	return false
}

// cycle names one cycle among the systems that are not placed. Each of them
// waits for another of them, so a walk must come back to itself.
func cycle(list []Scheduled, waits [][]bool, placed []bool) string {
	at := slices.Index(placed, false)
	seen := map[int]int{}
	var walk []int
	for {
		if from, ok := seen[at]; ok {
			var names []string
			for _, i := range append(walk[from:], at) {
				names = append(names, list[i].Name)
			}
			return strings.Join(names, " after ")
		}
		seen[at] = len(walk)
		walk = append(walk, at)
		for j, w := range waits[at] {
			if w && !placed[j] {
				at = j
				break
			}
		}
	}
}

// Systems is the schedule of one phase, in the order in which it runs. The
// slice is the caller's.
func (a *App) Systems(p Phase) []Scheduled {
	a.order()
	return slices.Clone(a.phases[p])
}

// WriteSchedule writes the schedule as text: the role, then a line for each
// phase that has a system, with names in running order.
func (a *App) WriteSchedule(w io.Writer) error {
	a.order()
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", a.role)
	for p, list := range a.phases {
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "  %-8v ", Phase(p))
		for i, e := range list {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(e.Name)
			if len(e.Absent) > 0 {
				fmt.Fprintf(&b, " (absent: %s)", strings.Join(e.Absent, ", "))
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
