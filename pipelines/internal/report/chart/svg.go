package chart

import (
	"fmt"
	"html"
	"strings"
)

// Style is what every chart needs: its colours, in light and in dark, and its type. A page
// that holds charts includes it once; File puts it into the file.
const Style = `.chart{--c0:#2563a8;--c1:#c8641b;--c2:#2f855a;--c3:#8a5fb0;--c4:#9aa0a8;--c5:#cfd2d6;--ink:#23272e;--soft:#68707c;--grid:#e4e1d9;
font:13px ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
@media (prefers-color-scheme:dark){.chart{--c0:#6aa9ea;--c1:#eb9a57;--c2:#62bd8d;--c3:#b995dd;--c4:#6d7580;--c5:#3d434c;--ink:#e6e3db;--soft:#9aa2ad;--grid:#2e343d}}
.chart text{fill:var(--ink)}.chart .soft{fill:var(--soft)}.chart .small{font-size:11.5px}.chart .grid{stroke:var(--grid)}.chart .axis{stroke:var(--soft)}
.chart .line{fill:none;stroke-width:2.25;stroke-linejoin:round;stroke-linecap:round}.chart .dashed{stroke-dasharray:1 5}
.chart .s0{stroke:var(--c0)}.chart .s1{stroke:var(--c1)}.chart .s2{stroke:var(--c2)}.chart .s3{stroke:var(--c3)}.chart .s4{stroke:var(--c4)}.chart .s5{stroke:var(--c5)}
.chart .f0{fill:var(--c0)}.chart .f1{fill:var(--c1)}.chart .f2{fill:var(--c2)}.chart .f3{fill:var(--c3)}.chart .f4{fill:var(--c4)}.chart .f5{fill:var(--c5)}`

// colours is the number of colours that Style has.
const colours = 6

// The size of every chart in its own units. It is narrow, so that on a telephone's screen the
// type is still large enough to read.
const width, height = 440, 280

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

// legend writes the names of the series, each behind a square of its colour, in as many rows
// as they need, and returns the height that it takes.
func (c *canvas) legend(names []string, classOf func(int) string) float64 {
	return c.keys(names, 11, func(i int, x, y float64) {
		c.add(`<rect x="%.1f" y="%.1f" width="11" height="11" rx="2" class="%s"/>`, x, y-10, classOf(i))
	})
}

// keys is a legend whose signs, so wide, are drawn by sign on the line y. Series without a name
// are not in it.
func (c *canvas) keys(names []string, wide float64, sign func(i int, x, y float64)) float64 {
	if len(names) < 2 {
		return 0
	}
	x, y := 4.0, 14.0
	for i, name := range names {
		if name == "" {
			continue
		}
		step := wide + 15 + textWidth(name)
		if x > 4 && x+step > width {
			x, y = 4, y+19
		}
		sign(i, x, y)
		c.text(x+wide+5, y, "start", "", name)
		x += step + 8
	}
	return y + 8
}

// svg closes the chart. Title and description are for those who hear the page instead.
func (c *canvas) svg(title, description string) string {
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n<title>%s</title>\n%s</svg>",
		width, c.height, html.EscapeString(strings.TrimSpace(title+". "+description)), html.EscapeString(title), c.elements.String())
}

// File is a chart as a file of its own: with its style, and with a background.
func File(svg string) []byte {
	style := "<style>" + Style + ".chart{background:#fff}@media (prefers-color-scheme:dark){.chart{background:#15181d}}</style>\n"
	opening := strings.Index(svg, ">\n") + 2
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + svg[:opening] + style + svg[opening:] + "\n")
}

// textWidth estimates the width of a text in the chart's units.
func textWidth(text string) float64 { return 7.2 * float64(len([]rune(text))) }

// fill and stroke are the classes of the i-th colour.
func fill(i int) string   { return fmt.Sprintf("f%d", i%colours) }
func stroke(i int) string { return fmt.Sprintf("s%d", i%colours) }
