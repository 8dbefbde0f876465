package chart

import "fmt"

// Bars draws horizontal bars, a row for each name, as tall as the rows need. The bars of a row lie
// below each other, each with its value behind it.
type Bars struct {
	// Label stands above the names of the rows.
	Label string
	// X is the axis of the values.
	X Axis
	// Format writes the values; nil writes them like the axis.
	Format func(float64) string
	// Series are the names and colors of a row's bars.
	Series []Key
	Rows   []Row
	// Stacked draws the bars of a row end to end, without their values.
	Stacked bool
}

// Row is the bars of one name, in the order of Bars.Series.
type Row struct {
	Name string
	Bars []Bar
}

// Bar is a value and a note that a pointer shows. A value that is not finite is left out.
type Bar struct {
	Value float64
	Note  string
}

// SVG returns the chart.
func (b Bars) SVG(title, description string) string {
	const gap = 9
	c := &canvas{}
	thick, lanes, write := 14, len(b.Series), b.Format
	if b.Stacked {
		thick, lanes = 23, 1
	}
	if write == nil {
		write = b.X.format
	}
	signs := make([]sign, len(b.Series))
	for i, key := range b.Series {
		signs[i] = sign{name: key.Name, class: "key " + stroke(key.Color)}
	}
	// Space for names on the left and for values behind the bars.
	left, behind := textWidth(b.Label), 12.0 // half of the last tick stands out
	var ends []float64
	for _, row := range b.Rows {
		left = max(left, textWidth(row.Name))
		end := 0.0
		for _, bar := range row.Bars {
			if !finite(bar.Value) {
				continue
			}
			if !b.Stacked {
				end, behind = 0, max(behind, textWidth(write(bar.Value)))
			}
			end += bar.Value
			ends = append(ends, end)
		}
	}
	left += 20
	top := 8 + c.legend(signs)
	if b.Label != "" {
		c.text(left-10, top+12, "end", "soft", b.Label)
		top += 20
	}
	// The axis starts at zero, so that lengths compare.
	pitch := float64(lanes*thick + gap)
	bottom := top + float64(len(b.Rows))*pitch
	axis := b.X
	axis.Zero = true
	x := newScale(axis, ends, 5, left, width-8-behind)
	c.columns(x, top, bottom)
	for i, row := range b.Rows {
		y := top + gap/2.0 + float64(i)*pitch
		c.text(left-10, y+(pitch-gap)/2+4.5, "end", "", row.Name)
		// Stacked bars continue each other; others lie below each other, with their values.
		from := left
		for j, bar := range row.Bars {
			if !finite(bar.Value) {
				continue
			}
			at, wide := y, max(0, x.at(bar.Value)-left)
			if !b.Stacked {
				from, at = left, y+float64(j*thick)
				c.text(left+wide+4, at+float64(thick)-3, "start", "small", write(bar.Value))
			}
			c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%d" class="%s"><title>%s</title></rect>`, from, at, wide, thick-1, fill(b.Series[j].Color),
				escape(fmt.Sprintf("%s, %s: %s %s", row.Name, b.Series[j].Name, write(bar.Value), bar.Note)))
			from += wide
		}
	}
	c.height = int(bottom) + 46
	return c.svg(title, description)
}

// columns draws the grid of a horizontal axis, its ticks and its label below.
func (c *canvas) columns(x scale, top, bottom float64) {
	for _, tick := range x.ticks {
		at := x.at(tick.value)
		c.segment(at, top, at, bottom, "grid")
		c.text(at, bottom+17, "middle", "soft", tick.label)
	}
	c.segment(x.from, top, x.from, bottom, "axis")
	c.text((x.from+x.to)/2, bottom+37, "middle", "soft", x.axis.Label)
}
