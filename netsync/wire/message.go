package wire

import (
	"errors"
	"strings"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

// MessageKind is what a message of a payload is: the first kindBits bits of it.
type MessageKind uint8

// The kinds of messages. A payload is messages one behind the other, without
// padding between them, so that several characters share a datagram.
const (
	// KindEnd ends a payload: it is the zero bits that fill the last byte, or
	// the end of the buffer itself.
	KindEnd      MessageKind = iota
	KindMoves                // client to server: WriteContainer
	KindAnswer               // server to owner: WriteResponse
	KindSnapshot             // server to onlookers: WriteSnapshot
	KindTypes                // server to client: WriteTypes
	messageKinds
)

const kindBits = 4

var messageNames = [messageKinds]string{"end", "moves", "answer", "snapshot", "types"}

// String is a word for the kind.
func (k MessageKind) String() string {
	if k < messageKinds {
		return messageNames[k]
	}
	return "unknown"
}

// ErrMessage is what every FieldError wraps.
var ErrMessage = errors.New("wire: malformed message")

// FieldError tells which field of a message no end sends so: it is out of its
// range, or the message ends before it does. The message as a whole is
// refused; what was read of the packet before it stays good.
type FieldError struct{ Message, Field string }

func (e *FieldError) Error() string {
	return "wire: malformed message: " + e.Message + ": " + e.Field
}

// Unwrap is ErrMessage.
func (e *FieldError) Unwrap() error { return ErrMessage }

// track remembers the field that is being read, so that an error names it.
type track struct {
	r     *bits.Reader
	field string
}

// at opens the next field, unless an earlier one was already wrong.
func (t *track) at(field string) {
	if t.r.Err() == nil {
		t.field = field
	}
}

// check refuses the field when ok is false.
func (t *track) check(ok bool) {
	if !ok {
		t.r.Invalid()
	}
}

func (t *track) err(message string) error {
	if t.r.Err() == nil {
		return nil
	}
	// A copy: what goes into an error must not make readers escape.
	return &FieldError{message, strings.Clone(t.field)}
}

// ReadKind reads the kind of the next message of a payload. KindEnd comes once
// for the whole rest, which must be less than a byte of zero bits. A kind that
// this build does not know is an error: its length is not known either.
func ReadKind(r *bits.Reader) (MessageKind, error) {
	if r.Err() != nil {
		return KindEnd, &FieldError{"payload", "kind"}
	}
	n := r.Remaining()
	if n < kindBits {
		if r.ReadBits(uint(n)) != 0 {
			return KindEnd, &FieldError{"payload", "padding"}
		}
		return KindEnd, nil
	}
	k := MessageKind(r.ReadBits(kindBits))
	switch {
	case k >= messageKinds:
		return KindEnd, &FieldError{"payload", "kind"}
	case k == KindEnd && r.Finish() != nil:
		return KindEnd, &FieldError{"payload", "padding"}
	}
	return k, nil
}

func writeKind(w *bits.Writer, k MessageKind) { w.WriteBits(uint64(k), kindBits) }

// Orders of the codes that several messages share.
const (
	idOrder    = 8 // 9 bits up to 255, 11 up to 767, 13 up to 1,791
	epochOrder = 0 // 1 bit for epoch 1, 3 for 2 and 3
	modeOrder  = 1 // 2 bits for none and walking, 4 for falling to flying
	refOrder   = 0 // 1 bit for revision 1 of profile 0, 5 for revision 2 of it
)

func writeID(w *bits.Writer, id components.NetID) {
	if id == 0 {
		w.Refuse()
	}
	w.WriteUint(uint64(id), idOrder)
}

func readID(r *bits.Reader) components.NetID {
	id := r.ReadUint(idOrder)
	if id == 0 || id > 1<<32-1 {
		r.Invalid()
		return 0
	}
	return components.NetID(id)
}

// writeBase writes an ID that may be none: 1 bit for 0.
func writeBase(w *bits.Writer, id components.NetID) {
	w.WriteBool(id != 0)
	if id != 0 {
		writeID(w, id)
	}
}

func readBase(r *bits.Reader) components.NetID {
	if !r.ReadBool() {
		return 0
	}
	return readID(r)
}

func read16(r *bits.Reader, k uint) uint16 {
	v := r.ReadUint(k)
	if v > 1<<16-1 {
		r.Invalid()
		return 0
	}
	return uint16(v)
}

// writeEpoch counts from 1, the first epoch; 0 comes last.
func writeEpoch(w *bits.Writer, e uint16) { w.WriteUint(uint64(e-1), epochOrder) }

func readEpoch(r *bits.Reader) uint16 { return read16(r, epochOrder) + 1 }

func writeMode(w *bits.Writer, m components.MovementMode) { w.WriteUint(uint64(m), modeOrder) }

func readMode(r *bits.Reader) components.MovementMode {
	m := r.ReadUint(modeOrder)
	if m > 1<<8-1 {
		r.Invalid()
		return 0
	}
	return components.MovementMode(m)
}

// firstRef is the first profile of a table as it was put in.
var firstRef = components.ProfileRef{ID: 0, Revision: 1}

// writeRef: 1 bit for firstRef. Revisions count from 1.
func writeRef(w *bits.Writer, p components.ProfileRef) {
	w.WriteBool(p != firstRef)
	if p != firstRef {
		w.WriteUint(uint64(p.ID), refOrder)
		w.WriteUint(uint64(p.Revision-1), refOrder)
	}
}

func readRef(r *bits.Reader) components.ProfileRef {
	if !r.ReadBool() {
		return firstRef
	}
	id := components.ProfileID(read16(r, refOrder))
	p := components.ProfileRef{ID: id, Revision: read16(r, refOrder) + 1}
	if p == firstRef {
		r.Invalid()
	}
	return p
}
