package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestMain runs the program itself where a test has started it as a process,
// and otherwise the tests, after which no goroutine may be left.
func TestMain(m *testing.M) {
	if os.Getenv("GAIT_ARENA_PROCESS") != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// playShort plays a run through sockets, with hands from early on where it is
// over soon.
func playShort(t *testing.T, args ...string) (*run, *nettest.Report) {
	t.Helper()
	cfg, err := parseFlags(append([]string{"-quiet"}, args...))
	require.NoError(t, err)
	r, err := newRun(&cfg)
	require.NoError(t, err)
	for _, c := range r.clients {
		if cfg.Duration < 4*time.Second {
			c.playAt = components.Second / 2
		}
	}
	rep, err := r.whole(io.Discard, nil)
	require.NoError(t, err)
	return r, rep
}

// recorded is a short recording, read in.
func recorded(t *testing.T, args ...string) (*nettest.Report, *Config) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "run.rec")
	_, rep := playShort(t, append([]string{"-record", name}, args...)...)
	flags, err := parseFlags([]string{"-replay", name, "-quiet"})
	require.NoError(t, err)
	return rep, &flags
}

func TestRunIsPlayedAndReplayedToItsHash(t *testing.T) {
	rep, flags := recorded(t, "-duration", "1500ms", "-clients", "3", "-rtt", "40ms", "-loss", "1")
	require.Positive(t, rep.Moves)
	require.Positive(t, rep.Acks)
	require.Zero(t, rep.ProxyEndErrorCm, "cm between a mesh and its place after the standstill")
	again, played, err := replay(flags)
	require.NoError(t, err)
	require.Equal(t, rep.StateHash, again.StateHash)
	require.Equal(t, rep.Moves, again.Moves)
	require.Equal(t, rep.ProxyLagMs, again.ProxyLagMs)
	require.Equal(t, rep.OwnerPopCm, again.OwnerPopCm)
	require.Equal(t, rep.UpKbpsPerClient, again.UpKbpsPerClient)
	require.Len(t, played.clients, 4)

	end, _ := flags.Replay.Tagged(0, tagEnd)
	wrong := bytes.Replace(end.Data, []byte(rep.StateHash), []byte("0123456789abcdef"), 1)
	for i, e := range flags.Replay.Records {
		if e.Kind == transport.RecordTagged && e.Tag == tagEnd {
			flags.Replay.Records[i].Data = wrong
		}
	}
	_, _, err = replay(flags)
	require.ErrorContains(t, err, "the state hash is "+rep.StateHash)
	require.NotContains(t, err.Error(), "\n")

	// A datagram of the server's is missing: it cannot do what it did then.
	for i, e := range flags.Replay.Records {
		if e.Kind == transport.RecordReceived && e.Stream == 0 && i > len(flags.Replay.Records)/2 {
			flags.Replay.Records = append(flags.Replay.Records[:i], flags.Replay.Records[i+1:]...)
			break
		}
	}
	_, _, err = replay(flags)
	require.ErrorContains(t, err, "the server did something else than when it was recorded")
}

func TestCheatsAreReplayedByTheirOwnClocks(t *testing.T) {
	rep, flags := recorded(t, "-duration", "1200ms", "-clients", "4", "-rtt", "20ms", "-loss", "0", "-cheat", "clock1.1@0,garbage@1,lagswitch@2", "-silent", "3@600ms+300ms")
	again, _, err := replay(flags)
	require.NoError(t, err)
	require.Equal(t, rep.StateHash, again.StateHash)
	require.Equal(t, rep.Cheaters, again.Cheaters)
	require.Len(t, rep.Cheaters, 3)
}

func TestRecordingOfSomethingElseIsRefused(t *testing.T) {
	var b bytes.Buffer
	rec := transport.NewRecorder(&b)
	require.NoError(t, rec.Write(0, tagRun, 0, []byte(`{}`)))
	require.NoError(t, rec.Write(0, tagEnd, 0, []byte(`{}`)))
	require.NoError(t, rec.Close())
	r, err := transport.OpenRecording(&b)
	require.NoError(t, err)
	_, _, err = replay(&Config{Replay: r, ReplayFile: "x.rec"})
	require.ErrorContains(t, err, "x.rec: what it says of its run cannot be")
	_, _, err = replay(&Config{Replay: &transport.Recording{}, ReplayFile: "x.rec"})
	require.ErrorContains(t, err, "it is no recording of a whole run")
}

