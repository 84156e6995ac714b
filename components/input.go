package components

// Input is what the game's own input code writes, at any rate: axes and
// buttons since the last step. InputConsume turns it into an Intent once a
// frame.
type Input struct {
	// Vector accumulates movement input in the frame of the control yaw: x
	// forward, y right, z up, 1 being a full stick. Consumed once.
	Vector Vec3
	// Control is where the player looks, degrees; the game turns it.
	Control Rotator
	// Sum of Samples frames' vectors: under a fixed tick several frames, or
	// none, make a step, and a half tilted stick must stay half tilted. Written
	// by InputConsume's sampling part.
	Sum     Vec3
	Samples uint32
	// SampledFrame is the last frame that was sampled.
	_            [4]byte
	SampledFrame uint64
	// Held are the buttons down now; Pressed those that went down since the
	// last step, so that a press and release between two steps is not lost.
	Held, Pressed MoveFlags
	_             [6]byte
}

// Add accumulates movement input (AddMovementInput): x forward, y right, z up.
func (in *Input) Add(forward, right, up float64) {
	in.Vector[0] += forward
	in.Vector[1] += right
	in.Vector[2] += up
}

// SetButton records a button's state; a press is remembered until a step has
// seen it.
func (in *Input) SetButton(f MoveFlags, down bool) {
	if down {
		in.Pressed |= f &^ in.Held
		in.Held |= f
		return
	}
	in.Held &^= f
}

// Intent is the consumed input of a step: what Predict, the local move of a
// server-controlled character and standalone read alike.
type Intent struct {
	// Acceleration wanted, world axes, rounded to 0.1 cm/s².
	Acceleration Vec3
	// Frame in which the input was consumed; further steps of the same frame
	// reuse it, without its presses.
	Frame   uint64
	Control PackedRotator
	Flags   MoveFlags
	_       [1]byte
}
