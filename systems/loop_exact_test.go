package systems_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/stretchr/testify/require"
)

func TestOwnerMovesInTheFrameOfTheKeyPress(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 20})
	l.run(sec / 2)
	before := l.owner().Location
	l.input().Add(1, 0, 0)
	l.now = l.nextClient
	l.clientFrame(0)
	require.Greater(t, l.owner().Location[0], before[0])
}

func TestServerSeesAnInputAfterHalfTheRoundTripAndAtMostATick(t *testing.T) {
	const delay = sec / 20
	pressed := components.Ticks(0)
	l := newLoop(t, loopConfig{delay: delay, serverHz: 20, input: func(in *components.Input, now, _ components.Ticks) {
		if now >= sec {
			in.Vector = components.Vec3{1, 0, 0}
			if pressed == 0 {
				pressed = now
			}
		}
	}})
	for l.state().Location[0] == 0 {
		l.run(sec / 240)
		require.Less(t, l.now, 2*sec)
	}
	require.LessOrEqual(t, l.now-pressed, delay+sec/20+sec/240)
}

// The heart of it: over generated input on the built-in level, with its ramps,
// stairs, lift and turntable, the server arrives at the very bits of the owner
// at every claim.
func TestServerArrivesAtTheOwnersBits(t *testing.T) {
	type rate struct {
		fps, fixed, server int64
		delay              components.Ticks
	}
	var rates []rate
	for i, f := range []int64{30, 60, 144, 240} {
		for k, s := range []int64{10, 30, 128} {
			delay := []components.Ticks{0, sec / 20, sec / 8}[(i+k)%3]
			rates = append(rates, rate{f, 0, s, delay}, rate{f, 60, s, delay})
		}
	}
	for i, r := range rates {
		t.Run(fmt.Sprintf("%dfps_fixed%d_server%d_delay%d", r.fps, r.fixed, r.server, r.delay), func(t *testing.T) {
			l := newLoop(t, loopConfig{
				level: collision.Arena(), frame: fps(r.fps), fixedHz: r.fixed, serverHz: r.server, delay: r.delay,
				input: played(uint64(i + 1)), check: true,
			})
			l.run(12 * sec)
			require.Empty(t, l.differ)
			require.Zero(t, l.srvStats.TotalCorrectionsOut())
			require.LessOrEqual(t, l.maxError, 0.01)
			require.Greater(t, l.compared, 100)
		})
	}
}

// Characters put onto each special place of the level, so that the walk does
// not have to find it.
func TestServerArrivesAtTheOwnersBitsOnBasesAndSlopes(t *testing.T) {
	places := map[string]struct {
		at  components.Vec3
		yaw float64
	}{
		"ramp":      {components.Vec3{-2500, -2550, 120}, 0},
		"stairs":    {components.Vec3{-2700, 950, 90.15}, 0},
		"lift":      {components.Vec3{1500, 0, 90.15}, 0},
		"turntable": {components.Vec3{-1450, 0, 110.15}, 30},
		"slider":    {components.Vec3{300, 1200, 110.15}, 0},
		"mound":     {components.Vec3{2000, 2000, 260}, 200},
		"ceiling":   {components.Vec3{-350, 1900, 90.15}, 0},
	}
	for name, p := range places {
		for i, redundancy := range []components.Redundancy{components.RedundancyFull, components.RedundancyReference} {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				// Short pushes and pauses, so that it stays about there.
				in := func(in *components.Input, now, _ components.Ticks) {
					step := int(now / (sec / 4))
					in.Vector = components.Vec3{}
					if step%3 == 0 {
						in.Vector[0] = float64(step%2)*2 - 1
						in.Vector[1] = float64(step/3%3-1) * 0.7
					}
					in.Control.Yaw = p.yaw + float64(now/(sec/30)%360)
					in.SetButton(components.FlagJumpPressed, step%7 == 5)
					in.SetButton(components.FlagWantsToCrouch, step%11 >= 8)
				}
				l := newLoop(t, loopConfig{
					level: collision.Arena(), frame: fps(144), delay: sec / 20, at: p.at, yaw: p.yaw, input: in, check: true,
					settings: func(s *components.Settings) { s.Redundancy = redundancy },
				})
				l.run(14 * sec)
				require.Empty(t, l.differ)
				require.Zero(t, l.srvStats.TotalCorrectionsOut())
				require.Greater(t, l.compared, 100)
				if strings.Contains("lift turntable slider", name) {
					require.Greater(t, l.ridden, 100)
				}
			})
		}
	}
}

