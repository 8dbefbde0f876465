package chart

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"tagnet/formats/names"
	"tagnet/model"
)

// Paths draws the first mostPaths paths, and leaves out those with more than mostPathSteps steps.
const (
	mostPaths     = 8
	mostPathSteps = 16
)

// The layout of paths, in the chart's units.
const (
	columnPitch  = 126.0
	lanePitch    = 58.0
	laneTop      = 26.0 // of the first
	pathMargin   = 62.0 // half of a name
	letters      = 15   // of a name, before it is shortened
	fullLetters  = 300  // of a name that a pointer shows
	arrow        = 7.0
	entityRadius = 5.0
)

// stop is an entity, by its escaped name, at a position of a path: the same entity at another position is drawn again, so that every path
// reads from left to right. The answer is always in the last column.
type stop struct {
	column int
	entity string
}

// link is one step of one or more paths.
type link struct {
	from, to stop
	relation string
	inverse  bool
}

// pathGraph is the layout of some paths: a lane, from the top, for each, which holds the entities that no better path has.
type pathGraph struct {
	stops  []stop
	lanes  map[stop]float64
	links  []link
	lane   map[link]float64 // of the first path with that link
	weight map[link]float64 // the largest in absolute value of its paths
	notes  map[link][]string
	last   int // column of the answer
	texts  []box
}

// box is the space that a text takes.
type box struct{ left, top, right, bottom float64 }

// textBox returns the space of a text whose baseline has its middle at x, y.
func textBox(x, y float64, text string) box {
	half := textWidth(text) / 2
	return box{x - half, y - 11, x + half, y + 3}
}

func (b box) overlaps(other box) bool {
	return b.left < other.right && other.left < b.right && b.top < other.bottom && other.top < b.bottom
}

// Paths draws the paths of an answer, best first, as a graph: the source on the left, the answer on the right, and each
// entity in the column of its position. Steps that paths have in common are drawn once. An arrow points from the head
// of a fact to its tail, so that an inverse step has it against the reading direction. The strength of a line shows the
// weight of its best path; a dashed line has a negative one. The drawing keeps its size: a page lets it scroll inside an
// element of its own. The result is "" without a path to draw.
func Paths(paths []model.Path) string {
	g := arrange(paths)
	if len(g.links) == 0 {
		return ""
	}
	c := &canvas{}
	heaviest, deepest := 0.0, 0.0
	for _, l := range g.links {
		heaviest = max(heaviest, math.Abs(g.weight[l]))
		deepest = max(deepest, g.lane[l])
	}
	for _, s := range g.stops {
		x, y := g.at(s)
		g.texts = append(g.texts, textBox(x, y+19, names.Shorten(s.entity, letters)))
	}
	for _, l := range g.links {
		c.link(g, l, heaviest)
	}
	for i, s := range g.stops {
		class := "f4"
		if s.column == 0 {
			class = "f0"
		} else if s.column == g.last {
			class = "f1"
		}
		x, y := g.at(s)
		c.add(`<g><title>%s</title><circle cx="%.1f" cy="%.1f" r="%.1f" class="%s"/>`, html.EscapeString(names.Shorten(s.entity, fullLetters)), x, y, entityRadius, class)
		class = "name"
		if i < 2 {
			class = "name end"
		}
		c.text(x, y+19, "middle", class, names.Shorten(s.entity, letters))
		c.add("</g>")
	}
	wide := 2*pathMargin + float64(g.last)*columnPitch
	high := laneTop + deepest*lanePitch + 32
	title := fmt.Sprintf("Paths from %s to %s", names.Shorten(g.stops[0].entity, fullLetters), names.Shorten(g.stops[1].entity, fullLetters))
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart paths\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n%s</svg>",
		wide, high, wide, high, html.EscapeString(title), c.elements.String())
}

