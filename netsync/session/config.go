package session

import (
	crand "crypto/rand"
	"encoding/binary"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

// NamedHash is something that both ends must have alike: the level, the
// profiles, the registry of types. Its name is for the sentence that says
// which one differs.
type NamedHash struct {
	Name string
	Hash uint64
}

// Config holds the settings of both ends. Zero values stand for the defaults.
type Config struct {
	// Version of the protocol; both ends must have the same.
	Version uint32
	// Hashes must be the same on both ends, compared by place.
	Hashes [wire.Hashes]NamedHash

	// Timeout is how long nothing may be heard before a connection, or an
	// attempt to make one, is given up. 20 s.
	Timeout components.Ticks
	// KeepAlive is how long nothing may be sent before Flush sends an empty
	// packet. 0.5 s.
	KeepAlive components.Ticks
	// AckDelay is how long a received packet waits for one that carries its
	// acknowledgement before Flush sends one for it. 0.1 s.
	AckDelay components.Ticks
	// Retry is the interval at which a client repeats what got no answer
	// during the handshake. 0.25 s.
	Retry components.Ticks
	// CookieLife is how long after a challenge its response is good. 10 s.
	CookieLife components.Ticks

	// MaxPeers is the number of slots of a server, 1..65535. 64.
	MaxPeers int
	// MaxPacketsPerSecond and Burst bound what is accepted of one peer: a
	// bucket of Burst packets that fills at this rate. 256 a second, 128.
	MaxPacketsPerSecond int
	Burst               int
	// ReliableBytes is how much the reliable channel of a connection queues
	// each way before SendReliable refuses, in bytes with 1 to 3 for each
	// message. 128 KiB, which is also the most: all of it fits one window.
	ReliableBytes int

	// Secret keys cookies, connection IDs and nonces. The zero value stands for
	// one drawn from the system; tests and recordings set it. Two clients must
	// not share one.
	Secret [16]byte
	// StartSeq is the sequence of this end's first packet and of its first
	// reliable fragment. Any value works.
	StartSeq uint16

	// Sealer makes the seal of a connection's packets, nil: a CRC-32C.
	Sealer func(SealInfo) Sealer
}

// SealInfo is what both ends of a connection know when it is made.
type SealInfo struct {
	Version uint32
	Conn    uint32 // connection ID
	Nonce   uint64 // of the client's request
	Up      bool   // the direction that is sealed: client to server
}

// Sealer closes and opens the packets of one direction of a connection. It is
// the seam where encryption replaces the checksum. It leaves the first
// wire.ClearBytes as they are: kind and flags, connection ID, sequence.
type Sealer interface {
	// Overhead is how many bytes Seal appends at most.
	Overhead() int
	// Seal closes b, in place or by appending to it; b has room for Overhead.
	Seal(b []byte) []byte
	// Open is what was given to Seal, and false if b was not sealed by the
	// other end. It may work in place.
	Open(b []byte) ([]byte, bool)
}

type crcSealer uint32

// NewCRC is the default Sealer: a CRC-32C started from version, connection,
// nonce and direction. It finds damage and packets of another connection, not
// forgery.
func NewCRC(i SealInfo) Sealer {
	dir := uint64(0)
	if i.Up {
		dir = 1
	}
	return crcSealer(siphash([2]uint64{uint64(i.Version), uint64(i.Conn)}, i.Nonce, dir))
}

func (crcSealer) Overhead() int                  { return bits.CRCBytes }
func (s crcSealer) Seal(b []byte) []byte         { return bits.SealCRC(b, uint32(s)) }
func (s crcSealer) Open(b []byte) ([]byte, bool) { return bits.CheckCRC(b, uint32(s)) }

const (
	second  = components.Second
	maxSpan = 3600 * second

	// sizes of the rings: the packets remembered by the sender, on a client at
	// its higher rate, and by the receiver, which refuses older ones.
	sentByServer  = 256
	sentByClient  = 1024
	receiveWindow = 256
	// reliable fragments in flight; 256 of them hold 128 KiB and more.
	fragmentWindow = 256

	defaultReliable = 128 << 10
)

func (c Config) withDefaults() Config {
	span := func(t *components.Ticks, d components.Ticks) {
		if *t < 0 || *t > maxSpan {
			panic("session.Config: a time outside 0..1 h")
		}
		if *t == 0 {
			*t = d
		}
	}
	span(&c.Timeout, 20*second)
	span(&c.KeepAlive, second/2)
	span(&c.AckDelay, second/10)
	span(&c.Retry, second/4)
	span(&c.CookieLife, 10*second)
	count := func(n *int, d, most int) {
		if *n < 0 || *n > most {
			panic("session.Config: a number out of range")
		}
		if *n == 0 {
			*n = d
		}
	}
	count(&c.MaxPeers, 64, 65535)
	count(&c.MaxPacketsPerSecond, 256, components.TicksPerSecond)
	count(&c.Burst, 128, 1<<20)
	count(&c.ReliableBytes, defaultReliable, defaultReliable)
	if c.Secret == ([16]byte{}) {
		crand.Read(c.Secret[:]) // never fails: it ends the program instead
	}
	if c.Sealer == nil {
		c.Sealer = NewCRC
	}
	return c
}

// frameMost is how many datagrams one Receive takes; the rest waits in the
// Conn's queue, which drops what finds no room. It is far more than all peers
// send in a tick, and what a socket holds after a stall.
func (c *Config) frameMost() int { return max(4096, 16*c.MaxPeers) }

func (c *Config) key() [2]uint64 {
	return [2]uint64{binary.LittleEndian.Uint64(c.Secret[:8]), binary.LittleEndian.Uint64(c.Secret[8:])}
}

func (c *Config) hashes() (h [wire.Hashes]uint64) {
	for i := range h {
		h[i] = c.Hashes[i].Hash
	}
	return h
}
