package movement

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// accelGrid is the step of an acceleration on the wire, cm/s².
const accelGrid = 0.1

// maxWireAccel bounds what RoundAcceleration returns, cm/s² per part.
const maxWireAccel = 1e6

// RoundAcceleration rounds each part to the 0.1 cm/s² grid of the wire. The
// owner simulates with the result, so the server reads the same bits: a part is
// always a whole number divided by 10. What is not finite gives 0; parts are
// held within ±1e6.
func RoundAcceleration(a Vec3) Vec3 {
	for i, v := range a {
		switch {
		case v-v != 0:
			v = 0
		case v > maxWireAccel:
			v = maxWireAccel
		case v < -maxWireAccel:
			v = -maxWireAccel
		}
		a[i] = exact.Round(float64(v*10))/10 + 0 // + 0: no negative zero
	}
	return a
}

// ScaleInput turns an intent into a command's acceleration. The intent is
// forward, right and up in -1..1 in the frame of the control yaw (degrees),
// taken at length 1 at most. On the ground and in the air its vertical part is
// dropped. The result is in world axes, at most MaxAcceleration but for the
// rounding to the wire's grid.
func ScaleInput(intent Vec3, controlYaw float64, mode components.MovementMode, p *components.MovementProfile) Vec3 {
	if !exact.Finite(intent) || controlYaw-controlYaw != 0 {
		return Vec3{}
	}
	if keepsHorizontal(mode) {
		intent[2] = 0
	}
	for i, v := range intent { // before squaring, so that nothing overflows
		if v > 1 {
			intent[i] = 1
		} else if v < -1 {
			intent[i] = -1
		}
	}
	intent = exact.ClampLen(intent, 1)
	s, co := exact.SinCosDeg(controlYaw)
	w := Vec3{
		float64(intent[0]*co) - float64(intent[1]*s),
		float64(intent[0]*s) + float64(intent[1]*co),
		intent[2],
	}
	return RoundAcceleration(exact.Scale(w, p.MaxAcceleration))
}

// keepsHorizontal tells whether a mode takes no vertical input.
func keepsHorizontal(m components.MovementMode) bool {
	return m == components.ModeWalking || m == components.ModeFalling
}

// AnalogModifier is the share of the top speed that an acceleration asks for,
// 0..1. What is within the wire's grid of the maximum counts as full, so that
// rounding slows nobody.
func AnalogModifier(a Vec3, p *components.MovementProfile) float64 {
	l := exact.Len(a)
	if !(p.MaxAcceleration > 0) || !(l > 0) {
		return 0
	}
	if l >= p.MaxAcceleration-accelGrid {
		return 1
	}
	return l / p.MaxAcceleration
}

// takeInput sets the step's acceleration and analog input from the command.
func takeInput(st *StepState, cmd *components.MoveCommand) {
	p := st.P
	a := cmd.Acceleration
	if keepsHorizontal(st.S.Mode) {
		a[2] = 0
	}
	if cmd.Flags.Has(components.FlagForceMaxAccel) {
		d := exact.SafeNormal(a)
		if d == (Vec3{}) {
			d = exact.SafeNormal2(st.S.Velocity)
		}
		if d == (Vec3{}) {
			s, co := exact.SinCosDeg(st.S.Rotation.Yaw)
			d = Vec3{co, s, 0}
		}
		st.Accel, st.Analog = exact.Scale(d, p.MaxAcceleration), 1
		return
	}
	st.Accel = exact.ClampLen(a, p.MaxAcceleration)
	st.Analog = AnalogModifier(st.Accel, p)
}
