package wire_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

func finite(bound float64) *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(-bound, bound))
}

func vector(bound float64) *rapid.Generator[components.Vec3] {
	return rapid.Custom(func(t *rapid.T) components.Vec3 {
		return components.Vec3{finite(bound).Draw(t, "x"), finite(bound).Draw(t, "y"), finite(bound).Draw(t, "z")}
	})
}

// anyAcceleration is on the wire's grid: a stick's, or any.
func anyAcceleration(t *rapid.T, yaw uint16) components.Vec3 {
	if rapid.Bool().Draw(t, "stick") {
		o := newOwner([]row{{x: float64(rapid.IntRange(-80, 80).Draw(t, "sx")) / 80, y: float64(rapid.IntRange(-80, 80).Draw(t, "sy")) / 80}})
		o.yaw = components.UnpackAngle(yaw)
		o.move(960)
		return o.queue.At(0).Cmd.Acceleration
	}
	a := vector(1e6).Draw(t, "acceleration")
	for i := range a {
		a[i] = math.Round(a[i]*10)/10 + 0
	}
	return a
}

// anyQueue is a queue of any moves in any legal order of stamps, a reset
// between two of them included.
func anyQueue(t *rapid.T, q *components.MoveQueue) {
	n := rapid.IntRange(1, 40).Draw(t, "moves")
	start := components.Ticks(1)
	if rapid.Bool().Draw(t, "near a reset") {
		start = components.StampResetPeriod - components.Second/10
	}
	stamp := start + components.Ticks(rapid.IntRange(0, 5000).Draw(t, "start"))
	steady := rapid.SampledFrom([]int{240, 400, 960, 1920, 7200}).Draw(t, "steady")
	obstacle := components.Ticks(rapid.Int64Range(0, 1<<40).Draw(t, "obstacle"))
	var control components.PackedRotator
	for range n {
		m, _ := q.Push()
		dt := components.Ticks(steady)
		if rapid.IntRange(0, 5).Draw(t, "other dt") == 0 {
			dt = components.Ticks(rapid.IntRange(1, int(wire.MaxMoveDt)).Draw(t, "dt"))
		}
		gap := components.Ticks(0)
		if rapid.IntRange(0, 5).Draw(t, "apart") == 0 {
			gap = components.Ticks(rapid.IntRange(0, 3*steady).Draw(t, "gap"))
		}
		if stamp += gap + dt; stamp > components.StampResetPeriod {
			stamp -= components.StampResetPeriod
		}
		obstacle += gap + dt
		if rapid.IntRange(0, 5).Draw(t, "slewed") == 0 {
			obstacle += components.Ticks(rapid.IntRange(-1<<20, 1<<20).Draw(t, "slew"))
		}
		if rapid.Bool().Draw(t, "turned") {
			control.Yaw += rapid.Uint16().Draw(t, "yaw")
		}
		if rapid.IntRange(0, 5).Draw(t, "looked up") == 0 {
			control.Pitch += rapid.Uint16().Draw(t, "pitch")
			control.Roll += uint16(rapid.IntRange(0, 1).Draw(t, "roll"))
		}
		m.Cmd = components.MoveCommand{
			Acceleration: anyAcceleration(t, control.Yaw), ObstacleTime: obstacle, Dt: dt, Stamp: components.Stamp(stamp), Control: control,
			Flags:   components.MoveFlags(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 0x11, 0xf7}).Draw(t, "flags")),
			Profile: components.ProfileRef{ID: components.ProfileID(rapid.SampledFrom([]int{0, 0, 1, 65535}).Draw(t, "profile")), Revision: uint16(rapid.SampledFrom([]int{1, 1, 0, 2, 65535}).Draw(t, "revision"))},
		}
		m.End.Mode = components.MovementMode(rapid.Uint8().Draw(t, "mode"))
		m.End.Location = vector(1e9).Draw(t, "place")
		m.End.BaseLocation = vector(1e3).Draw(t, "base place")
		m.End.Base = components.NetID(rapid.SampledFrom([]uint32{0, 1, 1 << 31, 1<<32 - 1}).Draw(t, "base"))
		m.Received = rapid.IntRange(0, 3).Draw(t, "received") == 0
	}
}

