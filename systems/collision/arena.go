package collision

import (
	"sync"

	"github.com/gaitnet/gait/components"
)

// The moving bases of the arena. A server that uses it gives out its own
// network IDs from FirstFreeID on.
const (
	ArenaLift      components.NetID = 1
	ArenaTurntable components.NetID = 2
	ArenaSlider    components.NetID = 3
)

// Arena is the built-in level: 60 x 60 m of floor inside walls, with boxes to
// jump on, ramps of 15, 30 and 40 degrees and one of 50 that is too steep,
// stairs of 20 and 40 cm and blocks of 50 cm that are too high, a low ceiling,
// corridors, a mound, a lift, a turning platform and a sliding one. Built
// once; every caller gets the same.
func Arena() *Level { return arena() }

var arena = sync.OnceValue(func() *Level {
	l, err := buildArena().Build()
	if err != nil {
		panic("collision.Arena: " + err.Error())
	}
	return l
})

const (
	arenaHalf   = 3000.0
	liftX       = 1500.0
	liftHalf    = 150.0
	liftGap     = 2.0
	liftTravel  = 400.0
	mound       = 2000.0 // its middle, in x and y
	moundHalf   = 600.0
	moundHeight = 160.0
	moundCells  = 24
)

func buildArena() *Builder {
	b := NewBuilder()
	arenaFloor(b)
	for _, s := range [2]float64{-1, 1} {
		b.Box(Vec3{s * (arenaHalf + 50), 0, 200}, Vec3{50, arenaHalf + 100, 200}, 0)
		b.Box(Vec3{0, s * (arenaHalf + 50), 200}, Vec3{arenaHalf, 50, 200}, 0)
	}
	// Ramps up to platforms of 2 m. The lengths are 200 / tan(angle).
	for i, length := range [4]float64{746.41, 346.41, 238.35, 167.82} {
		y := -2700 + float64(450*i)
		b.Ramp(Vec3{-2600, y, 0}, Vec3{length, 300, 200}, 0)
		b.Box(Vec3{-2600 + length + 200, y + 150, 100}, Vec3{200, 150, 100}, 0)
	}
	// Stairs: 20 and 40 cm can be climbed, 50 cannot.
	for i, s := range [3]struct {
		depth, rise float64
		count       int
	}{{30, 20, 10}, {40, 40, 5}, {60, 50, 4}} {
		y := 800 + float64(500*i)
		b.Stairs(Vec3{-2600, y, 0}, s.depth, 300, s.rise, s.count, 0)
		b.Box(Vec3{-2450 + float64(s.depth*float64(s.count)), y + 150, 100}, Vec3{150, 150, 100}, 0)
	}
	// Boxes to jump on, one of them turned: a jump reaches 90 cm.
	for i, h := range [5]float64{30, 44, 60, 80, 120} {
		b.Box(Vec3{float64(250*i - 500), -1200, h / 2}, Vec3{80, 80, h / 2}, float64(17*i))
	}
	// A ceiling to crouch under, 120 cm above the floor, between two walls.
	b.Box(Vec3{0, 1900, 150}, Vec3{400, 200, 30}, 0)
	b.Box(Vec3{0, 1680, 90}, Vec3{400, 20, 90}, 0)
	b.Box(Vec3{0, 2120, 90}, Vec3{400, 20, 90}, 0)
	// A corridor with a bend, 140 cm wide, and an oblique one.
	b.Box(Vec3{1100, -1590, 150}, Vec3{400, 20, 150}, 0)
	b.Box(Vec3{1020, -1770, 150}, Vec3{320, 20, 150}, 0)
	b.Box(Vec3{1480, -1970, 150}, Vec3{20, 400, 150}, 0)
	b.Box(Vec3{1320, -2080, 150}, Vec3{20, 290, 150}, 0)
	b.Box(Vec3{2200, -1500, 150}, Vec3{500, 20, 150}, 35)
	b.Box(Vec3{2300, -1620, 150}, Vec3{500, 20, 150}, 35)
	arenaMound(b)

	// The lift is a block in a shaft, flush with the floor below and with the
	// platform above; nothing ever gets under it.
	depth := (liftTravel + 30) / 2
	b.Box(Vec3{liftX + liftHalf + liftGap + 300, 0, liftTravel / 2}, Vec3{300, 300, liftTravel / 2}, 0)
	b.Obstacle(
		components.Obstacle{ID: ArenaLift, HalfExtents: Vec3{liftHalf, liftHalf, depth}},
		components.ObstacleMotion{Kind: components.MotionShuttle, Origin: Vec3{liftX, 0, -depth},
			Travel: Vec3{0, 0, liftTravel}, Period: 10 * components.Second, Dwell: 3 * components.Second})
	b.Obstacle(
		components.Obstacle{ID: ArenaTurntable, HalfExtents: Vec3{300, 300, 9.5}},
		components.ObstacleMotion{Origin: Vec3{-1500, 0, 10.5}, YawRate: 12})
	b.Obstacle(
		components.Obstacle{ID: ArenaSlider, HalfExtents: Vec3{200, 150, 9.5}},
		components.ObstacleMotion{Kind: components.MotionShuttle, Origin: Vec3{300, 1200, 10.5},
			Travel: Vec3{900, 0, 0}, Period: 16 * components.Second, Dwell: 2 * components.Second})

	// A square of spawns around the middle.
	for i := range 16 {
		x, y := float64(i%4*200-300), float64(i/4*200-300)
		b.Spawn(Vec3{x, y, 0})
	}
	return b
}

