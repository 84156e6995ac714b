package components

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPoseRingBehavesAsASortedSlice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ring := new(PoseRing)
		var model []PoseSample
		now := Ticks(0)
		push := func(rt *rapid.T) {
			now += Ticks(rapid.IntRange(-3, 10).Draw(rt, "dt"))
			s := PoseSample{Time: now, Location: Vec3{rapid.Float64Range(-1e3, 1e3).Draw(rt, "x")}, Yaw: float64(len(model))}
			ring.Push(s)
			for len(model) > 0 && model[len(model)-1].Time >= now {
				model = model[:len(model)-1]
			}
			model = append(model, s)
			if len(model) > PosesKept {
				model = model[1:]
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"push": push,
			"fill": func(rt *rapid.T) {
				for range PosesKept {
					push(rt)
				}
			},
			"": func(rt *rapid.T) {
				require.Equal(rt, len(model), ring.N)
				at := now + Ticks(rapid.IntRange(-300, 20).Draw(rt, "at"))
				got, ok := ring.At(at)
				require.Equal(rt, len(model) > 0, ok)
				if !ok {
					return
				}
				require.Equal(rt, poseAt(model, at), got)
			},
		})
	})
}

// poseAt says the same as PoseRing.At, by looking for the pair around t.
func poseAt(s []PoseSample, t Ticks) PoseSample {
	last := len(s) - 1
	if t >= s[last].Time {
		return s[last]
	}
	for i := last; i >= 0; i-- {
		if s[i].Time > t {
			continue
		}
		if s[i].Time == t {
			return s[i]
		}
		a, b := s[i], s[i+1]
		f := float64(t-a.Time) / float64(b.Time-a.Time)
		out := a
		if f >= 0.5 {
			out = b
		}
		out.Time = t
		out.Location[0] = a.Location[0] + float64((b.Location[0]-a.Location[0])*f)
		return out
	}
	return s[0]
}

func TestPoseBetweenTwoSamples(t *testing.T) {
	r := new(PoseRing)
	_, ok := r.At(5)
	require.False(t, ok)
	r.Push(PoseSample{Time: 100, Location: Vec3{0, 10, 20}, Yaw: 1, HalfHeight: 88})
	r.Push(PoseSample{Time: 200, Location: Vec3{100, 10, 0}, Yaw: 2, HalfHeight: 40})
	got, _ := r.At(125)
	require.Equal(t, PoseSample{Time: 125, Location: Vec3{25, 10, 15}, Yaw: 1, HalfHeight: 88}, got)
	got, _ = r.At(175)
	require.Equal(t, PoseSample{Time: 175, Location: Vec3{75, 10, 5}, Yaw: 2, HalfHeight: 40}, got)
}

func TestPoseAtASamplesTimeIsThatSample(t *testing.T) {
	r := new(PoseRing)
	r.Push(PoseSample{Time: 0, Location: Vec3{1}})
	b := PoseSample{Time: 1, Location: Vec3{0.25000000000000006}, Yaw: 3} // 1 + (b-1)*1 rounds to 0.25
	r.Push(b)
	r.Push(PoseSample{Time: 2})
	got, _ := r.At(1)
	require.Equal(t, b, got)
}
