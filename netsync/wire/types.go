package wire

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

// WriteTypes writes the message KindTypes: the replicated types of a game that
// a character has, as a block of its registry. Which of them a receiver gets
// is the block's business; base is an empty block until deltas have a better
// one. The newest message is whole, so a lost one costs nothing but time.
func WriteTypes(w *bits.Writer, id components.NetID, reg *components.Registry, block, base []byte) {
	writeKind(w, KindTypes)
	writeID(w, id)
	reg.EncodeBlock(components.KindReplicated, w, block, base)
}

// ReadTypes reads what WriteTypes wrote behind its kind into dst, which is to be
// used only if the error is nil.
func ReadTypes(r *bits.Reader, reg *components.Registry, dst, base []byte) (components.NetID, error) {
	t := track{r: r}
	t.at("id")
	id := readID(r)
	t.at("block")
	if reg.DecodeBlock(components.KindReplicated, r, dst, base) != nil {
		r.Invalid()
	}
	return id, t.err("types")
}

// WriteInitialTypes writes a whole message of the reliable channel: the same at
// a spawn, with what is told once.
func WriteInitialTypes(w *bits.Writer, id components.NetID, reg *components.Registry, block, base []byte) {
	beginReliable(w, ReliableTypes)
	writeID(w, id)
	reg.EncodeBlock(components.KindReplicated, w, block, base)
	w.Align()
}

// ReadInitialTypes reads the body of a ReliableTypes.
func ReadInitialTypes(body []byte, reg *components.Registry, dst, base []byte) (components.NetID, error) {
	r := bits.NewReader(body)
	t := track{r: &r}
	t.at("id")
	id := readID(&r)
	t.at("block")
	if reg.DecodeBlock(components.KindReplicated, &r, dst, base) != nil {
		r.Invalid()
	}
	return id, finish(&t, ReliableTypes)
}
