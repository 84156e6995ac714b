package wire

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/netsync/bits"
)

// SnapshotContext is what both ends know from outside of a snapshot.
type SnapshotContext struct {
	// ServerTime of the packet, as its header tells it: the same on both ends.
	ServerTime components.Ticks
	// Settings hold the quantisation that a writer uses, nil for the defaults.
	// A snapshot states its own, so a reader needs none.
	Settings *components.Settings
}

// rounding are the three independent quantisations of a snapshot.
type rounding struct {
	location, velocity uint8 // decimals
	byteRotation       bool
}

var usualRounding = rounding{location: 2, velocity: 0}

func roundingOf(s *components.Settings) rounding {
	if s == nil {
		return usualRounding
	}
	return rounding{min(s.LocationDecimals, 2), min(s.VelocityDecimals, 2), s.ByteRotation}
}

const (
	decimalsBits   = 2
	snapshotOrder  = 8  // server time less the packet's
	transformOrder = 11 // server time less the place's time
	teleportOrder  = 1
	// maxSnapshotAge bounds both differences, ticks.
	maxSnapshotAge = 1 << 32
)

// QuantizeReplicated rounds v as a snapshot under these settings (nil for the
// defaults) will: the server gathers with it, so that it holds what onlookers
// get. It is a fixed point: a second call changes nothing. What is not finite
// becomes 0.
func QuantizeReplicated(v *components.ReplicatedMovement, s *components.Settings) {
	roundingOf(s).apply(v)
}

func (q rounding) apply(v *components.ReplicatedMovement) {
	v.Location = place(quantizePlace(v.Location, q.location), q.location)
	v.Velocity = bits.QuantizedVec(v.Velocity, scales[q.velocity])
	rot := bits.Rot(v.Rotation)
	if q.byteRotation {
		v.Rotation = components.Rotator(bits.QuantizeRot8(rot).Deg())
	} else {
		v.Rotation = components.Rotator(bits.QuantizeRot(rot).Deg())
	}
	if v.HasAcceleration {
		v.Acceleration = bits.QuantizedVec(v.Acceleration, accelScale)
	} else {
		v.Acceleration = components.Vec3{}
	}
}

// WriteSnapshot writes the message KindSnapshot: the state of one character for
// those who look on, about 125 bits in motion. v is rounded on the way if it is
// not already. What is not finite sets bits.ErrRange in w.
func WriteSnapshot(w *bits.Writer, id components.NetID, v *components.ReplicatedMovement, ctx SnapshotContext) {
	writeKind(w, KindSnapshot)
	writeID(w, id)
	WriteMovement(w, v, ctx)
}

// ReadSnapshot reads what WriteSnapshot wrote behind its kind. id and v are to
// be used only if the error is nil.
func ReadSnapshot(r *bits.Reader, v *components.ReplicatedMovement, ctx SnapshotContext) (components.NetID, error) {
	t := track{r: r}
	t.at("id")
	id := readID(r)
	if err := t.err("snapshot"); err != nil {
		return 0, err
	}
	return id, ReadMovement(r, v, ctx)
}

// WriteMovement is the codec of ReplicatedMovement within a snapshot.
func WriteMovement(w *bits.Writer, v *components.ReplicatedMovement, ctx SnapshotContext) {
	q := roundingOf(ctx.Settings)
	if !exact.Finite(v.Location) || !exact.Finite(v.Velocity) || !exact.Finite(v.Acceleration) ||
		!exact.Finite(components.Vec3{v.Rotation.Pitch, v.Rotation.Yaw, v.Rotation.Roll}) {
		w.Refuse()
	}
	w.WriteBool(q != usualRounding)
	if q != usualRounding {
		w.WriteBits(uint64(q.location), decimalsBits)
		w.WriteBits(uint64(q.velocity), decimalsBits)
		w.WriteBool(q.byteRotation)
	}
	age, back := ctx.ServerTime-v.ServerTime, v.ServerTime-v.TransformTime
	if !legalAge(age) || !legalAge(back) {
		w.Refuse()
	}
	w.WriteResidual(int64(age), snapshotOrder)
	w.WriteResidual(int64(back), transformOrder)
	writeMode(w, v.Mode)
	w.WriteBool(v.Crouched)
	w.WriteBool(v.JumpForce)
	w.WriteUint(uint64(v.Teleports), teleportOrder)
	writeBase(w, v.Base)
	writePlace(w, v.Location, q.location)
	w.WriteQVec(bits.QuantizeVec(v.Velocity, scales[q.velocity]))
	rot := bits.Rot(v.Rotation)
	if q.byteRotation {
		w.WriteQRot8(bits.QuantizeRot8(rot))
	} else {
		writeControl(w, components.PackedRotator(bits.QuantizeRot(rot)))
	}
	writeGravity(w, v.GravityDir)
	w.WriteBool(v.HasAcceleration)
	if v.HasAcceleration {
		w.WriteQVec(bits.QuantizeVec(v.Acceleration, accelScale))
	}
}

// ReadMovement reads what WriteMovement wrote.
func ReadMovement(r *bits.Reader, v *components.ReplicatedMovement, ctx SnapshotContext) error {
	t := track{r: r}
	*v = components.ReplicatedMovement{}
	q := usualRounding
	t.at("quantisation")
	if r.ReadBool() {
		q = rounding{uint8(r.ReadBits(decimalsBits)), uint8(r.ReadBits(decimalsBits)), r.ReadBool()}
		if q.location > 2 || q.velocity > 2 || q == usualRounding {
			r.Invalid()
			q = usualRounding
		}
	}
	t.at("server time")
	age := components.Ticks(r.ReadResidual(snapshotOrder))
	t.check(legalAge(age))
	v.ServerTime = ctx.ServerTime - age
	t.at("transform time")
	back := components.Ticks(r.ReadResidual(transformOrder))
	t.check(legalAge(back))
	v.TransformTime = v.ServerTime - back
	t.at("mode")
	v.Mode = readMode(r)
	v.Crouched = r.ReadBool()
	v.JumpForce = r.ReadBool()
	t.at("teleports")
	n := r.ReadUint(teleportOrder)
	t.check(n < 1<<8)
	v.Teleports = uint8(n)
	t.at("base")
	v.Base = readBase(r)
	t.at("location")
	v.Location = readPlace(&t, q.location)
	t.at("velocity")
	v.Velocity = r.ReadQVec().Vec(scales[q.velocity])
	t.at("rotation")
	if q.byteRotation {
		v.Rotation = components.Rotator(r.ReadQRot8().Deg())
	} else {
		v.Rotation = components.Rotator(bits.QRot(readControl(r)).Deg())
	}
	t.at("gravity")
	v.GravityDir = readGravity(r)
	t.at("acceleration")
	if v.HasAcceleration = r.ReadBool(); v.HasAcceleration {
		v.Acceleration = r.ReadQVec().Vec(accelScale)
	}
	return t.err("snapshot")
}

func legalAge(d components.Ticks) bool { return d >= -maxSnapshotAge && d <= maxSnapshotAge }

// writeGravity: 2 bits for (0, 0, -1), 1 for none, else 2 and 3 to 195.
func writeGravity(w *bits.Writer, g components.Vec3) {
	none := g == components.Vec3{}
	w.WriteBool(none)
	if !none {
		w.WriteNormal(g)
	}
}

func readGravity(r *bits.Reader) components.Vec3 {
	if r.ReadBool() {
		return components.Vec3{}
	}
	return r.ReadNormal()
}
