package components_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/stretchr/testify/require"
)

func TestCorrectionsAreDrawnForTheirLifetime(t *testing.T) {
	var log components.CorrectionLog
	require.Zero(t, log.Live(0, 4))
	for i := range 300 { // one a second
		log.Push(components.CorrectionRecord{Time: components.Ticks(i) * components.Second})
	}
	now := 299 * components.Second
	require.Equal(t, 5, log.Live(now, 4), "at 295 to 299 s")
	require.Equal(t, 1, log.Live(now, 0))
	require.Zero(t, log.Live(now+5*components.Second, 4))
	require.Equal(t, len(log.Records), log.Live(now, 1e6), "all that are kept")
}
