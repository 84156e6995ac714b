package components

// RootMotionID names a source of root motion within a character.
type RootMotionID uint16

// RootMotionSource is motion that an animation or an effect drives: a constant
// force, or a curve over time that a game's table names.
type RootMotionSource struct {
	// Force in cm/s (it sets or adds velocity).
	Force Vec3
	// Elapsed and Duration of the source; a duration of 0 lasts until removed.
	Elapsed, Duration Ticks
	// StartStamp is the move that started it; it is shifted at a time stamp
	// reset like every other stamp.
	StartStamp int32
	ID         RootMotionID
	// Curve is an index into the game's table; 0 is a constant force.
	Curve    uint16
	Priority uint8
	Additive bool
	Active   bool
	_        [5]byte
}

// MaxRootMotionSources at a time on one character.
const MaxRootMotionSources = 4

// RootMotionState is the set of active sources: part of what a move saves and
// a correction returns.
type RootMotionState struct {
	Sources [MaxRootMotionSources]RootMotionSource
}

// ReplicatedRootMotion is what onlookers are told of a playing montage
// (FRepRootMotionMontage): while it is active the ordinary place updates are
// skipped.
type ReplicatedRootMotion struct {
	Location     Vec3
	Rotation     Rotator
	Velocity     Vec3
	Acceleration Vec3
	Position     Ticks
	Base         NetID
	Montage      uint16
	Active       bool
	RelativeBase bool
}
