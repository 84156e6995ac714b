package wire

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

const reasonBits = 4

// WriteResponse writes the message KindAnswer: an acknowledgement (about 42
// bits) or a ClientAdjustment with the exact state at the end of the move (580
// more). A state that is not finite or that no step could work with, and a
// stamp of 0, set bits.ErrRange in w.
func WriteResponse(w *bits.Writer, id components.NetID, m *components.MoveResponse) {
	writeKind(w, KindAnswer)
	writeID(w, id)
	writeEpoch(w, m.Epoch)
	if m.Stamp == 0 || m.Stamp >= 1<<components.StampBits || m.Reason >= components.NumCorrectionReasons {
		w.Refuse()
	}
	w.WriteBits(uint64(m.Stamp), components.StampBits)
	w.WriteBool(m.AckGood)
	if !m.AckGood {
		w.WriteBits(uint64(m.Reason), reasonBits)
		writeState(w, &m.State)
	}
}

// ReadResponse reads what WriteResponse wrote behind its kind. The state and
// the reason of an acknowledgement are zero. id and m are to be used only if
// the error is nil.
func ReadResponse(r *bits.Reader, m *components.MoveResponse) (components.NetID, error) {
	t := track{r: r}
	*m = components.MoveResponse{}
	t.at("id")
	id := readID(r)
	t.at("epoch")
	m.Epoch = readEpoch(r)
	t.at("stamp")
	m.Stamp = components.Stamp(r.ReadBits(components.StampBits))
	t.check(m.Stamp != 0)
	t.at("ack")
	m.AckGood = r.ReadBool()
	if !m.AckGood {
		t.at("reason")
		m.Reason = components.CorrectionReason(r.ReadBits(reasonBits))
		t.check(m.Reason < components.NumCorrectionReasons)
		readState(&t, &m.State)
	}
	return id, t.err("answer")
}
