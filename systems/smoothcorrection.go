package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
)

// SmoothCorrection takes in what the network said of an onlooker's proxy. The
// capsule is put where the server had it, with mode, gravity, stance, base and
// velocity, in one go and without smoothing: it is what hits are tested against.
// Only the mesh's offset takes up the jump, by the proxy's smoothing mode.
//
// A place relative to a base is resolved at NetClock.ObstacleTime; while the
// base is not known here the whole snapshot waits. The first snapshot after a
// spawn, and one with a new teleport count, are taken without any smoothing.
// Snapshots that are not newer than the last one are counted and dropped.
type SmoothCorrection struct {
	shared
	filter  arche.Filter
	ids     correctionIDs
	buffers *components.SnapshotBuffers
	times   *obstacleTimes
	clock   *ecs.Clock
	char    arche.ID
	log     *components.SimulatedCorrectionLog
}

type correctionIDs struct{ state, profile, rep, update, mesh, interp arche.ID }

func (s *SmoothCorrection) Phase() ecs.Phase { return ecs.Receive }
func (s *SmoothCorrection) Roles() ecs.Roles { return ecs.Client }

// After puts it behind the system that receives.
func (s *SmoothCorrection) After() []string { return []string{"ClientReceive"} }

// Initialize looks up components and resources.
func (s *SmoothCorrection) Initialize(w *arche.World) {
	s.kernel(w)
	s.ids = correctionIDs{
		ecs.RegisterComponent[components.MovementState](w), ecs.RegisterComponent[components.ProfileRef](w),
		ecs.RegisterComponent[components.ReplicatedMovement](w), ecs.RegisterComponent[components.NetUpdate](w),
		ecs.RegisterComponent[components.MeshSmoothing](w), ecs.RegisterComponent[components.VisualInterpolation](w),
	}
	m := arche.All(s.ids.state, s.ids.profile, s.ids.rep, s.ids.update, s.ids.mesh,
		ecs.RegisterComponent[components.SimulatedProxy](w))
	s.filter = &m
	s.buffers = ecs.Provide(w, func() *components.SnapshotBuffers { return new(components.SnapshotBuffers) })
	s.times = ecs.Provide(w, func() *obstacleTimes { return new(obstacleTimes) })
	s.clock = ecs.Need[ecs.Clock](w)
	s.char = ecs.RegisterComponent[components.Character](w)
	s.log = ecs.Maybe[components.SimulatedCorrectionLog](w)
}

// onlooked gathers what applying a snapshot to one proxy touches.
type onlooked struct {
	state   *components.MovementState
	rep     *components.ReplicatedMovement
	update  *components.NetUpdate
	mesh    *components.MeshSmoothing
	interp  *components.VisualInterpolation // nil for a proxy without it
	profile *components.MovementProfile     // nil while the revision is not known
}

// Update applies what arrived.
func (s *SmoothCorrection) Update(w *arche.World) {
	q := w.Query(s.filter)
	for q.Next() {
		u := column[components.NetUpdate](&q, s.ids.update)
		if !u.Received {
			continue
		}
		p := onlooked{
			state: column[components.MovementState](&q, s.ids.state), rep: column[components.ReplicatedMovement](&q, s.ids.rep),
			update: u, mesh: column[components.MeshSmoothing](&q, s.ids.mesh),
			profile: s.profiles.Get(*column[components.ProfileRef](&q, s.ids.profile)),
		}
		if q.Has(s.ids.interp) {
			p.interp = column[components.VisualInterpolation](&q, s.ids.interp)
		}
		before, mode, taken := p.state.Location, p.state.Mode, s.stats.Snapshots
		s.apply(&p)
		if debugBuild && s.debug != nil && s.debug.ShowSimulatedCorrections && s.log != nil && s.stats.Snapshots > taken && q.Has(s.char) {
			s.log.Push(components.CorrectionRecord{
				Time: s.clock.FrameNow, Character: column[components.Character](&q, s.char).ID,
				Wrong: before, Right: p.state.Location, WrongMode: mode, RightMode: p.state.Mode,
			})
		}
	}
}

func (s *SmoothCorrection) apply(p *onlooked) {
	u, rep := p.update, p.rep
	if !u.Spawned && rep.ServerTime <= p.mesh.LastCorrectionTime {
		s.stats.SnapshotsStale++
		*u = components.NetUpdate{JustTeleported: u.JustTeleported, AppliedTeleports: u.AppliedTeleports}
		return
	}
	at, yaw, turn, ok := s.resolve(rep)
	if !ok {
		return
	}
	jump := u.Spawned || rep.Teleports != u.AppliedTeleports
	if jump && !u.Spawned {
		s.stats.Teleports++
	}
	step := s.take(p, at, yaw, turn)
	s.stats.Snapshots++
	*u = components.NetUpdate{JustTeleported: true, AppliedTeleports: rep.Teleports}
	p.mesh.LastCorrectionTime = rep.ServerTime
	if p.interp != nil {
		if jump {
			p.interp.Valid = false
		} else {
			d := drawnBases{geo: s.ctx.Geometry, at: s.times.drawn(s.clock)}
			d.shift(p.interp, p.state)
		}
	}
	s.smooth(p, &step, jump)
}

