package nettest_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/movement"
	"github.com/stretchr/testify/require"
)

// carousel translates and turns at once.
var carousel = collision.Scripted{
	Obstacle: components.Obstacle{ID: 1, HalfExtents: components.Vec3{400, 400, 20}},
	Motion: components.ObstacleMotion{Kind: components.MotionShuttle, Origin: components.Vec3{0, 0, 30},
		Travel: components.Vec3{2000, 0, 300}, YawRate: 40, Period: 8 * second, Dwell: second / 2},
}

// riders spawns the players on top of the carousel's middle.
func riders(o nettest.Options) nettest.Options {
	o.Server.Join = func(s *nettest.ServerNode, p components.PlayerID) []components.CharacterSpec {
		if p&nettest.Onlooker != 0 {
			return nil
		}
		pose, _ := s.Ground.BasePose(1, s.App.Clock().Now)
		pose.Location[2] += 20
		pose.Location[1] += float64(100 * (p - 1))
		return []components.CharacterSpec{s.SpawnAt(pose.Location, 0)}
	}
	return o
}

// Case 10.
func TestRiderMovesOnceWithItsBaseHoweverOftenReplayed(t *testing.T) {
	for _, forced := range []float64{0, 100} {
		for _, fps := range []float64{60, 144} {
			t.Run(fmt.Sprintf("%v %% corrected, %v fps", forced, fps), func(t *testing.T) {
				t.Parallel()
				o := on(flat(t, carousel), riders(nettest.Options{Clients: 1, Onlookers: 1, FPS: fps, Seed: 70, Link: rtt(150*ms, 0, 0)}))
				o = with(o, func(s *components.Settings) { s.MinTimeBetweenAdjustments = 0 })
				o.Server.Debug = &components.Debug{ForceClientAdjustmentPercent: forced}
				s := session(t, o)
				s.Advance(second)
				id := owned(t, s, 0)
				start := *onServer[components.MovementState](s, id)
				require.Equal(t, components.NetID(1), start.Base)
				onIt := func(st *components.MovementState, who string) {
					require.Equal(t, components.NetID(1), st.Base, who)
					require.LessOrEqual(t, exact.Dist(start.BaseLocation, st.BaseLocation), 0.02, who)
				}
				eachFrame(s, func(i int) {
					c := s.Clients[i]
					st := stateOf(c, id)
					onIt(st, fmt.Sprintf("client %d", i))
					pose, _ := c.Ground.BasePose(1, c.Clock.ObstacleTime)
					at := exact.Add(pose.Location, exact.RotateYaw(start.BaseLocation, pose.Yaw))
					require.LessOrEqual(t, exact.Dist(at, st.Location), 0.05, "client %d: the capsule is where the base has carried it", i)
				})
				eachTick(s, func() { onIt(onServer[components.MovementState](s, id), "server") })
				s.Advance(span(minute, 9*second))
				stats := s.Clients[0].Stats
				require.Zero(t, stats.Corrections[components.CorrectPosition])
				require.Zero(t, stats.Corrections[components.CorrectBase])
				if forced > 0 {
					require.Greater(t, stats.ReplayedMoves, uint64(300))
					require.GreaterOrEqual(t, stats.ReplayedMax, uint64(6))
				}
			})
		}
	}
}

// stepping stones: boxes flush with the floor but for 1 cm, far from the
// origin in their own axes and far from those of the next numbers, of which a run crosses ten borders a second.
func stones() (all []collision.Scripted) {
	for i := range 60 {
		all = append(all, collision.Scripted{
			Obstacle: components.Obstacle{ID: components.NetID(i*7%60 + 1), HalfExtents: components.Vec3{30, 500, 20}},
			Motion: components.ObstacleMotion{Kind: components.MotionShuttle, Origin: components.Vec3{float64(120*i) + 300, 0, -19},
				Travel: components.Vec3{0, 60, 0}, Period: 3 * second, Phase: components.Ticks(i) * second / 7},
		})
	}
	return all
}

