package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/stretchr/testify/require"
)

func good(t *testing.T, args ...string) Config {
	t.Helper()
	var errs bytes.Buffer
	c, code := parse(args, &errs)
	require.Equal(t, "", errs.String())
	require.Equal(t, proceed, code)
	return c
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestFlagDefaultsAreTheAgreedOnes(t *testing.T) {
	require.Equal(t, Config{
		Clients: 8, RTT: 100 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 2,
		Link: link.Config{
			Up:   link.Path{Delay: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 2, BurstMean: 1, BurstMax: 1},
			Down: link.Path{Delay: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 2, BurstMean: 1, BurstMax: 1},
		},
		Profile: components.DefaultProfile(), FPS: 60, ServerHz: 30, NetHz: 20,
		Discrepancy: DiscrepancyResolve, Seed: 1,
	}, good(t))
}

func TestEveryFlagReachesTheConfig(t *testing.T) {
	in := file(t, "in.csv", nettest.InputHeader+"\n0,1,0,0,0,0,0\n")
	trace := file(t, "trace", "0\n10\n")
	profile := file(t, "p.json", "{\"MaxWalkSpeed\": 450}")
	out := t.TempDir()
	c := good(t, "-clients", "3", "-duration", "1m30s", "-rtt=80ms", "-jitter", "5ms", "-loss", "3.5%", "-burst", "2.5", "-burst-max", "6",
		"-reorder", "1", "-duplicate", "2", "-corrupt", "0.5", "-trace-up", trace, "-trace-start", "4s",
		"-profile", profile, "-input", in+","+in, "-fps", "144", "-tick", "fixed", "-server-hz", "128", "-net-hz", "10",
		"-smoothing", "buffered", "-redundancy", "reference", "-discrepancy", "detect",
		"-cheat", "clock1.1@0,teleport@2", "-cheat", "flood@1", "-silent", "1@10s+2s,0@0s+500ms", "-seed", "0x10",
		"-json", out+"/j", "-plot", out+"/p", "-quiet", "-connect", ":7777")
	want := link.Path{
		Delay: 40 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: 3.5, BurstMean: 2.5, BurstMax: 6,
		Reorder: 1, Duplicate: 2, Corrupt: 0.5, TraceStart: 4 * time.Second,
	}
	require.Equal(t, want, c.Link.Down)
	require.Equal(t, link.Opportunities, c.Link.Up.Trace.Kind())
	c.Link.Up.Trace = nil
	require.Equal(t, want, c.Link.Up)
	require.Equal(t, 450.0, c.Profile.MaxWalkSpeed)
	require.Equal(t, 420.0, c.Profile.JumpZVelocity)
	require.Len(t, c.Inputs, 2)
	require.Equal(t, []Cheat{{"clock1.1", 0}, {"teleport", 2}, {"flood", 1}}, c.Cheats)
	require.Equal(t, []Silence{{1, 10 * time.Second, 2 * time.Second}, {0, 0, 500 * time.Millisecond}}, c.Silences)
	require.Equal(t, []any{3, 90 * time.Second, 144, true, 128, 10}, []any{c.Clients, c.Duration, c.FPS, c.FixedTick, c.ServerHz, c.NetHz})
	require.Equal(t, components.SmoothBuffered, c.Smoothing)
	require.Equal(t, components.RedundancyReference, c.Redundancy)
	require.Equal(t, DiscrepancyDetect, c.Discrepancy)
	require.Equal(t, []any{uint64(16), out + "/j", out + "/p", true}, []any{c.Seed, c.JSON, c.Plot, c.Quiet})
	require.Equal(t, "127.0.0.1:7777", c.Connect)
	require.True(t, c.LinkGiven)
	require.False(t, good(t, "-connect", ":7777", "-fps", "30").LinkGiven)
	require.Equal(t, out+"/r", good(t, "-record", out+"/r").Record)
	require.Equal(t, "0.0.0.0:7777", good(t, "-listen", ":7777").Listen)
	require.Equal(t, "[::1]:9", good(t, "-connect", "[::1]:9").Connect)
}

func TestWrongFlagOrFileIsOneLineAndExit2(t *testing.T) {
	bad := func(name, text string) string { return file(t, name, text) }
	missing := filepath.Join(t.TempDir(), "none")
	dir := t.TempDir()
	_, notThere := os.Open(missing)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-speed", "9"}, "flag provided but not defined: -speed"},
		{[]string{"extra"}, `"extra" is no flag; arena -h lists them`},
		{[]string{"-rtt"}, "flag needs an argument: -rtt"},
		{[]string{"-clients", "0"}, `invalid value "0" for flag -clients: it is a whole number, 1 to 1000`},
		{[]string{"-duration", "10"}, `invalid value "10" for flag -duration: it is a duration with its unit, such as 100ms or 2m30s`},
		{[]string{"-rtt", "-1ms"}, `invalid value "-1ms" for flag -rtt: it lies within 0 to 10s`},
		{[]string{"-duration", "1001h"}, `invalid value "1001h" for flag -duration: it lies within 0 to 1000h`},
		{[]string{"-loss", "101"}, `invalid value "101" for flag -loss: it is a percentage, 0 to 100`},
		{[]string{"-loss", "NaN"}, `invalid value "NaN" for flag -loss: it is a percentage, 0 to 100`},
		{[]string{"-fps", "60.5"}, `invalid value "60.5" for flag -fps: it is a whole number, 1 to 1000`},
		{[]string{"-tick", "slow"}, `invalid value "slow" for flag -tick: it is one of variable, fixed`},
		{[]string{"-smoothing", ""}, `invalid value "" for flag -smoothing: it is one of exponential, linear, disabled, buffered`},
		{[]string{"-redundancy", "none"}, `invalid value "none" for flag -redundancy: it is one of full, reference`},
		{[]string{"-discrepancy", "on"}, `invalid value "on" for flag -discrepancy: it is one of off, detect, resolve`},
		{[]string{"-seed", "-1"}, `invalid value "-1" for flag -seed: it is a whole number from 0`},
		{[]string{"-burst", "0"}, `invalid value "0" for flag -burst: it is a number, 1 to 10000`},
		{[]string{"-burst", "5", "-burst-max", "3"}, "-burst 5: it is above the longest burst, 3"},
		{[]string{"-loss", "80", "-burst-max", "3"}, "-loss 80: with bursts of 2 packets in the mean and one packet between them it is at most 66.67 %"},
		{[]string{"-cheat", "fly"}, `invalid value "fly" for flag -cheat: "fly" is not KIND@CLIENT, such as speed2@3`},
		{[]string{"-cheat", "walk@1"}, `invalid value "walk@1" for flag -cheat: "walk" is no cheat; there are clock1.1, clock2, speed2, teleport, fly, lagswitch, stale, future, flood, garbage`},
		{[]string{"-cheat", "fly@-1"}, `invalid value "fly@-1" for flag -cheat: "-1" is no client; they count from 0`},
		{[]string{"-cheat", "fly@8"}, "-cheat fly@8: the clients are 0 to 7"},
		{[]string{"-cheat", "fly@1,flood@1"}, "-cheat flood@1: the client cheats already"},
		{[]string{"-silent", "1@5s"}, `invalid value "1@5s" for flag -silent: "1@5s" is not CLIENT@T+D, such as 3@10s+2s`},
		{[]string{"-clients", "2", "-silent", "2@5s+1s"}, "-silent 2@5s+1s: the clients are 0 to 1"},
		{[]string{"-listen", "here"}, `invalid value "here" for flag -listen: it is HOST:PORT, such as 127.0.0.1:7777`},
		{[]string{"-connect", "127.0.0.1:0"}, `invalid value "127.0.0.1:0" for flag -connect: it is HOST:PORT, such as 127.0.0.1:7777`},
		{[]string{"-listen", ":1", "-connect", ":2"}, "-listen and -connect exclude each other"},
		{[]string{"-replay", missing, "-record", "x"}, "-replay and -record exclude each other"},
		{[]string{"-replay", missing, "-loss", "5"}, "-replay and -loss exclude each other"},
		{[]string{"-listen", ":1", "-rtt", "5ms"}, "-listen and -rtt exclude each other"},
		{[]string{"-connect", ":1", "-record", "x"}, "-record and -connect exclude each other"},
		{[]string{"-trace-start", "1s"}, "-trace-start needs -trace-up or -trace-down"},
		{[]string{"-input", missing}, `invalid value "` + missing + `" for flag -input: ` + notThere.Error()},
		{[]string{"-json", dir}, "-json: " + dir + " is a directory"},
		{[]string{"-plot", missing + "/a.svg"}, "-plot: " + missing + "/a.svg: there is no directory " + missing},
		{[]string{"-record", ""}, "-record: a file name is missing"},
	} {
		var errs bytes.Buffer
		_, code := parse(c.args, &errs)
		require.Equal(t, exitUsage, code, "%v", c.args)
		require.Equal(t, "arena: "+c.want+"\n", errs.String())
	}
	for _, c := range []struct{ flag, name, text, want string }{
		{"-input", "in.csv", "frame\n", `the header is "frame", it must be ` + nettest.InputHeader},
		{"-input", "in.csv", nettest.InputHeader + "\n0,2,0,0,0,0,0\n", `line 2, move_x: "2" is not a number within -1..1`},
		{"-trace-up", "t", "hello\n", "link: trace, line 1: neither a millisecond"},
		{"-trace-down", "t", "5\n3\n", "link: trace, line 2: 3 ms is before the line above"},
		{"-profile", "p.json", "{\"MaxWalkSpeeed\": 1}", `a profile has no field "MaxWalkSpeeed"`},
		{"-profile", "p.json", "{\n\"MaxWalkSpeed\": \"fast\"}", "line 2: MaxWalkSpeed cannot be a string"},
		{"-profile", "p.json", "{\n\n\"MaxWalkSpeed\" 1}", "line 3: invalid character"},
		{"-profile", "p.json", "{\"MaxWalkSpeed\": 1", "it ends before its end"},
		{"-profile", "p.json", "{} {}", "something follows its object"},
		{"-profile", "p.json", "null", "it is not a JSON object of profile fields"},
		{"-profile", "p.json", "{\"MaxWalkSpeed\": -5}", "MaxWalkSpeed is -5, must lie within 0..1e+06"},
		{"-replay", "r", "hello hello hello", transport.ErrNotRecording.Error()},
	} {
		name := bad(c.name, c.text)
		var errs bytes.Buffer
		_, code := parse([]string{c.flag, name}, &errs)
		require.Equal(t, exitUsage, code, "%+v", c)
		require.Equal(t, 1, strings.Count(errs.String(), "\n"), errs.String())
		require.Contains(t, errs.String(), c.flag)
		require.Contains(t, errs.String(), name+": ")
		require.Contains(t, errs.String(), c.want)
	}
}

