package systems

import (
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/stretchr/testify/require"
)

// twoMoves are a pending move and the one after it, which may combine.
func twoMoves() (old, next components.SavedMove) {
	st := components.MovementState{Mode: components.ModeWalking, TimeDilation: 1}
	old = components.SavedMove{
		Cmd:   components.MoveCommand{Acceleration: components.Vec3{2048, 0, 0}, Dt: 240, Stamp: 1000, Profile: components.ProfileRef{Revision: 1}},
		Start: st, End: st, MaxSpeed: 600,
	}
	next = old
	next.Cmd.Stamp = 1240
	return old, next
}

func TestMovesCombineUnlessACondition(t *testing.T) {
	angle := func(cos float64) components.Vec3 { return components.Vec3{2048 * cos, 2048 * math.Sqrt(1-cos*cos), 0} }
	cases := map[string]struct {
		want bool
		edit func(old, next *components.SavedMove, set *components.Settings)
	}{
		"nothing differs":        {true, func(*components.SavedMove, *components.SavedMove, *components.Settings) {}},
		"combining off":          {false, func(_, _ *components.SavedMove, s *components.Settings) { s.EnableMoveCombining = false }},
		"mode within the old":    {false, func(o, _ *components.SavedMove, _ *components.Settings) { o.Start.Mode = components.ModeFalling }},
		"mode of the next":       {false, func(_, n *components.SavedMove, _ *components.Settings) { n.Start.Mode = components.ModeFalling }},
		"crouch within the old":  {false, func(o, _ *components.SavedMove, _ *components.Settings) { o.End.Crouched = true }},
		"crouch of the next":     {false, func(_, n *components.SavedMove, _ *components.Settings) { n.Start.Crouched = true }},
		"crouch button":          {false, func(_, n *components.SavedMove, _ *components.Settings) { n.Cmd.Flags = components.FlagWantsToCrouch }},
		"jump button":            {false, func(_, n *components.SavedMove, _ *components.Settings) { n.Cmd.Flags = components.FlagJumpPressed }},
		"custom flag":            {false, func(o, _ *components.SavedMove, _ *components.Settings) { o.Cmd.Flags = components.FlagCustom2 }},
		"old must not":           {false, func(o, _ *components.SavedMove, _ *components.Settings) { o.ForceNoCombine = true }},
		"next must not":          {false, func(_, n *components.SavedMove, _ *components.Settings) { n.ForceNoCombine = true }},
		"direction within 0.996": {true, func(_, n *components.SavedMove, _ *components.Settings) { n.Cmd.Acceleration = angle(0.9965) }},
		"direction past 0.996":   {false, func(_, n *components.SavedMove, _ *components.Settings) { n.Cmd.Acceleration = angle(0.9955) }},
		"next without input":     {false, func(_, n *components.SavedMove, _ *components.Settings) { n.Cmd.Acceleration = components.Vec3{} }},
		"old without input":      {false, func(o, _ *components.SavedMove, _ *components.Settings) { o.Cmd.Acceleration = components.Vec3{} }},
		"both without input": {true, func(o, n *components.SavedMove, _ *components.Settings) {
			o.Cmd.Acceleration, n.Cmd.Acceleration = components.Vec3{}, components.Vec3{}
		}},
		"speed limit": {false, func(_, n *components.SavedMove, _ *components.Settings) { n.MaxSpeed = 300 }},
		"exactly as long as a move may be": {true, func(o, n *components.SavedMove, s *components.Settings) {
			o.Cmd.Dt = s.MaxMove() - n.Cmd.Dt
		}},
		"longer than a move may be": {false, func(o, n *components.SavedMove, s *components.Settings) {
			o.Cmd.Dt = s.MaxMove() - n.Cmd.Dt + 1
		}},
		"across a reset":     {false, func(o, _ *components.SavedMove, _ *components.Settings) { o.OldTimeStampBeforeReset = true }},
		"already sent":       {false, func(o, _ *components.SavedMove, _ *components.Settings) { o.Sent = true }},
		"profile's revision": {false, func(_, n *components.SavedMove, _ *components.Settings) { n.Cmd.Profile.Revision = 2 }},
		"jump count":         {false, func(_, n *components.SavedMove, _ *components.Settings) { n.Start.JumpCount = 1 }},
		"base of the next":   {false, func(_, n *components.SavedMove, _ *components.Settings) { n.Start.Base = 3 }},
		"base within the old": {false, func(o, _ *components.SavedMove, _ *components.Settings) {
			o.End.Base = 3
		}},
		"still on its base": {true, func(o, n *components.SavedMove, _ *components.Settings) {
			o.Start.Base, o.End.Base, n.Start.Base = 3, 3, 3
			n.Start.BaseLocation[0] = 0.009
			n.Start.BaseYaw = 0.009
		}},
		"walking on its base": {false, func(o, n *components.SavedMove, _ *components.Settings) {
			o.Start.Base, o.End.Base, n.Start.Base = 3, 3, 3
			n.Start.BaseLocation[0] = 0.011
		}},
		"turning on its base": {false, func(o, n *components.SavedMove, _ *components.Settings) {
			o.Start.Base, o.End.Base, n.Start.Base = 3, 3, 3
			n.Start.BaseYaw = 0.011
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			old, next := twoMoves()
			set := components.DefaultSettings()
			c.edit(&old, &next, &set)
			require.Equal(t, c.want, canCombine(&old, &next, &set))
		})
	}
}

