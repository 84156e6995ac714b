package levelfile

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/url"
	"path"
	"strings"

	"github.com/gaitnet/gait/systems/collision"
	"github.com/qmuntal/gltf"
)

const (
	glbMagic      = "glTF"
	glbHeader     = 12
	glbChunk      = 8
	chunkJSON     = 0x4e4f534a
	chunkBIN      = 0x004e4942
	glbVersion    = 2
	dataURIPrefix = "data:"
)

// parseGLB takes the container apart.
func parseGLB(data []byte, s *sink) error {
	if len(data) < glbHeader+glbChunk {
		return bad("header", "it ends after %d bytes", len(data))
	}
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(data[at:]) }
	if v := word(4); v != glbVersion {
		return bad("header", "version %d, must be %d", v, glbVersion)
	}
	if n := word(8); uint64(n) > uint64(len(data)) {
		return bad("header", "it ends after %d of %d bytes", len(data), n)
	} else if n < glbHeader+glbChunk {
		return bad("header", "its length is %d", n)
	} else {
		data = data[:n]
	}
	var text, bin []byte
	for i, at := 0, glbHeader; at < len(data); i++ {
		where := func() string { return fmt.Sprintf("chunk %d at byte %d", i, at) }
		if len(data)-at < glbChunk {
			return bad(where(), "its header is cut off")
		}
		n, kind := word(at), word(at+4)
		if uint64(n) > uint64(len(data)-at-glbChunk) {
			return bad(where(), "it ends after %d of %d bytes", len(data)-at-glbChunk, n)
		}
		body := data[at+glbChunk : at+glbChunk+int(n)]
		switch {
		case i == 0 && kind != chunkJSON:
			return bad(where(), "the first chunk is not JSON")
		case i == 0:
			text = body
		case i == 1 && kind == chunkBIN:
			bin = body
		}
		at += glbChunk + int(n)
	}
	if bin == nil {
		bin = []byte{}
	}
	return parseGLTF(text, bin, s)
}

// buffer is the bytes of a buffer, at least as many as it claims.
func (g *reader) buffer(i int) ([]byte, error) {
	b, err := pick(g.doc.Buffers, i, "buffer")
	if err != nil {
		return nil, err
	}
	if data, ok := g.buffers[i]; ok {
		return data, nil
	}
	place := fmt.Sprintf("buffer %d", i)
	if b.ByteLength < 1 {
		return nil, bad(place, "byteLength is %d", b.ByteLength)
	}
	var data []byte
	switch {
	case b.URI == "" && i == 0 && g.bin != nil:
		data = g.bin
	case b.URI == "":
		return nil, bad(place, "it has no uri")
	case strings.HasPrefix(b.URI, dataURIPrefix):
		data, err = embedded(place, b.URI)
	default:
		data, err = g.external(place, b.URI, int64(b.ByteLength))
	}
	if err != nil {
		return nil, err
	}
	if len(data) < b.ByteLength {
		return nil, bad(place, "it has %d bytes, byteLength is %d", len(data), b.ByteLength)
	}
	data = data[:b.ByteLength]
	g.buffers[i] = data
	return data, nil
}

// embedded decodes a data URI.
func embedded(place, uri string) ([]byte, error) {
	kind, text, ok := strings.Cut(uri[len(dataURIPrefix):], ",")
	if !ok || !strings.HasSuffix(kind, ";base64") {
		return nil, bad(place, "its data URI is not base64")
	}
	enc := base64.StdEncoding
	if len(text)%4 != 0 {
		enc = base64.RawStdEncoding // some writers leave the padding out
	}
	data, err := enc.DecodeString(text)
	if err != nil {
		return nil, bad(place, "its base64: %v", err)
	}
	return data, nil
}

