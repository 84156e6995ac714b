package bits

import (
	"encoding/binary"
	"errors"
)

// ErrShort: more bits were asked for than there are.
var ErrShort = errors.New("bits: input too short")

// ErrInvalid: bits that no Writer produces: a value outside its range, not
// finite, or written longer than it has to be.
var ErrInvalid = errors.New("bits: invalid encoding")

// Reader takes bits out of a buffer in the order in which Writer packed them.
// It does not allocate, does not change the buffer and never panics, whatever
// the bytes are.
//
// Errors stick, the first one is kept. After an error nothing remains, and
// every read gives its codec's zero (ReadRange: the lower bound); loops over
// what remains therefore end, and Err is checked once, at the end of a
// message. A Reader is a value: a copy of it is a mark, and assigning the copy
// back is a rollback.
type Reader struct {
	buf      []byte
	pos, end int
	err      error
}

// NewReader is a Reader over all bits of b.
func NewReader(b []byte) Reader { return Reader{buf: b, end: len(b) * 8} }

// Reset starts again at the first bit of b.
func (r *Reader) Reset(b []byte) { *r = NewReader(b) }

// Bits counts the bits read so far from the start of the buffer. After an
// error it is of no meaning.
func (r *Reader) Bits() int { return r.pos }

// Remaining is the number of bits left; 0 after an error.
func (r *Reader) Remaining() int { return r.end - r.pos }

// Err is nil, ErrShort or ErrInvalid.
func (r *Reader) Err() error { return r.err }

// Invalid sets ErrInvalid, for codecs built on top of this package.
func (r *Reader) Invalid() { r.fail(ErrInvalid) }

func (r *Reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.pos = r.end
}

// Sub takes the next n bits out of r as a Reader of their own, which cannot
// read past them. If r has fewer than n left, both have ErrShort; n under 0 is
// ErrInvalid. The parent does not learn of the errors of its part.
func (r *Reader) Sub(n int) Reader {
	switch {
	case n < 0:
		r.fail(ErrInvalid)
	case n > r.Remaining():
		r.fail(ErrShort)
	}
	if r.err != nil {
		return Reader{err: r.err}
	}
	s := Reader{buf: r.buf, pos: r.pos, end: r.pos + n}
	r.pos += n
	return s
}

// Finish ends a message: what remains must be the padding of the last byte,
// under 8 bits and all zero, else ErrInvalid. It returns Err.
func (r *Reader) Finish() error {
	if n := r.Remaining(); n > 7 || r.ReadBits(uint(n&7)) != 0 {
		r.Invalid()
	}
	return r.err
}

// ReadBits reads n bits, 0..64; more panics.
func (r *Reader) ReadBits(n uint) uint64 {
	checkWidth("bits.Reader: ReadBits", n)
	if int(n) > r.end-r.pos {
		r.fail(ErrShort)
		return 0
	}
	v := r.peek(n)
	r.pos += int(n)
	return v
}

// peek is the next n bits, which must be there.
func (r *Reader) peek(n uint) uint64 {
	if n == 0 {
		return 0
	}
	i, s := r.pos>>3, uint(r.pos&7)
	var v uint64
	if i+8 <= len(r.buf) {
		v = binary.LittleEndian.Uint64(r.buf[i:]) >> s
		if s+n > 64 {
			v |= uint64(r.buf[i+8]) << (64 - s)
		}
	} else {
		// The last seven bytes of the buffer: s+n is at most 56 here.
		for j := (r.pos + int(n) - 1) >> 3; j >= i; j-- {
			v = v<<8 | uint64(r.buf[j])
		}
		v >>= s
	}
	return v & (^uint64(0) >> (64 - n))
}

// ReadBool reads 1 bit.
func (r *Reader) ReadBool() bool { return r.ReadBits(1) != 0 }

// Align reads up to the next whole byte of the buffer; the bits skipped must
// be zero, else ErrInvalid.
func (r *Reader) Align() {
	if r.err == nil && r.ReadBits(uint(-r.pos&7)) != 0 {
		r.Invalid()
	}
}

// ReadBytes fills dst with the next 8*len(dst) bits, aligned or not, or with
// zeros on an error.
func (r *Reader) ReadBytes(dst []byte) {
	if len(dst) > r.Remaining()>>3 {
		r.fail(ErrShort)
		clear(dst)
		return
	}
	if r.pos&7 == 0 {
		copy(dst, r.buf[r.pos>>3:])
		r.pos += 8 * len(dst)
		return
	}
	for ; len(dst) >= 8; dst = dst[8:] {
		binary.LittleEndian.PutUint64(dst, r.ReadBits(64))
	}
	for i := range dst {
		dst[i] = byte(r.ReadBits(8))
	}
}

// ReadByteAligned reads Align's padding and then n bytes, which are a part of
// the Reader's own buffer: no copy. It is nil on an error; n under 0 is
// ErrInvalid.
func (r *Reader) ReadByteAligned(n int) []byte {
	r.Align()
	switch {
	case n < 0:
		r.Invalid()
	case n > r.Remaining()>>3:
		r.fail(ErrShort)
	}
	if r.err != nil {
		return nil
	}
	i := r.pos >> 3
	r.pos += 8 * n
	return r.buf[i : i+n : i+n]
}