func anyPlan(t *rapid.T, q *components.MoveQueue) wire.ContainerPlan {
	p := wire.ContainerPlan{
		ID:    components.NetID(rapid.Uint32Min(1).Draw(t, "id")),
		Epoch: rapid.Uint16().Draw(t, "epoch"), New: q.Len() - 1, Pending: -1, Old: -1,
		Full:   rapid.Bool().Draw(t, "full"),
		Budget: rapid.IntRange(0, 400).Draw(t, "budget"),
		Stick:  rapid.SampledFrom([]wire.Stick{{}, wire.DefaultStick, {MaxAcceleration: 1000, Steps: 127}}).Draw(t, "grid"),
	}
	last := p.New
	if last > 0 && rapid.Bool().Draw(t, "dual") {
		last = rapid.IntRange(0, last-1).Draw(t, "pending")
		p.Pending, p.DualHybrid, p.DisableCombinedScoped = last, rapid.Bool().Draw(t, "hybrid"), rapid.Bool().Draw(t, "scoped")
	}
	if !p.Full && last > 0 && rapid.Bool().Draw(t, "has old") {
		p.Old = rapid.IntRange(0, last-1).Draw(t, "old")
	}
	return p
}

func TestContainersComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q components.MoveQueue
		anyQueue(t, &q)
		p := anyPlan(t, &q)
		obstacle := q.At(p.New).Cmd.ObstacleTime
		near := rapid.Bool().Draw(t, "view")
		off := components.Ticks(rapid.SampledFrom([]int{0, 0, -15, 15, -16, 16, 5000}).Draw(t, "obstacle off"))
		send := wire.ContainerContext{ViewTime: obstacle + off, HasView: near}
		receive := wire.ContainerContext{ViewTime: send.ViewTime + components.Ticks(rapid.IntRange(-15, 15).Draw(t, "view off")), HasView: near}
		if !near {
			receive.ViewTime += components.Ticks(rapid.IntRange(-100, 100).Draw(t, "clock off")) * components.Second
		}

		var w bits.Writer
		w.Reset(make([]byte, 1200))
		rep, err := wire.WriteContainer(&w, &q, &p, send)
		require.NoError(t, err)
		require.LessOrEqual(t, w.Bits(), wire.MaxContainerBits)
		r := bits.NewReader(w.Bytes())
		kind, err := wire.ReadKind(&r)
		require.NoError(t, err)
		require.Equal(t, wire.KindMoves, kind)
		var c wire.Container
		require.NoError(t, wire.ReadContainer(&r, &c, receive))
		require.NoError(t, r.Finish())

		require.Equal(t, []any{p.ID, p.Epoch, p.Full, p.DualHybrid, p.DisableCombinedScoped, rep.Moves},
			[]any{c.ID, c.Epoch, c.Full, c.DualHybrid, c.DisableCombinedScoped, c.N})
		want := []components.MoveData{claimed(q.At(p.New))}
		older := func(i int, kind components.MoveKind) {
			want = append([]components.MoveData{{Cmd: q.At(i).Cmd, Kind: kind}}, want...)
		}
		last := p.New
		if p.Pending >= 0 {
			older(p.Pending, components.MovePending)
			last = p.Pending
		}
		if p.Old >= 0 {
			older(p.Old, components.MoveOld)
		}
		given := 0
		for i := last - 1; p.Full && i >= 0; i-- {
			if q.At(i).Received {
				continue
			}
			if i < rep.Oldest {
				given++
				continue
			}
			older(i, components.MoveOld)
		}
		require.Equal(t, want, c.Moves[:c.N])
		require.Equal(t, rep.GivenUp, given)
	})
}

// ten is a queue of ten steady moves.
func ten() *components.MoveQueue {
	o := newOwner([]row{{x: 0.5, y: 0.25}})
	for range 10 {
		o.move(960)
	}
	return &o.queue
}

func TestPlansThatNameNoMovesAreRefused(t *testing.T) {
	for name, p := range map[string]wire.ContainerPlan{
		"new behind the queue":  {ID: 1, New: 10, Pending: -1, Old: -1},
		"no new":                {ID: 1, New: -1, Pending: -1, Old: -1},
		"pending is new":        {ID: 1, New: 9, Pending: 9, Old: -1},
		"old newer than new":    {ID: 1, New: 3, Pending: -1, Old: 5},
		"old newer than dual's": {ID: 1, New: 9, Pending: 3, Old: 5},
		"old in the full form":  {ID: 1, New: 9, Pending: -1, Old: 5, Full: true},
		"a stick of no steps":   {ID: 1, New: 9, Pending: -1, Old: -1, Stick: wire.Stick{MaxAcceleration: 5}},
		"nobody's":              {New: 9, Pending: -1, Old: -1},
	} {
		var w bits.Writer
		w.Reset(make([]byte, 1200))
		_, err := wire.WriteContainer(&w, ten(), &p, wire.ContainerContext{})
		require.ErrorIs(t, err, wire.ErrContainerMoves, name)
		require.ErrorIs(t, w.Err(), bits.ErrRange, name)
	}
}

func TestMovesThatNoOwnerMakesAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(m *components.SavedMove){
		"stamp 0":               func(m *components.SavedMove) { m.Cmd.Stamp = 0 },
		"stamp of 25 bits":      func(m *components.SavedMove) { m.Cmd.Stamp = 1 << 24 },
		"no span":               func(m *components.SavedMove) { m.Cmd.Dt = 0 },
		"a span over a second":  func(m *components.SavedMove) { m.Cmd.Dt = wire.MaxMoveDt + 1 },
		"the reserved flag":     func(m *components.SavedMove) { m.Cmd.Flags = components.FlagReserved },
		"acceleration off grid": func(m *components.SavedMove) { m.Cmd.Acceleration[0] = 0.05 },
		"negative zero":         func(m *components.SavedMove) { m.Cmd.Acceleration = components.Vec3{math.Copysign(0, -1), 0, 0} },
		"infinite acceleration": func(m *components.SavedMove) { m.Cmd.Acceleration[2] = math.Inf(1) },
		"a claim of nowhere":    func(m *components.SavedMove) { m.End.Location[1] = math.NaN() },
	} {
		q := ten()
		spoil(q.At(9))
		var w bits.Writer
		w.Reset(make([]byte, 1200))
		_, err := wire.WriteContainer(&w, q, &wire.ContainerPlan{ID: 1, New: 9, Pending: -1, Old: -1}, wire.ContainerContext{})
		require.ErrorIs(t, err, wire.ErrContainerMoves, name)
	}
}

// A saved move that cannot travel must not keep the newer ones from it.
func TestMoveThatCannotTravelEndsTheRun(t *testing.T) {
	q := ten()
	q.At(4).Cmd.Dt = 5000 // overlaps the one before
	_, _, rep := pack(t, q, &wire.ContainerPlan{ID: 1, New: 9, Pending: -1, Old: -1, Full: true, Budget: 200}, wire.ContainerContext{})
	require.Equal(t, wire.ContainerReport{Moves: 6, Oldest: 4, GivenUp: 4}, rep)
}

func TestBudgetKeepsTheNewestMoves(t *testing.T) {
	o := newOwner(gamepad(3, 100))
	for range 90 {
		o.move(1000)
	}
	p := wire.ContainerPlan{ID: 1, New: 89, Pending: -1, Old: -1, Full: true, Budget: 40}
	bare := p
	bare.Budget = 0
	_, without, none := pack(t, &o.queue, &bare, wire.ContainerContext{})
	b, with, rep := pack(t, &o.queue, &p, wire.ContainerContext{})
	require.Equal(t, wire.ContainerReport{Moves: 1, Oldest: 89, GivenUp: 89}, none)
	require.LessOrEqual(t, with-without, 40*8)
	require.Greater(t, rep.Moves, 5)
	require.Equal(t, 90, rep.Moves+rep.GivenUp)
	require.Equal(t, o.queue.At(90-rep.Moves).Cmd, unpack(t, b, wire.ContainerContext{ViewTime: o.now}).Moves[0].Cmd)
}

func TestContainerOverTheCapIsNotSent(t *testing.T) {
	p := wire.ContainerPlan{ID: 1, New: 9, Pending: 8, Old: 7, Extension: func(w *bits.Writer, i int) { w.WriteBytes(make([]byte, 200)) }}
	var w bits.Writer
	w.Reset(make([]byte, 1200))
	_, err := wire.WriteContainer(&w, ten(), &p, wire.ContainerContext{})
	require.ErrorIs(t, err, wire.ErrContainerTooLong)
	require.ErrorIs(t, w.Err(), bits.ErrRange)
}

// Any hundred moves do not fit: what goes over the cap is given up, whatever
// the budget.
func TestFullContainerStaysUnderTheCap(t *testing.T) {
	var q components.MoveQueue
	r := rng(5)
	for i := range components.MaxSavedMoves {
		m, _ := q.Push()
		m.Cmd = components.MoveCommand{Stamp: components.Stamp(1 + 7*i), Dt: 5, Control: components.PackedRotator{Yaw: uint16(r.next())}}
		m.Cmd.Acceleration = components.Vec3{float64(r.below(1e6)), float64(-r.below(1e6)), float64(r.below(1e6))}
	}
	p := wire.ContainerPlan{ID: 1, New: 95, Pending: -1, Old: -1, Full: true, Budget: 1000}
	b, n, rep := pack(t, &q, &p, wire.ContainerContext{})
	require.LessOrEqual(t, n, wire.MaxContainerBits)
	require.Greater(t, n, wire.MaxContainerBits-200)
	require.Equal(t, 96, rep.Moves+rep.GivenUp)
	require.Equal(t, rep.Moves, unpack(t, b, wire.ContainerContext{}).N)
}

