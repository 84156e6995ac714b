package collision

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// World is the Geometry of a server or a client: a level for each scene, and
// the obstacles that move in it. Adding, removing and PushKeyframe belong to
// one goroutine and a phase in which nobody asks; queries may come from any.
type World struct {
	scenes []scene     // by id
	byID   []*obstacle // by id
	counts counts
}

type counts struct {
	queries, late, unknown atomic.Uint64
}

// Counts are what a World refused.
type Counts struct {
	// Queries with a part that is no number or absurd; keyframes that were not
	// newer than the last, and those for an unknown obstacle or a bad pose.
	Queries, LateKeyframes, BadKeyframes uint64
}

type scene struct {
	id        components.SceneID
	level     *Level
	obstacles []*obstacle // by id
}

// obstacle is a moving box with its twelve triangles in its own frame.
type obstacle struct {
	lo, hi  Vec3 // covers the box at any time
	o       components.Obstacle
	motion  components.ObstacleMotion
	radius  float64 // of the box seen from above
	mesh    *mesh
	history *history
}

// NewWorld is a world with nothing in it.
func NewWorld() *World { return &World{} }

// Counts are what was refused so far.
func (w *World) Counts() Counts {
	return Counts{w.counts.queries.Load(), w.counts.late.Load(), w.counts.unknown.Load()}
}

func (w *World) scene(id components.SceneID) *scene {
	i, ok := slices.BinarySearchFunc(w.scenes, id, func(s scene, id components.SceneID) int { return cmp.Compare(s.id, id) })
	if !ok {
		return nil
	}
	return &w.scenes[i]
}

func (w *World) makeScene(id components.SceneID) *scene {
	i, ok := slices.BinarySearchFunc(w.scenes, id, func(s scene, id components.SceneID) int { return cmp.Compare(s.id, id) })
	if !ok {
		w.scenes = slices.Insert(w.scenes, i, scene{id: id})
	}
	return &w.scenes[i]
}

// AddLevel makes l the ground of a scene, and puts its scripted obstacles into
// that scene. An id that is taken is an error.
func (w *World) AddLevel(id components.SceneID, l *Level) error {
	s := w.makeScene(id)
	if s.level != nil {
		return fmt.Errorf("%w: scene %d has a level", ErrLevel, id)
	}
	for _, x := range l.obstacles {
		if w.find(x.Obstacle.ID) != nil {
			return fmt.Errorf("%w: %w: id %d is taken", ErrLevel, ErrObstacle, x.Obstacle.ID)
		}
	}
	s.level = l
	for _, x := range l.obstacles {
		x.Obstacle.Scene = id
		if err := w.AddObstacle(x.Obstacle, x.Motion); err != nil {
			return err
		}
	}
	return nil
}

// Level is the ground of a scene, nil if it has none.
func (w *World) Level(id components.SceneID) *Level {
	if s := w.scene(id); s != nil {
		return s.level
	}
	return nil
}

func cmpID(o *obstacle, id components.NetID) int { return cmp.Compare(o.o.ID, id) }

func (w *World) find(id components.NetID) *obstacle {
	if i, ok := slices.BinarySearchFunc(w.byID, id, cmpID); ok {
		return w.byID[i]
	}
	return nil
}

// AddObstacle puts a moving box in. The numbers are checked, an id that is
// taken is an error.
func (w *World) AddObstacle(o components.Obstacle, m components.ObstacleMotion) error {
	if err := checkObstacle(o, m); err != nil {
		return err
	}
	if w.find(o.ID) != nil {
		return fmt.Errorf("%w: id %d is taken", ErrObstacle, o.ID)
	}
	var b Builder
	b.box(Vec3{}, o.HalfExtents, 0)
	raw, _, _ := canonical(b.raw)
	x := &obstacle{o: o, motion: m, mesh: newMesh(raw)}
	x.radius = exact.Len2(o.HalfExtents)
	if m.Kind == components.MotionKeyframes {
		x.history = &history{}
	}
	x.cover()
	insert := func(list []*obstacle) []*obstacle {
		i, _ := slices.BinarySearchFunc(list, o.ID, cmpID)
		return slices.Insert(list, i, x)
	}
	w.byID = insert(w.byID)
	s := w.makeScene(o.Scene)
	s.obstacles = insert(s.obstacles)
	return nil
}

