// Package movement is the kernel: one pure step of one character. The owner's
// prediction, the server's verification, the replay after a correction and the
// onlooker's extrapolation all run it, so equal state, command, profile and
// geometry give equal bits on every target.
//
// To run a move call Context.Move; to carry an onlooker on between two
// snapshots call Context.SimulateProxy; to place a character call
// InitialState; to turn an intent into a command's acceleration call
// ScaleInput; to compare two states call HashState. A movement mode of a game
// implements Mode and is put into a table with Modes.Register.
//
// # Order of a move
//
// The command is checked and its acceleration clamped; the base carries the
// character to the obstacle time; what the level or an obstacle pushes into it
// is left; the jump button, then the crouch button are read; the mode's steps
// run, each at most MaxSimulationTimeStep long; the yaw turns; the
// base-relative place is written.
//
// # Decisions
//
// Velocity of a grounded character is relative to its base, in world axes and
// turned with the base. Leaving the base adds the base's velocity at the
// character's place, landing on one removes it, and stepping from one base to
// another does both (where the profile has ImpartBaseVelocity). A base's
// velocity is the difference of its poses at the obstacle time and 1/120 s
// before, so both ends agree on it. The carry moves a rider to the end of the
// move; who leaves within it gets the base's velocity at the move's end, and
// who lands within it goes with the new base for the rest.
//
// In the air the vertical way is the mean of old and new velocity (the exact
// parabola, split at the end of a held jump and at the apex); the horizontal
// way is the new velocity's, as on the ground.
//
// The capsule stops short of what it meets by a skin of 0.02 cm along the
// normal, so that no sweep starts in touch.
//
// Ground that resumes more than MaxStepHeight below the ground left is fallen
// onto, whatever the capsule sank at the edge between.
//
// A press of the jump button makes one jump. A press that finds no ground
// stays good while it is held and jumps on landing.
//
// Gravity direction is kept in the state and carried; the steps work with
// (0, 0, -1).
package movement