func TestContainerOverTheCapIsRefused(t *testing.T) {
	const block = 1500
	p := wire.ContainerPlan{ID: 1, New: 9, Pending: -1, Old: -1, Full: true, Budget: 1000,
		Extension: func(w *bits.Writer, i int) { w.WriteBytes(make([]byte, block/8)); w.WriteBits(0, block%8) }}
	var w bits.Writer
	w.Reset(make([]byte, 1200))
	rep, err := wire.WriteContainer(&w, ten(), &p, wire.ContainerContext{})
	require.NoError(t, err)
	require.Equal(t, 2, rep.Moves)
	// The count says one more, and a held move with its block follows.
	w.WriteBits(1, 1)
	w.WriteBits(block, 12)
	w.WriteBytes(make([]byte, block/8))
	w.WriteBits(0, block%8)
	b := w.Bytes()
	p.Budget = 0
	_, head, _ := pack(t, ten(), &p, wire.ContainerContext{})
	b[(head-7)/8] ^= 3 << ((head - 7) % 8) // 1 becomes 2
	r := bits.NewReader(b)
	_, err = wire.ReadKind(&r)
	require.NoError(t, err)
	var c wire.Container
	require.ErrorIs(t, wire.ReadContainer(&r, &c, wire.ContainerContext{}), wire.ErrContainerTooLong)
	require.Equal(t, 3, c.N)
}

func TestStampResetBetweenTwoMovesOfAContainer(t *testing.T) {
	o := newOwner([]row{{x: 1}})
	o.stamp = components.StampResetPeriod - 3*960
	for range 6 {
		o.move(960)
	}
	p := wire.ContainerPlan{ID: 1, New: 5, Pending: -1, Old: -1, Full: true, Budget: 100}
	b, _, _ := pack(t, &o.queue, &p, wire.ContainerContext{ViewTime: o.now, HasView: true})
	c := unpack(t, b, wire.ContainerContext{ViewTime: o.now, HasView: true})
	var stamps []components.Stamp
	for _, m := range c.Moves[:c.N] {
		stamps = append(stamps, m.Cmd.Stamp)
	}
	end := components.Stamp(components.StampResetPeriod)
	require.Equal(t, []components.Stamp{end - 1920, end - 960, end, 960, 1920, 2880}, stamps)
}

func TestExtensionsTravelWithTheirMoves(t *testing.T) {
	q := ten()
	p := wire.ContainerPlan{ID: 1, New: 9, Pending: -1, Old: -1, Full: true, Budget: 300,
		Extension: func(w *bits.Writer, i int) { w.WriteBits(uint64(i), uint(4+i)) }}
	b, _, _ := pack(t, q, &p, wire.ContainerContext{})
	var got []uint64
	unpack(t, b, wire.ContainerContext{Extension: func(r *bits.Reader, age int) { got = append(got, r.ReadBits(uint(4+9-age))) }})
	require.Equal(t, []uint64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, got)

	// A receiver without the game's hook skips the blocks.
	require.Equal(t, 10, unpack(t, b, wire.ContainerContext{}).N)

	// A block that its reader finds too short refuses the container.
	r := bits.NewReader(b)
	_, err := wire.ReadKind(&r)
	require.NoError(t, err)
	var c wire.Container
	err = wire.ReadContainer(&r, &c, wire.ContainerContext{Extension: func(r *bits.Reader, age int) { r.ReadBits(64) }})
	var field *wire.FieldError
	require.True(t, errors.As(err, &field))
	require.Equal(t, wire.FieldError{Message: "moves", Field: "extension"}, *field)
}

func TestHeldStickThatTurnsCostsAFewBits(t *testing.T) {
	o := newOwner([]row{{x: 0.6625, y: -0.3875, turn: 1}})
	for range 13 {
		o.move(960)
	}
	p := wire.ContainerPlan{ID: 1, New: 12, Pending: -1, Old: -1}
	_, alone, _ := pack(t, &o.queue, &p, wire.ContainerContext{})
	p.Full, p.Budget = true, 200
	_, all, rep := pack(t, &o.queue, &p, wire.ContainerContext{})
	require.Equal(t, 13, rep.Moves)
	// The first turn is told, then a bit or two a move and the yaw's rounding.
	require.Less(t, all-alone, 110)
}
