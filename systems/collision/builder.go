package collision

import (
	"errors"
	"fmt"
	"math"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// ErrLevel is wrapped by every complaint of a build.
var ErrLevel = errors.New("level")

// MaxCoordinate is the largest coordinate of a level, cm (1,000 km).
const MaxCoordinate = 1e8

// maxTriangles keeps ids and tree references within 28 bits.
const maxTriangles = 1 << 26

// Builder gathers shapes. Calls chain; the first shape that cannot be is named
// by Build's error. The zero value is not ready: use NewBuilder.
type Builder struct {
	raw       []rawTri
	surface   Surface
	shapes    uint32
	obstacles []Scripted
	spawns    []Vec3
	err       error
}

// NewBuilder starts an empty level.
func NewBuilder() *Builder { return &Builder{} }

// SetSurface gives the flags of the shapes that follow.
func (b *Builder) SetSurface(s Surface) *Builder {
	b.surface = s
	return b
}

// begin checks a shape's numbers and counts it.
func (b *Builder) begin(shape string, vecs []Vec3, sizes []float64) bool {
	n := b.shapes
	b.shapes++
	if b.err != nil {
		return false
	}
	fail := func(what string, v any) bool {
		b.err = fmt.Errorf("%w: shape %d, %s: %s is %v", ErrLevel, n, shape, what, v)
		return false
	}
	for _, v := range vecs {
		for _, f := range v {
			if !(math.Abs(f) <= MaxCoordinate) {
				return fail("a coordinate", f)
			}
		}
	}
	for _, f := range sizes {
		if !(f >= 0 && f <= MaxCoordinate) {
			return fail("a size", f)
		}
	}
	return true
}

func (b *Builder) yawOK(shape string, yaw float64) bool {
	if math.Abs(yaw) <= 1e6 {
		return true
	}
	b.err = fmt.Errorf("%w: shape %d, %s: yaw is %v", ErrLevel, b.shapes-1, shape, yaw)
	return false
}

func (b *Builder) tri(p, q, r Vec3) {
	b.raw = append(b.raw, rawTri{[3]Vec3{p, q, r}, b.surface, b.shapes - 1})
}

func (b *Builder) quad(p, q, r, s Vec3) {
	b.tri(p, q, r)
	b.tri(p, r, s)
}

// Triangle adds one triangle with flags of its own, counter-clockwise seen
// from its front; both sides block.
func (b *Builder) Triangle(p, q, r Vec3, s Surface) *Builder {
	if b.begin("triangle", []Vec3{p, q, r}, nil) {
		b.raw = append(b.raw, rawTri{[3]Vec3{p, q, r}, s, b.shapes - 1})
	}
	return b
}

// Quad adds two triangles p, q, r and p, r, s.
func (b *Builder) Quad(p, q, r, s Vec3) *Builder {
	if b.begin("quad", []Vec3{p, q, r, s}, nil) {
		b.quad(p, q, r, s)
	}
	return b
}

// Floor adds a level square at height z that reaches extent cm from the
// origin in x and y.
func (b *Builder) Floor(z, extent float64) *Builder {
	return b.Plane(Vec3{0, 0, z}, extent, extent)
}

// Plane adds a level rectangle around centre with half sizes in x and y.
func (b *Builder) Plane(centre Vec3, halfX, halfY float64) *Builder {
	if b.begin("plane", []Vec3{centre}, []float64{halfX, halfY}) {
		x0, x1, y0, y1, z := centre[0]-halfX, centre[0]+halfX, centre[1]-halfY, centre[1]+halfY, centre[2]
		b.quad(Vec3{x0, y0, z}, Vec3{x1, y0, z}, Vec3{x1, y1, z}, Vec3{x0, y1, z})
	}
	return b
}

// Box adds a box turned by yaw degrees about its own vertical.
func (b *Builder) Box(centre, halfExtents Vec3, yaw float64) *Builder {
	if b.begin("box", []Vec3{centre}, halfExtents[:]) && b.yawOK("box", yaw) {
		b.box(centre, halfExtents, yaw)
	}
	return b
}

// box: corner i has +x for bit 0, +y for bit 1, +z for bit 2.
func (b *Builder) box(centre, half Vec3, yaw float64) {
	var c [8]Vec3
	for i := range c {
		p := half
		for k := range p {
			if i>>k&1 == 0 {
				p[k] = -p[k]
			}
		}
		c[i] = exact.Add(centre, exact.RotateYaw(p, yaw))
	}
	b.quad(c[4], c[5], c[7], c[6]) // top
	b.quad(c[0], c[2], c[3], c[1]) // bottom
	b.quad(c[0], c[1], c[5], c[4]) // -y
	b.quad(c[2], c[6], c[7], c[3]) // +y
	b.quad(c[0], c[4], c[6], c[2]) // -x
	b.quad(c[1], c[3], c[7], c[5]) // +x
}

// Ramp adds a wedge. corner is its lowest corner at the foot; before the turn
// by yaw degrees about that corner it covers size[0] in x, size[1] in y and
// rises along +x from 0 to size[2].
func (b *Builder) Ramp(corner, size Vec3, yaw float64) *Builder {
	if !b.begin("ramp", []Vec3{corner}, size[:]) || !b.yawOK("ramp", yaw) {
		return b
	}
	at := func(x, y, z float64) Vec3 {
		return exact.Add(corner, exact.RotateYaw(Vec3{x, y, z}, yaw))
	}
	l, w, h := size[0], size[1], size[2]
	p0, p1, p2, p3 := at(0, 0, 0), at(l, 0, 0), at(l, w, 0), at(0, w, 0)
	q1, q2 := at(l, 0, h), at(l, w, h)
	b.quad(p0, q1, q2, p3) // slope
	b.quad(p0, p3, p2, p1) // bottom
	b.quad(p1, p2, q2, q1) // back
	b.tri(p0, p1, q1)
	b.tri(p3, q2, p2)
	return b
}

// Stairs adds count steps, each depth deep (x), width wide (y) and rise high,
// that rise along +x from corner before the turn by yaw degrees about it.
func (b *Builder) Stairs(corner Vec3, depth, width, rise float64, count int, yaw float64) *Builder {
	if !b.begin("stairs", []Vec3{corner}, []float64{depth, width, rise}) || !b.yawOK("stairs", yaw) {
		return b
	}
	if count < 1 || count > 1000 {
		b.err = fmt.Errorf("%w: shape %d, stairs: %d steps, must lie within 1..1000", ErrLevel, b.shapes-1, count)
		return b
	}
	at := func(i, j int, y float64) Vec3 {
		return exact.Add(corner, exact.RotateYaw(Vec3{float64(float64(i) * depth), y, float64(float64(j) * rise)}, yaw))
	}
	for i := range count {
		b.quad(at(i, i, 0), at(i, i+1, 0), at(i, i+1, width), at(i, i, width))             // riser
		b.quad(at(i, i+1, 0), at(i+1, i+1, 0), at(i+1, i+1, width), at(i, i+1, width))     // tread
		b.quad(at(i, 0, 0), at(i+1, 0, 0), at(i+1, i+1, 0), at(i, i+1, 0))                 // right side
		b.quad(at(i, 0, width), at(i, i+1, width), at(i+1, i+1, width), at(i+1, 0, width)) // left side
	}
	b.quad(at(count, 0, 0), at(count, 0, width), at(count, count, width), at(count, count, 0)) // back
	b.quad(at(0, 0, 0), at(0, 0, width), at(count, 0, width), at(count, 0, 0))                 // bottom
	return b
}

// Obstacle adds a moving box that World.AddLevel puts in with the level.
func (b *Builder) Obstacle(o components.Obstacle, m components.ObstacleMotion) *Builder {
	if !b.begin("obstacle", []Vec3{m.Origin, m.Travel}, o.HalfExtents[:]) || !b.yawOK("obstacle", m.Yaw) {
		return b
	}
	if err := checkObstacle(o, m); err != nil {
		b.err = fmt.Errorf("%w: shape %d: %w", ErrLevel, b.shapes-1, err)
		return b
	}
	for _, s := range b.obstacles {
		if s.Obstacle.ID == o.ID {
			b.err = fmt.Errorf("%w: shape %d, obstacle: id %d is taken", ErrLevel, b.shapes-1, o.ID)
			return b
		}
	}
	b.obstacles = append(b.obstacles, Scripted{o, m})
	return b
}

// Spawn adds a place for a character's feet.
func (b *Builder) Spawn(feet Vec3) *Builder {
	if b.begin("spawn", []Vec3{feet}, nil) {
		b.spawns = append(b.spawns, feet)
	}
	return b
}

// Build makes the level. The builder may go on afterwards. An empty level is
// legal: nothing is hit.
func (b *Builder) Build() (*Level, error) {
	if b.err != nil {
		return nil, b.err
	}
	if len(b.raw) > maxTriangles {
		return nil, fmt.Errorf("%w: %d triangles, at most %d", ErrLevel, len(b.raw), maxTriangles)
	}
	for _, t := range b.raw {
		for _, v := range t.v {
			for _, f := range v {
				// A corner can pass the border by its shape's size.
				if !(math.Abs(f) <= 4*MaxCoordinate) {
					return nil, fmt.Errorf("%w: shape %d: a corner lies at %v", ErrLevel, t.source, f)
				}
			}
		}
	}
	raw, degenerate, doubled := canonical(b.raw)
	l := &Level{mesh: newMesh(raw), source: make([]uint32, len(raw))}
	h := newHasher()
	h.word(uint64(len(raw)))
	for i, r := range raw {
		l.source[i] = r.source
		for _, v := range r.v {
			h.vec(v)
		}
		h.word(uint64(r.surface))
	}
	if len(raw) == 0 {
		l.mesh.min, l.mesh.max = Vec3{}, Vec3{}
	}
	l.obstacles = sortedScripted(b.obstacles)
	for _, s := range l.obstacles {
		hashScripted(&h, s)
	}
	l.spawns = append(l.spawns, b.spawns...)
	l.hash = uint64(h)
	l.stats = BuildStats{len(raw), degenerate, doubled, len(l.mesh.edges), len(l.mesh.verts)}
	l.tree.build(l.mesh)
	return l, nil
}
