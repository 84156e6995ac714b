package components

// MaxSavedMoves bounds the queue of moves that the server has not answered:
// past it the oldest go and are counted.
const MaxSavedMoves = 96

// SavedMove is one move of the owner, kept until the server has answered it:
// its input, the state it began from and the state it ended in. Replay
// overwrites End.
type SavedMove struct {
	Cmd        MoveCommand
	Start, End MovementState
	// MaxSpeed at the move's start; moves of different limits do not combine.
	MaxSpeed float64

	// ForceNoCombine: it emitted an event, or was replayed while pending.
	ForceNoCombine bool
	// OldTimeStampBeforeReset: it was made before the stamp's last reset.
	OldTimeStampBeforeReset bool
	// Sent at least once; Received: a packet that carried it was acknowledged,
	// so it need not be sent again (the server has it, whatever its verdict).
	Sent, Received bool
	// Events is how many events the move emitted.
	Events uint8
	_      [3]byte
}

// MoveQueue is the owner's saved moves, oldest first, a ring in a slab.
type MoveQueue struct {
	moves [MaxSavedMoves]SavedMove
	head  int
	n     int

	// LastAcked is the newest move the server has answered, the yardstick for
	// important moves.
	LastAcked    SavedMove
	HasLastAcked bool
	// Pending: the newest move is held back from sending and may combine with
	// the next.
	Pending bool

	// Responses[:NumResponses] came in since the last frame.
	Responses    [MaxResponses]MoveResponse
	NumResponses int
	// Sends[:NumSends] are the containers to send this frame.
	Sends    [MaxSends]MoveSend
	NumSends int
}

// MaxResponses that one frame takes in; further ones are refused and counted
// (the newest says all).
const MaxResponses = 8

// MaxSends bounds the containers of one frame: a frame of n fixed steps makes
// up to n/2 of them.
const MaxSends = 8

// MoveSend asks for one container: New is the stamp of its new move, Dual that
// the move before it goes along as its pending move, Old the stamp of an
// important unanswered move to repeat, 0 for none.
type MoveSend struct {
	New, Old Stamp
	Dual     bool
	_        [3]byte
}

// Len is the number of saved moves.
func (q *MoveQueue) Len() int { return q.n }

// At is the i-th oldest move. It stays valid until that move is removed.
func (q *MoveQueue) At(i int) *SavedMove { return &q.moves[(q.head+i)%MaxSavedMoves] }

// Slot is the place in the ring of the i-th oldest move, 0..MaxSavedMoves-1. A
// move keeps its place while it is queued: blocks beside the queue go by it.
func (q *MoveQueue) Slot(i int) int { return (q.head + i) % MaxSavedMoves }

// Newest is the last saved move, nil when there is none.
func (q *MoveQueue) Newest() *SavedMove {
	if q.n == 0 {
		return nil
	}
	return q.At(q.n - 1)
}

// Push appends room for a move and returns it cleared, with whether the
// oldest had to go for it.
func (q *MoveQueue) Push() (m *SavedMove, dropped bool) {
	if q.n == MaxSavedMoves {
		q.head = (q.head + 1) % MaxSavedMoves
		q.n--
		dropped = true
	}
	q.n++
	m = q.At(q.n - 1)
	*m = SavedMove{}
	return m, dropped
}

// PopNewest takes the newest move off the queue; what it leaves behind is not
// held back.
func (q *MoveQueue) PopNewest() {
	if q.n > 0 {
		q.n--
		q.Pending = false
	}
}

// Index finds the newest move with a stamp; -1 if there is none. Moves made
// before a reset are found as well: the queue spans far less than a period, so
// no stamp is in it twice.
func (q *MoveQueue) Index(stamp Stamp) int {
	// Responses are for recent moves: look from the new end.
	for i := q.n - 1; i >= 0; i-- {
		if m := q.At(i); m.Cmd.Stamp == stamp {
			return i
		}
	}
	return -1
}

// Ack removes the moves up to index i, the last of which becomes LastAcked.
func (q *MoveQueue) Ack(i int) {
	if i < 0 || i >= q.n {
		return
	}
	q.LastAcked = *q.At(i)
	q.HasLastAcked = true
	q.head = (q.head + i + 1) % MaxSavedMoves
	q.n -= i + 1
	if q.n == 0 {
		q.Pending = false
	}
}

// Reset empties the queue: a new possession begins.
func (q *MoveQueue) Reset() {
	q.head, q.n, q.NumResponses, q.NumSends = 0, 0, 0, 0
	q.HasLastAcked, q.Pending = false, false
	q.LastAcked = SavedMove{}
}

// MoveQueues is the slab of the owner's queues, a resource of a client world.
type MoveQueues struct{ Slab[MoveQueue] }

// ClientPrediction is the owner's prediction data. The queue it refers to lies
// in MoveQueues.
type ClientPrediction struct {
	Queue Handle
	// CurrentTimeStamp of the movement clock, less its resets.
	CurrentTimeStamp Stamp
	// ClientUpdateTime is when a container was last queued to send.
	ClientUpdateTime Ticks
	// UpdatePosition: a correction was applied and the moves after it wait to
	// be replayed at the start of the next tick.
	UpdatePosition bool
	// Updating: a replay is running; sounds and effects must stay silent.
	Updating bool
	// IgnoreCorrections only trims the queue (a cut scene, a possession change).
	IgnoreCorrections bool
	_                 [5]byte
	// Before is where the capsule was when the pending correction came in; the
	// owner's mesh is smoothed from there.
	Before Vec3
	// BeforeYaw goes with it, degrees.
	BeforeYaw float64
}

// MoveResponse is the server's answer to a move: an acknowledgement, or a
// ClientAdjustment that carries the exact state at the move's end.
type MoveResponse struct {
	State   MovementState
	Stamp   Stamp
	Epoch   uint16
	AckGood bool
	Reason  CorrectionReason
}
