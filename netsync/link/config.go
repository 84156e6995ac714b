package link

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/transport"
)

// HeaderBytes of UDP and IPv4 count for bandwidth and queue with each packet.
const HeaderBytes = 28

// Defaults of a Path.
const (
	DefaultQueuePackets = 100
	DefaultQueueBytes   = DefaultQueuePackets * (transport.MaxDatagram + HeaderBytes)
	DefaultReorderHold  = 40 * time.Millisecond
)

// limits that keep every sum within int64 and memory bounded.
const (
	maxDelay     = time.Hour
	maxBandwidth = 1e12
	maxBurst     = 10_000
	maxInFlight  = 1 << 14 // packets a direction of one client, on top of its queue
)

// Direction of a packet: Up is from client to server, Down the other way.
type Direction uint8

// The two directions.
const (
	Up Direction = iota
	Down
)

// String is "up" or "down".
func (d Direction) String() string {
	if d == Up {
		return "up"
	}
	return "down"
}

// Config describes a link between one client and the server.
type Config struct {
	Up, Down Path
}

// Path is one direction of a link. The zero value lets everything through at
// once. Percentages are of packets, 0 to 100.
//
// A packet goes through the bottleneck first, if there is one, where it may
// find the queue full. Then it travels: it may be lost, corrupted or
// duplicated on the way, and arrives Delay plus its share of Jitter after it
// left the bottleneck. A packet that will be lost has used its bandwidth.
type Path struct {
	// Delay is added to every packet.
	Delay time.Duration
	// Jitter adds a uniform 0..Jitter to each packet. Order is kept: a packet
	// waits for the ones before it.
	Jitter time.Duration

	// Loss is the share of packets that vanish, in the long run.
	Loss float64
	// BurstMean and BurstMax, the mean and the longest run of lost packets,
	// make losses come in bursts, with at least one packet through between two
	// of them. Both at most 1: no bursts, each packet is lost or not
	// independently of the others. Only BurstMax above 1: lengths are uniform in
	// 1..BurstMax, so their mean is (1+BurstMax)/2. Only BurstMean above 1:
	// BurstMax is ten times the mean. Lengths follow a geometric law cut at
	// BurstMax. Bursts need packets between them, so Loss is at most
	// BurstMean/(BurstMean+1).
	BurstMean float64
	BurstMax  int

	// Duplicate is the share of packets that arrive twice, the copy right
	// behind the original and, if that was corrupted, equal to it.
	Duplicate float64
	// Corrupt is the share of packets that arrive with 1 to 3 bits flipped.
	Corrupt float64
	// Reorder is the share of packets that are held back by ReorderHold, 40 ms
	// if 0, so that later ones overtake them.
	Reorder     float64
	ReorderHold time.Duration

	// Bandwidth of the bottleneck in bit/s, HeaderBytes counted; 0: no limit.
	Bandwidth int64
	// The bottleneck's queue drops what comes when it holds QueuePackets (100
	// if 0) or would hold more than QueueBytes with headers (122,800 if 0), or
	// when the packet would wait longer than QueueTime (0: no such limit).
	QueuePackets int
	QueueBytes   int
	QueueTime    time.Duration

	// Trace is a recording that drives this direction. What it states replaces
	// the settings of the same name: a mahimahi or bandwidth trace Bandwidth; an
	// RTT trace Delay and Loss; a profile all it names. The rest holds.
	Trace *Trace
	// TraceStart is the time in the trace at time 0 of the link.
	TraceStart time.Duration
}

// Symmetric is a link with half of rtt each way, and jitter (0..jitter) and
// loss in percent in each direction.
func Symmetric(rtt, jitter time.Duration, loss float64) Config {
	p := Path{Delay: rtt / 2, Jitter: jitter, Loss: loss}
	return Config{Up: p, Down: p}
}

// ErrConfig is what every ConfigError is.
var ErrConfig = errors.New("link: setting out of range")

// ConfigError names the setting that is wrong.
type ConfigError struct {
	Field  string // e.g. "Up.Loss"
	Value  string
	Reason string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("link: %s is %s: %s", e.Field, e.Value, e.Reason)
}

// Unwrap makes errors.Is(err, ErrConfig) true.
func (e *ConfigError) Unwrap() error { return ErrConfig }

// Validate returns a *ConfigError for the first setting that is out of range.
func (c Config) Validate() error {
	if err := c.Up.validate("Up."); err != nil {
		return err
	}
	return c.Down.validate("Down.")
}

func (p Path) validate(prefix string) error {
	fail := func(field string, value any, reason string) error {
		return &ConfigError{prefix + field, fmt.Sprint(value), reason}
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"Delay", p.Delay}, {"Jitter", p.Jitter}, {"ReorderHold", p.ReorderHold}, {"QueueTime", p.QueueTime},
	} {
		if d.value < 0 || d.value > maxDelay {
			return fail(d.field, d.value, "it lies in 0..1h")
		}
	}
	for _, f := range []struct {
		field string
		value float64
	}{
		{"Loss", p.Loss}, {"Duplicate", p.Duplicate}, {"Corrupt", p.Corrupt}, {"Reorder", p.Reorder},
	} {
		if !(f.value >= 0 && f.value <= 100) {
			return fail(f.field, f.value, "it is a percentage, 0..100")
		}
	}
	switch {
	case !(p.BurstMean >= 0 && p.BurstMean <= maxBurst):
		return fail("BurstMean", p.BurstMean, "it lies in 0..10000 packets")
	case p.BurstMax < 0 || p.BurstMax > maxBurst:
		return fail("BurstMax", p.BurstMax, "it lies in 0..10000 packets")
	case p.Bandwidth < 0 || p.Bandwidth > maxBandwidth:
		return fail("Bandwidth", p.Bandwidth, "it lies in 0..1e12 bit/s")
	case p.QueuePackets < 0 || p.QueuePackets > maxInFlight:
		return fail("QueuePackets", p.QueuePackets, "it lies in 0..16384")
	case p.QueueBytes < 0 || p.QueueBytes > 1<<30:
		return fail("QueueBytes", p.QueueBytes, "it lies in 0..1 GiB")
	case p.TraceStart < 0 || p.TraceStart > 1e6*time.Second:
		return fail("TraceStart", p.TraceStart, "it lies in 0..1e6s")
	}
	mean, most := p.burst()
	if mean > float64(most) {
		return fail("BurstMean", p.BurstMean, fmt.Sprintf("it is above the longest burst, %d", most))
	}
	if limit := 100 * mean / (mean + 1); most > 1 && p.Loss > limit {
		return fail("Loss", p.Loss, fmt.Sprintf(
			"with bursts of %g packets in the mean and one packet between them it is at most %.4g %%", mean, limit))
	}
	return nil
}

// burst is the mean and the longest burst with the defaults filled in; 1, 1
// stands for independent losses.
func (p Path) burst() (mean float64, most int) {
	mean, most = max(p.BurstMean, 1), max(p.BurstMax, 1)
	switch {
	case mean == 1 && most > 1:
		mean = (1 + float64(most)) / 2
	case mean > 1 && most == 1:
		most = int(math.Ceil(10 * mean))
	}
	return mean, most
}

func (p Path) withDefaults() Path {
	if p.QueuePackets == 0 {
		p.QueuePackets = DefaultQueuePackets
	}
	if p.QueueBytes == 0 {
		p.QueueBytes = DefaultQueueBytes
	}
	if p.ReorderHold == 0 {
		p.ReorderHold = DefaultReorderHold
	}
	return p
}

func ticks(d time.Duration) components.Ticks { return components.TicksOf(d) }
