package components

// Obstacle is a moving box of the level: a lift, a train, a turntable, a
// door. A character that stands on it has it as its movement base. Its place
// is a function of server time (ObstacleMotion), so server and owner agree on
// it at the time that a move names.
type Obstacle struct {
	ID    NetID
	Scene SceneID
	// HalfExtents of the box along its own axes, cm.
	HalfExtents Vec3
}

// MotionKind says what an obstacle's place is a function of.
type MotionKind uint8

// The kinds of motion.
const (
	// MotionStatic stays at Origin and Yaw.
	MotionStatic MotionKind = iota
	// MotionShuttle goes from Origin to Origin+Travel and back in straight
	// lines, Dwell at each end, one round trip a Period.
	MotionShuttle
	// MotionKeyframes goes through recorded places: a base whose motion cannot
	// be told ahead.
	MotionKeyframes
)

// ObstacleMotion gives an obstacle's pose at any server time. Turning
// (YawRate, degrees/s about its own vertical) goes with every kind.
type ObstacleMotion struct {
	Kind    MotionKind
	Origin  Vec3
	Travel  Vec3
	Yaw     float64
	YawRate float64
	// Period of the round trip and the pause at each end; Phase shifts both.
	Period, Dwell, Phase Ticks
}

// Pose is a place and a yaw in degrees.
type Pose struct {
	Location Vec3
	Yaw      float64
}
