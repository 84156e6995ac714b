//go:build js || wasip1

package transport

import (
	"fmt"
	"net/netip"
)

// UDP exists here so that programs compile; none can be opened. Go's net
// package would give a network inside the process on these platforms, which
// looks like a socket and reaches nobody.
type UDP struct{}

var _ Conn = (*UDP)(nil)

// ListenUDP returns ErrNoUDP.
func ListenUDP(addr string) (*UDP, error) { return ListenUDPWith(addr, UDPConfig{}) }

// ListenUDPWith returns ErrNoUDP.
func ListenUDPWith(addr string, cfg UDPConfig) (*UDP, error) {
	_ = cfg.withDefaults()
	return nil, fmt.Errorf("transport: listen on %q: %w", addr, ErrNoUDP)
}

// Receive implements Conn.
func (*UDP) Receive(buf []byte) (n int, from netip.AddrPort, ok bool) {
	needWholeBuffer("transport.UDP", buf)
	return 0, netip.AddrPort{}, false
}

// Ready never has a value.
func (*UDP) Ready() <-chan struct{} { return nil }

// Send implements Conn.
func (*UDP) Send([]byte, netip.AddrPort) error { return ErrNoUDP }

// LocalAddr implements Conn.
func (*UDP) LocalAddr() netip.AddrPort { return netip.AddrPort{} }

// Stats implements Conn.
func (*UDP) Stats() Stats { return Stats{} }

// Close implements Conn.
func (*UDP) Close() error { return nil }
