package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/go-gl/mathgl/mgl32"
)

// The laws by which a mesh returns to its capsule. The mesh is drawn at the
// capsule plus MeshSmoothing's offset. Where the capsule jumps, the offset takes
// up the jump, so that the mesh stays, and then goes back to exactly zero:
//
//	exponential: times 1 - dt/time in every frame; zero where dt >= time, and
//	             where less than smoothSnap is left
//	linear:      evenly, within the time between the last two updates
//	disabled:    at once
//	buffered:    see buffered.go
//
// Offsets are measured at the feet, which a change of crouch leaves where they
// are although the capsule's centre moves.

// smoothSnap is the offset in cm, and the angle in degrees, under which a mesh
// is put onto its capsule.
const smoothSnap = 0.01

// linearLookAhead is the share of the time between two updates by which the
// clock of the linear mode may run ahead of the last one.
const linearLookAhead = 0.15

// capsuleStep is one jump of a capsule that its mesh shall not make.
type capsuleStep struct {
	old, new         components.Vec3
	oldYaw, newYaw   float64
	oldHalf, newHalf float64
}

// atFeet is the way from the new feet to the old ones.
func (c *capsuleStep) atFeet() components.Vec3 {
	d := exact.Sub(c.old, c.new)
	d[2] -= c.oldHalf - c.newHalf
	return d
}

// smoothFinish puts the mesh onto its capsule.
func smoothFinish(ms *components.MeshSmoothing) {
	ms.TranslationOffset, ms.OriginalTranslationOffset = mgl32.Vec3{}, mgl32.Vec3{}
	ms.RotationOffset, ms.OriginalRotationOffset = 0, 0
	ms.Complete = true
}

// smoothLimit is a step as it counts: one beyond MaxSmoothDistance counts as
// that distance; false for one beyond NoSmoothDistance, which is not smoothed.
func smoothLimit(step components.Vec3, set *components.Settings) (components.Vec3, bool) {
	d := exact.Len(step)
	if !(d <= set.NoSmoothDistance) {
		return components.Vec3{}, false
	}
	if d > set.MaxSmoothDistance {
		step = exact.Scale(step, set.MaxSmoothDistance/d)
	}
	return step, true
}

// smoothAccumulate lets the offset take up a capsule's step.
func smoothAccumulate(ms *components.MeshSmoothing, c *capsuleStep, set *components.Settings) {
	step, ok := smoothLimit(c.atFeet(), set)
	if !ok {
		smoothFinish(ms)
		return
	}
	for i := range step {
		ms.TranslationOffset[i] += float32(step[i])
	}
	ms.RotationOffset = float32(exact.NormalizeDeg(float64(ms.RotationOffset) + (c.oldYaw - c.newYaw)))
	ms.RotationTarget = float32(c.newYaw)
	ms.Complete = ms.TranslationOffset == mgl32.Vec3{} && ms.RotationOffset == 0
}

// smoothFactors are one frame's factors of the exponential law: of a moving
// mesh's offset, of a standing one's, which takes half the time, and of the
// yaw's.
type smoothFactors struct{ moving, standing, yaw float32 }

func exponentialFactors(dt components.Ticks, location, rotation float64) smoothFactors {
	t := dt.Seconds()
	return smoothFactors{exponentialFactor(t, location), exponentialFactor(t, location/2), exponentialFactor(t, rotation)}
}

// exponentialFactor is zero from the smoothing time on: the offset never
// changes its sign.
func exponentialFactor(dt, span float64) float32 {
	if !(dt < span) {
		return 0
	}
	return float32(1 - dt/span)
}

// smoothExponential is a frame of the exponential law.
func smoothExponential(ms *components.MeshSmoothing, k, yaw float32) {
	o := &ms.TranslationOffset
	o[0], o[1], o[2] = o[0]*k, o[1]*k, o[2]*k
	near := false
	if o[0]*o[0]+o[1]*o[1]+o[2]*o[2] < smoothSnap*smoothSnap {
		*o, near = mgl32.Vec3{}, true
	}
	r := ms.RotationOffset * yaw
	if r < smoothSnap && r > -smoothSnap {
		r = 0
		ms.Complete = near
	}
	ms.RotationOffset = r
}

// smoothLinear is a frame of the linear law: the offset is what is left of the
// original one. The clock runs on while nothing is to do.
func smoothLinear(ms *components.MeshSmoothing, dt components.Ticks) {
	ms.ClientTimeStamp += dt
	if ms.Complete {
		return
	}
	left := float32(0)
	if delta := ms.LastCorrectionDelta; delta > 0 {
		left = float32(ms.ServerTimeStamp-ms.ClientTimeStamp) / float32(delta)
	}
	if !(left > 0) {
		smoothFinish(ms)
		return
	}
	left = min(left, 1)
	for i, o := range ms.OriginalTranslationOffset {
		ms.TranslationOffset[i] = o * left
	}
	ms.RotationOffset = ms.OriginalRotationOffset * left
}

// linearUpdate sets the linear mode's clocks for an update whose place is that
// of a server time, and the original offset to what the mesh has now. Ideally
// the clock then stands at the update before, so that the offset is gone when
// the next one is due. A clock that ran on while this one was late is pulled back
// half of the way. A gap counts as at most MaxLinearSmoothDelta, and two updates
// that came together as half of the usual interval.
func linearUpdate(ms *components.MeshSmoothing, stamp components.Ticks, set *components.Settings) {
	interval := components.TicksFromSeconds(1 / set.NetUpdateFrequency)
	ahead := ms.ServerTimeStamp + components.Ticks(linearLookAhead*float64(ms.LastCorrectionDelta))
	client := min(ms.ClientTimeStamp, ahead)
	delta := min(max(stamp-ms.ServerTimeStamp, interval/2, 1), max(components.TicksFromSeconds(set.MaxLinearSmoothDelta), 1))
	ms.ServerTimeStamp, ms.LastCorrectionDelta = stamp, delta
	begin := stamp - delta
	late := min(max(client-begin, 0)/2, delta/2)
	ms.ClientTimeStamp = begin + late
	linearFrom(ms)
}

// linearFrom makes the offset of now what a linear smoothing that is on its way
// has left, so that the mesh does not jump.
func linearFrom(ms *components.MeshSmoothing) {
	left := float32(ms.ServerTimeStamp-ms.ClientTimeStamp) / float32(ms.LastCorrectionDelta)
	ms.OriginalTranslationOffset = ms.TranslationOffset.Mul(1 / left)
	ms.OriginalRotationOffset = ms.RotationOffset / left
}
