package chart

import (
	"fmt"
	"html"
	"strings"
)

// Point is a value of a series. One that is not finite is left out.
type Point struct{ X, Y float64 }

// Series is a line with a name. Without one it is not in the legend.
type Series struct {
	Name   string
	Points []Point
	// Dashed draws the line as dots; Colour takes another colour than the next one, from 1.
	Dashed bool
	Colour int
	// Mark is the radius of the points; 0 is the usual one. Larger ones below show where lines
	// lie upon each other.
	Mark float64
}

func (s Series) colour(i int) int {
	if s.Colour > 0 {
		return s.Colour - 1
	}
	return i
}

// class is how the line is drawn.
func (s Series) class(colour int) string {
	if s.Dashed {
		return "line dashed " + stroke(colour)
	}
	return "line " + stroke(colour)
}

// Lines draws series over a common axis.
type Lines struct {
	// Title and Description are read aloud by a screen reader.
	Title, Description string
	X, Y               Axis
	Series             []Series
}

// SVG is the chart.
func (l Lines) SVG() string {
	c := &canvas{height: height}
	names := make([]string, len(l.Series))
	var xs, ys []float64
	for i, series := range l.Series {
		names[i] = series.Name
		for _, p := range series.Points {
			if finite(p.X) && finite(p.Y) {
				xs, ys = append(xs, p.X), append(ys, p.Y)
			}
		}
	}
	top := 14 + c.keys(names, 20, func(i int, x, y float64) {
		c.add(`<path d="M%.1f %.1fh18" class="%s"/>`, x+1, y-4.5, l.Series[i].class(l.Series[i].colour(i)))
	})
	y := newScale(l.Y, ys, 5).over(height-46, top)
	left := c.beside(y)
	x := newScale(l.X, xs, 8).over(left, width-14)
	c.frame(x, y)
	for i, series := range l.Series {
		c.line(series, series.colour(i), x, y)
	}
	return c.svg(l.Title, l.Description)
}

// beside writes the label of the vertical axis y along it, and returns where the chart begins
// right of it and of the ticks.
func (c *canvas) beside(y scale) float64 {
	left := 12.0
	for _, tick := range y.ticks {
		left = max(left, 14+textWidth(y.axis.format(tick)))
	}
	if y.axis.Label == "" {
		return left
	}
	c.add(`<text transform="translate(12 %.1f) rotate(-90)" text-anchor="middle" class="soft">%s</text>`, (y.from+y.to)/2, html.EscapeString(y.axis.Label))
	return left + 20
}

// frame draws the grid, the ticks and the labels of the axes.
func (c *canvas) frame(x, y scale) {
	for _, tick := range y.ticks {
		at := y.at(tick)
		c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="grid"/>`, x.from, at, x.to, at)
		c.text(x.from-7, at+4.5, "end", "soft", y.axis.format(tick))
	}
	c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="axis"/>`, x.from, y.from, x.to, y.from)
	for _, tick := range x.ticks {
		c.text(x.at(tick), y.from+19, "middle", "soft", x.axis.format(tick))
	}
	c.text((x.from+x.to)/2, y.from+39, "middle", "soft", x.axis.Label)
}

// line draws one series, with a mark for each point where they are few.
func (c *canvas) line(series Series, colour int, x, y scale) {
	var path strings.Builder
	pen := "M"
	for _, p := range series.Points {
		if !finite(p.X) || !finite(p.Y) {
			pen = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", pen, x.at(p.X), y.at(p.Y))
		pen = "L"
	}
	c.add(`<path d="%s" class="%s"/>`, path.String(), series.class(colour))
	if len(series.Points) > 40 {
		return
	}
	radius := series.Mark
	if radius == 0 {
		radius = 3.2
	}
	for _, p := range series.Points {
		if finite(p.X) && finite(p.Y) {
			c.add(`<circle cx="%.1f" cy="%.1f" r="%.1f" class="%s"><title>%s</title></circle>`, x.at(p.X), y.at(p.Y), radius, fill(colour),
				html.EscapeString(fmt.Sprintf("%s %s: %s %s", x.axis.Label, x.axis.format(p.X), series.Name, y.axis.format(p.Y))))
		}
	}
}
