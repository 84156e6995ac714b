package nettest_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/stretchr/testify/require"
)

// correctionFault is how far the server's copy is put aside, cm.
const correctionFault = 50.0

// decay is what a smoothing law leaves of an owner's offset of a correction: at
// is the time since, was the offset a frame of dt before, all in s and cm.
func decay(mode components.SmoothingMode, at, dt, was float64, standing bool) float64 {
	set := components.DefaultSettings()
	span := set.SmoothLocationTime
	switch mode {
	case components.SmoothDisabled:
		return 0
	case components.SmoothLinear:
		return max(0, correctionFault*(1-at/(2*span)))
	}
	if standing {
		span /= 2
	}
	if left := was * (1 - dt/span); left >= 0.01 {
		return left
	}
	return 0
}

// TestCorrectionOf50cmIsHiddenByEachSmoothingLaw is the third promise.
func TestCorrectionOf50cmIsHiddenByEachSmoothingLaw(t *testing.T) {
	for _, mode := range []components.SmoothingMode{
		components.SmoothExponential, components.SmoothLinear, components.SmoothDisabled, components.SmoothBuffered,
	} {
		for _, tick := range []struct {
			fps   float64
			fixed int64
		}{{60, 0}, {144, 0}, {30, 0}, {60, 60}, {144, 60}, {60, 30}} {
			for _, standing := range []bool{false, true} {
				t.Run(fmt.Sprintf("mode %d, %.0f fps, fixed %d, standing %v", mode, tick.fps, tick.fixed, standing), func(t *testing.T) {
					t.Parallel()
					correct50(t, mode, tick.fps, tick.fixed, standing)
				})
			}
		}
	}
}

func correct50(t *testing.T, mode components.SmoothingMode, fps float64, fixed int64, standing bool) {
	o := on(flat(t), nettest.Options{Clients: 1, FPS: fps, Seed: 3, Link: rtt(100*ms, 0, 0)})
	o = with(o, func(s *components.Settings) { s.Smoothing = mode })
	o.Client.FixedHz = fixed
	s, w := watchedSession(t, o)
	c, id := s.Clients[0], owned(t, s, 0)
	if !standing {
		drive(s, straight)
	}
	s.Advance(2 * second)
	require.Zero(t, s.Corrections())
	require.Equal(t, mode, part[components.MeshSmoothing](c, id).Mode)

	frame := components.TicksFromSeconds(1 / fps)
	var begun, last components.Ticks
	var was, lawOff, late, end float64
	eachFrame(s, func(int) {
		if begun == 0 && w.Shift != (components.Vec3{}) {
			// The law's first frame is that of the replay.
			begun, was = s.Now, correctionFault
			last = s.Now - frame
			require.InDelta(t, correctionFault, w.Shift[1], 1e-9, "cm that the capsule was moved by")
			require.InDelta(t, correctionFault, stateOf(c, id).Location[1], 1e-9, "the capsule after the replay")
		} else if begun > 0 {
			require.Equal(t, components.Vec3{}, w.Shift, "further corrections move nothing")
		}
		if begun == 0 {
			return
		}
		left := exact.Len(w.offset)
		at := s.Now - begun + frame
		law := decay(mode, at.Seconds(), (s.Now - last).Seconds(), was, standing)
		lawOff = max(lawOff, math.Abs(left-law))
		last, was = s.Now, left
		if at >= 2*second/5 {
			late = max(late, left)
		}
		if at >= second {
			end = max(end, left)
		}
	})
	onServer[components.MovementState](s, id).Location[1] += correctionFault
	s.Advance(2 * second)
	require.NotZero(t, begun, "the owner was corrected")
	require.Less(t, w.Pop.Max(), 0.5, "owner_pop_cm")
	require.Less(t, lawOff, 0.02, "cm by which the offset leaves its law")
	require.Less(t, late, 1.0, "cm of offset after 0.4 s")
	require.Zero(t, end, "cm of offset after 1 s")
	if fixed == 0 {
		require.Equal(t, stateOf(c, id).Location, meshOf(c, id).Location, "the mesh lies on the capsule")
	}
}

// TestCorrectionsOfHumanPlayAreNeverSeen corrects a player of the arena twice a
// second, on stairs, ramps, bases and in the air, over a link with loss.
func TestCorrectionsOfHumanPlayAreNeverSeen(t *testing.T) {
	for i, in := range humans(t) {
		for _, fixed := range []int64{0, 60} {
			t.Run(fmt.Sprintf("input %d, fixed %d", i, fixed), func(t *testing.T) {
				t.Parallel()
				o := nettest.Options{Clients: 1, FPS: 75, Seed: uint64(i + 1), Link: rtt(100*ms, 20*ms, 2)}
				o.Client.FixedHz, o.Client.Input = fixed, in
				s, w := watchedSession(t, o)
				id := owned(t, s, 0)
				for k := range span(10*minute, minute/3) / (second / 2) {
					// Towards the middle, so that nobody is put outside the walls.
					at := &onServer[components.MovementState](s, id).Location
					at[k%2] -= math.Copysign(correctionFault, at[k%2])
					s.Advance(second / 2)
				}
				require.Greater(t, s.Corrections(), uint64(20))
				require.Less(t, w.Pop.Max(), 0.5, "owner_pop_cm")
				settled(t, s, "after many corrections")
			})
		}
	}
}
