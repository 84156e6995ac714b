//go:build !gait_release

package systems_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems"
	arche "github.com/mlange-42/arche/ecs"
	"github.com/stretchr/testify/require"
)

func TestSwitchForcesCorrectionsInPercent(t *testing.T) {
	debug := components.DefaultDebug()
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward, debug: &debug})
	l.run(5 * sec)
	require.Zero(t, l.srvStats.CorrectionsOut[components.CorrectForced])
	debug.ForceClientAdjustmentPercent = 100 // while it runs
	l.run(5 * sec)
	require.Greater(t, l.srvStats.CorrectionsOut[components.CorrectForced], uint64(30))
	require.NotZero(t, l.cliStats.Corrections[components.CorrectForced])
	debug.ForceClientAdjustmentPercent = 0
	l.run(sec / 2)
	n := l.srvStats.CorrectionsOut[components.CorrectForced]
	l.cfg.input = standstill
	l.run(sec)
	require.Equal(t, n, l.srvStats.CorrectionsOut[components.CorrectForced])
	l.agree()
}

func TestSwitchEatsMovesInPercentAndForADuration(t *testing.T) {
	debug := components.DefaultDebug()
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward, debug: &debug})
	debug.MoveLossPercent = 20
	l.run(10 * sec)
	eaten := l.cliStats.MovesDropped[components.DropSimulatedLoss]
	require.InDelta(t, 120, float64(eaten), 40)
	require.Equal(t, uint64(600), eaten+l.cliStats.ContainersSent)

	debug.MoveLossPercent, debug.MoveLossDuration = 100, 0.5
	l.run(sec / 10)
	debug.MoveLossPercent = 1e-9 // no new loss, the old one lasts
	before := l.sent
	l.run(sec / 4)
	require.Equal(t, before, l.sent)
	l.run(sec / 2)
	require.Greater(t, l.sent, before)
}

func TestCorrectionsAreRecordedForAView(t *testing.T) {
	debug := components.DefaultDebug()
	debug.ShowCorrections = true
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward, debug: &debug})
	l.run(sec)
	push(components.Vec3{0, 50, 0})(l)
	l.run(sec)
	log := ecs.Need[components.CorrectionLog](l.client.World())
	require.Equal(t, l.cliStats.TotalCorrections(), uint64(log.N))
	r := log.At(log.N - 1) // the first one
	require.Equal(t, heroID, r.Character)
	require.Equal(t, components.CorrectPosition, r.Reason)
	require.InDelta(t, 50, r.Right[1]-r.Wrong[1], 1e-9)
	require.Equal(t, r.Wrong[0], r.Right[0])
}

func TestCorrectionsAreNotRecordedUnlessAskedFor(t *testing.T) {
	debug := components.DefaultDebug()
	l := newLoop(t, loopConfig{delay: sec / 50, input: forward, debug: &debug})
	l.run(sec)
	push(components.Vec3{0, 50, 0})(l)
	l.run(sec)
	require.NotZero(t, l.cliStats.TotalCorrections())
	require.Zero(t, ecs.Need[components.CorrectionLog](l.client.World()).N)
}

func TestCorrectionsAreWrittenAsCSV(t *testing.T) {
	var out bytes.Buffer
	csv := systems.NewCorrectionCSV(&out)
	l := newLoop(t, loopConfig{delay: sec / 50, input: standstill, client: func(w *arche.World) { arche.AddResource(w, csv) }})
	l.run(sec)
	push(components.Vec3{0, 50, 0})(l)
	l.run(sec)
	require.NoError(t, csv.Flush())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 1+int(l.cliStats.TotalCorrections()))
	require.True(t, strings.HasPrefix(lines[0], "time_s,character,stamp_s,reason,distance_cm,"))
	fields := strings.Split(lines[1], ",")
	require.Equal(t, []string{"300", "position", "50.0000"}, []string{fields[1], fields[3], fields[4]})
	require.Len(t, fields, len(strings.Split(lines[0], ",")))
}
