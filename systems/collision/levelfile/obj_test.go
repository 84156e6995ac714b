package levelfile

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOBJFacesOfEveryKindAreRead(t *testing.T) {
	const head = "# a level\r\nmtllib a.mtl\r\no floor\r\nv -1 0 1 1.0\nv 1 0 1\nv 1 0 -1 0.5 0.5 0.5\nv -1 0 -1\nvt 0 0\nvn 0 1 0\ng a b\ns off\nusemtl stone\n"
	want := builtQuad(t).Hash()
	for _, faces := range []string{
		"f 1 2 3 4", "f 1/1 2/1 3/1 4/1", "f 1//1 2//1 3//1 4//1\n", "f 1/1/1 2/1/1 3/1/1 4/1/1 # around",
		"f -4 -3 -2 -1", "f 1 2 3\nf 1 3 4", "f 1 2 \\\n 3 4", "f 1 2 \\\r\n3 \\\r\n 4\r\np 1\nl 1 2",
	} {
		l, r := load(t, []byte(head+faces))
		require.Equal(t, want, l.Hash(), faces)
		require.Equal(t, 2, r.Given, faces)
	}
}

func TestOBJUnitAndUpAreTheCallers(t *testing.T) {
	data := []byte("\xef\xbb\xbfv 1 2 3\nv 4 2 3\nv 1 5 3\nf 1 2 3\n")
	l, _, err := Parse("", data, Options{Unit: 1, ZUp: true})
	require.NoError(t, err)
	require.Equal(t, [][3]vec{{{1, 2, 3}, {4, 2, 3}, {1, 5, 3}}}, corners(l))
	l, _ = load(t, data)
	require.Equal(t, [][3]vec{{{100, -300, 200}, {400, -300, 200}, {100, -300, 500}}}, corners(l))
}

func TestBadOBJIsRefusedWithItsLine(t *testing.T) {
	const head = "v 0 0 0\nv 1 0 0\nv 0 0 -1\n"
	for _, c := range []struct{ text, want string }{
		{"# nothing\n", "it has no triangles"},
		{head, "it has no triangles"},
		{head + "p 1\n", "it has no triangles"},
		{"v 0 0\n", "line 1: a vertex has 2 coordinates, must have 3"},
		{"v 0 0 NaN\n", `line 1: "NaN" is no coordinate`},
		{"v 0 0 0\nv 0 Inf 0\n", `line 2: "Inf" is no coordinate`},
		{"v 0 0 1e999\n", `line 1: "1e999" is no coordinate`},
		{"v 0 0 0.0.0\n", `line 1: "0.0.0" is no coordinate`},
		{"v 0 0 2e6\n", "line 1: the vertex lies at [0 -2e+08 0] cm, must lie within 1e+08"},
		{head + "f 1 2\n", "line 4: a face has 2 corners, must have 3 or more"},
		{head + "f 1 2 4\n", "line 4: a face has vertex 4, there are 3 before it"},
		{head + "f 1 2 0\n", "line 4: a face has vertex 0, there are 3 before it"},
		{head + "f 1 2 -4\n", "line 4: a face has vertex -4, there are 3 before it"},
		{head + "f 1 2 99999999999999\n", `line 4: "99999999999999" is no corner of a face`},
		{head + "f 1 2 x/1\n", `line 4: "x/1" is no corner of a face`},
		{head + "\\\n\\\nf 1 2\nf 1 2 3", "line 4: a face has 2 corners, must have 3 or more"},
		{head + "f 1 2 3\nface 1\n", `line 5: "face" is no OBJ statement`},
		{head + "f 1 2 3\ncurv2 1\n", "line 5: free-form geometry is not supported: curv2"},
		{head + "f 1 2 2\n", "all of its 1 triangles are degenerate"},
		{head + "f 1 2 3 1 2 3\n", "line 4: the level has more than 3 triangles"},
	} {
		require.Equal(t, c.want, refusal(t, []byte(c.text), Options{MaxTriangles: 3}), c.text)
	}
}
