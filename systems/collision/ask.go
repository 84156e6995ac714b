package collision

import (
	"math"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

func apart(lo, hi, lo2, hi2 *Vec3) bool {
	return lo[0] > hi2[0] || hi[0] < lo2[0] || lo[1] > hi2[1] || hi[1] < lo2[1] || lo[2] > hi2[2] || hi[2] < lo2[2]
}

// local turns the query into the frame of an obstacle at its time; false if
// the box there is out of reach. An upright capsule stays upright.
func (x *obstacle) local(k *work, at components.Ticks, lo, hi *Vec3, in *work) (components.Pose, bool) {
	pose := x.pose(at)
	reach := Vec3{x.radius + slack, x.radius + slack, x.o.HalfExtents[2] + slack}
	blo, bhi := exact.Sub(pose.Location, reach), exact.Add(pose.Location, reach)
	if apart(lo, hi, &blo, &bhi) {
		return pose, false
	}
	*in = *k
	in.p = exact.RotateYaw(exact.Sub(k.p, pose.Location), -pose.Yaw)
	in.d = exact.RotateYaw(k.d, -pose.Yaw)
	in.cover()
	return pose, true
}

// ask runs a sweep or a ray against the obstacles of a scene, in the order of
// their ids.
func (s *scene) ask(k *work, q *Query, ray bool) {
	if !(k.len > leastMove) {
		return
	}
	lo, hi := k.lo, k.hi
	for _, x := range s.obstacles {
		if apart(&lo, &hi, &x.lo, &x.hi) || x.o.ID == q.Ignore {
			continue
		}
		var in work
		pose, near := x.local(k, q.Time, &lo, &hi, &in)
		if !near {
			continue
		}
		for i := range x.mesh.tris {
			if ray {
				x.mesh.rayTri(&in, &x.mesh.tris[i], x.o.ID)
			} else {
				x.mesh.sweepTri(&in, &x.mesh.tris[i], x.o.ID)
			}
		}
		if in.base == x.o.ID && in.hit {
			p, d := k.p, k.d
			*k = in
			k.p, k.d, k.lo, k.hi = p, d, lo, hi
			k.n, k.fn = positive(exact.RotateYaw(in.n, pose.Yaw)), positive(exact.RotateYaw(in.fn, pose.Yaw))
			k.point = exact.Add(pose.Location, exact.RotateYaw(in.point, pose.Yaw))
		}
	}
}

// Sweep moves the query's upright capsule from Start by Delta.
func (w *World) Sweep(q *Query) bool { return w.along(q, false) }

// Ray follows a line from Start by Delta.
func (w *World) Ray(q *Query) bool { return w.along(q, true) }

func (w *World) along(q *Query, ray bool) bool {
	var k work
	ok := false
	if ray {
		ok = k.beginRay(q)
	} else {
		ok = k.begin(q)
	}
	if !ok {
		w.counts.queries.Add(1)
		return false
	}
	s := w.scene(q.Scene)
	if s == nil {
		return false
	}
	if s.level != nil {
		if ray {
			s.level.ray(&k)
		} else {
			s.level.sweep(&k)
		}
	}
	s.ask(&k, q, ray)
	return k.finish(q)
}

// Overlap gathers the surfaces that the capsule at Start is inside of.
func (w *World) Overlap(q *Query) bool {
	var k work
	q.NumPlanes = 0
	if !k.begin(q) {
		w.counts.queries.Add(1)
		return false
	}
	s := w.scene(q.Scene)
	if s == nil {
		return false
	}
	if s.level != nil {
		s.level.overlap(&k, q)
	}
	k.d = Vec3{}
	k.cover()
	lo, hi := k.lo, k.hi
	for _, x := range s.obstacles {
		if apart(&lo, &hi, &x.lo, &x.hi) || x.o.ID == q.Ignore {
			continue
		}
		var in work
		pose, near := x.local(&k, q.Time, &lo, &hi, &in)
		if !near {
			continue
		}
		for i := range x.mesh.tris {
			x.mesh.overlapTri(&in, &x.mesh.tris[i], x.o.ID, pose.Yaw, q)
		}
	}
	finishPlanes(q)
	return q.NumPlanes > 0
}

// Nearest is the point of a level's surface closest to a point, within reach.
type Nearest struct {
	Point, Normal Vec3 // Normal is the face's, turned to the point asked from
	Distance      float64
	Triangle      uint32
	Surface       Surface
}

// Closest finds the surface point nearest to p within reach cm; false if there
// is none. Of equal ones it is the least triangle's.
func (l *Level) Closest(p Vec3, reach float64) (Nearest, bool) {
	if !inRange(p, maxStart) || !(reach >= 0 && reach <= maxDelta) {
		l.refused.Add(1)
		return Nearest{}, false
	}
	best := Nearest{Distance: reach}
	found := false
	if len(l.tree.nodes) == 0 {
		return best, false
	}
	var stack [stackSize]int32
	for top := 1; top > 0; {
		top--
		nd := &l.tree.nodes[stack[top]]
	child:
		for i := range int(nd.n) {
			for x := range 3 {
				if float64(nd.lo[x][i])-p[x] > best.Distance+slack || p[x]-float64(nd.hi[x][i]) > best.Distance+slack {
					continue child
				}
			}
			if nd.count[i] == 0 {
				stack[top] = nd.child[i]
				top++
				continue
			}
			tris := l.mesh.tris[nd.child[i] : int(nd.child[i])+int(nd.count[i])]
			for k := range tris {
				t := &tris[k]
				x, _ := t.closestPoint(p)
				d := math.Sqrt(exact.DistSq(x, p))
				if d > best.Distance || (d == best.Distance && found && t.id > best.Triangle) {
					continue
				}
				n := t.n
				if exact.Dot(exact.Sub(p, t.v[0]), n) < 0 {
					n = exact.Neg(n)
				}
				found = true
				best = Nearest{x, n, d, t.id, t.surface}
			}
		}
	}
	return best, found
}
