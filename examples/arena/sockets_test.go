package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/stretchr/testify/require"
)

// sockets lets a test run that plays for seconds in real time over real
// sockets: what CI asks for with GAIT_SOCKETS=1.
func sockets(t *testing.T) {
	t.Helper()
	if os.Getenv("GAIT_SOCKETS") != "1" {
		t.Skip("set GAIT_SOCKETS=1 to play in real time over real sockets")
	}
}

// calm plays until a run was without a correction. Only a machine that stood
// still excuses one, and not for ever: a frame longer than a move may be is
// corrected, as in the reference.
func calm(t *testing.T, args ...string) *nettest.Report {
	t.Helper()
	for range 5 {
		r, rep := playShort(t, args...)
		if rep.CorrectionsPerClientMinute == 0 {
			return rep
		}
		require.NotZero(t, r.longFrames(), "corrections in even frames: %v", rep.Corrections)
		t.Logf("%d frames were held up; corrected: %v", r.longFrames(), rep.Corrections)
	}
	require.Fail(t, "the machine stands still too often to tell anything")
	return nil
}

func TestSocketsWithoutLossNothingIsCorrected(t *testing.T) {
	sockets(t)
	r := calm(t, "-duration", "6s", "-loss", "0")
	require.Equal(t, 8, r.Clients)
	require.Greater(t, r.Moves, uint64(8*4*20), "eight players for more than four seconds")
	require.Greater(t, r.Acks, uint64(8*4*3))
	require.LessOrEqual(t, r.VerdictErrorCm.Max, 0.01)
	require.Less(t, r.OwnerPopCm.Max, 0.5)
	require.Zero(t, r.ProxyEndErrorCm)
	require.Less(t, r.ProxyLagMs.P50, 250.0)
	require.Less(t, r.ProxyPopCm.P99, 40.0)
	require.InDelta(t, 120, r.RTTMs.P50, 60)
	require.InDelta(t, 30, float64(r.ServerTicks)/r.DurationS, 3)
	require.Zero(t, r.AllocsPerServerTick)
	require.NotZero(t, r.ServerMoveUs)
}

func TestSocketsFullRedundancyOutlivesLoss(t *testing.T) {
	sockets(t)
	r := calm(t, "-duration", "6s", "-loss", "2", "-clients", "4")
	require.Zero(t, r.ProxyEndErrorCm)
	require.LessOrEqual(t, r.VerdictErrorCm.Max, 0.01)
}

// At 144 frames and 60 steps a second most corrections arrive in a frame that
// has no step to replay them in.
func TestSocketsCorrectionsAreNotSeenUnderAFixedTick(t *testing.T) {
	sockets(t)
	_, r := playShort(t, "-duration", "5s", "-loss", "8", "-jitter", "20ms", "-redundancy", "reference", "-tick", "fixed", "-fps", "144", "-clients", "6")
	require.NotZero(t, r.CorrectionsPerClientMinute)
	require.NotZero(t, r.Replays)
	require.Less(t, r.OwnerPopCm.Max, 0.5)
	require.Zero(t, r.ProxyEndErrorCm)
}

func TestSocketsRecordingReplaysToTheSameHash(t *testing.T) {
	sockets(t)
	rep, flags := recorded(t, "-duration", "4s", "-loss", "3", "-jitter", "20ms", "-reorder", "2", "-duplicate", "2", "-corrupt", "1", "-tick", "fixed", "-smoothing", "buffered")
	again, _, err := replay(flags)
	require.NoError(t, err)
	require.Equal(t, rep.StateHash, again.StateHash)
	require.Equal(t, rep.Corrections, again.Corrections)
}

// cheatBound is PIPELINE's, item 114: the margin and a tick at full speed, and
// a thousandth of the way; here with a little more: ticks of a busy machine
// are longer, and two runs do not end at the same place of them.
const cheatBound = (1+1/30.0)*600 + 0.001*600*6 + 150

// circles is input that runs in circles at full speed without end: whoever
// gains time gains way.
func circles(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "circles.csv")
	text := nettest.InputHeader + "\n"
	for i := range 60 {
		text += fmt.Sprintf("%d,0,-1,0.9,0,0,0\n", i)
	}
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	return name
}

