package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/gaitnet/gait/systems/collision"
	"github.com/gaitnet/gait/systems/collision/levelfile"
	"github.com/stretchr/testify/require"
)

// floorOBJ is a level square of half metres with its middle at (x, y).
func floorOBJ(x, y, half, up float64) string {
	var b strings.Builder
	for _, c := range [4][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
		fmt.Fprintf(&b, "v %g %g %g\n", x+c[0]*half, up, -(y + c[1]*half))
	}
	return b.String() + "f -4 -3 -2 -1\n"
}

// hallGLTF is a floor of 60 x 60 m, 2 m up, with two spawn points: a .gltf
// whose buffer is the uri.
func hallGLTF(uri string) string {
	return `{"asset":{"version":"2.0"},"buffers":[{"uri":"` + uri + `","byteLength":48}],
"bufferViews":[{"buffer":0,"byteLength":48}],"accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0},"mode":6}]}],
"nodes":[{"mesh":0,"scale":[30,1,30],"translation":[0,2,0]},
{"translation":[1,2,0],"extras":{"gait":{"spawn":true}}},{"translation":[3,2,4],"extras":{"gait":{"spawn":true}}}]}`
}

// hallBuffer is a square around the middle, as base64.
const hallBuffer = "data:application/octet-stream;base64,AACAvwAAAAAAAIA/AACAPwAAAAAAAIA/AACAPwAAAAAAAIC/AACAvwAAAAAAAIC/"

func TestLevelFlagGivesEveryNodeTheFilesLevel(t *testing.T) {
	c := good(t, "-level", file(t, "hall.gltf", hallGLTF(hallBuffer)))
	require.Equal(t, []components.Vec3{{100, 0, 200}, {300, -400, 200}}, c.spawns())
	lo, hi := c.ground().Bounds()
	require.Equal(t, []components.Vec3{{-3000, -3000, 200}, {3000, 3000, 200}}, []components.Vec3{lo, hi})
	k := newKeys(9, false)
	require.Same(t, c.Level.level, c.serverOptions(k).Level)
	require.Same(t, c.Level.level, c.clientOptions(0, k).Level)
	require.Equal(t, "hall.gltf", c.Level.name)
	without := good(t)
	require.Same(t, collision.Arena(), without.ground())
	require.Equal(t, collision.Arena().Spawns(), without.spawns())
	var out bytes.Buffer
	_, code := parse([]string{"-h"}, &out)
	require.Equal(t, exitOK, code)
	require.Regexp(t, `(?m)^  -level FILE `, out.String())
}

func TestPlacesToStandAreFoundWhereTheFileHasNone(t *testing.T) {
	p := components.DefaultProfile()
	find := func(obj string) ([]components.Vec3, error) {
		f, err := parseLevel([]byte(obj), levelfile.Options{}, &p)
		if err != nil {
			return nil, err
		}
		return f.spawns, nil
	}
	got, err := find(floorOBJ(50, 20, 30, 3))
	require.NoError(t, err)
	require.Len(t, got, 16)
	require.Equal(t, components.Vec3{4700, 1700, 300}, got[0], "around the middle, on the floor")

	got, err = find(floorOBJ(-30, 0, 5, 0) + floorOBJ(30, 0, 5, 0))
	require.NoError(t, err, "there is a hole in the middle")
	require.Len(t, got, 16)
	for _, at := range got {
		require.InDelta(t, 2600, math.Abs(at[0]), 101, "near the hole")
	}

	got, err = find(floorOBJ(7, 0, 0.5, 0))
	require.NoError(t, err, "it is small")
	for _, at := range got {
		require.InDelta(t, 700, at[0], 50)
	}

	// Who looks from above sees the ceiling first, and can stand on it.
	got, err = find(floorOBJ(0, 0, 30, 0) + floorOBJ(0, 0, 10, 1))
	require.NoError(t, err)
	require.Equal(t, 100.0, got[0][2], "the first ground from above")

	got, err = find(floorOBJ(0, 0, 30, 0) + "v 1 0 -30\nv 1 0 30\nv 1 2 30\nv 1 2 -30\nf -4 -3 -2 -1\n")
	require.NoError(t, err)
	require.Len(t, got, 12, "four of them would stand in a wall")

	_, err = find("v 0 0 0\nv 10 0 0\nv 10 10 0\nf 1 2 3\n")
	require.EqualError(t, err, "it has no spawn point, and no place to stand was found around its middle")
}

