package wire

import (
	"encoding/binary"

	"github.com/gaitnet/gait/netsync/bits"
)

// Sizes of the reliable channel. Messages, each behind its length, form one
// stream of bytes, which is cut into numbered fragments. Fragments ride at the
// end of connected packets.
const (
	// FragmentMax is the longest fragment in bytes: two of them fill a packet.
	FragmentMax = 560
	// FragmentHeader is what each fragment costs on top of its data, in bytes.
	FragmentHeader = 4
	// SectionTrailer is what a packet with fragments costs once, in bytes.
	SectionTrailer = 2
	// SectionFragments is how many fragments one packet may carry.
	SectionFragments = 8
	// MessageMax is the longest reliable message in bytes.
	MessageMax = 1 << 16
	// MessageHeaderMax is the longest length in front of a message, in bytes.
	MessageHeaderMax = 3
)

// AppendFragment appends a fragment: sequence and length, 16 bits each, lowest
// byte first, and the data, 1 to FragmentMax bytes.
func AppendFragment(b []byte, seq bits.Seq16, data []byte) []byte {
	if len(data) < 1 || len(data) > FragmentMax {
		panic("wire.AppendFragment: a fragment has 1 to 560 bytes")
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(seq))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(data)))
	return append(b, data...)
}

// EndSection appends the length of the reliable section that began at start.
func EndSection(b []byte, start int) []byte {
	return binary.LittleEndian.AppendUint16(b, uint16(len(b)-start))
}

// Section cuts an opened packet whose header says Reliable into what lies
// before the section and the section. It is false, and the whole packet to be
// refused, if the length or any fragment is wrong.
func Section(b []byte) (rest, section []byte, ok bool) {
	n := len(b) - SectionTrailer
	if n < 0 {
		return nil, nil, false
	}
	start := n - int(binary.LittleEndian.Uint16(b[n:]))
	if start < 0 || start == n {
		return nil, nil, false
	}
	section = b[start:n:n]
	count := 0
	for s := section; len(s) > 0; count++ {
		var data []byte
		if _, data, s = NextFragment(s); data == nil || count == SectionFragments {
			return nil, nil, false
		}
	}
	return b[:start:start], section, true
}

// NextFragment takes the first fragment off a section. Data is nil if there is
// none, or none that is whole; it lies in the section.
func NextFragment(section []byte) (seq bits.Seq16, data, rest []byte) {
	if len(section) < FragmentHeader {
		return 0, nil, nil
	}
	seq = bits.Seq16(binary.LittleEndian.Uint16(section))
	n := int(binary.LittleEndian.Uint16(section[2:]))
	rest = section[FragmentHeader:]
	if n < 1 || n > FragmentMax || n > len(rest) {
		return 0, nil, nil
	}
	return seq, rest[:n:n], rest[n:]
}

// AppendMessageLength appends the length of a reliable message, 0 to
// MessageMax, in groups of seven bits, lowest first; the top bit of a byte
// says that another follows.
func AppendMessageLength(b []byte, n int) []byte {
	if n < 0 || n > MessageMax {
		panic("wire.AppendMessageLength: a message has at most 65536 bytes")
	}
	return binary.AppendUvarint(b, uint64(n))
}

// MessageLength reads what AppendMessageLength wrote from the start of b.
// used is 0 if more bytes are needed, and below 0 if no Append gives these.
func MessageLength(b []byte) (n, used int) {
	for i, c := range b {
		if i == MessageHeaderMax || (i > 0 && c == 0) {
			return 0, -1
		}
		n |= int(c&0x7f) << (7 * i)
		if c < 0x80 {
			if n > MessageMax {
				return 0, -1
			}
			return n, i + 1
		}
	}
	if len(b) >= MessageHeaderMax {
		return 0, -1
	}
	return 0, 0
}
