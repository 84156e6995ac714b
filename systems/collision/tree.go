package collision

import (
	"math"
	"slices"
)

const (
	leafSize = 4
	bins     = 16
	// Past this depth splits are at the median, which bounds the stack.
	sahDepth  = 16
	stackSize = 128
)

// node holds the boxes of up to four children, side by side for the test. The
// boxes are rounded outwards to float32: they only choose what is looked at.
type node struct {
	lo, hi [3][4]float32
	// child is a node, or the first triangle where count is not 0.
	child [4]int32
	count [4]uint8
	n     uint8
}

// tree is a bounding volume hierarchy over the triangles of a level, built as
// a binary one by the surface area heuristic and collapsed to four children.
type tree struct {
	nodes []node
}

// item is a triangle while the tree is built.
type item struct {
	lo, hi, mid [3]float64
	slot        uint32
}

type twoNode struct {
	lo, hi      [3]float64
	left, right int32 // children, or -1
	first, n    int32
}

type treeBuilder struct {
	items []item
	bin   []twoNode
}

// build orders the mesh's triangles by leaf and makes the nodes.
func (tr *tree) build(m *mesh) {
	if len(m.tris) == 0 {
		return
	}
	b := treeBuilder{items: make([]item, len(m.tris))}
	for i := range m.tris {
		it := &b.items[i]
		it.slot = uint32(i)
		v := &m.tris[i].v
		for k := range 3 {
			it.lo[k], it.hi[k] = min(v[0][k], v[1][k], v[2][k]), max(v[0][k], v[1][k], v[2][k])
			it.mid[k] = (it.lo[k] + it.hi[k]) / 2
		}
	}
	b.split(0, len(b.items), 0)
	ordered := make([]tri, len(m.tris))
	for i, it := range b.items {
		ordered[i] = m.tris[it.slot]
		m.slot[ordered[i].id] = uint32(i)
	}
	m.tris = ordered
	tr.collapse(&b, 0)
}

func grow(lo, hi *[3]float64, it *item) {
	for k := range 3 {
		lo[k], hi[k] = min(lo[k], it.lo[k]), max(hi[k], it.hi[k])
	}
}

func emptyBox() (lo, hi [3]float64) {
	for k := range 3 {
		lo[k], hi[k] = math.Inf(1), math.Inf(-1)
	}
	return
}

func area(lo, hi [3]float64) float64 {
	x, y, z := hi[0]-lo[0], hi[1]-lo[1], hi[2]-lo[2]
	return float64(x*y) + float64(y*z) + float64(z*x)
}

// split makes the binary node of items[from:to] and returns its index.
func (b *treeBuilder) split(from, to, depth int) int32 {
	items := b.items[from:to]
	nd := twoNode{left: -1, right: -1, first: int32(from), n: int32(len(items))}
	nd.lo, nd.hi = emptyBox()
	midLo, midHi := emptyBox()
	for i := range items {
		grow(&nd.lo, &nd.hi, &items[i])
		for k := range 3 {
			midLo[k], midHi[k] = min(midLo[k], items[i].mid[k]), max(midHi[k], items[i].mid[k])
		}
	}
	at := int32(len(b.bin))
	b.bin = append(b.bin, nd)
	if len(items) <= leafSize {
		return at
	}
	cut := 0
	if depth < sahDepth {
		cut = cutSAH(items, midLo, midHi)
	}
	if cut == 0 {
		axis := 0
		for k := range 3 {
			if midHi[k]-midLo[k] > midHi[axis]-midLo[axis] {
				axis = k
			}
		}
		slices.SortFunc(items, func(x, y item) int {
			if x.mid[axis] != y.mid[axis] {
				if x.mid[axis] < y.mid[axis] {
					return -1
				}
				return 1
			}
			return int(x.slot) - int(y.slot)
		})
		cut = len(items) / 2
	}
	left := b.split(from, from+cut, depth+1)
	right := b.split(from+cut, to, depth+1)
	b.bin[at].left, b.bin[at].right = left, right
	return at
}

