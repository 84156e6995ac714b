package transport

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net/netip"
	"sync"

	"github.com/gaitnet/gait/components"
)

// The layout of a recording; doc.go explains it.
const (
	recordingMagic   = "gaitrec\n"
	recordingVersion = 1
	recordingHeader  = 16 // magic, version, reserved, checksum
	recordHeader     = 17 // kind, stream, tag, when, length
	recordTrailer    = 4  // checksum
)

// MaxRecord is the longest payload of a record in bytes.
const MaxRecord = 1 << 24

// ErrRecordTooLarge: a record's data is longer than MaxRecord.
var ErrRecordTooLarge = errors.New("transport: record longer than 16 MiB")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// RecordKind says what a record of a recording is.
type RecordKind uint8

// The kinds of records. The numbers are those of the file.
const (
	// RecordStream begins a stream: Addr is its Conn's local address.
	RecordStream RecordKind = 1
	// RecordFrame begins a frame of a stream, at When.
	RecordFrame RecordKind = 2
	// RecordReceived is a datagram that the owner received from Addr. Tag is how
	// many times before, in that frame, Receive had said that there was nothing.
	RecordReceived RecordKind = 3
	// RecordSent is a datagram that was sent to Addr.
	RecordSent RecordKind = 4
	// RecordSendFailed is one that Send refused; it has no data.
	RecordSendFailed RecordKind = 5
	// RecordTagged is what the owner wrote, under a Tag of its own choice.
	RecordTagged RecordKind = 6
	// recordEnd is the last record: the number of records before it.
	recordEnd RecordKind = 7
)

// Recorder writes a session into one file: the datagrams of one or several
// Conns with the frames in which they were received and sent, and whatever
// else the owner needs to play it again (seed, settings, inputs). It may be
// used by several goroutines; the order within a stream is kept.
//
// An error of the writer stops the recording and not the session: it is kept,
// and Err and Close return it.
type Recorder struct {
	mu      sync.Mutex
	w       *bufio.Writer
	err     error
	count   uint64
	closed  bool
	scratch []byte
}

// NewRecorder starts a recording on w, which the Recorder does not close.
func NewRecorder(w io.Writer) *Recorder {
	r := &Recorder{w: bufio.NewWriterSize(w, 1<<16), scratch: make([]byte, 0, 2048)}
	h := append(r.scratch, recordingMagic...)
	h = binary.LittleEndian.AppendUint16(h, recordingVersion)
	h = binary.LittleEndian.AppendUint16(h, 0)
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
	_, r.err = r.w.Write(h)
	return r
}

// Write adds a record of the owner's: tag says what it is, and stream, which
// need not have a Conn, whose.
func (r *Recorder) Write(stream, tag uint16, when components.Ticks, data []byte) error {
	if len(data) > MaxRecord {
		return ErrRecordTooLarge
	}
	return r.add(RecordTagged, stream, tag, when, nil, data)
}

// Err is the first error of the writer; nil while all is well.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close marks the recording as complete and flushes it. What is recorded
// afterwards returns ErrClosed.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return r.err
	}
	var count [8]byte
	binary.LittleEndian.PutUint64(count[:], r.count)
	r.put(recordEnd, 0, 0, 0, nil, count[:])
	r.closed = true
	if err := r.w.Flush(); r.err == nil {
		r.err = err
	}
	return r.err
}

func (r *Recorder) add(kind RecordKind, stream, tag uint16, when components.Ticks, addr *netip.AddrPort, data []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.put(kind, stream, tag, when, addr, data)
	return r.err
}

func (r *Recorder) put(kind RecordKind, stream, tag uint16, when components.Ticks, addr *netip.AddrPort, data []byte) {
	if r.err != nil {
		return
	}
	b := append(r.scratch[:0], byte(kind))
	b = binary.LittleEndian.AppendUint16(b, stream)
	b = binary.LittleEndian.AppendUint16(b, tag)
	b = binary.LittleEndian.AppendUint64(b, uint64(when))
	b = append(b, 0, 0, 0, 0)
	if addr != nil {
		at := len(b)
		b = append(b, 0)
		// AppendBinary has an error in its signature only.
		b, _ = addr.AppendBinary(b)
		b[at] = byte(len(b) - at - 1)
	}
	binary.LittleEndian.PutUint32(b[recordHeader-4:], uint32(len(b)-recordHeader+len(data)))
	b = append(b, data...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	r.scratch = b
	_, r.err = r.w.Write(b)
	r.count++
}

// RecordedConn is a Conn that records what passes through it.
type RecordedConn struct {
	conn   Conn
	rec    *Recorder
	stream uint16
	frame  components.Ticks
	dry    uint16 // how often Receive has found nothing in this frame
}

var (
	_ Conn   = (*RecordedConn)(nil)
	_ Framed = (*RecordedConn)(nil)
)

// Conn wraps conn so that it is recorded as a stream of the recording. Closing
// it closes conn and not the recording.
func (r *Recorder) Conn(stream uint16, conn Conn) *RecordedConn {
	addr := conn.LocalAddr()
	_ = r.add(RecordStream, stream, 0, 0, &addr, nil)
	return &RecordedConn{conn: conn, rec: r, stream: stream}
}

// Record is NewRecorder with one Conn, as stream 0.
func Record(conn Conn, w io.Writer) (*RecordedConn, *Recorder) {
	r := NewRecorder(w)
	return r.Conn(0, conn), r
}

// SetFrame implements Framed.
func (c *RecordedConn) SetFrame(now components.Ticks) {
	c.frame, c.dry = now, 0
	_ = c.rec.add(RecordFrame, c.stream, 0, now, nil, nil)
	SetFrame(c.conn, now)
}

// Receive implements Conn.
func (c *RecordedConn) Receive(buf []byte) (n int, from netip.AddrPort, ok bool) {
	n, from, ok = c.conn.Receive(buf)
	if ok {
		_ = c.rec.add(RecordReceived, c.stream, c.dry, c.frame, &from, buf[:n])
	} else if c.dry < 1<<16-1 {
		c.dry++
	}
	return n, from, ok
}

// Send implements Conn.
func (c *RecordedConn) Send(b []byte, to netip.AddrPort) error {
	err := c.conn.Send(b, to)
	if err != nil {
		_ = c.rec.add(RecordSendFailed, c.stream, 0, c.frame, &to, nil)
	} else {
		_ = c.rec.add(RecordSent, c.stream, 0, c.frame, &to, b)
	}
	return err
}

// LocalAddr implements Conn.
func (c *RecordedConn) LocalAddr() netip.AddrPort { return c.conn.LocalAddr() }

// Stats implements Conn.
func (c *RecordedConn) Stats() Stats { return c.conn.Stats() }

// Close implements Conn.
func (c *RecordedConn) Close() error { return c.conn.Close() }
