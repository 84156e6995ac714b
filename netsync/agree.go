package netsync

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/session"
	"github.com/gaitnet/gait/netsync/wire"
	arche "github.com/mlange-42/arche/ecs"
)

// ProtocolVersion is the version of gait's packets. It changes with every
// layout in wire's document; the upper half of a session's version is this, the
// lower half the game's own.
const ProtocolVersion = 1

// agreement fills in what the handshake compares, so that two builds that
// cannot play together say so in one sentence instead of correcting each other
// for ever: the version, the level, the movement profiles and the registry of
// types and modes. Hashes that a game has set itself are kept.
func agreement(w *arche.World, cfg session.Config, level uint64) session.Config {
	cfg.Version = ProtocolVersion<<16 | cfg.Version&0xffff
	for i, h := range [...]session.NamedHash{
		{Name: "level", Hash: level},
		{Name: "movement profiles", Hash: ecs.Need[components.ProfileTable](w).Hash()},
		{Name: "registered types and modes", Hash: registry(w).Hash()},
	} {
		if cfg.Hashes[i] == (session.NamedHash{}) {
			cfg.Hashes[i] = h
		}
	}
	return cfg
}

// registry is the world's, sealed here at the latest: from now on both ends
// hold to it.
func registry(w *arche.World) *components.Registry {
	r := ecs.Provide(w, components.NewRegistry)
	if !r.Sealed() {
		components.SetCodec[components.ReplicatedMovement](r, movementCodec{})
		r.Seal()
	}
	return r
}

// movementCodec is how ReplicatedMovement travels outside of a snapshot, and
// what the registry's hash knows of its format.
type movementCodec struct{}

func (movementCodec) Encode(w *bits.Writer, v *components.ReplicatedMovement) {
	wire.WriteMovement(w, v, wire.SnapshotContext{ServerTime: v.ServerTime})
}

func (movementCodec) Decode(r *bits.Reader, v *components.ReplicatedMovement) {
	if wire.ReadMovement(r, v, wire.SnapshotContext{}) != nil {
		r.Invalid()
	}
}

// CodecVersion names the format.
func (movementCodec) CodecVersion() string { return "movement 1" }