func TestBadLevelIsOneLineAndExit2(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.glb")
	_, notThere := os.Open(missing)
	refused := func(args ...string) string {
		var out, errs bytes.Buffer
		require.Equal(t, exitUsage, arena(args, &out, &errs, nil))
		require.Empty(t, out.String())
		require.Equal(t, 1, strings.Count(errs.String(), "\n"))
		return errs.String()
	}
	require.Equal(t, "arena: -level: "+notThere.Error()+"\n", refused("-level", missing))
	require.Equal(t, "arena: -level: a file name is missing\n", refused("-level", ""))
	name := file(t, "a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n")
	require.Equal(t, "arena: -level: "+name+": line 3: a face has vertex 3, there are 2 before it\n", refused("-level", name))
	name = file(t, "a.gltf", hallGLTF("../outside.bin"))
	require.Contains(t, refused("-level", name), "leads out of the level's directory")
	require.Equal(t, "arena: -replay and -level exclude each other\n", refused("-replay", "x", "-level", name))
}

func TestLevelWithItsBuffersElsewhereIsPlayedButNotRecorded(t *testing.T) {
	name := file(t, "a.gltf", hallGLTF("a.bin"))
	embedded := good(t, "-level", file(t, "b.gltf", hallGLTF(hallBuffer)))
	square := []byte("\x00\x00\x80\xbf\x00\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x80\x3f\x00\x00\x00\x00\x00\x00\x80\x3f" +
		"\x00\x00\x80\x3f\x00\x00\x00\x00\x00\x00\x80\xbf\x00\x00\x80\xbf\x00\x00\x00\x00\x00\x00\x80\xbf")
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(name), "a.bin"), square, 0o644))
	c := good(t, "-level", name)
	require.Equal(t, embedded.ground().Hash(), c.ground().Hash())
	_, err := parseFlags([]string{"-level", name, "-record", filepath.Join(t.TempDir(), "r")})
	require.EqualError(t, err, "-record: "+name+" has its buffers in other files, such as a.bin, which a recording does not keep; a .glb has them inside")
}

func TestRunOnALevelFileIsReplayedWithoutTheFile(t *testing.T) {
	name := file(t, "hall.gltf", hallGLTF(hallBuffer))
	rep, flags := recorded(t, "-duration", "1200ms", "-clients", "2", "-rtt", "20ms", "-loss", "0", "-level", name)
	require.Positive(t, rep.Moves)
	require.Zero(t, rep.ProxyEndErrorCm)
	require.NoError(t, os.Remove(name))
	again, played, err := replay(flags)
	require.NoError(t, err)
	require.Equal(t, rep.StateHash, again.StateHash)
	require.NotEqual(t, collision.Arena().Hash(), played.server.node.Level.Hash())
	for _, track := range played.server.tracks {
		require.InDelta(t, 200+92, track.last[2], 100, "they stand 2 m up")
	}

	level := func(change func(i int)) {
		for i, e := range flags.Replay.Records {
			if e.Kind == transport.RecordTagged && e.Tag == tagLevel {
				change(i)
				return
			}
		}
	}
	var kept []byte
	level(func(i int) {
		kept = flags.Replay.Records[i].Data
		flags.Replay.Records[i].Data = bytes.Replace(kept, []byte("[30,1,30]"), []byte("[30,1,31]"), 1)
	})
	_, _, err = replay(flags)
	require.ErrorContains(t, err, "the level's hash is")
	level(func(i int) { flags.Replay.Records[i].Data = kept[:50] })
	_, _, err = replay(flags)
	require.ErrorContains(t, err, "the level: JSON, line 1")
	level(func(i int) { flags.Replay.Records[i].Tag = 999 })
	_, _, err = replay(flags)
	require.ErrorContains(t, err, "part 0 of the level is missing")
}
