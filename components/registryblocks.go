package components

import (
	"math/bits"
	"unsafe"

	netbits "github.com/gaitnet/gait/netsync/bits"
)

// A block holds one value of every registered input type, or of every
// predicted one: a word whose bit Index tells that the type of that Index is
// present, then the values, each at its own alignment. A block of an empty kind
// has no bytes. Blocks lie in memory only: their layout differs by target and
// never crosses the wire as it is.

// InputStride is the size of a block of inputs in bytes, a multiple of 8; 0
// when no input type is registered.
func (r *Registry) InputStride() int { return r.Stride(KindInput) }

// PredictedStride is the same for predicted types.
func (r *Registry) PredictedStride() int { return r.Stride(KindPredicted) }

// Stride is the size of a block of one kind.
func (r *Registry) Stride(k TypeKind) int { r.mustBeSealed(); return r.strides[k] }

// Present is the word of a block that marks the types it has, bit by Index.
func Present(block []byte) uint64 {
	if len(block) == 0 {
		return 0
	}
	return *(*uint64)(unsafe.Pointer(&block[0]))
}

func setPresent(block []byte, m uint64) { *(*uint64)(unsafe.Pointer(&block[0])) = m }

// In is where the type's value lies in a block of its kind, nil when the block
// does not have the type.
func (t *TypeInfo) In(block []byte) unsafe.Pointer {
	if Present(block)>>t.Index&1 == 0 {
		return nil
	}
	return t.at(block)
}

func (t *TypeInfo) at(block []byte) unsafe.Pointer { return unsafe.Pointer(&block[t.offset]) }

func (r *Registry) checkBlock(k TypeKind, block []byte) {
	if len(block) != r.Stride(k) {
		panic("components.Registry: a block of " + k.String() + " types has another size than its stride")
	}
}

// CaptureBlock fills a block of a kind with copies of live values. get gives a
// type's value, nil where the character has no such component; what is absent
// becomes zero bytes, so equal characters give equal blocks up to padding.
func (r *Registry) CaptureBlock(k TypeKind, dst []byte, get func(*TypeInfo) unsafe.Pointer) {
	r.checkBlock(k, dst)
	if len(dst) == 0 {
		return
	}
	clear(dst)
	var m uint64
	for i, t := range r.types[k] {
		if p := get(t); p != nil {
			t.Copy(t.at(dst), p)
			m |= 1 << i
		}
	}
	setPresent(dst, m)
}

// RestoreBlock writes a block's values back over live ones and returns the
// types whose presence differs, by Index: a bit is set where the block has the
// type and get gives nil, or the other way round. Adding and removing
// components is the caller's.
func (r *Registry) RestoreBlock(k TypeKind, src []byte, get func(*TypeInfo) unsafe.Pointer) uint64 {
	r.checkBlock(k, src)
	if len(src) == 0 {
		return 0
	}
	var differ uint64
	for i, t := range r.types[k] {
		live, saved := get(t), t.In(src)
		switch {
		case live != nil && saved != nil:
			t.Copy(live, saved)
		case live != nil || saved != nil:
			differ |= 1 << i
		}
	}
	return differ
}

// EqualBlocks compares two blocks of a kind: the same types with equal values.
func (r *Registry) EqualBlocks(k TypeKind, a, b []byte) bool {
	r.checkBlock(k, a)
	r.checkBlock(k, b)
	m := Present(a)
	if m != Present(b) {
		return false
	}
	for ; m != 0; m &= m - 1 {
		t := r.types[k][bits.TrailingZeros64(m)]
		if !t.Equal(t.at(a), t.at(b)) {
			return false
		}
	}
	return true
}

// DiffBlocks names the first difference of two blocks of a kind, by Index of
// type and order of field, and whether there is one. It allocates.
func (r *Registry) DiffBlocks(k TypeKind, a, b []byte) (Difference, bool) {
	r.checkBlock(k, a)
	r.checkBlock(k, b)
	word := [...]string{"absent", "present"}
	for i, t := range r.types[k] {
		ha, hb := Present(a)>>i&1, Present(b)>>i&1
		if ha != hb {
			return Difference{Type: t.Name, A: word[ha], B: word[hb]}, true
		}
		if ha == 1 {
			if d, ok := t.FirstDifference(t.at(a), t.at(b)); ok {
				return d, true
			}
		}
	}
	return Difference{}, false
}

// EncodeBlock writes a block of a kind against base, which both ends hold: no
// bit for an empty kind; else 1 bit where nothing differs as sent; else for
// each type a bit that tells whether it is present and, if so, its delta
// against base's value (against the zero value where base has none).
func (r *Registry) EncodeBlock(k TypeKind, w *netbits.Writer, block, base []byte) {
	r.checkBlock(k, block)
	r.checkBlock(k, base)
	if len(block) == 0 {
		return
	}
	same := r.sameAsSent(k, block, base)
	w.WriteBool(!same)
	if same {
		return
	}
	for _, t := range r.types[k] {
		p := t.In(block)
		w.WriteBool(p != nil)
		if p != nil {
			t.EncodeDelta(w, p, t.at(base))
		}
	}
}

// sameAsSent asks the codecs: values that differ below their steps are equal.
func (r *Registry) sameAsSent(k TypeKind, a, b []byte) bool {
	m := Present(a)
	if m != Present(b) {
		return false
	}
	for ; m != 0; m &= m - 1 {
		t := r.types[k][bits.TrailingZeros64(m)]
		if !t.ops.same(t.at(a), t.at(b), t) {
			return false
		}
	}
	return true
}