// RemoveObstacle takes it out; false if there is none.
func (w *World) RemoveObstacle(id components.NetID) bool {
	i, ok := slices.BinarySearchFunc(w.byID, id, cmpID)
	if !ok {
		return false
	}
	s := w.scene(w.byID[i].o.Scene)
	w.byID = slices.Delete(w.byID, i, i+1)
	i, _ = slices.BinarySearchFunc(s.obstacles, id, cmpID)
	s.obstacles = slices.Delete(s.obstacles, i, i+1)
	return true
}

// NumObstacles is how many there are.
func (w *World) NumObstacles() int { return len(w.byID) }

// ObstacleAt is the i-th obstacle in the order of ids.
func (w *World) ObstacleAt(i int) (components.Obstacle, components.ObstacleMotion) {
	return w.byID[i].o, w.byID[i].motion
}

// PushKeyframe tells where a MotionKeyframes obstacle is at a time, later than
// the last one told; an older one, an unknown id or a bad pose is ignored and
// counted.
func (w *World) PushKeyframe(id components.NetID, at components.Ticks, pose components.Pose) bool {
	x := w.find(id)
	if x == nil || x.history == nil || !inRange(pose.Location, MaxCoordinate) || !(math.Abs(pose.Yaw) <= 1e6) {
		w.counts.unknown.Add(1)
		return false
	}
	if !x.history.push(keyframe{at, pose}) {
		w.counts.late.Add(1)
		return false
	}
	x.cover()
	return true
}

// cover finds the box that holds the obstacle at any time.
func (x *obstacle) cover() {
	lo, hi := x.motion.Origin, x.motion.Origin
	switch x.motion.Kind {
	case components.MotionShuttle:
		end := exact.Add(x.motion.Origin, x.motion.Travel)
		for k := range end {
			lo[k], hi[k] = min(lo[k], end[k]), max(hi[k], end[k])
		}
	case components.MotionKeyframes:
		if l, h, ok := x.history.bounds(); ok {
			lo, hi = l, h
		}
	}
	reach := Vec3{x.radius + slack, x.radius + slack, x.o.HalfExtents[2] + slack}
	x.lo, x.hi = exact.Sub(lo, reach), exact.Add(hi, reach)
}

func (x *obstacle) pose(at components.Ticks) components.Pose {
	if x.history != nil {
		if p, ok := x.history.pose(at); ok {
			return p
		}
	}
	return PoseAt(&x.motion, at)
}

// BasePose is where an obstacle is at a time; false if unknown.
func (w *World) BasePose(id components.NetID, at components.Ticks) (components.Pose, bool) {
	x := w.find(id)
	if x == nil {
		return components.Pose{}, false
	}
	return x.pose(at), true
}

// BaseVelocity is the velocity of a point that moves with an obstacle, cm/s:
// its own and that of its turning. It is the derivative of the pose, not a
// difference; at a corner of the path that of what follows.
func (w *World) BaseVelocity(id components.NetID, at components.Ticks, point Vec3) (Vec3, bool) {
	x := w.find(id)
	if x == nil {
		return Vec3{}, false
	}
	var v Vec3
	var yawRate float64
	if x.history != nil {
		v, yawRate = x.history.velocity(at)
	} else {
		v, yawRate = velocityAt(&x.motion, at)
	}
	if yawRate != 0 {
		r := exact.Sub(point, x.pose(at).Location)
		omega := float64(yawRate * (math.Pi / 180))
		v[0] -= float64(omega * r[1])
		v[1] += float64(omega * r[0])
	}
	return v, true
}
