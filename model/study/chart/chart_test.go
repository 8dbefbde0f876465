package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// wellFormed fails unless the text is XML without a value that no renderer knows.
func wellFormed(t *testing.T, svg string) {
	t.Helper()
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
		t.Errorf("a coordinate that is not a number: %s", svg)
	}
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("invalid XML: %v\n%s", err, svg)
		}
	}
}

func TestChartsOfAnything(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for name, points := range map[string][]Point{
		"none": nil, "one": {{1, 0.5}}, "level": {{1, 2}, {2, 2}}, "zero": {{0, 0}, {1, 0}},
		"gaps": {{1, nan}, {2, 1}, {3, inf}, {4, 2}}, "all gaps": {{1, nan}}, "negative": {{-3, -1}, {5, 1e9}}, "tiny": {{1, 1e-12}, {2, 3e-12}},
	} {
		for _, log := range []bool{false, true} {
			svg := Lines{X: Axis{Label: "x", Log: log}, Y: Axis{Zero: true},
				Series: []Series{{Key: Key{Name: "<a>\uffff"}, Points: points}, {Key: Key{Name: "b"}}}}.SVG(name, "")
			wellFormed(t, svg)
			if !strings.Contains(svg, "&lt;a&gt;") {
				t.Errorf("%s: the name is not escaped", name)
			}
		}
	}
	for _, rows := range [][]Row{nil, {{"a", []Bar{{0, ""}}}}, {{"a", []Bar{{nan, ""}}}, {"b & c", []Bar{{3, `"`}}}}} {
		wellFormed(t, Bars{Series: []Key{{}}, Rows: rows}.SVG("bars", ""))
	}
	for _, rows := range [][]Row{nil, {{"0", nil}}, {{"1", []Bar{{0, ""}, {0, ""}}}}, {{"2", []Bar{{3, "<"}, {1, ""}}}}, {{"3", []Bar{{nan, ""}, {nan, ""}}}}} {
		wellFormed(t, Bars{Stacked: true, Series: []Key{{Name: "a"}, {Name: "b"}}, Rows: rows}.SVG("parts", ""))
	}
	for _, rows := range [][]Row{nil, {{"0", nil}}} {
		wellFormed(t, Bars{Stacked: true, X: Axis{Label: "all & more"}, Rows: rows}.SVG("parts of a whole", ""))
	}
	for _, rows := range [][]Row{nil, {{"0", nil}}, {{"1 < 2", []Bar{{nan, ""}, {0, `"`}}}, {"3", []Bar{{0.5, ""}, {1, ""}, {inf, ""}}}}} {
		wellFormed(t, Bars{Label: "at", Series: []Key{{Name: "a & b"}, {Name: "c"}}, Rows: rows}.SVG("groups", ""))
	}
}

// TestFile checks that a file is well-formed and names its colors by value: converters to PNG and
// PDF draw elements black whose colors are custom properties.
func TestFile(t *testing.T) {
	t.Parallel()
	file := string(File(Bars{Series: []Key{{}}, Rows: []Row{{"a", []Bar{{1, ""}}}}}.SVG("a file", "")))
	wellFormed(t, file)
	if found := strings.Index(file, "var("); found >= 0 {
		t.Errorf("the style has a custom property: %.40q", file[found:])
	}
}

// TestBarsStayInside checks that no bar, and no value behind it, leaves the chart, and that the
// lengths of the bars are proportional to their values.
func TestBarsStayInside(t *testing.T) {
	t.Parallel()
	g := Bars{Label: "edges", X: Axis{Label: "share", Most: 1}, Format: func(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) },
		Series: []Key{{Name: "a"}, {Name: "b"}}, Rows: []Row{{"1", []Bar{{1, ""}, {0.5, ""}}}, {"2-3", []Bar{{0.25, ""}, {0, ""}}}}}
	svg := g.SVG("", "")
	wellFormed(t, svg)
	var wide []float64
	for _, found := range regexp.MustCompile(`<rect x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)" height="13"`).FindAllStringSubmatch(svg, -1) {
		x, err1 := strconv.ParseFloat(found[1], 64)
		w, err2 := strconv.ParseFloat(found[2], 64)
		if err1 != nil || err2 != nil || x+w > width-textWidth("100.0%") {
			t.Errorf("a bar from %s, %s wide, leaves no space for its value", found[1], found[2])
		}
		wide = append(wide, w)
	}
	if len(wide) != 4 || !(math.Abs(wide[0]-2*wide[1]) < 0.3) || !(math.Abs(wide[1]-2*wide[2]) < 0.3) || wide[3] != 0 {
		t.Errorf("bars are %v wide", wide)
	}
}

