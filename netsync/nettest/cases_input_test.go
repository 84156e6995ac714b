package nettest_test

import (
	"fmt"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/systems/movement"
	"github.com/stretchr/testify/require"
)

// Case 14.
func TestKeysAreRightOnTheServerUnderHeavyLoss(t *testing.T) {
	lossy := func(loss, mean float64, most int) link.Config {
		c := rtt(100*ms, 20*ms, loss)
		for _, p := range []*link.Path{&c.Up, &c.Down} {
			p.BurstMean, p.BurstMax = mean, most
		}
		return c
	}
	for _, c := range []struct {
		name string
		link link.Config
	}{
		{"20 %", lossy(20, 0, 0)}, {"50 %", lossy(50, 0, 0)},
		{"20 % in bursts", lossy(20, 3, 5)}, {"50 % in bursts", lossy(50, 3, 5)},
	} {
		for _, red := range []components.Redundancy{components.RedundancyFull, components.RedundancyReference} {
			t.Run(fmt.Sprintf("%s, redundancy %d", c.name, red), func(t *testing.T) {
				t.Parallel()
				o := with(on(flat(t), nettest.Options{Seed: 40}), func(s *components.Settings) { s.Redundancy = red })
				o.Link = rtt(100*ms, 0, 0)
				s := session(t, o)
				setLink(t, s, 0, c.link)
				id := owned(t, s, 0)
				// A jump every 1.5 s, held for 0.2 s; crouched in between, and
				// at the end.
				total := components.Ticks(10)
				pressed, made, owner := 0, 0, 0
				down := false
				drive(s, func(_ int, at components.Ticks) keys {
					in := at % (3 * second / 2)
					k := keys{forward: 1, yaw: 40 * at.Seconds()}
					k.jump = in < second/5 && at < (total-2)*second
					k.crouch = in > second && in < 3*second/2-second/10 || at > (total-1)*second
					if k.jump && !down {
						pressed++
					}
					down = k.jump
					return k
				})
				eachTick(s, func() { made += events(s.Server.App.World(), id, movement.EventJumped) })
				eachFrame(s, func(int) { owner += events(s.Clients[0].App.World(), id, movement.EventJumped) })
				s.Advance((total + 1) * second)
				require.Equal(t, pressed, owner, "the owner jumped each time")
				require.Equal(t, pressed, made, "jumps that the server made")
				require.True(t, onServer[components.MovementState](s, id).Crouched, "the key that is held at the end")
				s.Stop()
				drive(s, func(int, components.Ticks) keys { return keys{} })
				s.Advance(3 * second)
				require.False(t, onServer[components.MovementState](s, id).Crouched, "and let go")
				agree(t, s, c.name, 1e-9)
			})
		}
	}
}

// Case 21.
func TestMovesOfDifferentSpeedLimitsNeverCombine(t *testing.T) {
	for _, loss := range []float64{0, 10} {
		t.Run(fmt.Sprintf("%v %% lost", loss), func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{Seed: 41, FPS: 120, Link: rtt(100*ms, 0, loss)})
			s := session(t, o)
			id := owned(t, s, 0)
			crouch := false
			n := 0
			drive(s, func(int, components.Ticks) keys {
				if n++; n%7 == 0 { // in the middle of pending moves as well
					crouch = !crouch
				}
				return keys{forward: 1, crouch: crouch}
			})
			p := s.Clients[0].Profiles.Get(s.Clients[0].Ref)
			eachFrame(s, func(int) {
				m := queueOf(s.Clients[0]).Newest()
				if m == nil {
					return
				}
				require.Equal(t, p.MaxSpeed(m.Start.Mode, m.Start.Crouched), m.MaxSpeed)
				require.LessOrEqual(t, m.Cmd.Dt, 2*second/100)
			})
			s.Advance(4 * second)
			require.Greater(t, s.Clients[0].Stats.MovesCombined, uint64(100), "moves of one limit do combine")
			require.Zero(t, s.Corrections(), correctionsBy(s))
			require.NotNil(t, onServer[components.MovementState](s, id))
			settled(t, s, "after all changes")
		})
	}
}

// Case 21, where the limit is changed by the server: a new revision of the
// profile, named by the moves that were made under it.
func TestSpeedChangedByTheServerTravelsWithTheMoves(t *testing.T) {
	for _, loss := range []float64{0, 5, 10} {
		t.Run(fmt.Sprintf("%v %% lost", loss), func(t *testing.T) {
			t.Parallel()
			o := on(flat(t), nettest.Options{Clients: 2, Seed: 42, FPS: 120, Link: rtt(100*ms, 10*ms, loss)})
			s := session(t, o)
			drive(s, func(_ int, at components.Ticks) keys { return keys{forward: 1, yaw: 30 * at.Seconds()} })
			id := owned(t, s, 0)
			base := *s.Server.Profiles.Get(s.Server.Ref)
			for i := range 8 {
				fast := base
				fast.MaxWalkSpeed *= 1 + 0.5*float64(i%2)
				require.NoError(t, s.Server.Net.Revise(s.Server.Ref.ID, fast))
				s.Advance(second / 2)
			}
			require.Zero(t, s.Corrections(), correctionsBy(s))
			ref := *onServer[components.ProfileRef](s, id)
			require.EqualValues(t, 9, ref.Revision)
			for i := range s.Clients {
				require.Equal(t, ref, *part[components.ProfileRef](s.Clients[i], id), "client %d has the newest", i)
			}
			require.Zero(t, s.Server.Stats.MovesDropped[components.DropProfile])
			settled(t, s, "after all revisions")
		})
	}
}
