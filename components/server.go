package components

// MoveKind says which part of a container a move came in.
type MoveKind uint8

// The kinds, in the order in which they are executed.
const (
	MoveOld MoveKind = iota
	MovePending
	MoveNew
)

// MoveData is a move as it came over the wire (NetworkMoveData).
type MoveData struct {
	Cmd  MoveCommand
	Kind MoveKind
	// ClaimMode, ClaimBase and Claim are where the owner says it ended: the
	// place is relative to ClaimBase where that is not 0, and rounded to 0.01
	// cm. Only a new move has a claim.
	ClaimMode MovementMode
	ClaimBase NetID
	Claim     Vec3
}

// MaxReceivedMoves bounds what one character's owner can have executed in one
// tick; more is refused and counted.
const MaxReceivedMoves = 128

// ReceivedMoves are a character's moves of this tick, in execution order.
type ReceivedMoves struct {
	Moves [MaxReceivedMoves]MoveData
	N     int
}

// ReceivedQueues is the slab of received moves, a resource of a server world.
type ReceivedQueues struct{ Slab[ReceivedMoves] }

// ServerPrediction is the server's data for a remotely controlled character.
type ServerPrediction struct {
	Received Handle
	Poses    Handle

	// CurrentClientTimeStamp is the stamp executed last, in ticks and signed:
	// a reset takes the period off it.
	CurrentClientTimeStamp Ticks
	// ServerAccumulatedClientTimeStamp is the client time executed in all; no
	// reset touches it.
	ServerAccumulatedClientTimeStamp Ticks
	// ServerTimeStamp is the server's time at the last executed move.
	ServerTimeStamp Ticks
	// LastObstacleTime that a move named; it never runs backwards.
	LastObstacleTime Ticks
	// HasStamp: a first move was executed and the stamps above are valid.
	HasStamp bool
	// ForceUpdate asks for a correction at the next verdict.
	ForceUpdate bool
	// NotReady: the server does not take this character's input yet; its
	// moves run without acceleration.
	NotReady bool
	_        [1]byte
	// LastAckedStamp is the stamp of the last answer that was sent.
	LastAckedStamp Stamp
	// Last is the last executed move's command: a silent client's forced
	// updates go on with its control rotation and stance.
	Last MoveCommand
	// Profile is the character's profile as the last move found it, Previous
	// the one before, which moves may name until PreviousUntil.
	Profile, Previous ProfileRef
	PreviousUntil     Ticks
	// TransformOffset carries client time over to server time for
	// ReplicatedMovement.TransformTime.
	TransformOffset Ticks

	// LastCheckTime is when a claim was last compared (ClientErrorUpdateRateLimit).
	LastCheckTime Ticks
	// The two clocks of the response throttle.
	LastAckTime, LastAdjustTime Ticks

	Pending     PendingAdjustment
	Discrepancy TimeDiscrepancy
	Forced      ForcedUpdate
	Trust       TrustWindow
}

// CorrectionReason names why a claim was refused.
type CorrectionReason uint8

// The reasons.
const (
	CorrectNone CorrectionReason = iota
	CorrectPosition
	CorrectMode
	CorrectAcceleration
	CorrectForced
	CorrectRequested
	CorrectDiscrepancy
	CorrectBase
	CorrectExtension
	NumCorrectionReasons
)

var correctionNames = [...]string{"none", "position", "mode", "acceleration", "forced", "requested", "discrepancy", "base", "extension"}

func (r CorrectionReason) String() string {
	if int(r) < len(correctionNames) {
		return correctionNames[r]
	}
	return "unknown"
}

// PendingAdjustment is the one slot for the answer to the newest move; a later
// verdict of the same tick overwrites it. It is cleared at the end of the tick
// whether or not it was sent: the next verdict says the same again.
type PendingAdjustment struct {
	State MovementState
	Stamp Stamp
	// Valid: there is an answer to give.
	Valid, AckGood bool
	Reason         CorrectionReason
	// Large: the error was over LargeCorrectionDistance, whose throttle is shorter.
	Large bool
	// ErrorSq is the squared distance between claim and server, cm².
	ErrorSq float64
	// Send: the throttles let it out in this tick.
	Send bool
	_    [7]byte
}

// TimeDiscrepancy is the state of the speed-hack detection: how far the
// client's time has run ahead of the server's, in seconds.
type TimeDiscrepancy struct {
	// Time is the discrepancy within the margins, less the drift allowance;
	// Lifetime the sum over the character's life, LifetimeRaw without the
	// allowance.
	Time, Lifetime, LifetimeRaw float64
	// LastServerTime and LastClientStamp at the last valid stamp.
	LastServerTime, LastClientStamp Ticks
	// Resolving: the client's delta is being replaced by the server's.
	Resolving bool
	// Started: the two values above are valid.
	Started bool
	_       [2]byte
	// Detections counts how often the margin was passed.
	Detections uint32
	// Override is the span that the current move may take while resolving.
	Override Ticks
}

// ForcedUpdate is the state of the movement the server gives a silent client.
type ForcedUpdate struct {
	// Since is the server time at which the silence was first filled; Spent
	// how much of MaxClientForcedUpdateDuration is used.
	Since, Spent Ticks
	// HitchUntil: nothing is forced before it, after a hitch of the server's
	// own and while an owner's late moves arrive.
	HitchUntil Ticks
	Active     bool
	_          [7]byte
}

// TrustWindow is the client's authority after a change of base, cm and ticks.
type TrustWindow struct {
	Until    Ticks
	LastBase NetID
	Falling  bool
	_        [3]byte
}

// PosesKept is how many past poses of a character the server holds.
const PosesKept = 64

// PoseSample is where a character was at a server time, for rewinding.
type PoseSample struct {
	Time       Ticks
	Location   Vec3
	Yaw        float64
	HalfHeight float64
}

// PoseRing is a character's recent past, newest at Next-1.
type PoseRing struct {
	Samples [PosesKept]PoseSample
	N       int
	Next    int
}

// Push adds the newest sample. Samples of its time or later go for it, so
// times in the ring always advance.
func (r *PoseRing) Push(s PoseSample) {
	for r.N > 0 && s.Time <= r.Samples[(r.Next+PosesKept-1)%PosesKept].Time {
		r.Next = (r.Next + PosesKept - 1) % PosesKept
		r.N--
	}
	r.Samples[r.Next] = s
	r.Next = (r.Next + 1) % PosesKept
	if r.N < PosesKept {
		r.N++
	}
}

// At interpolates the pose at a time, held at both ends; false when empty.
// The yaw is the nearer sample's.
func (r *PoseRing) At(t Ticks) (PoseSample, bool) {
	if r.N == 0 {
		return PoseSample{}, false
	}
	oldest := (r.Next + PosesKept - r.N) % PosesKept
	prev := r.Samples[oldest]
	if t <= prev.Time {
		return prev, true
	}
	for i := 1; i < r.N; i++ {
		s := r.Samples[(oldest+i)%PosesKept]
		if t < s.Time { // at a sample's time as it is: prev + (s-prev)*1 may round elsewhere
			f := float64(t-prev.Time) / float64(s.Time-prev.Time)
			out := s
			if f < 0.5 {
				out = prev
			}
			for k := range out.Location {
				out.Location[k] = prev.Location[k] + float64((s.Location[k]-prev.Location[k])*f)
			}
			out.Time = t
			return out, true
		}
		prev = s
	}
	return prev, true
}

// PoseRings is the slab of pose rings, a resource of a server world.
type PoseRings struct{ Slab[PoseRing] }
