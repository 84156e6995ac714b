package bits_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/netsync/bits"
)

// golden is sample's stream. It changes only with the protocol's version.
const golden = "" +
	"5544332231140000000000000004000000000000c00f00000000100000002ef7" +
	"feffffffffffffffff03000000000a000000600000000000000000e22c2c8d2e" +
	"0a0f1000000000000000300000000000a82370000000000000fc1f0100000000" +
	"0004809f999999999919ff51333333333333fd170280eaff5fd8aa0100fefffb" +
	"2f8cd9010102030405"

func TestFormatIsTheDocumentedOne(t *testing.T) {
	require.Equal(t, golden, hex.EncodeToString(write(t, 300, sample)))
}

// The documented forms by hand, one a code, so that golden is not the only
// witness.
func TestFormsByHand(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(w *bits.Writer)
		want []byte
	}{
		// 5>>1 + 1 = 3 = 0b11: one zero, the one, low bit 1, then bit 1 of 5.
		{"uint", func(w *bits.Writer) { w.WriteUint(5, 1) }, []byte{0b1_1_1_0}},
		{"int", func(w *bits.Writer) { w.WriteInt(-1, 0) }, []byte{0b0_1_0}},
		{"groups", func(w *bits.Writer) { w.WriteGroups(300, 7) }, []byte{0xac, 0x02}},
		{"range", func(w *bits.Writer) { w.WriteRange(7, 5, 9) }, []byte{2}},
		{"blob", func(w *bits.Writer) { w.WriteBlob([]byte{0xff}, 3) }, []byte{0b111111_01, 0b11}},
		{"residual", func(w *bits.Writer) { w.WriteResidual(1, 0) }, []byte{0b0_1_0_1}},
		{"float", func(w *bits.Writer) { w.WriteFloat64(1) }, []byte{1, 0, 0, 0, 0, 0, 0xe0, 0x7f, 0}},
		{"normal", func(w *bits.Writer) { w.WriteNormal(bits.Vec3{0, 0, -1}) }, []byte{0}},
		// Width 3, z present, 3, -4, 1.
		{"qvec", func(w *bits.Writer) { w.WriteQVec(bits.QVec{3, -4, 1}) }, []byte{0b11_1_00011, 0b001_100_0}},
		{"qvec level", func(w *bits.Writer) { w.WriteQVec(bits.QVec{-1, 0, 0}) }, []byte{0b0_1_0_00001}},
		{"rot", func(w *bits.Writer) { w.WriteQRot(bits.QRot{Yaw: 0x8001}) }, []byte{0b000001_1_0, 0, 0b10}},
	} {
		require.Equal(t, c.want, write(t, 16, c.f), c.name)
	}
}
