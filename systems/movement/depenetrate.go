package movement

import (
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
)

const (
	// depenetrationSlack is the depth that is left alone, cm: touching is not
	// being inside.
	depenetrationSlack = 1e-3
	// depenetrationRounds bounds the overlap tests of one push out.
	depenetrationRounds = 4
)

// pushOut leaves what the level or an obstacle has pushed into the character
// since its last move.
func (c *Context) pushOut(st *StepState) {
	if !c.overlap(c.query(st)) {
		return
	}
	c.depenetrateFrom(st)
}

// depenetrate pushes the character out of what it is inside of. True if it
// moved.
func (c *Context) depenetrate(st *StepState) bool {
	if !c.overlap(c.query(st)) {
		return false
	}
	return c.depenetrateFrom(st)
}

// depenetrateFrom works on the planes that the last overlap gathered, solved
// together: each round seeks the place that is out of all of them.
func (c *Context) depenetrateFrom(st *StepState) bool {
	s := st.S
	start := s.Location
	most := st.P.MaxDepenetrationGeometry
	deep := c.deepest()
	for round := 0; round < depenetrationRounds && deep > depenetrationSlack; round++ {
		q := &c.q
		var push Vec3
		for pass := 0; pass < 8; pass++ {
			moved := false
			for i := 0; i < q.NumPlanes && i < collision.MaxPlanes; i++ {
				pl := &q.Planes[i]
				if need := pl.Depth + skin - exact.Dot(push, pl.Normal); need > 1e-6 {
					push = exact.AddScaled(push, pl.Normal, need)
					moved = true
				}
			}
			if !moved {
				break
			}
		}
		s.Location = exact.Add(s.Location, push)
		if exact.DistSq(s.Location, start) > float64(most*most) {
			s.Location = exact.Add(start, exact.ClampLen(exact.Sub(s.Location, start), most))
		}
		deep = 0
		if c.overlap(c.query(st)) {
			deep = c.deepest()
		}
	}
	if s.Location != start {
		c.Stats.Depenetrations++
		st.FloorValid = false
	}
	if deep > 0.1 {
		// Not got out: it stays, at rest, and nothing is launched.
		s.Location = start
		s.Velocity = Vec3{}
		c.Stats.Stuck++
		c.emit(EventStuck, st, s.Mode, Vec3{})
		return false
	}
	return s.Location != start
}

// deepest is the greatest depth among the planes of the last overlap.
func (c *Context) deepest() float64 {
	deep := 0.0
	for i := 0; i < c.q.NumPlanes && i < collision.MaxPlanes; i++ {
		if d := c.q.Planes[i].Depth; d > deep {
			deep = d
		}
	}
	return deep
}
