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
//
// To replicate a component of your own, register it on both ends before the
// Server or the Client is used, since that seals the world's registry, and give
// it to the server's copy of a character, at once in a Spawner of your own or
// at any time later; clients get, change and lose theirs after it:
//
//	r := ecs.Provide(app.World(), components.NewRegistry)
//	components.RegisterReplicated(r, "game.score", components.ToAll, components.ExactCodec[Score]())
//
// To end a connection call Client.Disconnect or Server.Kick and go on with
// frames for a moment: packets leave in the Send phase. Who is refused, and
// why, is in Client.Err and ClientConfig.Disconnected.
package netsync
