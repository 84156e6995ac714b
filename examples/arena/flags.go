package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/transport"
)

// Discrepancy says what the server does about a client whose clock runs fast.
type Discrepancy uint8

// The values of -discrepancy.
const (
	DiscrepancyOff Discrepancy = iota
	DiscrepancyDetect
	DiscrepancyResolve
)

// Cheat makes a client cheat; clients count from 0.
type Cheat struct {
	Kind   string
	Client int
}

// cheatKinds are the cheats there are, with what they do.
var cheatKinds = [...][2]string{
	{"clock1.1", "its clock runs at 1.1 times"},
	{"clock2", "its clock runs at twice the speed"},
	{"speed2", "its profile's speed is doubled"},
	{"teleport", "it claims places far away"},
	{"fly", "it flies"},
	{"lagswitch", "silent for 1 s, then a burst"},
	{"stale", "it sends old moves"},
	{"future", "it sends moves from the future"},
	{"flood", "it sends far too much"},
	{"garbage", "it sends random bytes"},
}

// Silence makes a client send nothing for a while; clients count from 0.
type Silence struct {
	Client  int
	At, For time.Duration
}

// Config is what the flags say, checked and with every file read.
type Config struct {
	Clients  int
	Duration time.Duration
	// Link conditions every client's link; RTT, Jitter and Loss are what it was
	// made of.
	Link        link.Config
	RTT, Jitter time.Duration
	Loss        float64
	// LinkGiven: a flag of the link was given, so that -connect goes through a
	// relay too.
	LinkGiven bool
	Profile   components.MovementProfile
	// Level is what -level loads; nil is the built-in one.
	Level *levelFile
	// Inputs are the recordings of -input, none where input is generated.
	Inputs          []*nettest.Input
	FPS             int
	FixedTick       bool
	ServerHz, NetHz int
	Smoothing       components.SmoothingMode
	Redundancy      components.Redundancy
	Discrepancy     Discrepancy
	Cheats          []Cheat
	Silences        []Silence
	Seed            uint64
	Record          string
	// Replay is the recording to play back, nil without -replay.
	Replay     *transport.Recording
	ReplayFile string
	JSON, Plot string
	Quiet      bool
	// Listen and Connect: run the server, or the clients, alone.
	Listen, Connect string
}

// Limits of flags.
const (
	maxClients  = 1000
	maxSpan     = 10 * time.Second
	maxHz       = 400
	maxFPS      = 1000
	maxFileSize = 256 << 20
)

// linkFlags ask for conditions.
var linkFlags = [...]string{
	"rtt", "jitter", "loss", "burst", "burst-max", "reorder", "duplicate", "corrupt", "trace-up", "trace-down", "trace-start",
}

// exit codes.
const (
	exitOK    = 0
	exitFail  = 1
	exitUsage = 2
	proceed   = -1
)

// parse reads the flags. The code is proceed, or the one to exit with: 0 after
// -h, 2 after one line on stderr that says which flag or file is wrong.
func parse(args []string, stderr io.Writer) (Config, int) {
	c, err := parseFlags(args)
	switch {
	case err == nil:
		return c, proceed
	case errors.Is(err, flag.ErrHelp):
		usage(stderr)
		return c, exitOK
	}
	fmt.Fprintln(stderr, "arena: "+strings.ReplaceAll(err.Error(), "\n", " "))
	return c, exitUsage
}

