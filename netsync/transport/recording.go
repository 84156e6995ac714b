package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/netip"

	"github.com/gaitnet/gait/components"
)

// What a RecordingError can be; compare with errors.Is.
var (
	// ErrNotRecording: the file does not begin like a recording.
	ErrNotRecording = errors.New("not a recording")
	// ErrRecordingVersion: it was written by another version of the format.
	ErrRecordingVersion = errors.New("recording of an unknown version")
	// ErrTruncated: it ends before its end mark, as after a crash.
	ErrTruncated = errors.New("recording is cut short")
	// ErrCorrupt: a checksum or a field is wrong.
	ErrCorrupt = errors.New("recording is corrupt")
	// ErrNoStream: the recording has no such stream.
	ErrNoStream = errors.New("transport: no such stream in the recording")
)

// RecordingError says what is wrong with a recording, and at which byte the
// record begins that cannot be read.
type RecordingError struct {
	Offset int64
	Err    error
}

func (e *RecordingError) Error() string {
	return fmt.Sprintf("transport: at byte %d: %v", e.Offset, e.Err)
}

// Unwrap gives the kind of error.
func (e *RecordingError) Unwrap() error { return e.Err }

// RecordEntry is one record of a recording. Addr is set for a stream's local
// address and for datagrams.
type RecordEntry struct {
	Kind   RecordKind
	Stream uint16
	Tag    uint16
	When   components.Ticks
	Addr   netip.AddrPort
	Data   []byte
}

// Recording is a recording in memory.
type Recording struct {
	Records []RecordEntry
}

// OpenRecording reads a whole recording. The error is a *RecordingError, or
// the reader's own, wrapped. With ErrTruncated and ErrCorrupt the recording
// that is returned holds everything before the fault, so that a session that
// crashed can be played up to there; with other errors it is nil.
func OpenRecording(r io.Reader) (*Recording, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("transport: at byte %d: %w", len(data), err)
	}
	if err := checkHeader(data); err != nil {
		return nil, &RecordingError{0, err}
	}
	rec := &Recording{}
	for at := recordingHeader; ; {
		e, size, err := parseRecord(data[at:])
		if err != nil {
			return rec, &RecordingError{int64(at), err}
		}
		if e.Kind == recordEnd {
			whole := len(e.Data) == 8 && binary.LittleEndian.Uint64(e.Data) == uint64(len(rec.Records))
			if !whole || at+size != len(data) {
				return rec, &RecordingError{int64(at), ErrCorrupt}
			}
			return rec, nil
		}
		rec.Records = append(rec.Records, e)
		at += size
	}
}

func checkHeader(data []byte) error {
	switch {
	case len(data) < len(recordingMagic) || string(data[:len(recordingMagic)]) != recordingMagic:
		return ErrNotRecording
	case len(data) < recordingHeader:
		return ErrTruncated
	case binary.LittleEndian.Uint32(data[12:]) != crc32.Checksum(data[:12], castagnoli):
		return ErrCorrupt
	case binary.LittleEndian.Uint16(data[8:]) != recordingVersion:
		return ErrRecordingVersion
	}
	return nil
}

// parseRecord reads the record that data begins with, and its whole length.
func parseRecord(data []byte) (e RecordEntry, size int, err error) {
	if len(data) < recordHeader {
		return e, 0, ErrTruncated
	}
	length := binary.LittleEndian.Uint32(data[recordHeader-4:])
	if length > MaxRecord {
		return e, 0, ErrCorrupt
	}
	end := recordHeader + int(length)
	if len(data) < end+recordTrailer {
		return e, 0, ErrTruncated
	}
	if binary.LittleEndian.Uint32(data[end:]) != crc32.Checksum(data[:end], castagnoli) {
		return e, 0, ErrCorrupt
	}
	e = RecordEntry{
		Kind:   RecordKind(data[0]),
		Stream: binary.LittleEndian.Uint16(data[1:]),
		Tag:    binary.LittleEndian.Uint16(data[3:]),
		When:   components.Ticks(binary.LittleEndian.Uint64(data[5:])),
		Data:   data[recordHeader:end:end],
	}
	switch e.Kind {
	case RecordFrame, RecordTagged, recordEnd:
	case RecordStream, RecordReceived, RecordSent, RecordSendFailed:
		if len(e.Data) == 0 || len(e.Data) < 1+int(e.Data[0]) {
			return e, 0, ErrCorrupt
		}
		n := 1 + int(e.Data[0])
		if e.Addr.UnmarshalBinary(e.Data[1:n]) != nil {
			return e, 0, ErrCorrupt
		}
		if e.Data = e.Data[n:]; len(e.Data) > MaxDatagram {
			return e, 0, ErrCorrupt
		}
	default:
		return e, 0, ErrCorrupt
	}
	return e, end + recordTrailer, nil
}

// Tagged returns the first record that the owner wrote under a tag for a
// stream. To go through all, range over Records.
func (r *Recording) Tagged(stream, tag uint16) (RecordEntry, bool) {
	for _, e := range r.Records {
		if e.Kind == RecordTagged && e.Stream == stream && e.Tag == tag {
			return e, true
		}
	}
	return RecordEntry{}, false
}
