package netsync

import (
	"bufio"
	"fmt"
	"io"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/wire"
)

// MovesCSV writes a line for each move container that a client sends
// (ClientRecordMovePackedRpcStatsToCsv), a resource: add it to the world before
// the app is initialized. Without it nothing is spent.
type MovesCSV struct {
	w   *bufio.Writer
	err error
}

// NewMovesCSV writes to w; Flush must be called before w is closed.
func NewMovesCSV(w io.Writer) *MovesCSV {
	c := &MovesCSV{w: bufio.NewWriter(w)}
	_, c.err = c.w.WriteString("time_s,character,stamp_s,moves,given_up,bits\n")
	return c
}

func (c *MovesCSV) note(now components.Ticks, id components.NetID, stamp components.Stamp, rep wire.ContainerReport, bits int) {
	if c.err == nil {
		_, c.err = fmt.Fprintf(c.w, "%.6f,%d,%.6f,%d,%d,%d\n", now.Seconds(), id, components.Ticks(stamp).Seconds(), rep.Moves, rep.GivenUp, bits)
	}
}

// Flush writes what is buffered and returns the first error met.
func (c *MovesCSV) Flush() error {
	if c.err != nil {
		return c.err
	}
	return c.w.Flush()
}
