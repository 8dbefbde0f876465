package chart

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// width is the width of every chart in its own units. It is narrow, so that the text is large enough to
// read on a telephone.
const width = 440

// Key is the name of a series and the index of its color in Style, from 0.
type Key struct {
	Name  string
	Color int
}

// canvas gathers the elements of a chart.
type canvas struct {
	elements strings.Builder
	height   int
}

func (c *canvas) add(format string, arguments ...any) {
	fmt.Fprintf(&c.elements, format+"\n", arguments...)
}

// text places a text; anchor is start, middle or end.
func (c *canvas) text(x, y float64, anchor, class, text string) {
	c.add(`<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, escape(text))
}

// escape returns a text as XML holds it, which HTML reads the same. Characters that XML does not allow, such as
// U+FFFF, become U+FFFD.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}

// segment draws a straight line.
func (c *canvas) segment(x1, y1, x2, y2 float64, class string) {
	c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

// sign is an entry of a legend: a name, the style of the line before it, and the style of a point on the
// line, if there is one.
type sign struct{ name, class, mark string }

// legend writes the signs, in as many rows as they need, and returns its height. It leaves out signs
// without a name; a single one needs no legend.
func (c *canvas) legend(signs []sign) float64 {
	if len(signs) < 2 {
		return 0
	}
	const indent, row = 25, 19
	x, y := 4.0, 14.0
	for _, s := range signs {
		if s.name == "" {
			continue
		}
		step := indent + 10 + textWidth(s.name)
		if x > 4 && x+step > width {
			x, y = 4, y+row
		}
		c.add(`<path d="M%.1f %.1fh18" class="%s"/>`, x+1, y-4.5, s.class)
		if s.mark != "" {
			c.add(`<circle cx="%.1f" cy="%.1f" r="%.1f" class="%s"/>`, x+10, y-4.5, usualMark, s.mark)
		}
		for i, part := range wrapped(s.name, width-indent-4) {
			if i > 0 {
				y += row
			}
			c.text(x+indent, y, "start", "", part)
		}
		x += step + 8
	}
	return y + 8
}

// wrapped breaks a text at its spaces into lines of at most a width, but for words that are wider.
func wrapped(text string, width float64) []string {
	var lines []string
	for word := range strings.SplitSeq(text, " ") {
		if last := len(lines) - 1; last >= 0 && textWidth(lines[last]+" "+word) <= width {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// svg returns the chart as a document. Title and description are for screen readers.
func (c *canvas) svg(title, description string) string {
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" "+
		"aria-label=\"%s\">\n<title>%s</title>\n%s</svg>",
		width, c.height, escape(strings.TrimSpace(title+". "+description)), escape(title), c.elements.String())
}

// textWidth estimates the width of a text in the chart's units.
func textWidth(text string) float64 {
	width := 0.0
	for _, letter := range text {
		if strings.ContainsRune("%@MWmw", letter) {
			width += 12
		} else {
			width += 7.2
		}
	}
	return width
}

// fill and stroke return the classes of a color.
func fill(color int) string   { return fmt.Sprintf("f%d", color) }
func stroke(color int) string { return fmt.Sprintf("s%d", color) }
