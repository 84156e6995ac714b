package ecs

import (
	"fmt"
	"strings"
)

// Phase is one of the eight parts of a frame, in the order in which they run.
type Phase uint8

// The phases. Receive, Visual and Send run once a frame; the others once a
// step (see Clock for what a step is).
const (
	// Receive turns what came in into components and resources.
	Receive Phase = iota
	// Bases moves obstacles and movement bases to this step's time.
	Bases
	// Replay rolls back and replays corrected characters, before any input of
	// this step is taken.
	Replay
	// Input turns raw input or an AI's wish into intent.
	Input
	// Simulate moves characters.
	Simulate
	// Gather collects what others must learn from authoritative state.
	Gather
	// Visual places what is drawn.
	Visual
	// Send hands over what must go out.
	Send
)

// PhaseCount is the number of phases.
const PhaseCount = int(Send) + 1

var phaseNames = [PhaseCount]string{
	"Receive", "Bases", "Replay", "Input", "Simulate", "Gather", "Visual", "Send",
}

// String is the phase's name, or Phase(n) for a value that is none.
func (p Phase) String() string {
	if int(p) < PhaseCount {
		return phaseNames[p]
	}
	return fmt.Sprintf("Phase(%d)", uint8(p))
}

// PerStep reports whether the phase runs once a step rather than once a frame.
func (p Phase) PerStep() bool { return p >= Bases && p <= Gather }

// Roles is a set of roles. An App has exactly one; a system names all those in
// whose schedule it belongs.
type Roles uint8

// The roles an App can have.
const (
	// Server is a dedicated server: authority, no local player, nothing drawn.
	Server Roles = 1 << iota
	// Client is connected to a server and predicts what it owns.
	Client
	// ListenServer is authority and has a local player.
	ListenServer
	// Standalone is authority without a network.
	Standalone

	// AllRoles is every role.
	AllRoles = Server | Client | ListenServer | Standalone
)

var roleNames = [...]string{"Server", "Client", "ListenServer", "Standalone"}

// Has reports whether every role of other is in r, and other names at least one.
func (r Roles) Has(other Roles) bool { return other != 0 && r&other == other }

// Single reports whether r is exactly one known role.
func (r Roles) Single() bool { return r != 0 && r&(r-1) == 0 && AllRoles.Has(r) }

// String is the names joined by "|", "none" for the empty set.
func (r Roles) String() string {
	if r == 0 {
		return "none"
	}
	var b strings.Builder
	for i, name := range roleNames {
		if r&(1<<i) != 0 {
			if b.Len() > 0 {
				b.WriteByte('|')
			}
			b.WriteString(name)
		}
	}
	if rest := r &^ AllRoles; rest != 0 {
		if b.Len() > 0 {
			b.WriteByte('|')
		}
		fmt.Fprintf(&b, "Roles(%#x)", uint8(rest))
	}
	return b.String()
}
