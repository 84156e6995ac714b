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
// those of the feet, since crouching moves the capsule's centre within a step,
// and relative to the base, so that a rider is drawn on its base wherever that is
// drawn.
//
// A listen server's remote players are left out: they move by their owners'
// steps and not by the server's, and their offset takes up every move already.

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
	s.clock = ecs.Need[ecs.Clock](w)
	s.set = ecs.Provide(w, func() *components.Settings { v := components.DefaultSettings(); return &v })
	s.state = ecs.RegisterComponent[components.MovementState](w)
	s.interp = ecs.RegisterComponent[components.VisualInterpolation](w)
	m := arche.All(s.state, s.interp).Without(ecs.RegisterComponent[components.ServerPrediction](w))
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
		v.PrevBase, v.PrevLocation, v.PrevYaw = recordedPlace(st)
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
		v.Base, v.Location, v.Yaw = recordedPlace(st)
		v.HalfHeight = st.HalfHeight
		if v.Base == v.PrevBase && !(exact.Dist(v.PrevLocation, v.Location) <= s.set.NoSmoothDistance) {
			v.Valid = false
		}
	}
}

// recordedPlace is the capsule's lowest point and its yaw, relative to its base
// where it has one.
func recordedPlace(st *components.MovementState) (base components.NetID, feet components.Vec3, yaw float64) {
	feet, yaw = st.Location, st.Rotation.Yaw
	if st.Base != 0 {
		feet, yaw = st.BaseLocation, st.BaseYaw
	}
	feet[2] -= st.HalfHeight
	return st.Base, feet, yaw
}

// interpolated is the capsule as it is drawn under a fixed tick. Where something
// outside the step moved the character (a game's teleport) it is drawn where it
// is now. at and yaw are the capsule; held tells that they are not the state's,
// because a correction waits for its replay.
func (d *drawnBases) interpolated(v *components.VisualInterpolation, st *components.MovementState, at components.Vec3, yaw, alpha float64, held bool) (components.Vec3, float64) {
	base, feet, feetYaw := recordedPlace(st)
	still := v.PrevBase == v.Base && v.PrevLocation == v.Location && v.PrevYaw == v.Yaw
	switch {
	case held && !v.Valid:
		return at, yaw
	case !held && (!v.Valid || v.Base != base || v.Location != feet || still):
		if base == 0 {
			return at, yaw // exactly
		}
		if there, thereYaw, ok := d.world(base, st.BaseLocation, feetYaw); ok {
			return there, thereYaw
		}
		return at, yaw
	}
	there, thereYaw, ok := d.between(v.PrevBase, v.Base, v.PrevLocation, v.Location, v.PrevYaw, v.Yaw, alpha)
	if !ok {
		return at, yaw
	}
	half := st.HalfHeight
	if held {
		half = v.HalfHeight // the state is that of an older move
	}
	there[2] += half
	return there, thereYaw
}

// shift moves what was recorded along with a capsule that the network moved
// between two steps: the drawn step stays the same one, at another place.
func (d *drawnBases) shift(v *components.VisualInterpolation, st *components.MovementState) {
	base, feet, yaw := recordedPlace(st)
	if base != v.Base || base != v.PrevBase {
		// Boarded or left: both ends first in terms of the new base.
		from, fromYaw, okFrom := d.world(v.PrevBase, v.PrevLocation, v.PrevYaw)
		to, toYaw, okTo := d.world(v.Base, v.Location, v.Yaw)
		if !okFrom || !okTo {
			v.Valid = false
			return
		}
		v.PrevLocation, v.PrevYaw, okFrom = d.relative(base, from, fromYaw)
		v.Location, v.Yaw, okTo = d.relative(base, to, toYaw)
		v.PrevBase, v.Base = base, base
		v.Valid = v.Valid && okFrom && okTo
	}
	v.PrevLocation = exact.Add(v.PrevLocation, exact.Sub(feet, v.Location))
	v.PrevYaw = exact.NormalizeDeg(v.PrevYaw + (yaw - v.Yaw))
	v.Location, v.Yaw = feet, yaw
}
