package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/stretchr/testify/require"
)

func sampleAt(elapsed, total time.Duration) *Sample {
	s := &Sample{
		Elapsed: elapsed, Total: total, Clients: 8, RTTMs: 104.56, TickMs: nettest.P50P99{P50: 0.412, P99: 1.087},
		Rates: nettest.Rates{Span: 1, Moves: 479, Acks: 78.2, Replays: 1.5, ReplayedMoves: 9, UpKbps: 38.14, DownKbps: 121.9},
	}
	s.Rates.Corrections[components.CorrectPosition] = 1
	s.Rates.Corrections[components.CorrectForced] = 0.5
	return s
}

// screen plays what was written on a terminal that knows the sequences that
// the table uses.
func screen(t *testing.T, out string) []string {
	lines := []string{""}
	at := 0
	for len(out) > 0 {
		switch {
		case strings.HasPrefix(out, "\x1b["):
			end := strings.IndexAny(out, "AJlh")
			switch out[end] {
			case 'A':
				n := 0
				for _, d := range out[2:end] {
					n = n*10 + int(d-'0')
				}
				at -= n
				require.GreaterOrEqual(t, at, 0)
			case 'J':
				lines = append(lines[:at], "")
			}
			out = out[end+1:]
		case out[0] == '\r':
			out = out[1:]
		case out[0] == '\n':
			at++
			if at == len(lines) {
				lines = append(lines, "")
			}
			out = out[1:]
		default:
			end := strings.IndexAny(out, "\x1b\r\n")
			if end < 0 {
				end = len(out)
			}
			lines[at] += out[:end]
			out = out[end:]
		}
	}
	return lines
}

func TestTableOfAPipeIsALineASecond(t *testing.T) {
	var out bytes.Buffer
	tab := NewTable(&out, false, 80, false)
	tab.Show(sampleAt(1*time.Second, 0))
	tab.Show(sampleAt(1500*time.Millisecond, 0)) // too early
	tab.Show(sampleAt(2*time.Second, 10*time.Second))
	require.Equal(t, strings.Join([]string{
		tableHead1,
		tableHead2,
		"   1.0         8      479     78.2      1.5      9.0   104.6     38.1     122    0.41  1.09  1.5  position 1.0, forced 0.5",
		"   2.0         8      479     78.2      1.5      9.0   104.6     38.1     122    0.41  1.09  1.5  position 1.0, forced 0.5  [20 % of 10s]",
		"",
	}, "\n"), out.String())
}

func TestTableOfAPipeRepeatsItsHead(t *testing.T) {
	var out bytes.Buffer
	tab := NewTable(&out, false, 0, false)
	for i := range 2*headEvery + 1 {
		tab.Show(sampleAt(time.Duration(i)*time.Second, 0))
	}
	require.Equal(t, 3, strings.Count(out.String(), tableHead1))
	require.NotContains(t, out.String(), "\x1b")
}

func TestTableOnATerminalIsDrawnInPlace(t *testing.T) {
	var out bytes.Buffer
	out.WriteString("before\n")
	tab := NewTable(&out, true, 0, false)
	for i := 1; i <= 40; i++ {
		tab.Show(sampleAt(time.Duration(i)*time.Second, 80*time.Second))
	}
	tab.Close()
	out.WriteString("after\n")
	lines := screen(t, out.String())
	require.Len(t, lines, 1+2+tableRows+2+1+1)
	require.Equal(t, []string{"before", tableHead1, tableHead2}, lines[:3])
	require.True(t, strings.HasPrefix(lines[3], "  29.0 "), lines[3])
	require.True(t, strings.HasPrefix(lines[2+tableRows], "  40.0 "))
	require.Equal(t, "  corrections /s: position 1.0, forced 0.5", lines[3+tableRows])
	require.Equal(t, "  ▕"+strings.Repeat("█", 30)+strings.Repeat(" ", 30)+"▏  50 %  40s left", lines[4+tableRows])
	require.Equal(t, []string{"after", ""}, lines[len(lines)-2:])
}

func TestTableNeverWrapsOnANarrowTerminal(t *testing.T) {
	var out bytes.Buffer
	tab := NewTable(&out, true, 60, false)
	tab.Show(&Sample{})
	for _, total := range []time.Duration{0, time.Minute} {
		tab.Show(sampleAt(59*time.Second, total))
	}
	for _, l := range screen(t, out.String()) {
		require.LessOrEqual(t, len([]rune(l)), 60, l)
	}
}

func TestColumnsEndWhereTheirHeadsDo(t *testing.T) {
	line := row(&Sample{Elapsed: 1111 * time.Second, Clients: 22, RTTMs: 333.3, TickMs: nettest.P50P99{P50: 88.88, P99: 99.99},
		Rates: nettest.Rates{Moves: 4444, Acks: 555, Replays: 666, ReplayedMoves: 777, UpKbps: 123, DownKbps: 456}})
	for head, cell := range map[string]string{
		"time": "1111.0", "clients": "22", "moves": "4444", "acks": "555", "replays": "666", "replayed": "777", "RTT": "333.3",
	} {
		require.Equal(t, strings.Index(tableHead1, head+" ")+len(head), strings.Index(line, cell)+len(cell), head)
	}
	require.Equal(t, strings.Index(tableHead1, "kbit/s")+len("kbit/s"), strings.Index(line, "456")+3)
	require.Equal(t, strings.Index(tableHead1, "server tick")+len("server tick"), strings.Index(line, "99.99")+5)
	require.Equal(t, strings.Index(tableHead1, "corrections"), strings.LastIndex(line, "0"))
}

func TestRunWithoutEndTellsHowToEndIt(t *testing.T) {
	require.Equal(t, "  1m5s, Ctrl-C ends it", foot(&Sample{Elapsed: 65 * time.Second}, 80))
	require.Equal(t, "  1m5s, standing still", foot(&Sample{Elapsed: 65 * time.Second, Note: "standing still"}, 80))
}

func TestProgressBarNeverRunsOver(t *testing.T) {
	require.Contains(t, foot(sampleAt(70*time.Second, time.Minute), 80), "100 %  0s left")
	require.Contains(t, foot(sampleAt(-time.Second, time.Minute), 80), "  0 %")
	for i := range 1000 {
		require.LessOrEqual(t, len([]rune(foot(sampleAt(time.Duration(i)*time.Second/10, 100*time.Second), 70))), 70)
	}
}

func TestTerminalIsToldNotToWrapWhileTheTableIsDrawn(t *testing.T) {
	var out bytes.Buffer
	tab := NewTable(&out, true, 0, false)
	tab.Show(sampleAt(time.Second, 0))
	require.True(t, strings.HasPrefix(out.String(), "\x1b[?7l"))
	require.True(t, strings.HasSuffix(out.String(), "\x1b[?7h"))
}

func TestQuietShowsNothing(t *testing.T) {
	var out bytes.Buffer
	tab := NewTable(&out, true, 0, true)
	tab.Show(sampleAt(time.Second, time.Minute))
	tab.Close()
	require.Empty(t, out.String())
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/f")
	require.NoError(t, err)
	defer f.Close()
	require.False(t, IsTerminal(f))
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	require.False(t, IsTerminal(null))
}
