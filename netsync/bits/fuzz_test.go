package bits_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/netsync/bits"
)

// codec is one Write/Read pair. pass reads one value and writes it again.
type codec struct {
	name string
	pass func(r *bits.Reader, w *bits.Writer)
}

var (
	fuzzBase = bits.QVec{12345, -678, 9}
	fuzzRot  = bits.QRot{Pitch: 65000, Yaw: 3}
	blobBuf  [40]byte
)

var codecs = []codec{
	{"bits", func(r *bits.Reader, w *bits.Writer) { w.WriteBits(r.ReadBits(37), 37) }},
	{"bool", func(r *bits.Reader, w *bits.Writer) { w.WriteBool(r.ReadBool()) }},
	{"uint0", func(r *bits.Reader, w *bits.Writer) { w.WriteUint(r.ReadUint(0), 0) }},
	{"uint5", func(r *bits.Reader, w *bits.Writer) { w.WriteUint(r.ReadUint(5), 5) }},
	{"uint63", func(r *bits.Reader, w *bits.Writer) { w.WriteUint(r.ReadUint(63), 63) }},
	{"int", func(r *bits.Reader, w *bits.Writer) { w.WriteInt(r.ReadInt(3), 3) }},
	{"groups1", func(r *bits.Reader, w *bits.Writer) { w.WriteGroups(r.ReadGroups(1), 1) }},
	{"groups7", func(r *bits.Reader, w *bits.Writer) { w.WriteGroups(r.ReadGroups(7), 7) }},
	{"groups32", func(r *bits.Reader, w *bits.Writer) { w.WriteGroups(r.ReadGroups(32), 32) }},
	{"range", func(r *bits.Reader, w *bits.Writer) { w.WriteRange(r.ReadRange(-3, 9), -3, 9) }},
	{"whole range", func(r *bits.Reader, w *bits.Writer) {
		w.WriteRange(r.ReadRange(math.MinInt64, math.MaxInt64), math.MinInt64, math.MaxInt64)
	}},
	{"blob", func(r *bits.Reader, w *bits.Writer) { w.WriteBlob(r.ReadBlob(blobBuf[:0], 40), 40) }},
	{"residual", func(r *bits.Reader, w *bits.Writer) { w.WriteResidual(r.ReadResidual(4), 4) }},
	{"delta", func(r *bits.Reader, w *bits.Writer) {
		w.WriteDelta(r.ReadDelta(math.MaxInt64, 9), math.MaxInt64, 9)
	}},
	{"float64", func(r *bits.Reader, w *bits.Writer) { w.WriteFloat64(r.ReadFloat64()) }},
	{"finite", func(r *bits.Reader, w *bits.Writer) { w.WriteFinite(r.ReadFinite()) }},
	{"vec3", func(r *bits.Reader, w *bits.Writer) { w.WriteVec3Exact(r.ReadVec3Exact()) }},
	{"normal", func(r *bits.Reader, w *bits.Writer) { w.WriteNormal(r.ReadNormal()) }},
	{"qvec", func(r *bits.Reader, w *bits.Writer) { w.WriteQVec(r.ReadQVec()) }},
	{"qvec delta", func(r *bits.Reader, w *bits.Writer) {
		w.WriteQVecDelta(r.ReadQVecDelta(fuzzBase, 6), fuzzBase, 6)
	}},
	{"rot", func(r *bits.Reader, w *bits.Writer) { w.WriteQRot(r.ReadQRot()) }},
	{"rot8", func(r *bits.Reader, w *bits.Writer) { w.WriteQRot8(r.ReadQRot8()) }},
	{"rot delta", func(r *bits.Reader, w *bits.Writer) {
		w.WriteQRotDelta(r.ReadQRotDelta(fuzzRot, 6), fuzzRot, 6)
	}},
	{"align", func(r *bits.Reader, w *bits.Writer) { r.Align(); w.Align() }},
	{"bytes", func(r *bits.Reader, w *bits.Writer) { r.ReadBytes(blobBuf[:3]); w.WriteBytes(blobBuf[:3]) }},
	{"aligned bytes", func(r *bits.Reader, w *bits.Writer) { w.WriteByteAligned(r.ReadByteAligned(2)) }},
}

