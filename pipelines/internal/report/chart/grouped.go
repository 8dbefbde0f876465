package chart

import (
	"html"
)

// Group is the bars of several series that stand together, in the order of Grouped.Series.
type Group struct {
	Name string
	Bars []Bar // a Bar's Name is not shown; one whose value is not finite leaves its place empty
}

// Grouped draws horizontal bars, those of a group next to each other, as tall as it needs to be.
// Each bar's value stands behind it.
type Grouped struct {
	// Title and Description are read aloud by a screen reader.
	Title, Description string
	// Label stands above the names of the groups.
	Label string
	// X is the axis of the values.
	X Axis
	// Format writes the values behind the bars; nil does as the axis.
	Format func(float64) string
	// Series are the names of the series, Colours their colours from 1; nil takes the first.
	Series  []string
	Colours []int
	Groups  []Group
}

func (g Grouped) fill(series int) string {
	if series < len(g.Colours) {
		return fill(g.Colours[series] - 1)
	}
	return fill(series)
}

// SVG is the chart.
func (g Grouped) SVG() string {
	const bar, gap = 14, 9
	c := &canvas{}
	write := g.Format
	if write == nil {
		write = g.X.format
	}
	left, behind := textWidth(g.Label), 0.0
	var values []float64
	for _, group := range g.Groups {
		left = max(left, textWidth(group.Name))
		for _, b := range group.Bars {
			values = append(values, b.Value)
			if finite(b.Value) {
				behind = max(behind, textWidth(write(b.Value)))
			}
		}
	}
	left += 20
	top := 8 + c.legend(g.Series, g.fill)
	if g.Label != "" {
		c.text(left-10, top+12, "end", "soft", g.Label)
		top += 20
	}
	axis := g.X
	axis.Zero = true
	x := newScale(axis, values, 5).over(left, width-8-behind)
	bottom := top
	for _, group := range g.Groups {
		bottom += float64(bar*len(group.Bars) + gap)
	}
	c.columns(x, top, bottom)
	y := top + gap/2.0
	for _, group := range g.Groups {
		tall := float64(bar * len(group.Bars))
		c.text(left-10, y+tall/2+4.5, "end", "", group.Name)
		for i, b := range group.Bars {
			if !finite(b.Value) {
				continue
			}
			at := y + float64(i*bar)
			c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%d" class="%s"><title>%s</title></rect>`, left, at, max(0, x.at(b.Value)-left), bar-1, g.fill(i),
				html.EscapeString(group.Name+", "+nameOf(g.Series, i)+": "+write(b.Value)+" "+b.Note))
			c.text(x.at(b.Value)+4, at+bar-3, "start", "small", write(b.Value))
		}
		y += tall + gap
	}
	c.height = int(bottom) + 46
	return c.svg(g.Title, g.Description)
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return ""
}

// columns draws the grid of a horizontal axis, its ticks and its label below.
func (c *canvas) columns(x scale, top, bottom float64) {
	for _, tick := range x.ticks {
		at := x.at(tick)
		c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="grid"/>`, at, top, at, bottom)
		c.text(at, bottom+17, "middle", "soft", x.axis.format(tick))
	}
	c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="axis"/>`, x.from, top, x.from, bottom)
	c.text((x.from+x.to)/2, bottom+37, "middle", "soft", x.axis.Label)
}
