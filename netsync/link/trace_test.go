package link_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/stretchr/testify/require"
)

const roundTrips = `t_s,rtt_min_ms,rtt_avg_ms,rtt_max_ms,rtt_stdev_ms,loss_pct
2,60.0,80.0,90.0,5.0,0.0
4,60.0,120.0,140.0,9.0,20.0
6,40.0,40.0,40.0,0.0,0.0
`

const profile = `{"id": 3, "name": "Made up", "content": {
  "up": {"delay": {"delay": "35", "jitter": 4, "correlation": 0}, "loss": {"percentage": "1.5"}, "rate": "256",
         "reorder": {"percentage": 2, "gap": 0}, "corruption": {"percentage": "0.5"}, "iptables_options": []},
  "down": {"delay": {"delay": 20}, "loss": {"percentage": null}, "rate": ""}
}}`

func TestRoundTripsGiveHalfTheDelayEachWay(t *testing.T) {
	tr := parse(t, roundTrips)
	require.Equal(t, link.RoundTrips, tr.Kind())
	require.Equal(t, 8*time.Second, tr.Duration())
	for at, want := range map[float64]float64{
		0: 40, 2: 40, 2.5: 45, 3: 50, 4: 60, 5: 40, 6: 20, 7.9: 20, // the last row lasts 2 s
		8: 40, 10.5: 45, 80_005: 40,
	} {
		l := newLink(t, link.Path{Delay: time.Second, Trace: tr}, 0)
		now := components.TicksFromSeconds(at)
		if l.Push(now, link.Up, payload(0, 4)) != link.Passed {
			continue // the loss of the rows at 4 s; TestRoundTripsGiveHalfTheLossEachWay
		}
		due, _ := l.Next()
		require.InDelta(t, want, millis(due-now), 0.02, "at %g s", at)
	}
}

func TestRoundTripsGiveHalfTheLossEachWay(t *testing.T) {
	l := newLink(t, link.Path{Loss: 90, Trace: parse(t, roundTrips)}, 1)
	lost := map[bool]int{}
	for i := range 10_000 {
		inside := i%2 == 0
		at := 3.99
		if inside {
			at = 5.99
		}
		if l.Push(components.TicksFromSeconds(at), link.Up, nil) == link.Lost {
			lost[inside]++
		}
	}
	require.Zero(t, lost[false])
	require.InDelta(t, 500, lost[true], 130)
}

func TestProfileReadsNumbersAndStrings(t *testing.T) {
	tr := parse(t, profile)
	require.Equal(t, link.Profile, tr.Kind())
	require.Equal(t, link.Path{Delay: 35 * time.Millisecond, Jitter: 4 * time.Millisecond, Loss: 1.5,
		Bandwidth: 256_000, Reorder: 2, Corrupt: 0.5}, tr.Profile(link.Up))
	require.Equal(t, link.Path{Delay: 20 * time.Millisecond}, tr.Profile(link.Down))
}

func TestProfileReplacesTheSettings(t *testing.T) {
	p := link.Path{Delay: time.Second, Loss: 100, Trace: parse(t, profile)}
	l, err := link.New(link.Config{Down: p}, 1)
	require.NoError(t, err)
	l.Push(0, link.Down, payload(0, 4))
	due, ok := l.Next()
	require.True(t, ok)
	require.Equal(t, components.Second/50, due)
}

