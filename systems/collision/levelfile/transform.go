package levelfile

import (
	"math"

	"github.com/gaitnet/gait/systems/collision"
	"github.com/qmuntal/gltf"
)

// affine is a 3x4 matrix, row by row: v becomes m[:, :3]*v + m[:, 3]. Every
// product is rounded by itself, so that no target fuses it with a sum.
type affine [3][4]float64

var identity = affine{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}

func (m *affine) apply(v collision.Vec3) (out collision.Vec3) {
	for i, r := range m {
		out[i] = float64(r[0]*v[0]) + float64(r[1]*v[1]) + float64(r[2]*v[2]) + r[3]
	}
	return out
}

// after is m after n: n is applied first.
func (m *affine) after(n *affine) (out affine) {
	for i, r := range m {
		for k := range 4 {
			out[i][k] = float64(r[0]*n[0][k]) + float64(r[1]*n[1][k]) + float64(r[2]*n[2][k])
		}
		out[i][3] += r[3]
	}
	return out
}

// mirrors tells whether the transform turns left into right.
func (m *affine) mirrors() bool {
	a, b, c := m[0], m[1], m[2]
	x := float64(b[1]*c[2]) - float64(b[2]*c[1])
	y := float64(b[2]*c[0]) - float64(b[0]*c[2])
	z := float64(b[0]*c[1]) - float64(b[1]*c[0])
	return float64(a[0]*x)+float64(a[1]*y)+float64(a[2]*z) < 0
}

// toLevel turns metres with Y up into cm with Z up.
func toLevel(v collision.Vec3) collision.Vec3 {
	return collision.Vec3{float64(100 * v[0]), 0 - float64(100*v[2]), float64(100 * v[1])} // never -0 in y
}

// unitError is how far a quaternion's squared length may be from 1: files
// round it to float32, or to a few decimals.
const unitError = 0.02

// local is a node's transform. given tells which of its arrays the file has,
// and how long they are: the library pads and cuts them.
func local(n *gltf.Node, given *rawNode, place func() string) (affine, error) {
	for _, a := range [...]struct {
		name string
		has  []float64
		want int
	}{{"matrix", given.Matrix, 16}, {"rotation", given.Rotation, 4}, {"scale", given.Scale, 3}, {"translation", given.Translation, 3}} {
		if a.has != nil && len(a.has) != a.want {
			return identity, bad(place(), "its %s has %d numbers, must have %d", a.name, len(a.has), a.want)
		}
	}
	if given.Matrix != nil {
		if given.Rotation != nil || given.Scale != nil || given.Translation != nil {
			return identity, bad(place(), "it has a matrix and rotation, scale or translation beside it")
		}
		c := &n.Matrix // column by column
		if c[3] != 0 || c[7] != 0 || c[11] != 0 || c[15] != 1 {
			return identity, bad(place(), "the last row of its matrix is %v %v %v %v, must be 0 0 0 1", c[3], c[7], c[11], c[15])
		}
		return affine{{c[0], c[4], c[8], c[12]}, {c[1], c[5], c[9], c[13]}, {c[2], c[6], c[10], c[14]}}, nil
	}
	x, y, z, w := n.Rotation[0], n.Rotation[1], n.Rotation[2], n.Rotation[3]
	xx, yy, zz, ww := float64(x*x), float64(y*y), float64(z*z), float64(w*w)
	l := xx + yy + zz + ww
	if !(math.Abs(l-1) <= unitError) {
		return identity, bad(place(), "its rotation %v is no unit quaternion", n.Rotation)
	}
	xy, xz, yz := float64(x*y), float64(x*z), float64(y*z)
	wx, wy, wz := float64(w*x), float64(w*y), float64(w*z)
	// Division by the length squared, last: a quarter turn comes out exactly.
	turn := [3][3]float64{
		{1 - (yy+zz+yy+zz)/l, (xy - wz + xy - wz) / l, (xz + wy + xz + wy) / l},
		{(xy + wz + xy + wz) / l, 1 - (xx+zz+xx+zz)/l, (yz - wx + yz - wx) / l},
		{(xz - wy + xz - wy) / l, (yz + wx + yz + wx) / l, 1 - (xx+yy+xx+yy)/l},
	}
	var m affine
	for i := range m {
		for k := range 3 {
			m[i][k] = float64(turn[i][k] * n.Scale[k])
		}
		m[i][3] = n.Translation[i]
	}
	return m, nil
}
