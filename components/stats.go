package components

// DropReason names why a move was not executed.
type DropReason uint8

// The reasons. Redundant copies are what full redundancy is made of and no
// fault; the rest are.
const (
	// DropRedundant: the move was executed before (a repeated copy).
	DropRedundant DropReason = iota
	// DropExpired: it is older than the newest executed move and never was executed.
	DropExpired
	DropZeroStamp
	// DropTooFarAhead: its stamp lies more than half the reset period ahead.
	DropTooFarAhead
	DropQueueFull
	// DropEpoch: it belongs to another possession.
	DropEpoch
	// DropNotOwner: its sender does not own the character.
	DropNotOwner
	DropUnknownCharacter
	// DropInvalid: a field lies outside what any owner sends.
	DropInvalid
	// DropProfile: it names a profile revision that is no longer verified.
	DropProfile
	// DropSimulatedLoss: the debug switch ate it.
	DropSimulatedLoss
	NumDropReasons
)

var dropNames = [...]string{"redundant", "expired", "zero_stamp", "too_far_ahead", "queue_full", "epoch", "not_owner", "unknown_character", "invalid", "profile", "simulated_loss"}

func (r DropReason) String() string {
	if int(r) < len(dropNames) {
		return dropNames[r]
	}
	return "unknown"
}

// IgnoreReason names why an owner did not apply a response.
type IgnoreReason uint8

// The reasons.
const (
	// IgnoreUnknownMove: no saved move has the stamp (answered before, dropped,
	// or from the future).
	IgnoreUnknownMove IgnoreReason = iota
	// IgnoreUnresolvedBase: the correction is relative to a base that this
	// client does not know yet.
	IgnoreUnresolvedBase
	IgnoreEpoch
	// IgnoreDisabled: corrections are switched off for the moment.
	IgnoreDisabled
	// IgnoreInvalid: a field is not finite or names nothing.
	IgnoreInvalid
	IgnoreInboxFull
	NumIgnoreReasons
)

var ignoreNames = [...]string{"unknown_move", "unresolved_base", "epoch", "disabled", "invalid", "inbox_full"}

func (r IgnoreReason) String() string {
	if int(r) < len(ignoreNames) {
		return ignoreNames[r]
	}
	return "unknown"
}

// Stats counts what the systems did, a resource. Only ever added to.
type Stats struct {
	// Server.
	Moves          uint64 // executed, forced ones not counted
	ForcedMoves    uint64
	MovesDropped   [NumDropReasons]uint64
	AcksSent       uint64
	CorrectionsOut [NumCorrectionReasons]uint64 // verdicts sent as corrections
	Verdicts       uint64                       // claims compared
	Adopted        uint64                       // claims adopted
	ObstacleClamps uint64                       // moves whose obstacle time was clamped
	DtClamps       uint64                       // moves longer than the server takes
	Discrepancies  uint64                       // detections
	StampResets    uint64
	LostSlots      uint64 // slab slots that a sweep found orphaned

	// Owner.
	MovesMade      uint64
	MovesCombined  uint64
	SavedDropped   uint64 // oldest saved moves that had to go
	Acks           uint64
	Corrections    [NumCorrectionReasons]uint64 // distinct corrections applied
	Ignored        [NumIgnoreReasons]uint64
	Replays        uint64
	ReplayedMoves  uint64
	ReplayedMax    uint64
	ContainersSent uint64

	// Onlooker.
	Snapshots      uint64 // applied
	SnapshotsStale uint64
	Teleports      uint64
}

// TotalCorrections that the owner applied, over all reasons.
func (s *Stats) TotalCorrections() uint64 { return sum(s.Corrections[:]) }

// TotalCorrectionsOut that the server sent, over all reasons.
func (s *Stats) TotalCorrectionsOut() uint64 { return sum(s.CorrectionsOut[:]) }

func sum(v []uint64) (n uint64) {
	for _, x := range v {
		n += x
	}
	return n
}
