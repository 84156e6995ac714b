package movement

import (
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
)

// leastStep is how far a step goes forward at least, cm: a slow character
// would else end in the outer part of its radius, where no contact counts,
// and never get up at a high rate.
const leastStep = edgeTolerance + 0.25

// stepUp climbs a step that stopped a walking way: up, forward by what is left,
// down again. True where it got up; st.Floor is then the floor there and the
// velocity is as it was. Else the character is where it was.
func (c *Context) stepUp(st *StepState, rest Vec3, hit *collision.Hit) bool {
	s, p := st.S, st.P
	if !(p.MaxStepHeight > 0) || !canStepOn(hit) {
		return false
	}
	// Not against what stands above the start of the top hemisphere.
	if hit.Point[2] > s.Location[2]+s.HalfHeight-s.Radius {
		return false
	}
	rest[2] = 0
	length := exact.Len2(rest)
	if !(length > 1e-6) {
		return false
	}
	if length < leastStep {
		rest = exact.Scale(rest, leastStep/length)
	}
	start := s.Location
	undo := func() bool { s.Location = start; return false }

	dist := st.Floor.Dist
	if st.Floor.Line {
		dist = st.Floor.LineDist
	}
	if !st.Floor.Walkable || dist < 0 {
		dist = 0
	} else if dist > p.MaxStepHeight {
		dist = p.MaxStepHeight
	}
	ground := start[2] - s.HalfHeight - dist

	if _, h := c.sweepMove(st, Vec3{0, 0, p.MaxStepHeight - dist}, 0); h.StartPenetrating {
		return undo()
	}
	raised := s.Location[2]
	f, h := c.sweepMove(st, rest, 0)
	if h.StartPenetrating {
		return undo()
	}
	if h.Blocking {
		n := exact.SafeNormal2(h.Normal)
		if n == (Vec3{}) {
			return undo()
		}
		way := clip(exact.Scale(rest, 1-f), []Vec3{n})
		c.sweepMove(st, way, 0)
	}
	gone := exact.Sub(s.Location, start)
	if exact.Dot2(gone, rest) <= 1e-6*length {
		return undo()
	}

	q := c.query(st)
	down := p.MaxStepHeight + 2*maxFloorDist
	q.Delta = Vec3{0, 0, -down}
	if !c.sweep(q) {
		// Nothing below: beside an upright face that is no step.
		return undo()
	}
	d := q.Hit
	if d.StartPenetrating || !canStepOn(&d) {
		return undo()
	}
	if d.Point[2]-ground > p.MaxStepHeight {
		return undo()
	}
	// The ground there must carry the character, not only stop it.
	ok, normal := c.walkable(st, &d)
	if !ok || !withinEdge(s, d.Point) {
		return undo()
	}
	z := raised - float64(d.Fraction*down)
	at := z + restFloorDist
	if at > raised {
		at = raised
	}
	if h.Blocking && at <= start[2]+1e-3 {
		return undo() // along a wall and down again: a slide, no step
	}
	s.Location[2] = at
	c.Stats.StepUps++
	st.Floor = Floor{
		Walkable: true, Blocking: true, Dist: at - z,
		Normal: normal, Contact: d.Normal, Point: d.Point, Base: d.Base,
	}
	return true
}
