package nettest_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/stretchr/testify/require"
)

var smoothings = []components.SmoothingMode{
	components.SmoothExponential, components.SmoothLinear, components.SmoothDisabled, components.SmoothBuffered,
}

// watched is a session of one player and one onlooker with a smoothing mode.
func watched(t testing.TB, mode components.SmoothingMode, o nettest.Options) (*nettest.Session, components.NetID) {
	t.Helper()
	o.Clients, o.Onlookers = max(o.Clients, 1), 1
	o = with(o, func(s *components.Settings) { s.Smoothing = mode })
	s := session(t, o)
	return s, owned(t, s, 0)
}

// Case 7. At 240 fps a law that only ever takes a share leaves something.
func TestOneSecondAfterEverythingStoppedTheMeshIsThere(t *testing.T) {
	for _, mode := range smoothings {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			s, id := watched(t, mode, on(flat(t), nettest.Options{FPS: 240, Seed: 50, Link: rtt(100*ms, 20*ms, 2)}))
			drive(s, func(_ int, at components.Ticks) keys { return keys{forward: 1, yaw: 200 * at.Seconds()} })
			s.Advance(3 * second)
			// The owner is corrected on the way.
			onServer[components.MovementState](s, id).Location[1] += 40
			s.Advance(second / 5)
			drive(s, func(int, components.Ticks) keys { return keys{} })
			for range 60 {
				if s.Advance(second / 30); onServer[components.MovementState](s, id).Velocity == (components.Vec3{}) {
					break
				}
			}
			s.Advance(second)
			rep, mesh := part[components.ReplicatedMovement](s.Clients[1], id), meshOf(s.Clients[1], id)
			require.Equal(t, components.Vec3{}, rep.Velocity)
			require.Equal(t, rep.Location, mesh.Location)
			require.Equal(t, stateOf(s.Clients[1], id).Location, mesh.Location)
			require.Equal(t, stateOf(s.Clients[0], id).Location, meshOf(s.Clients[0], id).Location, "the owner's as well")
		})
	}
}

// Case 8.
func TestSpawnedAndNeverMovedStandsWhereTheServerHasIt(t *testing.T) {
	for _, mode := range smoothings {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			o := with(on(flat(t), nettest.Options{Onlookers: 2, Seed: 51, Link: rtt(100*ms, 20*ms, 5)}),
				func(s *components.Settings) { s.Smoothing, s.NetUpdateFrequency = mode, 1 })
			s := session(t, o)
			spec := s.Server.SpawnAt(components.Vec3{4000, -3000, 0}, 77)
			s.Server.Spawner.Local(spec, false)
			seen := [2]int{}
			var id components.NetID
			s.Server.Net.Characters(func(i components.NetID, _ components.PlayerID, _ *components.MovementState) { id = i })
			eachFrame(s, func(i int) {
				mesh := meshOf(s.Clients[i], id)
				if mesh == nil {
					return
				}
				seen[i]++
				require.True(t, mesh.Valid)
				require.LessOrEqual(t, exact.Dist(spec.State.Location, mesh.Location), 0.02, "frame %d", seen[i])
				require.InDelta(t, 77, mesh.Rotation.Yaw, 0.01, "frame %d", seen[i])
			})
			s.Advance(second * 13 / 10)
			// One who comes later is not told again before the next update.
			require.NoError(t, s.Restart(1))
			s.Advance(2 * second)
			require.Greater(t, min(seen[0], seen[1]), 60)
		})
	}
}

// Case 9.
func TestSquareWaveIsNotOvershot(t *testing.T) {
	const hz = 10
	for _, mode := range smoothings {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{FPS: 60, Seed: 52, Link: rtt(100*ms, 0, 0)})
			o = with(o, func(s *components.Settings) { s.NetUpdateFrequency = hz })
			s, id := watched(t, mode, o)
			drive(s, func(_ int, at components.Ticks) keys {
				if at%second < second/2 {
					return keys{forward: 1}
				}
				return keys{}
			})
			furthest, overshot, back := math.Inf(-1), 0.0, 0.0
			eachFrame(s, func(i int) {
				if i != 1 {
					return
				}
				x := meshOf(s.Clients[1], id).Location[0]
				furthest = max(furthest, x)
				back = max(back, furthest-x)
				overshot = max(overshot, x-onServer[components.MovementState](s, id).Location[0])
			})
			s.Advance(span(minute, 8*second))
			require.Greater(t, furthest, 1000.0)
			require.LessOrEqual(t, overshot, runSpeed/hz, "cm ahead of where the server ever was")
			limit := 45.0
			if mode == components.SmoothBuffered {
				limit = 1
			}
			require.LessOrEqual(t, back, limit, "cm backwards")
			require.Zero(t, s.Corrections(), correctionsBy(s))
		})
	}
}

