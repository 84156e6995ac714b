package wire_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

type (
	lives struct{ Left uint8 }
	wound struct{ Depth float64 }
)

// game is a registry with two types of a game, and blocks of them.
type game struct {
	reg              *components.Registry
	block, got, zero []byte
}

func newGame() *game {
	g := &game{reg: components.NewRegistry()}
	components.RegisterReplicated(g.reg, "lives", components.ToAll, components.ExactCodec[lives]())
	components.RegisterReplicated(g.reg, "wound", components.OwnerOnly, components.ExactCodec[wound]())
	components.SetCodec[components.ReplicatedMovement](g.reg, components.ExactCodec[components.ReplicatedMovement]())
	g.reg.Seal()
	for _, b := range []*[]byte{&g.block, &g.got, &g.zero} {
		*b = g.reg.NewBlock(components.KindReplicated)
	}
	return g
}

// hold fills the block; a wound of 0 is absent.
func (g *game) hold(left uint8, depth float64) {
	l, d := lives{left}, wound{depth}
	g.reg.CaptureBlock(components.KindReplicated, g.block, func(t *components.TypeInfo) unsafe.Pointer {
		switch {
		case t.Name == "lives":
			return unsafe.Pointer(&l)
		case t.Name == "wound" && depth != 0:
			return unsafe.Pointer(&d)
		}
		return nil
	})
}

func TestTypesOfAGameTravelWhole(t *testing.T) {
	for _, depth := range []float64{0, -0.1} {
		g := newGame()
		g.hold(9, depth)
		var w bits.Writer
		w.Reset(make([]byte, 100))
		wire.WriteTypes(&w, 300, g.reg, g.block, g.zero)
		require.NoError(t, w.Err())
		r := bits.NewReader(w.Bytes())
		kind, err := wire.ReadKind(&r)
		require.NoError(t, err)
		require.Equal(t, wire.KindTypes, kind)
		id, err := wire.ReadTypes(&r, g.reg, g.got, g.zero)
		require.NoError(t, err)
		require.Equal(t, components.NetID(300), id)
		require.True(t, g.reg.EqualBlocks(components.KindReplicated, g.block, g.got))
	}
}

func TestInitialTypesTravelWholeAndNothingFollows(t *testing.T) {
	g := newGame()
	g.hold(9, 2)
	var w bits.Writer
	w.Reset(make([]byte, 100))
	wire.WriteInitialTypes(&w, 300, g.reg, g.block, g.zero)
	kind, body, err := wire.SplitReliable(w.Bytes())
	require.NoError(t, err)
	require.Equal(t, wire.ReliableTypes, kind)
	id, err := wire.ReadInitialTypes(body, g.reg, g.got, g.zero)
	require.NoError(t, err)
	require.Equal(t, components.NetID(300), id)
	require.True(t, g.reg.EqualBlocks(components.KindReplicated, g.block, g.got))
	_, err = wire.ReadInitialTypes(append(body, 0), g.reg, g.got, g.zero)
	require.ErrorIs(t, err, wire.ErrMessage)
}

func TestTypesAllocateNothing(t *testing.T) {
	g := newGame()
	g.hold(9, 2)
	buf := make([]byte, 100)
	var w bits.Writer
	var r bits.Reader
	require.Zero(t, testing.AllocsPerRun(50, func() {
		w.Reset(buf)
		wire.WriteTypes(&w, 300, g.reg, g.block, g.zero)
		r.Reset(w.Bytes())
		_, _ = wire.ReadKind(&r)
		_, _ = wire.ReadTypes(&r, g.reg, g.got, g.zero)
	}))
}
