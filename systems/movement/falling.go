package movement

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
)

type falling struct{}

func (falling) ID() components.MovementMode { return components.ModeFalling }
func (falling) Name() string                { return "falling" }

// maxFallSegments bounds the parts of one step: the end of a held jump, the
// apex, contacts.
const maxFallSegments = 8

// Step falls by dt: the lateral velocity once, then the exact parabola in
// parts that end at the end of a held jump, at the apex and at contacts.
func (falling) Step(c *Context, st *StepState, dt float64) {
	s := st.S
	var pushed Vec3
	if !st.Proxy {
		pushed = c.airControl(st, dt)
	}
	start := s.Location
	var planes [4]Vec3
	n := 0
	pushedOut := false
	for i := 0; i < maxFallSegments && dt >= minTick; i++ {
		t, rise, vz := fallSegment(st, dt)
		want := Vec3{float64(s.Velocity[0] * t), float64(s.Velocity[1] * t), rise}
		way := want
		if n > 0 {
			way = clip(want, planes[:n])
			for _, m := range planes[:n] {
				way = noBoost(way, want, m, st.P.WalkableFloorZ)
			}
		}
		f, hit := c.sweepMove(st, way, 0)
		if hit.StartPenetrating {
			if !pushedOut && c.depenetrate(st) {
				pushedOut = true
				continue
			}
			// As a contact at once: the rest goes along it.
			f = 0
		}
		used := float64(t * f)
		if !hit.Blocking {
			s.Velocity[2] = vz
			dt -= t
			spendHold(st, t)
			if n > 0 {
				s.Velocity = c.clipFall(st, planes[:n])
			}
			continue
		}
		// The velocity at the moment of the contact.
		s.Velocity[2] += float64((vz - s.Velocity[2]) * f)
		dt -= used
		spendHold(st, used)
		impact := s.Velocity
		if c.lands(st, &hit) {
			c.land(st, st.Floor, impact, dt)
			return
		}
		if n == len(planes) {
			s.Velocity = Vec3{}
			break
		}
		planes[n] = hit.Normal
		n++
		if into := exact.Dot2(pushed, hit.Normal); into < 0 {
			// No air control into the wall.
			w := exact.SafeNormal2(hit.Normal)
			if k := exact.Dot2(pushed, w); k < 0 {
				s.Velocity = exact.AddScaled(s.Velocity, w, -k)
				pushed = exact.AddScaled(pushed, w, -k)
			}
		}
		if hit.Normal[2] < -0.01 && s.Velocity[2] > 0 {
			endHold(st)
		}
		s.Velocity = c.clipFall(st, planes[:n])
	}
	if n > 0 {
		c.restInDitch(st, planes[:n], start)
	}
}

// clipFall takes from the velocity what goes into the planes, without being led
// up a steep face.
func (c *Context) clipFall(st *StepState, planes []Vec3) Vec3 {
	v := clip(st.S.Velocity, planes)
	for _, m := range planes {
		v = noBoost(v, st.S.Velocity, m, st.P.WalkableFloorZ)
	}
	return v
}

// restInDitch lands a character that steep faces hold up from several sides.
func (c *Context) restInDitch(st *StepState, planes []Vec3, start Vec3) {
	s := st.S
	up := false
	for _, n := range planes {
		up = up || n[2] > 0.02
	}
	if !up || s.Mode != components.ModeFalling || s.Velocity[2] > 0 {
		return
	}
	if d := s.Location[2] - start[2]; d > 0.01 || d < -0.01 {
		return
	}
	if f := c.findFloor(st); f.Walkable {
		c.land(st, f, s.Velocity, 0)
	}
}

// airControl changes the lateral velocity by the input and returns the change.
func (c *Context) airControl(st *StepState, dt float64) Vec3 {
	s, p := st.S, st.P
	share := p.AirControl
	v := Vec3{s.Velocity[0], s.Velocity[1], 0}
	if share != 0 && exact.LenSq(v) < float64(p.AirControlBoostVelocityThreshold*p.AirControlBoostVelocityThreshold) {
		share = float64(share * p.AirControlBoostMultiplier)
		if share > 1 {
			share = 1
		}
	}
	a := exact.Scale(Vec3{st.Accel[0], st.Accel[1], 0}, share)
	w := calcVelocity(v, a, dt, p.FallingLateralFriction, false, p.BrakingDecelerationFalling, c.MaxSpeed(st), p)
	s.Velocity[0], s.Velocity[1] = w[0], w[1]
	return exact.Sub(w, v)
}

// fallSegment is the next part of a fall within dt: its span, the vertical way
// and the vertical velocity at its end.
func fallSegment(st *StepState, dt float64) (t, rise, vz float64) {
	s, p := st.S, st.P
	v0 := s.Velocity[2]
	if st.HoldLeft > 0 {
		t = st.HoldLeft
		if !p.ApplyGravityWhileJumping || t > dt {
			t = dt // without it the hold's last step has no gravity at all
		}
		return t, float64(v0 * t), v0
	}
	g := float64(p.GravityZ * p.GravityScale)
	t = dt
	if v0 > 0 && g < 0 {
		if apex := v0 / -g; apex < t-minTick {
			return apex, float64(v0*apex) / 2, 0
		}
	}
	vz = v0 + float64(g*t)
	most := p.TerminalVelocity
	if vz >= -most {
		return t, float64((v0+vz)*t) / 2, vz
	}
	if v0 <= -most || !(g < 0) {
		return t, float64(-most * t), -most
	}
	until := (-most - v0) / g
	return t, float64((v0-most)*until)/2 - float64(most*(t-until)), -most
}

// spendHold takes simulated seconds off the hold.
func spendHold(st *StepState, t float64) {
	if st.HoldLeft > 0 {
		st.HoldLeft -= t
		if st.HoldLeft < minTick {
			st.HoldLeft = 0
		}
	}
}

// lands tells whether a contact of the fall is ground: under the lower
// hemisphere, walkable, within the edge tolerance; and the floor found there
// must agree, so that nobody lands and falls in turn.
func (c *Context) lands(st *StepState, h *collision.Hit) bool {
	s := st.S
	if h.StartPenetrating || h.Point[2] > s.Location[2]-s.HalfHeight+s.Radius || !(h.Normal[2] > 1e-3) || !withinEdge(s, h.Point) {
		return false
	}
	if ok, _ := c.walkable(st, h); !ok {
		return false
	}
	st.Floor = c.findFloor(st)
	return st.Floor.Walkable
}

// land puts the character on a floor; the unused seconds are walked.
func (c *Context) land(st *StepState, f Floor, impact Vec3, unused float64) {
	s := st.S
	s.JumpCount = 0
	st.HoldLeft = 0
	c.SetMode(st, components.ModeWalking)
	c.emit(EventLanded, st, components.ModeFalling, exact.Add(impact, st.Impart))
	c.board(st, f, unused)
	st.Unused = unused
}