// sample writes a value of every codec in the order of codecs.
func sample(w *bits.Writer) {
	w.WriteBits(0x1122334455, 37)
	w.WriteBool(true)
	w.WriteUint(17, 0)
	w.WriteUint(math.MaxUint64, 5)
	w.WriteUint(1<<40, 63)
	w.WriteInt(-300, 3)
	w.WriteGroups(6, 1)
	w.WriteGroups(math.MaxUint64, 7)
	w.WriteGroups(1<<33, 32)
	w.WriteRange(9, -3, 9)
	w.WriteRange(math.MinInt64, math.MinInt64, math.MaxInt64)
	w.WriteBlob([]byte("gait"), 40)
	w.WriteResidual(-77, 4)
	w.WriteDelta(math.MinInt64, math.MaxInt64, 9)
	w.WriteFloat64(math.Copysign(0, -1))
	w.WriteFinite(-980)
	w.WriteVec3Exact(bits.Vec3{1.5, 0, -2.25})
	w.WriteNormal(bits.Vec3{0.6, 0, -0.8})
	w.WriteQVec(bits.QVec{20480, -3, 0})
	w.WriteQVecDelta(bits.QVec{12300, -700, 9}, fuzzBase, 6)
	w.WriteQRot(bits.QRot{Pitch: 1, Yaw: 0, Roll: 65535})
	w.WriteQRot8(bits.QRot8{Yaw: 255})
	w.WriteQRotDelta(bits.QRot{Pitch: 2, Yaw: 3, Roll: 1}, fuzzRot, 6)
	w.Align()
	w.WriteBytes([]byte{1, 2, 3})
	w.WriteByteAligned([]byte{4, 5})
}

func passAll(r *bits.Reader, w *bits.Writer) {
	for i := range codecs {
		codecs[i].pass(r, w)
	}
}

func TestEveryCodecPassesItsSample(t *testing.T) {
	in := write(t, 300, sample)
	r := bits.NewReader(in)
	out := write(t, 300, func(w *bits.Writer) { passAll(&r, w) })
	require.NoError(t, r.Finish())
	require.Equal(t, in, out)
}

func TestCodecsDoNotAllocate(t *testing.T) {
	buf := make([]byte, 300, 300+bits.CRCBytes)
	out := make([]byte, 300)
	var w, w2 bits.Writer
	var r bits.Reader
	ok := true
	require.Zero(t, testing.AllocsPerRun(50, func() {
		w.Reset(buf)
		sample(&w)
		w.PatchBits(w.Mark(), 0, 0)
		b, good := bits.CheckCRC(bits.SealCRC(w.Bytes(), 7), 7)
		r.Reset(b)
		w2.Reset(out)
		passAll(&r, &w2)
		sub := r.Sub(0)
		ok = ok && good && r.Finish() == nil && w2.Err() == nil && sub.Err() == nil
		r.Reset(b[:5])
		passAll(&r, &w2)
		ok = ok && r.Err() != nil
	}))
	require.True(t, ok)
}