// resolve is the snapshot's place and yaw in the world, and by how much its base
// has turned here against when the server gathered it; false while the base is
// not known.
func (s *SmoothCorrection) resolve(rep *components.ReplicatedMovement) (at components.Vec3, yaw, turn float64, ok bool) {
	if rep.Base == 0 {
		return rep.Location, rep.Rotation.Yaw, 0, true
	}
	pose, ok := s.ctx.Geometry.BasePose(rep.Base, s.net.ObstacleTime)
	if !ok {
		return at, 0, 0, false
	}
	if then, ok := s.ctx.Geometry.BasePose(rep.Base, rep.ServerTime); ok {
		turn = exact.NormalizeDeg(pose.Yaw - then.Yaw)
	}
	at = exact.Add(pose.Location, exact.RotateYaw(rep.Location, pose.Yaw))
	return at, exact.NormalizeDeg(pose.Yaw + rep.Rotation.Yaw), turn, true
}

// take puts the snapshot into the proxy's state and returns the capsule's step.
func (s *SmoothCorrection) take(p *onlooked, at components.Vec3, yaw, turn float64) capsuleStep {
	st, rep := p.state, p.rep
	step := capsuleStep{old: st.Location, oldYaw: st.Rotation.Yaw, oldHalf: st.HalfHeight, new: at, newYaw: yaw}
	if st.Base != 0 {
		// Its base may have got a new keyframe since: that moved it, not the
		// snapshot.
		if old, oldYaw, ok := movement.WorldFromBase(s.ctx.Geometry, st, s.net.ObstacleTime); ok {
			step.old, step.oldYaw = old, oldYaw
		}
	}
	st.Mode = rep.Mode
	if rep.GravityDir != (components.Vec3{}) {
		st.GravityDir = rep.GravityDir
	}
	if p.profile != nil {
		movement.SetCrouched(&s.ctx, st, p.profile, rep.Crouched)
	}
	step.newHalf = st.HalfHeight
	st.Base, st.BaseLocation, st.BaseYaw = rep.Base, components.Vec3{}, 0
	if rep.Base != 0 {
		st.BaseLocation, st.BaseYaw = rep.Location, rep.Rotation.Yaw
	}
	st.Location = at
	st.Rotation = components.Rotator{Pitch: rep.Rotation.Pitch, Yaw: yaw, Roll: rep.Rotation.Roll}
	st.Velocity = exact.RotateYaw(rep.Velocity, turn)
	return step
}

// smooth starts the mesh's way back, and the clocks of item 95: ServerTimeStamp
// is the time of the snapshot's place, ClientTimeStamp how far this world has
// carried it on.
func (s *SmoothCorrection) smooth(p *onlooked, step *capsuleStep, jump bool) {
	ms, stamp := p.mesh, p.rep.TransformTime
	var b *components.SnapshotBuffer
	if ms.Mode == components.SmoothBuffered {
		b = s.buffers.Get(ms.Buffer)
	}
	if b != nil {
		s.push(b, p, step, jump)
		ms.ServerTimeStamp, ms.ClientTimeStamp = stamp, stamp
		return
	}
	if jump || ms.Mode == components.SmoothDisabled {
		smoothFinish(ms)
	} else {
		smoothAccumulate(ms, step, s.set)
	}
	if ms.Mode != components.SmoothLinear {
		ms.LastCorrectionDelta = stamp - ms.ServerTimeStamp
		ms.ServerTimeStamp, ms.ClientTimeStamp = stamp, stamp
		return
	}
	if jump {
		// No interval is known yet; the usual one is.
		ms.LastCorrectionDelta = max(components.TicksFromSeconds(1/s.set.NetUpdateFrequency), 1)
		ms.ServerTimeStamp, ms.ClientTimeStamp = stamp, stamp
		return
	}
	linearUpdate(ms, stamp, s.set)
}

// push remembers the snapshot for buffered interpolation.
func (s *SmoothCorrection) push(b *components.SnapshotBuffer, p *onlooked, step *capsuleStep, jump bool) {
	rep, st := p.rep, p.state
	sample := components.BufferedSnapshot{
		Time: rep.TransformTime, Location: rep.Location, Yaw: rep.Rotation.Yaw, Base: rep.Base, Teleport: jump,
		Velocity: st.Velocity,
	}
	if rep.Base != 0 {
		// In the base's own axes, as the place is.
		sample.Velocity = exact.RotateYaw(st.Velocity, st.BaseYaw-st.Rotation.Yaw)
	}
	now := components.Ticks(0)
	if s.net.Synced {
		now = s.net.ServerNow
	}
	if rise := step.newHalf - step.oldHalf; rise != 0 {
		// The feet of the past stay where they were.
		for i := range b.N {
			b.Samples[i].Location[2] += rise
		}
	}
	d := drawnBases{geo: s.ctx.Geometry, at: s.times.drawn(s.clock)}
	d.push(b, p.mesh, &sample, now, s.set)
}

func (s *SmoothCorrection) Finalize(*arche.World) {}
