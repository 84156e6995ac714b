package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
	"github.com/gaitnet/gait/systems"
)

// aroundPacket are the UDP and IP headers.
const aroundPacket = 28

// datagram is the UDP payload of one container: the header of a client that
// hears 30 packets a second, the container, the CRC.
func datagram(t *testing.T, o *owner, p *wire.ContainerPlan) (bytes int, rep wire.ContainerReport) {
	var w bits.Writer
	w.Reset(make([]byte, 1200))
	h := wire.Header{
		Kind: wire.KindUp, Conn: 77, Seq: bits.Seq16(o.i), Payload: true, HasAck: true, Ack: bits.Seq16(o.i / 2), AckBits: 0xff, AckWidth: 8,
		HasHold: true, Hold: components.Ticks(o.i%2) * 960, HasView: true, View: o.now,
	}
	base := o.now - 50*components.Second/1000 - components.Ticks(o.i%7)*31
	h.Write(&w, base)
	view := base + (o.now-base)/wire.HoldUnit*wire.HoldUnit
	at := w.Bits()
	rep, err := wire.WriteContainer(&w, &o.queue, p, wire.ContainerContext{ViewTime: o.now, HasView: true})
	require.NoError(t, err)
	b := w.Bytes()

	r := bits.NewReader(b)
	r.Sub(at)
	_, err = wire.ReadKind(&r)
	require.NoError(t, err)
	var c wire.Container
	require.NoError(t, wire.ReadContainer(&r, &c, wire.ContainerContext{ViewTime: view, HasView: true}))
	require.Equal(t, claimed(o.queue.At(p.New)), c.Moves[c.N-1])
	require.Equal(t, o.queue.At(rep.Oldest).Cmd, c.Moves[0].Cmd)
	return len(b) + bits.CRCBytes, rep
}

// upstream runs rows as a player over 100 ms RTT at 60 fps with acknowledged
// packets and 10 answers a second, and returns the mean payload bytes of both
// forms, the mean bits of New alone, and the mean number of repeated moves.
func upstream(t *testing.T, rows []row) (newBits, reference, full, repeated float64) {
	const rtt, answers = 8, 6 // in moves: 100 ms and a server frame; 10 Hz
	set := components.DefaultSettings()
	o := newOwner(rows)
	n := 0.0
	var bitsNew, byteRef, byteFull, moves int
	for i := range rows {
		o.move(960)
		newest := o.queue.Len() - 1
		for k := range newest {
			o.queue.At(k).Received = k <= newest-rtt
		}
		plan := wire.ContainerPlan{ID: 300, Epoch: 1, New: newest, Pending: -1, Old: -1}
		_, b, _ := pack(t, &o.queue, &plan, wire.ContainerContext{ViewTime: o.now, HasView: true})
		bitsNew += b
		plan.Old = systems.OldMove(&o.queue, newest, &set)
		size, _ := datagram(t, o, &plan)
		byteRef += size
		plan.Old, plan.Full, plan.Budget = -1, true, int(set.MoveBudgetBytes)
		size, rep := datagram(t, o, &plan)
		byteFull += size
		moves += rep.Moves - 1
		require.Zero(t, rep.GivenUp)
		n++
		if i%answers == 0 && newest > rtt {
			o.queue.Ack(newest - rtt)
		}
	}
	return float64(bitsNew) / n, float64(byteRef) / n, float64(byteFull) / n, float64(moves) / n
}

// The goals: a reference packet of recorded hands under 40 bytes in the mean, a
// full one at most 26 more, and its bytes on the wire at most 1.4 times as many.
// Generated hands are busier than people, and a mouse adds a pitch.
func TestUpstreamStaysWithinItsBytes(t *testing.T) {
	for _, c := range []struct {
		name   string
		rows   []row
		within float64 // bytes of a reference packet
	}{
		{"recorded, platforms", recorded(t, "fodplatforms-p1.csv"), 40},
		{"recorded, rollback test", recorded(t, "rollbackframetest-p0.csv"), 40},
		{"generated gamepad", gamepad(7, 4000), 42},
		{"generated keyboard and mouse", keyboard(7, 4000), 44},
	} {
		t.Run(c.name, func(t *testing.T) {
			newBits, reference, full, repeated := upstream(t, c.rows)
			ratio := (full + aroundPacket) / (reference + aroundPacket)
			t.Logf("New alone %5.1f bits, reference %4.1f bytes, full %4.1f bytes with %4.1f repeated moves, ratio %.3f",
				newBits, reference, full, repeated, ratio)
			require.Less(t, reference, c.within)
			require.Less(t, full, reference+26)
			require.Less(t, ratio, 1.4)
		})
	}
}
