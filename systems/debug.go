package systems

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"

	"github.com/gaitnet/gait/components"
)

// lossSwitch is NetForceClientServerMoveLossPercent with its duration: it eats
// the owner's containers.
type lossSwitch struct {
	rng   *rand.Rand
	until components.Ticks
}

func (l *lossSwitch) eats(d *components.Debug, now components.Ticks) bool {
	if d == nil || !(d.MoveLossPercent > 0) {
		return false
	}
	if now < l.until {
		return true
	}
	if l.rng == nil {
		l.rng = rand.New(rand.NewPCG(d.Seed, 1))
	}
	if l.rng.Float64()*100 >= d.MoveLossPercent {
		return false
	}
	l.until = now + components.TicksFromSeconds(d.MoveLossDuration)
	return true
}

// forceSwitch is NetForceClientAdjustmentPercent.
type forceSwitch struct{ rng *rand.Rand }

func (f *forceSwitch) fires(d *components.Debug) bool {
	if d == nil || !(d.ForceClientAdjustmentPercent > 0) {
		return false
	}
	if f.rng == nil {
		f.rng = rand.New(rand.NewPCG(d.Seed, 2))
	}
	return f.rng.Float64()*100 < d.ForceClientAdjustmentPercent
}

// logDiscrepancy reports what happened where the switch's level asks for it.
func logDiscrepancy(d *components.Debug, level int, what string, id components.NetID, t *components.TimeDiscrepancy, moveError float64) {
	if !debugBuild || d == nil || d.TimeDiscrepancy < level {
		return
	}
	slog.Warn(what, "character", id, "time_s", t.Time, "lifetime_s", t.Lifetime,
		"lifetime_raw_s", t.LifetimeRaw, "move_error_s", moveError)
}

// The levels of Debug.TimeDiscrepancy.
const (
	logDetections  = 1
	logResolutions = 2
)

// CorrectionCSV writes each applied correction as a line, in the reference's
// form (ClientRecordNetCorrectionDistanceToCsv): a resource.
type CorrectionCSV struct {
	w      *bufio.Writer
	header bool
	err    error
}

// NewCorrectionCSV writes to w; Flush must be called before w is closed.
func NewCorrectionCSV(w io.Writer) *CorrectionCSV { return &CorrectionCSV{w: bufio.NewWriter(w)} }

func (c *CorrectionCSV) write(r *components.CorrectionRecord) {
	if c.err != nil {
		return
	}
	if !c.header {
		c.header = true
		_, c.err = c.w.WriteString("time_s,character,stamp_s,reason,distance_cm,wrong_x,wrong_y,wrong_z,right_x,right_y,right_z,wrong_mode,right_mode\n")
	}
	if c.err == nil {
		_, c.err = fmt.Fprintf(c.w, "%.6f,%d,%.6f,%s,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%d,%d\n",
			r.Time.Seconds(), r.Character, components.Ticks(r.Stamp).Seconds(), r.Reason, r.Wrong.Sub(r.Right).Len(),
			r.Wrong[0], r.Wrong[1], r.Wrong[2], r.Right[0], r.Right[1], r.Right[2], r.WrongMode, r.RightMode)
	}
}

// Flush writes what is buffered and returns the first error met.
func (c *CorrectionCSV) Flush() error {
	if c.err != nil {
		return c.err
	}
	return c.w.Flush()
}
