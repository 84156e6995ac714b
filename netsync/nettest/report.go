package nettest

import (
	"encoding/json"
	"io"
	"math"

	"github.com/gaitnet/gait/components"
)

// Report is what a run measured. The JSON names are a contract; they are
// written in this order.
type Report struct {
	Clients     int     `json:"clients"`
	DurationS   float64 `json:"duration_s"`
	ServerTicks uint64  `json:"server_ticks"`

	// Moves that the server executed; MovesCombined that owners made of two;
	// MovePackets, containers that owners sent.
	Moves         uint64 `json:"moves"`
	MovesCombined uint64 `json:"moves_combined"`
	MovePackets   uint64 `json:"move_packets"`
	// Each with every reason there is, those of count 0 too.
	MovesDropped   Counts `json:"moves_dropped"`
	PacketsRefused Counts `json:"packets_refused"`

	Acks uint64 `json:"acks"`
	// Corrections are distinct ones that owners applied, by reason;
	// CorrectionsSent what the server sent, repetitions included.
	Corrections                Counts  `json:"corrections"`
	CorrectionsSent            uint64  `json:"corrections_sent"`
	CorrectionsPerClientMinute float64 `json:"corrections_per_client_minute"`
	Replays                    uint64  `json:"replays"`
	ReplayedMoves              uint64  `json:"replayed_moves"`
	ReplayedMovesMax           uint64  `json:"replayed_moves_max"`
	// Saved moves an owner holds at the end of a frame.
	SavedMovesP50 float64 `json:"saved_moves_p50"`
	SavedMovesMax float64 `json:"saved_moves_max"`

	// kbit/s of one client in the mean, UDP and IP headers counted.
	UpKbpsPerClient   float64 `json:"up_kbps_per_client"`
	DownKbpsPerClient float64 `json:"down_kbps_per_client"`

	RTTMs P50P99 `json:"rtt_ms"`
	// Start of Receive to end of Send, wall.
	ServerTickMs P50P99 `json:"server_tick_ms"`
	// ServerVerify's time by executed moves.
	ServerMoveUs float64 `json:"server_move_us"`

	VerdictErrorCm  P50P99Max `json:"verdict_error_cm"`
	OwnerPopCm      P99Max    `json:"owner_pop_cm"`
	ProxyLagMs      P50P99    `json:"proxy_lag_ms"`
	ProxyPopCm      P99Max    `json:"proxy_pop_cm"`
	ProxyEndErrorCm float64   `json:"proxy_end_error_cm"`

	Cheaters            []Cheater `json:"cheaters"`
	AllocsPerServerTick float64   `json:"allocs_per_server_tick"`
	// 16 hexadecimal digits, see HashChain.
	StateHash string `json:"state_hash"`
}

// Counts is a count for each reason, written in the order of the names.
type Counts map[string]uint64

// P50P99 is a median and a 99th percentile.
type P50P99 struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// P99Max is a 99th percentile and the largest.
type P99Max struct {
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// P50P99Max is a median, a 99th percentile and the largest.
type P50P99Max struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Cheater is one client that cheated, and what came of it.
type Cheater struct {
	Kind          string `json:"kind"`
	Client        int    `json:"client"`
	MovesAccepted uint64 `json:"moves_accepted"`
	// GainCm is the server's path length less that of an honest twin on the
	// same link and seed.
	GainCm float64 `json:"gain_cm"`
	// NoticedBy names the counters that noticed it, none where it went unseen.
	NoticedBy []string `json:"noticed_by"`
}

// P50P99 of a histogram.
func (h *Histogram) P50P99() P50P99 { return P50P99{h.Quantile(0.5), h.Quantile(0.99)} }

// P99Max of a histogram.
func (h *Histogram) P99Max() P99Max { return P99Max{h.Quantile(0.99), h.Max()} }

// P50P99Max of a histogram.
func (h *Histogram) P50P99Max() P50P99Max {
	return P50P99Max{h.Quantile(0.5), h.Quantile(0.99), h.Max()}
}

// NewReport has every known reason with a count of 0. refusals are the names
// of the reasons for which a packet is refused.
func NewReport(refusals ...string) *Report {
	r := &Report{MovesDropped: Counts{}, PacketsRefused: Counts{}, Corrections: Counts{}}
	r.AddServer(&components.Stats{})
	r.AddOwner(&components.Stats{})
	for _, name := range refusals {
		r.PacketsRefused[name] = 0
	}
	return r
}

// AddServer adds what the server's world counted.
func (r *Report) AddServer(s *components.Stats) {
	r.Moves += s.Moves
	for i := range components.NumDropReasons {
		r.MovesDropped[i.String()] += s.MovesDropped[i]
	}
	r.CorrectionsSent += s.TotalCorrectionsOut()
}

// AddOwner adds what an owner's world counted.
func (r *Report) AddOwner(s *components.Stats) {
	r.MovesCombined += s.MovesCombined
	r.MovePackets += s.ContainersSent
	r.Acks += s.Acks
	for i := components.CorrectNone + 1; i < components.NumCorrectionReasons; i++ {
		r.Corrections[i.String()] += s.Corrections[i]
	}
	r.Replays += s.Replays
	r.ReplayedMoves += s.ReplayedMoves
	r.ReplayedMovesMax = max(r.ReplayedMovesMax, s.ReplayedMax)
}

// Finish derives what follows from the rest: CorrectionsPerClientMinute.
func (r *Report) Finish() {
	var n uint64
	for _, c := range r.Corrections {
		n += c
	}
	r.CorrectionsPerClientMinute = 0
	if r.Clients > 0 && r.DurationS > 0 {
		r.CorrectionsPerClientMinute = float64(n) / float64(r.Clients) / (r.DurationS / 60)
	}
}

// WriteJSON writes the report with indents and a final line end. Lists and maps
// are never null.
func (r *Report) WriteJSON(w io.Writer) error {
	out := *r
	for _, c := range []*Counts{&out.MovesDropped, &out.PacketsRefused, &out.Corrections} {
		if *c == nil {
			*c = Counts{}
		}
	}
	out.Cheaters = append([]Cheater{}, r.Cheaters...)
	for i := range out.Cheaters {
		c := &out.Cheaters[i]
		c.NoticedBy = append([]string{}, c.NoticedBy...)
		c.GainCm = finite(c.GainCm)
	}
	// JSON has no word for infinite; a division that went wrong must not cost
	// the whole report.
	for _, f := range []*float64{
		&out.DurationS, &out.CorrectionsPerClientMinute, &out.SavedMovesP50, &out.SavedMovesMax,
		&out.UpKbpsPerClient, &out.DownKbpsPerClient, &out.ServerMoveUs, &out.ProxyEndErrorCm, &out.AllocsPerServerTick,
		&out.RTTMs.P50, &out.RTTMs.P99, &out.ServerTickMs.P50, &out.ServerTickMs.P99,
		&out.VerdictErrorCm.P50, &out.VerdictErrorCm.P99, &out.VerdictErrorCm.Max,
		&out.OwnerPopCm.P99, &out.OwnerPopCm.Max, &out.ProxyPopCm.P99, &out.ProxyPopCm.Max,
		&out.ProxyLagMs.P50, &out.ProxyLagMs.P99,
	} {
		*f = finite(*f)
	}
	b, err := json.MarshalIndent(&out, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// finite is v, or the largest number where v is none.
func finite(v float64) float64 {
	if v-v != 0 {
		return math.MaxFloat64
	}
	return v
}
