package chart

import (
	"cmp"
	"fmt"
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
	pathsWidth  = 352.0 // fits a telephone
	pathMargin  = 10.0
	entityRow   = 24.0 // the height of a row
	stepRow     = 19.0
	lanePitch   = 14.0
	lanesWidth  = 8 * lanePitch // of more lanes, which are then closer
	bend        = 7.0           // the radius of a cornerHeight
	textGap     = 13.0          // from an entity to its name
	fullLetters = 300           // of a name that a pointer shows
)

// link is one step of one or more paths.
type link struct {
	from, to, relation string
	inverse            bool
}

// pathLink is how a step is drawn: from the row of its upper entity along a lane to a row of its own, which has its
// label, and on to its lower entity, which stands below that row.
type pathLink struct {
	link
	path         int     // the first with the step, from 0
	weight       float64 // the largest in absolute value of its paths
	notes        []string
	upper, lower int     // indexes of the entities
	lane         int     // to the left of the line through all entities, which is 0
	y            float64 // of the label
}

// pathGraph is the layout of some paths. Each entity has a row of its own, from the source down to the answer, so that
// no two names overlap.
type pathGraph struct {
	entities []string
	links    []*pathLink
	rows     []float64 // of the entities
	height   float64
	lanes    int
}

// Paths draws the paths of an answer, best first, as a graph: the source at the top, the answer at the bottom, and each
// entity once, in a row of its own. A step leaves its upper entity, runs down beside the entities between, and joins
// the line to its lower entity where its relation stands. An arrow points from the head of a fact to its tail, so that
// an inverse step has it against the reading direction. The strength of a line shows the weight of its best path; a
// dashed line has a negative one, and lines of the best path have a color. The result is "" without a path to draw.
func Paths(paths []model.Path) string {
	g := arrange(paths)
	if len(g.links) == 0 {
		return ""
	}
	c := &canvas{}
	heaviest := 0.0
	for _, l := range g.links {
		heaviest = max(heaviest, math.Abs(l.weight))
	}
	pitch := min(lanePitch, lanesWidth/float64(max(1, g.lanes)))
	x := pathMargin + float64(g.lanes)*pitch
	for _, l := range slices.Backward(g.links) { // the best path above the others
		c.step(g, l, x, x-float64(l.lane)*pitch, heaviest)
	}
	// Source and answer have colors of their own.
	for i, name := range g.entities {
		circle, text := "f4", "name"
		switch i {
		case 0:
			circle, text = "f0", "name end"
		case len(g.entities) - 1:
			circle, text = "f1", "name end"
		}
		name = names.Escape(name)
		c.add(`<g><title>%s</title><circle cx="%.1f" cy="%.1f" r="5" class="%s"/>`, escape(names.Shorten(name, fullLetters)), x, g.rows[i], circle)
		c.text(x+textGap, g.rows[i]+4.5, "start", text, fitted(name, pathsWidth-x-textGap))
		c.add("</g>")
	}
	ends := [2]string{g.entities[0], g.entities[len(g.entities)-1]}
	for i, name := range ends {
		ends[i] = names.Shorten(names.Escape(name), fullLetters)
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart paths\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "+
		"role=\"img\" aria-label=\"%s\">\n%s</svg>",
		pathsWidth, g.height+pathMargin/2, pathsWidth, g.height+pathMargin/2, escape(fmt.Sprintf("Paths from %s to %s", ends[0], ends[1])), c.elements.String())
}

// fitted returns a name that is shortened to a width.
func fitted(name string, width float64) string {
	short := names.Shorten(name, int(width/4)) // no letter is as narrow on average
	for letters := len([]rune(short)) - 1; letters >= 4 && textWidth(short) > width; letters-- {
		short = names.Shorten(name, letters)
	}
	return short
}

// arrange places the entities and steps of paths.
func arrange(paths []model.Path) *pathGraph {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p model.Path) bool { return len(p.Steps) == 0 || len(p.Steps) > mostPathSteps })
	paths = paths[:min(mostPaths, len(paths))]
	g := &pathGraph{height: pathMargin / 2}
	for _, p := range paths {
		g.placeEntities(p)
	}
	drawn := map[link]*pathLink{}
	for i, p := range paths {
		for _, s := range p.Steps {
			step := link{s.From, s.To, s.Relation, s.Inverse}
			l := drawn[step]
			if l == nil {
				from, to := slices.Index(g.entities, s.From), slices.Index(g.entities, s.To)
				l = &pathLink{link: step, path: i, upper: min(from, to), lower: max(from, to)}
				drawn[step] = l
				g.links = append(g.links, l)
			}
			if math.Abs(p.Weight) > math.Abs(l.weight) {
				l.weight = p.Weight
			}
			l.notes = append(l.notes, fmt.Sprintf("path %d: %s", i+1, model.FormatWeight(p.Weight)))
		}
	}
	g.placeRows()
	g.placeLanes()
	return g
}