// FuzzReader lets any bytes through every reader in an order that they choose
// themselves. What is accepted must be the only encoding of its value: written
// again it gives the same bits.
func FuzzReader(f *testing.F) {
	var w bits.Writer
	w.Reset(make([]byte, 300))
	sample(&w)
	all := make([]byte, len(codecs))
	for i := range all {
		all[i] = byte(i)
	}
	f.Add(all, w.Bytes())
	f.Add(all, []byte{})
	f.Add([]byte{2, 5, 2}, make([]byte, 24))
	f.Add([]byte{7, 18, 19}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, order, data []byte) {
		r := bits.NewReader(data)
		var w bits.Writer
		w.Reset(make([]byte, len(data)+1))
		for _, o := range order {
			c := codecs[int(o)%len(codecs)]
			before := r
			c.pass(&r, &w)
			if r.Err() != nil {
				require.Zero(t, r.Remaining())
				require.Zero(t, r.ReadBits(64))
				// Once more through all: every reader ends on a dead Reader.
				var sink bits.Writer
				passAll(&r, &sink)
				return
			}
			require.NoError(t, w.Err(), c.name)
			require.Equal(t, r.Bits(), w.Bits(), c.name)
			was := before.Sub(r.Bits() - before.Bits())
			got := bits.NewReader(w.Bytes())
			got.Sub(w.Bits() - was.Remaining())
			for was.Remaining() > 0 {
				n := uint(min(64, was.Remaining()))
				require.Equal(t, was.ReadBits(n), got.ReadBits(n), c.name)
			}
		}
	})
}

// FuzzRoundTrip writes values of any kind and reads them back.
func FuzzRoundTrip(f *testing.F) {
	f.Add(uint64(0), int64(0), 0.0, 0.0, uint8(0), []byte{})
	f.Add(uint64(math.MaxUint64), int64(math.MinInt64), -1e300, math.Inf(1), uint8(13), []byte("gait"))
	f.Add(uint64(1)<<63, int64(-1), 123.456, math.NaN(), uint8(255), make([]byte, 40))
	f.Fuzz(func(t *testing.T, u uint64, i int64, x, y float64, shape uint8, blob []byte) {
		k, g, lead := uint(shape)&63, uint(shape)&31+1, uint(shape)>>5
		blob = blob[:min(len(blob), 40)]
		v := bits.Vec3{x, y, float64(i)}
		q := bits.QuantizeVec(v, bits.Hundredths)
		rot := bits.QuantizeRot(bits.Rot{Pitch: x, Yaw: y, Roll: float64(i)})
		var w bits.Writer
		w.Reset(make([]byte, 400))
		w.WriteBits(u, lead)
		w.WriteUint(u, k)
		w.WriteInt(i, k)
		w.WriteGroups(u, g)
		w.WriteRange(i, math.MinInt64, math.MaxInt64)
		w.WriteDelta(i, int64(u), k)
		w.WriteFloat64(x)
		w.WriteFloat64(y)
		w.WriteQVec(q)
		w.WriteQVecDelta(q, fuzzBase, k&15)
		w.WriteQRot(rot)
		w.WriteQRotDelta(rot, fuzzRot, k&15)
		w.WriteBlob(blob, 40)
		require.NoError(t, w.Err())
		r := bits.NewReader(w.Bytes())
		r.ReadBits(lead)
		require.Equal(t, u, r.ReadUint(k))
		require.Equal(t, i, r.ReadInt(k))
		require.Equal(t, u, r.ReadGroups(g))
		require.Equal(t, i, r.ReadRange(math.MinInt64, math.MaxInt64))
		require.Equal(t, i, r.ReadDelta(int64(u), k))
		require.Equal(t, math.Float64bits(x), math.Float64bits(r.ReadFloat64()))
		require.Equal(t, math.Float64bits(y), math.Float64bits(r.ReadFloat64()))
		require.Equal(t, q, r.ReadQVec())
		require.Equal(t, q, r.ReadQVecDelta(fuzzBase, k&15))
		require.Equal(t, rot, r.ReadQRot())
		require.Equal(t, rot, r.ReadQRotDelta(fuzzRot, k&15))
		require.Equal(t, string(blob), string(r.ReadBlob(nil, 40)))
		require.NoError(t, r.Finish())
		require.Equal(t, q, bits.QuantizeVec(q.Vec(bits.Hundredths), bits.Hundredths))
		require.Equal(t, rot, bits.QuantizeRot(rot.Deg()))
	})
}