func TestHelpNamesEveryFlagAndFitsATerminal(t *testing.T) {
	var out bytes.Buffer
	_, code := parse([]string{"-h"}, &out)
	require.Equal(t, exitOK, code)
	for _, name := range strings.Fields("clients duration rtt jitter loss burst burst-max reorder duplicate corrupt trace-up trace-down trace-start " +
		"profile input fps tick server-hz net-hz smoothing redundancy discrepancy cheat silent seed record replay json plot quiet listen connect") {
		require.Regexp(t, `(?m)^  -`+name+` `, out.String())
	}
	for _, k := range cheatKinds {
		require.Contains(t, out.String(), k[0])
	}
	for _, line := range strings.Split(out.String(), "\n") {
		require.LessOrEqual(t, len(line), 110, line)
	}
}

func TestSettingsFollowTheFlags(t *testing.T) {
	c := good(t, "-net-hz", "1", "-smoothing", "linear", "-redundancy", "reference")
	s := c.Settings()
	require.NoError(t, s.Validate())
	require.Equal(t, []any{1.0, 1.0, components.SmoothLinear, components.RedundancyReference, true, true, 1.0},
		[]any{s.NetUpdateFrequency, s.MinNetUpdateFrequency, s.Smoothing, s.Redundancy, s.DiscrepancyDetection, s.DiscrepancyResolution, s.MaxTimeMargin})
	c = good(t, "-discrepancy", "detect")
	s = c.Settings()
	require.Equal(t, []bool{true, false}, []bool{s.DiscrepancyDetection, s.DiscrepancyResolution})
	c = good(t, "-discrepancy", "off")
	s = c.Settings()
	require.False(t, s.DiscrepancyDetection)
}

