package components

import "github.com/go-gl/mathgl/mgl32"

// ReplicatedMovement is a character as onlookers are told of it: gathered from
// the authoritative state on the server, received on every client but the
// owner's. Newest wins; no field of it is ever smoothed. It is the registry's
// first replicated type.
type ReplicatedMovement struct {
	// Location in world axes, or relative to Base where that is not 0; cm,
	// rounded as the location quantisation says.
	Location Vec3
	// Velocity in cm/s; Acceleration is sent only where the settings say so.
	Velocity, Acceleration Vec3
	// GravityDir is the replicated direction of gravity.
	GravityDir Vec3
	// Rotation, degrees, as the rotation quantisation says; relative to the
	// base's yaw on a base.
	Rotation Rotator
	// ServerTime at which the state was gathered.
	ServerTime Ticks
	// TransformTime is the time of the place itself: client move time carried
	// over to server time (ServerLastTransformUpdateTimeStamp), so that a late
	// move does not look like a jerk; the server's tick where there is no
	// owner or the settings say so.
	TransformTime Ticks
	Base          NetID
	// Teleports counts teleports, modulo 256: a change is never smoothed.
	Teleports uint8
	Mode      MovementMode
	Crouched  bool
	// JumpForce: a jump is being held (bProxyIsJumpForceApplied).
	JumpForce bool
	// HasAcceleration: Acceleration was replicated and is real.
	HasAcceleration bool
	_               [7]byte
}

// NetUpdate tells what arrived for a proxy since its last tick
// (bNetworkUpdateReceived and its kin). All fields of a snapshot land before
// any of these is read.
type NetUpdate struct {
	// Received: the state of ReplicatedMovement is new and not applied yet.
	Received bool
	// ModeChanged, GravityChanged, BaseChanged, CrouchChanged against the last applied one.
	ModeChanged, GravityChanged, BaseChanged, CrouchChanged bool
	// JustTeleported: the capsule was moved by the network in this tick.
	JustTeleported bool
	// Spawned: nothing was applied yet; the first state is taken as it is.
	Spawned bool
	// AppliedTeleports is the teleport count applied last.
	AppliedTeleports uint8
}

// Teleports counts a character's teleports on the server, for
// ReplicatedMovement.
type Teleports struct{ Count uint8 }

// NetUpdateTimer says when the server gathers a character's next snapshot.
type NetUpdateTimer struct {
	// Next is the server time of it; Gathered the last one's.
	Next, Gathered Ticks
	// Interval in ticks; 0 takes the settings' net update frequency.
	Interval Ticks
	// Force gathers in this tick (a teleport, a change that cannot wait).
	Force bool
	_     [7]byte
}

// SmoothingMode says how a corrected mesh returns to its capsule.
type SmoothingMode uint8

// The smoothing modes. Buffered is gait's own addition to the reference's
// three: it draws a measured delay behind.
const (
	SmoothExponential SmoothingMode = iota
	SmoothLinear
	SmoothDisabled
	SmoothBuffered
)

var smoothingNames = [...]string{"exponential", "linear", "disabled", "buffered"}

func (m SmoothingMode) String() string {
	if int(m) < len(smoothingNames) {
		return smoothingNames[m]
	}
	return "unknown"
}

// MeshSmoothing is the offset between the capsule, which is the truth, and the
// mesh, which is drawn. It only draws, so it is float32.
type MeshSmoothing struct {
	// TranslationOffset is mesh less capsule, cm; OriginalTranslationOffset
	// what a linear smoothing began with.
	TranslationOffset, OriginalTranslationOffset mgl32.Vec3
	// RotationOffset is mesh yaw less capsule yaw, degrees; the others as in
	// the reference's linear mode.
	RotationOffset, OriginalRotationOffset, RotationTarget float32
	Mode                                                   SmoothingMode
	// Complete: the offset is exactly zero and nothing is left to do.
	Complete bool
	_        [2]byte
	// ServerTimeStamp, ClientTimeStamp are the smoothing clocks of the linear
	// mode; LastCorrectionTime and LastCorrectionDelta the last update's.
	ServerTimeStamp, ClientTimeStamp        Ticks
	LastCorrectionTime, LastCorrectionDelta Ticks
	// Buffer is the snapshot buffer of the buffered mode, a handle into
	// SnapshotBuffers.
	Buffer Handle
	_      [4]byte
}

// MeshTransform is where the mesh is drawn: capsule, plus smoothing offset (and
// visual interpolation under a fixed tick), less the base translation. Written
// by MeshSmooth at the end of the Visual phase; a view reads nothing else.
type MeshTransform struct {
	Location Vec3
	Rotation Rotator
	// Valid is false until the first Visual phase after the spawn.
	Valid bool
	_     [7]byte
}

// VisualInterpolation holds the last two simulated places under a fixed tick,
// between which MeshSmooth draws with the clock's alpha.
type VisualInterpolation struct {
	PrevLocation, Location Vec3
	PrevYaw, Yaw           float64
	// HalfHeight of the capsule at the end of the last step.
	HalfHeight     float64
	Base, PrevBase NetID
	// Valid is false until two steps were made, and after a teleport.
	Valid bool
	_     [7]byte
}

// SnapshotsKept bounds a proxy's buffer.
const SnapshotsKept = 32

// SnapshotBuffer is a proxy's last snapshots for buffered interpolation,
// ordered by TransformTime.
type SnapshotBuffer struct {
	Samples [SnapshotsKept]BufferedSnapshot
	N       int
	// Delay is the present delay behind the server clock, Jitter its smoothed
	// spread of arrival, in seconds; PlayTime is the server time now drawn.
	Delay, Jitter float64
	PlayTime      Ticks
	Started       bool
}

// BufferedSnapshot is one remembered place.
type BufferedSnapshot struct {
	Time     Ticks
	Location Vec3
	Velocity Vec3
	Yaw      float64
	Base     NetID
	Teleport bool
}

// SnapshotBuffers is the slab of snapshot buffers, a resource of a client
// world.
type SnapshotBuffers struct{ Slab[SnapshotBuffer] }
