package components

import (
	"unsafe"

	arche "github.com/mlange-42/arche/ecs"
)

// WorldIDs are arche's IDs of the registered types in one world, a resource of
// that world. IDs differ between worlds, so they are never kept with the
// registry, which several worlds share.
type WorldIDs struct {
	registry *Registry
	ids      []arche.ID // by TypeInfo.ID
}

// IDsIn finds the IDs of r's types in a world, registering what the world does
// not know yet, and keeps them as a resource: the second call is a look-up. The
// registry must be sealed; a world has one registry.
func IDsIn(w *arche.World, r *Registry) *WorldIDs {
	if w.Resources().Has(arche.ResourceID[WorldIDs](w)) {
		have := arche.GetResource[WorldIDs](w)
		if have.registry != r {
			panic("components.WorldIDs: the world has its IDs from another Registry")
		}
		return have
	}
	ids := &WorldIDs{registry: r}
	for _, t := range r.Types() {
		ids.ids = append(ids.ids, arche.TypeID(w, t.rtype))
	}
	arche.AddResource(w, ids)
	return ids
}

// ID is arche's ID of a registered type in this world.
func (w *WorldIDs) ID(t *TypeInfo) arche.ID { return w.ids[t.ID] }

// Value is where an entity's component of a registered type lies, nil if it
// has none. It is valid until the entity's components change. The entity must
// be alive.
func (w *WorldIDs) Value(world *arche.World, e arche.Entity, t *TypeInfo) unsafe.Pointer {
	return world.Get(e, w.ids[t.ID])
}
