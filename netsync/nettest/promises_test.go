package nettest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/link"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/stretchr/testify/require"
)

// long runs the promises over their whole length; otherwise a part of it is
// run, so that a stranger's go test ./... stays short.
var long = os.Getenv("GAIT_LONG") != ""

// span is a length of virtual time: the whole one in long runs.
func span(whole, short components.Ticks) components.Ticks {
	if long {
		return whole
	}
	return short
}

const minute = 60 * components.Second

// sharedData is the folder of recorded data beside the project, empty for a
// stranger.
func sharedData(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			data := filepath.Join(filepath.Dir(dir), "shared", "data")
			if _, err := os.Stat(data); err == nil {
				return data
			}
			return ""
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// humans are recorded inputs: those beside the project where they are, and
// generated ones for a stranger.
func humans(t testing.TB) []*nettest.Input {
	t.Helper()
	data := sharedData(t)
	if data == "" {
		return []*nettest.Input{nettest.GenerateInput(11, 150), nettest.GenerateInput(12, 150)}
	}
	var all []*nettest.Input
	for _, name := range []string{"fodplatforms-p1.csv", "rollbackframetest-p0.csv"} {
		b, err := os.ReadFile(filepath.Join(data, "inputs", name))
		require.NoError(t, err)
		in, err := nettest.ParseInput(b)
		require.NoError(t, err)
		all = append(all, in)
	}
	return all
}

// session makes and connects one; it is closed with the test.
func session(t testing.TB, o nettest.Options) *nettest.Session {
	t.Helper()
	if o.Clients+o.Onlookers == 0 {
		o.Clients = 1
	}
	s, err := nettest.NewSession(o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	require.NoError(t, s.Connect(10*components.Second))
	return s
}

type verdicts struct{ nettest.VerdictProbe }

func watchVerdicts(s *nettest.Session) *verdicts {
	v := new(verdicts)
	s.Server.Movement.Verify.Observer = v
	return v
}

// TestNothingIsCorrectedWithoutLoss is the first promise: whatever the round
// trip, the frame rate, the kind of tick and the server's rate, the server
// arrives where the owner did.
func TestNothingIsCorrectedWithoutLoss(t *testing.T) {
	type setup struct {
		rtt      float64
		fps      float64
		fixed    int64
		serverHz int64
	}
	setups := []setup{
		{0, 60, 0, 30}, {0.05, 144, 0, 60}, {0.1, 60, 0, 30}, {0.1, 30, 0, 10}, {0.3, 240, 0, 10},
		{0.2, 60, 60, 20}, {0.1, 144, 60, 128}, {0.3, 30, 30, 60}, {0, 240, 120, 128}, {0.15, 240, 0, 20},
		{0.3, 60, 0, 30}, {0.1, 30, 60, 30},
	}
	for i, c := range setups {
		t.Run(fmt.Sprintf("rtt %.0f ms, %.0f fps, fixed %d, server %d Hz", c.rtt*1000, c.fps, c.fixed, c.serverHz), func(t *testing.T) {
			t.Parallel()
			in := humans(t)
			o := nettest.Options{Clients: 1, FPS: c.fps, Seed: uint64(i + 1)}
			o.Link = link.Symmetric(components.TicksFromSeconds(c.rtt).Duration(), 0, 0)
			o.Server.Hz = c.serverHz
			o.Client.FixedHz = c.fixed
			o.Client.Input = in[i%len(in)]
			s := session(t, o)
			v := watchVerdicts(s)
			s.Advance(span(10*minute, minute))
			require.Zero(t, s.Corrections(), "corrections: %v", s.Clients[0].Stats.Corrections)
			require.Positive(t, v.Error.N(), "claims were compared")
			require.LessOrEqual(t, v.Error.Max(), 0.01, "cm between a claim and the server's place")
			require.Positive(t, s.Clients[0].Stats.Acks)
		})
	}
}

// TestChangingFrameRateCorrectsNobody: frames of 4 to 240 a second, single
// hitches of 0.2 s among them, in one session.
func TestChangingFrameRateCorrectsNobody(t *testing.T) {
	rates := []float64{60, 144, 30, 240, 20, 75, 5, 59.94, 165, 4.2}
	for _, fixed := range []int64{0, 60} {
		t.Run(fmt.Sprintf("fixed %d", fixed), func(t *testing.T) {
			t.Parallel()
			o := nettest.Options{Clients: 1, Seed: 5}
			o.Link = link.Symmetric(100*time.Millisecond, 0, 0)
			o.Client.FixedHz = fixed
			o.Client.Input = humans(t)[0]
			o.ClientFPS = func(_ int, now components.Ticks) float64 {
				// The slow ones last for a frame or two, the others for a while.
				at := now % (10 * components.Second)
				i := int(at / components.Second)
				if rates[i] < 10 && at%components.Second > components.Second/4 {
					return 60
				}
				return rates[i]
			}
			s := session(t, o)
			v := watchVerdicts(s)
			s.Advance(span(10*minute, minute))
			require.Zero(t, s.Corrections(), "corrections: %v", s.Clients[0].Stats.Corrections)
			require.LessOrEqual(t, v.Error.Max(), 0.01)
		})
	}
}

// TestClaimOffBy2cmIsCorrected belongs to the first promise: what is not
// corrected is not corrected because it is right. The threshold is 3 cm squared.
func TestClaimOffBy2cmIsCorrected(t *testing.T) {
	for _, c := range []struct {
		by          float64
		corrections uint64
	}{{2, 1}, {1.7, 0}} {
		for _, running := range []bool{false, true} {
			t.Run(fmt.Sprintf("%.1f cm, running %v", c.by, running), func(t *testing.T) {
				t.Parallel()
				s := session(t, on(flat(t), nettest.Options{Clients: 1, Seed: 6, Link: link.Symmetric(20*time.Millisecond, 0, 0)}))
				if running {
					drive(s, straight)
				}
				s.Advance(components.Second)
				id := owned(t, s, 0)
				onServer[components.MovementState](s, id).Location[1] += c.by
				s.Advance(components.Second)
				require.Equal(t, c.corrections, s.Clients[0].Stats.Corrections[components.CorrectPosition])
				require.Equal(t, c.corrections, s.Corrections())
				off := 0.0
				if c.corrections == 0 {
					off = c.by
				}
				require.InDelta(t, off, onServer[components.MovementState](s, id).Location[1]-stateOf(s.Clients[0], id).Location[1], 1e-9)
			})
		}
	}
}
