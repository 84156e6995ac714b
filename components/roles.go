package components

// A role is the authority of one copy of a character on one machine, and it is
// a set of components, because a filter cannot select by a field's value:
//
//	server, owner is remote:    Character, MovementState, Authority, ServerPrediction
//	server, AI:                 Character, MovementState, Authority, LocallyControlled
//	listen server's own host:   Character, MovementState, Authority, LocallyControlled
//	standalone:                 Character, MovementState, Authority, LocallyControlled
//	owner's client:             Character, MovementState, AutonomousProxy, ClientPrediction
//	any other client:           Character, MovementState, SimulatedProxy, ReplicatedMovement

// PlayerID names a player across reconnects; 0 is nobody (AI, scenery).
type PlayerID uint64

// Character is what every copy of a character has.
type Character struct {
	ID    NetID
	Scene SceneID
	// Kind is the game's own type number, sent with the spawn.
	Kind uint16
}

// Authority marks the server's copy (and the only one in standalone).
type Authority struct{}

// LocallyControlled marks a copy that reads its input on this machine.
type LocallyControlled struct{}

// AutonomousProxy marks the owner's copy on its client.
type AutonomousProxy struct{}

// SimulatedProxy marks an onlooker's copy.
type SimulatedProxy struct{}

// Possession ties a character to a player. Each change of owner is a new
// epoch: moves and responses of another epoch are refused. On a client the
// owner predicts only once its possession is acknowledged (Acked on both
// sides), so that it does not flood a server that would drop its moves.
type Possession struct {
	Player PlayerID
	Epoch  uint16
	Acked  bool
	_      [5]byte
}
