package bits

import (
	"encoding/binary"
	"hash/crc32"
)

// CRCBytes is the length of the trailer that SealCRC appends.
const CRCBytes = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SealCRC appends the CRC-32C of b, started from salt, lowest byte first. It
// allocates only if b has no room for CRCBytes more. The salt (a protocol's
// hash, a session's key) keeps packets of another origin from passing; two
// salts never give b the same trailer. This guards against damage, not
// against an attacker.
func SealCRC(b []byte, salt uint32) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Update(salt, castagnoli, b))
}

// CheckCRC is b without its trailer and whether that is right. It is nil and
// false if it is not.
func CheckCRC(b []byte, salt uint32) ([]byte, bool) {
	n := len(b) - CRCBytes
	if n < 0 || crc32.Update(salt, castagnoli, b[:n]) != binary.LittleEndian.Uint32(b[n:]) {
		return nil, false
	}
	return b[:n:n], true
}
