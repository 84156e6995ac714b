package wire

import (
	"errors"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

// Bounds of a container.
const (
	// MaxContainerBits is the reference's cap on a packed move container
	// (p.NetPackedMovementMaxBits); a longer one is refused on both sides.
	MaxContainerBits = 4096
	// MaxContainerMoves is all that an owner can have saved.
	MaxContainerMoves = components.MaxSavedMoves

	countBits = 7
)

// ErrContainerTooLong: a container of more than MaxContainerBits.
var ErrContainerTooLong = errors.New("wire: move container over 4096 bits")

// ErrContainerMoves: a plan names a move that is not there, moves out of
// order, or a move that no container carries (its acceleration is off the grid
// of 0.1, its span 0 or over MaxMoveDt, its stamp 0, its place not finite).
var ErrContainerMoves = errors.New("wire: move container of moves that cannot be sent")

// ContainerContext is what both ends know from outside of a container.
type ContainerContext struct {
	// ViewTime is the server time that the client looks at. Where it is exact
	// to viewReach ticks on both ends, as a header tells it, HasView is set on
	// both: the new move's obstacle time then needs 6 bits. Without HasView it
	// may be 145 s off (the server's own time serves), and the obstacle time
	// takes 24 bits.
	ViewTime components.Ticks
	HasView  bool
	// Extension, when set, reads a game's own block of a move. age counts from
	// the new move, 0, to older ones. The reader holds that block alone; it is
	// valid during the call. Without it blocks are skipped.
	Extension func(r *bits.Reader, age int)
}

// ContainerPlan says which moves of a queue go into a container.
type ContainerPlan struct {
	ID    components.NetID
	Epoch uint16
	// New, Pending and Old are indices into the queue, from new to old; -1 is
	// none for the last two. Old is of the reference form only.
	New, Pending, Old int
	// DualHybrid: the pending move is without root motion, the new one with.
	// DisableCombinedScoped keeps the server from running the two as one scoped
	// update. Both travel only with a pending move.
	DualHybrid            bool
	DisableCombinedScoped bool
	// Full carries, behind the moves above, every older one that is not marked
	// as received, newest first, within Budget bytes (0: none).
	Full   bool
	Budget int
	// Stick is the grid for accelerations; zero is DefaultStick.
	Stick Stick
	// Extension, when set, writes a game's own block behind each move; i is an
	// index into the queue. A block has at most 4,095 bits, and all of them
	// count against MaxContainerBits.
	Extension func(w *bits.Writer, i int)
}

// ContainerReport says what a container carries.
type ContainerReport struct {
	// Moves in all, and the index of the oldest of them.
	Moves, Oldest int
	// GivenUp is how many unreceived moves found no room in the budget.
	GivenUp int
}

// WriteContainer writes the message KindMoves. An error that a larger buffer
// would not help is also left in w (bits.ErrRange); a buffer that is full
// shows in w alone, as for every message.
func WriteContainer(w *bits.Writer, q *components.MoveQueue, p *ContainerPlan, ctx ContainerContext) (ContainerReport, error) {
	start := w.Bits()
	if !p.valid(q) {
		w.Refuse()
		return ContainerReport{}, ErrContainerMoves
	}
	c := chain{stick: p.Stick}
	if c.stick == (Stick{}) {
		c.stick = DefaultStick
	}
	writeKind(w, KindMoves)
	writeID(w, p.ID)
	writeEpoch(w, p.Epoch)
	w.WriteBool(p.Full)
	plain := p.Extension == nil && c.stick == DefaultStick
	w.WriteBool(!plain)
	if !plain {
		w.WriteBool(p.Extension != nil)
		c.stick.write(w)
	}

	rep := ContainerReport{Moves: 1, Oldest: p.New}
	newest := q.At(p.New)
	c.writeNew(w, &newest.Cmd, &ctx)
	writeClaim(w, &newest.End)
	p.extend(w, p.New)
	w.WriteBool(p.Pending >= 0)
	if p.Pending >= 0 {
		w.WriteBool(p.DualHybrid)
		p.older(w, q, &c, p.Pending, false, &rep)
	}
	if !p.Full {
		w.WriteBool(p.Old >= 0)
	}
	if p.Old >= 0 {
		p.older(w, q, &c, p.Old, true, &rep)
	}
	if p.Pending >= 0 {
		w.WriteBool(p.DisableCombinedScoped)
	}
	if p.Full {
		p.writeRest(w, q, &c, start, &rep)
	}
	switch {
	case w.Err() == bits.ErrRange:
		return ContainerReport{}, ErrContainerMoves
	case w.Bits()-start > MaxContainerBits:
		w.Refuse()
		return ContainerReport{}, ErrContainerTooLong
	}
	return rep, nil
}

func (p *ContainerPlan) valid(q *components.MoveQueue) bool {
	older := p.New
	if p.New < 0 || p.New >= q.Len() || (p.Full && p.Old >= 0) || (p.Stick != (Stick{}) && !p.Stick.valid()) {
		return false
	}
	for _, i := range [2]int{p.Pending, p.Old} {
		if i >= older {
			return false
		}
		if i >= 0 {
			older = i
		}
	}
	return true
}

func (p *ContainerPlan) older(w *bits.Writer, q *components.MoveQueue, c *chain, i int, apart bool, rep *ContainerReport) {
	c.writeOlder(w, &q.At(i).Cmd, apart)
	p.extend(w, i)
	rep.Moves++
	rep.Oldest = i
}

// writeRest writes the count and the moves of the full form. The newest run
// that fits is kept: what is given up is what the server is likeliest to have.
// A move that cannot be written ends the run as well.
func (p *ContainerPlan) writeRest(w *bits.Writer, q *components.MoveQueue, c *chain, start int, rep *ContainerReport) {
	head := w.Mark()
	w.WriteBits(0, countBits)
	from := w.Bits()
	limit := min(from+8*max(p.Budget, 0), start+MaxContainerBits)
	n := 0
	for i := rep.Oldest - 1; i >= 0; i-- {
		if q.At(i).Received {
			continue
		}
		if rep.GivenUp > 0 {
			rep.GivenUp++
			continue
		}
		mark, before, was := w.Mark(), *c, *rep
		p.older(w, q, c, i, false, rep)
		if w.Bits() > limit || w.Err() == bits.ErrRange {
			w.Rollback(mark)
			*c, *rep = before, was
			rep.GivenUp = 1
			continue
		}
		n++
	}
	w.PatchBits(head, uint64(n), countBits)
}

const (
	extensionBits = 12
	claimDecimals = 2
)

func (p *ContainerPlan) extend(w *bits.Writer, i int) {
	if p.Extension == nil {
		return
	}
	m := w.Mark()
	w.WriteBits(0, extensionBits)
	from := w.Bits()
	p.Extension(w, i)
	n := w.Bits() - from
	if n >= 1<<extensionBits {
		w.Refuse()
	}
	w.PatchBits(m, uint64(n), extensionBits)
}

// writeClaim writes where the owner says that the new move ended: relative to
// the base it stands on, if there is one.
func writeClaim(w *bits.Writer, s *components.MovementState) {
	writeMode(w, s.Mode)
	writeBase(w, s.Base)
	at := s.Location
	if s.Base != 0 {
		at = s.BaseLocation
	}
	writePlace(w, at, claimDecimals)
}

func readClaim(t *track, m *components.MoveData) {
	r := t.r
	t.at("claim mode")
	m.ClaimMode = readMode(r)
	t.at("claim base")
	m.ClaimBase = readBase(r)
	t.at("claim")
	m.Claim = readPlace(t, claimDecimals)
}
