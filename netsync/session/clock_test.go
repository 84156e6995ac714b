package session_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/session"
)

const msec = time.Millisecond

// clockCase is a way the world can be.
type clockCase struct {
	link      link.Config
	serverHz  int
	fps       int
	ppm       int64            // by which the client's clock is slow
	start     components.Ticks // of the client's clock
	offset    components.Ticks // of the server's
	tolerance components.Ticks // once settled
}

func asymmetric(up, down, jitter time.Duration) link.Config {
	return link.Config{Up: link.Path{Delay: up, Jitter: jitter}, Down: link.Path{Delay: down, Jitter: jitter}}
}

// follow runs the case and checks at each client frame that the estimate never
// runs back, nor jumps, nor runs off by more than a tenth; after settle it is
// within the tolerance. change runs at half time.
func (c clockCase) follow(t *testing.T, length, settle components.Ticks, change func(w *world, e *end)) {
	w := newWorld(t, c.link, 5, session.Config{})
	w.now, w.serverNext = c.start, c.start
	w.serverEvery = second / components.Ticks(c.serverHz)
	serverTime := func(now components.Ticks) components.Ticks {
		return now + (now-c.start)*components.Ticks(c.ppm)/1_000_000 + c.offset
	}
	w.serverSkew = serverTime
	e := w.join(7, session.Config{})
	e.every = second / components.Ticks(c.fps)
	var last, lastAt, worst components.Ticks
	began := w.now
	e.each = func(now components.Ticks) {
		if !e.c.Synced() {
			return
		}
		got := e.c.ServerNow(now)
		if lastAt != 0 {
			dt := now - lastAt
			require.GreaterOrEqual(t, got, last)
			near(t, dt, got-last, dt/10+2)
		}
		last, lastAt = got, now
		if now-began > settle {
			d := got - serverTime(now)
			worst = max(worst, d, -d)
			require.LessOrEqualf(t, worst, c.tolerance, "%.2f ms off at %.1f s", 1000*d.Seconds(), (now - began).Seconds())
		}
	}
	w.run(length / 2)
	if change != nil {
		change(w, e)
	}
	w.run(length / 2)
	require.True(t, e.c.Synced())
	require.NotZero(t, lastAt)
	require.Zero(t, e.c.ClockJumps())
	t.Logf("worst error %.2f ms", 1000*worst.Seconds())
}

func TestClockEstimateIsWithinItsBounds(t *testing.T) {
	sym := func(rtt, jitter time.Duration, loss float64) link.Config { return link.Symmetric(rtt, jitter, loss) }
	for name, c := range map[string]clockCase{
		// In step with the server, each packet up waits for a whole frame: an
		// asymmetry of 16.7 ms.
		"RTT 0, in step":           {link.Config{}, 60, 60, 0, 0, 0, 5*ms + frame/2},
		"RTT 0, another time":      {link.Config{}, 30, 144, 0, 0, 12345 * second, 5 * ms},
		"RTT 20 ms":                {sym(20*msec, 0, 0), 30, 60, 0, 0, 77, 10 * ms},
		"RTT 100 ms":               {sym(100*msec, 0, 0), 30, 60, 0, 0, 77, 10 * ms},
		"RTT 300 ms":               {sym(300*msec, 0, 0), 30, 60, 0, 0, 77, 10 * ms},
		"jitter":                   {sym(100*msec, 20*msec, 0), 30, 60, 0, 0, 0, 10 * ms},
		"jitter and loss":          {sym(100*msec, 20*msec, 20), 30, 60, 0, 0, 0, 10 * ms},
		"loss of 50 %":             {sym(100*msec, 20*msec, 50), 30, 60, 0, 0, 0, 12 * ms},
		"server at 10 Hz":          {sym(100*msec, 10*msec, 0), 10, 60, 0, 0, 0, 10 * ms},
		"server at 10 Hz, 240 fps": {sym(100*msec, 10*msec, 2), 10, 240, 0, 0, 0, 5 * ms},
		"server at 128 Hz":         {sym(100*msec, 10*msec, 2), 128, 144, 0, 0, 0, 6 * ms},
		"slow by 200 ppm":          {sym(50*msec, 5*msec, 0), 30, 144, 200, 0, 0, 6 * ms},
		"fast by 200 ppm":          {sym(50*msec, 5*msec, 0), 30, 144, -200, 0, 0, 6 * ms},
		"start at 100,000 s":       {sym(50*msec, 5*msec, 0), 30, 144, 200, 100_000 * second, -50_000 * second, 6 * ms},
		"start at 2^24 ms":         {sym(50*msec, 5*msec, 0), 30, 144, 0, 966_367_642, 0, 6 * ms},
		"asymmetry of 80 ms":       {asymmetric(90*msec, 10*msec, 2*msec), 30, 144, 0, 0, 0, 45 * ms},
	} {
		t.Run(name, func(t *testing.T) { c.follow(t, 60*second, 4*second, nil) })
	}
}

