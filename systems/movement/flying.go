package movement

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

type flying struct{}

func (flying) ID() components.MovementMode { return components.ModeFlying }
func (flying) Name() string                { return "flying" }

// Step flies: half the fluid's friction, no gravity, steps and slides.
func (flying) Step(c *Context, st *StepState, dt float64) {
	if !st.Proxy {
		c.CalcVelocity(st, dt, float64(0.5*st.P.FluidFriction), true, st.P.BrakingDecelerationFlying)
	}
	c.glide(st, dt)
}

type swimming struct{}

func (swimming) ID() components.MovementMode { return components.ModeSwimming }
func (swimming) Name() string                { return "swimming" }

// Step swims, wholly immersed: the geometry knows no water yet.
func (swimming) Step(c *Context, st *StepState, dt float64) {
	s, p := st.S, st.P
	if !st.Proxy {
		c.CalcVelocity(st, dt, float64(0.5*p.FluidFriction), true, p.BrakingDecelerationSwimming)
		s.Velocity[2] += float64(float64(float64(p.GravityZ*p.GravityScale)*(1-p.Buoyancy)) * dt)
	}
	c.glide(st, dt)
}

// glide moves by the velocity in three dimensions, over steps and along what
// is in the way.
func (c *Context) glide(st *StepState, dt float64) {
	s := st.S
	st.FloorValid, st.Floor = false, Floor{}
	way := exact.Scale(s.Velocity, dt)
	f, hit := c.sweepMove(st, way, 0)
	if hit.StartPenetrating {
		if !c.depenetrate(st) {
			return
		}
		f, hit = c.sweepMove(st, way, 0)
	}
	if !hit.Blocking || hit.StartPenetrating {
		return
	}
	rest := exact.Scale(way, 1-f)
	steep := hit.Normal[2] < 0.2 && hit.Normal[2] > -0.2
	level := float64(rest[2]*rest[2]) < float64(0.25*exact.LenSq(rest))
	if steep && level && c.stepUp(st, rest, &hit) {
		return
	}
	c.slide3(st, rest, &hit)
}
