package nettest

import (
	"math"
	"sort"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// trailLen is how many places a Trail keeps, 18 minutes at 60 frames a second;
// marksLen how many corrections a Picture does.
const (
	trailLen = 1 << 16
	marksLen = 1 << 12
)

// Trail is where somebody had, or drew, one character over time. When it is
// full the older half goes, so that a run without end does not fill the memory.
type Trail struct{ points []trailPoint }

type trailPoint struct {
	at    components.Ticks
	place components.Vec3
	jump  bool
}

// Add appends a place in cm at a time not before the last. jump: no line leads
// there (a spawn, a teleport). What is not finite, or earlier, is left out and
// the line broken.
func (t *Trail) Add(at components.Ticks, place components.Vec3, jump bool) {
	n := len(t.points)
	if !exact.Finite(place) || (n > 0 && at < t.points[n-1].at) {
		if n > 0 {
			t.points[n-1].jump = true
		}
		return
	}
	if t.points == nil {
		t.points = make([]trailPoint, 0, trailLen)
	}
	if n == trailLen {
		n = copy(t.points, t.points[trailLen/2:])
		t.points = t.points[:n]
	}
	t.points = append(t.points, trailPoint{at, place, jump})
}

// Len is how many places it holds.
func (t *Trail) Len() int { return len(t.points) }

// from is the index of the first point at or after a time.
func (t *Trail) from(at components.Ticks) int {
	return sort.Search(len(t.points), func(i int) bool { return t.points[i].at >= at })
}

// at is the place at a time, interpolated; false outside.
func (t *Trail) at(at components.Ticks) (components.Vec3, bool) {
	i := t.from(at)
	if i == len(t.points) {
		return components.Vec3{}, false
	}
	b := &t.points[i]
	if b.at == at {
		return b.place, true
	}
	if i == 0 || b.jump {
		return components.Vec3{}, false
	}
	a := &t.points[i-1]
	return exact.Lerp(a.place, b.place, float64(at-a.at)/float64(b.at-a.at)), true
}

// Picture is one player's path over time as its owner predicted it, as the
// server had it, and as an onlooker's capsule and mesh showed it. Its times are
// those of one clock that all four share, the process's own. Fill it while the
// game runs, then call WriteSVG.
type Picture struct {
	Title, Subtitle string
	Owner, Server   Trail
	Capsule, Mesh   Trail
	// Level is the outline of the level seen from above: x1, y1, x2, y2, cm.
	Level [][4]float64

	corrections []components.CorrectionRecord
	// correctionsSeen counts those too that went as the oldest.
	correctionsSeen int
}

// MarkCorrection marks a correction that the owner applied; its Time is of the
// picture's clock.
func (p *Picture) MarkCorrection(r components.CorrectionRecord) {
	if !exact.Finite(r.Wrong) || !exact.Finite(r.Right) {
		return
	}
	p.correctionsSeen++
	if len(p.corrections) == marksLen {
		p.corrections = p.corrections[:copy(p.corrections, p.corrections[marksLen/2:])]
	}
	p.corrections = append(p.corrections, r)
}

// zoomSpan is how long a stretch is shown closely.
const zoomSpan = 5 * components.Second / 2

// zoom is the stretch worth a closer look, why, and the axis to look at.
type zoom struct {
	from, to components.Ticks
	axis     int // 0: x, 1: y
	why      string
	mark     int // the correction it is about, -1 for none
}

// span is the first and the last time of any trail.
func (p *Picture) span() (from, to components.Ticks, ok bool) {
	from, to = math.MaxInt64, math.MinInt64
	for _, t := range p.trails() {
		if n := len(t.points); n > 0 {
			from, to, ok = min(from, t.points[0].at), max(to, t.points[n-1].at), true
		}
	}
	return from, to, ok
}

func (p *Picture) trails() [4]*Trail {
	return [4]*Trail{&p.Server, &p.Owner, &p.Capsule, &p.Mesh}
}

// zoom picks the stretch around the largest correction, or without one around
// the sharpest turn of the server's path.
func (p *Picture) zoom() zoom {
	from, to, _ := p.span()
	z := zoom{why: "the first seconds", mark: -1}
	centre := from + zoomSpan/2
	far := 0.0
	for i := range p.corrections {
		c := &p.corrections[i]
		if d := exact.Dist(c.Wrong, c.Right); d > far && c.Time >= from && c.Time <= to {
			// What follows a correction is worth more room than what was before.
			far, centre, z.mark = d, c.Time+zoomSpan/5, i
		}
	}
	if z.mark >= 0 {
		z.why = "around the largest correction"
	} else if at, ok := p.sharpestTurn(); ok {
		centre, z.why = at+zoomSpan/10, "around the sharpest turn"
	}
	z.from = max(from, min(centre-zoomSpan/2, to-zoomSpan))
	z.to = z.from + zoomSpan
	var spread [2]float64
	for axis := range spread {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, t := range [2]*Trail{&p.Owner, &p.Server} {
			for i := t.from(z.from); i < len(t.points) && t.points[i].at <= z.to; i++ {
				lo, hi = math.Min(lo, t.points[i].place[axis]), math.Max(hi, t.points[i].place[axis])
			}
		}
		spread[axis] = hi - lo
	}
	if z.mark >= 0 { // the axis that shows the correction
		d := exact.Sub(p.corrections[z.mark].Right, p.corrections[z.mark].Wrong)
		spread = [2]float64{math.Abs(d[0]), math.Abs(d[1])}
	}
	if spread[1] > spread[0] {
		z.axis = 1
	}
	return z
}

// sharpestTurn is the time around which the server's velocity changes most
// within 0.3 s.
func (p *Picture) sharpestTurn() (at components.Ticks, ok bool) {
	const half = 3 * components.Second / 20
	t := &p.Server
	if len(t.points) < 2 {
		t = &p.Owner
	}
	best := 1.0 // cm
	for i := range t.points {
		m := &t.points[i]
		a, okA := t.at(m.at - half)
		b, okB := t.at(m.at + half)
		if !okA || !okB || m.jump {
			continue
		}
		bend := exact.Len2(exact.Sub(exact.Sub(b, m.place), exact.Sub(m.place, a)))
		// A teleport in between is no turn.
		if bend > best && bend < 2000*half.Seconds() {
			best, at, ok = bend, m.at, true
		}
	}
	return at, ok
}

// lags looks, within the zoom, for a place that the owner passes at a steady
// speed and without a correction, and gives when the owner, the server and the onlooker's mesh were there.
func (p *Picture) lags(z zoom) (place float64, when [3]components.Ticks, ok bool) {
	const step = components.Second / 10
	best := 150.0 * 0.1 // at least 150 cm/s over a tenth of a second
	for t := z.from; t < z.to-zoomSpan/5; t += step / 4 {
		a, okA := p.Owner.at(t)
		b, okB := p.Owner.at(t + step)
		if !okA || !okB {
			continue
		}
		way := b[z.axis] - a[z.axis]
		if math.Abs(way) <= best || math.Abs(way) > 300 {
			continue
		}
		mid, found := p.Owner.at(t + step/2)
		half := mid[z.axis] - a[z.axis]
		if !found || math.Abs(half) < 0.35*math.Abs(way) || math.Abs(half) > 0.65*math.Abs(way) || p.correctedWithin(t-step, t+2*step) {
			continue
		}
		server, okS := p.Server.crossing(z.axis, mid[z.axis], way > 0, t+step/2)
		mesh, okM := p.Mesh.crossing(z.axis, mid[z.axis], way > 0, server)
		if okS && okM && mesh <= z.to {
			best, place, when, ok = math.Abs(way), mid[z.axis], [3]components.Ticks{t + step/2, server, mesh}, true
		}
	}
	return place, when, ok
}

func (p *Picture) correctedWithin(from, to components.Ticks) bool {
	for i := range p.corrections {
		if at := p.corrections[i].Time; at >= from && at <= to {
			return true
		}
	}
	return false
}

// crossing is when the trail first passes a value of an axis, rising or
// falling, within a second after a time.
func (t *Trail) crossing(axis int, value float64, rising bool, after components.Ticks) (components.Ticks, bool) {
	for i := max(1, t.from(after)); i < len(t.points) && t.points[i].at <= after+components.Second; i++ {
		a, b := &t.points[i-1], &t.points[i]
		u, v := a.place[axis], b.place[axis]
		if b.jump || u == v || rising != (v > u) || value < math.Min(u, v) || value > math.Max(u, v) {
			continue
		}
		if at := a.at + components.Ticks((value-u)/(v-u)*float64(b.at-a.at)); at >= after {
			return at, true
		}
	}
	return 0, false
}
