package movement

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// brakeStopSpeed is the speed under which braking stops dead, cm/s.
const brakeStopSpeed = 10

// CalcVelocity changes the character's velocity by the move's acceleration,
// friction (1/s), in a fluid its drag, and without input by braking
// (deceleration in cm/s²). Modes that keep the vertical out set it to zero
// before the call.
func (c *Context) CalcVelocity(st *StepState, dt, friction float64, fluid bool, deceleration float64) {
	st.S.Velocity = calcVelocity(st.S.Velocity, st.Accel, dt, friction, fluid, deceleration, c.MaxSpeed(st), st.P)
}

func calcVelocity(v, a Vec3, dt, friction float64, fluid bool, deceleration, maxSpeed float64, p *components.MovementProfile) Vec3 {
	pushing := a != Vec3{}
	over := isOver(v, maxSpeed)
	if !pushing || over {
		old := v
		bf := friction
		if p.UseSeparateBrakingFriction {
			bf = p.BrakingFriction
		}
		v = brake(v, dt, float64(bf*p.BrakingFrictionFactor), deceleration, p)
		if over && exact.LenSq(v) < float64(maxSpeed*maxSpeed) && exact.Dot(a, old) > 0 {
			v = exact.Scale(exact.SafeNormal(old), maxSpeed)
		}
	} else {
		k := float64(dt * friction)
		if k > 1 {
			k = 1
		}
		along := exact.Scale(exact.SafeNormal(a), exact.Len(v))
		v = exact.AddScaled(v, exact.Sub(v, along), -k)
	}
	if fluid {
		k := float64(dt * friction)
		if k > 1 {
			k = 1
		}
		v = exact.Scale(v, 1-k)
	}
	if pushing {
		limit := maxSpeed
		if isOver(v, maxSpeed) {
			limit = exact.Len(v)
		}
		v = exact.ClampLen(exact.AddScaled(v, a, dt), limit)
	}
	return v
}

// isOver tells whether v is over a top speed by more than 1 % of its square.
func isOver(v Vec3, maxSpeed float64) bool {
	return exact.LenSq(v) > float64(float64(maxSpeed*maxSpeed)*1.01)
}

// brake slows v by friction (1/s) and a constant deceleration against the
// initial direction, in sub-steps of at most BrakingSubStepTime and half the
// rest, so that the result depends little on the rate. It is 0 once the
// velocity reverses or falls under 10 cm/s.
func brake(v Vec3, dt, friction, deceleration float64, p *components.MovementProfile) Vec3 {
	if v == (Vec3{}) || (!(friction > 0) && !(deceleration > 0)) {
		return v
	}
	sub := p.BrakingSubStepTime
	if !(sub > 1.0/75) {
		sub = 1.0 / 75
	} else if sub > 1.0/20 {
		sub = 1.0 / 20
	}
	old := v
	against := exact.Scale(exact.SafeNormal(v), -deceleration)
	// Sub-steps are at least half of sub long, or the last one; the bound is for
	// spans that no game has.
	for i := 0; dt >= minTick && i < 1024; i++ {
		t := dt
		if friction > 0 && t > sub {
			t = sub
			if dt/2 < t {
				t = dt / 2
			}
		}
		dt -= t
		k := float64(friction * t)
		if k > 1 {
			k = 1
		}
		v = exact.AddScaled(exact.Scale(v, 1-k), against, t)
		if exact.Dot(v, old) <= 0 {
			return Vec3{}
		}
	}
	if exact.LenSq(v) <= brakeStopSpeed*brakeStopSpeed {
		return Vec3{}
	}
	return v
}
