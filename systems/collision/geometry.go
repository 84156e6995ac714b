package collision

import "github.com/gaitnet/gait/components"

// Vec3 is mathgl's vector of float64, cm.
type Vec3 = components.Vec3

// Geometry answers the three questions that a movement step asks. The level
// behind it is immutable and shared; moving obstacles are asked at the query's
// time. Implementations allocate nothing and give the same answer whatever
// order they look at their surfaces in: the least of (fraction, obstacle,
// triangle).
type Geometry interface {
	// Sweep moves the query's upright capsule from Start by Delta and reports
	// in q.Hit the first contact against the direction of travel.
	Sweep(q *Query) bool
	// Overlap gathers in q.Planes the surfaces that the capsule at Start is
	// inside of; true if there is any.
	Overlap(q *Query) bool
	// Ray follows a line from Start by Delta.
	Ray(q *Query) bool
	// BasePose is where the obstacle id is at a time; false if unknown.
	BasePose(id components.NetID, at components.Ticks) (components.Pose, bool)
}

// MaxPlanes bounds what one overlap gathers: the deepest are kept.
const MaxPlanes = 16

// Query is one question with room for its answer. A kernel context owns its
// queries, so that passing one to an interface allocates nothing.
type Query struct {
	// Start is the capsule's centre (the ray's origin), Delta the way, cm.
	Start, Delta Vec3
	// Radius and HalfHeight of the capsule; the half height includes the caps.
	Radius, HalfHeight float64
	// Time at which moving obstacles are asked.
	Time  components.Ticks
	Scene components.SceneID
	// Ignore leaves one obstacle out: a base does not block its own rider's
	// carry.
	Ignore components.NetID

	// Hit is the answer of Sweep and Ray.
	Hit Hit
	// Planes[:NumPlanes] is the answer of Overlap.
	Planes    [MaxPlanes]Plane
	NumPlanes int
}

// Hit is the first contact of a sweep or a ray.
type Hit struct {
	// Blocking is false where nothing was met; Fraction is then 1 and Location
	// the end.
	Blocking bool
	// StartPenetrating: the capsule was inside at the start and moving further
	// in; Fraction is 0, Depth how far inside, Normal the way out.
	StartPenetrating bool
	// Fraction of Delta at the contact, 0..1; Location the capsule's centre there.
	Fraction float64
	Location Vec3
	// Point of contact on the surface.
	Point Vec3
	// Normal of the contact, from the surface to the capsule; FaceNormal is
	// the surface's own, turned to the capsule's side. Unit vectors.
	Normal, FaceNormal Vec3
	Depth              float64
	// Base is the obstacle met, 0 for the level. Triangle is its triangle.
	Base     components.NetID
	Triangle uint32
	Surface  Surface
}

// Plane is one surface an overlapping capsule must leave.
type Plane struct {
	// Normal points out of the surface, Depth is how far the capsule is in, cm.
	Normal Vec3
	Depth  float64
	Base   components.NetID
}

// Surface is a triangle's flags.
type Surface uint16

// The flags of a surface; the upper eight bits are a game's.
const (
	// SurfaceWalkable is walkable however steep; SurfaceUnwalkable never is.
	SurfaceWalkable Surface = 1 << iota
	SurfaceUnwalkable
	// SurfaceNoStepUp forbids stepping up onto it.
	SurfaceNoStepUp
)
