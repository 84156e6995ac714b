package wire

import (
	"unicode/utf8"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

// The handshake's layout never changes with the protocol's version: two builds
// of different versions can still tell each other so.
const (
	// Magic follows the kind in each packet of the handshake: "gait".
	Magic = 0x74696167
	// HandshakeSalt starts the CRC of the handshake's packets.
	HandshakeSalt = 0x67a17001
	// KnockBytes is the length of a Request and of a Response with its CRC.
	// Both are padded to it with zeros, so that no answer is ever longer than
	// what it answers.
	KnockBytes = 256
	// RefuseTextMax is the longest sentence of a Refuse in bytes.
	RefuseTextMax = 192
	// Hashes is how many named hashes two ends compare.
	Hashes = 3
)

// RefuseCode says why a server does not let a client in.
type RefuseCode uint8

// The refuse codes.
const (
	RefuseVersion RefuseCode = iota + 1 // another protocol version
	RefuseHash                          // a named hash differs
	RefuseFull                          // no free slot
	RefuseGame                          // the game said no
	refuseCodes
)

// String is a word for the code.
func (c RefuseCode) String() string {
	switch c {
	case RefuseVersion:
		return "version"
	case RefuseHash:
		return "hash"
	case RefuseFull:
		return "full"
	case RefuseGame:
		return "refused"
	}
	return "unknown"
}

// Reason says why a connection ended.
type Reason uint8

// The reasons. A Disconnect tells the other end which one it was, None excepted.
const (
	ReasonNone     Reason = iota
	ReasonQuit            // the other side, or this one, left
	ReasonShutdown        // the server closes
	ReasonReplaced        // a newer connection of the same player took over
	ReasonKicked          // the game ended it
	ReasonTimeout         // nothing was heard for too long
	ReasonProtocol        // the other end sent what no end sends
	reasons
)

var reasonNames = [reasons]string{"none", "quit", "shutdown", "replaced", "kicked", "timeout", "protocol"}

// String is a word for the reason.
func (r Reason) String() string {
	if r < reasons {
		return reasonNames[r]
	}
	return "unknown"
}

// Request asks to be let in.
type Request struct {
	Version  uint32
	Nonce    uint64 // names this attempt; answers carry it
	Player   components.PlayerID
	StartSeq bits.Seq16 // sequence of the client's first packet
	Hashes   [Hashes]uint64
}

// Challenge asks for proof of address.
type Challenge struct {
	Nonce  uint64
	Issued components.Ticks
	Cookie uint64
}

// Response is the request again, with what the challenge gave.
type Response struct {
	Request
	Issued components.Ticks
	Cookie uint64
}

// Accept lets a client in.
type Accept struct {
	Nonce    uint64
	Conn     uint32
	Slot     uint16
	StartSeq bits.Seq16 // sequence of the server's first packet
	Time     components.Ticks
	Tick     uint64
}

// Refuse keeps a client out. Which is the number of the hash that differs;
// Server and Client are the two values that differ, if such there are.
type Refuse struct {
	Nonce          uint64
	Code           RefuseCode
	Which          uint8
	Server, Client uint64
	Text           string // at most RefuseTextMax bytes, UTF-8
}

// Disconnect ends a connection. It is sealed as the connection's packets are.
type Disconnect struct {
	Conn   uint32
	Seq    bits.Seq16
	Reason Reason
}

func begin(w *bits.Writer, buf []byte, k Kind) {
	w.Reset(buf)
	w.WriteBits(uint64(k), 8)
	w.WriteBits(Magic, 32)
}

func seal(w *bits.Writer, length int) []byte {
	b := w.Bytes()
	if n := length - bits.CRCBytes; len(b) < n {
		clear(b[len(b):n])
		b = b[:n]
	}
	return bits.SealCRC(b, HandshakeSalt)
}

// OpenHandshake checks magic and CRC of a datagram of the handshake and is a
// reader of its body; ok is false for anything else.
func OpenHandshake(b []byte) (k Kind, body bits.Reader, ok bool) {
	b, ok = bits.CheckCRC(b, HandshakeSalt)
	if !ok {
		return 0, bits.Reader{}, false
	}
	r := bits.NewReader(b)
	v := r.ReadBits(8)
	magic := r.ReadBits(32)
	if r.Err() != nil || magic != Magic || v > uint64(KindRefuse) {
		return 0, bits.Reader{}, false
	}
	return Kind(v), r, true
}

func finishPadding(r *bits.Reader) error {
	for r.Remaining() > 0 {
		if r.ReadBits(uint(min(r.Remaining(), 64))) != 0 {
			r.Invalid()
		}
	}
	return r.Err()
}

func (q *Request) write(w *bits.Writer) {
	w.WriteBits(uint64(q.Version), 32)
	w.WriteBits(q.Nonce, 64)
	w.WriteBits(uint64(q.Player), 64)
	w.WriteBits(uint64(q.StartSeq), 16)
	for _, h := range q.Hashes {
		w.WriteBits(h, 64)
	}
}

func (q *Request) read(r *bits.Reader) {
	q.Version = uint32(r.ReadBits(32))
	q.Nonce = r.ReadBits(64)
	q.Player = components.PlayerID(r.ReadBits(64))
	q.StartSeq = bits.Seq16(r.ReadBits(16))
	for i := range q.Hashes {
		q.Hashes[i] = r.ReadBits(64)
	}
}

// Seal packs q into buf, of at least KnockBytes, padded and sealed.
func (q *Request) Seal(buf []byte) []byte {
	var w bits.Writer
	begin(&w, buf, KindRequest)
	q.write(&w)
	return seal(&w, KnockBytes)
}

// Read reads the body of a Request.
func (q *Request) Read(r bits.Reader) error {
	q.read(&r)
	return finishPadding(&r)
}

// Seal packs c into buf, of at least KnockBytes.
func (c *Challenge) Seal(buf []byte) []byte {
	var w bits.Writer
	begin(&w, buf, KindChallenge)
	w.WriteBits(c.Nonce, 64)
	w.WriteBits(uint64(c.Issued), 64)
	w.WriteBits(c.Cookie, 64)
	return seal(&w, 0)
}

// Read reads the body of a Challenge.
func (c *Challenge) Read(r bits.Reader) error {
	c.Nonce = r.ReadBits(64)
	c.Issued = components.Ticks(r.ReadBits(64))
	c.Cookie = r.ReadBits(64)
	return r.Finish()
}

// Seal packs p into buf, of at least KnockBytes, padded and sealed.
func (p *Response) Seal(buf []byte) []byte {
	var w bits.Writer
	begin(&w, buf, KindResponse)
	p.write(&w)
	w.WriteBits(uint64(p.Issued), 64)
	w.WriteBits(p.Cookie, 64)
	return seal(&w, KnockBytes)
}

// Read reads the body of a Response.
func (p *Response) Read(r bits.Reader) error {
	p.read(&r)
	p.Issued = components.Ticks(r.ReadBits(64))
	p.Cookie = r.ReadBits(64)
	return finishPadding(&r)
}

// Seal packs a into buf, of at least KnockBytes.
func (a *Accept) Seal(buf []byte) []byte {
	var w bits.Writer
	begin(&w, buf, KindAccept)
	w.WriteBits(a.Nonce, 64)
	w.WriteBits(uint64(a.Conn), 32)
	w.WriteBits(uint64(a.Slot), 16)
	w.WriteBits(uint64(a.StartSeq), 16)
	w.WriteBits(uint64(a.Time), 64)
	w.WriteBits(a.Tick, 64)
	return seal(&w, 0)
}

// Read reads the body of an Accept.
func (a *Accept) Read(r bits.Reader) error {
	a.Nonce = r.ReadBits(64)
	a.Conn = uint32(r.ReadBits(32))
	a.Slot = uint16(r.ReadBits(16))
	a.StartSeq = bits.Seq16(r.ReadBits(16))
	a.Time = components.Ticks(r.ReadBits(64))
	a.Tick = r.ReadBits(64)
	return r.Finish()
}

// Seal packs f into buf, of at least KnockBytes. Its text is cut at
// RefuseTextMax bytes.
func (f *Refuse) Seal(buf []byte) []byte {
	var w bits.Writer
	begin(&w, buf, KindRefuse)
	w.WriteBits(f.Nonce, 64)
	w.WriteBits(uint64(f.Code), 8)
	w.WriteBits(uint64(f.Which), 8)
	w.WriteBits(f.Server, 64)
	w.WriteBits(f.Client, 64)
	text := f.Text
	for len(text) > RefuseTextMax || !utf8.ValidString(text) {
		text = text[:min(len(text)-1, RefuseTextMax)]
	}
	w.WriteBits(uint64(len(text)), 8)
	w.WriteBytes([]byte(text))
	return seal(&w, 0)
}

// Read reads the body of a Refuse.
func (f *Refuse) Read(r bits.Reader) error {
	f.Nonce = r.ReadBits(64)
	f.Code = RefuseCode(r.ReadBits(8))
	f.Which = uint8(r.ReadBits(8))
	f.Server = r.ReadBits(64)
	f.Client = r.ReadBits(64)
	n := int(r.ReadBits(8))
	if f.Code < 1 || f.Code >= refuseCodes || n > RefuseTextMax {
		r.Invalid()
	}
	text := r.ReadByteAligned(n)
	if !utf8.Valid(text) {
		r.Invalid()
	}
	if err := r.Finish(); err != nil {
		return err
	}
	f.Text = string(text)
	return nil
}

// Write writes d: the clear part of a connected packet without flags, and the
// reason.
func (d *Disconnect) Write(w *bits.Writer) {
	w.WriteBits(uint64(KindDisconnect), 8)
	w.WriteBits(uint64(d.Conn), 32)
	w.WriteBits(uint64(d.Seq), 16)
	w.WriteBits(uint64(d.Reason), 8)
}

// Read reads an opened Disconnect.
func (d *Disconnect) Read(r bits.Reader) error {
	if Kind(r.ReadBits(8)) != KindDisconnect {
		r.Invalid()
	}
	d.Conn = uint32(r.ReadBits(32))
	d.Seq = bits.Seq16(r.ReadBits(16))
	d.Reason = Reason(r.ReadBits(8))
	if d.Reason == ReasonNone || d.Reason >= reasons {
		r.Invalid()
	}
	return r.Finish()
}