func TestClientsDoDifferentThings(t *testing.T) {
	path := func(c *Config, client int) (yaws [40]components.Vec3) {
		s := c.Sampler(client)
		var in components.Input
		for i := range yaws {
			now := components.Ticks(i+1) * components.Second / 2
			s.Apply(&in, now, components.Second/2)
			yaws[i] = in.Vector
		}
		return yaws
	}
	gen := good(t)
	require.NotEqual(t, path(&gen, 0), path(&gen, 1))
	require.Equal(t, path(&gen, 1), path(&gen, 1))
	var b bytes.Buffer
	require.NoError(t, nettest.WriteInput(&b, nettest.GenerateInput(9, 120)))
	one := good(t, "-input", file(t, "in.csv", b.String()))
	require.NotEqual(t, path(&one, 0), path(&one, 1))
}

func TestConditionsAreToldInALine(t *testing.T) {
	c := good(t)
	require.Equal(t, "8 clients at 60 fps, RTT 100ms, jitter 10ms, loss 2 %, server 30 Hz, snapshots 20 Hz, variable tick, smoothing exponential", c.String())
	require.Equal(t, "server 30 Hz, snapshots 20 Hz", described(t, "-listen", ":1"))
	require.Equal(t, "8 clients at 60 fps, variable tick", described(t, "-connect", ":1"))
	require.Equal(t, "1 client at 60 fps, RTT 100ms, jitter 10ms, loss 9 %, variable tick",
		described(t, "-connect", ":1", "-clients", "1", "-loss", "9"))
}

func FuzzParseProfile(f *testing.F) {
	f.Add([]byte(`{"MaxWalkSpeed": 450, "Rotation": 2, "CanCrouch": false}`))
	f.Add([]byte(`{"JumpMaxCount": 300}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Add([]byte(`{"MaxWalkSpeed": 1e999}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parseProfile(data)
		if err == nil && p.Validate() != nil {
			t.Fatal("a profile that no step can work with was taken")
		}
	})
}

func described(t *testing.T, args ...string) string {
	c := good(t, args...)
	return c.String()
}
