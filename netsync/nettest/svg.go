package nettest

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// The picture's measures, px.
const (
	svgWidth, svgHeight = 1440, 830
	panelTop, panelH    = 150.0, 580.0
	leftX, leftW        = 80.0, 580.0
	rightX, rightW      = 760.0, 650.0
)

// trailStyle is how a trail is drawn. The colours can be told apart by people
// who do not see all of them (Okabe and Ito's set).
type trailStyle struct {
	name, colour, dash string
	width, opacity     float64
}

var trailStyles = [4]trailStyle{
	{"server", "#e69f00", "", 7, 0.55},
	{"owner, predicted", "#0072b2", "", 2, 1},
	{"onlooker's capsule", "#9a5fb5", "1 3.5", 2, 1},
	{"onlooker's mesh", "#009e73", "", 2.4, 1},
}

const correctionColour = "#d62728"

// WriteSVG draws the picture: on the left the whole way from above, on the
// right one coordinate over time for the seconds around the largest correction,
// or without one around the sharpest turn.
func (p *Picture) WriteSVG(w io.Writer) error {
	s := &svg{}
	s.f(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="14" fill="#333">`+"\n",
		svgWidth, svgHeight, svgWidth, svgHeight)
	s.f(`<rect width="%d" height="%d" fill="#fff"/>`+"\n", svgWidth, svgHeight)
	s.text(leftX, 40, `font-size="23" font-weight="bold" fill="#111"`, p.Title)
	s.text(leftX, 65, `font-size="15" fill="#555"`, p.Subtitle)
	p.legend(s)
	if from, to, ok := p.span(); ok {
		z := p.zoom()
		p.fromAbove(s, z, from, to)
		p.overTime(s, z)
	} else {
		s.text(svgWidth/2, svgHeight/2, `font-size="18" text-anchor="middle" fill="#777"`, "Nothing was recorded.")
	}
	s.f("</svg>\n")
	_, err := io.WriteString(w, s.String())
	return err
}

func (p *Picture) legend(s *svg) {
	x := leftX
	for i := range trailStyles {
		st := &trailStyles[i]
		s.f(`<line x1="%.1f" y1="94" x2="%.1f" y2="94" %s/>`+"\n", x, x+36, st.stroke(1))
		s.text(x+44, 99, `font-size="15"`, st.name)
		x += 70 + 7.6*float64(len(st.name))
	}
	s.cross(x+12, 94, 6, 2.4)
	s.text(x+28, 99, `font-size="15"`, fmt.Sprintf("corrections (%d)", p.correctionsSeen))
}

func (st *trailStyle) stroke(faint float64) string {
	dash := ""
	if st.dash != "" && faint == 1 {
		dash = ` stroke-dasharray="` + st.dash + `"`
	}
	return fmt.Sprintf(`fill="none" stroke="%s" stroke-width="%.3g" stroke-opacity="%.3g" stroke-linejoin="round" stroke-linecap="round"%s`,
		st.colour, st.width, st.opacity*faint, dash)
}

// fromAbove draws x to the right and y down, as a map of a left-handed world
// with z up: to the right of x is y.
func (p *Picture) fromAbove(s *svg, z zoom, from, to components.Ticks) {
	var box bounds
	for _, t := range p.trails() {
		for i := range t.points {
			box.add(t.points[i].place[0], t.points[i].place[1])
		}
	}
	// The level as far as it lies around the way: a floor may go on for miles.
	near := box.grown(0.8*math.Max(box.x1-box.x0, box.y1-box.y0) + 300)
	for _, l := range p.Level {
		if near.has(l[0], l[1]) && near.has(l[2], l[3]) {
			box.add(l[0], l[1])
			box.add(l[2], l[3])
		}
	}
	cx, cy := (box.x0+box.x1)/2, (box.y0+box.y1)/2
	half := math.Max(200, math.Max(box.x1-box.x0, box.y1-box.y0)/2) * 1.06
	f := frame{leftX, panelTop, leftW, panelH, cx - half, cx + half, cy - half, cy + half}
	f.open(s, "above", fmt.Sprintf("From above, %.1f to %.1f s", from.Seconds(), to.Seconds()),
		"x, cm", "y, cm")
	for _, l := range p.Level {
		if l[0]-l[0]+l[1]-l[1]+l[2]-l[2]+l[3]-l[3] != 0 {
			continue
		}
		s.f(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#8a8a8a" stroke-width="1.6"/>`+"\n", f.x(l[0]), f.y(l[1]), f.x(l[2]), f.y(l[3]))
	}
	at := func(q *trailPoint) (float64, float64) { return f.x(q.place[0]), f.y(q.place[1]) }
	// The whole way lightly, then the stretch of the other panel.
	long := to-from > 2*zoomSpan
	for i, t := range p.trails() {
		faint := 1.0
		if long {
			faint = 0.3
		}
		s.trail(t, 0, len(t.points), 0.7, at, trailStyles[i].stroke(faint))
	}
	if long {
		for i, t := range p.trails() {
			s.trail(t, t.from(z.from), t.from(z.to+1), 0.4, at, trailStyles[i].stroke(1))
		}
	}
	size, width := 6.0, 2.2
	if len(p.corrections) > 40 {
		size, width = 3, 1.2
	}
	for i := range p.corrections {
		c := &p.corrections[i]
		s.f(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="1" stroke-opacity="0.6"/>`+"\n",
			f.x(c.Wrong[0]), f.y(c.Wrong[1]), f.x(c.Right[0]), f.y(c.Right[1]), correctionColour)
		s.cross(f.x(c.Right[0]), f.y(c.Right[1]), size, width)
	}
	for _, t := range []*Trail{&p.Owner, &p.Server} {
		if len(t.points) > 0 {
			x, y := at(&t.points[0])
			s.f(`<circle cx="%.1f" cy="%.1f" r="5" fill="#fff" stroke="#111" stroke-width="1.8"/>`+"\n", x, y)
			s.halo(x+9, y-8, `font-size="13"`, "start")
			break
		}
	}
	f.close(s)
	line := 0
	if len(p.corrections) > 0 {
		line++
		s.note(leftX, 0, "Cross: where the server put the owner, with a thin line from where it was.")
	}
	if long {
		s.note(leftX, line, "Strong lines: the seconds shown on the right.")
	}
}

func (p *Picture) overTime(s *svg, z zoom) {
	var box bounds
	for _, t := range p.trails() {
		for i := t.from(z.from); i < len(t.points) && t.points[i].at <= z.to; i++ {
			box.add(0, t.points[i].place[z.axis])
		}
	}
	var inside []*components.CorrectionRecord
	for i := range p.corrections {
		if c := &p.corrections[i]; c.Time >= z.from && c.Time <= z.to {
			inside = append(inside, c)
			box.add(0, c.Wrong[z.axis])
		}
	}
	mid, half := (box.y0+box.y1)/2, math.Max(30, (box.y1-box.y0)/2*1.12)
	name := [2]string{"x", "y"}[z.axis]
	// y1 first: larger is further up.
	f := frame{rightX, panelTop, rightW, panelH, z.from.Seconds(), z.to.Seconds(), mid + half, mid - half}
	f.open(s, "time", fmt.Sprintf("%s over time, %s", name, z.why), "time, s", name+", cm")
	at := func(q *trailPoint) (float64, float64) { return f.x(q.at.Seconds()), f.y(q.place[z.axis]) }
	for _, c := range inside {
		x := f.x(c.Time.Seconds())
		s.f(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="1" stroke-dasharray="5 4" stroke-opacity="%s"/>`+"\n",
			x, f.top, x, f.top+f.h, correctionColour, opacityOf(len(inside)))
	}
	for i, t := range p.trails() {
		// One point more on either side, so that lines reach the border.
		lo, hi := max(0, t.from(z.from)-1), min(len(t.points), t.from(z.to+1)+1)
		s.trail(t, lo, hi, 0, at, trailStyles[i].stroke(1))
		if i == 0 && hi-lo < 200 {
			for j := lo; j < hi; j++ {
				x, y := at(&t.points[j])
				s.f(`<circle cx="%.1f" cy="%.1f" r="2.1" fill="#b57c00"/>`+"\n", x, y)
			}
		}
	}
	p.showLags(s, z, &f)
	size := 6.5
	if len(inside) > 12 {
		size = 3.5
	}
	for _, c := range inside {
		x := f.x(c.Time.Seconds())
		s.f(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="2" stroke-opacity="%s"/>`+"\n",
			x, f.y(c.Wrong[z.axis]), x, f.y(c.Right[z.axis]), correctionColour, opacityOf(len(inside)))
		s.cross(x, f.y(c.Right[z.axis]), size, size/2.8)
	}
	if z.mark >= 0 {
		c := &p.corrections[z.mark]
		x, anchor := f.x(c.Time.Seconds())+8, "start"
		if x > f.left+f.w*0.7 {
			x, anchor = x-16, "end"
		}
		s.halo(x, f.top+20, `font-size="13.5" fill="`+correctionColour+`" text-anchor="`+anchor+`"`,
			fmt.Sprintf("correction: %s, %.1f cm", c.Reason, exact.Dist(c.Wrong, c.Right)))
	}
	f.close(s)
	s.note(rightX, 0, "Dots on the server's line: its ticks.")
	if len(inside) > 0 {
		s.note(rightX, 1, "Dashed red: the frame in which the owner applied a correction.")
	}
}

// showLags draws how much later the server and the onlooker's mesh were at one
// place.
func (p *Picture) showLags(s *svg, z zoom, f *frame) {
	place, when, ok := p.lags(z)
	if !ok {
		return
	}
	y := f.y(place)
	x := [3]float64{f.x(when[0].Seconds()), f.x(when[1].Seconds()), f.x(when[2].Seconds())}
	s.f(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#111" stroke-width="1.3"/>`+"\n", x[0], y, x[2], y)
	for _, v := range x {
		s.f(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#111" stroke-width="1.6"/>`+"\n", v, y-6, v, y+6)
	}
	label := fmt.Sprintf("owner → server %.0f ms, server → mesh %.0f ms",
		(when[1]-when[0]).Seconds()*1000, (when[2]-when[1]).Seconds()*1000)
	// Beside the marks, where there is more room.
	tx, anchor := x[2]+10, "start"
	if tx > f.left+f.w-310 {
		tx, anchor = x[0]-10, "end"
	}
	s.halo(tx, y+4.5, `font-size="13.5" fill="#111" text-anchor="`+anchor+`"`, label)
}

func opacityOf(n int) string {
	if n > 12 {
		return "0.25"
	}
	return "0.8"
}

// bounds of places; the zero bounds hold nothing.
type bounds struct {
	x0, x1, y0, y1 float64
	some           bool
}

func (b *bounds) add(x, y float64) {
	if !b.some {
		*b = bounds{x, x, y, y, true}
		return
	}
	b.x0, b.x1 = math.Min(b.x0, x), math.Max(b.x1, x)
	b.y0, b.y1 = math.Min(b.y0, y), math.Max(b.y1, y)
}

func (b *bounds) grown(by float64) bounds {
	return bounds{b.x0 - by, b.x1 + by, b.y0 - by, b.y1 + by, true}
}

func (b *bounds) has(x, y float64) bool { return x >= b.x0 && x <= b.x1 && y >= b.y0 && y <= b.y1 }

// frame is a panel: its place on the sheet, and the values at its left, right,
// top and bottom.
type frame struct{ left, top, w, h, x0, x1, y0, y1 float64 }

func (f *frame) x(v float64) float64 { return hold(f.left + (v-f.x0)/(f.x1-f.x0)*f.w) }
func (f *frame) y(v float64) float64 { return hold(f.top + (v-f.y0)/(f.y1-f.y0)*f.h) }

// hold keeps a coordinate within what every viewer can read.
func hold(px float64) float64 { return math.Max(-1e5, math.Min(1e5, px)) }

func (f *frame) open(s *svg, id, title, xName, yName string) {
	s.text(f.left, f.top-14, `font-size="16" font-weight="bold"`, title)
	s.f(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#fbfbfb"/>`+"\n", f.left, f.top, f.w, f.h)
	for _, v := range gridLines(f.x0, f.x1) {
		s.f(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#e4e4e4"/>`+"\n", f.x(v), f.top, f.x(v), f.top+f.h)
		s.text(f.x(v), f.top+f.h+19, `text-anchor="middle" font-size="13"`, num(v))
	}
	for _, v := range gridLines(f.y0, f.y1) {
		s.f(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#e4e4e4"/>`+"\n", f.left, f.y(v), f.left+f.w, f.y(v))
		s.text(f.left-8, f.y(v)+4.5, `text-anchor="end" font-size="13"`, num(v))
	}
	s.text(f.left+f.w/2, f.top+f.h+40, `text-anchor="middle"`, xName)
	x, y := f.left-58, f.top+f.h/2
	s.text(x, y, fmt.Sprintf(`text-anchor="middle" transform="rotate(-90 %.1f %.1f)"`, x, y), yName)
	s.f(`<clipPath id="%s"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"/></clipPath>`+"\n", id, f.left, f.top, f.w, f.h)
	s.f(`<g clip-path="url(#%s)">`+"\n", id)
}

func (f *frame) close(s *svg) {
	s.f("</g>\n"+`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="none" stroke="#999"/>`+"\n", f.left, f.top, f.w, f.h)
}

// gridLines are 4 to 10 round numbers between two values of either order.
func gridLines(a, b float64) []float64 {
	if a > b {
		a, b = b, a
	}
	step := math.Pow(10, math.Floor(math.Log10((b-a)/4)))
	for _, m := range [...]float64{1, 2, 5} {
		if (b-a)/(step*m) <= 10 {
			step *= m
			break
		}
	}
	var out []float64
	for i := math.Ceil(a / step); i*step <= b && len(out) < 16; i++ {
		out = append(out, i*step)
	}
	return out
}

// num writes a number short: at most two decimals.
func num(v float64) string {
	s := strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
	if s == "-0" {
		return "0"
	}
	return strings.Replace(s, "-", "−", 1)
}

type svg struct{ strings.Builder }

func (s *svg) f(format string, args ...any) { fmt.Fprintf(s, format, args...) }

var xmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func (s *svg) text(x, y float64, attrs, text string) {
	s.f(`<text x="%.1f" y="%.1f" %s>%s</text>`+"\n", x, y, attrs, xmlText.Replace(text))
}

// note is a line under a panel.
func (s *svg) note(x float64, line int, text string) {
	s.text(x, panelTop+panelH+62+19*float64(line), `font-size="13" fill="#666"`, text)
}

// halo is a text that stays readable on top of lines.
func (s *svg) halo(x, y float64, attrs, text string) {
	s.text(x, y, attrs+` stroke="#fbfbfb" stroke-width="5" stroke-linejoin="round" paint-order="stroke"`, text)
}

func (s *svg) cross(x, y, r, width float64) {
	s.f(`<path d="M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1f" stroke="%s" stroke-width="%.2g" stroke-linecap="round" fill="none"/>`+"\n",
		x-r, y-r, x+r, y+r, x-r, y+r, x+r, y-r, correctionColour, width)
}

// trail draws points lo..hi-1, leaving out those less than gap px from the last
// one drawn.
func (s *svg) trail(t *Trail, lo, hi int, gap float64, at func(*trailPoint) (float64, float64), stroke string) {
	if hi-lo < 1 {
		return
	}
	s.f(`<path d="`)
	var px, py float64
	pen := false // px, py is where the pen is
	for i := lo; i < hi; i++ {
		q := &t.points[i]
		x, y := at(q)
		switch {
		case !pen || q.jump:
			s.f("M%.1f %.1f", x, y)
		case i+1 < hi && !t.points[i+1].jump && math.Abs(x-px)+math.Abs(y-py) < gap:
			continue
		default:
			s.f("L%.1f %.1f", x, y)
		}
		px, py, pen = x, y, true
	}
	s.f(`" %s/>`+"\n", stroke)
}
