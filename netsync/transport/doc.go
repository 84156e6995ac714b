// Package transport moves datagrams. It knows nothing of what they mean: the
// session above it opens them in the Receive phase of a tick and hands over
// what the Send phase left.
//
// To talk over a real socket call ListenUDP. To run server and clients in one
// process on virtual time call NewNetwork, its Listen for each end, and its
// Advance once a frame; give it a Conditioner (package link has one) for
// latency and loss. Both give a Conn.
//
// To use a Conn call Receive until it says no more, and Send as often as
// needed. Bound work by what you do with a datagram, not by leaving some
// queued: what the queue cannot hold is dropped and counted in Stats.
//
// In a browser ListenUDP returns ErrNoUDP; everything else works.
package transport