func TestImportantMoves(t *testing.T) {
	cases := map[string]struct {
		want bool
		edit func(m *components.SavedMove)
	}{
		"as the last answered":         {false, func(*components.SavedMove) {}},
		"jump":                         {true, func(m *components.SavedMove) { m.Cmd.Flags = components.FlagJumpPressed }},
		"crouch":                       {true, func(m *components.SavedMove) { m.Cmd.Flags = components.FlagWantsToCrouch }},
		"other mode at its end":        {true, func(m *components.SavedMove) { m.End.Mode = components.ModeFalling }},
		"other profile":                {true, func(m *components.SavedMove) { m.Cmd.Profile.Revision = 2 }},
		"event":                        {true, func(m *components.SavedMove) { m.Events = 1 }},
		"acceleration by 0.9":          {false, func(m *components.SavedMove) { m.Cmd.Acceleration[0] -= 0.9 }},
		"acceleration by 1.1":          {true, func(m *components.SavedMove) { m.Cmd.Acceleration[0] -= 1.1 }},
		"no acceleration":              {true, func(m *components.SavedMove) { m.Cmd.Acceleration = components.Vec3{} }},
		"the other way":                {true, func(m *components.SavedMove) { m.Cmd.Acceleration = components.Vec3{-2048, 0, 0} }},
		"weak input's direction":       {true, func(m *components.SavedMove) { m.Cmd.Acceleration = components.Vec3{0.2, 0.5, 0} }},
		"velocity changed all at once": {true, func(m *components.SavedMove) { m.End.Velocity = components.Vec3{-900, 0, 400} }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			set := components.DefaultSettings()
			last, m := twoMoves()
			if name == "weak input's direction" {
				last.Cmd.Acceleration = components.Vec3{0.5, 0, 0}
			}
			q := new(components.MoveQueue)
			*pushed(q.Push()) = last
			q.Ack(0)
			c.edit(&m)
			require.Equal(t, c.want, IsImportantMove(&m, q, &set))
		})
	}
}

func pushed(m *components.SavedMove, _ bool) *components.SavedMove { return m }

func TestEveryMoveIsImportantBeforeTheFirstAnswer(t *testing.T) {
	set := components.DefaultSettings()
	m, _ := twoMoves()
	require.True(t, IsImportantMove(&m, new(components.MoveQueue), &set))
}

func TestOldMoveIsTheOldestImportantOne(t *testing.T) {
	set := components.DefaultSettings()
	q := new(components.MoveQueue)
	last, _ := twoMoves()
	*pushed(q.Push()) = last
	q.Ack(0)
	for i := range 6 {
		m := last
		if i == 2 || i == 4 {
			m.Cmd.Flags = components.FlagJumpPressed
		}
		*pushed(q.Push()) = m
	}
	require.Equal(t, 2, OldMove(q, 5, &set))
	require.Equal(t, -1, OldMove(q, 2, &set)) // what the container carries anyway is no old move
}

func TestSendIntervals(t *testing.T) {
	moving := components.SavedMove{Cmd: components.MoveCommand{Acceleration: components.Vec3{1, 0, 0}}, End: components.MovementState{Velocity: components.Vec3{600, 0, 0}}}
	turning := components.SavedMove{Cmd: components.MoveCommand{Control: components.PackedRotator{Yaw: 18}}} // 0.1 degrees
	cases := map[string]struct {
		want float64
		net  components.NetClock
		m    components.SavedMove
		edit func(*components.Settings)
	}{
		"normal":              {0.0166, components.NetClock{SendScale: 1}, moving, nil},
		"ten players":         {0.0166, components.NetClock{SendScale: 1, Players: 10}, moving, nil},
		"eleven players":      {0.0222, components.NetClock{SendScale: 1, Players: 11}, moving, nil},
		"net speed of 10000":  {0.0222, components.NetClock{SendScale: 1, NetSpeed: 10000}, moving, nil},
		"net speed of 10001":  {0.0166, components.NetClock{SendScale: 1, NetSpeed: 10001}, moving, nil},
		"unlimited net speed": {0.0166, components.NetClock{SendScale: 1}, moving, nil},
		"stationary": {0.0833, components.NetClock{SendScale: 1}, components.SavedMove{}, func(s *components.Settings) {
			s.SendDeltaStationary = 0.0833
		}},
		"stationary under a small turn": {0.0833, components.NetClock{SendScale: 1}, turning, func(s *components.Settings) {
			s.SendDeltaStationary = 0.0833
		}},
		"moving is not stationary": {0.0166, components.NetClock{SendScale: 1}, moving, func(s *components.Settings) {
			s.SendDeltaStationary = 0.0833
		}},
		"stretched":        {0.0498, components.NetClock{SendScale: 3}, moving, nil},
		"scale under one":  {0.0166, components.NetClock{SendScale: 0}, moving, nil},
		"at most a fifth":  {0.2, components.NetClock{SendScale: 100}, moving, nil},
		"at least a 120th": {1.0 / 120, components.NetClock{SendScale: 1}, moving, func(s *components.Settings) { s.SendDelta = 0 }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			set := components.DefaultSettings()
			if c.edit != nil {
				c.edit(&set)
			}
			p := Predict{shared: shared{set: &set, net: &c.net}}
			require.Equal(t, components.TicksFromSeconds(c.want), p.sendInterval(&c.m))
		})
	}
}