// external reads a file beside the level, no more of it than is asked for.
func (g *reader) external(place, uri string, want int64) ([]byte, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return nil, bad(place, "its uri %q is no relative path", uri)
	}
	name := path.Clean(strings.ReplaceAll(u.Path, `\`, "/"))
	if !fs.ValidPath(name) || name == "." {
		return nil, bad(place, "its uri %q leads out of the level's directory", uri)
	}
	if g.opts.FS == nil {
		return nil, bad(place, "it is in the file %q, and files beside the level are not read here", name)
	}
	left := g.opts.MaxExternal - g.bytesRead
	if want > left {
		return nil, bad(place, "with the file %q the level has more than %d bytes", name, g.opts.MaxExternal)
	}
	f, err := g.opts.FS.Open(name)
	if err != nil {
		return nil, bad(place, "%v", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, want))
	if err != nil {
		return nil, bad(place, "%v", err)
	}
	g.bytesRead += int64(len(data))
	g.report.External = append(g.report.External, name)
	return data, nil
}

// view is an accessor over bytes that are there: nothing is copied.
type view struct {
	place  string
	data   []byte
	stride int
	count  int
	kind   gltf.ComponentType
	// norm: whole numbers stand for fractions.
	norm bool
}

// view opens an accessor. Its numbers are checked against the bytes before
// anything is done with them.
func (g *reader) view(i int, kind gltf.AccessorType, name string) (v view, err error) {
	a, err := pick(g.doc.Accessors, i, "accessor")
	if err != nil {
		return v, err
	}
	raw := g.raw.Accessors[i]
	v.place = fmt.Sprintf("accessor %d", i)
	if a.Sparse != nil {
		return v, bad(v.place, "sparse accessors are not supported")
	}
	if a.BufferView == nil {
		return v, bad(v.place, "it has no bufferView")
	}
	if raw == nil || raw.Type == nil || a.Type != kind {
		return v, bad(v.place, "its type must be %s", name)
	}
	if raw.ComponentType == nil || !knownComponent(*raw.ComponentType) {
		return v, bad(v.place, "its componentType is unknown")
	}
	bv, err := pick(g.doc.BufferViews, *a.BufferView, "bufferView")
	if err != nil {
		return v, bad(v.place, "%v", err)
	}
	where := fmt.Sprintf("bufferView %d", *a.BufferView)
	for _, x := range compressions {
		if _, ok := bv.Extensions[x]; ok {
			return v, bad(where, "%s is not supported", x)
		}
	}
	data, err := g.buffer(bv.Buffer)
	if err != nil {
		return v, err
	}
	// Each number is held against the length before it enters a sum, so no sum
	// overflows.
	n := len(data)
	if bv.ByteOffset < 0 || bv.ByteOffset > n || bv.ByteLength < 1 || bv.ByteLength > n-bv.ByteOffset {
		return v, bad(where, "its %d bytes from %d on are not within the %d of buffer %d", bv.ByteLength, bv.ByteOffset, n, bv.Buffer)
	}
	data = data[bv.ByteOffset : bv.ByteOffset+bv.ByteLength]
	n = len(data)
	v.kind, v.norm = a.ComponentType, a.Normalized
	size := componentSize(v.kind)
	if kind == gltf.AccessorVec3 {
		size *= 3
	}
	v.stride = size
	if bv.ByteStride != 0 {
		v.stride = bv.ByteStride
	}
	if v.stride < size || v.stride > 252 {
		return v, bad(where, "its byteStride is %d, must lie within %d..252", bv.ByteStride, size)
	}
	if a.Count < 1 {
		return v, bad(v.place, "its count is %d", a.Count)
	}
	if a.ByteOffset < 0 || a.ByteOffset > n || n-a.ByteOffset < size || (n-a.ByteOffset-size)/v.stride < a.Count-1 {
		return v, bad(v.place, "its %d elements from byte %d on are not within the %d bytes of bufferView %d", a.Count, a.ByteOffset, n, *a.BufferView)
	}
	v.data, v.count = data[a.ByteOffset:], a.Count
	return v, nil
}

func knownComponent(c int) bool { return c >= 5120 && c <= 5126 && c != 5124 }

func componentSize(c gltf.ComponentType) int {
	switch c {
	case gltf.ComponentByte, gltf.ComponentUbyte:
		return 1
	case gltf.ComponentShort, gltf.ComponentUshort:
		return 2
	}
	return 4
}

// index is element i of a scalar accessor of whole numbers.
func (v *view) index(i int) uint32 {
	b := v.data[i*v.stride:]
	switch v.kind {
	case gltf.ComponentUbyte:
		return uint32(b[0])
	case gltf.ComponentUshort:
		return uint32(binary.LittleEndian.Uint16(b))
	}
	return binary.LittleEndian.Uint32(b)
}

// vec is element i of a VEC3 accessor. float32 to float64 is exact, and a
// fraction is one division.
func (v *view) vec(i int) (out collision.Vec3) {
	b := v.data[i*v.stride:]
	for k := range out {
		var f, one float64
		switch v.kind {
		case gltf.ComponentByte:
			f, one = float64(int8(b[k])), math.MaxInt8
		case gltf.ComponentUbyte:
			f, one = float64(b[k]), math.MaxUint8
		case gltf.ComponentShort:
			f, one = float64(int16(binary.LittleEndian.Uint16(b[2*k:]))), math.MaxInt16
		case gltf.ComponentUshort:
			f, one = float64(binary.LittleEndian.Uint16(b[2*k:])), math.MaxUint16
		default:
			out[k] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*k:])))
			continue
		}
		if v.norm {
			f = max(f/one, -1)
		}
		out[k] = f
	}
	return out
}