func TestServerArrivesAtTheOwnersBitsWhileTheFrameRateChanges(t *testing.T) {
	rates := []int64{30, 240, 60, 17, 144, 90}
	l := newLoop(t, loopConfig{
		level: collision.Arena(), delay: sec / 20, input: played(77), check: true,
		frame: func(n int) components.Ticks {
			return components.TicksPerSecond / components.Ticks(rates[n/23%len(rates)])
		},
	})
	l.run(12 * sec)
	require.Empty(t, l.differ)
	require.Zero(t, l.srvStats.TotalCorrectionsOut())
}

func TestFullRedundancyNeedsNoCorrectionUnderLoss(t *testing.T) {
	l := newLoop(t, loopConfig{
		level: collision.Arena(), delay: sec / 20, input: played(5), check: true,
		dropUp:   func(n int) bool { return n%17 < 5 },
		dropDown: func(n int) bool { return n%3 == 0 },
	})
	l.run(20 * sec)
	require.Empty(t, l.differ)
	require.Zero(t, l.srvStats.TotalCorrectionsOut())
}

// Without the repeated moves a lost one is felt, corrected, and both ends agree
// again once all is answered.
func TestReferenceRedundancyConvergesUnderLoss(t *testing.T) {
	in := played(9)
	l := newLoop(t, loopConfig{
		level: collision.Arena(), delay: sec / 20,
		dropUp:   func(n int) bool { return n%13 < 2 },
		settings: func(s *components.Settings) { s.Redundancy = components.RedundancyReference },
	})
	l.cfg.input = func(i *components.Input, now, dt components.Ticks) {
		if in(i, now, dt); now > 20*sec {
			*i = components.Input{Control: i.Control}
		}
	}
	l.run(20 * sec)
	require.NotZero(t, l.cliStats.TotalCorrections())
	l.cfg.dropUp = nil
	l.run(3 * sec)
	require.InDelta(t, l.state().Location[0], l.owner().Location[0], 1.74)
	require.InDelta(t, l.state().Location[1], l.owner().Location[1], 1.74)
}

func TestJumpPressedAndReleasedBetweenTwoServerTicksHappens(t *testing.T) {
	l := newLoop(t, loopConfig{serverHz: 10, frame: fps(240), delay: sec / 50, check: true})
	l.run(sec / 2)
	l.cfg.input = func(in *components.Input, now, _ components.Ticks) {
		in.SetButton(components.FlagJumpPressed, now > sec/2+sec/240 && now <= sec/2+3*sec/240)
	}
	highest := 0.0
	l.cfg.before = func(l *loop) { highest = max(highest, l.state().Location[2]) }
	l.run(sec)
	require.Greater(t, highest, 150.0)
	require.Empty(t, l.differ)
}

// The queue holds what waits for an answer: round trip, ack interval, server
// tick and send interval, over the length of a move.
func TestSavedMovesStayWithinTheirBound(t *testing.T) {
	for _, rate := range []int64{30, 60, 144, 240} {
		l := newLoop(t, loopConfig{frame: fps(rate), delay: sec / 20, input: forward})
		l.run(5 * sec)
		move := max(components.TicksPerSecond/components.Ticks(rate), secs(0.0166)+components.TicksPerSecond/components.Ticks(rate))
		if rate <= 60 {
			move = components.TicksPerSecond / components.Ticks(rate)
		}
		wait := sec/10 + sec/10 + sec/30 + sec/30 + secs(0.0166) + components.TicksPerSecond/components.Ticks(rate)
		require.LessOrEqual(t, l.queueMax, int(wait/move)+2, "%d fps", rate)
		require.Greater(t, l.queueMax, 3)
	}
}

func TestOnlookerStandsWhereTheServerHasItAfterAStop(t *testing.T) {
	l := newLoop(t, loopConfig{delay: sec / 20, input: forward, onlooker: true})
	l.run(2 * sec)
	l.cfg.input = standstill
	l.run(3 * sec)
	l.agree()
	mesh := get[components.MeshTransform](l.onlooker.World(), l.proxy)
	require.Equal(t, l.state().Location, mesh.Location)
}
