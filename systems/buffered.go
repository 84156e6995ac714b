package systems

import (
	"math"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/go-gl/mathgl/mgl32"
)

// Buffered interpolation draws a proxy's mesh at PlayTime, a server time that
// lies Delay behind the server's clock, between the two snapshots around it. So
// the mesh goes only where the character went: no overshoot, no way back.
//
// Between two snapshots the place goes along the straight line, not a curve
// through the velocities: a curve overshoots where a character stops between
// them. On a base the line is one in the base's own axes, carried to where the
// base is drawn.
//
// The delay must cover, when a snapshot arrives, the time since the place of the
// one before: transit, update interval, frame and whatever was lost. Its mean and
// mean deviation are measured at each arrival; the aim is the mean plus three
// deviations, within BufferedMinDelay and BufferedMaxDelay (a link whose mean
// alone is longer than that gets its mean). Playing runs at most 4 % faster or
// slower to get there, so that there is no jump. Where it is more than 0.1 s late
// (the client was paused, a congestion is over) it takes the time over at once.
//
// Where the snapshots end before PlayTime the mesh goes on by the last one's
// velocity for at most 0.1 s and then waits. Whatever a new snapshot then changes
// at the time just drawn goes into an offset that decays by the exponential law
// and obeys MaxSmoothDistance and NoSmoothDistance.
const (
	bufferGain        = 1.0 / 16               // of a new sample in mean and deviation
	bufferDeviations  = 3                      // the aim above the mean
	bufferSpeed       = 25                     // playing is at most 1/25 off
	bufferSettle      = components.Second / 4  // in which a small difference is made up for
	bufferLate        = components.Second / 10 // beyond it playing jumps ahead
	bufferEarly       = components.Second / 2  // beyond it playing jumps back
	bufferGap         = components.Second      // a pause, not a measure of the link
	bufferExtrapolate = components.Second / 10 // beyond the last snapshot
	bufferFirstSpread = 1.0 / 4                // of the interval, until it is measured
)

// place is where the buffer has the mesh at a time; false for an empty one.
func (d *drawnBases) place(b *components.SnapshotBuffer, t components.Ticks) (components.Vec3, float64, bool) {
	if b.N == 0 {
		return components.Vec3{}, 0, false
	}
	last := &b.Samples[b.N-1]
	if t >= last.Time {
		at := last.Location
		if last.Velocity != (components.Vec3{}) {
			at = exact.AddScaled(at, last.Velocity, min(t-last.Time, bufferExtrapolate).Seconds())
		}
		return d.world(last.Base, at, last.Yaw)
	}
	i := b.N - 2
	for i >= 0 && t < b.Samples[i].Time {
		i--
	}
	if i < 0 {
		first := &b.Samples[0]
		return d.world(first.Base, first.Location, first.Yaw)
	}
	from, to := &b.Samples[i], &b.Samples[i+1]
	f := float64(t-from.Time) / float64(to.Time-from.Time)
	return d.between(from.Base, to.Base, from.Location, to.Location, from.Yaw, to.Yaw, f)
}

// push puts a snapshot into the buffer. now is the server's time, 0 where it is
// not known. MeshSmoothing's LastCorrectionDelta holds the measured mean, its
// Original offsets what a change of the drawn place has left to decay.
func (d *drawnBases) push(b *components.SnapshotBuffer, ms *components.MeshSmoothing, s *components.BufferedSnapshot, now components.Ticks, set *components.Settings) {
	interval := components.TicksFromSeconds(1 / set.NetUpdateFrequency)
	if ms.LastCorrectionDelta == 0 {
		ms.LastCorrectionDelta = interval
		if now > s.Time {
			ms.LastCorrectionDelta += min(now-s.Time, bufferGap)
		}
		b.Jitter = float64(bufferFirstSpread * interval.Seconds())
	}
	if s.Teleport || b.N == 0 {
		smoothFinish(ms)
		b.Samples[0], b.N = *s, 1
		return
	}
	last := &b.Samples[b.N-1]
	if now > 0 && s.Time-last.Time <= bufferGap {
		bufferMeasure(b, ms, now-last.Time)
	}
	before, beforeYaw, ok := d.place(b, b.PlayTime)
	if s.Time <= last.Time {
		// The same moment's place again, or a server clock that was set back.
		s.Time = last.Time
		b.N--
	} else {
		bufferPrune(b)
	}
	b.Samples[b.N] = *s
	b.N++
	if after, afterYaw, known := d.place(b, b.PlayTime); ok && known && b.Started {
		bufferResidual(ms, before, after, beforeYaw, afterYaw, set)
	}
}

