package nettest_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/stretchr/testify/require"
)

// pressTimes is what became of one press of a key: when the owner's frame took
// it, and how long after that the others knew.
type pressTimes struct {
	response                  components.Ticks // from the press to the frame
	server, verdict, onlooker components.Ticks // from the frame on
}

// pressForward holds the stick forward from now on and waits until everybody
// knows. Client 0 plays, client 1 looks on; both stand still.
func pressForward(t *testing.T, s *nettest.Session) (p pressTimes) {
	owner, looker, id := s.Clients[0], s.Clients[1], owned(t, s, 0)
	pressed := s.Now
	var frame, server, verdict, onlooker components.Ticks
	var stamp components.Stamp
	moves := func(st *components.MovementState) bool { return st.Velocity != (components.Vec3{}) }
	beforeFrame, beforeTick := s.OnClientFrame, s.OnServerTick
	s.OnClientFrame = func(i int) {
		hold(owner, keys{forward: 1}) // a frame takes it
		switch {
		case i == 1 && onlooker == 0 && moves(stateOf(looker, id)):
			onlooker = s.Now
		case i == 0 && frame == 0 && moves(stateOf(owner, id)):
			frame, stamp = s.Now, part[components.ClientPrediction](owner, id).CurrentTimeStamp
		case i == 0 && frame > 0 && verdict == 0 && queueOf(owner).LastAcked.Cmd.Stamp >= stamp:
			verdict = s.Now
		}
	}
	s.OnServerTick = func() {
		if server == 0 && moves(onServer[components.MovementState](s, id)) {
			server = s.Now
		}
	}
	hold(owner, keys{forward: 1})
	s.Advance(second)
	s.OnClientFrame, s.OnServerTick = beforeFrame, beforeTick
	for name, at := range map[string]components.Ticks{"owner": frame, "server": server, "verdict": verdict, "onlooker": onlooker} {
		require.NotZero(t, at, name)
	}
	return pressTimes{frame - pressed, server - frame, verdict - frame, onlooker - frame}
}

// TestInputReachesEverybodyWithinTheLatencyModel is item 125 as a table: each
// figure of it has its bounds, and nothing arrives before light could bring it.
func TestInputReachesEverybodyWithinTheLatencyModel(t *testing.T) {
	for _, c := range []struct {
		rtt      time.Duration
		fps      float64
		serverHz int64
		acks     float64 // MinTimeBetweenAcks
	}{
		{0, 60, 30, 0.1}, {50 * ms, 60, 60, 0}, {100 * ms, 60, 30, 0}, {100 * ms, 60, 30, 0.1},
		{100 * ms, 144, 60, 0}, {100 * ms, 30, 20, 0.1}, {300 * ms, 240, 128, 0.1}, {300 * ms, 60, 10, 0},
	} {
		t.Run(fmt.Sprintf("rtt %v, %.0f fps, server %d Hz, acks every %.1f s", c.rtt, c.fps, c.serverHz, c.acks), func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{Clients: 1, Onlookers: 1, FPS: c.fps, Seed: 5, Link: rtt(c.rtt, 0, 0)})
			o = with(o, func(set *components.Settings) { set.MinTimeBetweenAcks = c.acks })
			o.Server.Hz = c.serverHz
			s := session(t, o)
			set := s.Server.Settings

			trip := components.TicksOf(c.rtt)
			frame, tick := components.TicksFromSeconds(1/c.fps), second/components.Ticks(c.serverHz)
			// Sends wait only where frames are shorter than SendDelta.
			wait := components.Ticks(0)
			if send := components.TicksFromSeconds(set.SendDelta); frame < send {
				wait = send
			}
			interval := components.TicksFromSeconds(1 / set.NetUpdateFrequency)
			// The throttle opens at the first tick after its time.
			throttle := components.TicksFromSeconds(c.acks)
			if throttle > 0 {
				throttle += tick
			}
			const one = 1 // rounding of frames and ticks to whole units

			const trials = 12
			var looked components.Ticks
			for k := range components.Ticks(trials) {
				// Presses fall evenly on all phases of a net update.
				s.Advance(2*second + k*interval/trials)
				p := pressForward(t, s)
				require.LessOrEqual(t, p.response, frame+one, "the owner moves in the next frame")

				require.GreaterOrEqual(t, p.server, trip/2, "the server cannot know before")
				require.LessOrEqual(t, p.server, trip/2+wait+tick+one, "RTT/2, the wait for the send, a tick")

				require.GreaterOrEqual(t, p.verdict, trip, "nor can there be a verdict")
				require.LessOrEqual(t, p.verdict, trip+wait+tick+throttle+frame+one, "RTT, the same waits, a frame, the throttle")

				// A net update falls on a tick: the next one at or after its time.
				require.GreaterOrEqual(t, p.onlooker, trip, "nor can an onlooker see it")
				require.LessOrEqual(t, p.onlooker, trip+wait+tick+interval+tick+frame+one, "RTT, the same waits, an interval, a frame")
				looked += p.onlooker - p.server
			}
			// In the mean half an interval passes, or half a tick where those are
			// longer, before the snapshot leaves.
			require.LessOrEqual(t, looked/trials, trip/2+max(interval, tick)/2+frame+one, "mean from server to onlooker")
		})
	}
}

