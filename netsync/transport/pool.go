package transport

// smallDatagram is the capacity of a Pool's small buffers. Most packets of a
// game are far below MaxDatagram, and a network of thousands of clients keeps
// tens of thousands in flight.
const smallDatagram = 256

// Pool recycles buffers for datagrams. It allocates until it has seen the
// peak of buffers in use, and no more after. The zero value is ready. It is
// not safe for concurrent use.
type Pool struct {
	small, large [][]byte
}

// Copy returns a buffer that holds a copy of b, to be given back with Put.
// b has at most MaxDatagram bytes.
func (p *Pool) Copy(b []byte) []byte {
	free, size := &p.small, smallDatagram
	if len(b) > smallDatagram {
		free, size = &p.large, MaxDatagram
	}
	var buf []byte
	if n := len(*free); n > 0 {
		buf = (*free)[n-1]
		*free = (*free)[:n-1]
	} else {
		buf = make([]byte, size)
	}
	return buf[:copy(buf[:size], b)]
}

// Put takes back a buffer that came from Copy.
func (p *Pool) Put(b []byte) {
	if cap(b) >= MaxDatagram {
		p.large = append(p.large, b)
	} else {
		p.small = append(p.small, b)
	}
}
