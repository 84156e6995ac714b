package collision

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gaitnet/gait/components/exact"
	"github.com/stretchr/testify/require"
)

// oracleDir finds the measured truths beside the repository; the tests that
// need them are left out where they are not.
func oracleDir(t testing.TB) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, "/", dir)
		dir = filepath.Dir(dir)
	}
	dir = filepath.Join(dir, "..", "shared", "data", "oracle")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no oracle beside the repository")
	}
	return dir
}

func unzip(t testing.TB, name string) []byte {
	f, err := os.Open(filepath.Join(oracleDir(t), name))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	return data
}

func records[T any](t testing.TB, name string, header int) []T {
	data := unzip(t, name)
	var one T
	n := (len(data) - header) / binary.Size(one)
	out := make([]T, n)
	require.NoError(t, binary.Read(bytes.NewReader(data[header:]), binary.LittleEndian, out))
	return out
}

type meshVec [3]float32

// gait turns metres, Y up, into centimetres, Z up.
func (v meshVec) gait() Vec3 {
	return Vec3{100 * float64(v[0]), -100 * float64(v[2]), 100 * float64(v[1])}
}

func (v meshVec) dir() Vec3 { return Vec3{float64(v[0]), -float64(v[2]), float64(v[1])} }

var (
	oracleOnce sync.Once
	oracleL    *Level
)

func loadOracle(t testing.TB) *Level {
	data := unzip(t, "level.tmsh.gz")
	oracleOnce.Do(func() {
		require.Equal(t, "TMSH", string(data[:4]))
		nv := binary.LittleEndian.Uint32(data[8:])
		nt := binary.LittleEndian.Uint32(data[12:])
		verts := make([]meshVec, nv)
		tris := make([][3]uint32, nt)
		r := bytes.NewReader(data[16:])
		require.NoError(t, binary.Read(r, binary.LittleEndian, verts))
		require.NoError(t, binary.Read(r, binary.LittleEndian, tris))
		b := NewBuilder()
		for _, f := range tris {
			b.Triangle(verts[f[0]].gait(), verts[f[1]].gait(), verts[f[2]].gait(), 0)
		}
		l, err := b.Build()
		require.NoError(t, err)
		oracleL = l
	})
	require.NotNil(t, oracleL)
	return oracleL
}

// stride is every tenth record, or all of them with GAIT_ORACLE=all.
func stride() int {
	if os.Getenv("GAIT_ORACLE") == "all" {
		return 1
	}
	return 10
}

const oracleRadius, oracleHalf = float64(float32(0.35)) * 100, (float64(float32(0.35)) + float64(float32(0.55))) * 100

type sweepRecord struct {
	P, D     meshVec
	Fraction float32
	N, Point meshVec
	Depth    float32
	Tri      int32
	Flags    uint32
}

type sweepTruth struct {
	Fraction float64
	N        meshVec
	Depth    float32
	Tri      uint32
	Flags    uint32
}

