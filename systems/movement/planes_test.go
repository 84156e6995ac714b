package movement

import (
	"math"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
)

// halfSpace is solid where n·x < d; base moves it by its pose.
type halfSpace struct {
	n    Vec3
	d    float64
	base components.NetID
}

// planes is a test geometry of solid half-spaces, for which sweeps, overlaps
// and rays have a closed form of one line.
type planes struct {
	solid []halfSpace
	pose  func(id components.NetID, at components.Ticks) (components.Pose, bool)
	// reached is the highest centre that any sweep went to.
	reached float64
}

func newPlanes(s ...halfSpace) *planes { return &planes{solid: s, reached: math.Inf(-1)} }

var floorAt0 = halfSpace{n: Vec3{0, 0, 1}}

func tilted(deg float64) halfSpace {
	s, c := exact.SinCosDeg(deg)
	return halfSpace{n: Vec3{-s, 0, c}}
}

func (g *planes) at(h *halfSpace, t components.Ticks) float64 {
	if h.base == 0 {
		return h.d
	}
	p, _ := g.pose(h.base, t)
	return h.d + exact.Dot(h.n, p.Location)
}

func (g *planes) first(q *collision.Query, radius, half float64) bool {
	q.Hit = collision.Hit{Fraction: 1, Location: exact.Add(q.Start, q.Delta)}
	best := 2.0
	for i := range g.solid {
		h := &g.solid[i]
		if h.base != 0 && h.base == q.Ignore {
			continue
		}
		into := -exact.Dot(q.Delta, h.n)
		if into <= 0 {
			continue
		}
		dist := exact.Dot(h.n, q.Start) - g.at(h, q.Time) - radius - float64((half-radius)*math.Abs(h.n[2]))
		f := dist / into
		pen := dist < 0
		if pen {
			f = 0
		}
		if f > 1 || f >= best {
			continue
		}
		best = f
		loc := exact.AddScaled(q.Start, q.Delta, f)
		pt := exact.AddScaled(loc, h.n, -radius)
		if h.n[2] > 0 {
			pt[2] -= half - radius
		} else if h.n[2] < 0 {
			pt[2] += half - radius
		}
		q.Hit = collision.Hit{Blocking: true, StartPenetrating: pen, Fraction: f, Location: loc, Point: pt,
			Normal: h.n, FaceNormal: h.n, Depth: math.Max(0, -dist), Base: h.base, Triangle: uint32(i)}
	}
	g.reached = math.Max(g.reached, q.Hit.Location[2])
	return q.Hit.Blocking
}

func (g *planes) Sweep(q *collision.Query) bool { return g.first(q, q.Radius, q.HalfHeight) }

func (g *planes) Ray(q *collision.Query) bool {
	reached := g.reached
	defer func() { g.reached = reached }()
	return g.first(q, 0, 0)
}

func (g *planes) Overlap(q *collision.Query) bool {
	q.NumPlanes = 0
	for i := range g.solid {
		h := &g.solid[i]
		dist := exact.Dot(h.n, q.Start) - g.at(h, q.Time) - q.Radius - float64((q.HalfHeight-q.Radius)*math.Abs(h.n[2]))
		if dist < 0 && q.NumPlanes < collision.MaxPlanes {
			q.Planes[q.NumPlanes] = collision.Plane{Normal: h.n, Depth: -dist, Base: h.base}
			q.NumPlanes++
		}
	}
	return q.NumPlanes > 0
}

func (g *planes) BasePose(id components.NetID, at components.Ticks) (components.Pose, bool) {
	if g.pose == nil {
		return components.Pose{}, false
	}
	return g.pose(id, at)
}

// walker is a character with what is needed to move it.
type walker struct {
	c    *Context
	s    components.MovementState
	p    components.MovementProfile
	dt   components.Ticks
	time components.Ticks
}

func newWalker(g collision.Geometry, hz int) *walker {
	w := &walker{c: &Context{Geometry: g}, p: components.DefaultProfile(), dt: components.Ticks(components.TicksPerSecond / hz)}
	w.s = InitialState(&w.p, Vec3{0, 0, w.p.CapsuleHalfHeight + restFloorDist}, 0)
	return w
}

func (w *walker) move(accel Vec3, flags components.MoveFlags) {
	w.time += w.dt
	cmd := components.MoveCommand{Acceleration: accel, Dt: w.dt, ObstacleTime: w.time, Flags: flags}
	w.c.Move(&w.s, &cmd, &w.p)
}

func (w *walker) has(k EventKind) bool {
	for _, e := range w.c.Events[:w.c.NumEvents] {
		if e.Kind == k {
			return true
		}
	}
	return false
}

func (w *walker) feet() float64 { return w.s.Location[2] - w.s.HalfHeight }

// until moves with an acceleration until done, at most n moves; it returns how
// many it took.
func (w *walker) until(n int, accel Vec3, flags components.MoveFlags, done func() bool) int {
	for i := 1; i <= n; i++ {
		w.move(accel, flags)
		if done() {
			return i
		}
	}
	return n + 1
}

const jump = components.FlagJumpPressed

var east = Vec3{2048, 0, 0}
