package collision

import (
	"math"

	"github.com/gaitnet/gait/components/exact"
)

// slack widens the boxes against the rounding of the test itself, cm; beyond
// it the part of a coordinate that rounding can reach.
const slack = 1e-3

// visit is a child to be looked at, with the fraction at which the way
// reaches its box.
type visit struct {
	t     float64
	child int32
	count uint8
}

// lane is the way of a box (the capsule's) made ready for the slab test.
type lane struct {
	lo, hi, inv [3]float64 // start with the reach added and taken off
}

func (l *lane) init(p, d Vec3, r, h float64) {
	for i := range 3 {
		reach := r + slack + float64(1e-12*math.Abs(p[i]))
		if i == 2 {
			reach += h
		}
		l.lo[i], l.hi[i] = p[i]+reach, p[i]-reach
		// A finite stand-in for 1/0: the product with 0 stays a number.
		l.inv[i] = 1e200
		if math.Abs(d[i]) > 1e-200 {
			l.inv[i] = 1 / d[i]
		}
	}
}

// reach is the fraction at which the lane enters child i of nd; false if not
// before most.
func (l *lane) reach(nd *node, i int, most float64) (float64, bool) {
	t0, t1 := 0.0, most
	for x := range 3 {
		a := (float64(nd.lo[x][i]) - l.lo[x]) * l.inv[x]
		b := (float64(nd.hi[x][i]) - l.hi[x]) * l.inv[x]
		if a > b {
			a, b = b, a
		}
		if a > t0 {
			t0 = a
		}
		if b < t1 {
			t1 = b
		}
	}
	return t0, t0 <= t1
}

// walk visits the leaves along the lane, near ones first, and hands their
// triangles on. A box that begins behind the best contact is left out; one
// that begins at it is not, so ties are always seen.
func (l *Level) walk(w *work, ray bool) {
	if len(l.tree.nodes) == 0 {
		return
	}
	var ln lane
	ln.init(w.p, w.d, w.r, w.h)
	var stack [stackSize]visit
	stack[0] = visit{}
	for top := 1; top > 0; {
		top--
		v := stack[top]
		if v.t > w.t {
			continue
		}
		if v.count > 0 {
			tris := l.mesh.tris[v.child : int(v.child)+int(v.count)]
			for i := range tris {
				if ray {
					l.mesh.rayTri(w, &tris[i], 0)
				} else {
					l.mesh.sweepTri(w, &tris[i], 0)
				}
			}
			continue
		}
		nd := &l.tree.nodes[v.child]
		from := top
		for i := range int(nd.n) {
			t, ok := ln.reach(nd, i, w.t)
			if !ok {
				continue
			}
			// Sorted in, the nearest on top.
			at := top
			for at > from && stack[at-1].t < t {
				stack[at] = stack[at-1]
				at--
			}
			stack[at] = visit{t, nd.child[i], nd.count[i]}
			top++
		}
	}
}

func (l *Level) sweep(w *work) {
	if w.len > leastMove {
		l.walk(w, false)
	}
}

func (l *Level) ray(w *work) {
	if w.len > leastMove {
		l.walk(w, true)
	}
}

func (l *Level) overlap(w *work, q *Query) {
	if len(l.tree.nodes) == 0 {
		return
	}
	reach := Vec3{w.r + slack, w.r + slack, w.r + w.h + slack}
	lo, hi := exact.Sub(w.p, reach), exact.Add(w.p, reach)
	var stack [stackSize]int32
	for top := 1; top > 0; {
		top--
		nd := &l.tree.nodes[stack[top]]
	child:
		for i := range int(nd.n) {
			for x := range 3 {
				if float64(nd.lo[x][i]) > hi[x] || float64(nd.hi[x][i]) < lo[x] {
					continue child
				}
			}
			if nd.count[i] == 0 {
				stack[top] = nd.child[i]
				top++
				continue
			}
			tris := l.mesh.tris[nd.child[i] : int(nd.child[i])+int(nd.count[i])]
			for k := range tris {
				l.mesh.overlapTri(w, &tris[k], 0, 0, q)
			}
		}
	}
}
