package systems

import (
	"github.com/gaitnet/gait/components"
)

// ListenServerSmooth keeps a remote player's mesh on a listen server where it is
// drawn when that player's moves were executed: they come in bursts, and the
// host would see the character jump. The offset then decays by the exponential
// law with the listen server's own, shorter times; linear and buffered fall back
// to it, since nothing here has an update interval or a delay. Disabled goes
// along at once.
func ListenServerSmooth(ms *components.MeshSmoothing, oldLoc, newLoc components.Vec3, oldYaw, newYaw float64, set *components.Settings, now components.Ticks) {
	if oldLoc == newLoc && oldYaw == newYaw {
		return
	}
	if ms.Mode == components.SmoothDisabled || !set.EnableListenServerSmoothing {
		smoothFinish(ms)
		return
	}
	smoothAccumulate(ms, &capsuleStep{old: oldLoc, new: newLoc, oldYaw: oldYaw, newYaw: newYaw}, set)
	ms.LastCorrectionTime = now
}
