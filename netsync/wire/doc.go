// Package wire holds the layouts of gait's packets: pure functions between
// structs and bit streams. It opens no socket, reads no clock, keeps nothing
// between two packets and allocates nothing except for an error. In a tick it
// works in Receive and Send: package session calls it for headers, handshake
// and the reliable channel, package netsync for what lies in them.
//
// LAYOUT.md beside the code is the document of the layout; a test compares the
// two byte by byte.
//
// To do X call Y:
//
//   - send an owner's moves: [WriteContainer] with a [ContainerPlan] of indices
//     into its queue; take them in: [ReadContainer];
//   - answer them: [WriteResponse], [ReadResponse];
//   - tell onlookers: [QuantizeReplicated] when gathering, [WriteSnapshot],
//     [ReadSnapshot]; within a stream of several types [WriteMovement] and
//     [ReadMovement];
//   - walk through a payload: [ReadKind] until [KindEnd] or an error;
//   - send a message of the reliable channel: WriteSpawn and its kin; take it
//     in: [SplitReliable], then the Read of its kind;
//   - know why something was refused: errors.As with [FieldError].
//
// Each Write puts a whole message behind what the Writer holds, so the caller
// marks, writes, and rolls back where it did not fit. Each Read fills the
// caller's struct, which is good only if the error is nil.
package wire
