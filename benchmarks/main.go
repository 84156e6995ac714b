package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"text/tabwriter"
)

// row is one measured thing; what says what "each" is.
type row struct {
	name string
	what string
	run  func(b *testing.B)
}

// rows are all of them, in the order of the table.
func rows() []row {
	return []row{
		{"verify/100", "move", verify(100)},
		{"verify/1000", "move", verify(1000)},
		{"verify/10000", "move", verify(10000)},
		{"kernel alone/1000", "move", bare(1000)},
		{"predict/1", "frame", predict(1)},
		{"predict/100", "frame", predict(100)},
		{"replay of 10 moves/100", "replay", replay(100)},
		{"smooth/100000", "proxy", smooth(100000)},
		{"encode moves, full", "container", containers(true).encode},
		{"decode moves, full", "container", containers(true).decode},
		{"encode moves, reference", "container", containers(false).encode},
		{"decode moves, reference", "container", containers(false).decode},
		{"encode ack", "response", response(true).encode},
		{"decode ack", "response", response(true).decode},
		{"encode correction", "response", response(false).encode},
		{"decode correction", "response", response(false).decode},
		{"encode snapshot", "snapshot", snapshot().encode},
		{"decode snapshot", "snapshot", snapshot().decode},
	}
}

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "benchmarks: takes no arguments; go test -bench chooses rows")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1) // figures are a core's
	fmt.Printf("%s %s/%s, one core\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tns each\teach\ta second\tbits\tallocs\t")
	for _, r := range rows() {
		res := testing.Benchmark(r.run)
		each, ok := res.Extra["ns/each"]
		if !ok {
			each = float64(res.NsPerOp())
		}
		bits := ""
		if n, ok := res.Extra["bits"]; ok {
			bits = fmt.Sprintf("%.0f", n)
		}
		fmt.Fprintf(t, "%s\t%.0f\t%s\t%s\t%s\t%d\t\n", r.name, each, r.what, thousands(1e9/each), bits, res.AllocsPerOp())
	}
	t.Flush()
	fmt.Printf("\nstate of 100 characters after 100 ticks: %016x\n", crowdHash(100, 100))
}

// crowdHash is the state of a crowd after some ticks: two builds that print
// the same have computed the same.
func crowdHash(n, ticks int) uint64 {
	c := newCrowd(n)
	for range ticks {
		c.fill()
		c.tick()
	}
	return c.hash()
}

// thousands writes a number with its digits in groups of three.
func thousands(v float64) string {
	s := fmt.Sprintf("%.0f", v)
	var b strings.Builder
	for i, r := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return b.String()
}