// placeEntities inserts the entities of a path that no better path has, each before the next entity that is placed.
func (g *pathGraph) placeEntities(p model.Path) {
	stops := []string{p.Steps[0].From}
	for _, s := range p.Steps {
		stops = append(stops, s.To)
	}
	last := -1
	for i, name := range stops {
		at := slices.Index(g.entities, name)
		if at < 0 {
			at = len(g.entities)
			for _, later := range stops[i+1:] {
				if j := slices.Index(g.entities, later); j > last {
					at = j
					break
				}
			}
			g.entities = slices.Insert(g.entities, at, name)
		}
		last = at
	}
}

// placeRows places the entities and, above the lower entity of each step, its label: the shorter the step, the higher.
func (g *pathGraph) placeRows() {
	byEnd := slices.Clone(g.links)
	slices.SortStableFunc(byEnd, func(a, b *pathLink) int { return cmp.Or(cmp.Compare(a.lower, b.lower), cmp.Compare(b.upper, a.upper)) })
	for i := range g.entities {
		for len(byEnd) > 0 && byEnd[0].lower == i {
			g.height += stepRow
			byEnd[0].y = g.height - stepRow/2
			byEnd = byEnd[1:]
		}
		g.height += entityRow
		g.rows = append(g.rows, g.height-entityRow/2)
	}
}

// placeLanes puts each step into the lane that is the nearest one free: the line through the entities, unless an entity
// lies between, or a lane to its left.
func (g *pathGraph) placeLanes() {
	bySize := slices.Clone(g.links)
	slices.SortStableFunc(bySize, func(a, b *pathLink) int { return cmp.Compare(a.lower-a.upper, b.lower-b.upper) })
	for i, l := range bySize {
		if l.lower != l.upper+1 {
			l.lane = 1
		}
		for slices.ContainsFunc(bySize[:i], func(o *pathLink) bool {
			return o.lane == l.lane && min(g.rows[o.upper], o.y) < max(g.rows[l.upper], l.y) && min(g.rows[l.upper], l.y) < max(g.rows[o.upper], o.y)
		}) {
			l.lane++
		}
		g.lanes = max(g.lanes, l.lane)
	}
}

// step draws a step along the lane at x, from and to the entities at center.
func (c *canvas) step(g *pathGraph, l *pathLink, center, x, heaviest float64) {
	upper, lower := g.rows[l.upper], g.rows[l.lower]
	line, tip := fmt.Sprintf("M%.1f %.1fV%.1f", center, upper, lower), l.y
	if l.lane > 0 {
		cornerHeight := math.Copysign(bend, l.y-upper) // up for a step that leads back to where it began
		line = fmt.Sprintf("M%.1f %.1fH%.1fQ%.1f %.1f %.1f %.1fV%.1fQ%.1f %.1f %.1f %.1fH%.1fQ%.1f %.1f %.1f %.1fV%.1f",
			center, upper, x+bend, x, upper, x, upper+cornerHeight, l.y-cornerHeight, x, l.y, x+bend, l.y, center-bend, center, l.y, center, l.y+bend, lower)
		tip -= cornerHeight
	}
	width, class := 1.5, "step"
	if heaviest > 0 {
		width += 2 * math.Abs(l.weight) / heaviest
	}
	if l.path == 0 {
		class += " first"
	}
	if l.weight < 0 {
		class += " against"
	}
	height := 7.0
	if l.inverse != (slices.Index(g.entities, l.from) == l.lower) {
		height = -height
	}
	name := names.Escape(l.relation)
	note := names.Shorten(name, fullLetters) + " (" + strings.Join(l.notes, ", ") + ")"
	c.add(`<g><title>%s</title><path d="%s" class="%s" stroke-width="%.1f"/><path d="M%.1f %.1fl-4.5 %.1fh9z" class="tip"/>`,
		escape(note), line, class, width, x, tip+height/2, -height)
	c.text(center+textGap, l.y+4, "start", "small label", fitted(name, pathsWidth-center-textGap))
	c.add("</g>")
}
