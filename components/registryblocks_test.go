package components

import (
	"testing"
	"unsafe"

	"github.com/gaitnet/gait/netsync/bits"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// live is a character's components, absent ones nil.
type live struct {
	sprint  *sprint
	aim     *aim
	stamina *stamina
	marker  *marker
}

func (l *live) get(t *TypeInfo) unsafe.Pointer {
	switch {
	case t.Name == "sprint":
		return unsafe.Pointer(l.sprint)
	case t.Name == "aim":
		return unsafe.Pointer(l.aim)
	case t.Name == "marker":
		return unsafe.Pointer(l.marker)
	}
	return unsafe.Pointer(l.stamina)
}

func genLive() *rapid.Generator[*live] {
	return rapid.Custom(func(r *rapid.T) *live {
		l := new(live)
		if rapid.Bool().Draw(r, "sprints") {
			l.sprint = &sprint{rapid.Bool().Draw(r, "on")}
		}
		if rapid.Bool().Draw(r, "aims") {
			a := genAim().Draw(r, "aim")
			TagCodec[aim]().(*compiledCodec[aim]).Snap(&a)
			l.aim = &a
		}
		if rapid.Bool().Draw(r, "tires") {
			s := genStamina().Draw(r, "stamina")
			l.stamina = &s
		}
		if rapid.Bool().Draw(r, "marked") {
			l.marker = new(marker)
		}
		return l
	})
}

func TestNothingRegisteredCostsNothing(t *testing.T) {
	r := NewRegistry()
	r.Seal()
	require.Zero(t, r.InputStride())
	require.Zero(t, r.PredictedStride())
	s := NewBlockStore(r, MoveBlocks)
	var slab Slab[MoveQueue]
	h := slab.Alloc(arche.Entity{})
	s.Attach(h)
	require.Nil(t, s.InputBlock(h, 0))
	require.Nil(t, s.StateBlock(h, 1))
	require.Nil(t, s.slots[0].mem)
	var w bits.Writer
	r.EncodeBlock(KindInput, &w, nil, nil)
	require.Zero(t, w.Bits())
	r.CaptureBlock(KindPredicted, nil, func(*TypeInfo) unsafe.Pointer { panic("asked for a type") })
	require.NoError(t, r.DecodeBlock(KindInput, new(bits.Reader), nil, nil))
}

func TestBlocksAreLaidOutWithoutOverlap(t *testing.T) {
	r := sealedRegistry()
	for _, k := range []TypeKind{KindReplicated, KindInput, KindPredicted} {
		end := 8
		for _, ti := range r.OfKind(k) {
			if ti.Size == 0 {
				continue
			}
			require.GreaterOrEqual(t, ti.offset, end, ti.Name)
			require.Zero(t, ti.offset%int(ti.Align), ti.Name)
			end = ti.offset + int(ti.Size)
		}
		require.GreaterOrEqual(t, r.Stride(k), end)
		require.Zero(t, r.Stride(k)%8)
	}
}

func TestCapturedBlockIsRestored(t *testing.T) {
	r := sealedRegistry()
	rapid.Check(t, func(rt *rapid.T) {
		from := genLive().Draw(rt, "from")
		for _, k := range []TypeKind{KindInput, KindPredicted} {
			block := r.NewBlock(k)
			r.CaptureBlock(k, block, from.get)
			to := &live{sprint: new(sprint), aim: new(aim), stamina: new(stamina), marker: new(marker)}
			differ := r.RestoreBlock(k, block, to.get)
			for i, ti := range r.OfKind(k) {
				want := from.get(ti)
				require.Equal(rt, want == nil, differ>>i&1 == 1)
				require.Equal(rt, want == nil, ti.In(block) == nil)
				if want != nil {
					require.True(rt, ti.Equal(want, to.get(ti)))
				}
			}
		}
	})
}

func TestRestoringWhatTheCharacterHasLostIsTold(t *testing.T) {
	r := sealedRegistry()
	block := r.NewBlock(KindInput)
	r.CaptureBlock(KindInput, block, (&live{sprint: &sprint{true}}).get)
	require.Equal(t, uint64(0b01), r.RestoreBlock(KindInput, block, (&live{}).get))
	require.Equal(t, uint64(0b11), r.RestoreBlock(KindInput, block, (&live{aim: new(aim)}).get))
}

func TestBlocksCrossTheWire(t *testing.T) {
	r := sealedRegistry()
	rapid.Check(t, func(rt *rapid.T) {
		now, before := genLive().Draw(rt, "now"), genLive().Draw(rt, "before")
		if rapid.Bool().Draw(rt, "unchanged") {
			before = now
		}
		for _, k := range []TypeKind{KindInput, KindPredicted} {
			block, base, got := r.NewBlock(k), r.NewBlock(k), r.NewBlock(k)
			r.CaptureBlock(k, block, now.get)
			r.CaptureBlock(k, base, before.get)
			w := bits.NewWriter(make([]byte, 1024))
			r.EncodeBlock(k, &w, block, base)
			require.NoError(rt, w.Err())
			rd := bits.NewReader(w.Bytes())
			require.NoError(rt, r.DecodeBlock(k, &rd, got, base))
			require.NoError(rt, rd.Finish())
			d, differs := r.DiffBlocks(k, block, got)
			require.False(rt, differs, d)
			require.True(rt, r.EqualBlocks(k, block, got))
			if now == before {
				require.Equal(rt, 1, w.Bits())
			}
		}
	})
}

func TestValueAtTheEdgeOfItsRangeCrossesWithoutABaseline(t *testing.T) {
	r := sealedRegistry()
	block, base, got := r.NewBlock(KindInput), r.NewBlock(KindInput), r.NewBlock(KindInput)
	r.CaptureBlock(KindInput, block, (&live{aim: &aim{Slot: 10}}).get) // base's absent value has 0, below the range
	w := bits.NewWriter(make([]byte, 64))
	r.EncodeBlock(KindInput, &w, block, base)
	rd := bits.NewReader(w.Bytes())
	require.NoError(t, r.DecodeBlock(KindInput, &rd, got, base))
	require.True(t, r.EqualBlocks(KindInput, block, got))
}

func TestDamagedBlockLeavesTheBase(t *testing.T) {
	r := sealedRegistry()
	rapid.Check(t, func(rt *rapid.T) {
		base, got := r.NewBlock(KindInput), r.NewBlock(KindInput)
		r.CaptureBlock(KindInput, base, genLive().Draw(rt, "base").get)
		in := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(rt, "bytes")
		rd := bits.NewReader(in)
		if r.DecodeBlock(KindInput, &rd, got, base) != nil {
			require.Equal(rt, base, got)
			return
		}
		n := rd.Bits()
		w := bits.NewWriter(make([]byte, 256))
		r.EncodeBlock(KindInput, &w, got, base)
		require.NoError(rt, w.Err())
		require.Equal(rt, n, w.Bits(), "one block, one encoding")
	})
}

func TestBlockDifferencesAreNamed(t *testing.T) {
	r := sealedRegistry()
	a, b := r.NewBlock(KindPredicted), r.NewBlock(KindPredicted)
	r.CaptureBlock(KindPredicted, a, (&live{stamina: &stamina{Value: 2}}).get)
	r.CaptureBlock(KindPredicted, b, (&live{stamina: &stamina{Value: 3}}).get)
	d, ok := r.DiffBlocks(KindPredicted, a, b)
	require.True(t, ok)
	require.Equal(t, "stamina.Value: 2 against 3", d.String())
	require.False(t, r.EqualBlocks(KindPredicted, a, b))
	r.CaptureBlock(KindPredicted, b, (&live{}).get)
	d, _ = r.DiffBlocks(KindPredicted, a, b)
	require.Equal(t, "stamina: present against absent", d.String())
	require.Panics(t, func() { r.EqualBlocks(KindInput, a, b) })
}

func TestStoreGoesByTheSlabsHandles(t *testing.T) {
	r := sealedRegistry()
	s := NewBlockStore(r, BlockShape{Inputs: 3, States: 2})
	var slab Slab[MoveQueue]
	h, other := slab.Alloc(arche.Entity{}), slab.Alloc(arche.Entity{})
	s.Attach(other)
	require.Nil(t, s.InputBlock(h, 0), "not attached yet")
	s.Attach(h)
	require.Len(t, s.InputBlock(h, 2), r.InputStride())
	require.Len(t, s.StateBlock(h, 1), r.PredictedStride())

	// Every block is its own memory.
	n := byte(0)
	each := func(f func(b []byte)) {
		for _, h := range []Handle{h, other} {
			for i := range 3 {
				f(s.InputBlock(h, i))
			}
			for i := range 2 {
				f(s.StateBlock(h, i))
			}
		}
	}
	each(func(b []byte) {
		require.Zero(t, uintptr(unsafe.Pointer(&b[0]))%8)
		n++
		for i := range b {
			b[i] = n
		}
	})
	n = 0
	each(func(b []byte) {
		n++
		for _, x := range b {
			require.Equal(t, n, x)
		}
	})

	slab.Free(h)
	s.Detach(h)
	require.Nil(t, s.InputBlock(h, 0))
	again := slab.Alloc(arche.Entity{})
	require.Nil(t, s.InputBlock(again, 0))
	s.Attach(again)
	require.Nil(t, s.InputBlock(h, 0), "a stale handle")
	require.Equal(t, make([]byte, r.InputStride()), s.InputBlock(again, 0), "cleared")
	s.Detach(h)
	require.NotNil(t, s.InputBlock(again, 0), "a stale handle detaches nothing")
	require.NotNil(t, s.InputBlock(other, 0))
	require.Nil(t, s.InputBlock(0, 0))
	require.Nil(t, s.InputBlock(1<<slotBits, 0), "a generation without a slot")
	require.Panics(t, func() { s.InputBlock(again, 3) })
	require.Panics(t, func() { s.StateBlock(again, -1) })
	require.Panics(t, func() { s.Attach(0) })
}

func TestBlocksDoNotAllocate(t *testing.T) {
	r := sealedRegistry()
	s := NewBlockStore(r, MoveBlocks)
	var slab Slab[MoveQueue]
	h := slab.Alloc(arche.Entity{})
	s.Attach(h)
	l := &live{sprint: &sprint{true}, aim: &aim{Slot: 10}}
	get := l.get
	w, rd, buf := new(bits.Writer), new(bits.Reader), make([]byte, 512)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		s.Attach(h)
		a, b, c := s.InputBlock(h, 0), s.InputBlock(h, 1), s.InputBlock(h, LastAckedBlock)
		r.CaptureBlock(KindInput, a, get)
		w.Reset(buf)
		r.EncodeBlock(KindInput, w, a, b)
		rd.Reset(w.Bytes())
		if r.DecodeBlock(KindInput, rd, c, b) != nil || !r.EqualBlocks(KindInput, a, c) || r.RestoreBlock(KindInput, c, get) != 0 {
			t.Error("the round trip failed")
		}
	}))
}
