package session

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"github.com/gaitnet/gait/components"
)

// siphash is SipHash-2-4 of the words, each as eight bytes, lowest first. It is
// a keyed hash made for short inputs: without the key nobody can tell the
// outcome, and it needs no memory.
func siphash(key [2]uint64, words ...uint64) uint64 {
	v := [4]uint64{
		key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
		key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573,
	}
	for _, m := range words {
		v[3] ^= m
		sipRounds(&v, 2)
		v[0] ^= m
	}
	last := uint64(len(words)*8) << 56
	v[3] ^= last
	sipRounds(&v, 2)
	v[0] ^= last
	v[2] ^= 0xff
	sipRounds(&v, 4)
	return v[0] ^ v[1] ^ v[2] ^ v[3]
}

func sipRounds(v *[4]uint64, n int) {
	for range n {
		v[0] += v[1]
		v[1] = bits.RotateLeft64(v[1], 13) ^ v[0]
		v[0] = bits.RotateLeft64(v[0], 32)
		v[2] += v[3]
		v[3] = bits.RotateLeft64(v[3], 16) ^ v[2]
		v[0] += v[3]
		v[3] = bits.RotateLeft64(v[3], 21) ^ v[0]
		v[2] += v[1]
		v[1] = bits.RotateLeft64(v[1], 17) ^ v[2]
		v[2] = bits.RotateLeft64(v[2], 32)
	}
}

// Each use of the secret has a number of its own, so that no output of one use
// is an output of another.
const (
	useCookie = iota + 1
	useConn
	useNonce
)

// cookie proves that who sends it has received what was sent to addr at
// issued: it depends on all that a response claims again.
func cookie(key [2]uint64, addr netip.AddrPort, nonce uint64, player components.PlayerID, issued components.Ticks) uint64 {
	ip := addr.Addr().As16()
	return siphash(key, useCookie,
		binary.LittleEndian.Uint64(ip[:8]), binary.LittleEndian.Uint64(ip[8:]), uint64(addr.Port()),
		nonce, uint64(player), uint64(issued))
}
