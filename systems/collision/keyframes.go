package collision

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// NumKeyframes is how many places the history of an obstacle holds: at 60 a
// second somewhat more than a second, over three times the 0.3 s that a move's
// obstacle time may lie back.
const NumKeyframes = 64

type keyframe struct {
	at   components.Ticks
	pose components.Pose
}

// history is a ring of keyframes, oldest first from head.
type history struct {
	frames  [NumKeyframes]keyframe
	head, n int
}

func (h *history) get(i int) *keyframe { return &h.frames[(h.head+i)%NumKeyframes] }

// push adds the newest; false if it is not newer than the last.
func (h *history) push(k keyframe) bool {
	if h.n > 0 && k.at <= h.get(h.n-1).at {
		return false
	}
	if h.n == NumKeyframes {
		h.head = (h.head + 1) % NumKeyframes
		h.n--
	}
	h.n++
	*h.get(h.n - 1) = k
	return true
}

// after is the index of the first keyframe later than t.
func (h *history) after(t components.Ticks) int {
	lo, hi := 0, h.n
	for lo < hi {
		if mid := (lo + hi) / 2; h.get(mid).at <= t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// pose is the place at t: straight and by the shorter turn between two
// keyframes, held at both ends; false if there is none.
func (h *history) pose(t components.Ticks) (components.Pose, bool) {
	if h.n == 0 {
		return components.Pose{}, false
	}
	i := h.after(t)
	switch i {
	case 0:
		return h.get(0).pose, true
	case h.n:
		return h.get(h.n - 1).pose, true
	}
	a, b := h.get(i-1), h.get(i)
	s := float64(t-a.at) / float64(b.at-a.at)
	turn := exact.NormalizeDeg(b.pose.Yaw - a.pose.Yaw)
	return components.Pose{
		Location: exact.Lerp(a.pose.Location, b.pose.Location, s),
		Yaw:      exact.NormalizeDeg(a.pose.Yaw + float64(turn*s)),
	}, true
}

// velocity is that of the piece that t lies in, 0 outside.
func (h *history) velocity(t components.Ticks) (Vec3, float64) {
	i := h.after(t)
	if h.n == 0 || i == 0 || i == h.n {
		return Vec3{}, 0
	}
	a, b := h.get(i-1), h.get(i)
	dt := float64(b.at-a.at) / components.TicksPerSecond
	v := exact.Sub(b.pose.Location, a.pose.Location)
	return Vec3{v[0] / dt, v[1] / dt, v[2] / dt}, exact.NormalizeDeg(b.pose.Yaw-a.pose.Yaw) / dt
}

// bounds covers all the keyframes' places; false if there is none.
func (h *history) bounds() (lo, hi Vec3, ok bool) {
	for i := range h.n {
		p := h.get(i).pose.Location
		if i == 0 {
			lo, hi = p, p
		}
		for x := range p {
			lo[x], hi[x] = min(lo[x], p[x]), max(hi[x], p[x])
		}
	}
	return lo, hi, h.n > 0
}