func TestWrongTracesAreNamedWithTheirLine(t *testing.T) {
	header := strings.SplitAfter(roundTrips, "\n")[0]
	for text, want := range map[string]string{
		"":                                  "link: trace: it is empty",
		" \n\n":                             "link: trace: it is empty",
		"hello":                             "link: trace, line 1: neither",
		"1 2 3":                             "link: trace, line 1: neither",
		"0\n":                               "line 1: the last time is 0 ms",
		"1\n\n0\n":                          "line 3: 0 ms is before",
		"1\nx\n":                            `line 2: "x" is not a time`,
		"1\n-2\n":                           "line 2",
		"1\n9999999999\n":                   "line 2",
		"0 1\n1\n":                          "line 2: 1 columns",
		"0 1\n1 NaN\n":                      "line 2: Mbit/s",
		"0 1\n1 -1\n":                       "line 2: Mbit/s",
		"0 1\n1 1e30\n":                     "line 2: Mbit/s",
		"1 1\n0 1\n":                        "line 2: 0 s is before",
		header:                              "line 1: no rows",
		header + "1,2,3\n":                  "line 2: 3 columns",
		header + "1,2,x,3,4,5\n":            "line 2: rtt_avg_ms",
		header + "1,2,3,3,4,101\n":          "line 2: loss_pct",
		header + "2,2,3,3,4,1\n1,2,3,3,4,1": "line 3: 1 s is before",
		"{":                                 "line 1",
		"{\n\n\"content\": 3}":              "line 3",
		"{}":                                "content.up and content.down",
		`{"content":{"up":{"rate":"fast"},"down":{}}}`:             `"fast"`,
		`{"content":{"up":{"loss":{"percentage":200}},"down":{}}}`: "content.up.loss.percentage: 200",
		`{"content":{"up":{},"down":{"delay":{"delay":"NaN"}}}}`:   `"NaN"`,
		`{"content":{"up":{},"down":{"delay":{"jitter":-1}}}}`:     `"-1"`,
	} {
		tr, err := link.ParseTrace([]byte(text))
		require.Nil(t, tr)
		require.ErrorIs(t, err, link.ErrTrace)
		require.ErrorContains(t, err, want)
	}
}

func TestTracesAreKnownByContentWhateverTheLineEnds(t *testing.T) {
	for text, kind := range map[string]link.TraceKind{
		"\xef\xbb\xbf0\r\n48\r\n57":                  link.Opportunities,
		"\n0.0\t2.5\r\n0.8 2.7\r\n":                  link.Rates,
		strings.ReplaceAll(roundTrips, "\n", "\r\n"): link.RoundTrips,
		"  \n" + profile:                             link.Profile,
	} {
		require.Equal(t, kind, parse(t, text).Kind(), "%q", text)
	}
}

// recordings is the directory of recorded traces beside the module, which is
// no part of it.
func recordings(t *testing.T) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, dir, filepath.Dir(dir), "no go.mod above")
		dir = filepath.Dir(dir)
	}
	dir = filepath.Join(dir, "..", "shared", "data", "traces")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no ../shared/data/traces")
	}
	return dir
}

func TestRecordedTracesReplay(t *testing.T) {
	dir := recordings(t)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	presets, err := filepath.Glob(filepath.Join(dir, "profiles", "*.json"))
	require.NoError(t, err)
	for _, name := range append(files, presets...) {
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			tr, err := link.ParseTrace(data)
			require.NoError(t, err)
			start := max(0, tr.Duration()-60*time.Second) // over the end, into the next loop
			l := newLink(t, link.Path{Trace: tr, TraceStart: start}, 1)
			fates, all := send(l, 120*60, 100, frame)
			s := l.Stats(link.Up)
			require.Equal(t, uint64(len(fates)), s.Pushed)
			require.Len(t, all, int(s.Passed))
			require.NotZero(t, s.Passed)
		})
	}
}

func TestRecordedOutageDropsAndRecovers(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(recordings(t), "Verizon-EVDO-driving.down"))
	require.NoError(t, err)
	tr, err := link.ParseTrace(data)
	require.NoError(t, err)
	l := newLink(t, link.Path{Trace: tr, TraceStart: 750 * time.Second}, 1)
	_, all := send(l, 60*60, 100, frame)
	longest := components.Ticks(0)
	for i := 1; i < len(all); i++ {
		longest = max(longest, all[i].at-all[i-1].at)
	}
	require.Greater(t, longest, 8*components.Second)
	require.NotZero(t, l.Stats(link.Up).QueueDropped)
	require.Equal(t, uint32(60*60-1), all[len(all)-1].ordinal)
}

func FuzzParseTrace(f *testing.F) {
	for _, s := range []string{"0\n10\n25\n40\n", "0\t0.1\n0.1\t0\n0.3\t1\n", roundTrips, profile, "0 0\n", "{", "1e3 1e-9\n1e5 0"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := link.ParseTrace(data)
		if err != nil {
			require.ErrorIs(t, err, link.ErrTrace)
			return
		}
		l, err := link.New(link.Config{Up: link.Path{Trace: tr, TraceStart: time.Second}}, 1)
		require.NoError(t, err)
		last := components.Ticks(0)
		for i := range 50 {
			l.Push(components.Ticks(i)*frame, link.Up, payload(i, 1000))
		}
		for {
			due, ok := l.Next()
			if !ok {
				return
			}
			require.GreaterOrEqual(t, due, last)
			last = due
			l.Pop(due)
		}
	})
}
