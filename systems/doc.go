// Package systems is the behaviour of gait, one system a file. In the order in
// which one move meets them:
//
//	InputConsume   raw axes and buttons into an Intent               (Input)
//	Predict        the owner moves now, saves, combines, queues      (Simulate)
//	ServerVerify   the server runs the move and judges the claim     (Simulate)
//	ForcedUpdates  the server moves a character whose owner is silent (Simulate)
//	Respond        at most one answer a character, throttled         (Gather)
//	Correct        the owner takes an answer in                      (Receive)
//	Replay         rolls back and replays at the start of the tick   (Replay)
//	Gather         authoritative state into ReplicatedMovement       (Gather)
//	SmoothCorrection, SimulatedTick, MeshSmooth                      onlookers
//
// beside LocalMove, which moves what this machine has the authority over
// (AI, standalone, a listen server's host), Bases, which keeps the time at
// which moving bases stand, and SlabSweep, which frees lost slots.
//
// No system knows a socket, a packet or a wall clock. What must be sent is left
// in components (MoveQueue.Sends, PendingAdjustment, ReplicatedMovement);
// what came in is found there (ReceivedQueues, MoveQueue.Responses, NetUpdate).
//
// To add everything to an app, use Movement as a plugin. To make characters,
// use a Spawner.
package systems