// arrange places the entities and steps of paths.
func arrange(paths []model.Path) *pathGraph {
	g := &pathGraph{lanes: map[stop]float64{}, lane: map[link]float64{}, weight: map[link]float64{}, notes: map[link][]string{}}
	var drawn []model.Path
	for _, p := range paths {
		if len(p.Steps) > 0 && len(p.Steps) <= mostPathSteps && len(drawn) < mostPaths {
			drawn = append(drawn, p)
			g.last = max(g.last, len(p.Steps))
		}
	}
	for lane, p := range drawn {
		source, answer := stop{0, names.Escape(p.Steps[0].From)}, stop{g.last, names.Escape(p.Steps[len(p.Steps)-1].To)}
		middle := float64(len(drawn)-1) / 2
		g.put(source, middle)
		g.put(answer, middle)
		at := source
		for i, step := range p.Steps {
			to := answer
			if i < len(p.Steps)-1 {
				to = stop{i + 1, names.Escape(step.To)}
				g.put(to, float64(lane))
			}
			l := link{at, to, step.Relation, step.Inverse}
			if _, there := g.lane[l]; !there {
				g.links = append(g.links, l)
				g.lane[l] = float64(lane)
				g.weight[l] = p.Weight
			} else if math.Abs(p.Weight) > math.Abs(g.weight[l]) {
				g.weight[l] = p.Weight
			}
			g.notes[l] = append(g.notes[l], fmt.Sprintf("path %d: %s", lane+1, model.FormatWeight(p.Weight)))
			at = to
		}
	}
	return g
}

// put places an entity unless a better path has done so.
func (g *pathGraph) put(s stop, lane float64) {
	if _, there := g.lanes[s]; !there {
		g.lanes[s] = lane
		g.stops = append(g.stops, s)
	}
}

func (g *pathGraph) at(s stop) (x, y float64) {
	return pathMargin + float64(s.column)*columnPitch, laneTop + g.lanes[s]*lanePitch
}

// parallel returns whether a better path has another step between the same entities.
func (g *pathGraph) parallel(of link) bool {
	for _, l := range g.links {
		if l == of {
			return false
		}
		if l.from == of.from && l.to == of.to {
			return true
		}
	}
	return false
}

// link draws a step. One that skips columns, or that has a parallel one, runs through the lane of its path, where
// nothing else is in these columns.
func (c *canvas) link(g *pathGraph, l link, heaviest float64) {
	x1, y1 := g.at(l.from)
	x2, y2 := g.at(l.to)
	x1, x2 = x1+entityRadius+2, x2-entityRadius-2
	if l.inverse {
		x1 += arrow
	} else {
		x2 -= arrow
	}
	var path string
	var places [][2]float64 // of the label, in the order of preference
	if long := l.to.column-l.from.column > 1; long || g.parallel(l) {
		y := laneTop + g.lane[l]*lanePitch
		left, right := (x1+x2)/2, (x1+x2)/2
		if long {
			left, right = x1+0.6*columnPitch, x2-0.6*columnPitch
		}
		path = fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1fL%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x1, y1, (x1+left)/2, y1, (x1+left)/2, y, left, y,
			right, y, (x2+right)/2, y, (x2+right)/2, y2, x2, y2)
		for _, share := range []float64{0.5, 0.2, 0.8, 0, 1} {
			places = append(places, [2]float64{left + share*(right-left), y - 6})
		}
	} else {
		x := (x1 + x2) / 2
		path = fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x1, y1, x, y1, x, y2, x2, y2)
		for _, share := range []float64{0.5, 0.6, 0.4, 0.7, 0.3, 0.8} { // of the curve
			rest := 1 - share
			place := [2]float64{rest*rest*rest*x1 + 3*rest*share*x + share*share*share*x2, y1 + (3-2*share)*share*share*(y2-y1) + 4}
			if y1 == y2 {
				place[1] -= 10 // above a level line
			}
			places = append(places, place)
		}
	}
	width, class := 1.5, "step"
	if heaviest > 0 {
		width += 2.5 * math.Abs(g.weight[l]) / heaviest
	}
	if g.weight[l] < 0 {
		class += " against"
	}
	name, tip := names.Escape(l.relation), fmt.Sprintf("M%.1f %.1fl%.1f -4.5v9z", x2+arrow, y2, -arrow)
	if l.inverse {
		tip = fmt.Sprintf("M%.1f %.1fl%.1f -4.5v9z", x1-arrow, y1, arrow)
	}
	note := names.Shorten(name, fullLetters) + " (" + strings.Join(g.notes[l], ", ") + ")"
	c.add(`<g><title>%s</title><path d="%s" class="%s" stroke-width="%.1f"/><path d="%s" class="tip"/>`, html.EscapeString(note), path, class, width, tip)
	name = names.Shorten(name, letters)
	place := places[0]
	for _, p := range places {
		if !slices.ContainsFunc(g.texts, textBox(p[0], p[1], name).overlaps) {
			place = p
			break
		}
	}
	g.texts = append(g.texts, textBox(place[0], place[1], name))
	c.text(place[0], place[1], "middle", "small label", name)
	c.add("</g>")
}
