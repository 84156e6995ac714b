package systems

import (
	"github.com/gaitnet/gait/components"
)

// ownerLinearTimes is how many times SmoothLocationTime the linear mode takes to
// bring an owner's mesh back: an owner has no update interval.
const ownerLinearTimes = 2

// BeginOwnerSmoothing keeps an owner's mesh where it is drawn when a correction
// and its replay have moved the capsule: the offset becomes the drawn mesh less
// the capsule after the replay. before and after are the capsule's centre, cm,
// before the correction came and after the replay; the yaws in degrees.
//
// A replay that arrives where the prediction was changes nothing. Beyond
// NoSmoothDistance (a teleport) the mesh goes with the capsule. Each mode has
// its law: exponential as for onlookers; linear evenly within twice
// SmoothLocationTime from now on; disabled at once. Buffered falls back to
// exponential, because an owner is drawn where it is, not a delay behind.
func BeginOwnerSmoothing(ms *components.MeshSmoothing, before, after components.Vec3, beforeYaw, afterYaw float64, set *components.Settings, now components.Ticks) {
	if before == after && beforeYaw == afterYaw {
		return
	}
	if ms.Mode == components.SmoothDisabled {
		smoothFinish(ms)
		return
	}
	smoothAccumulate(ms, &capsuleStep{old: before, new: after, oldYaw: beforeYaw, newYaw: afterYaw}, set)
	if ms.Mode == components.SmoothLinear {
		ms.LastCorrectionDelta = max(components.TicksFromSeconds(ownerLinearTimes*set.SmoothLocationTime), 1)
		ms.ClientTimeStamp, ms.ServerTimeStamp = now, now+ms.LastCorrectionDelta
		linearFrom(ms)
	}
	ms.LastCorrectionTime = now
}
