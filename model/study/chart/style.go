package chart

import (
	"fmt"
	"strings"
)

// colors lists the colors that rules names: each has one value for light pages and one for dark pages.
var colors = []struct{ name, light, dark string }{
	{"c0", "#2563a8", "#6aa9ea"},
	{"c1", "#c8641b", "#eb9a57"},
	{"c2", "#2f855a", "#62bd8d"},
	{"c3", "#8a5fb0", "#b995dd"},
	{"c4", "#9aa0a8", "#6d7580"},
	{"c5", "#cfd2d6", "#3d434c"},
	{"ink", "#23272e", "#e6e3db"},
	{"soft", "#68707c", "#9aa2ad"},
	{"grid", "#e4e1d9", "#2e343d"},
	{"back", "#fff", "#1b1f26"},
}

// rules style the elements of every chart, with the names of colors.
const rules = `.chart{font:13px ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
.chart text{fill:var(--ink)}.chart .soft{fill:var(--soft)}.chart .small{font-size:11.5px}.chart .grid{stroke:var(--grid)}.chart .axis{stroke:var(--soft)}
.chart .line{fill:none;stroke-width:2.25;stroke-linejoin:round;stroke-linecap:round}.chart .dashed{stroke-dasharray:1 5}
.chart .ring{fill:var(--back);stroke-width:1.6}
.chart .spread{stroke-width:1.5;stroke-opacity:.55}
.chart .key{stroke-width:11}
.chart .s0{stroke:var(--c0)}.chart .s1{stroke:var(--c1)}.chart .s2{stroke:var(--c2)}` +
	`.chart .s3{stroke:var(--c3)}.chart .s4{stroke:var(--c4)}.chart .s5{stroke:var(--c5)}
.chart .f0{fill:var(--c0)}.chart .f1{fill:var(--c1)}.chart .f2{fill:var(--c2)}.chart .f3{fill:var(--c3)}.chart .f4{fill:var(--c4)}.chart .f5{fill:var(--c5)}
.paths{max-width:100%;height:auto}.paths .step{fill:none;stroke:var(--c4);stroke-linecap:round}` +
	`.paths .first{stroke:var(--c0)}.paths .against{stroke-dasharray:2 5}.paths .tip{fill:var(--soft)}
.paths text{paint-order:stroke;stroke:var(--back);stroke-width:4px;stroke-linejoin:round}.paths .label{fill:var(--soft)}.paths .end{font-weight:650}
.back{fill:var(--back)}
`

// Style is the style sheet of every chart: its colors, light and dark, and its font. A page with
// charts includes it once; File puts the same rules into the file.
var Style = func() string {
	var light, dark strings.Builder
	for _, c := range colors {
		fmt.Fprintf(&light, "--%s:%s;", c.name, c.light)
		fmt.Fprintf(&dark, "--%s:%s;", c.name, c.dark)
	}
	return ".chart{" + light.String() + "}\n" + onDark(".chart{"+dark.String()+"}") + rules
}()

// File returns a chart as a file of its own, with its style and a background. Its rules name every
// color by its value: viewers and converters other than browsers do not know custom properties, and
// draw everything black.
func File(svg string) []byte {
	var light, dark []string
	for _, c := range colors {
		light = append(light, "var(--"+c.name+")", c.light)
		dark = append(dark, "var(--"+c.name+")", c.dark)
	}
	style := "<style>" + strings.NewReplacer(light...).Replace(rules) +
		onDark(strings.NewReplacer(dark...).Replace(rules)) + "</style>\n" +
		`<rect class="back" width="100%" height="100%"/>` + "\n"
	opening := strings.Index(svg, ">\n") + 2
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + svg[:opening] + style + svg[opening:] + "\n")
}

// onDark limits rules to pages with a dark scheme.
func onDark(rules string) string { return "@media (prefers-color-scheme:dark){" + rules + "}\n" }