// arenaFloor leaves a shaft for the lift. The rectangles share their corners,
// so the floor is one flat surface.
func arenaFloor(b *Builder) {
	hole := liftHalf + liftGap
	xs := [4]float64{-arenaHalf, liftX - hole, liftX + hole, arenaHalf}
	ys := [4]float64{-arenaHalf, -hole, hole, arenaHalf}
	for i := range 3 {
		for k := range 3 {
			if i == 1 && k == 1 {
				continue
			}
			b.Quad(Vec3{xs[i], ys[k], 0}, Vec3{xs[i+1], ys[k], 0}, Vec3{xs[i+1], ys[k+1], 0}, Vec3{xs[i], ys[k+1], 0})
		}
	}
	c := [4]Vec3{{xs[1], ys[1], 0}, {xs[2], ys[1], 0}, {xs[2], ys[2], 0}, {xs[1], ys[2], 0}}
	bottom := -(liftTravel + 60)
	d := c
	for i := range d {
		d[i][2] = bottom
	}
	for i := range c {
		k := (i + 1) % 4
		b.Quad(c[i], c[k], d[k], d[i])
	}
	b.Quad(d[0], d[1], d[2], d[3])
}

// arenaMound is a gentle hill of many triangles, at most 24 degrees steep.
func arenaMound(b *Builder) {
	at := func(i, k int) Vec3 {
		u, v := float64(2*i-moundCells)/moundCells, float64(2*k-moundCells)/moundCells
		fu, fv := 1-float64(u*u), 1-float64(v*v)
		h := float64(moundHeight*float64(fu*fu)) * float64(fv*fv)
		return Vec3{mound + float64(u*moundHalf), mound + float64(v*moundHalf), h}
	}
	for i := range moundCells {
		for k := range moundCells {
			b.Quad(at(i, k), at(i+1, k), at(i+1, k+1), at(i, k+1))
		}
	}
}

// FirstFreeID is the least network ID that no scripted obstacle of the level
// has or is above: characters and other obstacles are numbered from there.
func (l *Level) FirstFreeID() components.NetID {
	if n := len(l.obstacles); n > 0 {
		return l.obstacles[n-1].Obstacle.ID + 1
	}
	return 1
}