// onlooked are the conditions that a proxy is seen under, in s, cm and cm/s.
type onlooked struct {
	mode   components.SmoothingMode
	fixed  bool
	trip   float64 // half a round trip
	jitter float64 // each way
	lost   float64 // updates lost one after the other
	turn   float64 // cm/s² by which the velocity changes steadily
	sudden float64 // cm/s by which it changes at once: a wall, a jump, a landing
}

const (
	seenFrame    = 1.0 / 60 // of everybody
	seenTick     = 1.0 / 30
	seenInterval = 1.0 / 20
	smoothTime   = 0.1 // SmoothLocationTime
	frameWay     = runSpeed * seenFrame
)

// lag is how far a mesh may trail the server's path, ms. By item 125 that is
// RTT/2 + half an interval + smoothing; and the frame in which it is looked at,
// under a fixed tick also the step between whose ends is drawn.
//
// The smoothing by its law, at a steady run: the capsule stands still for the
// frame of each update (item 102), so that the offset grows by a frame's way in
// each interval. Exponential keeps it for smoothTime: a share of smoothTime to
// interval of the frame. Linear gives it back within the interval. Buffered
// draws behind by the mean time from a snapshot's place to the arrival of the
// next, RTT/2 + interval + frame, and three deviations of it: half a tick, as
// updates fall on ticks, and half the jitter.
func (o *onlooked) lag() float64 {
	s := o.trip + o.jitter + seenInterval/2 + seenFrame
	switch o.mode {
	case components.SmoothExponential:
		s += seenFrame * smoothTime / seenInterval
	case components.SmoothLinear:
		s += seenFrame
	case components.SmoothBuffered:
		s += seenInterval/2 + 3*(seenTick+o.jitter)/2
		return s * 1000 // which is between two snapshots, not two steps
	}
	if o.fixed {
		s += seenFrame
	}
	return s * 1000
}

// fault is how far off an update may find the capsule, cm: the frame that stood
// still; jitter down, by which the snapshot is early or late; jitter up and a
// move, which the server had sooner or later; what the velocity did since the
// last update that came.
func (o *onlooked) fault() float64 {
	gone := (1+o.lost)*seenInterval + o.jitter + seenFrame
	e := frameWay + o.turn*gone*gone/2 + o.sudden*gone
	if o.jitter > 0 {
		e += runSpeed * (2*o.jitter + seenFrame)
	}
	return e
}