// bufferMeasure takes one arrival into mean and mean deviation.
func bufferMeasure(b *components.SnapshotBuffer, ms *components.MeshSmoothing, need components.Ticks) {
	off := need - ms.LastCorrectionDelta
	ms.LastCorrectionDelta += components.Ticks(exact.Round(float64(off) * bufferGain))
	b.Jitter += float64((math.Abs(off.Seconds()) - b.Jitter) * bufferGain)
}

// bufferPrune makes room and drops what can no longer be drawn.
func bufferPrune(b *components.SnapshotBuffer) {
	n := 0
	for n+1 < b.N && b.Samples[n+1].Time <= b.PlayTime {
		n++
	}
	if n == 0 && b.N == components.SnapshotsKept {
		n = 1
	}
	if n > 0 {
		copy(b.Samples[:], b.Samples[n:b.N])
		b.N -= n
	}
}

// bufferResidual lets the mesh stay where it was drawn.
func bufferResidual(ms *components.MeshSmoothing, before, after components.Vec3, beforeYaw, afterYaw float64, set *components.Settings) {
	step, ok := smoothLimit(exact.Sub(before, after), set)
	if !ok {
		ms.OriginalTranslationOffset, ms.OriginalRotationOffset = mgl32.Vec3{}, 0
		return
	}
	for i := range step {
		ms.OriginalTranslationOffset[i] += float32(step[i])
	}
	ms.OriginalRotationOffset = float32(exact.NormalizeDeg(float64(ms.OriginalRotationOffset) + (beforeYaw - afterYaw)))
}

// bufferAim is the delay that the buffer works towards.
func bufferAim(b *components.SnapshotBuffer, ms *components.MeshSmoothing, set *components.Settings) components.Ticks {
	mean := ms.LastCorrectionDelta.Seconds()
	aim := max(mean+float64(bufferDeviations*b.Jitter), set.BufferedMinDelay)
	return components.TicksFromSeconds(min(aim, max(set.BufferedMaxDelay, mean)))
}

// advance moves PlayTime on by a frame. now is the server's time, 0 where it is
// not known: then it goes on by the frame alone.
func (d *drawnBases) advance(b *components.SnapshotBuffer, ms *components.MeshSmoothing, dt, now components.Ticks, set *components.Settings) {
	if b.N == 0 {
		return
	}
	aim := bufferAim(b, ms, set)
	switch {
	case !b.Started && now > 0:
		b.PlayTime = now - aim
	case !b.Started:
		b.PlayTime = b.Samples[b.N-1].Time - components.TicksFromSeconds(1/set.NetUpdateFrequency)
	case now <= 0:
		b.PlayTime += dt
	default:
		next := b.PlayTime + dt
		late := now - aim - next
		if late > bufferLate || late < -bufferEarly {
			before, beforeYaw, ok := d.place(b, next)
			after, afterYaw, known := d.place(b, now-aim)
			if ok && known {
				bufferResidual(ms, before, after, beforeYaw, afterYaw, set)
			}
			b.PlayTime = now - aim
			break
		}
		limit := dt / bufferSpeed
		b.PlayTime = next + min(max(late*dt/bufferSettle, -limit), limit)
	}
	b.Started = true
	if now > 0 {
		b.Delay = (now - b.PlayTime).Seconds()
	}
}

// draw is where the mesh is drawn at PlayTime, the residual with it; false where
// the buffer has nothing to show. The residual decays by k.
func (d *drawnBases) draw(b *components.SnapshotBuffer, ms *components.MeshSmoothing, k *smoothFactors) (components.Vec3, float64, bool) {
	at, yaw, ok := d.place(b, b.PlayTime)
	if !ok {
		return at, yaw, false
	}
	o := &ms.OriginalTranslationOffset
	o[0], o[1], o[2] = o[0]*k.moving, o[1]*k.moving, o[2]*k.moving
	if o.LenSqr() < smoothSnap*smoothSnap {
		*o = mgl32.Vec3{}
	}
	if ms.OriginalRotationOffset *= k.yaw; math.Abs(float64(ms.OriginalRotationOffset)) < smoothSnap {
		ms.OriginalRotationOffset = 0
	}
	for i := range at {
		at[i] += float64(o[i])
	}
	return at, exact.NormalizeDeg(yaw + float64(ms.OriginalRotationOffset)), true
}