func TestSweepsAgreeWithTheOracle(t *testing.T) {
	l := loadOracle(t)
	recs := records[sweepRecord](t, "sweeps.bin.gz", 20)
	truth := records[sweepTruth](t, "sweeps_truth.bin.gz", 12)
	require.Len(t, truth, len(recs))
	step := stride()
	asked, wrongHit, far, normals, compared, overlaps, wrongOverlap, faults := 0, 0, 0, 0, 0, 0, 0, 0
	worst := 0.0
	for i := 0; i < len(recs); i += step {
		// Prime to the eight kinds, so that each is met in a sample too.
		if step > 1 {
			i += i / step % 8 % (step - 1)
		}
		if i >= len(recs) {
			break
		}
		r, want := &recs[i], &truth[i]
		q := Query{Start: r.P.gait(), Delta: r.D.gait(), Radius: oracleRadius, HalfHeight: oracleHalf}
		got := l.Sweep(&q)
		if want.Flags&4 != 0 || (want.Flags&1 != 0 && want.Fraction == 0) {
			if math.Abs(float64(want.Depth)-oracleRadius/100) < 1e-6 {
				continue
			}
			overlaps++
			// A start inside blocks only the way further in.
			in := exact.Dot(q.Delta, want.N.dir()) < 0
			if in && !(got && q.Hit.StartPenetrating && math.Abs(q.Hit.Depth-100*float64(want.Depth)) < 1e-3) {
				wrongOverlap++
				if wrongOverlap < 6 {
					t.Logf("overlap %d: truth %+v got %v %+v", i, *want, got, q.Hit)
				}
			}
			continue
		}
		asked++
		if got != (want.Flags&1 != 0) {
			wrongHit++
			if wrongHit < 6 {
				t.Logf("hit %d: kind %d truth %+v got %v %+v", i, i%8, *want, got, q.Hit)
			}
			continue
		}
		if !got {
			continue
		}
		compared++
		off := math.Abs(q.Hit.Fraction-want.Fraction) * exact.Len(q.Delta)
		cosine := exact.Dot(q.Hit.Normal, want.N.dir())
		graze := -exact.Dot(q.Delta, q.Hit.Normal) < 1e-3*exact.Len(q.Delta)
		if !graze {
			worst = max(worst, off)
		}
		if off > 1e-3 && !graze {
			far++
			if far < 6 {
				t.Logf("far %d: kind %d %v cm truth %+v got %+v", i, i%8, off, *want, q.Hit)
			}
		}
		if cosine < 0.99985 {
			normals++
			if normals < 6 {
				t.Logf("normal %d: kind %d truth %+v got %+v", i, i%8, *want, q.Hit)
			}
		}
		if math.Abs(exact.Len(q.Hit.FaceNormal)-1) > 1e-9 {
			faults++
		}
	}
	t.Logf("%d asked, %d compared, %d wrong hits, %d far, worst %.3g cm, %d normals, %d overlapping starts (%d wrong)",
		asked, compared, wrongHit, far, worst, normals, overlaps, wrongOverlap)
	require.LessOrEqual(t, wrongHit, asked/10000, "hit or miss")
	require.Zero(t, far, "contacts farther than 1e-5 m from the truth")
	require.LessOrEqual(t, normals, compared/1000, "normals off by a degree (ties)")
	require.LessOrEqual(t, wrongOverlap, overlaps/100, "starts inside")
	require.Zero(t, faults, "face normals that are not unit vectors")
}

type overlapRecord struct {
	P        meshVec
	Depth    float32
	N, Point meshVec
	Tri      int32
	Hits     uint32
}

type overlapTruth struct {
	Depth float32
	N     meshVec
	Tri   int32
}

func TestOverlapsAgreeWithTheOracle(t *testing.T) {
	l := loadOracle(t)
	recs := records[overlapRecord](t, "overlaps.bin.gz", 20)
	truth := records[overlapTruth](t, "overlaps_truth.bin.gz", 12)
	require.Len(t, truth, len(recs))
	asked, wrong, depths, normals := 0, 0, 0, 0
	for i := 0; i < len(recs); i += stride() {
		want := &truth[i]
		if math.Abs(float64(want.Depth)-oracleRadius/100) < 1e-6 || math.Abs(float64(want.Depth)) < 1e-7 {
			continue
		}
		q := Query{Start: recs[i].P.gait(), Radius: oracleRadius, HalfHeight: oracleHalf}
		asked++
		if l.Overlap(&q) != (want.Depth > 0) {
			wrong++
			if wrong < 6 {
				t.Logf("overlap %d: truth %+v got %v", i, *want, q.Planes[:q.NumPlanes])
			}
			continue
		}
		if q.NumPlanes == 0 {
			continue
		}
		best := q.Planes[0]
		if math.Abs(best.Depth-100*float64(want.Depth)) > 1e-3 {
			depths++
			if depths < 6 {
				t.Logf("depth %d: truth %+v got %v", i, *want, q.Planes[:q.NumPlanes])
			}
		}
		if exact.Dot(best.Normal, want.N.dir()) < 0.99985 {
			normals++
		}
	}
	t.Logf("%d asked, %d wrong, %d depths, %d normals", asked, wrong, depths, normals)
	require.Zero(t, wrong)
	require.Zero(t, depths)
	require.LessOrEqual(t, normals, asked/200, "ties")
}

type rayRecord struct {
	P, D     meshVec
	Fraction float32
	N        meshVec
	Tri      int32
}

func TestRaysAgreeWithTheOracle(t *testing.T) {
	l := loadOracle(t)
	recs := records[rayRecord](t, "rays.bin.gz", 20)
	asked, wrong, far := 0, 0, 0
	for i := 0; i < len(recs); i += stride() {
		r := &recs[i]
		q := Query{Start: r.P.gait(), Delta: r.D.gait()}
		asked++
		got := l.Ray(&q)
		if got != (r.Tri >= 0) {
			wrong++
			continue
		}
		if got && math.Abs(q.Hit.Fraction-float64(r.Fraction))*exact.Len(q.Delta) > 0.2 {
			far++
		}
	}
	t.Logf("%d asked, %d wrong, %d far", asked, wrong, far)
	require.LessOrEqual(t, wrong, asked/5000)
	require.LessOrEqual(t, far, asked/5000)
}