// DecodeBlock reads what EncodeBlock wrote against the same base into dst,
// which is not base. On an error, which is r's, dst holds base.
func (r *Registry) DecodeBlock(k TypeKind, rd *netbits.Reader, dst, base []byte) error {
	r.checkBlock(k, dst)
	r.checkBlock(k, base)
	if len(dst) == 0 {
		return rd.Err()
	}
	copy(dst, base)
	if !rd.ReadBool() {
		return rd.Err()
	}
	var m uint64
	for i, t := range r.types[k] {
		if rd.ReadBool() {
			m |= 1 << i
			_ = t.DecodeDelta(rd, t.at(dst), t.at(base)) // rd keeps the error
		} else {
			t.Clear(t.at(dst))
		}
	}
	setPresent(dst, m)
	if rd.Err() == nil && r.canonical[k] && r.sameAsSent(k, dst, base) {
		rd.Invalid() // has a shorter form
	}
	if err := rd.Err(); err != nil {
		copy(dst, base)
		return err
	}
	return nil
}

// BlockShape is how many blocks a slot of a BlockStore has.
type BlockShape struct{ Inputs, States int }

// Blocks beside a MoveQueue. The input of the move in ring place s
// (MoveQueue.Slot) is InputBlock s, the input of LastAcked the one behind the
// last; the predicted state at that move's start and end are StateBlock
// 2s and 2s+1, that of Responses[i] is StateBlock FirstResponseBlock+i.
const (
	LastAckedBlock     = MaxSavedMoves
	FirstResponseBlock = 2 * MaxSavedMoves
)

// MoveBlocks is the shape beside a MoveQueue.
var MoveBlocks = BlockShape{Inputs: MaxSavedMoves + 1, States: 2*MaxSavedMoves + MaxResponses}

// BlockStore is the memory for blocks beside a slab: what a MoveQueue saves of
// the game's own types. It goes by the slab's handles: Attach when the slab
// gives one out. A slot's memory is made once and used again by whoever gets
// the slot; nothing is made while no type of a kind is registered.
//
// It belongs to one world and one goroutine at a time; reading and writing
// blocks of different handles is safe from several.
type BlockStore struct {
	shape            BlockShape
	inputs, states   int // strides in bytes
	slots            []blockSlot
	inputsAt, stride int // a slot's parts in bytes: states behind the inputs
}

type blockSlot struct {
	mem    []uint64
	handle Handle
}

// NewBlockStore makes an empty store over a sealed registry.
func NewBlockStore(r *Registry, shape BlockShape) *BlockStore {
	if shape.Inputs < 0 || shape.States < 0 {
		panic("components.BlockStore: a negative number of blocks")
	}
	s := &BlockStore{shape: shape, inputs: r.InputStride(), states: r.PredictedStride()}
	s.inputsAt = s.inputs * shape.Inputs
	s.stride = s.inputsAt + s.states*shape.States
	return s
}

// Attach gives the slot behind h its blocks, zeroed. It allocates only for a
// slot that never had any. h must be a live handle of the slab.
func (s *BlockStore) Attach(h Handle) {
	if h&slotMask == 0 {
		panic("components.BlockStore: Attach of no handle")
	}
	i := int(uint32(h)&slotMask - 1)
	for len(s.slots) <= i {
		s.slots = append(s.slots, blockSlot{})
	}
	sl := &s.slots[i]
	sl.handle = h
	if sl.mem == nil && s.stride > 0 {
		sl.mem = make([]uint64, s.stride/8)
		return
	}
	clear(sl.mem)
}

// Detach makes the blocks of h unreachable, for when the slab's handle is
// freed. A stale handle does nothing; forgetting to detach does no harm.
func (s *BlockStore) Detach(h Handle) {
	if i := uint(h)&slotMask - 1; i < uint(len(s.slots)) && s.slots[i].handle == h {
		s.slots[i].handle = 0
	}
}

// InputBlock is the i-th input block of h: InputStride bytes, at a multiple of
// 8; nil for a handle that is not attached. An i outside the shape panics.
func (s *BlockStore) InputBlock(h Handle, i int) []byte {
	if uint(i) >= uint(s.shape.Inputs) {
		panic("components.BlockStore: InputBlock outside the shape")
	}
	return s.block(h, i*s.inputs, s.inputs)
}

// StateBlock is the i-th block of predicted state of h, as InputBlock.
func (s *BlockStore) StateBlock(h Handle, i int) []byte {
	if uint(i) >= uint(s.shape.States) {
		panic("components.BlockStore: StateBlock outside the shape")
	}
	return s.block(h, s.inputsAt+i*s.states, s.states)
}

func (s *BlockStore) block(h Handle, off, n int) []byte {
	i := uint(h)&slotMask - 1
	if i >= uint(len(s.slots)) || s.slots[i].handle != h || n == 0 {
		return nil
	}
	all := unsafe.Slice((*byte)(unsafe.Pointer(&s.slots[i].mem[0])), s.stride)
	return all[off : off+n : off+n]
}

// NewBlock is one block of a kind of its own, rightly aligned: for baselines,
// tests and the answer that waits to be sent.
func (r *Registry) NewBlock(k TypeKind) []byte {
	n := r.Stride(k)
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&make([]uint64, n/8)[0])), n)
}
