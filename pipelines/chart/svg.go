package chart

import (
	"fmt"
	"html"
	"strings"
)

// Style is the style sheet of every chart: its colours, light and dark, and its font. A page with
// charts includes it once; File puts it into the file.
const Style = `.chart{--c0:#2563a8;--c1:#c8641b;--c2:#2f855a;--c3:#8a5fb0;--c4:#9aa0a8;--c5:#cfd2d6;--ink:#23272e;--soft:#68707c;--grid:#e4e1d9;
font:13px ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
@media (prefers-color-scheme:dark){.chart{--c0:#6aa9ea;--c1:#eb9a57;--c2:#62bd8d;--c3:#b995dd;--c4:#6d7580;--c5:#3d434c;--ink:#e6e3db;--soft:#9aa2ad;--grid:#2e343d}}
.chart text{fill:var(--ink)}.chart .soft{fill:var(--soft)}.chart .small{font-size:11.5px}.chart .grid{stroke:var(--grid)}.chart .axis{stroke:var(--soft)}
.chart .line{fill:none;stroke-width:2.25;stroke-linejoin:round;stroke-linecap:round}.chart .dashed{stroke-dasharray:1 5}
.chart .spread{stroke-width:1.5;stroke-opacity:.55}
.chart .key{stroke-width:11}
.chart .s0{stroke:var(--c0)}.chart .s1{stroke:var(--c1)}.chart .s2{stroke:var(--c2)}.chart .s3{stroke:var(--c3)}.chart .s4{stroke:var(--c4)}.chart .s5{stroke:var(--c5)}
.chart .f0{fill:var(--c0)}.chart .f1{fill:var(--c1)}.chart .f2{fill:var(--c2)}.chart .f3{fill:var(--c3)}.chart .f4{fill:var(--c4)}.chart .f5{fill:var(--c5)}
.paths{--back:#fff}@media (prefers-color-scheme:dark){.paths{--back:#1b1f26}}
.paths .step{fill:none;stroke:var(--c4);stroke-linecap:round}.paths .against{stroke-dasharray:2 5}.paths .tip{fill:var(--soft)}
.paths text{paint-order:stroke;stroke:var(--back);stroke-width:4px;stroke-linejoin:round}.paths .label{fill:var(--soft)}.paths .end{font-weight:650}`

// width is that of every chart in its own units. It is narrow, so that the text is large enough to
// read on a telephone.
const width = 440

// Key is the name of a series and the index of its colour in Style, from 0.
type Key struct {
	Name   string
	Colour int
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
	c.add(`<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, html.EscapeString(text))
}

// segment draws a straight line.
func (c *canvas) segment(x1, y1, x2, y2 float64, class string) {
	c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

// sign is an entry of a legend: a name and the style of the line before it.
type sign struct{ name, class string }

// legend writes the signs, in as many rows as they need, and returns its height. It leaves out signs
// without a name; a single one needs no legend.
func (c *canvas) legend(signs []sign) float64 {
	if len(signs) < 2 {
		return 0
	}
	x, y := 4.0, 14.0
	for _, s := range signs {
		if s.name == "" {
			continue
		}
		step := 35 + textWidth(s.name)
		if x > 4 && x+step > width {
			x, y = 4, y+19
		}
		c.add(`<path d="M%.1f %.1fh18" class="%s"/>`, x+1, y-4.5, s.class)
		c.text(x+25, y, "start", "", s.name)
		x += step + 8
	}
	return y + 8
}

// svg returns the chart as a document. Title and description are for screen readers.
func (c *canvas) svg(title, description string) string {
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n<title>%s</title>\n%s</svg>",
		width, c.height, html.EscapeString(strings.TrimSpace(title+". "+description)), html.EscapeString(title), c.elements.String())
}

// File returns a chart as a file of its own, with its style and a background.
func File(svg string) []byte {
	style := "<style>" + Style + ".chart{background:#fff}@media (prefers-color-scheme:dark){.chart{background:#15181d}}</style>\n"
	opening := strings.Index(svg, ">\n") + 2
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + svg[:opening] + style + svg[opening:] + "\n")
}

// textWidth estimates the width of a text in the chart's units.
func textWidth(text string) float64 { return 7.2 * float64(len([]rune(text))) }

// fill and stroke return the classes of a colour.
func fill(colour int) string   { return fmt.Sprintf("f%d", colour) }
func stroke(colour int) string { return fmt.Sprintf("s%d", colour) }