func TestAddressInUseIsOneLineAndLeavesNothing(t *testing.T) {
	udp, err := transport.ListenUDP("127.0.0.1:0")
	require.NoError(t, err)
	defer udp.Close()
	var out, errs bytes.Buffer
	require.Equal(t, exitFail, arena([]string{"-listen", udp.LocalAddr().String()}, &out, &errs, nil))
	require.Contains(t, errs.String(), udp.LocalAddr().String())
	require.Equal(t, 1, strings.Count(errs.String(), "\n"))
}

func TestWrongFlagIsOneLineAndExitTwo(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, exitUsage, arena([]string{"-clients", "none"}, &out, &errs, nil))
	require.Equal(t, 1, strings.Count(errs.String(), "\n"))
	require.Empty(t, out.String())
}

func TestEndedRunWritesReportAndPicture(t *testing.T) {
	dir := t.TempDir()
	quit := make(chan struct{})
	close(quit) // as Ctrl-C does, here at once
	var out, errs bytes.Buffer
	args := []string{"-clients", "1", "-rtt", "0", "-jitter", "0", "-json", dir + "/r.json", "-plot", dir + "/p.svg"}
	require.Equal(t, exitOK, arena(args, &out, &errs, quit), errs.String())
	require.Contains(t, out.String(), "state hash")
	b, err := os.ReadFile(dir + "/r.json")
	require.NoError(t, err)
	var rep nettest.Report
	require.NoError(t, json.Unmarshal(b, &rep))
	require.Len(t, rep.StateHash, 16)
	svg, err := os.ReadFile(dir + "/p.svg")
	require.NoError(t, err)
	require.Contains(t, string(svg), "</svg>")
}

func TestFramesKeepTheirRateAndLeaveOutWhatIsMissed(t *testing.T) {
	f := newFrames(100, 7)
	at := f.next
	for range 7 {
		at = f.after(at)
	}
	require.Equal(t, 100+components.Second, at, "seven frames of a seventh")
	at = f.after(at + 3*components.Second/7 + 5)
	require.Equal(t, 100+components.Second+4*components.Second/7, at)
}

func TestCheatsClockIsUndoneExactly(t *testing.T) {
	for _, kind := range []string{"clock1.1", "clock2", "fly"} {
		c, err := nettest.NewCheat(kind, 1)
		require.NoError(t, err)
		for _, now := range []components.Ticks{0, 1, 9, 10, 11, 57600, 123456789} {
			require.Equal(t, now, undoCheat(c, c.Time(now)), kind)
		}
	}
}

func TestSilenceIsASpanOfTheRun(t *testing.T) {
	c := &client{silences: []Silence{{At: time.Second, For: 2 * time.Second}, {At: 2 * time.Second, For: 5 * time.Second}}}
	_, frozen := c.frozen(components.Second - 1)
	require.False(t, frozen)
	until, frozen := c.frozen(2 * components.Second)
	require.True(t, frozen)
	require.Equal(t, 7*components.Second, until)
	_, frozen = c.frozen(7 * components.Second)
	require.False(t, frozen)
}

func TestTallyJudgesStampsAsTheServerDoes(t *testing.T) {
	p := &playerTally{stamp: 1000, has: true, last: 1000}
	move := func(stamp components.Stamp, kind components.MoveKind) {
		p.judge(&components.MoveData{Kind: kind, Cmd: components.MoveCommand{Stamp: stamp, Dt: 960}})
	}
	move(1000, components.MoveNew)
	move(900, components.MoveOld)
	move(900, components.MoveNew)
	move(1960, components.MoveNew)
	move(1960+components.Stamp(200*components.Second), components.MoveNew)
	move(0, components.MoveNew)
	require.Equal(t, uint64(1), p.accepted)
	require.Equal(t, uint64(2), p.dropped[components.DropRedundant])
	require.Equal(t, uint64(1), p.dropped[components.DropExpired])
	require.Equal(t, uint64(1), p.dropped[components.DropTooFarAhead])
	require.Equal(t, uint64(1), p.dropped[components.DropZeroStamp])
}

func TestSummaryNamesTheMostFrequentReasonFirst(t *testing.T) {
	require.Equal(t, "6 (bad crc 4, too old 2)", counts(nettest.Counts{"too_old": 2, "bad_crc": 4, "short": 0}))
	require.Equal(t, "0", counts(nettest.Counts{"short": 0}))
}
