package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/collision/levelfile"
	"github.com/gaitnet/gait/systems/movement"
)

// levelFile is a level that -level loads, with the bytes it came from, which a
// recording keeps.
type levelFile struct {
	name   string
	level  *collision.Level
	report *levelfile.Report
	data   []byte
	// spawns are where feet may be put: the file's own, or places found.
	spawns []components.Vec3
}

// ground is the level of the run.
func (c *Config) ground() *collision.Level {
	if c.Level != nil {
		return c.Level.level
	}
	return collision.Arena()
}

// spawns are the places at which players begin.
func (c *Config) spawns() []components.Vec3 {
	if c.Level != nil {
		return c.Level.spawns
	}
	return collision.Arena().Spawns()
}

// loadLevel reads a level file, and files that it names from its directory.
func loadLevel(name string, p *components.MovementProfile) (*levelFile, error) {
	return readFile(name, func(data []byte) (*levelFile, error) {
		f, err := parseLevel(data, levelfile.Options{FS: os.DirFS(filepath.Dir(name))}, p)
		if err != nil {
			return nil, err
		}
		f.name = filepath.Base(name)
		return f, nil
	})
}

func parseLevel(data []byte, o levelfile.Options, p *components.MovementProfile) (*levelFile, error) {
	l, r, err := levelfile.Parse("", data, o)
	if err != nil {
		return nil, err
	}
	f := &levelFile{level: l, report: r, data: data, spawns: l.Spawns()}
	if len(f.spawns) == 0 {
		f.spawns = standingPlaces(l, p)
	}
	if len(f.spawns) == 0 {
		return nil, errors.New("it has no spawn point, and no place to stand was found around its middle")
	}
	return f, nil
}

// Where places to stand are looked for: a square of 4 x 4 around the middle, as
// in the built-in level, and where none of it will do a raster over the bounds.
const (
	square      = 4
	squareEvery = 200.0 // cm
	raster      = 64
)

// standingPlaces looks down from above the level for ground that a character
// can stand on, as near to the middle of its bounds as there is any. Every
// step is exact, so that a recording finds the same ones elsewhere.
func standingPlaces(l *collision.Level, p *components.MovementProfile) []components.Vec3 {
	lo, hi := l.Bounds()
	x, y := (lo[0]+hi[0])/2, (lo[1]+hi[1])/2
	look := func(n int, everyX, everyY float64) (found []components.Vec3) {
		for i := range n * n {
			at := components.Vec3{
				x + float64((float64(i%n)-float64(n-1)/2)*everyX), y + float64((float64(i/n)-float64(n-1)/2)*everyY), hi[2] + 1,
			}
			if feet, ok := standing(l, p, at, lo[2]-1); ok {
				found = append(found, feet)
			}
		}
		return found
	}
	if found := look(square, squareEvery, squareEvery); len(found) > 0 {
		return found
	}
	found := look(raster, (hi[0]-lo[0])/raster, (hi[1]-lo[1])/raster)
	middle := components.Vec3{x, y, 0}
	far := func(v components.Vec3) float64 { return exact.Len2(exact.Sub(v, middle)) }
	slices.SortStableFunc(found, func(a, b components.Vec3) int { return cmp.Compare(far(a), far(b)) })
	return found[:min(len(found), square*square)]
}

// standing is where a character stands below a place, if it can.
func standing(l *collision.Level, p *components.MovementProfile, from components.Vec3, bottom float64) (components.Vec3, bool) {
	q := collision.Query{Start: from, Delta: components.Vec3{0, 0, bottom - from[2]}}
	if !l.Ray(&q) || q.Hit.Surface&collision.SurfaceUnwalkable != 0 ||
		q.Hit.Normal[2] < p.WalkableFloorZ && q.Hit.Surface&collision.SurfaceWalkable == 0 {
		return components.Vec3{}, false
	}
	feet := q.Hit.Location
	q = collision.Query{Start: feet, Radius: p.CapsuleRadius, HalfHeight: p.CapsuleHalfHeight}
	q.Start[2] += p.CapsuleHalfHeight + movement.FloorDistance
	return feet, !l.Overlap(&q)
}

// recordLevel keeps the level in a recording, in as many records as it takes.
func (t *tape) recordLevel(f *levelFile) error {
	for i, rest := 0, f.data; len(rest) > 0; i++ {
		n := min(len(rest), transport.MaxRecord)
		if err := t.rec.Write(uint16(i), tagLevel, 0, rest[:n]); err != nil {
			return fmt.Errorf("-record: the level: %w", err)
		}
		rest = rest[n:]
	}
	return nil
}

// recordedLevel is the level of a recording, nil where it is the built-in one.
func recordedLevel(rec *transport.Recording, was *recordedRun) (*levelFile, error) {
	same := func(l *collision.Level) error {
		if h := l.Hash(); h != was.LevelHash && was.LevelHash != 0 { // 0: from before it was told
			return fmt.Errorf("the level's hash is %016x, and was %016x", h, was.LevelHash)
		}
		return nil
	}
	if was.LevelParts == 0 {
		return nil, same(collision.Arena())
	}
	if was.LevelParts < 0 || was.LevelParts > maxLevelParts {
		return nil, errors.New("what it says of its level cannot be")
	}
	var data bytes.Buffer
	for i := range was.LevelParts {
		e, ok := rec.Tagged(uint16(i), tagLevel)
		if !ok {
			return nil, fmt.Errorf("part %d of the level is missing", i)
		}
		data.Write(e.Data)
	}
	f, err := parseLevel(data.Bytes(), levelfile.Options{}, &was.Config.Profile)
	if err != nil {
		return nil, fmt.Errorf("the level: %w", err)
	}
	return f, same(f.level)
}

// maxLevelParts is as many as the largest file takes.
const maxLevelParts = (maxFileSize + transport.MaxRecord - 1) / transport.MaxRecord

// levelParts is how many records a level takes.
func levelParts(f *levelFile) int {
	return (len(f.data) + transport.MaxRecord - 1) / transport.MaxRecord
}