// TestLegendLeavesNamelessSeriesOut checks that a dotted line without a name has no sign.
func TestLegendLeavesNamelessSeriesOut(t *testing.T) {
	t.Parallel()
	points := []Point{{0, 1}, {1, 2}}
	svg := Lines{Series: []Series{{Key: Key{Name: "a"}, Points: points}, {Points: points, Dashed: true}, {Key: Key{Name: "b"}, Points: points}}}.SVG("", "")
	if n := strings.Count(svg, "h18"); n != 2 {
		t.Errorf("%d signs, want 2", n)
	}
}

// TestLegendWraps checks that long names, such as those of a sweep over several flags, stay inside and do not shrink
// the space of the lines.
func TestLegendWraps(t *testing.T) {
	t.Parallel()
	const name = "attention, adversarial_temperature 0.5, learning_rate_decay 0.9, weight_decay 0.0001"
	l := Lines{Series: make([]Series, 8)}
	for i := range l.Series {
		l.Series[i] = Series{Key: Key{Name: name}, Points: []Point{{0, 0}, {1, 1}}}
	}
	svg := l.SVG("", "")
	texts := regexp.MustCompile(`<text x="([0-9.]+)" y="([0-9.]+)" text-anchor="start" class="">([^<]+)<`).FindAllStringSubmatch(svg, -1)
	var words []string
	for _, text := range texts {
		if x, err := strconv.ParseFloat(text[1], 64); err != nil || x+textWidth(text[3]) > width {
			t.Errorf("%q is wider than the chart", text[3])
		}
		words = append(words, text[3])
	}
	if got := strings.Join(words, " "); got != strings.TrimSpace(strings.Repeat(name+" ", 8)) {
		t.Errorf("the legend is %q", got)
	}
	lowest, err := strconv.ParseFloat(texts[len(texts)-1][2], 64)
	axis := regexp.MustCompile(`y1="([0-9.]+)" x2="[0-9.]+" y2="[0-9.]+" class="axis"`).FindStringSubmatch(svg)
	if bottom, err2 := strconv.ParseFloat(axis[1], 64); err != nil || err2 != nil || bottom-lowest < 150 {
		t.Errorf("the lines have the space from %v to %v", lowest, bottom)
	}
}

// TestMarks checks that the points of a dotted line are rings, on the line as in the legend, so that two single points
// of a color differ.
func TestMarks(t *testing.T) {
	t.Parallel()
	point := []Point{{0, 1}}
	svg := Lines{Series: []Series{{Key: Key{Name: "a"}, Points: point}, {Key: Key{Name: "b"}, Points: point, Dashed: true},
		{Key: Key{Name: "c"}, Points: make([]Point, 41)}}}.SVG("", "")
	for style, want := range map[string]int{`class="f0"`: 2, `class="ring s0"`: 2, "<circle": 4} {
		if n := strings.Count(svg, style); n != want {
			t.Errorf("%d times %s, want %d", n, style, want)
		}
	}
}

// TestSpread checks the length of the bar through a point, that the axis has it, and that a point
// without spread has no bar.
func TestSpread(t *testing.T) {
	t.Parallel()
	svg := Lines{Series: []Series{{Points: []Point{{0, 2}, {1, 4}, {2, 3}}, Spread: []float64{1, math.NaN(), 0}}}}.SVG("", "")
	wellFormed(t, svg)
	bars := regexp.MustCompile(`y1="([0-9.]+)" x2="[0-9.]+" y2="([0-9.]+)" class="spread s0"`).FindAllStringSubmatch(svg, -1)
	if len(bars) != 1 {
		t.Fatalf("%d bars, want 1: %s", len(bars), svg)
	}
	low, err1 := strconv.ParseFloat(bars[0][1], 64)
	high, err2 := strconv.ParseFloat(bars[0][2], 64)
	if err1 != nil || err2 != nil || !(low <= 234) || !(math.Abs((low-high)-2*(234-14)/3.0) < 0.3) { // the axis is from 1 to 4
		t.Errorf("the bar is from %g to %g", low, high)
	}
}

