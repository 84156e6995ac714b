package nettest

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/stretchr/testify/require"
)

// The golden file is a contract with everybody who reads reports: mend the
// code, not the file.
func TestReportHasTheAgreedNamesInOrder(t *testing.T) {
	r := NewReport("short", "crc")
	r.Clients, r.DurationS, r.ServerTicks, r.StateHash = 2, 30, 900, (&HashChain{}).String()
	server := components.Stats{Moves: 100, CorrectionsOut: [components.NumCorrectionReasons]uint64{components.CorrectPosition: 3}}
	server.MovesDropped[components.DropExpired] = 4
	owner := components.Stats{Acks: 5, MovesCombined: 6, ContainersSent: 7, Replays: 8, ReplayedMoves: 9, ReplayedMax: 10}
	owner.Corrections[components.CorrectPosition] = 2
	r.AddServer(&server)
	r.AddOwner(&owner)
	r.AddOwner(&components.Stats{ReplayedMax: 3})
	r.PacketsRefused["crc"] = 11
	var h Histogram
	for i := range 100 {
		h.Add(float64(i + 1))
	}
	r.RTTMs, r.ServerTickMs, r.ProxyLagMs = h.P50P99(), h.P50P99(), h.P50P99()
	r.VerdictErrorCm, r.OwnerPopCm, r.ProxyPopCm = h.P50P99Max(), h.P99Max(), h.P99Max()
	r.SavedMovesP50, r.SavedMovesMax, r.UpKbpsPerClient, r.DownKbpsPerClient = 12, 13, 14.5, 15.5
	r.ServerMoveUs, r.ProxyEndErrorCm, r.AllocsPerServerTick = 16, 17, 18
	r.Cheaters = []Cheater{{"clock2", 3, 19, 20.5, []string{"discrepancy"}}, {Kind: "fly", Client: 4}}
	r.Finish()
	var out bytes.Buffer
	require.NoError(t, r.WriteJSON(&out))
	want, err := os.ReadFile("testdata/report.golden.json")
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}

func TestEmptyReportIsWholeJSON(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, (&Report{}).WriteJSON(&out))
	var m map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &m))
	require.Equal(t, []any{}, m["cheaters"])
	require.Equal(t, map[string]any{}, m["moves_dropped"])
}

func TestReportIsWrittenEvenIfAFigureIsNoNumber(t *testing.T) {
	r := NewReport()
	r.ServerMoveUs, r.ProxyLagMs.P50, r.Cheaters = math.NaN(), math.Inf(1), []Cheater{{GainCm: math.NaN()}}
	var out bytes.Buffer
	require.NoError(t, r.WriteJSON(&out))
	require.True(t, json.Valid(out.Bytes()))
	require.True(t, math.IsNaN(r.Cheaters[0].GainCm), "the report itself is not touched")
}

func TestCorrectionsAreGivenByClientAndMinute(t *testing.T) {
	r := NewReport()
	r.Clients, r.DurationS = 4, 90
	r.Corrections["position"], r.Corrections["mode"] = 10, 2
	r.Finish()
	require.Equal(t, 2.0, r.CorrectionsPerClientMinute)
	r.Clients = 0
	r.Finish()
	require.Zero(t, r.CorrectionsPerClientMinute)
}
