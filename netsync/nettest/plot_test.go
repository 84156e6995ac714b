package nettest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/stretchr/testify/require"
)

// keepPictures leaves the pictures of the tests in a directory, to be looked at.
var keepPictures = flag.String("pictures", "", "directory to leave the tests' pictures in")

// stroll is a player as a simple model of the loop shows it: generated input,
// 2048 cm/s² up to 600 cm/s at 60 fps; the server 65 ms behind at 30 Hz; an
// onlooker 65 ms further that gets 20 snapshots a second, extrapolates and
// smooths over 0.1 s. corrections of 20 to 60 cm are spread over the run.
func stroll(seconds float64, corrections int) *Picture {
	p := &Picture{Title: "gait arena: player 1 of 8", Subtitle: "RTT 100 ms, jitter 10 ms, loss 2 %, server 30 Hz, snapshots 20 Hz, smoothing exponential"}
	for _, b := range [][4]float64{{-900, -900, 900, 900}, {150, -300, 380, -80}, {-500, 200, -220, 420}} {
		p.Level = append(p.Level, [4]float64{b[0], b[1], b[2], b[1]}, [4]float64{b[2], b[1], b[2], b[3]},
			[4]float64{b[2], b[3], b[0], b[3]}, [4]float64{b[0], b[3], b[0], b[1]})
	}
	const dt = 960
	frames := int(seconds * 60)
	s := NewSampler(GenerateInput(3, seconds+1), 0)
	var in components.Input
	place, vel := make([]components.Vec3, frames), make([]components.Vec3, frames)
	var pos, v components.Vec3
	var capsule, capVel, offset components.Vec3
	r := rng(1)
	for i := range frames {
		now := components.Ticks(i) * dt
		s.Apply(&in, now, dt)
		want := in.Vector.Mul(600)
		if d := want.Sub(v); d.Len() > 2048.0/60 {
			v = v.Add(d.Normalize().Mul(2048.0 / 60))
		} else {
			v = want
		}
		pos = pos.Add(v.Mul(1.0 / 60))
		for a := range 2 {
			if math.Abs(pos[a]) > 870 {
				pos[a], v[a] = math.Copysign(870, pos[a]), 0
			}
		}
		if corrections > 0 && i > 60 && i%max(1, frames/(corrections+1)) == 0 {
			wrong := pos
			pos = pos.Add(components.Vec3{float64(r.between(-45, 45)), float64(r.between(-45, 45)), 0})
			p.MarkCorrection(components.CorrectionRecord{Time: now, Wrong: wrong, Right: pos, Reason: components.CorrectForced})
		}
		place[i], vel[i] = pos, v
		p.Owner.Add(now, pos, i == 0)
		if i >= 4 && i%2 == 0 {
			p.Server.Add(now, place[i-4], false)
		}
		if i >= 8 {
			if i%3 == 0 {
				next := place[i-8]
				offset = offset.Add(capsule.Sub(next))
				if i < 12 {
					offset = components.Vec3{}
				}
				capsule, capVel = next, vel[i-8]
			} else {
				capsule = capsule.Add(capVel.Mul(1.0 / 60))
			}
			offset = offset.Mul(1 - (1.0/60)/0.1)
			p.Capsule.Add(now, capsule, false)
			p.Mesh.Add(now, capsule.Add(offset), false)
		}
	}
	return p
}

func draw(t *testing.T, name string, p *Picture) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, p.WriteSVG(&b))
	dir := *keepPictures
	if dir == "" {
		dir = t.TempDir()
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".svg"), b.Bytes(), 0o644))
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err, "not well formed")
		}
	}
	require.NotRegexp(t, "NaN|Inf|%!", b.String())
	return b.String()
}

func TestPictureShowsTheFourTrailsAndTheLag(t *testing.T) {
	out := draw(t, "plain", stroll(40, 0))
	for _, want := range []string{"owner, predicted", "server", "onlooker&apos;s mesh", "corrections (0)", "around the sharpest turn",
		"owner → server 67 ms, server → mesh ", "From above, 0.0 to 40.0 s", "over time"} {
		require.Contains(t, strings.ReplaceAll(out, "onlooker's mesh", "onlooker&apos;s mesh"), want)
	}
}

func TestPictureLooksAtTheLargestCorrection(t *testing.T) {
	p := stroll(40, 3)
	big := p.corrections[1]
	big.Wrong[0] -= 150
	p.corrections[1].Wrong = big.Wrong
	out := draw(t, "corrected", p)
	require.Contains(t, out, "around the largest correction")
	require.Contains(t, out, "correction: forced, ")
	require.Contains(t, out, "corrections (3)")
	z := p.zoom()
	require.Equal(t, 1, z.mark)
	require.Equal(t, 0, z.axis, "x shows it")
	require.True(t, z.from < big.Time && big.Time < z.to)
}

