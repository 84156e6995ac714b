// Package link is a bad network: latency, jitter, loss, bursts, duplicates,
// corruption, reordering, limited bandwidth with a queue, and recorded links.
// It stands between clients and server, below everything that knows of moves,
// and is one state machine in two forms: on virtual time in tests and the
// harness, and as a UDP relay between processes.
//
// To condition a memory network make a Fleet with NewFleet, hand
// NewConditioner to transport.NewNetwork, and advance the network. To stand
// between real sockets call NewRelay and point the clients at its Addr. To
// drive a link by hand call New, then Push, Next and Pop. To replay a
// recording call ParseTrace and set it as a Path's Trace.
//
// # The same seed, the same fate
//
// What happens to a packet (lost, corrupted and in which bits, duplicated,
// held back, its share of jitter) depends on the seed, the client's index, the
// direction, and how many packets that client sent that way before, and on
// nothing else: not on time, size or the other clients. So it is the same in
// both forms, packet for packet. Which bits are flipped depends on the
// packet's length as well. Two things depend on time by their nature: what a
// bottleneck's queue drops and when what it holds leaves, and which row of a
// round-trip trace holds.
//
// # Bottlenecks
//
// A bottleneck keeps what comes too fast in a bounded queue and drops what
// does not fit, the newest first. The default of 100 packets is what a home
// router or a radio modem has: during an outage it fills within 2 s of play
// and delivers stale packets first afterwards, which is what real links do.
// Set QueueTime (e.g. 250 ms) for a link with little buffering; then nothing
// is queued that would wait longer. A trace that carries nothing drops
// everything.
package link
