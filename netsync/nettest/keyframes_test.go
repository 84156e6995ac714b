package nettest_test

import (
	"math"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/stretchr/testify/require"
)

// TestRiderOfAnUnforeseeableBaseStaysWithIt: a lift that a physics toy
// moves is told in keyframes ten times a second, a tenth of a second ahead of
// use; its standing rider stays with it on both ends.
func TestRiderOfAnUnforeseeableBaseStaysWithIt(t *testing.T) {
	const id components.NetID = 100
	lift := components.Obstacle{ID: id, HalfExtents: components.Vec3{150, 150, 50}}
	motion := components.ObstacleMotion{Kind: components.MotionKeyframes, Origin: components.Vec3{0, -2000, 60}}
	o := nettest.Options{Clients: 1, Onlookers: 1, Seed: 9}
	o.Link = link.Symmetric(100*time.Millisecond, 10*time.Millisecond, 2)
	o.Server.Join = func(s *nettest.ServerNode, p components.PlayerID) []components.CharacterSpec {
		if p&nettest.Onlooker != 0 {
			return nil
		}
		return []components.CharacterSpec{s.SpawnAt(components.Vec3{0, -2000, 110}, 0)}
	}
	s, err := nettest.NewSession(o)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Server.Ground.AddObstacle(lift, motion))
	for _, c := range s.Clients {
		require.NoError(t, c.Ground.AddObstacle(lift, motion))
	}
	next := components.Ticks(0)
	s.OnServerTick = func() {
		if s.Now < next {
			return
		}
		next = s.Now + components.Second/10
		// Told half a second ahead, as a server that delays its physics does.
		at := s.Now + components.Second/2
		pose := components.Pose{Location: components.Vec3{0, -2000, 160 - 100*math.Cos(at.Seconds())}}
		s.Server.Ground.PushKeyframe(id, at, pose)
		s.Server.Net.Keyframe(id, at, pose)
	}
	require.NoError(t, s.Connect(10*components.Second))
	s.Advance(2 * components.Second)
	before := s.Corrections()
	low, high := math.Inf(1), math.Inf(-1)
	s.OnClientFrame = func(i int) {
		if i != 0 {
			return
		}
		e, _, ok := s.Clients[0].Own(0)
		require.True(t, ok)
		st := nettest.Component[components.MovementState](s.Clients[0].App.World(), e)
		require.Equal(t, id, st.Base)
		low, high = min(low, st.Location[2]), max(high, st.Location[2])
	}
	s.Advance(10 * components.Second)
	require.Equal(t, before, s.Corrections())
	require.Greater(t, high-low, 150.0, "cm that the rider went up and down")
}

// TestOneWhoComesLateStandsOnTheSameBase: a base that was told to have moved
// before a player came is where it is for that player too.
func TestOneWhoComesLateStandsOnTheSameBase(t *testing.T) {
	t.Parallel()
	const id components.NetID = 100
	lift := components.Obstacle{ID: id, HalfExtents: components.Vec3{150, 150, 50}}
	motion := components.ObstacleMotion{Kind: components.MotionKeyframes, Origin: components.Vec3{0, 0, 60}}
	o := on(flat(t), nettest.Options{Clients: 2, Seed: 10, Link: rtt(60*ms, 0, 0)})
	o.Server.Join = func(s *nettest.ServerNode, p components.PlayerID) []components.CharacterSpec {
		return []components.CharacterSpec{s.SpawnAt(components.Vec3{float64(100 * (p - 1)), 0, 350}, 0)}
	}
	s, err := nettest.NewSession(o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	require.NoError(t, s.Server.Ground.AddObstacle(lift, motion))
	for _, c := range s.Clients {
		require.NoError(t, c.Ground.AddObstacle(lift, motion))
	}
	up := components.Pose{Location: components.Vec3{0, 0, 300}}
	require.True(t, s.Server.Ground.PushKeyframe(id, 1, up))
	s.Server.Net.Keyframe(id, 1, up) // before anybody came
	s.Paused[1] = true
	s.Advance(3 * second)
	s.Paused[1] = false
	require.NoError(t, s.Connect(3*second))
	s.Advance(second)
	for i, c := range s.Clients {
		pose, ok := c.Ground.BasePose(id, s.Now)
		require.True(t, ok)
		require.Equal(t, up, pose, "client %d", i)
		st := stateOf(c, owned(t, s, i))
		require.Equal(t, id, st.Base, "client %d stands on it", i)
	}
	require.Zero(t, s.Corrections(), correctionsBy(s))
}
