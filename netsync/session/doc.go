// Package session makes connections out of datagrams: who is there, what has
// arrived, what time it is at the other end. It lies between transport and the
// netsync glue, works in the Receive and Send phases of a tick, and knows
// nothing of worlds, movement or wall clocks: every time comes from the
// caller, as components.Ticks, and nothing runs by itself.
//
// To do X call Y:
//
//   - serve: [NewServer] over a transport.Conn; each tick [Server.Receive]
//     first, then for each peer [Peer.Begin], write, [Peer.End], then
//     [Server.Flush]. Tell the number of the tick by [Server.SetTick].
//   - connect: [NewClient], [Client.Connect]; each frame [Client.Receive],
//     [Client.Begin], write, [Client.End], [Client.Flush]; the answer comes to
//     the ClientHandler, and [Client.State] tells where it stands.
//   - send what must arrive: [Peer.SendReliable], [Client.SendReliable].
//   - know what did: Acked of the handler names the sequence that End gave.
//   - know the server's time: [Client.ServerNow] once [Client.Synced].
//   - spare a slow link: stretch the send interval by [Client.SendScale].
//   - end it: [Peer.Disconnect], [Client.Disconnect], [Server.Shutdown].
//   - turn players away: give the ServerHandler the method of [Admitter].
//   - replace the checksum by encryption: Config.Sealer.
//
// # The handshake
//
// Request, Challenge, Response, Accept. The challenge's cookie is a keyed hash
// of what the response says again, so the server keeps nothing until a client
// has shown that it receives at its address. Requests and responses are padded
// to more than any answer, and each gets one answer at most: nobody can make
// the server send a stranger more than he was made to send it. A connection
// counts, and an older one of the same player is replaced, only when the first
// packet under the new connection ID comes in; so a copy of an old response
// does nothing.
//
// # What is refused changes nothing
//
// A datagram is opened, checked whole, and only then booked: its seal, its
// layout, its fragments, that it acknowledges nothing that was never sent, that
// it is new. Each refusal has a counter ([Refusal]). A valid, newest packet
// from a new address moves the connection there.
//
// # The reliable channel
//
// Messages up to 64 KiB, in order, exactly once, both ways. Small ones share
// fragments; fragments ride in the room that unreliable packets leave, and in
// packets of their own, at most 100 a second.
//
// # What it does not do
//
// No encryption and no proof of who a player is: whoever knows a PlayerID may
// take its place. No limit on answers to knocks, each of which costs the server
// a hash and the knocker as many bytes. No back-off downstream.
package session
