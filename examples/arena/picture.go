package main

import (
	"fmt"
	"os"

	"github.com/gaitnet/gait/netsync/nettest"
)

// newPicture is an empty picture of one player's path over the level's plan;
// nil where none is asked for.
func newPicture(c *Config) *nettest.Picture {
	if c.Plot == "" {
		return nil
	}
	p := &nettest.Picture{
		Title:    fmt.Sprintf("One player three times: client %d as predicted, decided and shown", c.star()),
		Subtitle: c.String(),
	}
	for _, s := range c.ground().Outline() {
		p.Level = append(p.Level, [4]float64{s.A[0], s.A[1], s.B[0], s.B[1]})
	}
	return p
}

// writeFile writes through f and tells the first error.
func writeFile(name string, write func(*os.File) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