func TestSocketsNoCheatGains(t *testing.T) {
	sockets(t)
	var kinds []string
	for i, k := range nettest.CheatKinds {
		kinds = append(kinds, fmt.Sprintf("%s@%d", k, i+1))
	}
	_, r := playShort(t, "-duration", "6s", "-rtt", "60ms", "-loss", "0", "-clients", fmt.Sprint(len(kinds)+1),
		"-input", circles(t), "-cheat", strings.Join(kinds, ","))
	require.Len(t, r.Cheaters, len(kinds))
	for _, c := range r.Cheaters {
		t.Logf("%+v", c)
		require.Less(t, c.GainCm, cheatBound, c.Kind)
		if c.Kind != "clock1.1" { // six seconds are 0.6 s ahead, within the margin
			require.NotEmpty(t, c.NoticedBy, c.Kind)
		}
	}
}

// process starts the arena as a process of its own.
func process(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "GAIT_ARENA_PROCESS=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended by now as a rule
		_ = cmd.Wait()
	})
	return cmd, &out
}

func readReport(t *testing.T, name string) (r nettest.Report) {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &r))
	return r
}

func TestSocketsServerAndClientsAsTwoProcesses(t *testing.T) {
	sockets(t)
	t.Parallel()
	dir := t.TempDir()
	at := freeAddress(t)
	rec, server, players := filepath.Join(dir, "s.rec"), filepath.Join(dir, "s.json"), filepath.Join(dir, "c.json")
	s, sOut := process(t, "-listen", at, "-json", server, "-record", rec, "-clients", "4")
	c, cOut := process(t, "-connect", at, "-json", players, "-duration", "5s", "-clients", "3", "-rtt", "30ms", "-loss", "1")
	require.NoError(t, c.Wait(), cOut.String())
	require.NoError(t, s.Process.Signal(os.Interrupt))
	require.NoError(t, s.Wait(), sOut.String())

	clients, srv := readReport(t, players), readReport(t, server)
	require.Equal(t, 3, clients.Clients)
	require.Equal(t, 3, srv.Clients)
	require.Positive(t, clients.Acks)
	require.Positive(t, srv.Moves)
	require.Greater(t, srv.Moves, clients.Acks)
	require.Contains(t, sOut.String(), "moves executed")

	var out, errs bytes.Buffer
	require.Equal(t, exitOK, arena([]string{"-replay", rec}, &out, &errs, nil), errs.String())
	require.Contains(t, out.String(), "state_hash "+srv.StateHash)
}

func TestSocketsClientsWithoutAServerSaySo(t *testing.T) {
	sockets(t)
	t.Parallel()
	c, out := process(t, "-connect", freeAddress(t), "-clients", "1", "-duration", "60s", "-quiet")
	began := time.Now()
	require.Error(t, c.Wait())
	require.Less(t, time.Since(began), 40*time.Second)
	require.Equal(t, "arena: client 0: session: the server does not answer\n", out.String())
}

func TestSocketsInterruptEndsARunWithItsReport(t *testing.T) {
	sockets(t)
	t.Parallel()
	name := filepath.Join(t.TempDir(), "r.json")
	c, out := process(t, "-clients", "2", "-json", name)
	time.Sleep(3 * time.Second) // it plays for as long as it is let
	require.NoError(t, c.Process.Signal(os.Interrupt))
	require.NoError(t, c.Wait(), out.String())
	require.Positive(t, readReport(t, name).Moves)
}

func TestClientsThatNobodyAnsweredInTimeSaySo(t *testing.T) {
	var out, errs bytes.Buffer
	at := freeAddress(t)
	require.Equal(t, exitFail, arena([]string{"-connect", at, "-clients", "1", "-duration", "100ms"}, &out, &errs, nil))
	require.Equal(t, "arena: the server at "+at+" has not answered yet\n", errs.String())
}

// freeAddress is an address of the loopback on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	udp, err := transport.ListenUDP("127.0.0.1:0")
	require.NoError(t, err)
	defer udp.Close()
	return udp.LocalAddr().String()
}
