package components

import "github.com/go-gl/mathgl/mgl64"

// Vec3 is mathgl's vector of float64, in centimetres, cm/s or cm/s² as its
// field says. Use package exact for arithmetic that both ends must agree on.
type Vec3 = mgl64.Vec3

// NetID names an entity (a character or an obstacle) on every machine of a
// session. The server gives it out; 0 is "none". arche's Entity never goes on
// the wire.
type NetID uint32

// SceneID names a room or an instance; characters of different scenes neither
// collide nor see each other.
type SceneID uint16

// MovementMode is the ID of a movement mode; the numbers go on the wire.
// Modes of a game start at FirstCustomMode.
type MovementMode uint8

// The built-in modes.
const (
	ModeNone MovementMode = iota
	ModeWalking
	ModeFalling
	ModeSwimming
	ModeFlying

	// FirstCustomMode is the first ID that a game may register.
	FirstCustomMode MovementMode = 16
)

// Grounded tells whether the mode keeps to a floor.
func (m MovementMode) Grounded() bool { return m == ModeWalking }

// Rotator is an orientation in degrees, each within (-180, 180].
type Rotator struct{ Pitch, Yaw, Roll float64 }

// MoveFlags is the reference's CompressedFlags byte: the buttons of a move as
// the simulation reads them.
type MoveFlags uint8

// The bits of MoveFlags. FlagReserved has no meaning and is refused in a
// packet; the four custom bits are a game's.
const (
	FlagJumpPressed   MoveFlags = 0x01
	FlagWantsToCrouch MoveFlags = 0x02
	FlagForceMaxAccel MoveFlags = 0x04
	FlagReserved      MoveFlags = 0x08
	FlagCustom0       MoveFlags = 0x10
	FlagCustom1       MoveFlags = 0x20
	FlagCustom2       MoveFlags = 0x40
	FlagCustom3       MoveFlags = 0x80
)

// Has tells whether all bits of f are set.
func (m MoveFlags) Has(f MoveFlags) bool { return m&f == f }

// MovementState is everything the next step of a character reads and writes:
// the authoritative state on the server, the predicted one on the owner, the
// extrapolated one on an onlooker. Whatever seeds a simulation on another
// machine carries all of it, exactly. The floor is not here: it is found again
// at the start of a step.
type MovementState struct {
	// Location is the capsule's centre, cm.
	Location Vec3
	// Velocity in cm/s.
	Velocity Vec3
	// Acceleration is what the last step accelerated with (rounded and clamped
	// input), cm/s². Forced updates go on with it, animations read it.
	Acceleration Vec3
	// GravityDir is the unit direction of gravity; (0, 0, -1) by default.
	GravityDir Vec3
	// Rotation of the character, degrees.
	Rotation Rotator

	// Base is the moving base the character stands on, 0 for none or for the
	// static level. BaseLocation is Location in the base's frame and BaseYaw
	// is Rotation.Yaw less the base's yaw, both as the last step left them;
	// the next step starts from where the base has carried them.
	Base         NetID
	BaseLocation Vec3
	BaseYaw      float64

	// Radius and HalfHeight are the capsule as it is now (HalfHeight, caps
	// included, is smaller while crouched), cm.
	Radius, HalfHeight float64
	// TimeDilation scales the step's time; 1 by default.
	TimeDilation float64

	// JumpHold is how long the present jump has been held, JumpCount the jumps
	// since the ground, WasJumping whether the last step's jump button was
	// already used for a jump (a press makes one jump).
	JumpHold   Ticks
	JumpCount  uint8
	WasJumping bool

	Mode     MovementMode
	Crouched bool
	_        [4]byte // explicit padding: the state is compared and hashed as bytes
}

// MoveCommand is what a step is given: one move of a client, one tick of a
// server-controlled character. Acceleration is rounded to tenths and Control
// packed before the owner simulates, so both ends read the same.
type MoveCommand struct {
	// Acceleration is the wanted acceleration in world axes, rounded to 0.1
	// cm/s² per part; the step clamps it to the profile's maximum.
	Acceleration Vec3
	// ObstacleTime is the server time at which the owner saw the moving bases.
	ObstacleTime Ticks
	// Dt is the step's span: the difference of two stamps.
	Dt Ticks
	// Stamp is the move's time stamp at its end; 0 for characters without a
	// remote owner.
	Stamp   Stamp
	Profile ProfileRef
	// Control is where the player looks.
	Control PackedRotator
	Flags   MoveFlags
	_       [1]byte
}

// PackedRotator is an orientation in 1/65,536 of a turn: the control rotation
// as it goes on the wire and as the simulation uses it.
type PackedRotator struct{ Pitch, Yaw, Roll uint16 }

// PackAngle rounds degrees to 1/65,536 of a turn, wrapping. What is not
// finite gives 0.
func PackAngle(deg float64) uint16 {
	if deg-deg != 0 {
		return 0
	}
	t := deg / 360
	t -= floor(t) // 0..1, exact subtraction of a whole number
	return uint16(uint32(floor(float64(t*65536)+0.5)) & 0xffff)
}

// UnpackAngle is the angle in degrees, within (-180, 180]. Exact.
func UnpackAngle(a uint16) float64 {
	d := float64(a) * 360 / 65536
	if d > 180 {
		d -= 360
	}
	return d
}

// Pack packs r.
func (r Rotator) Pack() PackedRotator {
	return PackedRotator{PackAngle(r.Pitch), PackAngle(r.Yaw), PackAngle(r.Roll)}
}

// Unpack is the orientation in degrees.
func (p PackedRotator) Unpack() Rotator {
	return Rotator{UnpackAngle(p.Pitch), UnpackAngle(p.Yaw), UnpackAngle(p.Roll)}
}
