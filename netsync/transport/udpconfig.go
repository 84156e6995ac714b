package transport

// UDPConfig holds the settings of a UDP endpoint. Zero values stand for the
// defaults.
type UDPConfig struct {
	// Queue is how many datagrams may wait for Receive, 1024 by default; each
	// takes about 1.2 KB from the start. A server needs room for what all its
	// clients send in one frame; a client gets by with 64.
	Queue int
	// SocketBuffer is the receive buffer in bytes asked of the system, 1 MiB by
	// default. Systems cap it as they see fit.
	SocketBuffer int
}

func (c UDPConfig) withDefaults() UDPConfig {
	if c.Queue < 0 || c.SocketBuffer < 0 {
		panic("transport.UDPConfig: a size below 0")
	}
	if c.Queue == 0 {
		c.Queue = DefaultQueue
	}
	if c.SocketBuffer == 0 {
		c.SocketBuffer = 1 << 20
	}
	return c
}
