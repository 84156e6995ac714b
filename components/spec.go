package components

// CharacterSpec is what a character starts with, in every role: what a spawn
// carries from the server to the others.
type CharacterSpec struct {
	Character
	Profile    ProfileRef
	Possession Possession
	// State is exact: an owner predicts from it.
	State MovementState
	// ServerTime at which State held.
	ServerTime Ticks
	// Teleports is the teleport count at the spawn.
	Teleports uint8
}
