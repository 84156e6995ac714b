package collision

import (
	"math"
	"sync/atomic"

	"github.com/gaitnet/gait/components"
)

// Level is immutable ground: triangles with their adjacency and a tree over
// them. Any number of worlds and goroutines may share one. By itself it is a
// Geometry for every scene, without obstacles.
type Level struct {
	mesh      *mesh
	tree      tree
	source    []uint32 // by triangle id: which shape it comes from
	obstacles []Scripted
	spawns    []Vec3
	hash      uint64
	stats     BuildStats
	refused   atomic.Uint64
}

// Scripted is an obstacle that a level brings along.
type Scripted struct {
	Obstacle components.Obstacle
	Motion   components.ObstacleMotion
}

// BuildStats counts what a build kept and dropped.
type BuildStats struct {
	// Triangles kept; Degenerate (thinner than 1e-5 cm) and Doubled dropped.
	Triangles, Degenerate, Doubled int
	// Edges and Corners that can be touched.
	Edges, Corners int
}

// Bounds are the least and greatest coordinates, cm.
func (l *Level) Bounds() (lo, hi Vec3) { return l.mesh.min, l.mesh.max }

// Stats counts what the build kept and dropped.
func (l *Level) Stats() BuildStats { return l.stats }

// Hash is equal for equal surfaces, flags and scripted obstacles, on every
// target and whatever order the shapes were given in.
func (l *Level) Hash() uint64 { return l.hash }

// NumTriangles is the number of triangles; ids are below it.
func (l *Level) NumTriangles() int { return len(l.mesh.tris) }

// Triangle is the triangle with an id (Hit.Triangle) and its flags.
func (l *Level) Triangle(id uint32) (a, b, c Vec3, s Surface) {
	t := &l.mesh.tris[l.mesh.slot[id]]
	return t.v[0], t.v[1], t.v[2], t.surface
}

// Source is the number of the builder's shape that a triangle comes from,
// counted from 0 in the order of the calls.
func (l *Level) Source(id uint32) int { return int(l.source[id]) }

// Obstacles are the scripted obstacles of the level; World.AddLevel puts them in.
func (l *Level) Obstacles() []Scripted { return l.obstacles }

// Spawns are the places at which a character's feet may be put, cm.
func (l *Level) Spawns() []Vec3 { return l.spawns }

// Refused counts queries with a part that is not a number or absurd.
func (l *Level) Refused() uint64 { return l.refused.Load() }

// Sweep is Geometry's, against the level alone.
func (l *Level) Sweep(q *Query) bool {
	var w work
	if !w.begin(q) {
		l.refused.Add(1)
		return false
	}
	l.sweep(&w)
	return w.finish(q)
}

// Ray is Geometry's, against the level alone.
func (l *Level) Ray(q *Query) bool {
	var w work
	if !w.beginRay(q) {
		l.refused.Add(1)
		return false
	}
	l.ray(&w)
	return w.finish(q)
}

// Overlap is Geometry's, against the level alone.
func (l *Level) Overlap(q *Query) bool {
	var w work
	q.NumPlanes = 0
	if !w.begin(q) {
		l.refused.Add(1)
		return false
	}
	l.overlap(&w, q)
	finishPlanes(q)
	return q.NumPlanes > 0
}

// BasePose knows no obstacle: always false.
func (l *Level) BasePose(components.NetID, components.Ticks) (components.Pose, bool) {
	return components.Pose{}, false
}

// hasher is FNV-1a over whole words, low byte first.
type hasher uint64

func newHasher() hasher { return 14695981039346656037 }

func (h *hasher) word(w uint64) {
	x := uint64(*h)
	for range 8 {
		x = (x ^ (w & 0xff)) * 1099511628211
		w >>= 8
	}
	*h = hasher(x)
}

func (h *hasher) float(f float64) { h.word(math.Float64bits(f)) }

func (h *hasher) vec(v Vec3) {
	for _, f := range v {
		h.float(f)
	}
}
