package movement

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/stretchr/testify/require"
)

// shared finds a file of ../shared beside the module; the test is skipped
// where there is none.
func shared(t testing.TB, name string) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		require.NotEqual(t, up, dir, "no module root")
		dir = up
	}
	root := filepath.Join(dir, "..", "shared")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no ../shared")
	}
	return filepath.Join(root, name)
}

var oracle struct {
	sync.Once
	l *collision.Level
}

// oracleLevel is the oracle's mesh in gait's space.
func oracleLevel(t testing.TB) *collision.Level {
	name := shared(t, "data/oracle/level.tmsh.gz")
	oracle.Do(func() {
		f, err := os.Open(name)
		require.NoError(t, err)
		defer f.Close()
		z, err := gzip.NewReader(f)
		require.NoError(t, err)
		data, err := io.ReadAll(z)
		require.NoError(t, err)
		le := binary.LittleEndian
		nv, nt := int(le.Uint32(data[8:])), int(le.Uint32(data[12:]))
		v := make([]Vec3, nv)
		for i := range v {
			c := func(k int) float64 { return 100 * float64(math.Float32frombits(le.Uint32(data[16+12*i+4*k:]))) }
			v[i] = Vec3{c(0), -c(2), c(1)}
		}
		b := collision.NewBuilder()
		for i := range nt {
			at := func(k int) Vec3 { return v[le.Uint32(data[16+12*nv+12*i+4*k:])] }
			b.Triangle(at(0), at(1), at(2), 0)
		}
		oracle.l = build(t, b)
	})
	return oracle.l
}

// wanderer walks by the recipe of the speed measurement: the heading changes
// every 0.5 to 2 s, 10 % of the times to a stand, else to 200 to 600 cm/s, and
// one change in ten jumps.
type wanderer struct {
	walker
	r     *rand.Rand
	until components.Ticks
	accel Vec3
	flags components.MoveFlags
}

func wanderers(g collision.Geometry, lo, hi Vec3, n, hz int, seed uint64) []*wanderer {
	r := rand.New(rand.NewPCG(seed, 1))
	var out []*wanderer
	for len(out) < n {
		w := &wanderer{walker: *newWalker(g, hz), r: rand.New(rand.NewPCG(seed, uint64(len(out)+2)))}
		w.p.CapsuleRadius, w.p.CapsuleHalfHeight = 35, 90
		x, y := lo[0]+(hi[0]-lo[0])*(0.1+0.8*r.Float64()), lo[1]+(hi[1]-lo[1])*(0.1+0.8*r.Float64())
		q := collision.Query{Start: Vec3{x, y, hi[2] + 200}, Delta: Vec3{0, 0, lo[2] - hi[2] - 400}, Radius: 35, HalfHeight: 90}
		if !g.Sweep(&q) || !q.Hit.Blocking {
			continue
		}
		w.s = InitialState(&w.p, exact.Add(q.Hit.Location, Vec3{0, 0, 5}), 0)
		w.s.Mode = components.ModeFalling
		out = append(out, w)
	}
	return out
}

func (w *wanderer) step() {
	if w.time >= w.until {
		w.until = w.time + components.Second/2 + components.Ticks(w.r.Int64N(int64(3*components.Second/2)))
		w.flags, w.accel = 0, Vec3{}
		if w.r.IntN(10) > 0 {
			w.accel = RoundAcceleration(exact.Scale(direction(w.r.Float64()*360), (200+400*w.r.Float64())/600))
		}
		if w.r.IntN(10) == 0 {
			w.flags = jump
		}
	}
	w.move(w.accel, w.flags)
}

