package nettest

import "github.com/gaitnet/gait/components"

// Totals are counters of a whole run so far, only ever added to.
type Totals struct {
	Moves, Acks            uint64
	Corrections            [components.NumCorrectionReasons]uint64
	Replays, ReplayedMoves uint64
	// UpBytes and DownBytes of all clients, UDP and IP headers counted.
	UpBytes, DownBytes uint64
}

// AddOwner adds what an owner's world counted.
func (t *Totals) AddOwner(s *components.Stats) {
	t.Acks += s.Acks
	t.Replays += s.Replays
	t.ReplayedMoves += s.ReplayedMoves
	for i, n := range s.Corrections {
		t.Corrections[i] += n
	}
}

// AddServer adds what the server's world counted.
func (t *Totals) AddServer(s *components.Stats) { t.Moves += s.Moves }

// Rates are Totals a second.
type Rates struct {
	// Span is how many seconds the figures are the mean of.
	Span                                float64
	Moves, Acks, Replays, ReplayedMoves float64
	Corrections                         [components.NumCorrectionReasons]float64
	// UpKbps and DownKbps are kbit/s of one client in the mean.
	UpKbps, DownKbps float64
}

// RateMeter turns totals into rates, once a second. The zero RateMeter starts
// at its first Update.
type RateMeter struct {
	at    components.Ticks
	last  Totals
	begun bool
}

// Update takes the totals at a time and the number of clients. It gives the
// rates since it last did, once a second or more has passed. A counter that
// fell, because somebody with a share in it left, gives 0 for that span.
func (m *RateMeter) Update(now components.Ticks, clients int, t *Totals) (Rates, bool) {
	if !m.begun {
		m.at, m.last, m.begun = now, *t, true
		return Rates{}, false
	}
	span := now - m.at
	if span < components.Second {
		return Rates{}, false
	}
	s := span.Seconds()
	per := func(now, before uint64) float64 {
		if now < before {
			return 0
		}
		return float64(now-before) / s
	}
	r := Rates{
		Span: s, Moves: per(t.Moves, m.last.Moves), Acks: per(t.Acks, m.last.Acks),
		Replays: per(t.Replays, m.last.Replays), ReplayedMoves: per(t.ReplayedMoves, m.last.ReplayedMoves),
	}
	for i := range r.Corrections {
		r.Corrections[i] = per(t.Corrections[i], m.last.Corrections[i])
	}
	if clients > 0 {
		r.UpKbps = per(t.UpBytes, m.last.UpBytes) * 8 / 1000 / float64(clients)
		r.DownKbps = per(t.DownBytes, m.last.DownBytes) * 8 / 1000 / float64(clients)
	}
	m.at, m.last = now, *t
	return r, true
}
