package chart

import (
	"fmt"
	"html"
	"math"
	"math/rand/v2"
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
		">Joan Eibe</text>": 1, ">Matti Wacholder</text>": 1, ">Lina Wacholder</text>": 1, ">Karl</text>": 1, // also where a path returns
		">parent_of</text>":                         3, // out, back to the answer, back to the source
		"path 1: 0.41, path 2: 0.27, path 5: -0.03": 1, "against": 2, ">sees</text>": 1, `class="step first"`: 2,
		"style=": 0, // which the policy of a page refuses
	} {
		if got := strings.Count(svg, text); got != want {
			t.Errorf("%q occurs %d times, want %d", text, got, want)
		}
	}
	if svg != Paths(family) {
		t.Error("the same paths gave another drawing")
	}
	checkTexts(t, svg)
	rows := map[string]float64{}
	for _, found := range regexp.MustCompile(`<title>([^<]*)</title><circle cx="[0-9.]+" cy="([0-9.]+)"`).FindAllStringSubmatch(svg, -1) {
		y, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		rows[found[1]] = y
	}
	if !(rows["Joan Eibe"] < rows["Lina Wacholder"] && rows["Lina Wacholder"] < rows["Karl"] && rows["Karl"] < rows["Matti Wacholder"]) {
		t.Errorf("the entities stand at %v, want the order of the paths", rows)
	}
}

// checkTexts checks that every text has a row of its own and ends inside the drawing, and that no line leaves it.
func checkTexts(t *testing.T, svg string) {
	t.Helper()
	above := map[string]string{}
	for _, found := range regexp.MustCompile(`<text x="([0-9.]+)" y="([0-9.]+)"[^>]*>([^<]*)<`).FindAllStringSubmatch(svg, -1) {
		x, err := strconv.ParseFloat(found[1], 64)
		if text := html.UnescapeString(found[3]); err != nil || x+textWidth(text) > pathsWidth {
			t.Errorf("%q begins at %g and ends outside", text, x)
		}
		if other, there := above[found[2]]; there {
			t.Errorf("%q is in the row of %q", found[3], other)
		}
		above[found[2]] = found[3]
	}
	if strings.Contains(svg, "H-") || strings.Contains(svg, "Q-") {
		t.Errorf("a line leaves the drawing: %s", svg)
	}
}

// TestPathLanes checks on random walks that no step runs over an entity that it does not touch, nor over another step
// but on the way to the same entity.
func TestPathLanes(t *testing.T) {
	t.Parallel()
	most := 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var paths []model.Path
		for range 1 + random.IntN(mostPaths) {
			stops := []string{"s"}
			for range random.IntN(5) {
				stops = append(stops, fmt.Sprint("r", random.IntN(2)), fmt.Sprint(random.IntN(5)))
			}
			paths = append(paths, way(1, append(stops, "r", "a")...))
		}
		g := arrange(paths)
		for i, l := range g.links {
			if l.lane == 0 && l.lower != l.upper+1 {
				t.Errorf("seed %d: %v runs through the entities between", seed, l.link)
			}
			for _, o := range g.links[:i] {
				top, bottom := max(min(g.rows[l.upper], l.y), min(g.rows[o.upper], o.y)), min(max(g.rows[l.upper], l.y), max(g.rows[o.upper], o.y))
				if o.lane == l.lane && top < bottom {
					t.Errorf("seed %d: %v and %v share a lane", seed, o.link, l.link)
				}
			}
		}
		most = max(most, g.lanes)
	}
	if most < 8 {
		t.Errorf("at most %d lanes: the check says little", most)
	}
}

// TestPathArrows checks that arrows point from the head of a fact to its tail, also where the tail stands above.
func TestPathArrows(t *testing.T) {
	t.Parallel()
	tip := regexp.MustCompile(`l-4.5 (-?)7.0h9z" class="tip"/>\n<text[^>]*>(\w+)<`)
	svg := Paths([]model.Path{way(1, "a", "down", "b", "down", "c"), way(1, "a", "~up", "b"), way(1, "b", "up", "a"), way(1, "b", "~down", "a")})
	all := tip.FindAllStringSubmatch(svg, -1)
	if len(all) != 5 {
		t.Fatalf("%d arrows, want 5: %s", len(all), svg)
	}
	for _, found := range all {
		if down := found[1] == "-"; down != (found[2] == "down") {
			t.Errorf("the arrow of %s points down: %v", found[2], down)
		}
	}
}

// TestPathsOfAnything draws what no model returns, and more than fits.
func TestPathsOfAnything(t *testing.T) {
	t.Parallel()
	if svg := Paths([]model.Path{{Weight: 1}}); svg != "" {
		t.Errorf("without a step: %s", svg)
	}
	hostile := "</svg><script>\"&'\x1b[31m\x00\ufffe\uffff"
	long := "/film/film/release_date_s./film/film_regional_release_date/film_release_region"
	svg := Paths([]model.Path{way(math.NaN(), hostile, hostile, hostile), way(0, hostile, long, strings.Repeat("ä", 1<<20), long, hostile)})
	wellFormed(t, strings.ReplaceAll(svg, "path 1: NaN", ""))
	if strings.Contains(svg, "<script") || len(svg) > 5_000 || !strings.Contains(svg, ">…film_release_region<") {
		t.Errorf("%d bytes: %.2000s", len(svg), svg)
	}
	checkTexts(t, svg)
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
	checkTexts(t, svg)
	if n := strings.Count(svg, "<circle"); n != 2+7*8/2 {
		t.Errorf("%d entities are drawn", n)
	}
	if svg := Paths(many[mostPathSteps:]); svg != "" {
		t.Errorf("a path with %d steps is drawn", mostPathSteps+1)
	}
}
