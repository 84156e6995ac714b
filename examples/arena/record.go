package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/nettest"
	"github.com/gaitnet/gait/netsync/transport"
)

// A recording holds the server's datagrams and frames as stream 0 and the i-th
// client's as stream i+1, and under these tags what else it takes to run them
// again.
const (
	tagRun     = 1  // recordedRun, JSON
	tagInput   = 2  // an input recording, CSV; the stream is its number
	tagEnd     = 3  // recordedEnd, JSON
	tagLevel   = 4  // a part of the level file's bytes; the stream is its number
	tagCommand = 16 // and the command: done to a client at a frame
)

type recordedRun struct {
	Config Config
	Keys   keys
	// Server is where the clients sent to.
	Server netip.AddrPort
	Inputs int
	// LevelParts are the records with the level, 0 for the built-in one.
	LevelParts int
	// LevelHash is what came of it.
	LevelHash uint64
}

type recordedEnd struct {
	StateHash    string
	Ticks        uint64
	Began, Ended components.Ticks
}

// tape is a recording that is being made; nil where there is none.
type tape struct {
	file *os.File
	rec  *transport.Recorder
	done bool
}

func newTape(name string) (*tape, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return &tape{file: f, rec: transport.NewRecorder(f)}, nil
}

// conn is c, recorded as a stream.
func (t *tape) conn(stream int, c transport.Conn) transport.Conn {
	if t == nil {
		return c
	}
	return t.rec.Conn(uint16(stream), c)
}

// noteFor writes a client's commands down.
func (t *tape) noteFor(stream int) func(command, components.Ticks) {
	if t == nil {
		return nil
	}
	return func(cmd command, at components.Ticks) {
		_ = t.rec.Write(uint16(stream), tagCommand+uint16(cmd), at, nil) // finish tells
	}
}

// begin writes down what the run is.
func (t *tape) begin(cfg *Config, k *keys, to netip.AddrPort) error {
	if t == nil {
		return nil
	}
	r := recordedRun{Config: *cfg, Keys: *k, Server: to, Inputs: len(cfg.Inputs), LevelHash: cfg.ground().Hash()}
	if cfg.Level != nil {
		r.LevelParts = levelParts(cfg.Level)
	}
	c := &r.Config
	// Files are not looked for again, and traces are in what arrived when.
	c.Inputs, c.Level, c.Record, c.JSON, c.Plot, c.Link.Up.Trace, c.Link.Down.Trace = nil, nil, "", "", "", nil, nil
	b, err := json.Marshal(&r)
	if err != nil {
		return err
	}
	if err := t.rec.Write(0, tagRun, 0, b); err != nil {
		return err
	}
	if cfg.Level != nil {
		if err := t.recordLevel(cfg.Level); err != nil {
			return err
		}
	}
	for i, in := range cfg.Inputs {
		var csv bytes.Buffer
		if err := nettest.WriteInput(&csv, in); err != nil {
			return err
		}
		if err := t.rec.Write(uint16(i), tagInput, 0, csv.Bytes()); err != nil {
			return fmt.Errorf("-record: input %d: %w", i, err)
		}
	}
	return nil
}

// finish writes down how the run ended and closes the file.
func (t *tape) finish(r *run, rep *nettest.Report) error {
	if t == nil || t.done {
		return nil
	}
	t.done = true
	b, err := json.Marshal(&recordedEnd{rep.StateHash, rep.ServerTicks, r.began, r.ended})
	if err == nil {
		err = t.rec.Write(0, tagEnd, 0, b)
	}
	return errors.Join(err, t.close())
}

func (t *tape) close() error {
	if t == nil || t.file == nil {
		return nil
	}
	err := errors.Join(t.rec.Close(), t.file.Close())
	t.file = nil
	return err
}
