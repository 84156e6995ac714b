package collision

import (
	"math"

	"github.com/gaitnet/gait/components/exact"
)

// Segment is a line of a picture, cm.
type Segment struct{ A, B Vec3 }

// Outline is every edge of the level at which its surface bends by more than
// some 10 degrees or ends, but for upright ones: the lines of a plan seen from
// above.
func (l *Level) Outline() []Segment {
	var out []Segment
	for i := range l.mesh.edges {
		e := &l.mesh.edges[i]
		if math.Abs(e.u[2]) > 0.999 {
			continue
		}
		if e.folded && exact.Dot(e.out[0], e.out[1]) > 0.985 {
			continue
		}
		out = append(out, Segment{e.a, exact.AddScaled(e.a, e.u, e.len)})
	}
	return out
}
