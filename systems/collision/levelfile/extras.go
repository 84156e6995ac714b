package levelfile

import (
	"math"

	"github.com/gaitnet/gait/systems/collision"
)

// marks are what extras say of geometry.
type marks struct {
	surface collision.Surface
	off     bool
}

// userShift is where a game's bits of a surface begin.
const userShift = 8

// mark reads the object "gait" of extras over what the outer ones said. spawn
// is where the flag of that name goes, nil where it has no place.
func (m marks) mark(extras any, spawn *bool, place func() string) (marks, error) {
	all, ok := extras.(map[string]any)
	if !ok {
		return m, nil // extras may be anything
	}
	ours, ok := all["gait"]
	if !ok {
		return m, nil
	}
	g, ok := ours.(map[string]any)
	if !ok {
		return m, bad(place(), "its extras: gait is not an object")
	}
	// In a fixed order, so that the first complaint is always the same one.
	known := 0
	flag := func(name string) (on, given bool, err error) {
		v, given := g[name]
		if !given {
			return false, false, nil
		}
		known++
		on, ok := v.(bool)
		if !ok {
			return false, true, bad(place(), "its extras: gait.%s is not true or false", name)
		}
		return on, true, nil
	}
	for _, f := range [...]struct {
		name     string
		bit      collision.Surface
		against  string
		opposite collision.Surface
	}{
		{"walkable", collision.SurfaceWalkable, "unwalkable", collision.SurfaceUnwalkable},
		{"unwalkable", collision.SurfaceUnwalkable, "walkable", collision.SurfaceWalkable},
		{"no_step_up", collision.SurfaceNoStepUp, "", 0},
	} {
		on, given, err := flag(f.name)
		switch {
		case err != nil:
			return m, err
		case on:
			m.surface |= f.bit
			if _, both := g[f.against]; !both {
				m.surface &^= f.opposite
			}
		case given:
			m.surface &^= f.bit
		}
	}
	on, given, err := flag("collision")
	if err != nil {
		return m, err
	}
	if given {
		m.off = !on
	}
	if spawn != nil {
		if *spawn, _, err = flag("spawn"); err != nil {
			return m, err
		}
	}
	if v, given := g["user"]; given {
		known++
		n, ok := v.(float64)
		if !ok || n != math.Floor(n) || n < 0 || n > 255 {
			return m, bad(place(), "its extras: gait.user is %v, must be a whole number within 0..255", v)
		}
		m.surface = m.surface&(1<<userShift-1) | collision.Surface(n)<<userShift
	}
	if known < len(g) {
		names := "walkable, unwalkable, no_step_up, user, collision"
		if spawn != nil {
			names += ", spawn"
		}
		return m, bad(place(), "its extras: gait has %d names that mean nothing here; there are %s", len(g)-known, names)
	}
	return m, nil
}
