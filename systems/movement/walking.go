package movement

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
)

type walking struct{}

func (walking) ID() components.MovementMode { return components.ModeWalking }
func (walking) Name() string                { return "walking" }

// Step walks: velocity, along the floor, over steps, along walls, floor again.
func (walking) Step(c *Context, st *StepState, dt float64) {
	s, p := st.S, st.P
	if !st.FloorValid {
		c.takeFloor(st, c.findFloor(st))
	}
	if !st.Floor.Walkable {
		c.startFalling(st, dt)
		return
	}
	s.Velocity[2] = 0
	if !st.Proxy {
		c.CalcVelocity(st, dt, p.GroundFriction, false, p.BrakingDecelerationWalking)
	}
	way := exact.Scale(s.Velocity, dt)
	if exact.LenSq(way) < 1e-16 {
		return // the floor is known and holds
	}
	old, oldFloor := s.Location, st.Floor
	free, stepped := c.walkAlong(st, way)
	if stepped {
		c.takeFloor(st, st.Floor)
	} else {
		f := c.findFloor(st)
		if f.Walkable && falls(&f, &oldFloor, s.Location[2]-old[2], p) {
			f = Floor{}
		}
		if !f.Walkable && !c.mayLeave(st) {
			// The edge holds: back to where there was ground.
			s.Location, s.Velocity = old, Vec3{}
			st.Floor, st.FloorValid = oldFloor, true
			return
		}
		if p.CatchAir && !st.Proxy && c.catchesAir(st, &f, &oldFloor, way, dt) {
			return
		}
		c.takeFloor(st, f)
	}
	if !free && !st.Proxy {
		// Velocity is what was travelled.
		v := exact.Scale(exact.Sub(s.Location, old), 1/dt)
		v[2] = 0
		if exact.LenSq(v) < exact.LenSq(s.Velocity) {
			s.Velocity = v
		} else if l := exact.Len(s.Velocity); exact.LenSq(v) > 0 {
			s.Velocity = exact.ClampLen(v, l)
		}
	}
	if !st.Floor.Walkable {
		wanted, gone := exact.Len2(way), exact.Len2(exact.Sub(s.Location, old))
		left := 0.0
		if wanted > gone && wanted > 1e-6 {
			left = float64(dt * (1 - gone/wanted))
		}
		c.startFalling(st, left)
	}
}

// takeFloor adopts a floor: out of it where inside, the height adjusted, the
// base set.
func (c *Context) takeFloor(st *StepState, f Floor) {
	if f.Penetrating {
		if c.depenetrate(st) {
			f = c.findFloor(st)
		}
		if f.Penetrating {
			f.Walkable = true // stuck: it neither falls nor moves
			f.Normal = Vec3{0, 0, 1}
			f.Base = st.S.Base
			st.Floor, st.FloorValid = f, true
			return
		}
	}
	if f.Walkable {
		c.adjustHeight(st, &f)
		c.setBase(st, f.Base)
	}
	st.Floor, st.FloorValid = f, true
}

// startFalling leaves the ground; the unused seconds of the step are the fall's.
func (c *Context) startFalling(st *StepState, unused float64) {
	c.SetMode(st, components.ModeFalling)
	st.Unused = unused
}

// falls tells whether a floor lies more than a step below the one that was
// left, the way along a ramp taken into account.
func falls(f, old *Floor, moved float64, p *components.MovementProfile) bool {
	most := p.MaxStepHeight
	if most < maxFloorDist {
		most = maxFloorDist
	}
	return old.Point[2]+moved-f.Point[2] > most+1e-6
}

func (c *Context) mayLeave(st *StepState) bool {
	if st.Proxy {
		return true
	}
	if st.S.Crouched {
		return st.P.CanWalkOffLedgesWhenCrouching
	}
	return st.P.CanWalkOffLedges
}

// catchesAir leaves a floor that falls away faster than gravity, with the
// vertical velocity of the floor that was left.
func (c *Context) catchesAir(st *StepState, f, old *Floor, way Vec3, dt float64) bool {
	p := st.P
	drop := float64(float64(-p.GravityZ*p.GravityScale)*float64(dt*dt)) / 2
	if !f.Walkable || f.Dist-restFloorDist <= drop+0.1 || f.Dist <= maxFloorDist {
		return false
	}
	st.S.Velocity[2] = groundWay(way, old.Normal, true)[2] / dt
	c.SetMode(st, components.ModeFalling)
	return true
}

// groundWay leads a horizontal way along a floor of a normal. Its horizontal
// length is kept, or its whole length where maintain is off.
func groundWay(way, n Vec3, maintain bool) Vec3 {
	if !(n[2] > 1e-3) || n[2] >= 1 {
		return way
	}
	w := Vec3{way[0], way[1], -exact.Dot2(way, n) / n[2]}
	if maintain {
		return w
	}
	return exact.ClampLen(w, exact.Len2(way))
}

// walkAlong moves by a horizontal way along the floor. free: nothing was in the
// way. stepped: a step was climbed and st.Floor is the floor there.
func (c *Context) walkAlong(st *StepState, way Vec3) (free, stepped bool) {
	p := st.P
	normal := st.Floor.Normal
	f, hit := c.sweepMove(st, groundWay(way, normal, p.MaintainHorizontalGroundVelocity), 0)
	if hit.StartPenetrating {
		if !c.depenetrate(st) {
			return false, false
		}
		f, hit = c.sweepMove(st, groundWay(way, normal, p.MaintainHorizontalGroundVelocity), 0)
		if hit.StartPenetrating {
			return false, false
		}
	}
	free = !hit.Blocking
	rest := exact.Scale(way, 1-f)
	// On along another slope: a ramp's face, or the round contact with an edge.
	for i := 0; i < 2 && hit.Blocking && hit.Normal[2] >= p.WalkableFloorZ; i++ {
		if ok, _ := c.walkable(st, &hit); !ok {
			break
		}
		normal = hit.Normal
		f, hit = c.sweepMove(st, groundWay(rest, normal, p.MaintainHorizontalGroundVelocity), 0)
		free = !hit.Blocking
		rest = exact.Scale(rest, 1-f)
	}
	if !hit.Blocking || hit.StartPenetrating {
		return free, false
	}
	if c.stepUp(st, rest, &hit) {
		return true, true
	}
	c.slideFlat(st, rest, &hit, normal)
	return false, false
}

// canStepOn tells whether a surface lets itself be stepped onto.
func canStepOn(h *collision.Hit) bool { return h.Surface&collision.SurfaceNoStepUp == 0 }