// pop is by how much a drawn step may differ from velocity times frame, cm. The
// mesh stays at an update, so it is at most what the law then gives back in a
// frame, or the frame's way itself.
//
// Exponential: a frame's share of all the offsets that came together, a
// geometric sum over intervals. Linear: evenly over at least half an interval.
// Disabled: the fault at once, but no frame is missing, as the snapshot has it;
// under a fixed tick it is the drawn step that is missing. Buffered: the delay
// settles by 4 %; the velocity is the newest snapshot's, the drawn step that of
// a delay ago; and a snapshot that comes too late leaves a fault to decay.
func (o *onlooked) pop() float64 {
	e := o.fault()
	switch o.mode {
	case components.SmoothExponential:
		kept := 1 - seenFrame/smoothTime
		return max(frameWay, e*seenFrame/smoothTime/(1-kept*kept*kept))
	case components.SmoothLinear:
		return max(frameWay, e*seenFrame/(seenInterval/2))
	case components.SmoothDisabled:
		if o.fixed {
			return e + 1e-6
		}
		return e - frameWay + 1e-6
	}
	p := 0.04*frameWay + (o.turn*(o.lag()/1000+seenInterval)+2*o.sudden)*seenFrame
	if o.jitter > 0 {
		p += e * seenFrame / smoothTime
	}
	return p
}

// TestOnlookersTrailAndPopWithinTheLawOfTheirSmoothing bounds proxy_lag_ms,
// proxy_pop_cm and proxy_end_error_cm in each mode.
func TestOnlookersTrailAndPopWithinTheLawOfTheirSmoothing(t *testing.T) {
	const degrees = 90.0 // a second, on the circle
	courses := []struct {
		name      string
		link      link.Config
		see       onlooked
		lagShare  float64 // of the frames that the bound of the lag holds for
		play      func(int, components.Ticks) keys
		recording bool
	}{
		{"straight", rtt(100*ms, 0, 0), onlooked{trip: 0.05}, 1, straight, false},
		{"circle, jitter and loss", rtt(100*ms, 10*ms, 2), onlooked{trip: 0.05, jitter: 0.01, lost: 2, turn: runSpeed * degrees * math.Pi / 180}, 0.99,
			func(_ int, at components.Ticks) keys { return keys{forward: 1, yaw: degrees * at.Seconds()} }, false},
		// Who turns back crosses the own path, and the nearest part of it is then
		// any of the last second's.
		{"hands, jitter and loss", rtt(100*ms, 10*ms, 2), onlooked{trip: 0.05, jitter: 0.01, lost: 2, turn: 2048, sudden: runSpeed}, 0.9, nil, true},
	}
	for _, mode := range []components.SmoothingMode{
		components.SmoothExponential, components.SmoothLinear, components.SmoothDisabled, components.SmoothBuffered,
	} {
		for _, c := range courses {
			for _, fixed := range []int64{0, 60} {
				t.Run(fmt.Sprintf("mode %d, fixed %d, %s", mode, fixed, c.name), func(t *testing.T) {
					t.Parallel()
					o := nettest.Options{Clients: 1, Onlookers: 1, FPS: 60, Seed: 5, Link: c.link}
					o.Client.FixedHz = fixed
					if c.recording {
						o.Client.Input = humans(t)[0]
					} else {
						o = on(flat(t), o)
					}
					o = with(o, func(set *components.Settings) { set.Smoothing = mode })
					s := session(t, o)
					if c.play != nil {
						drive(s, c.play)
					}
					s.Advance(2 * second)
					v := watchProxy(t, s, 1, 0)
					s.Advance(span(5*minute, 15*second))

					see := c.see
					see.mode, see.fixed = mode, fixed > 0
					require.LessOrEqual(t, v.Lag.Quantile(c.lagShare), see.lag(), "proxy_lag_ms")
					require.LessOrEqual(t, v.Pop.Max(), see.pop(), "proxy_pop_cm")
					// One frame in a hundred sees two lost together or a wall.
					see.lost, see.sudden = min(see.lost, 1), 0
					require.LessOrEqual(t, v.Pop.Quantile(0.99), see.pop(), "proxy_pop_cm, 99 of 100")
					more := v.BehindOwner.Quantile(0.5) - v.Lag.Quantile(0.5)
					require.GreaterOrEqual(t, more, 1000*(see.trip-seenFrame), "ms that it trails the owner by beyond the server")
					require.LessOrEqual(t, more, 1000*(see.trip+see.jitter+seenTick+seenFrame), "RTT/2 more, and the waits")

					s.Stop()
					drive(s, func(int, components.Ticks) keys { return keys{} })
					s.Advance(second + second/10)
					v.end()
					require.Zero(t, v.EndError, "proxy_end_error_cm")
				})
			}
		}
	}
}
