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
//
// To record a session call NewRecorder and wrap its Conns with the Recorder's
// Conn; write what else a replay needs with Write. To play it back call
// OpenRecording and its Playback. The owner of the Conn calls SetFrame at the
// start of each frame in both cases.
//
// # The recording
//
// A recording is a header and records, all integers little-endian, checksums
// CRC-32C (Castagnoli).
//
//	header  8  "gaitrec\n"
//	        2  version, 1
//	        2  0
//	        4  checksum of the 12 bytes before
//
//	record  1  kind: 1 stream, 2 frame, 3 received, 4 sent, 5 send failed,
//	           6 tagged, 7 end
//	        2  stream: which Conn, or whose tagged record
//	        2  tag: tagged: the owner's; received: how often Receive had found
//	           nothing before in that frame; otherwise 0
//	        8  time in ticks of 1/57600 s: of the frame; tagged: as given
//	        4  length n of the payload, at most 2^24
//	        n  payload
//	        4  checksum of the record up to here
//
// The payload of kinds 1, 3, 4 and 5 begins with an address: a byte with its
// length, then that many bytes as netip.AddrPort's MarshalBinary writes them.
// The datagram follows in kinds 3 and 4. A frame has no payload, a tagged
// record what the owner wrote. The end record has 8 bytes, the number of
// records before it; a file without it was cut short. Records of a stream are
// in the order in which things happened: what lies between two of its frame
// records happened in the first one's frame.
package transport
