package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/gaitnet/gait/netsync/nettest"
)

func main() {
	quit := make(chan struct{})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // a second one ends the process at once
		close(quit)
	}()
	os.Exit(arena(os.Args[1:], os.Stdout, os.Stderr, quit))
}

// arena is the program: it runs until its time is over or quit is closed, and
// returns the exit code.
func arena(args []string, stdout io.Writer, stderr io.Writer, quit <-chan struct{}) int {
	cfg, code := parse(args, stderr)
	if code != proceed {
		return code
	}
	fail := func(err error) int {
		fmt.Fprintln(stderr, "arena: "+err.Error())
		return exitFail
	}
	if cfg.Replay != nil {
		rep, played, err := replay(&cfg)
		if err != nil {
			return fail(err)
		}
		if err := publish(played, rep, stdout); err != nil {
			return fail(err)
		}
		fmt.Fprintln(stdout, "state_hash "+rep.StateHash+", as it was recorded")
		return exitOK
	}
	r, err := newRun(&cfg)
	if err != nil {
		return fail(err)
	}
	rep, err := r.whole(stdout, quit)
	if err != nil && rep == nil {
		return fail(err)
	}
	if e := publish(r, rep, stdout); err == nil {
		err = e
	}
	if err != nil {
		return fail(err)
	}
	return exitOK
}

// whole plays a run to its end, closes it and gives its report.
func (r *run) whole(stdout io.Writer, quit <-chan struct{}) (*nettest.Report, error) {
	defer r.close()
	if !r.cfg.Quiet {
		r.headline(stdout)
	}
	err := r.play(newTable(stdout, r.cfg.Quiet), quit)
	if err != nil && len(r.clients) > 0 && (r.allFailed() || !r.met()) {
		return nil, err
	}
	rep := r.report()
	if e := r.tape.finish(r, rep); err == nil {
		err = e
	}
	r.close() // the measurements below want the machine to themselves
	if e := r.afterwards(rep); err == nil {
		err = e
	}
	return rep, err
}

// headline tells what begins.
func (r *run) headline(w io.Writer) {
	if l := r.cfg.Level; l != nil {
		fmt.Fprintf(w, "The level is %s: %v.\n", l.name, l.report)
	}
	switch {
	case r.cfg.Listen != "":
		fmt.Fprintf(w, "A server on %v: %s\n\n", r.server.conn.LocalAddr(), r.cfg.String())
	case r.cfg.Connect != "":
		fmt.Fprintf(w, "%s\n\n", r.cfg.String())
	default:
		fmt.Fprintf(w, "A server on %v, a bad link on %v in front of it, and an onlooker.\n%s\n\n",
			r.server.conn.LocalAddr(), r.relay.Addr(), r.cfg.String())
	}
}

// newTable is the live table for where it is written to.
func newTable(w io.Writer, quiet bool) *Table {
	f, ok := w.(*os.File)
	tty := ok && IsTerminal(f)
	width, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	return NewTable(w, tty, width, quiet)
}

// publish writes the report where the flags say.
func publish(r *run, rep *nettest.Report, stdout io.Writer) error {
	if !r.cfg.Quiet {
		summary(stdout, r.cfg, rep, r.longFrames())
	}
	if r.cfg.JSON != "" {
		if err := writeFile(r.cfg.JSON, func(f *os.File) error { return rep.WriteJSON(f) }); err != nil {
			return err
		}
	}
	if r.picture != nil {
		return writeFile(r.cfg.Plot, func(f *os.File) error { return r.picture.WriteSVG(f) })
	}
	return nil
}
