package synthetic

import (
	"math"
	"reflect"
	"testing"

	"tagnet/model/graph"
)

// TestRulesHold makes graphs and follows their rules: derived facts are mostly the ends of walks along a rule of their
// relation, and of the ends of a rule's walks about as many are facts as its confidence says.
func TestRulesHold(t *testing.T) {
	t.Parallel()
	followed, derived := 0, 0
	for seed := range uint64(12) {
		g, err := New(seed, Default)
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Rules) == 0 || len(g.HeldOut) == 0 || g.Base == 0 {
			t.Fatalf("seed %d: %d rules, %d facts held out, %d base facts", seed, len(g.Rules), len(g.HeldOut), g.Base)
		}
		tails := tailsOf(g)
		for _, f := range g.HeldOut {
			derived++
			for _, rule := range g.Rules {
				if rule.Head == f.Relation && ends(tails, f.Head, rule.Body)[f.Tail] {
					followed++
					break
				}
			}
		}
		known := map[graph.Fact]bool{}
		for _, f := range g.Facts {
			if known[f] {
				t.Fatalf("seed %d: fact %v stands twice", seed, f)
			}
			known[f] = true
		}
		for _, f := range g.HeldOut {
			if known[f] {
				t.Fatalf("seed %d: the held-out fact %v is in the graph", seed, f)
			}
		}
	}
	if share := float64(followed) / float64(derived); !(share > .6) {
		t.Errorf("%.2f of the held-out facts follow from a rule and the rest of the graph, want most", share)
	}
}

// tailsOf returns the tails of each head by relation, inverse ones included.
func tailsOf(g *Graph) map[[2]int32][]int32 {
	tails := map[[2]int32][]int32{}
	for _, f := range g.Facts {
		inverse := f.Relation + int32(g.Relations)
		tails[[2]int32{f.Relation, f.Head}] = append(tails[[2]int32{f.Relation, f.Head}], f.Tail)
		tails[[2]int32{inverse, f.Tail}] = append(tails[[2]int32{inverse, f.Tail}], f.Head)
	}
	return tails
}

func ends(tails map[[2]int32][]int32, from int32, body []int32) map[int32]bool {
	at := map[int32]bool{from: true}
	for _, relation := range body {
		next := map[int32]bool{}
		for o := range at {
			for _, tail := range tails[[2]int32{relation, o}] {
				next[tail] = true
			}
		}
		at = next
	}
	return at
}

func TestSeedDecidesTheGraph(t *testing.T) {
	t.Parallel()
	var facts [2]*Graph
	for i := range facts {
		var err error
		if facts[i], err = New(7, Default); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(facts[0], facts[1]) {
		t.Error("two graphs of a seed differ")
	}
	other, err := New(8, Default)
	if err != nil || reflect.DeepEqual(facts[0].Facts, other.Facts) {
		t.Errorf("another seed gives the same facts, or the error %v", err)
	}
}

// TestSizes draws graphs within bounds.
func TestSizes(t *testing.T) {
	t.Parallel()
	o := Options{Entities: Range{30, 50}, Relations: Range{1, 5}, Degree: Range{3, 3}}
	for seed := range uint64(50) {
		g, err := New(seed, o)
		if err != nil {
			t.Fatal(err)
		}
		if g.Entities < 30 || g.Entities > 50 || g.Relations < 1 || g.Relations > 5 {
			t.Errorf("seed %d: %d entities, %d relations", seed, g.Entities, g.Relations)
		}
		if _, err := graph.New(g.Entities, g.Relations, g.Facts); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if degree := 2 * float64(g.Base) / float64(g.Entities); math.Abs(degree-3) > 3 {
			t.Errorf("seed %d: a mean degree of %.1f in base relations, want about 3", seed, degree)
		}
	}
	for _, bad := range []Options{{}, {Range{5, 4}, Range{1, 1}, Range{1, 1}, 0}, {Range{2, 4}, Range{0, 1}, Range{1, 1}, 0},
		{Range{2, 4}, Range{1, 1}, Range{1, 1}, 2}} {
		if _, err := New(1, bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}
