package bits

import (
	"encoding/binary"
	"errors"
	"strconv"
)

// ErrOverflow: more bits were written than the buffer holds.
var ErrOverflow = errors.New("bits: buffer too small")

// ErrRange: a value was written that its codec cannot carry (outside a range,
// not finite, not of unit length), so that no reader would take it.
var ErrRange = errors.New("bits: value outside its codec's range")

// Writer packs bits into a buffer that the caller gives, from the lowest bit
// of the first byte upwards. It does not allocate and never touches anything
// behind the buffer's length; what lies in the buffer behind the cursor is
// overwritten at will.
//
// Errors stick. Once a write does not fit nothing more is stored, but bits are
// still counted, so Bits tells how much was wanted; a Writer without a buffer
// (the zero value) is thus a measure. Err is checked once, at the end of a
// message.
type Writer struct {
	buf []byte
	n   int
	bad bool // ErrRange since the last Reset
}

// Mark is a place to which a Writer can go back.
type Mark struct {
	n   int
	bad bool
}

// NewWriter is a Writer over buf[:len(buf)].
func NewWriter(buf []byte) Writer { return Writer{buf: buf} }

// Reset starts again at the first bit of buf[:len(buf)]; nil measures only.
func (w *Writer) Reset(buf []byte) { *w = Writer{buf: buf} }

// Bits counts the bits written so far, those that did not fit included.
func (w *Writer) Bits() int { return w.n }

// Room is the number of bits that still fit.
func (w *Writer) Room() int { return max(len(w.buf)*8-w.n, 0) }

// Err is nil, ErrRange or ErrOverflow.
func (w *Writer) Err() error {
	switch {
	case w.bad:
		return ErrRange
	case w.n > len(w.buf)*8:
		return ErrOverflow
	}
	return nil
}

// Bytes is the part of the buffer that was written, the last byte filled up
// with zero bits. It is nil after an error: a torn message is not to be sent.
func (w *Writer) Bytes() []byte {
	if w.Err() != nil {
		return nil
	}
	return w.buf[:(w.n+7)>>3]
}

// Mark is the present place, errors included.
func (w *Writer) Mark() Mark { return Mark{w.n, w.bad} }

// Rollback undoes all that was written since m was taken from this Writer,
// and the errors that came with it.
func (w *Writer) Rollback(m Mark) {
	if m.n > w.n {
		panic("bits.Writer: Rollback to a mark ahead of the cursor")
	}
	w.n, w.bad = m.n, m.bad
	if s := uint(w.n & 7); s != 0 && w.n <= len(w.buf)*8 {
		w.buf[w.n>>3] &= 1<<s - 1
	}
}

// PatchBits replaces the n bits that were written at m, for a count or a flag
// that is known only after what follows it. It is lost if those bits did not
// fit.
func (w *Writer) PatchBits(m Mark, v uint64, n uint) {
	checkWidth("bits.Writer: PatchBits", n)
	if m.n+int(n) > w.n {
		panic("bits.Writer: PatchBits ahead of the cursor")
	}
	if m.n+int(n) > len(w.buf)*8 {
		return
	}
	for p := m.n; n > 0; {
		s := uint(p & 7)
		k := min(8-s, n)
		mask := byte(1<<k-1) << s
		b := &w.buf[p>>3]
		*b = *b&^mask | byte(v<<s)&mask
		v >>= k
		n -= k
		p += int(k)
	}
}

// WriteBits writes the low n bits of v, the lowest first; higher bits of v are
// ignored. n is 0..64; more panics.
func (w *Writer) WriteBits(v uint64, n uint) {
	checkWidth("bits.Writer: WriteBits", n)
	p := w.n
	w.n += int(n)
	if w.n > len(w.buf)*8 || n == 0 {
		return
	}
	v &= ^uint64(0) >> (64 - n)
	i, s := p>>3, uint(p&7)
	head := uint64(w.buf[i]) & (1<<s - 1)
	if i+8 <= len(w.buf) {
		binary.LittleEndian.PutUint64(w.buf[i:], head|v<<s)
		if s+n > 64 {
			w.buf[i+8] = byte(v >> (64 - s))
		}
		return
	}
	// The last seven bytes of the buffer: s+n is at most 56 here.
	v = head | v<<s
	for end := (w.n + 7) >> 3; i < end; i++ {
		w.buf[i] = byte(v)
		v >>= 8
	}
}

// WriteBool writes 1 bit.
func (w *Writer) WriteBool(b bool) {
	var v uint64
	if b {
		v = 1
	}
	w.WriteBits(v, 1)
}

// Align writes zero bits up to the next whole byte: 0 to 7 bits.
func (w *Writer) Align() { w.WriteBits(0, uint(-w.n&7)) }

// WriteBytes writes 8*len(b) bits from where the cursor is, aligned or not. It
// stores all of b or nothing.
func (w *Writer) WriteBytes(b []byte) {
	if w.n+8*len(b) > len(w.buf)*8 {
		w.n += 8 * len(b)
		return
	}
	if w.n&7 == 0 {
		copy(w.buf[w.n>>3:], b)
		w.n += 8 * len(b)
		return
	}
	for ; len(b) >= 8; b = b[8:] {
		w.WriteBits(binary.LittleEndian.Uint64(b), 64)
	}
	for _, c := range b {
		w.WriteBits(uint64(c), 8)
	}
}

// WriteByteAligned writes Align's padding and then b, so that a reader can
// take b out without a copy.
func (w *Writer) WriteByteAligned(b []byte) {
	w.Align()
	w.WriteBytes(b)
}

// Refuse sets ErrRange, for codecs built on top of this package.
func (w *Writer) Refuse() { w.bad = true }

func checkWidth(who string, n uint) {
	if n > 64 {
		panic(who + " of " + strconv.FormatUint(uint64(n), 10) + " bits")
	}
}
