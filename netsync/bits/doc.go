// Package bits packs and unpacks bit streams and the quantised types that lie
// in them. It is a leaf: it knows nothing of packets, and any room may import
// it (it imports the standard library, mathgl's types and components/exact).
// In a tick it works in Receive and Send, through netsync/wire; the kernel's
// callers use the quantisers, because what the owner predicts with it sends.
//
// To do X call Y:
//
//   - pack a message: [NewWriter] or [Writer.Reset] over a buffer of your own,
//     Write..., then [Writer.Err] once and [Writer.Bytes];
//   - try whether a record still fits: [Writer.Mark], write it, and on an error
//     (or over your budget) [Writer.Rollback];
//   - fill in a count that is known later: Mark, write a placeholder, and
//     [Writer.PatchBits];
//   - learn what a message would cost: write it to the zero Writer and ask
//     [Writer.Bits];
//   - unpack: [NewReader] or [Reader.Reset], Read..., then [Reader.Finish];
//   - keep a faulty record from reading its neighbour: [Reader.Sub];
//   - refuse a value of your own format: [Reader.Invalid], [Writer.Refuse];
//   - round before simulating: [QuantizeVec] and [QVec.Vec], [QuantizeRot] and
//     [QRot.Deg], or [QuantizedVec];
//   - seal a datagram: [SealCRC], [CheckCRC];
//   - order numbers that wrap: [Seq16], [Seq32]; widen them: [Extend].
//
// # Bit order
//
// Bit i of a stream is bit i%8, counted from the lowest, of byte i/8. A field of
// n bits lies with its lowest bit first. So a stream is one number in
// little-endian order, and a field that starts on a whole byte is a
// little-endian integer. A message ends with zero bits up to a whole byte.
//
// # One value, one encoding
//
// Every code has exactly one form for each value, and a Reader refuses any other
// with [ErrInvalid]: equal messages are equal bytes, and what a hostile sender
// can vary is only the values. A Writer refuses with [ErrRange] what the other
// end would refuse. Errors stick on both sides; after one, reads give zero and
// nothing remains.
//
// # Costs
//
// In bits, with log the whole part of the logarithm to base 2 and w the width of
// the widest part in two's complement (0 for 0, else up to 31):
//
//	WriteBits(v, n)          n
//	WriteBool                1
//	Align                    0..7
//	WriteBytes(b)            8 len(b)
//	WriteByteAligned(b)      0..7 + 8 len(b)
//	WriteUint(v, k)          2 log(v/2^k + 1) + 1 + k
//	WriteInt(v, k)           WriteUint(Zigzag(v), k)
//	WriteGroups(v, g)        (g+1) for each started g bits of v, at least one
//	WriteRange(v, lo, hi)    bits of hi-lo
//	WriteBlob(b, limit)      bits of limit + 8 len(b)
//	WriteResidual(d, k)      1 for zero, else 1 + WriteUint(Zigzag(d)-1, k)
//	WriteDelta(v, base, k)   WriteResidual(v-base, k)
//	WriteFloat64             1 for +0, else 65 (every bit of it)
//	WriteFinite              the same, finite only
//	WriteVec3Exact           3..195
//	WriteNormal              1 for (0, 0, -1), else 1 + WriteVec3Exact
//	WriteQVec                5 for zero, 6+2w for z = 0, else 6+3w
//	WriteQVecDelta(q, b, k)  1 if equal, else 1 + three residuals
//	WriteQRot                3 + 16 for each axis that is not zero
//	WriteQRot8               3 + 8 for each axis that is not zero
//	WriteQRotDelta(q, b, k)  three residuals
//	SealCRC                  32
//
// The form of WriteQVec was chosen among these by its mean cost, in bits:
//
//	                          one width  own widths  flag an axis  flag for z
//	walking, acceleration x10      52.4        44.8          39.6        37.6
//	walking, velocity x1           35.3        33.6          28.2        26.2
//	falling, velocity x1           37.4        43.8          40.4        38.4
//	flying, velocity x10           44.9        51.4          47.9        45.9
//	place in 100 m, x100           63.9        69.2          66.9        64.9
//	place in 1 km, x100            74.2        78.7          77.2        75.2
//
// (level directions, speeds of 300..600 and accelerations of 2,048 uniform;
// the reference's own form is "one width").
//
// # Equal bits on every target
//
// Quantisers clamp before they convert to an integer, round products
// explicitly and divide instead of multiplying by an inverse. A quantised
// value is a fixed point: quantising what was dequantised gives it again.
//
// # What it does not do
//
// No compression across fields, no adaptive model, no encryption. A CRC finds
// damage, not forgery.
package bits
