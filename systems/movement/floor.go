package movement

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
)

const (
	// The distance kept to the floor, cm: the least, the most, and what an
	// adjustment aims at.
	minFloorDist  = 1.9
	maxFloorDist  = 2.4
	restFloorDist = (minFloorDist + maxFloorDist) / 2

	// edgeTolerance is the outer part of the radius whose contacts are no floor, cm.
	edgeTolerance = 0.15
	// The share of the capsule's straight part that a floor sweep keeps, so
	// that a capsule a little inside the floor still measures it.
	floorShrink, floorShrinkInside = 0.1, 0.9
)

// FloorDistance is how far above its floor a standing capsule rests, cm: the
// mean of the least and the greatest distance that is kept.
const FloorDistance = restFloorDist

// Floor is what lies under a capsule.
type Floor struct {
	// Walkable: it can be stood on. Blocking: the sweep met something.
	Walkable, Blocking bool
	// Penetrating: the capsule is inside what it met.
	Penetrating bool
	// Line: the swept contact was not walkable, and a ray from the centre
	// found the floor, LineDist below the capsule's bottom.
	Line bool
	// Dist from the capsule's bottom to the contact, straight down, cm;
	// negative inside.
	Dist, LineDist float64
	// Normal of the face that is stood on, Contact that of the contact.
	Normal, Contact Vec3
	// Point of the contact.
	Point Vec3
	Base  components.NetID

	reduced bool // measured with a smaller radius
}

// FindFloor looks for the floor under a character at its place, for an
// obstacle time: as far as a step reaches for one that walks, 2.4 cm for others.
func (c *Context) FindFloor(s *components.MovementState, p *components.MovementProfile, at components.Ticks) Floor {
	st := StepState{S: s, P: p, Time: at}
	return c.findFloor(&st)
}

func (c *Context) findFloor(st *StepState) Floor {
	s, p := st.S, st.P
	reach := maxFloorDist
	if s.Mode.Grounded() && p.MaxStepHeight > 0 {
		reach += p.MaxStepHeight
	}
	f := c.floorSweep(st, s.Radius, floorShrink, reach)
	if f.Blocking && (f.Penetrating || !withinEdge(s, f.Point)) {
		f = c.floorSweep(st, s.Radius-edgeTolerance-0.01, floorShrinkInside, reach)
		f.reduced = true
	}
	if !f.Blocking || f.Penetrating {
		return f
	}
	if !f.Walkable {
		c.floorRay(st, &f, reach)
	}
	if !f.Walkable && f.Dist <= maxFloorDist && c.inDitch(st) {
		f.Walkable, f.Normal = true, Vec3{0, 0, 1}
		// Held at the distance of its faces, not lifted off them.
		if f.Dist < restFloorDist {
			f.Dist = restFloorDist
		}
	}
	if f.Walkable && !f.Line && p.PerchRadiusThreshold > edgeTolerance {
		c.perch(st, &f, reach)
	}
	return f
}

// floorSweep sweeps straight down with a radius and a share of the straight
// part taken off the capsule's height at both ends; the distance is corrected
// for it.
func (c *Context) floorSweep(st *StepState, radius, shrink, reach float64) Floor {
	s := st.S
	if !(radius > 0) {
		return Floor{}
	}
	q := c.query(st)
	less := float64((s.HalfHeight - s.Radius) * shrink)
	q.Radius, q.HalfHeight = radius, s.HalfHeight-less
	if q.HalfHeight < radius {
		q.HalfHeight = radius
	}
	down := reach + less
	q.Delta = Vec3{0, 0, -down}
	if !c.sweep(q) {
		return Floor{}
	}
	h := q.Hit
	f := Floor{
		Blocking: true, Penetrating: h.StartPenetrating,
		Dist:   float64(h.Fraction*down) - less,
		Normal: h.FaceNormal, Contact: h.Normal, Point: h.Point, Base: h.Base,
	}
	if f.Penetrating {
		f.Dist = -less
		return f
	}
	f.Walkable, f.Normal = c.walkable(st, &h)
	return f
}

// floorRay looks straight down from the centre where the swept contact is not
// walkable: the foot of a steep face is stood on by the ground beside it.
func (c *Context) floorRay(st *StepState, f *Floor, reach float64) {
	s := st.S
	q := c.query(st)
	length := s.HalfHeight + reach
	q.Delta = Vec3{0, 0, -length}
	if !c.ray(q) || q.Hit.StartPenetrating {
		return
	}
	h := &q.Hit
	if !faceWalkable(h, st.P) {
		return
	}
	f.Walkable, f.Line = true, true
	f.LineDist = float64(h.Fraction*length) - s.HalfHeight
	f.Normal, f.Point, f.Base = h.FaceNormal, h.Point, h.Base
}