// cutSAH parts the items at the cheapest of the bins' borders; 0 if their
// middles coincide.
func cutSAH(items []item, midLo, midHi [3]float64) int {
	bestCost, bestAxis, bestBin := math.Inf(1), -1, 0
	for axis := range 3 {
		extent := midHi[axis] - midLo[axis]
		if !(extent > 0) {
			continue
		}
		var count [bins]int
		var lo, hi [bins][3]float64
		for i := range bins {
			lo[i], hi[i] = emptyBox()
		}
		for i := range items {
			k := binOf(items[i].mid[axis], midLo[axis], extent)
			count[k]++
			grow(&lo[k], &hi[k], &items[i])
		}
		var rightCost [bins]float64
		l, h := emptyBox()
		n := 0
		for i := bins - 1; i > 0; i-- {
			if n += count[i]; count[i] > 0 {
				grow(&l, &h, &item{lo: lo[i], hi: hi[i]})
			}
			if n > 0 {
				rightCost[i] = float64(area(l, h) * float64(n))
			}
		}
		l, h = emptyBox()
		n = 0
		for i := 0; i < bins-1; i++ {
			if n += count[i]; count[i] > 0 {
				grow(&l, &h, &item{lo: lo[i], hi: hi[i]})
			}
			if n == 0 || n == len(items) {
				continue
			}
			if cost := float64(area(l, h)*float64(n)) + rightCost[i+1]; cost < bestCost {
				bestCost, bestAxis, bestBin = cost, axis, i
			}
		}
	}
	if bestAxis < 0 {
		return 0
	}
	// Stable, so that the tree is the same on every target.
	right := make([]item, 0, len(items)/2)
	cut := 0
	for _, it := range items {
		if binOf(it.mid[bestAxis], midLo[bestAxis], midHi[bestAxis]-midLo[bestAxis]) <= bestBin {
			items[cut] = it
			cut++
		} else {
			right = append(right, it)
		}
	}
	copy(items[cut:], right)
	return cut
}

func binOf(mid, lo, extent float64) int {
	return min(max(int((mid-lo)/extent*bins), 0), bins-1)
}

// collapse makes the wide node of a binary one and returns its index.
func (tr *tree) collapse(b *treeBuilder, at int32) int32 {
	kids := make([]int32, 1, 4)
	kids[0] = at
	for len(kids) < 4 {
		// Open the largest inner child.
		open, most := -1, -1.0
		for i, k := range kids {
			if nd := &b.bin[k]; nd.left >= 0 {
				if a := area(nd.lo, nd.hi); a > most {
					open, most = i, a
				}
			}
		}
		if open < 0 {
			break
		}
		nd := &b.bin[kids[open]]
		kids[open] = nd.left
		kids = append(kids, nd.right)
	}
	index := int32(len(tr.nodes))
	tr.nodes = append(tr.nodes, node{n: uint8(len(kids))})
	for i, k := range kids {
		nd := &b.bin[k]
		child, count := nd.first, uint8(nd.n)
		if nd.left >= 0 {
			child, count = tr.collapse(b, k), 0
		}
		w := &tr.nodes[index]
		w.child[i], w.count[i] = child, count
		for x := range 3 {
			w.lo[x][i], w.hi[x][i] = down32(nd.lo[x]), up32(nd.hi[x])
		}
	}
	return index
}

// down32 and up32 round to float32 outwards.
func down32(f float64) float32 {
	r := float32(f)
	if float64(r) > f {
		r = math.Nextafter32(r, float32(math.Inf(-1)))
	}
	return r
}

func up32(f float64) float32 {
	r := float32(f)
	if float64(r) < f {
		r = math.Nextafter32(r, float32(math.Inf(1)))
	}
	return r
}
