// Package bits packs and unpacks bit streams and the quantised types that lie
// in them. It is a leaf: it knows nothing of packets, any room may import it.
package bits