// perch refuses a floor that only the outer PerchRadiusThreshold of the radius
// stands on, unless the inner part finds ground within a step's reach.
func (c *Context) perch(st *StepState, f *Floor, reach float64) {
	s, p := st.S, st.P
	inner := s.Radius - p.PerchRadiusThreshold
	if inner < edgeTolerance {
		inner = edgeTolerance
	}
	d := Vec3{f.Point[0] - s.Location[0], f.Point[1] - s.Location[1], 0}
	if exact.Dot2(d, d) <= float64(inner*inner) {
		return
	}
	if s.Mode.Grounded() {
		reach += p.PerchAdditionalHeight
	}
	if in := c.floorSweep(st, inner, floorShrink, reach); !in.Walkable {
		f.Walkable = false
	}
}

// withinEdge tells whether a contact lies within the radius less the tolerance.
func withinEdge(s *components.MovementState, point Vec3) bool {
	r := s.Radius - edgeTolerance
	d := Vec3{point[0] - s.Location[0], point[1] - s.Location[1], 0}
	return exact.Dot2(d, d) < float64(r*r)
}

// faceWalkable judges the face that was met: its flags, then its steepness.
func faceWalkable(h *collision.Hit, p *components.MovementProfile) bool {
	switch {
	case h.Surface&collision.SurfaceUnwalkable != 0:
		return false
	case h.Surface&collision.SurfaceWalkable != 0:
		return h.FaceNormal[2] > 1e-4
	}
	return h.FaceNormal[2] >= p.WalkableFloorZ
}

// walkable judges a contact and gives the normal of the face to stand on. An
// edge belongs to two faces and the hit names one of them; where that one is
// steep and the contact is not, a short ray down beside the edge asks the other.
func (c *Context) walkable(st *StepState, h *collision.Hit) (bool, Vec3) {
	if faceWalkable(h, st.P) {
		return true, h.FaceNormal
	}
	if !(h.Normal[2] > 1e-3) || exact.Dot(h.Normal, h.FaceNormal) > 0.9999 {
		return false, h.FaceNormal
	}
	in := exact.SafeNormal2(h.Normal)
	if in == (Vec3{}) {
		in = exact.SafeNormal2(h.FaceNormal)
	}
	keep := c.q.Hit
	defer func() { c.q.Hit = keep }()
	q := c.query(st)
	q.Start = exact.AddScaled(h.Point, in, -0.1)
	q.Start[2] += 0.5
	q.Delta = Vec3{0, 0, -1}
	if !c.ray(q) || q.Hit.StartPenetrating || !faceWalkable(&q.Hit, st.P) {
		return false, h.FaceNormal
	}
	return true, q.Hit.FaceNormal
}

// inDitch tells whether steep faces on several sides hold the capsule up: a
// way down past all of them does not exist. It can then stand there.
func (c *Context) inDitch(st *StepState) bool {
	q := c.query(st)
	q.Radius += maxFloorDist
	q.HalfHeight += maxFloorDist
	if !c.overlap(q) {
		return false
	}
	var n [collision.MaxPlanes]Vec3
	k := 0
	for i := 0; i < q.NumPlanes && i < collision.MaxPlanes; i++ {
		if q.Planes[i].Normal[2] > -0.01 {
			n[k] = q.Planes[i].Normal
			k++
		}
	}
	return k > 1 && clip(Vec3{0, 0, -1}, n[:k])[2] > -0.05
}

// adjustHeight brings the distance to the floor within its bounds.
func (c *Context) adjustHeight(st *StepState, f *Floor) {
	if !f.Walkable {
		return
	}
	d := f.Dist
	if f.Line && d < minFloorDist {
		if f.LineDist >= minFloorDist {
			return // only the steep face is near: do not climb it
		}
		d = f.LineDist
	}
	if d >= minFloorDist && d <= maxFloorDist {
		return
	}
	move := restFloorDist - d
	if move < 0 && !f.reduced {
		// The floor's sweep has been this way with the leading part of the capsule.
		st.S.Location[2] += move
		f.Dist += move
		f.LineDist += move
		return
	}
	z := st.S.Location[2]
	_, hit := c.sweepMove(st, Vec3{0, 0, move}, 0)
	if hit.StartPenetrating && c.depenetrate(st) {
		c.sweepMove(st, Vec3{0, 0, move}, 0)
	}
	f.Dist += st.S.Location[2] - z
	f.LineDist += st.S.Location[2] - z
}
