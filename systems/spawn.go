package systems

import (
	"fmt"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
)

// Spawner makes characters of each role in one world: an entity with the
// role's set of components, its slots allocated. A game adds its own components
// to what it returns. The world must not be locked.
type Spawner struct {
	world *arche.World
	slots slots
	set   *components.Settings
	clock *ecs.Clock

	char, state, profile, possession                    arche.ID
	input, intent, rep, timer, teleports                arche.ID
	update, mesh, transform, interp                     arche.ID
	authority, local, autonomous, simulated             arche.ID
	pred, srv                                           arche.ID
	obstacle, pose                                      arche.ID
	remoteSet, localSet, ownerSet, proxySet, standalone []arche.ID
}

// NewSpawner looks up the components in a world.
func NewSpawner(w *arche.World) *Spawner {
	s := &Spawner{world: w}
	s.slots.initialize(w)
	s.set = ecs.Provide(w, func() *components.Settings { v := components.DefaultSettings(); return &v })
	s.clock = ecs.Maybe[ecs.Clock](w)
	s.char, s.state = ecs.RegisterComponent[components.Character](w), ecs.RegisterComponent[components.MovementState](w)
	s.profile, s.possession = ecs.RegisterComponent[components.ProfileRef](w), ecs.RegisterComponent[components.Possession](w)
	s.input, s.intent = ecs.RegisterComponent[components.Input](w), ecs.RegisterComponent[components.Intent](w)
	s.rep, s.timer = ecs.RegisterComponent[components.ReplicatedMovement](w), ecs.RegisterComponent[components.NetUpdateTimer](w)
	s.teleports, s.update = ecs.RegisterComponent[components.Teleports](w), ecs.RegisterComponent[components.NetUpdate](w)
	s.mesh, s.transform = ecs.RegisterComponent[components.MeshSmoothing](w), ecs.RegisterComponent[components.MeshTransform](w)
	s.interp = ecs.RegisterComponent[components.VisualInterpolation](w)
	s.authority, s.local = ecs.RegisterComponent[components.Authority](w), ecs.RegisterComponent[components.LocallyControlled](w)
	s.autonomous, s.simulated = ecs.RegisterComponent[components.AutonomousProxy](w), ecs.RegisterComponent[components.SimulatedProxy](w)
	s.pred, s.srv = s.slots.pred, s.slots.srv
	s.obstacle, s.pose = ecs.RegisterComponent[components.Obstacle](w), ecs.RegisterComponent[components.Pose](w)

	common := []arche.ID{s.char, s.state, s.profile, s.possession}
	server := join(common, s.rep, s.timer, s.teleports, s.authority)
	visual := []arche.ID{s.mesh, s.transform, s.interp}
	s.remoteSet = join(server, s.srv)
	s.localSet = join(server, s.local, s.input, s.intent)
	s.standalone = join(s.localSet, visual...)
	s.ownerSet = join(join(common, s.autonomous, s.pred, s.input, s.intent), visual...)
	s.proxySet = join(join(common, s.simulated, s.rep, s.update), visual...)
	return s
}

func join(a []arche.ID, b ...arche.ID) []arche.ID {
	return append(append([]arche.ID(nil), a...), b...)
}

// World is the world in which it makes characters.
func (s *Spawner) World() *arche.World { return s.world }

// SpecAt is a standing character of a profile at a place (the capsule's
// centre), with nobody's possession. A reference that the table does not hold,
// such as the zero one, panics: ProfileTable.Newest gives one that it does.
func SpecAt(id components.NetID, table *components.ProfileTable, ref components.ProfileRef, at components.Vec3, yaw float64) components.CharacterSpec {
	profile := table.Get(ref)
	if profile == nil {
		panic(fmt.Sprintf("systems.SpecAt: the table holds no profile %d, revision %d", ref.ID, ref.Revision))
	}
	return components.CharacterSpec{Character: components.Character{ID: id}, Profile: ref, State: movement.InitialState(profile, at, yaw)}
}

func (s *Spawner) spawn(spec *components.CharacterSpec, ids []arche.ID) arche.Entity {
	e := s.world.NewEntity(ids...)
	*(*components.Character)(s.world.Get(e, s.char)) = spec.Character
	*(*components.MovementState)(s.world.Get(e, s.state)) = spec.State
	*(*components.ProfileRef)(s.world.Get(e, s.profile)) = spec.Profile
	*(*components.Possession)(s.world.Get(e, s.possession)) = spec.Possession
	if s.world.Has(e, s.mesh) {
		*(*components.MeshSmoothing)(s.world.Get(e, s.mesh)) = components.MeshSmoothing{Mode: s.set.Smoothing, Complete: true}
	}
	if s.world.Has(e, s.input) {
		(*components.Input)(s.world.Get(e, s.input)).Control.Yaw = spec.State.Rotation.Yaw
	}
	return e
}

