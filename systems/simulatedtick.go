package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
)

// MaxProxyExtrapolation is how long a proxy is carried on after its last
// snapshot, unless SimulatedTick.MaxExtrapolation says otherwise: half a second
// is five lost snapshots at 10 Hz, and 3 m at a run.
const MaxProxyExtrapolation = components.Second / 2

// SimulatedTick carries onlookers' proxies on between two snapshots
// (SimulateMovement): without input, saved moves or PerformMovement, by the
// replicated velocity alone, along floors and walls and down through the air.
// One that stands on the ground stays. One on a base rides along with it, once
// a step. After a step in which a snapshot was applied, and with
// SkipProxyPredictionOnNetUpdate set, it is left where the snapshot has it.
type SimulatedTick struct {
	shared
	// MaxExtrapolation bounds how long a proxy goes on without news; its base
	// still carries it then. Zero takes MaxProxyExtrapolation.
	MaxExtrapolation components.Ticks

	filter arche.Filter
	ids    simulatedIDs
	clock  *ecs.Clock
}

type simulatedIDs struct{ char, state, profile, rep, update, mesh arche.ID }

func (s *SimulatedTick) Phase() ecs.Phase { return ecs.Simulate }
func (s *SimulatedTick) Roles() ecs.Roles { return ecs.Client }

// Initialize looks up components and resources.
func (s *SimulatedTick) Initialize(w *arche.World) {
	s.kernel(w)
	if s.MaxExtrapolation <= 0 {
		s.MaxExtrapolation = MaxProxyExtrapolation
	}
	s.ids = simulatedIDs{
		ecs.RegisterComponent[components.Character](w), ecs.RegisterComponent[components.MovementState](w),
		ecs.RegisterComponent[components.ProfileRef](w), ecs.RegisterComponent[components.ReplicatedMovement](w),
		ecs.RegisterComponent[components.NetUpdate](w), ecs.RegisterComponent[components.MeshSmoothing](w),
	}
	m := arche.All(s.ids.char, s.ids.state, s.ids.profile, s.ids.rep, s.ids.update, s.ids.mesh,
		ecs.RegisterComponent[components.SimulatedProxy](w))
	s.filter = &m
	s.clock = ecs.Need[ecs.Clock](w)
}

// Update makes one step of each proxy.
func (s *SimulatedTick) Update(w *arche.World) {
	at := s.net.ObstacleTime
	q := w.Query(s.filter)
	for q.Next() {
		u, ms := column[components.NetUpdate](&q, s.ids.update), column[components.MeshSmoothing](&q, s.ids.mesh)
		st := column[components.MovementState](&q, s.ids.state)
		dt := s.span(u, ms)
		profile := s.profiles.Get(*column[components.ProfileRef](&q, s.ids.profile))
		if dt > 0 && profile != nil {
			s.ctx.Scene = column[components.Character](&q, s.ids.char).Scene
			s.ctx.SimulateProxy(st, dt, at, profile)
		} else {
			s.ride(st, at)
		}
		updateProxyAcceleration(st, column[components.ReplicatedMovement](&q, s.ids.rep))
	}
}

// span is how much of the step the proxy may be carried on for.
func (s *SimulatedTick) span(u *components.NetUpdate, ms *components.MeshSmoothing) components.Ticks {
	left := s.MaxExtrapolation - (ms.ClientTimeStamp - ms.ServerTimeStamp)
	if ms.Mode != components.SmoothLinear { // whose clock MeshSmooth advances
		ms.ClientTimeStamp += s.clock.Dt
	}
	if u.JustTeleported {
		u.JustTeleported = false
		if s.set.SkipProxyPredictionOnNetUpdate {
			return 0
		}
	}
	return min(s.clock.Dt, left)
}

// ride takes a proxy along with its base, without moving it on that.
func (s *SimulatedTick) ride(st *components.MovementState, at components.Ticks) {
	if to, yaw, ok := movement.WorldFromBase(s.ctx.Geometry, st, at); ok {
		st.Velocity = exact.RotateYaw(st.Velocity, exact.NormalizeDeg(yaw-st.Rotation.Yaw))
		st.Location, st.Rotation.Yaw = to, yaw
	}
}

// updateProxyAcceleration is the replicated acceleration, or, where none is
// sent, the unit vector of the velocity: animations read its direction alone.
func updateProxyAcceleration(st *components.MovementState, rep *components.ReplicatedMovement) {
	if rep.HasAcceleration {
		st.Acceleration = rep.Acceleration
		return
	}
	st.Acceleration = exact.SafeNormal(st.Velocity)
}

func (s *SimulatedTick) Finalize(*arche.World) {}