// TestLastTickStaysInside checks that a wide label at the end of the axis is not cut.
func TestLastTickStaysInside(t *testing.T) {
	t.Parallel()
	svg := Lines{X: Axis{Format: func(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }, Most: 1},
		Series: []Series{{Points: []Point{{0, 0}, {1, 1}}}}}.SVG("", "")
	ticks := regexp.MustCompile(`<text x="([0-9.]+)" y="[0-9.]+" text-anchor="middle" class="soft">100.0%`).FindAllStringSubmatch(svg, -1)
	if len(ticks) == 0 {
		t.Fatalf("no ticks: %s", svg)
	}
	x, err := strconv.ParseFloat(ticks[len(ticks)-1][1], 64)
	if err != nil || x+textWidth("100.0%")/2 > width {
		t.Errorf("the last label is at %g, wider than the chart (%v)", x, err)
	}
}

func TestScale(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		axis      Axis
		values    []float64
		low, high float64
		ticks     int
	}{
		{"shares", Axis{Zero: true, Most: 1}, []float64{0.2, 0.93}, 0, 1, 6},
		{"epochs", Axis{Whole: true}, []float64{1, 12}, 1, 12, 6},
		{"few layers", Axis{Whole: true}, []float64{0, 2}, 0, 2, 3},
		{"ranks", Axis{Log: true}, []float64{1, 14541}, 1, 14541, 5},
		{"close shares", Axis{Log: true, Most: 1}, []float64{0.033, 1}, 0.02, 1, 6},
		{"closer shares", Axis{Log: true}, []float64{0.3, 0.4}, 0.2, 0.5, 2},
		{"one share", Axis{Log: true}, []float64{0.1}, 0.1, 1, 4},
	} {
		s := newScale(test.axis, test.values, 5, 0, 100)
		if test.name == "epochs" {
			s = newScale(test.axis, test.values, 8, 0, 100)
		}
		if !(math.Abs(s.low-test.low) < 1e-9) || !(math.Abs(s.high-test.high) < 1e-9) || len(s.ticks) != test.ticks {
			t.Errorf("%s: from %g to %g with ticks %v, want %g to %g and %d ticks", test.name, s.low, s.high, s.ticks, test.low, test.high, test.ticks)
		}
		if !(math.Abs(s.at(s.low)) < 1e-9) || !(math.Abs(s.at(s.high)-100) < 1e-9) {
			t.Errorf("%s: ends at %g and %g", test.name, s.at(s.low), s.at(s.high))
		}
	}
}

// TestTicksHaveDifferentLabels draws axes whose ticks are equal after rounding.
func TestTicksHaveDifferentLabels(t *testing.T) {
	t.Parallel()
	percent := func(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }
	for _, test := range []struct {
		name   string
		axis   Axis
		values []float64
		labels int
	}{
		{"close values", Axis{}, []float64{0.693147, 0.693151}, 5},
		{"large values", Axis{}, []float64{123456, 123460}, 5},
		{"a small share", Axis{Format: percent, Zero: true, Most: 1}, []float64{0.001}, 1},
		{"a share", Axis{Format: percent, Zero: true, Most: 1}, []float64{0.02}, 3},
		{"powers below 1", Axis{Log: true, Format: func(v float64) string { return strconv.Itoa(int(v)) }}, []float64{0.01, 100}, 4},
		{"differences that rounding loses", Axis{}, []float64{1, math.Nextafter(1, 2)}, 5},
	} {
		seen := map[string]bool{}
		ticks := newScale(test.axis, test.values, 5, 0, 100).ticks
		for _, tick := range ticks {
			if seen[tick.label] {
				t.Errorf("%s: %q twice", test.name, tick.label)
			}
			seen[tick.label] = true
		}
		if len(ticks) < test.labels {
			t.Errorf("%s: %v, want %d labels", test.name, ticks, test.labels)
		}
	}
}