func parseFlags(args []string) (Config, error) {
	c := Config{
		Clients: 8, RTT: 100 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 2,
		Profile: components.DefaultProfile(), FPS: 60, ServerHz: 30, NetHz: 20,
		Discrepancy: DiscrepancyResolve, Seed: 1,
	}
	path := link.Path{BurstMean: 1, BurstMax: 1}
	var traceStart time.Duration
	var traceUp, traceDown, profile, level, replay string

	fs := flag.NewFlagSet("arena", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.Func("clients", "", whole(&c.Clients, 1, maxClients))
	fs.Func("duration", "", span(&c.Duration, 1000*time.Hour))
	fs.Func("rtt", "", span(&c.RTT, maxSpan))
	fs.Func("jitter", "", span(&c.Jitter, maxSpan))
	fs.Func("loss", "", percent(&c.Loss))
	fs.Func("burst", "", number(&path.BurstMean, 1, 10000))
	fs.Func("burst-max", "", whole(&path.BurstMax, 1, 10000))
	fs.Func("reorder", "", percent(&path.Reorder))
	fs.Func("duplicate", "", percent(&path.Duplicate))
	fs.Func("corrupt", "", percent(&path.Corrupt))
	fs.StringVar(&traceUp, "trace-up", "", "")
	fs.StringVar(&traceDown, "trace-down", "", "")
	fs.Func("trace-start", "", span(&traceStart, 1e6*time.Second))
	fs.StringVar(&profile, "profile", "", "")
	fs.StringVar(&level, "level", "", "")
	fs.Func("input", "", func(s string) error {
		for _, name := range strings.Split(s, ",") {
			in, err := readFile(name, nettest.ParseInput)
			if err != nil {
				return err
			}
			c.Inputs = append(c.Inputs, in)
		}
		return nil
	})
	fs.Func("fps", "", whole(&c.FPS, 1, maxFPS))
	fs.Func("tick", "", choice([]string{"variable", "fixed"}, func(i int) { c.FixedTick = i == 1 }))
	fs.Func("server-hz", "", whole(&c.ServerHz, 1, maxHz))
	fs.Func("net-hz", "", whole(&c.NetHz, 1, maxHz))
	fs.Func("smoothing", "", choice([]string{"exponential", "linear", "disabled", "buffered"},
		func(i int) { c.Smoothing = components.SmoothingMode(i) }))
	fs.Func("redundancy", "", choice([]string{"full", "reference"}, func(i int) { c.Redundancy = components.Redundancy(i) }))
	fs.Func("discrepancy", "", choice([]string{"off", "detect", "resolve"}, func(i int) { c.Discrepancy = Discrepancy(i) }))
	fs.Func("cheat", "", func(s string) error { return eachOf(s, c.addCheat) })
	fs.Func("silent", "", func(s string) error { return eachOf(s, c.addSilence) })
	fs.Func("seed", "", func(s string) (err error) {
		if c.Seed, err = strconv.ParseUint(s, 0, 64); err != nil {
			return errors.New("it is a whole number from 0")
		}
		return nil
	})
	fs.StringVar(&c.Record, "record", "", "")
	fs.StringVar(&replay, "replay", "", "")
	fs.StringVar(&c.JSON, "json", "", "")
	fs.StringVar(&c.Plot, "plot", "", "")
	fs.BoolVar(&c.Quiet, "quiet", false, "")
	fs.Func("listen", "", address(&c.Listen, "0.0.0.0", true))
	fs.Func("connect", "", address(&c.Connect, "127.0.0.1", false))
	if err := fs.Parse(args); err != nil {
		return c, err
	}
	if fs.NArg() > 0 {
		return c, fmt.Errorf("%q is no flag; arena -h lists them", fs.Arg(0))
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for _, name := range linkFlags {
		c.LinkGiven = c.LinkGiven || given[name]
	}
	if err := c.finish(given); err != nil {
		return c, err
	}

	path.Delay, path.Jitter, path.Loss, path.TraceStart = c.RTT/2, c.Jitter, c.Loss, traceStart
	c.Link = link.Config{Up: path, Down: path}
	for _, t := range []struct {
		flag, file string
		to         **link.Trace
	}{{"trace-up", traceUp, &c.Link.Up.Trace}, {"trace-down", traceDown, &c.Link.Down.Trace}} {
		if given[t.flag] {
			trace, err := readFile(t.file, link.ParseTrace)
			if err != nil {
				return c, fmt.Errorf("-%s: %w", t.flag, err)
			}
			*t.to = trace
		}
	}
	if err := c.Link.Validate(); err != nil {
		return c, linkError(err)
	}
	if given["profile"] {
		p, err := readFile(profile, parseProfile)
		if err != nil {
			return c, fmt.Errorf("-profile: %w", err)
		}
		c.Profile = p
	}
	if given["level"] {
		l, err := loadLevel(level, &c.Profile)
		if err != nil {
			return c, fmt.Errorf("-level: %w", err)
		}
		if given["record"] && len(l.report.External) > 0 {
			return c, fmt.Errorf("-record: %s has its buffers in other files, such as %s, which a recording does not keep; a .glb has them inside", level, l.report.External[0])
		}
		c.Level = l
	}
	if given["replay"] {
		rec, err := readFile(replay, func(b []byte) (*transport.Recording, error) {
			return transport.OpenRecording(strings.NewReader(string(b)))
		})
		if err != nil {
			return c, fmt.Errorf("-replay: %w", err)
		}
		c.Replay, c.ReplayFile = rec, replay
	}
	for _, o := range []struct{ flag, file string }{{"record", c.Record}, {"json", c.JSON}, {"plot", c.Plot}} {
		if given[o.flag] {
			if err := writable(o.file); err != nil {
				return c, fmt.Errorf("-%s: %w", o.flag, err)
			}
		}
	}
	return c, nil
}

func exclude(a, b string) error { return fmt.Errorf("-%s and -%s exclude each other", a, b) }

// finish checks what no flag can check alone.
func (c *Config) finish(given map[string]bool) error {
	for _, p := range [...][2]string{
		{"listen", "connect"}, {"record", "connect"}, {"listen", "cheat"}, {"listen", "silent"}, {"listen", "input"},
	} {
		if given[p[0]] && given[p[1]] {
			return exclude(p[0], p[1])
		}
	}
	for _, name := range linkFlags {
		if given["listen"] && given[name] {
			return exclude("listen", name) // the link is the clients'
		}
	}
	if given["replay"] {
		// A recording says everything else itself.
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if !slices.Contains([]string{"replay", "json", "plot", "quiet"}, name) {
				return exclude("replay", name)
			}
		}
	}
	if given["trace-start"] && !given["trace-up"] && !given["trace-down"] {
		return errors.New("-trace-start needs -trace-up or -trace-down")
	}
	cheats := map[int]bool{}
	for _, h := range c.Cheats {
		if h.Client >= c.Clients {
			return fmt.Errorf("-cheat %s@%d: the clients are 0 to %d", h.Kind, h.Client, c.Clients-1)
		}
		if cheats[h.Client] {
			return fmt.Errorf("-cheat %s@%d: the client cheats already", h.Kind, h.Client)
		}
		cheats[h.Client] = true
	}
	for _, s := range c.Silences {
		if s.Client >= c.Clients {
			return fmt.Errorf("-silent %d@%v+%v: the clients are 0 to %d", s.Client, s.At, s.For, c.Clients-1)
		}
	}
	return nil
}

func (c *Config) addCheat(s string) error {
	kind, at, ok := strings.Cut(s, "@")
	if !ok {
		return fmt.Errorf("%q is not KIND@CLIENT, such as speed2@3", s)
	}
	client, err := strconv.Atoi(at)
	if err != nil || client < 0 {
		return fmt.Errorf("%q is no client; they count from 0", at)
	}
	var kinds []string
	for _, k := range cheatKinds {
		if k[0] == kind {
			c.Cheats = append(c.Cheats, Cheat{kind, client})
			return nil
		}
		kinds = append(kinds, k[0])
	}
	return fmt.Errorf("%q is no cheat; there are %s", kind, strings.Join(kinds, ", "))
}

func (c *Config) addSilence(s string) error {
	fail := fmt.Errorf("%q is not CLIENT@T+D, such as 3@10s+2s", s)
	who, when, ok := strings.Cut(s, "@")
	if !ok {
		return fail
	}
	from, long, ok := strings.Cut(when, "+")
	if !ok {
		return fail
	}
	var n Silence
	var err error
	if n.Client, err = strconv.Atoi(who); err != nil || n.Client < 0 {
		return fmt.Errorf("%q is no client; they count from 0", who)
	}
	if span(&n.At, 1000*time.Hour)(from) != nil || span(&n.For, 1000*time.Hour)(long) != nil {
		return fail
	}
	c.Silences = append(c.Silences, n)
	return nil
}

// Settings are the network constants that the flags stand for.
func (c *Config) Settings() components.Settings {
	s := components.DefaultSettings()
	s.Smoothing, s.Redundancy = c.Smoothing, c.Redundancy
	s.NetUpdateFrequency = float64(c.NetHz)
	s.MinNetUpdateFrequency = math.Min(s.MinNetUpdateFrequency, s.NetUpdateFrequency)
	if c.Discrepancy != DiscrepancyOff {
		s.AntiCheat()
		s.DiscrepancyResolution = c.Discrepancy == DiscrepancyResolve
	}
	return s
}

// generatedSeconds is the length of generated input before it repeats.
const generatedSeconds = 180

// Sampler plays a client's input: the recordings in turn, those that share one
// 17 s apart, or input generated from the seed where there is none.
func (c *Config) Sampler(client int) *nettest.Sampler {
	n := len(c.Inputs)
	if n == 0 {
		return nettest.NewSampler(nettest.GenerateInput(c.Seed*1_000_003+uint64(client), generatedSeconds), 0)
	}
	return nettest.NewSampler(c.Inputs[client%n], components.Ticks(client/n)*17*components.Second)
}

// String tells the conditions in a line, for the table's head and the picture:
// those that this process knows of.
func (c *Config) String() string {
	server := fmt.Sprintf("server %d Hz, snapshots %d Hz", c.ServerHz, c.NetHz)
	if c.Listen != "" {
		return server
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d client", c.Clients)
	if c.Clients != 1 {
		b.WriteByte('s')
	}
	fmt.Fprintf(&b, " at %d fps", c.FPS)
	if c.Connect == "" || c.LinkGiven {
		fmt.Fprintf(&b, ", RTT %v, jitter %v, loss %g %%", c.RTT, c.Jitter, c.Loss)
		if c.Link.Up.BurstMean > 1 || c.Link.Up.BurstMax > 1 {
			b.WriteString(" in bursts")
		}
		if c.Link.Up.Trace != nil || c.Link.Down.Trace != nil {
			b.WriteString(", recorded link")
		}
	}
	if c.Connect == "" {
		b.WriteString(", " + server)
	}
	tick := "variable"
	if c.FixedTick {
		tick = "fixed"
	}
	b.WriteString(", " + tick + " tick")
	if c.Connect == "" {
		fmt.Fprintf(&b, ", smoothing %v", c.Smoothing)
	}
	return b.String()
}

// writable tells early that a file cannot be written at the end of a run.
func writable(name string) error {
	if name == "" {
		return errors.New("a file name is missing")
	}
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return fmt.Errorf("%s is a directory", name)
	}
	st, err := os.Stat(filepath.Dir(name))
	if err != nil || !st.IsDir() {
		return fmt.Errorf("%s: there is no directory %s", name, filepath.Dir(name))
	}
	return nil
}

// address takes HOST:PORT; without a host it is empty. What is no IP address is
// looked up.
func address(to *string, empty string, port0 bool) func(string) error {
	return func(s string) error {
		host, port, err := net.SplitHostPort(s)
		n, portErr := strconv.ParseUint(port, 10, 16)
		if err != nil || portErr != nil || n == 0 && !port0 {
			return errors.New("it is HOST:PORT, such as 127.0.0.1:7777")
		}
		if host == "" {
			host = empty
		}
		s = net.JoinHostPort(host, port)
		if _, err := netip.ParseAddrPort(s); err != nil {
			a, err := net.ResolveUDPAddr("udp", s)
			if err != nil {
				return fmt.Errorf("there is no host %s", host)
			}
			s = a.AddrPort().String()
		}
		*to = s
		return nil
	}
}
