package chart

import (
	"fmt"
	"html"
)

// Bar is one column: its name below, its value as its height, and a note that a pointer shows.
type Bar struct {
	Name  string
	Value float64
	Note  string
}

// Bars draws a column for each value.
type Bars struct {
	// Title and Description are read aloud by a screen reader.
	Title, Description string
	// Label is what the names below the columns are.
	Label string
	Y     Axis
	// Format writes the values above the columns; nil does as the axis.
	Format func(float64) string
	Bars   []Bar
	// Colour is that of the columns, from 1; 0 is the first.
	Colour int
}

// SVG is the chart.
func (b Bars) SVG() string {
	c := &canvas{height: height}
	values := make([]float64, len(b.Bars))
	for i, bar := range b.Bars {
		values[i] = bar.Value
	}
	axis := b.Y
	axis.Zero = true
	write := b.Format
	if write == nil {
		write = axis.format
	}
	y := newScale(axis, values, 4).over(height-46, 24)
	left := c.beside(y)
	c.frame(scale{axis: Axis{Label: b.Label}, from: left, to: width - 6}, y)
	step := (width - 6 - left) / float64(max(1, len(b.Bars)))
	wide := min(step*0.72, 58)
	for i, bar := range b.Bars {
		middle := left + (float64(i)+0.5)*step
		c.text(middle, y.from+19, "middle", "soft", bar.Name)
		if !finite(bar.Value) {
			continue
		}
		top := min(y.at(bar.Value), y.from)
		c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2" class="%s"><title>%s</title></rect>`,
			middle-wide/2, top, wide, y.from-top, fill(max(0, b.Colour-1)), html.EscapeString(bar.Name+": "+write(bar.Value)+" "+bar.Note))
		if label := write(bar.Value); textWidth(label)*0.9 <= step {
			c.text(middle, top-6, "middle", "", label)
		}
	}
	return c.svg(b.Title, b.Description)
}

// Part is a piece of a stacked bar.
type Part struct {
	Value float64
	Note  string
}

// Stack is one bar of several parts, in the order of Stacked.Parts.
type Stack struct {
	Name  string
	Parts []Part
}

// Stacked draws bars that each add up to a whole, a row each, as tall as it needs to be.
type Stacked struct {
	// Title and Description are read aloud by a screen reader.
	Title, Description string
	// Label stands above the names of the rows.
	Label string
	// Whole names what the shares below the rows are of; "" draws no axis.
	Whole string
	// Parts are the names of the parts, Colours those of the parts from 1; nil takes the first.
	Parts   []string
	Colours []int
	Rows    []Stack
}

func (s Stacked) fill(part int) string {
	if part < len(s.Colours) {
		return fill(s.Colours[part] - 1)
	}
	return fill(part)
}

// SVG is the chart.
func (s Stacked) SVG() string {
	const row = 30
	c := &canvas{}
	top := 8 + c.legend(s.Parts, s.fill)
	left := textWidth(s.Label)
	for _, r := range s.Rows {
		left = max(left, textWidth(r.Name))
	}
	left += 14
	if s.Label != "" {
		c.text(left-10, top+12, "end", "soft", s.Label)
		top += 20
	}
	right, below := width-6.0, 4
	if s.Whole != "" {
		right, below = width-20, 46 // half of the last tick stands out
		percents := Axis{Label: s.Whole, Format: func(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }, Zero: true, Most: 1}
		c.columns(newScale(percents, []float64{1}, 5).over(left, right), top-4, top+float64(len(s.Rows))*row)
	}
	for i, r := range s.Rows {
		y := top + float64(i)*row
		whole := 0.0
		for _, part := range r.Parts {
			whole += part.Value
		}
		c.text(left-10, y+17, "end", "", r.Name)
		x := left
		for j, part := range r.Parts {
			if whole <= 0 || part.Value <= 0 {
				continue
			}
			share := part.Value / whole
			wide := share * (right - left)
			c.add(`<rect x="%.1f" y="%.1f" width="%.2f" height="%d" class="%s"><title>%s</title></rect>`, x, y, wide, row-7, s.fill(j),
				html.EscapeString(fmt.Sprintf("%s, %s: %.2f%% %s", r.Name, s.Parts[j], 100*share, part.Note)))
			x += wide
		}
	}
	c.height = int(top) + len(s.Rows)*row + below
	return c.svg(s.Title, s.Description)
}
