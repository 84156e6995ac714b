package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/collision"
	arche "github.com/mlange-42/arche/ecs"
)

const (
	// obstacleSlew is the most by which a client's obstacle time runs fast or
	// slow, as a share of the step.
	obstacleSlew = 20 // 1/20
	// obstacleSettle is the time in which a small difference is made up for.
	obstacleSettle = components.Second / 2
	// obstacleJump is the lag beyond which obstacle time jumps ahead, and the
	// lead beyond which it waits.
	obstacleJump = components.Second / 4
)

// Bases keeps NetClock.ObstacleTime, the time at which moving bases stand in this
// world, and writes the Pose of the entities that show them.
//
// Where the world's own clock is the server's, and as long as a client knows no
// server time, it is the world's time. A client's follows its estimate of the
// server's time: by the step, and at most a twentieth of it faster or slower. It
// takes that estimate over when there is a first one, and where it is more than
// 0.25 s late; more than 0.25 s early it stands still until the server's time has
// caught up. It never runs backwards while the clock stays Synced; when it is
// synced anew and was more than 0.25 s early, a new session has begun.
type Bases struct {
	net    *components.NetClock
	clock  *ecs.Clock
	geo    collision.Geometry
	filter arche.Filter
	ids    basesIDs
	times  *obstacleTimes
	synced bool
	known  bool
}

type basesIDs struct{ obstacle, pose arche.ID }

// obstacleTimes are the obstacle times of the last two steps, a resource.
type obstacleTimes struct{ previous, current components.Ticks }

func (s *Bases) Phase() ecs.Phase { return ecs.Bases }
func (s *Bases) Roles() ecs.Roles { return ecs.AllRoles }

// Initialize looks up components and resources.
func (s *Bases) Initialize(w *arche.World) {
	s.net = ecs.Provide(w, func() *components.NetClock { return &components.NetClock{SendScale: 1} })
	s.clock = ecs.Need[ecs.Clock](w)
	s.geo = ecs.Need[Geometry](w).Geometry
	s.times = ecs.Provide(w, func() *obstacleTimes { return new(obstacleTimes) })
	s.ids = basesIDs{ecs.RegisterComponent[components.Obstacle](w), ecs.RegisterComponent[components.Pose](w)}
	m := arche.All(s.ids.obstacle, s.ids.pose)
	s.filter = &m
}

// Update advances the obstacle time by a step and places the obstacles at it.
func (s *Bases) Update(w *arche.World) {
	before := s.net.ObstacleTime
	jumped := s.advance()
	s.times.previous, s.times.current = before, s.net.ObstacleTime
	if jumped {
		s.times.previous = s.net.ObstacleTime
	}
	writePoses(w, s.filter, &s.ids, s.geo, s.net.ObstacleTime)
}

// advance moves the obstacle time on, and tells whether it jumped.
func (s *Bases) advance() bool {
	n, dt := s.net, s.clock.Dt
	if n.Authority {
		n.ServerNow = s.clock.Now
		n.ObstacleTime = s.clock.Now
		return false
	}
	was := s.synced
	s.synced = n.Synced
	if !n.Synced {
		if s.known {
			n.ObstacleTime += dt // the last estimate, carried on
			return false
		}
		n.ObstacleTime = s.clock.Now
		return false
	}
	known := s.known
	s.known = true
	// ServerNow is that of the frame; a fixed step lies behind it by what is
	// not simulated yet.
	target := n.ServerNow
	if s.clock.Fixed {
		target -= max(s.clock.FrameNow-s.clock.DroppedTime-s.clock.Now, 0)
	}
	off := target - (n.ObstacleTime + dt)
	switch {
	case !known, off > obstacleJump, !was && off < -obstacleJump:
		n.ObstacleTime = target
		return true
	case off < -obstacleJump:
		return false
	}
	limit := dt / obstacleSlew
	n.ObstacleTime += dt + min(max(off*dt/obstacleSettle, -limit), limit)
	return false
}

func (s *Bases) Finalize(*arche.World) {}