// Case 19 for onlookers.
func TestOnlookersSeeATeleportWithNothingInBetween(t *testing.T) {
	for _, mode := range smoothings {
		for name, speed := range map[string]float64{"standing": 0, "running": 1} {
			t.Run(fmt.Sprintf("%v, %s", mode, name), func(t *testing.T) {
				t.Parallel()
				s, id := watched(t, mode, on(flat(t), nettest.Options{FPS: 60, Seed: 53, Link: rtt(100*ms, 20*ms, 5)}))
				drive(s, func(int, components.Ticks) keys { return keys{forward: speed} })
				s.Advance(second)
				const far = 9000.0
				between := func(at components.Vec3) bool { return math.Abs(at[1]) > 1 && math.Abs(at[1]-far) > 1 }
				eachFrame(s, func(i int) {
					if i == 1 {
						require.False(t, between(meshOf(s.Clients[1], id).Location), "drawn at %v", meshOf(s.Clients[1], id).Location)
						require.False(t, between(stateOf(s.Clients[1], id).Location), "simulated at %v", stateOf(s.Clients[1], id).Location)
					}
				})
				e, _ := s.Server.Net.Entity(id)
				to := onServer[components.MovementState](s, id).Location
				to[1] = far
				s.Server.Spawner.Teleport(e, to, 0)
				s.Advance(second)
				require.InDelta(t, far, meshOf(s.Clients[1], id).Location[1], 1)
				settled(t, s, "after the teleport")
			})
		}
	}
}

// Case 20: whatever arrives of a character is one whole of the server's.
func TestNoFieldOfASnapshotIsLost(t *testing.T) {
	for _, fps := range []float64{8, 60} {
		t.Run(fmt.Sprintf("%v fps", fps), func(t *testing.T) {
			t.Parallel()
			o := nettest.Options{Clients: 2, Onlookers: 1, Seed: 54, FPS: 60, Link: rtt(500*ms, 40*ms, 20)}
			o.ClientFPS = func(client int, _ components.Ticks) float64 {
				if client == 2 {
					return fps // several snapshots in one frame
				}
				return 60
			}
			o.Client.Input = humans(t)[1]
			s := session(t, o)
			ids := []components.NetID{owned(t, s, 0), owned(t, s, 1)}
			type key struct {
				id components.NetID
				at components.Ticks
			}
			sent := map[key]components.ReplicatedMovement{}
			eachTick(s, func() {
				for _, id := range ids {
					rep := onServer[components.ReplicatedMovement](s, id)
					sent[key{id, rep.ServerTime}] = *rep
				}
			})
			compared, modes := 0, map[components.MovementMode]bool{}
			eachFrame(s, func(i int) {
				if i != 2 {
					return
				}
				for _, id := range ids {
					got := part[components.ReplicatedMovement](s.Clients[2], id)
					want, ok := sent[key{id, got.ServerTime}]
					if !ok {
						continue // from before the test
					}
					compared++
					modes[got.Mode] = true
					require.Equal(t, want.Mode, got.Mode)
					require.Equal(t, want.Base, got.Base)
					require.Equal(t, want.Crouched, got.Crouched)
					require.Equal(t, want.JumpForce, got.JumpForce)
					require.Equal(t, want.Teleports, got.Teleports)
					require.Equal(t, want.GravityDir, got.GravityDir)
					require.LessOrEqual(t, exact.Dist(want.Location, got.Location), 0.01)
					require.LessOrEqual(t, exact.Dist(want.Velocity, got.Velocity), 1.0)
					require.LessOrEqual(t, math.Abs(exact.NormalizeDeg(want.Rotation.Yaw-got.Rotation.Yaw)), 0.01)
					require.InDelta(t, int64(want.TransformTime), int64(got.TransformTime), float64(second/1000))
				}
			})
			s.Advance(span(5*minute, 12*second))
			require.Greater(t, compared, 50)
			require.Len(t, modes, 2, "walking and falling were among them")
			settled(t, s, "after heavy loss")
		})
	}
}

// Case 24.
func TestPausedOnlookerCatchesUpAgain(t *testing.T) {
	for _, mode := range smoothings {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			s, id := watched(t, mode, on(flat(t), nettest.Options{FPS: 60, Seed: 55, Link: rtt(100*ms, 10*ms, 0)}))
			drive(s, straight)
			var path nettest.Path
			eachTick(s, func() { path.Push(s.Now, onServer[components.MovementState](s, id).Location, false) })
			var worst float64
			var last int // frames
			eachFrame(s, func(i int) {
				if i != 1 {
					return
				}
				if ago, _, _, ok := path.Nearest(s.Now, meshOf(s.Clients[1], id).Location); ok {
					worst = max(worst, ago)
					last++
				}
			})
			s.Advance(3 * second)
			worst = 0
			s.Advance(second)
			normal := worst
			for range 3 {
				s.Paused[1] = true
				s.Advance(2 * second)
				s.Paused[1] = false
				s.Advance(3 * second)
				worst, last = 0, 0
				s.Advance(second)
				require.Positive(t, last)
				require.LessOrEqual(t, worst, normal+0.02, "s behind the server, at most %.3f s before", normal)
			}
			settled(t, s, "after the pauses")
		})
	}
}

