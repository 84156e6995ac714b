package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/go-gl/mathgl/mgl32"
	arche "github.com/mlange-42/arche/ecs"
)

// MeshSmooth brings each mesh a frame nearer to its capsule (SmoothClientPosition)
// and writes MeshTransform, where it is drawn: the capsule, between the last two
// steps under a fixed tick, plus the smoothing offset. Capsules, velocities and
// modes are only read.
//
// Owners and onlookers' proxies take Settings.SmoothLocationTime and
// SmoothRotationTime, a listen server's remote players the Listen ones; a
// character that stands still takes half of the former. See smoothing.go and
// buffered.go for the laws.
type MeshSmooth struct {
	set     *components.Settings
	net     *components.NetClock
	clock   *ecs.Clock
	buffers *components.SnapshotBuffers
	times   *obstacleTimes
	geo     collision.Geometry
	tables  *ecs.Tables
	ids     meshIDs
}

type meshIDs struct {
	state, mesh, transform, interp, pred arche.ID
	simulated, authority                 arche.ID
}

func (s *MeshSmooth) Phase() ecs.Phase { return ecs.Visual }
func (s *MeshSmooth) Roles() ecs.Roles { return ecs.Client | ecs.ListenServer | ecs.Standalone }

// Initialize looks up components and resources.
func (s *MeshSmooth) Initialize(w *arche.World) {
	s.set = ecs.Provide(w, func() *components.Settings { v := components.DefaultSettings(); return &v })
	s.net = ecs.Provide(w, func() *components.NetClock { return &components.NetClock{SendScale: 1} })
	s.clock = ecs.Need[ecs.Clock](w)
	s.buffers = ecs.Provide(w, func() *components.SnapshotBuffers { return new(components.SnapshotBuffers) })
	s.times = ecs.Provide(w, func() *obstacleTimes { return new(obstacleTimes) })
	s.geo = ecs.Need[Geometry](w).Geometry
	s.ids = meshIDs{
		ecs.RegisterComponent[components.MovementState](w), ecs.RegisterComponent[components.MeshSmoothing](w),
		ecs.RegisterComponent[components.MeshTransform](w), ecs.RegisterComponent[components.VisualInterpolation](w),
		ecs.RegisterComponent[components.ClientPrediction](w),
		ecs.RegisterComponent[components.SimulatedProxy](w), ecs.RegisterComponent[components.Authority](w),
	}
	s.tables = ecs.NewTables(w, arche.All(s.ids.state, s.ids.mesh, s.ids.transform))
}

// Update draws every mesh.
func (s *MeshSmooth) Update(*arche.World) {
	dt := s.clock.FrameDt
	own := exponentialFactors(dt, s.set.SmoothLocationTime, s.set.SmoothRotationTime)
	listen := exponentialFactors(dt, s.set.ListenSmoothLocationTime, s.set.ListenSmoothRotationTime)
	t := s.tables
	for t.Open(); t.Next(); {
		c := meshColumns{
			state:     ecs.ColumnOf[components.MovementState](t, s.ids.state),
			mesh:      ecs.ColumnOf[components.MeshSmoothing](t, s.ids.mesh),
			transform: ecs.ColumnOf[components.MeshTransform](t, s.ids.transform),
			proxies:   t.Has(s.ids.simulated),
			authority: t.Has(s.ids.authority),
		}
		if t.Has(s.ids.interp) {
			c.interp = ecs.ColumnOf[components.VisualInterpolation](t, s.ids.interp)
		}
		if t.Has(s.ids.pred) {
			c.pred = ecs.ColumnOf[components.ClientPrediction](t, s.ids.pred)
		}
		k := &own
		if c.authority {
			k = &listen
		}
		s.decay(&c, k)
		s.place(&c, k)
	}
}

// meshColumns are one table's columns; interp and pred are nil where it has none.
type meshColumns struct {
	state              []components.MovementState
	mesh               []components.MeshSmoothing
	transform          []components.MeshTransform
	interp             []components.VisualInterpolation
	pred               []components.ClientPrediction
	proxies, authority bool
}

// decay makes a frame of each offset's law.
func (s *MeshSmooth) decay(c *meshColumns, k *smoothFactors) {
	for i := range c.mesh {
		ms := &c.mesh[i]
		switch {
		case ms.Mode == components.SmoothLinear && !c.authority:
			smoothLinear(ms, s.clock.FrameDt)
		case ms.Complete:
		case ms.Mode == components.SmoothDisabled:
			smoothFinish(ms)
		case ms.Mode == components.SmoothBuffered && c.proxies && ms.Buffer != 0:
			// Its offset follows from where it is drawn.
		case c.state[i].Velocity == components.Vec3{}:
			smoothExponential(ms, k.standing, k.yaw)
		default:
			smoothExponential(ms, k.moving, k.yaw)
		}
	}
}

// place writes where each mesh is drawn.
func (s *MeshSmooth) place(c *meshColumns, k *smoothFactors) {
	fixed := s.clock.Fixed && c.interp != nil
	d := drawnBases{geo: s.geo, at: s.times.drawn(s.clock)}
	for i := range c.mesh {
		st, ms, out := &c.state[i], &c.mesh[i], &c.transform[i]
		at, yaw := st.Location, st.Rotation.Yaw
		held := c.pred != nil && c.pred[i].UpdatePosition
		if held {
			// A correction waits for its replay: no frame shows it before.
			at, yaw = c.pred[i].Before, c.pred[i].BeforeYaw
		}
		if fixed {
			at, yaw = d.interpolated(&c.interp[i], st, at, yaw, s.clock.Alpha, held)
		}
		out.Rotation, out.Valid = st.Rotation, true
		if ms.Mode == components.SmoothBuffered && c.proxies {
			if b := s.buffers.Get(ms.Buffer); b != nil && s.buffered(&d, b, ms, out, at, yaw, k) {
				continue
			}
		}
		if ms.Complete {
			out.Location, out.Rotation.Yaw = at, yaw
			continue
		}
		for j, o := range ms.TranslationOffset {
			out.Location[j] = at[j] + float64(o)
		}
		out.Rotation.Yaw = exact.NormalizeDeg(yaw + float64(ms.RotationOffset))
	}
}

// buffered draws one proxy from its snapshots, and keeps the offset in step so
// that another mode can take over from it.
func (s *MeshSmooth) buffered(d *drawnBases, b *components.SnapshotBuffer, ms *components.MeshSmoothing, out *components.MeshTransform, capsule components.Vec3, capsuleYaw float64, k *smoothFactors) bool {
	now := components.Ticks(0)
	if s.net.Synced {
		now = s.net.ServerNow
	}
	d.advance(b, ms, s.clock.FrameDt, now, s.set)
	at, yaw, ok := d.draw(b, ms, k)
	if !ok {
		return false
	}
	out.Location, out.Rotation.Yaw = at, yaw
	for j := range at {
		ms.TranslationOffset[j] = float32(at[j] - capsule[j])
	}
	ms.RotationOffset = float32(exact.NormalizeDeg(yaw - capsuleYaw))
	ms.Complete = ms.TranslationOffset == mgl32.Vec3{} && ms.RotationOffset == 0
	return true
}

func (s *MeshSmooth) Finalize(*arche.World) {}
