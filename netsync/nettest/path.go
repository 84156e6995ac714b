package nettest

import (
	"math"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// pathLen is how many places a Path keeps: 1.2 s at 400 server ticks a second.
const pathLen = 512

// lagWindow is how far back an onlooker's lag is looked for.
const lagWindow = components.Second

// Path is where the server had one character at the end of each of its last
// ticks, for at least 1.2 s at up to 400 Hz. Between two ticks it goes straight.
// The zero Path is empty and ready. Several onlookers' probes may read one.
type Path struct {
	points  [pathLen]pathPoint
	n, next int
}

type pathPoint struct {
	at    components.Ticks
	place components.Vec3
	// jump: nothing leads here from the point before.
	jump bool
}

// Push adds the place at the end of the server tick at time at, later than all
// before; what is not later is ignored. teleported: no way leads there.
func (p *Path) Push(at components.Ticks, place components.Vec3, teleported bool) {
	if p.n > 0 && at <= p.back(0).at {
		return
	}
	p.points[p.next] = pathPoint{at, place, teleported}
	p.next = (p.next + 1) % pathLen
	p.n = min(p.n+1, pathLen)
}

// back is the i-th newest point.
func (p *Path) back(i int) *pathPoint { return &p.points[(p.next-1-i+2*pathLen)%pathLen] }

// Newest is the last place and its time; false where there is none.
func (p *Path) Newest() (at components.Ticks, place components.Vec3, ok bool) {
	if p.n == 0 {
		return 0, components.Vec3{}, false
	}
	b := p.back(0)
	return b.at, b.place, true
}

// Nearest looks for the time within the second before now at which the path
// was nearest to place, interpolating between ticks; of several the latest. It
// gives how long ago that was in seconds, how far it is away in cm, and how
// fast the path went there in cm/s. False where no part of the path lies in
// that second.
func (p *Path) Nearest(now components.Ticks, place components.Vec3) (ago, distance, speed float64, ok bool) {
	from := now - lagWindow
	best := math.Inf(1)
	for i := 0; i < p.n; i++ {
		b := p.back(i)
		if b.at < from {
			break
		}
		if b.at > now {
			continue
		}
		if i+1 == p.n || b.jump {
			if d := exact.DistSq(b.place, place); d < best {
				best, ago, speed = d, (now - b.at).Seconds(), 0
			}
			continue
		}
		a := p.back(i + 1)
		span := (b.at - a.at).Seconds()
		way := exact.Sub(b.place, a.place)
		// The share of the segment at which it is nearest, within the window.
		t := 1.0
		if l := exact.LenSq(way); l > 0 {
			t = exact.Dot(exact.Sub(place, a.place), way) / l
		}
		lo := math.Max(0, (from-a.at).Seconds()/span)
		t = math.Min(1, math.Max(lo, t))
		if d := exact.DistSq(exact.AddScaled(a.place, way, t), place); d < best {
			best = d
			ago = (now - b.at).Seconds() + (1-t)*span
			speed = exact.Len(way) / span
		}
	}
	return ago, math.Sqrt(best), speed, !math.IsInf(best, 1)
}
