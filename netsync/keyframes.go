package netsync

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

// keyframesKept is how many of an obstacle's newest keyframes wait for a
// connection that is new or whose reliable channel is full: at 10 a second they
// cover more than the 0.3 s that a move may look back.
const keyframesKept = 8

// toldObstacle is an obstacle that the game told keyframes of.
type toldObstacle struct {
	newest [keyframesKept]wire.Keyframe
	n      uint64 // told in all
}

// Keyframe tells every connection where an obstacle whose motion cannot be told
// ahead was, or will be, at a server time; one that comes later is told the
// newest. The level's own history is the game's to fill, on both ends in the
// same way. It goes over the reliable channel, with the next Send phase: a place
// that a move was made against must be known.
func (s *Server) Keyframe(id components.NetID, at components.Ticks, pose components.Pose) {
	i, ok := s.obstacleIndex[id]
	if !ok {
		if s.obstacleIndex == nil {
			s.obstacleIndex = make(map[components.NetID]int)
		}
		i = len(s.obstacles)
		s.obstacleIndex[id] = i
		s.obstacles = append(s.obstacles, toldObstacle{})
	}
	o := &s.obstacles[i]
	o.newest[o.n%keyframesKept] = wire.Keyframe{ID: id, Time: at, Pose: pose}
	o.n++
}

// tellKeyframes brings a connection those that it lacks.
func (s *Server) tellKeyframes(l *link) bool {
	for len(l.toldKeyframes) < len(s.obstacles) {
		l.toldKeyframes = append(l.toldKeyframes, 0)
	}
	for i := range s.obstacles {
		o, told := &s.obstacles[i], &l.toldKeyframes[i]
		if *told+keyframesKept < o.n {
			*told = o.n - keyframesKept
		}
		for ; *told < o.n; *told++ {
			m := &o.newest[*told%keyframesKept]
			if !s.reliable(l, func(w *bits.Writer) { wire.WriteKeyframe(w, m) }) {
				return false
			}
		}
	}
	return true
}
