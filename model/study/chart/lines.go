package chart

import (
	"fmt"
	"strings"
)

// Point is a value of a series. A point that is not finite is left out.
type Point struct{ X, Y float64 }

// Series is a line. Without a name it is not in the legend.
type Series struct {
	Key
	Points []Point
	// Dashed draws the line as dots, and its points as rings.
	Dashed bool
	// Mark is the radius of the points; 0 is the usual radius. A larger radius below a smaller one
	// shows both where lines coincide.
	Mark float64
	// Spread holds, for each point, half the height of a bar through it, such as a standard deviation; nil draws none.
	Spread []float64
}

// usualMark is the radius of a point.
const usualMark = 3.2

// ends returns the ends of the bar through a point, which coincide without one.
func (s Series) ends(i int) (low, high float64) {
	y := s.Points[i].Y
	if i < len(s.Spread) && finite(s.Spread[i]) {
		return y - s.Spread[i], y + s.Spread[i]
	}
	return y, y
}

// class returns the style of the line.
func (s Series) class() string {
	if s.Dashed {
		return "line dashed " + stroke(s.Color)
	}
	return "line " + stroke(s.Color)
}

// mark returns the style of the points, none if they are too many to be drawn.
func (s Series) mark() string {
	const most = 40
	if len(s.Points) > most {
		return ""
	}
	if s.Dashed {
		return "ring " + stroke(s.Color)
	}
	return fill(s.Color)
}

// Lines draws series over a common axis.
type Lines struct {
	X, Y   Axis
	Series []Series
}

// SVG returns the chart.
func (l Lines) SVG(title, description string) string {
	c := &canvas{height: 280}
	signs := make([]sign, len(l.Series))
	var xs, ys []float64
	for i, series := range l.Series {
		signs[i] = sign{series.Name, series.class(), series.mark()}
		for j, p := range series.Points {
			if finite(p.X) && finite(p.Y) {
				low, high := series.ends(j)
				xs, ys = append(xs, p.X), append(ys, low, high)
			}
		}
	}
	const twoRows = 41 // a taller legend leaves the lines their space
	legend := c.legend(signs)
	c.height += int(max(0, legend-twoRows))
	y := newScale(l.Y, ys, 5, float64(c.height)-46, 14+legend)
	left := 12.0
	for _, tick := range y.ticks {
		left = max(left, 14+textWidth(tick.label))
	}
	if l.Y.Label != "" {
		c.add(`<text transform="translate(12 %.1f) rotate(-90)" text-anchor="middle" class="soft">%s</text>`, (y.from+y.to)/2, escape(l.Y.Label))
		left += 20
	}
	x := newScale(l.X, xs, 8, left, width-14)
	if n := len(x.ticks); n > 0 { // half of the last label stands out
		x = newScale(l.X, xs, 8, left, width-max(14, textWidth(x.ticks[n-1].label)/2+2))
	}
	for _, tick := range y.ticks {
		at := y.at(tick.value)
		c.segment(x.from, at, x.to, at, "grid")
		c.text(x.from-7, at+4.5, "end", "soft", tick.label)
	}
	c.segment(x.from, y.from, x.to, y.from, "axis")
	for _, tick := range x.ticks {
		c.text(x.at(tick.value), y.from+19, "middle", "soft", tick.label)
	}
	c.text((x.from+x.to)/2, y.from+39, "middle", "soft", x.axis.Label)
	for _, series := range l.Series {
		c.line(series, x, y)
	}
	return c.svg(title, description)
}

// line draws one series, with its marks.
func (c *canvas) line(series Series, x, y scale) {
	var path, marks strings.Builder
	mark := series.mark()
	radius := series.Mark
	if radius == 0 {
		radius = usualMark
	}
	pen := "M"
	for i, p := range series.Points {
		if !finite(p.X) || !finite(p.Y) {
			pen = "M"
			continue
		}
		if low, high := series.ends(i); low < high {
			c.segment(x.at(p.X), y.at(low), x.at(p.X), y.at(high), "spread "+stroke(series.Color))
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", pen, x.at(p.X), y.at(p.Y))
		pen = "L"
		note := fmt.Sprintf("%s %s: %s %s", x.axis.Label, x.axis.format(p.X), series.Name, y.axis.format(p.Y))
		fmt.Fprintf(&marks, `<circle cx="%.1f" cy="%.1f" r="%.1f" class="%s"><title>%s</title></circle>`+"\n", x.at(p.X), y.at(p.Y), radius, mark, escape(note))
	}
	c.add(`<path d="%s" class="%s"/>`, path.String(), series.class())
	if mark != "" {
		c.elements.WriteString(marks.String())
	}
}
