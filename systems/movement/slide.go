package movement

import (
	"math"

	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
)

// clip turns a way along the planes that it would enter: along one where that
// leaves the others alone, else along the crease of two, else none. A way that
// would be reversed is none. Normals are unit vectors that point out of the
// surfaces.
func clip(d Vec3, n []Vec3) Vec3 {
	size := exact.Len(d)
	if !(size > 0) {
		return Vec3{}
	}
	eps := -float64(size * 1e-9)
	free := func(v Vec3) bool {
		for _, m := range n {
			if exact.Dot(v, m) < eps {
				return false
			}
		}
		return true
	}
	if free(d) {
		return d
	}
	best, found := Vec3{}, 0.0
	take := func(v Vec3) {
		if g := exact.Dot(v, d); g > found && free(v) {
			best, found = v, g
		}
	}
	for i, m := range n {
		if exact.Dot(d, m) < eps {
			take(exact.RejectOn(d, m))
		}
		for _, o := range n[i+1:] {
			if u := exact.SafeNormal(exact.Cross(m, o)); u != (Vec3{}) {
				take(exact.Scale(u, exact.Dot(d, u)))
			}
		}
	}
	return best
}

// noBoost keeps a clipped way from being led up a steep face: what rises more
// than the intended way did is taken back along the face.
func noBoost(way, intended, n Vec3, walkableZ float64) Vec3 {
	most := intended[2]
	if most < 0 {
		most = 0
	}
	if !(n[2] > 1e-4) || n[2] >= walkableZ || way[2] <= most {
		return way
	}
	h := math.Sqrt(1 - float64(n[2]*n[2])) // the z of the steepest way up the face
	if !(h > 1e-6) {
		return way
	}
	up := Vec3{float64(-n[0]*n[2]) / h, float64(-n[1]*n[2]) / h, h}
	return exact.AddScaled(way, up, -(way[2]-most)/h)
}

// headOn is the share of a way below which nothing of it slides along a wall:
// within 1.1 degrees of straight on. In a corner that is nearly flat the
// character would else swing between the two walls.
const headOn = 0.02

// slideFlat slides a walking character along walls by the rest of a horizontal
// way. The way stays in the floor's plane: nobody is pushed up a steep face, or
// into the floor by one that leans over, and a low ceiling stops only the climb.
func (c *Context) slideFlat(st *StepState, rest Vec3, hit *collision.Hit, floorNormal Vec3) {
	rest[2] = 0
	var walls [3]Vec3
	for i := 0; i < len(walls); i++ {
		n := wallOnFloor(hit.Normal, floorNormal)
		if n == (Vec3{}) || (i > 0 && exact.Dot2(n, walls[i-1]) > 0.9999) {
			return
		}
		walls[i] = n
		way := clip(rest, walls[:i+1])
		if exact.LenSq(way) < 1e-12 || exact.LenSq(way) < float64(headOn*headOn*exact.LenSq(rest)) {
			return
		}
		f, h := c.sweepMove(st, groundWay(way, floorNormal, st.P.MaintainHorizontalGroundVelocity), 0)
		if !h.Blocking || h.StartPenetrating {
			return
		}
		rest = exact.Scale(rest, 1-f)
		*hit = h
	}
}

// wallOnFloor is the horizontal direction in which a surface bars ways that
// stay in the floor's plane: the normal of the line in which the two planes
// meet. Zero where they do not.
func wallOnFloor(n, floor Vec3) Vec3 {
	if !(floor[2] > 1e-3) {
		return exact.SafeNormal2(n)
	}
	k := n[2] / floor[2]
	return exact.SafeNormal2(Vec3{n[0] - float64(floor[0]*k), n[1] - float64(floor[1]*k), 0})
}

// slide3 slides a flying or swimming character along what it meets, and takes
// from the velocity what goes into it.
func (c *Context) slide3(st *StepState, rest Vec3, hit *collision.Hit) {
	var walls [3]Vec3
	for i := 0; i < len(walls); i++ {
		walls[i] = hit.Normal
		st.S.Velocity = clip(st.S.Velocity, walls[:i+1])
		way := clip(rest, walls[:i+1])
		if exact.LenSq(way) < 1e-12 {
			return
		}
		f, h := c.sweepMove(st, way, 0)
		if !h.Blocking || h.StartPenetrating {
			return
		}
		rest = exact.Scale(rest, 1-f)
		*hit = h
	}
	st.S.Velocity = clip(st.S.Velocity, walls[:])
}