func TestClockFollowsAChangeOfRoundTrip(t *testing.T) {
	for name, c := range map[string][2]time.Duration{
		"20 to 300 ms": {20 * msec, 300 * msec},
		"300 to 20 ms": {300 * msec, 20 * msec},
	} {
		t.Run(name, func(t *testing.T) {
			clockCase{link.Symmetric(c[0], 5*msec, 1), 30, 144, 100, 0, 9 * second, 12 * ms}.
				follow(t, 60*second, 4*second, func(w *world, e *end) {
					require.NoError(t, w.cond.Link(e.conn.LocalAddr()).SetConfig(link.Symmetric(c[1], 5*msec, 1)))
				})
		})
	}
}

func TestClockKeepsThroughASpikeEveryTwoSeconds(t *testing.T) {
	c := clockCase{link.Symmetric(40*msec, 0, 0), 30, 144, 0, 0, 0, 6 * ms}
	w := newWorld(t, c.link, 1, session.Config{})
	e := w.join(7, session.Config{})
	e.every = second / 144
	w.run(4 * second)
	for range 10 {
		require.NoError(t, w.cond.Link(e.conn.LocalAddr()).SetConfig(link.Symmetric(340*msec, 0, 0)))
		w.run(second / 10)
		require.NoError(t, w.cond.Link(e.conn.LocalAddr()).SetConfig(link.Symmetric(40*msec, 0, 0)))
		w.run(19 * second / 10)
		near(t, w.now, e.c.ServerNow(w.now), c.tolerance)
	}
	require.Equal(t, 1.0, e.c.SendScale())
}

func TestClockKeepsThroughAQueueOfTwoSecondsUpstream(t *testing.T) {
	w, e := connected(t, link.Symmetric(40*msec, 0, 0), session.Config{}, session.Config{})
	w.run(5 * second)
	require.NoError(t, w.cond.Link(e.conn.LocalAddr()).SetConfig(asymmetric(2*time.Second, 20*msec, 0)))
	for range 10 {
		w.run(second)
		near(t, w.now, e.c.ServerNow(w.now), 20*ms)
	}
}

func TestAServerClockSetByTenSecondsIsJumpedToOnce(t *testing.T) {
	w, e := connected(t, link.Symmetric(40*msec, 0, 0), session.Config{}, session.Config{})
	w.run(5 * second)
	w.serverSkew = func(now components.Ticks) components.Ticks { return now + 10*second }
	w.run(10 * second)
	near(t, w.now+10*second, e.c.ServerNow(w.now), 10*ms)
	require.EqualValues(t, 1, e.c.ClockJumps())
}

func TestServerNowOfAnEarlierTimeDoesNotRunBack(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	now := e.c.ServerNow(w.now)
	require.Equal(t, now, e.c.ServerNow(w.now-second))
}

func TestSyncedWithinHalfASecond(t *testing.T) {
	for _, hz := range []components.Ticks{10, 30, 128} {
		w := newWorld(t, link.Symmetric(100*msec, 0, 0), 1, session.Config{})
		w.serverEvery = second / hz
		e := w.join(7, session.Config{})
		w.run(second)
		require.True(t, e.c.Synced())
		near(t, w.now, e.c.ServerNow(w.now), 15*ms)
	}
}

func TestRoundTripLeavesOutTheWaitForTheTick(t *testing.T) {
	// Client frames and server ticks are multiples of each other and the link
	// takes whole frames, so what remains is the link alone.
	w, e := connected(t, link.Symmetric(100*msec, 0, 0), session.Config{}, session.Config{})
	w.serverEvery = second / 60
	w.serverNext = w.now + w.serverEvery
	w.run(10 * second)
	near(t, second/10, e.c.RTT(), frame)
	near(t, second/10, w.sg.peers[0].RTT(), frame)
}

func TestRoundTripLeavesOutWhatTheOtherEndHeldBack(t *testing.T) {
	rare := session.Config{AckDelay: second, KeepAlive: second / 7}
	w, e := connected(t, link.Symmetric(100*msec, 0, 0), rare, rare)
	w.serverEvery, w.serverSends = frame, false // a packet each 143 ms, but it listens each frame
	frames := 0
	e.each = func(components.Ticks) { frames++; e.sends = frames%7 == 0 }
	w.run(20 * second)
	near(t, second/10, w.sg.peers[0].RTT(), 2*frame)
	held := components.Ticks(0)
	for _, h := range w.sg.headers {
		held = max(held, h.Hold)
	}
	require.Greater(t, held, 4*frame)
}

func TestRoundTripsOfZeroAreZero(t *testing.T) {
	w, e := connected(t, link.Config{}, session.Config{}, session.Config{})
	w.serverEvery, w.serverNext = frame, w.now+frame
	w.run(5 * second)
	require.GreaterOrEqual(t, e.c.RTT(), components.Ticks(0))
	require.LessOrEqual(t, e.c.RTT(), frame)
	require.GreaterOrEqual(t, e.c.Jitter(), components.Ticks(0))
	require.LessOrEqual(t, w.sg.peers[0].RTT(), frame)
}