func TestPictureOfAThousandCorrectionsStaysSmall(t *testing.T) {
	p := stroll(300, 1000)
	require.InDelta(t, 1000, p.correctionsSeen, 100)
	require.Less(t, len(draw(t, "thousand", p)), 2_000_000)
}

func TestPictureOfNothingOrLittleIsStillAPicture(t *testing.T) {
	require.Contains(t, draw(t, "empty", &Picture{Title: `a <b> & "c"`}), "Nothing was recorded.")
	one := &Picture{Level: [][4]float64{{math.NaN(), 0, 1, 1}}}
	one.Owner.Add(5, components.Vec3{1, 2, 3}, true)
	one.Owner.Add(7, components.Vec3{math.NaN()}, false)
	one.MarkCorrection(components.CorrectionRecord{Time: 5, Wrong: components.Vec3{math.Inf(1)}})
	one.MarkCorrection(components.CorrectionRecord{Time: 900000})
	draw(t, "one", one)
	far := stroll(3, 0)
	far.Mesh.Add(4*components.Second, components.Vec3{1e300, -1e300, 0}, false)
	draw(t, "far", far)
}

func TestSameRunDrawsTheSamePicture(t *testing.T) {
	require.Equal(t, draw(t, "a", stroll(10, 2)), draw(t, "b", stroll(10, 2)))
}

func TestTrailForgetsItsOlderHalf(t *testing.T) {
	var tr Trail
	add := func() { tr.Add(components.Ticks(tr.Len()), components.Vec3{}, false) }
	for i := range 3*trailLen/2 + 10 {
		tr.Add(components.Ticks(i), components.Vec3{float64(i)}, false)
	}
	require.LessOrEqual(t, tr.Len(), trailLen)
	require.GreaterOrEqual(t, tr.Len(), trailLen/2)
	require.Equal(t, float64(3*trailLen/2+9), tr.points[tr.Len()-1].place[0])
	require.Zero(t, testing.AllocsPerRun(100, add))
	tr.Add(0, components.Vec3{}, false) // out of order
	require.True(t, tr.points[tr.Len()-1].jump)
}

func TestGridLinesAreRoundAndFew(t *testing.T) {
	require.Equal(t, []float64{0, 500, 1000, 1500, 2000}, gridLines(-100, 2100))
	for _, c := range [][2]float64{{0, 1}, {-3, 77}, {1e6, 1e6 + 3}, {500, -500}, {0.001, 0.0013}} {
		n := len(gridLines(c[0], c[1]))
		require.True(t, n >= 3 && n <= 11, "%v has %d", c, n)
	}
}

func TestPictureShowsTheCoordinateThatMoves(t *testing.T) {
	p := &Picture{}
	for i := range components.Ticks(150) {
		p.Owner.Add(i*960, components.Vec3{10, float64(i) * 10, 0}, false)
	}
	out := draw(t, "along-y", p)
	require.Contains(t, out, "y over time")
	// 0 to 1490 cm: on the map y goes down from its start at the top, over
	// time larger is further up.
	f := frame{leftX, panelTop, leftW, panelH, 10 - 745*1.06, 10 + 745*1.06, 745 - 745*1.06, 745 + 745*1.06}
	require.InDelta(t, leftX+leftW/2, f.x(10), 1e-9)
	up := frame{rightX, panelTop, rightW, panelH, 0, 2.5, 745 + 745*1.12, 745 - 745*1.12}
	require.Less(t, f.y(0), f.y(1490))
	require.Less(t, up.y(1490), up.y(0))
	at := func(x, y float64) string {
		return strconv.FormatFloat(x, 'f', 1, 64) + " " + strconv.FormatFloat(y, 'f', 1, 64)
	}
	require.Contains(t, out, `d="M`+at(f.x(10), f.y(0))+"L")
	require.Contains(t, out, "L"+at(f.x(10), f.y(1490))+`" `)
	require.Contains(t, out, `d="M`+at(up.x(0), up.y(0))+"L")
	require.Contains(t, out, "L"+at(up.x(149.0/60), up.y(1490))+`" `)
}

func TestTrailOnPaperLeavesOutWhatNobodySees(t *testing.T) {
	var tr Trail
	for i := range 100 {
		tr.Add(components.Ticks(i), components.Vec3{float64(i) / 10}, i == 60)
	}
	s := &svg{}
	s.trail(&tr, 0, 100, 1, func(q *trailPoint) (float64, float64) { return q.place[0], 0 }, "")
	// A point a px or so, the ends of both pieces kept.
	require.Equal(t, 2, strings.Count(s.String(), "M"))
	require.Contains(t, s.String(), "L5.9 0.0M6.0 0.0L")
	require.Contains(t, s.String(), `L9.9 0.0" `)
	require.InDelta(t, 12, strings.Count(s.String(), "L"), 2)
}
