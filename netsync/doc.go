// Package netsync carries the loop over a connection: it hands received moves
// to ServerVerify and received answers and snapshots to Correct and
// SmoothCorrection, and it sends what the systems leave behind. It knows
// packets and connections and no physics.
//
// A Server and a Client are plugins of an app. Each adds one system to the
// Receive phase and one to the Send phase:
//
//	ServerReceive  handshakes, moves into ReceivedQueues      (Receive)
//	ServerSend     spawns, possession, one answer a character
//	               at most, snapshots to all but the owner    (Send)
//	ClientReceive  spawns, answers, snapshots, the clock      (Receive)
//	ClientSend     one container a character, acks            (Send)
//
// To serve, give NewServer a transport.Conn and a function that says what a
// player who joins gets. To play, give NewClient a Conn and the server's
// address. Both take a Spawner, which systems.NewSpawner is.
package netsync
