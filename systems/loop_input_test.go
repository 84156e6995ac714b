package systems_test

import (
	"math/rand/v2"

	"github.com/gaitnet/gait/components"
)

// hands plays made-up human input: a stick that is pushed somewhere, held,
// moved on or let go, a view that turns, jumps and crouches of all lengths.
// What it does at a time depends on the seed alone, not on the frames.
type hands struct {
	rng  *rand.Rand
	next components.Ticks // when the present gesture is over

	x, y, turn    float64
	yaw           float64
	jump, crouch  bool
	jumpTo, lowTo components.Ticks
}

// played is generated input from a seed.
func played(seed uint64) func(*components.Input, components.Ticks, components.Ticks) {
	h := &hands{rng: rand.New(rand.NewPCG(seed, 42))}
	return h.apply
}

func (h *hands) apply(in *components.Input, now, dt components.Ticks) {
	for now >= h.next {
		h.gesture()
	}
	h.jump, h.crouch = now < h.jumpTo, now < h.lowTo
	h.yaw += h.turn * dt.Seconds()
	in.Vector = components.Vec3{h.x, h.y, 0}
	in.Control.Yaw = h.yaw
	in.SetButton(components.FlagJumpPressed, h.jump)
	in.SetButton(components.FlagWantsToCrouch, h.crouch)
}

func (h *hands) gesture() {
	r := h.rng
	switch r.IntN(6) {
	case 0:
		h.x, h.y = 0, 0
	case 1:
		h.x, h.y = 1, 0
	case 2: // half tilted
		h.x, h.y = r.Float64()-0.5, r.Float64()-0.5
	default:
		h.x, h.y = 2*r.Float64()-1, 2*r.Float64()-1
	}
	h.turn = 0
	if r.IntN(3) == 0 {
		h.turn = 360 * (r.Float64() - 0.5)
	}
	if r.IntN(4) == 0 {
		h.jumpTo = h.next + components.Ticks(r.IntN(int(sec/2)))
	}
	if r.IntN(6) == 0 {
		h.lowTo = h.next + components.Ticks(r.IntN(int(sec)))
	}
	h.next += components.Ticks(r.IntN(int(sec/2))) + sec/60
}

// forward is a stick pushed fully forward.
func forward(in *components.Input, _, _ components.Ticks) { in.Vector = components.Vec3{1, 0, 0} }

// standstill is no input at all.
func standstill(in *components.Input, _, _ components.Ticks) { in.Vector = components.Vec3{} }
