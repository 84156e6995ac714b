package bits_test

import (
	"testing"

	"github.com/gaitnet/gait/netsync/bits"
)

// The shape of a move: stamp, acceleration, place, rotation, flags.
func BenchmarkWriteMove(b *testing.B) {
	buf := make([]byte, 64)
	acc, loc := bits.QVec{14000, -14900, 0}, bits.QVec{123456, -654321, 9015}
	rot := bits.QRot{Pitch: 700, Yaw: 43210}
	var w bits.Writer
	b.ReportAllocs()
	for b.Loop() {
		w.Reset(buf)
		w.WriteBits(8_000_000, 24)
		w.WriteQVec(acc)
		w.WriteQVec(loc)
		w.WriteQRot(rot)
		w.WriteBits(3, 8)
	}
}

func BenchmarkReadMove(b *testing.B) {
	var w bits.Writer
	w.Reset(make([]byte, 64))
	w.WriteBits(8_000_000, 24)
	w.WriteQVec(bits.QVec{14000, -14900, 0})
	w.WriteQVec(bits.QVec{123456, -654321, 9015})
	w.WriteQRot(bits.QRot{Pitch: 700, Yaw: 43210})
	w.WriteBits(3, 8)
	msg := w.Bytes()
	var r bits.Reader
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(msg)
		r.ReadBits(24)
		r.ReadQVec()
		r.ReadQVec()
		r.ReadQRot()
		r.ReadBits(8)
		if r.Finish() != nil {
			b.Fatal(r.Err())
		}
	}
}
