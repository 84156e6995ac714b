package main

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
	"github.com/stretchr/testify/require"
)

func Benchmark(b *testing.B) {
	for _, r := range rows() {
		b.Run(r.name, r.run)
	}
}

func TestServerTickOfAThousandCharactersAllocatesNothing(t *testing.T) {
	c := newCrowd(1000)
	for range 70 { // past the first sweep of the slabs
		c.fill()
		c.tick()
	}
	c.fill()
	require.Zero(t, testing.AllocsPerRun(20, func() {
		c.tick()
		c.fill()
	}))
}

func TestCrowdEndsInOneState(t *testing.T) {
	require.Equal(t, crowdHash(50, 60), crowdHash(50, 60))
}

func TestEveryMoveOfTheCrowdIsExecuted(t *testing.T) {
	c := newCrowd(20)
	c.fill()
	c.tick()
	stats := ecs.Need[components.Stats](c.w)
	require.Equal(t, uint64(20*movesPerTick), stats.Moves)
	require.Equal(t, uint64(20), stats.Verdicts)
}

func TestPacketsCanBeReadAndAllocateNothing(t *testing.T) {
	for _, p := range []packet{containers(true), containers(false), response(true), response(false), snapshot()} {
		var w bits.Writer
		buf := make([]byte, 1200)
		var r bits.Reader
		var err error
		n := testing.AllocsPerRun(50, func() {
			w.Reset(buf)
			p.write(&w)
			r.Reset(w.Bytes())
			if _, err = wire.ReadKind(&r); err == nil {
				err = p.read(&r)
			}
		})
		require.NoError(t, err)
		require.Zero(t, n)
	}
}
