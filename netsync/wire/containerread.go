package wire

import (
	"slices"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

// Container is a move container as it came in.
type Container struct {
	ID    components.NetID
	Epoch uint16
	// Moves[:N] are in the order in which they are executed: oldest first, New
	// last. Stamps are strictly increasing, but for a reset between two moves,
	// where they fall by more than half of the reset period. All but the new
	// move and its pending one have kind MoveOld.
	Moves [MaxContainerMoves]components.MoveData
	N     int
	// The bits of the plan that it was made from.
	Full, DualHybrid, DisableCombinedScoped bool

	block bits.Reader
}

// ReadContainer reads what WriteContainer wrote behind its kind, which
// ReadKind has taken. c is to be used only if the error is nil.
func ReadContainer(r *bits.Reader, c *Container, ctx ContainerContext) error {
	start := r.Bits() - kindBits
	t := track{r: r}
	c.N, c.DualHybrid, c.DisableCombinedScoped = 0, false, false
	t.at("id")
	c.ID = readID(r)
	t.at("epoch")
	c.Epoch = readEpoch(r)
	t.at("form")
	c.Full = r.ReadBool()
	extended := false
	ch := chain{stick: DefaultStick}
	if r.ReadBool() {
		extended = r.ReadBool()
		t.at("stick")
		ch.stick = readStick(r)
		t.check(extended || ch.stick != DefaultStick)
	}

	ch.readNew(&t, &ctx)
	m := c.add(&ch, components.MoveNew)
	readClaim(&t, m)
	c.extension(&t, extended, &ctx)
	t.at("pending")
	dual := r.ReadBool()
	if dual {
		c.DualHybrid = r.ReadBool()
		ch.readOlder(&t, false)
		c.add(&ch, components.MovePending)
		c.extension(&t, extended, &ctx)
	}
	t.at("old")
	if !c.Full && r.ReadBool() {
		ch.readOlder(&t, true)
		c.add(&ch, components.MoveOld)
		c.extension(&t, extended, &ctx)
	}
	t.at("scoped")
	if dual {
		c.DisableCombinedScoped = r.ReadBool()
	}
	if c.Full {
		t.at("count")
		n := int(r.ReadBits(countBits))
		t.check(c.N+n <= MaxContainerMoves)
		for ; n > 0 && r.Err() == nil; n-- {
			ch.readOlder(&t, false)
			c.add(&ch, components.MoveOld)
			c.extension(&t, extended, &ctx)
		}
	}
	if r.Err() == nil && r.Bits()-start > MaxContainerBits {
		r.Invalid()
		return ErrContainerTooLong
	}
	if err := t.err("moves"); err != nil {
		return err
	}
	slices.Reverse(c.Moves[:c.N])
	return nil
}

func (c *Container) add(ch *chain, kind components.MoveKind) *components.MoveData {
	m := &c.Moves[c.N]
	*m = components.MoveData{Cmd: ch.cmd, Kind: kind}
	c.N++
	return m
}

func (c *Container) extension(t *track, extended bool, ctx *ContainerContext) {
	if !extended {
		return
	}
	t.at("extension")
	c.block = t.r.Sub(int(t.r.ReadBits(extensionBits)))
	if ctx.Extension != nil && t.r.Err() == nil {
		ctx.Extension(&c.block, c.N-1)
		t.check(c.block.Err() == nil)
	}
}
