package levelfile

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/gaitnet/gait/systems/collision"
)

// objWord is what a statement of an OBJ means here.
type objWord uint8

const (
	objUnknown objWord = iota
	objVertex
	objFace
	objSkipped  // points and lines
	objIgnored  // says nothing of surfaces
	objFreeForm // curves and surfaces by formula
)

func objMeaning(word []byte) objWord {
	switch string(word) {
	case "v":
		return objVertex
	case "f", "fo":
		return objFace
	case "p", "l":
		return objSkipped
	case "vt", "vn", "g", "o", "s", "mg", "usemtl", "mtllib", "usemap", "maplib", "bevel", "c_interp", "d_interp", "lod",
		"shadow_obj", "trace_obj", "call", "csh", "res", "bzp", "bsp", "cdc", "cdp":
		return objIgnored
	case "vp", "cstype", "deg", "bmat", "step", "curv", "curv2", "surf", "parm", "trim", "hole", "scrv", "sp", "end", "con", "ctech", "stech":
		return objFreeForm
	}
	return objUnknown
}

// looksLikeOBJ tells whether the first statement is one of an OBJ, and no byte
// near it is of a binary file. Only comments is an OBJ as well.
func looksLikeOBJ(text []byte) bool {
	if bytes.IndexByte(text[:min(len(text), 4096)], 0) >= 0 {
		return false
	}
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		if f := objFields(line); len(f) > 0 {
			return objMeaning(f[0]) != objUnknown
		}
	}
	return true
}

// objFields are the words of a line without its comment.
func objFields(line []byte) [][]byte {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	return bytes.Fields(line)
}

// parseOBJ reads vertices and faces.
func parseOBJ(text []byte, s *sink) error {
	var verts []collision.Vec3
	var face []int
	for number := 1; len(text) > 0; number++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		at := number
		line = bytes.TrimRight(line, "\r")
		if bytes.HasSuffix(line, []byte(`\`)) { // goes on in the next line
			var whole []byte
			for bytes.HasSuffix(line, []byte(`\`)) {
				whole = append(append(whole, line[:len(line)-1]...), ' ')
				line, text, _ = bytes.Cut(text, []byte("\n"))
				line = bytes.TrimRight(line, "\r")
				number++
			}
			line = append(whole, line...)
		}
		fields := objFields(line)
		if len(fields) == 0 {
			continue
		}
		var err error
		switch objMeaning(fields[0]) {
		case objVertex:
			verts, err = objAddVertex(verts, fields[1:], s, at)
		case objFace:
			face, err = objAddFace(face[:0], verts, fields[1:], s, at)
		case objSkipped:
			s.report.Skipped++
		case objFreeForm:
			err = bad(lineNumber(at), "free-form geometry is not supported: %s", fields[0])
		case objUnknown:
			err = bad(lineNumber(at), "%s is no OBJ statement", quoted(fields[0]))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func lineNumber(n int) string { return fmt.Sprintf("line %d", n) }

// quoted is a word of the file, not more of it than a line can show.
func quoted(word []byte) string {
	if len(word) > 40 {
		return strconv.Quote(string(word[:40])) + "..."
	}
	return strconv.Quote(string(word))
}

// objAddVertex: x y z, and after them a weight or a colour, which say nothing
// here.
func objAddVertex(verts []collision.Vec3, words [][]byte, s *sink, at int) ([]collision.Vec3, error) {
	if len(words) < 3 {
		return nil, bad(lineNumber(at), "a vertex has %d coordinates, must have 3", len(words))
	}
	var v collision.Vec3
	for i := range v {
		f, err := strconv.ParseFloat(string(words[i]), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, bad(lineNumber(at), "%s is no coordinate", quoted(words[i]))
		}
		v[i] = float64(s.opts.Unit * f)
	}
	if !s.opts.ZUp {
		v = collision.Vec3{v[0], -v[2], v[1]}
	}
	if !inside(v) {
		return nil, bad(lineNumber(at), "the vertex lies at %v cm, must lie within %g", v, collision.MaxCoordinate)
	}
	return append(verts, v), nil
}

// objAddFace cuts a polygon into a fan from its first corner. A corner is v,
// v/vt, v//vn or v/vt/vn; below 0 it counts from the last vertex.
func objAddFace(face []int, verts []collision.Vec3, words [][]byte, s *sink, at int) ([]int, error) {
	if len(words) < 3 {
		return nil, bad(lineNumber(at), "a face has %d corners, must have 3 or more", len(words))
	}
	if !s.room(len(words) - 2) {
		return nil, s.tooMany(lineNumber(at))
	}
	for _, w := range words {
		number, _, _ := bytes.Cut(w, []byte("/"))
		n, err := strconv.ParseInt(string(number), 10, 32)
		if err != nil {
			return nil, bad(lineNumber(at), "%s is no corner of a face", quoted(w))
		}
		i := n - 1
		if n < 0 {
			i = int64(len(verts)) + n
		}
		if n == 0 || i < 0 || i >= int64(len(verts)) {
			return nil, bad(lineNumber(at), "a face has vertex %d, there are %d before it", n, len(verts))
		}
		face = append(face, int(i))
	}
	for i := 2; i < len(face); i++ {
		s.triangle(verts[face[0]], verts[face[i-1]], verts[face[i]], 0)
	}
	return face, nil
}