func writePoses(w *arche.World, f arche.Filter, ids *basesIDs, geo collision.Geometry, at components.Ticks) {
	q := w.Query(f)
	for q.Next() {
		if pose, ok := geo.BasePose(column[components.Obstacle](&q, ids.obstacle).ID, at); ok {
			*column[components.Pose](&q, ids.pose) = pose
		}
	}
}

// ObstaclePoses places obstacles for drawing under a fixed tick: between the last
// two steps by the clock's alpha, as their riders are. Under a variable one they
// already stand where they are drawn.
type ObstaclePoses struct {
	clock  *ecs.Clock
	geo    collision.Geometry
	filter arche.Filter
	ids    basesIDs
	times  *obstacleTimes
}

func (s *ObstaclePoses) Phase() ecs.Phase { return ecs.Visual }
func (s *ObstaclePoses) Roles() ecs.Roles { return ecs.Client | ecs.ListenServer | ecs.Standalone }

// Initialize looks up components and resources.
func (s *ObstaclePoses) Initialize(w *arche.World) {
	s.clock = ecs.Need[ecs.Clock](w)
	s.geo = ecs.Need[Geometry](w).Geometry
	s.times = ecs.Provide(w, func() *obstacleTimes { return new(obstacleTimes) })
	s.ids = basesIDs{ecs.RegisterComponent[components.Obstacle](w), ecs.RegisterComponent[components.Pose](w)}
	m := arche.All(s.ids.obstacle, s.ids.pose)
	s.filter = &m
}

// Update writes the poses.
func (s *ObstaclePoses) Update(w *arche.World) {
	if s.clock.Fixed && s.clock.Step > 0 {
		writePoses(w, s.filter, &s.ids, s.geo, s.times.drawn(s.clock))
	}
}

func (s *ObstaclePoses) Finalize(*arche.World) {}

// drawn is the obstacle time that a frame shows.
func (t *obstacleTimes) drawn(c *ecs.Clock) components.Ticks {
	if !c.Fixed {
		return t.current
	}
	return t.previous + components.Ticks(exact.Round(float64(t.current-t.previous)*c.Alpha))
}

// drawnBases places what is relative to a base on that base as it is drawn: one
// time for all of a frame, so that a rider never slips on its base.
type drawnBases struct {
	geo collision.Geometry
	at  components.Ticks
}

// world carries a base-relative place and yaw to the world; false for an unknown
// base. Base 0 is the world.
func (d *drawnBases) world(base components.NetID, place components.Vec3, yaw float64) (components.Vec3, float64, bool) {
	if base == 0 {
		return place, yaw, true
	}
	pose, ok := d.geo.BasePose(base, d.at)
	if !ok {
		return place, yaw, false
	}
	return exact.Add(pose.Location, exact.RotateYaw(place, pose.Yaw)), exact.NormalizeDeg(pose.Yaw + yaw), true
}

// relative is the inverse of world.
func (d *drawnBases) relative(base components.NetID, place components.Vec3, yaw float64) (components.Vec3, float64, bool) {
	if base == 0 {
		return place, yaw, true
	}
	pose, ok := d.geo.BasePose(base, d.at)
	if !ok {
		return place, yaw, false
	}
	return exact.RotateYaw(exact.Sub(place, pose.Location), -pose.Yaw), exact.NormalizeDeg(yaw - pose.Yaw), true
}

// between is the place at a share f of the way: in the axes of the base where
// both are on the same one, else between where the two bases are drawn.
func (d *drawnBases) between(base, toBase components.NetID, from, to components.Vec3, fromYaw, toYaw, f float64) (components.Vec3, float64, bool) {
	if base == toBase {
		return d.world(base, exact.Lerp(from, to, f), lerpYaw(fromYaw, toYaw, f))
	}
	a, aYaw, okA := d.world(base, from, fromYaw)
	z, zYaw, okZ := d.world(toBase, to, toYaw)
	switch {
	case !okA:
		return z, zYaw, okZ
	case !okZ:
		return a, aYaw, okA
	}
	return exact.Lerp(a, z, f), lerpYaw(aYaw, zYaw, f), true
}

// lerpYaw turns the short way.
func lerpYaw(from, to, f float64) float64 {
	return exact.NormalizeDeg(from + float64(exact.NormalizeDeg(to-from)*f))
}
