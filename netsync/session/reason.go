package session

import (
	"errors"
	"fmt"

	"github.com/gaitnet/gait/netsync/wire"
)

// Reason says why a connection ended.
type Reason = wire.Reason

// The reasons for the end of a connection.
const (
	ReasonNone     = wire.ReasonNone
	ReasonQuit     = wire.ReasonQuit
	ReasonShutdown = wire.ReasonShutdown
	ReasonReplaced = wire.ReasonReplaced
	ReasonKicked   = wire.ReasonKicked
	ReasonTimeout  = wire.ReasonTimeout
	ReasonProtocol = wire.ReasonProtocol
)

// Refusal is why a datagram was dropped without any effect.
type Refusal uint8

// The refusals.
const (
	BadCRC            Refusal = iota // the seal is wrong
	Short                            // too short to be what its kind says
	Oversized                        // longer than what its kind may be
	WrongKind                        // a kind that this end never receives
	WrongAddress                     // a client heard someone else than its server
	UnknownConnection                // a connection that is not, or no longer
	NotConnected                     // a connected packet before the handshake is done
	Duplicate                        // the sequence was received before
	TooOld                           // the sequence lies behind the window
	FutureAck                        // it acknowledges what was never sent
	RateLimited                      // more packets a second than allowed
	Malformed                        // the seal is right, the content is not
	BadCookie                        // a response whose cookie is wrong or too old
	BadNonce                         // an answer to another attempt
	WrongVersion                     // another protocol version
	WrongHash                        // a named hash differs
	ServerFull                       // no free slot
	RefusedByGame                    // the game said no
	Refusals                         // the number of refusals
)

var refusalNames = [Refusals]string{
	"bad_crc", "short", "oversized", "wrong_kind", "wrong_address", "unknown_connection", "not_connected",
	"duplicate", "too_old", "future_ack", "rate_limited", "malformed", "bad_cookie", "bad_nonce",
	"wrong_version", "wrong_hash", "server_full", "refused_by_game",
}

// String is the name of the counter, e.g. "bad_crc".
func (r Refusal) String() string {
	if r < Refusals {
		return refusalNames[r]
	}
	return "unknown"
}

// Counts is the number of refused datagrams by Refusal.
type Counts [Refusals]uint64

// Total is the sum over all refusals.
func (c Counts) Total() (n uint64) {
	for _, x := range c {
		n += x
	}
	return n
}

// Errors of sessions; compare with errors.Is.
var (
	// ErrNoAnswer: the server did not answer within Config.Timeout.
	ErrNoAnswer = errors.New("session: the server does not answer")
	// ErrRefused is what every RefusedError is.
	ErrRefused = errors.New("session: the server refused the connection")
	// ErrEnded is what every EndedError is.
	ErrEnded = errors.New("session: the connection has ended")
	// ErrNotConnected: there is no connection to send on.
	ErrNotConnected = errors.New("session: not connected")
	// ErrBusy: Connect was called on a client that is connected or about to be.
	ErrBusy = errors.New("session: already connected or connecting")
	// ErrQueueFull: the reliable channel holds all it may. Nothing was queued.
	ErrQueueFull = errors.New("session: the reliable queue is full")
	// ErrMessageTooLong: a reliable message is longer than wire.MessageMax.
	ErrMessageTooLong = errors.New("session: reliable message longer than 65536 bytes")
	// ErrPacketOverflow: more was written to a packet than fits. It was not sent.
	ErrPacketOverflow = errors.New("session: the packet does not fit a datagram")
)

// RefusedError says why a server did not let a client in.
type RefusedError struct {
	Code wire.RefuseCode
	// Which is the name of the hash that differs, as the client calls it.
	Which string
	// Server and Client are the two values that differ, 0 if none do.
	Server, Client uint64
	// Text is one sentence for a person.
	Text string
}

func (e *RefusedError) Error() string { return "session: refused: " + e.Text }

// Unwrap makes errors.Is(err, ErrRefused) true.
func (e *RefusedError) Unwrap() error { return ErrRefused }

// EndedError says why a connection that stood has ended.
type EndedError struct{ Reason Reason }

func (e *EndedError) Error() string {
	return fmt.Sprintf("session: the connection has ended: %s", e.Reason)
}

// Unwrap makes errors.Is(err, ErrEnded) true.
func (e *EndedError) Unwrap() error { return ErrEnded }
