package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	arche "github.com/mlange-42/arche/ecs"
)

// Under a fixed tick a frame falls between two steps. VisualBegin and VisualEnd
// record where each character stood at the start of the last step and at its
// end, and MeshSmooth draws between them with the clock's alpha: in each frame
// the mesh moves by velocity times that frame's own length, whatever the
// tick. Nothing that is simulated reads any of it.
//
// The start is recorded after Replay: what a correction moved is the smoothing
// offset's matter, and the step is then drawn from where it began. Places are
// those of the feet, since crouching moves the capsule's centre within a step.

// VisualBegin records each drawn character's place at the start of a step.
type VisualBegin struct{ visualRecord }

// VisualEnd records each drawn character's place at the end of a step.
type VisualEnd struct{ visualRecord }

type visualRecord struct {
	clock         *ecs.Clock
	set           *components.Settings
	filter        arche.Filter
	state, interp arche.ID
}

func (s *visualRecord) Roles() ecs.Roles { return ecs.Client | ecs.ListenServer | ecs.Standalone }

// Initialize looks up components and resources.
func (s *visualRecord) Initialize(w *arche.World) {
	s.clock = Need[ecs.Clock](w)
	s.set = Provide(w, func() *components.Settings { v := components.DefaultSettings(); return &v })
	s.state = ecs.RegisterComponent[components.MovementState](w)
	s.interp = ecs.RegisterComponent[components.VisualInterpolation](w)
	m := arche.All(s.state, s.interp)
	s.filter = &m
}

func (s *visualRecord) Finalize(*arche.World) {}

func (s *VisualBegin) Phase() ecs.Phase { return ecs.Replay }

// After puts it behind the replay.
func (s *VisualBegin) After() []string { return []string{"Replay"} }

// Update records the starts, under a fixed tick.
func (s *VisualBegin) Update(w *arche.World) {
	if !s.clock.Fixed {
		return
	}
	q := w.Query(s.filter)
	for q.Next() {
		st, v := column[components.MovementState](&q, s.state), column[components.VisualInterpolation](&q, s.interp)
		v.PrevLocation, v.PrevYaw, v.PrevBase = feetOf(st), st.Rotation.Yaw, st.Base
		v.Valid = true
	}
}

func (s *VisualEnd) Phase() ecs.Phase { return ecs.Gather }

// Update records the ends, under a fixed tick. A step longer than
// NoSmoothDistance was a teleport: nothing is drawn within it.
func (s *VisualEnd) Update(w *arche.World) {
	if !s.clock.Fixed {
		return
	}
	q := w.Query(s.filter)
	for q.Next() {
		st, v := column[components.MovementState](&q, s.state), column[components.VisualInterpolation](&q, s.interp)
		v.Location, v.Yaw, v.Base = feetOf(st), st.Rotation.Yaw, st.Base
		v.Valid = v.Valid && exact.Dist(v.PrevLocation, v.Location) <= s.set.NoSmoothDistance
	}
}

// feetOf is the lowest point of the capsule.
func feetOf(st *components.MovementState) components.Vec3 {
	f := st.Location
	f[2] -= st.HalfHeight
	return f
}

// interpolated is the capsule as it is drawn under a fixed tick. Where something
// outside the step moved the character (a game's teleport) it is drawn where it
// is now. at and yaw are the capsule; held tells that they are not the state's,
// because a correction waits for its replay.
func interpolated(v *components.VisualInterpolation, st *components.MovementState, at components.Vec3, yaw, alpha float64, held bool) (components.Vec3, float64) {
	if !v.Valid {
		return at, yaw
	}
	if !held {
		if v.Location != feetOf(st) || (v.Location == v.PrevLocation && v.Yaw == v.PrevYaw) {
			return at, yaw // exactly
		}
	}
	if v.PrevLocation != v.Location || held {
		at = exact.Lerp(v.PrevLocation, v.Location, alpha)
		at[2] += st.HalfHeight
	}
	return at, exact.NormalizeDeg(v.PrevYaw + float64(exact.NormalizeDeg(v.Yaw-v.PrevYaw)*alpha))
}

// shiftRecorded moves what was recorded along with a capsule that the network
// moved between two steps.
func shiftRecorded(v *components.VisualInterpolation, st *components.MovementState, c *capsuleStep) {
	d := c.atFeet()
	v.PrevLocation = exact.Sub(v.PrevLocation, d)
	v.PrevYaw = exact.NormalizeDeg(v.PrevYaw + (c.newYaw - c.oldYaw))
	v.Location, v.Yaw = feetOf(st), st.Rotation.Yaw
}
