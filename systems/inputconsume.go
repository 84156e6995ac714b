package systems

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems/movement"
	arche "github.com/mlange-42/arche/ecs"
)

// InputConsume turns what the game's input code accumulated into the Intent of
// a step, once: the vector in the control frame becomes a world acceleration,
// rounded as it will go on the wire, the control rotation is packed, and the
// buttons are those held together with those pressed and released since.
//
// Under a variable step a frame is a step. Under a fixed tick a frame may hold
// several steps, which share its input without its presses, or none, whose
// vector is then averaged with the next frame's and whose presses are kept.
// InputSample does the per-frame half of that.
type InputConsume struct {
	filter   arche.Filter
	ids      inputIDs
	clock    *ecs.Clock
	profiles *components.ProfileTable
}

type inputIDs struct{ input, intent, state, profile arche.ID }

func (s *InputConsume) Phase() ecs.Phase { return ecs.Input }
func (s *InputConsume) Roles() ecs.Roles { return ecs.AllRoles }

// Initialize looks up the components.
func (s *InputConsume) Initialize(w *arche.World) {
	s.ids = inputIDs{
		ecs.RegisterComponent[components.Input](w), ecs.RegisterComponent[components.Intent](w),
		ecs.RegisterComponent[components.MovementState](w), ecs.RegisterComponent[components.ProfileRef](w),
	}
	m := arche.All(s.ids.input, s.ids.intent, s.ids.state, s.ids.profile)
	s.filter = &m
	s.clock = ecs.Need[ecs.Clock](w)
	s.profiles = ecs.Need[components.ProfileTable](w)
}

// Update consumes the input of every locally controlled character.
func (s *InputConsume) Update(w *arche.World) {
	q := w.Query(s.filter)
	for q.Next() {
		in, out := column[components.Input](&q, s.ids.input), column[components.Intent](&q, s.ids.intent)
		st, ref := column[components.MovementState](&q, s.ids.state), column[components.ProfileRef](&q, s.ids.profile)
		if p := s.profiles.Get(*ref); p != nil {
			s.consume(in, out, st.Mode, p)
		}
	}
}

func (s *InputConsume) consume(in *components.Input, out *components.Intent, mode components.MovementMode, p *components.MovementProfile) {
	frame := s.clock.Frame
	out.Control = in.Control.Pack()
	if in.Samples == 0 && in.Vector == (components.Vec3{}) && out.Frame == frame && in.SampledFrame == frame {
		// A further step of a frame whose input was consumed already.
		out.Flags = in.Held
		return
	}
	vec := in.Vector
	if in.Samples > 0 {
		for i := range vec {
			vec[i] += in.Sum[i] / float64(in.Samples)
		}
	}
	out.Flags = in.Held | in.Pressed
	out.Acceleration = movement.ScaleInput(vec, components.UnpackAngle(out.Control.Yaw), mode, p)
	out.Frame = frame
	in.Vector, in.Sum, in.Samples, in.Pressed = components.Vec3{}, components.Vec3{}, 0, 0
}

func (s *InputConsume) Finalize(*arche.World) {}

// InputSample closes a frame's input: the vector that the game added up during
// the frame becomes one sample. A system that adds input in the Input phase
// (an AI) is not sampled; its vector is taken by the same step.
type InputSample struct {
	filter arche.Filter
	input  arche.ID
	clock  *ecs.Clock
}

func (s *InputSample) Phase() ecs.Phase { return ecs.Receive }
func (s *InputSample) Roles() ecs.Roles { return ecs.AllRoles }

// Initialize looks up the component.
func (s *InputSample) Initialize(w *arche.World) {
	s.input = ecs.RegisterComponent[components.Input](w)
	m := arche.All(s.input)
	s.filter = &m
	s.clock = ecs.Need[ecs.Clock](w)
}

// Update samples every character's input.
func (s *InputSample) Update(w *arche.World) {
	q := w.Query(s.filter)
	for q.Next() {
		in := column[components.Input](&q, s.input)
		if in.SampledFrame == s.clock.Frame {
			continue
		}
		in.SampledFrame = s.clock.Frame
		for i := range in.Sum {
			in.Sum[i] += in.Vector[i]
		}
		in.Samples++
		in.Vector = components.Vec3{}
	}
}

func (s *InputSample) Finalize(*arche.World) {}