// Remote makes the server's copy of a character that a remote player owns.
// drawn adds what a listen server needs to show it.
func (s *Spawner) Remote(spec components.CharacterSpec, drawn bool) arche.Entity {
	ids := s.remoteSet
	if drawn {
		ids = join(ids, s.mesh, s.transform, s.interp)
	}
	e := s.spawn(&spec, ids)
	p := (*components.ServerPrediction)(s.world.Get(e, s.srv))
	p.Received, p.Poses = s.slots.received.Alloc(e), s.slots.poses.Alloc(e)
	// Known before its first move: a revision may come before that.
	p.Profile = spec.Profile
	return e
}

// Local makes a character that this machine controls with authority: an AI, a
// listen server's own player, anybody in standalone. drawn adds its mesh.
func (s *Spawner) Local(spec components.CharacterSpec, drawn bool) arche.Entity {
	if drawn {
		return s.spawn(&spec, s.standalone)
	}
	return s.spawn(&spec, s.localSet)
}

// Owner makes the owner's copy on its client.
func (s *Spawner) Owner(spec components.CharacterSpec) arche.Entity {
	e := s.spawn(&spec, s.ownerSet)
	(*components.ClientPrediction)(s.world.Get(e, s.pred)).Queue = s.slots.queues.Alloc(e)
	return e
}

// Proxy makes an onlooker's copy. It stands where the spec has it from its
// first frame on.
func (s *Spawner) Proxy(spec components.CharacterSpec) arche.Entity {
	e := s.spawn(&spec, s.proxySet)
	u := (*components.NetUpdate)(s.world.Get(e, s.update))
	u.Spawned = true
	if s.set.Smoothing == components.SmoothBuffered {
		(*components.MeshSmoothing)(s.world.Get(e, s.mesh)).Buffer = s.slots.buffers.Alloc(e)
	}
	return e
}

// Obstacle makes an entity that shows a moving obstacle of the geometry.
func (s *Spawner) Obstacle(o components.Obstacle) arche.Entity {
	e := s.world.NewEntity(s.obstacle, s.pose)
	*(*components.Obstacle)(s.world.Get(e, s.obstacle)) = o
	return e
}

// Possess gives the server's copy to another player, or to the server itself
// (player 0), in a new epoch: what still arrives of the old one is refused.
// The change takes effect at once: exactly one of the two moves it in any
// tick.
func (s *Spawner) Possess(e arche.Entity, player components.PlayerID) components.Possession {
	pos := (*components.Possession)(s.world.Get(e, s.possession))
	same := pos.Player == player
	*pos = components.Possession{Player: player, Epoch: pos.Epoch + 1}
	out := *pos
	remote := s.world.Has(e, s.srv)
	switch {
	case player == 0 && remote:
		p := (*components.ServerPrediction)(s.world.Get(e, s.srv))
		s.slots.received.Free(p.Received)
		s.slots.poses.Free(p.Poses)
		s.world.Exchange(e, []arche.ID{s.local, s.input, s.intent}, []arche.ID{s.srv})
		st := (*components.MovementState)(s.world.Get(e, s.state))
		(*components.Input)(s.world.Get(e, s.input)).Control.Yaw = st.Rotation.Yaw
	case player != 0 && !remote:
		s.world.Exchange(e, []arche.ID{s.srv}, []arche.ID{s.local, s.input, s.intent})
		fallthrough
	case player != 0:
		p := (*components.ServerPrediction)(s.world.Get(e, s.srv))
		s.slots.received.Free(p.Received)
		s.slots.poses.Free(p.Poses)
		// A player who comes back has other stamps and the same balance: a new
		// margin for each reconnect could be spent again and again.
		var kept components.TimeDiscrepancy
		if same {
			kept = p.Discrepancy
			kept.Started = false
		}
		*p = components.ServerPrediction{
			Received: s.slots.received.Alloc(e), Poses: s.slots.poses.Alloc(e),
			Profile: *(*components.ProfileRef)(s.world.Get(e, s.profile)), Discrepancy: kept,
		}
	}
	return out
}

// Teleport puts the server's copy somewhere else at once: its owner is
// corrected, onlookers see it there with nothing in between.
func (s *Spawner) Teleport(e arche.Entity, to components.Vec3, yaw float64) {
	st := (*components.MovementState)(s.world.Get(e, s.state))
	st.Location, st.Rotation.Yaw = to, yaw
	st.Velocity, st.Base = components.Vec3{}, 0
	if s.world.Has(e, s.teleports) {
		(*components.Teleports)(s.world.Get(e, s.teleports)).Count++
		(*components.NetUpdateTimer)(s.world.Get(e, s.timer)).Force = true
	}
	if s.world.Has(e, s.srv) {
		(*components.ServerPrediction)(s.world.Get(e, s.srv)).ForceUpdate = true
	}
}

// Despawn removes a character and gives its slots back.
func (s *Spawner) Despawn(e arche.Entity) {
	if !ecs.Alive(s.world, e) {
		return
	}
	s.slots.free(e)
	s.world.RemoveEntity(e)
}