// Case 27.
func TestStoppedOnASlopeIsSeenToStand(t *testing.T) {
	for _, mode := range smoothings {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			// 40 degrees: a rise of 0.8391.
			l, err := collision.NewBuilder().Floor(0, 1e5).Ramp(components.Vec3{200, -500, 0}, components.Vec3{3000, 1000, 2517.3}, 0).
				Spawn(components.Vec3{}).Build()
			require.NoError(t, err)
			s, id := watched(t, mode, on(l, nettest.Options{FPS: 60, Seed: 56, Link: rtt(100*ms, 0, 0)}))
			drive(s, straight)
			s.Advance(2 * second)
			require.Greater(t, onServer[components.MovementState](s, id).Location[2], 300.0, "it is on the slope")
			drive(s, func(int, components.Ticks) keys { return keys{} })
			var stopped components.Ticks
			var at components.Vec3
			eachTick(s, func() {
				st := onServer[components.MovementState](s, id)
				if stopped == 0 && st.Velocity == (components.Vec3{}) {
					stopped, at = s.Now, st.Location
				}
				if stopped > 0 {
					require.Equal(t, at, st.Location, "it stays where it stopped")
				}
			})
			moved := 0
			eachFrame(s, func(i int) {
				// One way down, an interval, a tick and a frame later.
				if i != 1 || stopped == 0 || s.Now < stopped+second/20+second/20+second/30+second/60 {
					return
				}
				st := stateOf(s.Clients[1], id)
				require.Equal(t, components.Vec3{}, st.Velocity, "it is seen to stand")
				require.LessOrEqual(t, exact.Dist(at, st.Location), 0.02)
				require.Equal(t, components.ModeWalking, st.Mode)
				moved++
			})
			s.Advance(2 * second)
			require.Positive(t, stopped)
			require.Positive(t, moved)
			require.LessOrEqual(t, exact.Dist(at, meshOf(s.Clients[1], id).Location), 0.02, "and its mesh stands there")
			require.Zero(t, s.Corrections(), correctionsBy(s))
		})
	}
}

// Case 23.
func TestAfterAStallOfTheServerEveryEntityIsUpdatedAtOnce(t *testing.T) {
	for _, rates := range [][2]int64{{20, 20}, {30, 20}, {60, 20}, {60, 10}, {128, 16}} {
		hz, net := rates[0], components.Ticks(rates[1])
		t.Run(fmt.Sprintf("%d Hz, %d updates a second", hz, net), func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{Clients: 3, Onlookers: 1, Seed: 57, Link: rtt(60*ms, 0, 0)})
			o.Server.Hz = hz
			o = with(o, func(s *components.Settings) { s.NetUpdateFrequency = float64(net) })
			s := session(t, o)
			spec := s.Server.SpawnAt(components.Vec3{500, 0, 0}, 0)
			s.Server.Spawner.Local(spec, false)
			drive(s, func(i int, at components.Ticks) keys { return keys{forward: 1, yaw: 50 * at.Seconds() * float64(i+1)} })
			s.Advance(second)
			s.ServerPaused = true
			s.Advance(5 * second)
			s.ServerPaused = false
			watcher := s.Clients[3]
			last := map[components.NetID]components.Ticks{}
			entities := 0
			s.Server.Net.Characters(func(id components.NetID, _ components.PlayerID, _ *components.MovementState) {
				last[id] = part[components.ReplicatedMovement](watcher, id).ServerTime
				entities++
			})
			require.Equal(t, 4, entities)
			resumed := s.Now
			news := map[components.NetID]components.Ticks{}
			eachFrame(s, func(i int) {
				if i != 3 {
					return
				}
				for id, at := range last {
					if rep := part[components.ReplicatedMovement](watcher, id); news[id] == 0 && rep.ServerTime > at {
						news[id] = s.Now - resumed
					}
				}
			})
			s.Advance(second)
			limit := second/net + 2*second/components.Ticks(hz) + 30*msec + second/60 // the way down, a frame
			for id := range last {
				require.Positive(t, news[id], "character %d is told", id)
				require.LessOrEqual(t, news[id], limit, "character %d", id)
			}
			s.Advance(2 * second)
			settled(t, s, "after the stall")
		})
	}
}
