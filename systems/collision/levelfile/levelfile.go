package levelfile

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/gaitnet/gait/systems/collision"
)

// Options are how a file is read. The zero value is ready.
type Options struct {
	// FS holds the files that a .gltf names as buffers, by paths relative to
	// the level file; nil refuses such a level.
	FS fs.FS
	// MaxTriangles of a level with all instances; 0 is DefaultMaxTriangles.
	MaxTriangles int
	// MaxExternal is how many bytes all files from FS may have together; 0 is
	// DefaultMaxExternal.
	MaxExternal int64
	// Unit is the length of an OBJ's unit, cm; 0 is 100. glTF is in metres.
	Unit float64
	// ZUp: an OBJ has Z up and is not turned. glTF has Y up.
	ZUp bool
}

// The bounds where Options gives none. A triangle takes a kilobyte or two
// while a level is built.
const (
	DefaultMaxTriangles = 1 << 20
	DefaultMaxExternal  = 256 << 20
)

// Format of a level file.
type Format uint8

// The formats that Parse knows.
const (
	GLTF Format = iota // JSON
	GLB                // binary glTF
	OBJ
)

func (f Format) String() string { return [...]string{"glTF", "glb", "OBJ"}[f] }

// Report tells what became of a file.
type Report struct {
	Format Format
	// Given is the number of triangles that the file describes, instances
	// counted one by one, without those that are Off.
	Given int
	// Stats: of those, how many were kept, and how many were dropped as
	// degenerate (thinner than 1e-5 cm) or doubled.
	Stats collision.BuildStats
	// Off is how many triangles "collision": false left out.
	Off int
	// Skipped is how many glTF primitives and OBJ elements were points or
	// lines.
	Skipped int
	// Spawns is the number of spawn points.
	Spawns int
	// External are the files that were read from Options.FS, in the order of
	// their first use.
	External []string
}

// String tells it in a line.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v, %d triangles", r.Format, r.Stats.Triangles)
	for _, c := range [...]struct {
		n    int
		what string
	}{
		{r.Stats.Degenerate, "degenerate dropped"}, {r.Stats.Doubled, "doubled dropped"}, {r.Off, "without collision"},
		{r.Skipped, "points or lines skipped"}, {r.Spawns, "spawn points"},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, ", %d %s", c.n, c.what)
		}
	}
	return b.String()
}

// Error says in one line why a file is no level. It wraps collision.ErrLevel.
type Error struct {
	// File is Parse's name, Place where in the file; either may be empty.
	File, Place, Reason string
}

func (e *Error) Error() string {
	var parts []string
	for _, s := range [...]string{e.File, e.Place, e.Reason} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return oneLine(strings.Join(parts, ": "))
}

// Unwrap makes errors.Is(err, collision.ErrLevel) true.
func (e *Error) Unwrap() error { return collision.ErrLevel }

// maxMessage bounds a message that quotes a file, bytes.
const maxMessage = 500

// oneLine leaves no control characters and no novel: what a message quotes
// comes from the file.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "..."
	}
	return s
}

// bad is a complaint; Parse adds the file's name.
func bad(place, format string, args ...any) error {
	return &Error{Place: place, Reason: fmt.Sprintf(format, args...)}
}

// Parse reads a level. name is for messages alone, and may be empty. The error
// is an *Error.
func Parse(name string, data []byte, o Options) (*collision.Level, *Report, error) {
	l, r, err := parse(data, o)
	if err != nil {
		e, ok := err.(*Error)
		if !ok {
			e = &Error{Reason: err.Error()}
		}
		e.File = name
		return nil, nil, e
	}
	return l, r, nil
}

func parse(data []byte, o Options) (*collision.Level, *Report, error) {
	if o.MaxTriangles <= 0 {
		o.MaxTriangles = DefaultMaxTriangles
	}
	if o.MaxExternal <= 0 {
		o.MaxExternal = DefaultMaxExternal
	}
	if o.Unit == 0 {
		o.Unit = 100
	}
	if !(o.Unit > 0 && o.Unit <= collision.MaxCoordinate) {
		return nil, nil, bad("", "the unit is %v cm, must lie within 0..%g", o.Unit, collision.MaxCoordinate)
	}
	s := &sink{opts: o, builder: collision.NewBuilder()}
	text := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	start := bytes.TrimLeft(text, " \t\r\n")
	var err error
	switch {
	case len(start) == 0:
		err = bad("", "it is empty")
	case bytes.HasPrefix(data, []byte(glbMagic)):
		s.report.Format = GLB
		err = parseGLB(data, s)
	case start[0] == '{':
		s.report.Format = GLTF
		err = parseGLTF(text, nil, s)
	case !looksLikeOBJ(start):
		err = bad("", "it is neither glTF, glb nor OBJ")
	default:
		s.report.Format = OBJ
		err = parseOBJ(text, s)
	}
	if err != nil {
		return nil, nil, err
	}
	return s.build()
}

// sink takes triangles and spawn points, cm with Z up.
type sink struct {
	opts    Options
	builder *collision.Builder
	report  Report
}

// room tells whether n triangles more are within bounds.
func (s *sink) room(n int) bool { return n <= s.opts.MaxTriangles-s.report.Given }

func (s *sink) tooMany(place string) error {
	return bad(place, "the level has more than %d triangles", s.opts.MaxTriangles)
}

// triangle adds one; room has been asked and the corners are inside.
func (s *sink) triangle(a, b, c collision.Vec3, surface collision.Surface) {
	s.builder.Triangle(a, b, c, surface)
	s.report.Given++
}

func (s *sink) build() (*collision.Level, *Report, error) {
	r := &s.report
	if r.Given == 0 {
		what := ""
		if r.Off > 0 {
			what = " with collision"
		}
		return nil, nil, bad("", "it has no triangles%s", what)
	}
	l, err := s.builder.Build()
	if err != nil {
		return nil, nil, err
	}
	r.Stats = l.Stats()
	if r.Stats.Triangles == 0 {
		return nil, nil, bad("", "all of its %d triangles are degenerate", r.Given)
	}
	return l, r, nil
}

// inside tells whether a place is one of a level; NaN is not.
func inside(v collision.Vec3) bool {
	for _, f := range v {
		if !(math.Abs(f) <= collision.MaxCoordinate) {
			return false
		}
	}
	return true
}
