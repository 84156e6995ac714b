package movement

import (
	"encoding/binary"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// playground is a floor with a ramp, a steep slope, walls, a ceiling and a lift.
func playground() *planes {
	s, c := exact.SinCosDeg(50)
	g := newPlanes(floorAt0, tilted(30), halfSpace{n: Vec3{s, 0, c}, d: -700},
		wall(-90, -400), wall(70, -500), halfSpace{n: Vec3{0, 0, -1}, d: -900},
		halfSpace{n: Vec3{0, 0, 1}, d: -150, base: 7})
	g.pose = func(_ components.NetID, at components.Ticks) (components.Pose, bool) {
		p, ok := lift(7, at)
		p.Location[2] /= 6
		p.Yaw = exact.NormalizeDeg(20 * at.Seconds())
		return p, ok
	}
	return g
}

func drawMoves(t *rapid.T) []components.MoveCommand {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) components.MoveCommand {
		a := rapid.Float64Range(-2100, 2100)
		return components.MoveCommand{
			Acceleration: RoundAcceleration(Vec3{a.Draw(t, "x"), a.Draw(t, "y"), a.Draw(t, "z")}),
			Dt:           components.Ticks(rapid.Int64Range(1, 12600).Draw(t, "dt")),
			Control:      components.PackedRotator{Yaw: rapid.Uint16().Draw(t, "yaw")},
			Flags:        components.MoveFlags(rapid.IntRange(0, 7).Draw(t, "flags")),
		}
	}), 1, 120).Draw(t, "moves")
}

func play(c *Context, moves []components.MoveCommand, mode components.MovementMode, each func(s *components.MovementState)) uint64 {
	p := components.DefaultProfile()
	p.JumpMaxCount, p.JumpMaxHoldTime = 2, 0.2
	s := InitialState(&p, Vec3{-200, 0, 200}, 0)
	s.Mode = mode
	at, h := components.Ticks(0), uint64(0)
	for i := range moves {
		at += moves[i].Dt
		moves[i].ObstacleTime = at
		c.Move(&s, &moves[i], &p)
		h = HashState(h, &s)
		if each != nil {
			each(&s)
		}
	}
	return h
}

func TestAMoveIsPure(t *testing.T) {
	dirty := &Context{Geometry: playground()}
	rapid.Check(t, func(t *rapid.T) {
		moves := drawMoves(t)
		mode := components.MovementMode(rapid.IntRange(1, 4).Draw(t, "mode"))
		want := play(&Context{Geometry: playground()}, moves, mode, nil)
		require.Equal(t, want, play(dirty, moves, mode, nil), "what a context did before does not matter")

		// A fresh context for every move.
		p := components.DefaultProfile()
		p.JumpMaxCount, p.JumpMaxHoldTime = 2, 0.2
		s := InitialState(&p, Vec3{-200, 0, 200}, 0)
		s.Mode = mode
		h := uint64(0)
		for i := range moves {
			c := &Context{Geometry: playground()}
			c.Move(&s, &moves[i], &p)
			h = HashState(h, &s)
		}
		require.Equal(t, want, h, "nothing is carried but the state")
	})
}

// outside checks that a state is finite and not below the floor or behind a wall.
func outside(t require.TestingT, g *planes, at components.Ticks, s *components.MovementState) {
	require.True(t, validState(s))
	for i := range g.solid[:4] {
		h := &g.solid[i]
		d := exact.Dot(h.n, s.Location) - g.at(h, at) - s.Radius - (s.HalfHeight-s.Radius)*max(h.n[2], -h.n[2])
		require.GreaterOrEqual(t, d, -0.1, "inside half-space %d", i)
	}
}

func TestNeverThroughTheFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := playground()
		g.solid = g.solid[:6] // without the lift nothing can crush
		play(&Context{Geometry: g}, drawMoves(t), components.MovementMode(rapid.IntRange(1, 4).Draw(t, "mode")),
			func(s *components.MovementState) { outside(t, g, 0, s) })
	})
}

func FuzzMove(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24})
	f.Add([]byte("jump over the lazy lift, again and again, and crouch below it"))
	f.Fuzz(func(t *testing.T, b []byte) {
		g := playground()
		g.solid = g.solid[:6]
		c := &Context{Geometry: g}
		var moves []components.MoveCommand
		for ; len(b) >= 12 && len(moves) < 200; b = b[12:] {
			v := func(i int) float64 { return float64(int16(binary.LittleEndian.Uint16(b[i:]))) / 10 }
			moves = append(moves, components.MoveCommand{
				Acceleration: Vec3{v(0), v(2), v(4)},
				Dt:           components.Ticks(int16(binary.LittleEndian.Uint16(b[6:]))),
				Control:      components.PackedRotator{Yaw: binary.LittleEndian.Uint16(b[8:])},
				Flags:        components.MoveFlags(b[10]),
			})
		}
		play(c, moves, components.ModeFalling, func(s *components.MovementState) { outside(t, g, 0, s) })
	})
}

func TestMovesAllocateNothing(t *testing.T) {
	for _, g := range []collision.Geometry{playground(), obstacleCourse(t)} {
		require.Zero(t, allocsOfMoves(g))
	}
}

func allocsOfMoves(g collision.Geometry) float64 {
	c := &Context{Geometry: g}
	p := components.DefaultProfile()
	s := InitialState(&p, Vec3{-200, 0, 200}, 0)
	cmd := components.MoveCommand{Acceleration: east, Dt: 960}
	i := 0
	return testing.AllocsPerRun(2000, func() {
		i++
		cmd.ObstacleTime += 960
		cmd.Flags = components.MoveFlags(i / 40 % 4)
		cmd.Acceleration = Vec3{float64(2000 - i%3000), float64(i%700 - 350), 0}
		c.Move(&s, &cmd, &p)
		c.SimulateProxy(&s, 960, cmd.ObstacleTime, &p)
	})
}