// Case 18.
func TestNoPlaceIsReadAgainstTheWrongBase(t *testing.T) {
	for _, mode := range smoothings {
		for _, fixed := range []int64{0, 60} {
			t.Run(fmt.Sprintf("%v, fixed %d", mode, fixed), func(t *testing.T) {
				t.Parallel()
				o := on(flat(t, stones()...), nettest.Options{FPS: 60, Seed: 71, Link: rtt(100*ms, 20*ms, 5)})
				o.Link.Up.Reorder, o.Link.Down.Reorder = 20, 20
				o.Link.Up.Duplicate, o.Link.Down.Duplicate = 10, 10
				o.Client.FixedHz = fixed
				s, id := watched(t, mode, o)
				yaw := 0.0
				drive(s, func(int, components.Ticks) keys {
					if x := stateOf(s.Clients[0], id).Location[0]; x > 6500 {
						yaw = 180
					} else if x < 300 {
						yaw = 0
					}
					return keys{forward: 1, yaw: yaw}
				})
				tr := follow(s, id)
				boarded := 0
				eachTick(s, func() { boarded += events(s.Server.App.World(), id, movement.EventBaseChanged) })
				s.Advance(second)
				eachFrame(s, func(i int) {
					if i == 1 {
						// A run ahead of the last place, or what was lost behind.
						require.LessOrEqual(t, tr.away(meshOf(s.Clients[1], id).Location, s.Now, second), 100.0, "drawn")
						require.LessOrEqual(t, tr.away(stateOf(s.Clients[1], id).Location, s.Now, second), 100.0, "simulated")
						return
					}
					require.LessOrEqual(t, tr.away(meshOf(s.Clients[0], id).Location, s.Now, second), 100.0, "drawn by the owner")
				})
				s.Advance(span(minute, 6*second))
				require.Greater(t, boarded, 40)
				require.Zero(t, s.Corrections(), correctionsBy(s))
			})
		}
	}
}

// Case 28: the lift is told 10 times a second, each time where it will be 0.2 s
// later; nobody can ride smoothly on what is told only when it has happened.
func TestRiderOfALiftUpdatedAtTenHertzDoesNotJitter(t *testing.T) {
	lift := collision.Scripted{
		Obstacle: components.Obstacle{ID: 1, HalfExtents: components.Vec3{400, 400, 20}},
		Motion:   components.ObstacleMotion{Kind: components.MotionKeyframes, Origin: components.Vec3{0, 0, 30}},
	}
	for _, fixed := range []int64{0, 60} {
		for _, mode := range []components.SmoothingMode{components.SmoothExponential, components.SmoothBuffered} {
			t.Run(fmt.Sprintf("%v, fixed %d", mode, fixed), func(t *testing.T) {
				t.Parallel()
				o := on(flat(t, lift), riders(nettest.Options{FPS: 60, Seed: 72, Link: rtt(100*ms, 10*ms, 1)}))
				o.Client.FixedHz = fixed
				o.Clients, o.Onlookers = 1, 1
				o = with(o, func(s *components.Settings) { s.Smoothing = mode })
				s, err := nettest.NewSession(o)
				require.NoError(t, err)
				t.Cleanup(s.Close)
				const speed, restUntil = 150.0, 2.0 // cm/s, s
				next := s.Now
				eachTick(s, func() {
					for ; next <= s.Now; next += second / 10 {
						at := next + second/5
						// At rest while they come, then up for 8 s, down for 8 s.
						phase := math.Mod(max(at.Seconds()-restUntil, 0), 16)
						z := 30 + speed*min(phase, 16-phase)
						pose := components.Pose{Location: components.Vec3{0, 0, z}}
						require.True(t, s.Server.Ground.PushKeyframe(1, at, pose))
						for _, c := range s.Clients {
							require.True(t, c.Ground.PushKeyframe(1, at, pose))
						}
					}
				})
				require.NoError(t, s.Connect(5*second))
				s.Advance(3*second - s.Now)
				id := owned(t, s, 0)
				require.Equal(t, components.NetID(1), onServer[components.MovementState](s, id).Base)
				last := map[int]float64{}
				lastAt := map[int]components.Ticks{}
				jitter, frames := 0.0, 0
				eachFrame(s, func(i int) {
					z := meshOf(s.Clients[i], id).Location[2]
					if was, ok := last[i]; ok {
						// Its own speed, by which the clock estimate may slew.
						dt := (s.Now - lastAt[i]).Seconds()
						turning := math.Abs(math.Mod(s.Now.Seconds()-restUntil, 8)-4) > 3.5
						if !turning {
							jitter = max(jitter, math.Abs(math.Abs(z-was)-speed*dt))
							frames++
						}
					}
					last[i], lastAt[i] = z, s.Now
				})
				s.Advance(span(minute, 6*second))
				require.Greater(t, frames, 200)
				// Obstacle time follows the server's by a twentieth of the frame.
				require.LessOrEqual(t, jitter, speed/60/20+0.01, "cm by which a drawn step is off")
				require.Zero(t, s.Corrections(), correctionsBy(s))
			})
		}
	}
}
