package chart

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tagnet/model"
)

// way returns a path from entities and relations in turn. A relation with ~ is inverse.
func way(weight float64, names ...string) model.Path {
	p := model.Path{Weight: weight}
	for i := 0; i+2 < len(names); i += 2 {
		relation, inverse := strings.CutPrefix(names[i+1], "~")
		p.Steps = append(p.Steps, model.Step{From: names[i], Relation: relation, Inverse: inverse, To: names[i+2]})
	}
	return p
}

// family are paths that share steps, have different lengths, return to an entity, and have parallel steps.
var family = []model.Path{
	way(0.41, "Joan Eibe", "parent_of", "Lina Wacholder", "~parent_of", "Matti Wacholder"),
	way(0.27, "Joan Eibe", "parent_of", "Lina Wacholder", "spouse_of", "Karl", "~child_of", "Matti Wacholder"),
	way(0.12, "Joan Eibe", "cousin_of", "Matti Wacholder"),
	way(0.11, "Joan Eibe", "knows", "Matti Wacholder"),
	way(-0.03, "Joan Eibe", "parent_of", "Lina Wacholder", "~parent_of", "Joan Eibe", "~sibling_of", "Matti Wacholder"),
	way(0.02, "Joan Eibe", "sees", "Lina Wacholder", "~parent_of", "Matti Wacholder"),
}

// TestPaths checks a drawing by its elements. PATHS_FILE names a file that keeps it.
func TestPaths(t *testing.T) {
	t.Parallel()
	svg := Paths(family)
	wellFormed(t, svg)
	if kept := os.Getenv("PATHS_FILE"); kept != "" {
		if err := os.WriteFile(kept, File(svg), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]int{
		">Joan Eibe</text>": 2, ">Matti Wacholder</text>": 1, ">Lina Wacholder</text>": 1, ">Karl</text>": 1, // the return to Joan Eibe is a stop of its own
		">parent_of</text>":                         3, // out, back to the answer, back to the source
		"path 1: 0.41, path 2: 0.27, path 5: -0.03": 1, "against": 2, ">sees</text>": 1,
	} {
		if got := strings.Count(svg, text); got != want {
			t.Errorf("%q occurs %d times, want %d", text, got, want)
		}
	}
	if svg != Paths(family) {
		t.Error("the same paths gave another drawing")
	}
	circle := regexp.MustCompile(`<title>([^<]*)</title><circle cx="([0-9.]+)" cy="([0-9.]+)"`)
	taken := map[string]string{}
	for i, found := range circle.FindAllStringSubmatch(svg, -1) {
		at := found[2] + " " + found[3]
		if other, there := taken[at]; there {
			t.Errorf("%s is drawn over %s", found[1], other)
		}
		taken[at] = found[1]
		x, err := strconv.ParseFloat(found[2], 64)
		if want := []float64{pathMargin, pathMargin + 3*columnPitch}; err != nil || i < 2 && x != want[i] {
			t.Errorf("%s is at %g, want %g", found[1], x, want[i])
		}
	}
}

// TestPathArrows checks that arrows point from the head of a fact to its tail.
func TestPathArrows(t *testing.T) {
	t.Parallel()
	tip := regexp.MustCompile(`<path d="M([0-9.]+) [0-9.]+l(-?)7.0 -4.5v9z" class="tip"`)
	for relation, want := range map[string][]string{"r": {"181.0", "-"}, "~r": {"69.0", ""}} {
		svg := Paths([]model.Path{way(1, "a", relation, "b")})
		if found := tip.FindStringSubmatch(svg); found == nil || found[1] != want[0] || found[2] != want[1] || !strings.Contains(svg, ">r</text>") {
			t.Errorf("%s: the arrow is %v, want %v", relation, found, want)
		}
	}
}

// TestPathsOfAnything draws what no model returns, and more than fits.
func TestPathsOfAnything(t *testing.T) {
	t.Parallel()
	if svg := Paths([]model.Path{{Weight: 1}}); svg != "" {
		t.Errorf("without a step: %s", svg)
	}
	hostile := "</svg><script>\"&'\x1b[31m\x00"
	long := "/film/film/release_date_s./film/film_regional_release_date/film_release_region"
	svg := Paths([]model.Path{way(math.NaN(), hostile, hostile, hostile), way(0, hostile, long, strings.Repeat("ä", 1<<20), long, hostile)})
	wellFormed(t, strings.ReplaceAll(svg, "path 1: NaN", ""))
	if strings.Contains(svg, "<script") || len(svg) > 5_000 || !strings.Contains(svg, ">…film_rel…egion<") {
		t.Errorf("%d bytes: %.2000s", len(svg), svg)
	}
	var many []model.Path
	for i := range 50 {
		names := []string{"s"}
		for j := range i {
			names = append(names, "r", fmt.Sprint(i, " ", j))
		}
		many = append(many, way(1, append(names, "r", "a")...))
	}
	svg = Paths(many)
	wellFormed(t, svg)
	if n := strings.Count(svg, "<circle"); n != 2+7*8/2 {
		t.Errorf("%d entities are drawn", n)
	}
	if svg := Paths(many[mostPathSteps:]); svg != "" {
		t.Errorf("a path with %d steps is drawn", mostPathSteps+1)
	}
}
