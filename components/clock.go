package components

// NetClock is what a machine knows of the server's time, a resource. On the
// server, a listen server and in standalone it is the world's own time.
type NetClock struct {
	// ServerNow is the estimate of the server's time now.
	ServerNow Ticks
	// ObstacleTime is the time at which moving bases stand in this world. It
	// follows ServerNow without ever running backwards or jumping while
	// connected.
	ObstacleTime Ticks
	// RTT smoothed, and the deviation of it, ticks.
	RTT, Jitter Ticks
	// Synced: the estimate is good enough to predict with.
	Synced bool
	// Authority: this world's own clock is the server's.
	Authority bool
	// Connected players, as the server tells; the throttle of sends looks at it.
	Players int32
	// NetSpeed of the connection in bytes a second that the link was found to
	// carry; 0 is unlimited. SendScale stretches the send interval (1: the
	// link carries everything).
	NetSpeed  int32
	SendScale float64
}