// wander checks after every move that nobody has left the level, is inside of
// it, or creeps at rest, and that who is stopped for a second has something in
// front.
func wander(t *testing.T, g collision.Geometry, lo, hi Vec3, n, hz, seconds int) {
	inside, stuck, events := 0, 0, 0
	for id, w := range wanderers(g, lo, hi, n, hz, uint64(hz)) {
		still := components.Ticks(0)
		for i := 0; i < seconds*hz; i++ {
			at, v, m := w.s.Location, w.s.Velocity, w.s.Mode
			w.step()
			require.True(t, validState(&w.s))
			require.Greater(t, w.s.Location[2], lo[2]-10, "character %d at %d Hz, move %d: fell through from %v", id, hz, i, at)
			if w.has(EventStuck) {
				events++
			}
			q := collision.Query{Start: w.s.Location, Radius: w.s.Radius - 0.1, HalfHeight: w.s.HalfHeight - 0.1, Time: w.time}
			if g.Overlap(&q) && q.NumPlanes > 0 {
				inside++
				if inside < 5 {
					t.Logf("character %d at %d Hz, move %d, mode %d: inside by %v at %v from %v, v %v", id, hz, i, w.s.Mode, q.Planes[0].Depth+0.1, w.s.Location, at, v)
				}
			}
			if w.accel == (Vec3{}) && v == (Vec3{}) && m == components.ModeWalking && w.s.Mode == m && w.s.Base == 0 {
				require.Equal(t, at[0], w.s.Location[0], "creeps at rest")
			}
			if w.accel != (Vec3{}) && exact.Dist(at, w.s.Location) < 0.01 {
				if still += w.dt; still > components.Second {
					still = 0
					q := collision.Query{Start: w.s.Location, Radius: w.s.Radius, HalfHeight: w.s.HalfHeight, Delta: exact.Scale(exact.SafeNormal2(w.accel), 5), Time: w.time}
					// Along the floor and a little above it: a low ceiling counts.
					f := w.c.FindFloor(&w.s, &w.p, w.time)
					q.Delta = groundWay(q.Delta, f.Normal, true)
					q.Start[2] += 1
					if !g.Sweep(&q) || !q.Hit.Blocking {
						stuck++
						t.Logf("character %d at %d Hz: held by nothing at %v, pushing %v, mode %d, floor %+v", id, hz, w.s.Location, w.accel, w.s.Mode, w.c.FindFloor(&w.s, &w.p, w.time))
					}
				}
			} else {
				still = 0
			}
		}
	}
	require.Zero(t, inside, "moves that ended inside geometry")
	require.Zero(t, stuck, "characters held by nothing")
	require.Zero(t, events, "stuck events")
}

func TestWanderersOnTheOraclesLevel(t *testing.T) {
	l := oracleLevel(t)
	lo, hi := l.Bounds()
	for _, hz := range []int{15, 30, 60} {
		t.Run(fmt.Sprint(hz), func(t *testing.T) { wander(t, l, lo, hi, 12, hz, 600/hz) })
	}
}

func TestWanderersOnTheArena(t *testing.T) {
	l := collision.Arena()
	w := collision.NewWorld()
	require.NoError(t, w.AddLevel(0, l))
	lo, hi := l.Bounds()
	for _, hz := range []int{15, 30, 60} {
		t.Run(fmt.Sprint(hz), func(t *testing.T) { wander(t, w, lo, hi, 12, hz, 600/hz) })
	}
}

// BenchmarkWalk: one character-update of the full kernel on the oracle's level.
func BenchmarkWalk(b *testing.B) {
	l := oracleLevel(b)
	lo, hi := l.Bounds()
	ws := wanderers(l, lo, hi, 1000, 60, 7)
	c := &Context{Geometry: l}
	for _, w := range ws {
		w.c = c
		for range 90 {
			w.step()
		}
	}
	c.Stats = Stats{}
	ground := 0
	b.ResetTimer()
	for i := range b.N {
		w := ws[i%len(ws)]
		w.step()
		if w.s.Mode == components.ModeWalking {
			ground++
		}
	}
	b.StopTimer()
	n := float64(b.N)
	b.ReportMetric(float64(c.Stats.Sweeps)/n, "sweeps/op")
	b.ReportMetric(float64(c.Stats.Overlaps)/n, "overlaps/op")
	b.ReportMetric(float64(c.Stats.Rays)/n, "rays/op")
	b.ReportMetric(100*float64(ground)/n, "%ground")
}

// BenchmarkOpenFloor: standing still and walking in the open.
func BenchmarkOpenFloor(b *testing.B) {
	l := build(b, collision.NewBuilder().Floor(0, 1e6))
	for _, k := range []struct {
		name  string
		accel Vec3
	}{{"stand", Vec3{}}, {"walk", east}} {
		b.Run(k.name, func(b *testing.B) {
			w := newWalker(l, 60)
			for range b.N {
				if w.s.Location[0] > 9e5 {
					w.s.Location[0] = 0
				}
				w.move(k.accel, 0)
			}
			b.ReportMetric(float64(w.c.Stats.Sweeps)/float64(b.N), "sweeps/op")
		})
	}
}
