//go:build !gait_release

package systems

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/stretchr/testify/require"
)

func TestDiscrepanciesAreLoggedByTheirLevel(t *testing.T) {
	defer slog.SetDefault(slog.Default())
	for level, want := range [][]string{
		0: nil,
		1: {"time discrepancy"},
		2: {"time discrepancy", "time discrepancy is being resolved", "time discrepancy resolved"},
	} {
		var out bytes.Buffer
		slog.SetDefault(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key != slog.MessageKey {
				return slog.Attr{}
			}
			return a
		}})))
		c := newClockwatch(true)
		c.s.debug = &components.Debug{TimeDiscrepancy: level}
		for range 100 { // twice as fast, 1.6 s in all
			c.step(watchTick, 2*float64(watchTick))
		}
		for range 200 { // and honest again
			c.step(watchTick, float64(watchTick))
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			got = append(got, strings.Trim(strings.TrimPrefix(strings.TrimSpace(line), "msg="), `"`))
		}
		require.Equal(t, want, got, "level %d", level)
	}
}
