package movement

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// rotate turns the yaw as the profile's rotation mode says, at most
// RotationRate x dt (a negative rate turns at once). Pitch and roll are zero.
func (c *Context) rotate(st *StepState, dt float64) {
	s, p := st.S, st.P
	s.Rotation.Pitch, s.Rotation.Roll = 0, 0
	var want float64
	switch p.Rotation {
	case components.RotateWithControl:
		s.Rotation.Yaw = exact.NormalizeDeg(st.Control.Yaw)
		return
	case components.RotateToControl:
		want = st.Control.Yaw
	default:
		if st.Accel[0] == 0 && st.Accel[1] == 0 {
			return
		}
		want = exact.Atan2Deg(st.Accel[1], st.Accel[0])
	}
	d := exact.NormalizeDeg(want - s.Rotation.Yaw)
	if most := float64(p.RotationRate * dt); p.RotationRate >= 0 {
		if d > most {
			d = most
		} else if d < -most {
			d = -most
		}
	}
	s.Rotation.Yaw = exact.NormalizeDeg(s.Rotation.Yaw + d)
}
