package synthetic

import (
	"testing"

	"tagnet/model/graph"
)

// TestHiddenClasses makes graphs with hidden classes: they are small and dense, and in about half of them two entities
// have one relation at most.
func TestHiddenClasses(t *testing.T) {
	t.Parallel()
	o := Default
	o.Classes = 1
	terms := 0
	for seed := range uint64(40) {
		g, err := New(seed, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := graph.New(g.Entities, g.Relations, g.Facts); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if g.Entities < 14 || g.Entities > 300 {
			t.Errorf("seed %d: %d entities, want 14 to 300", seed, g.Entities)
		}
		if g.Base < g.Entities || g.Base > 3*mostClassFacts {
			t.Errorf("seed %d: %d base facts about %d entities, want more than these, and three draws of %d at most", seed, g.Base, g.Entities, mostClassFacts)
		}
		pairs := map[[2]int32]bool{}
		for _, f := range g.Facts {
			pairs[[2]int32{f.Head, f.Tail}] = true
		}
		if len(pairs) == len(g.Facts) {
			terms++
		}
	}
	if terms < 10 || terms > 30 {
		t.Errorf("in %d of 40 graphs two entities have one relation at most, want about half", terms)
	}
}

// TestClassesDecideTerms compares the terms of pairs of entities: where two entities use the same term for a third one,
// they mostly use the same for a fourth, far more often than by chance, since they are of one class.
func TestClassesDecideTerms(t *testing.T) {
	t.Parallel()
	o := Default
	o.Classes, o.Relations = 1, Range{12, 12}
	for seed := range uint64(20) {
		g, err := New(seed, o)
		if err != nil {
			t.Fatal(err)
		}
		terms := map[[2]int32]int32{}
		for _, f := range g.Facts {
			terms[[2]int32{f.Head, f.Tail}] = f.Relation
		}
		if len(terms) < len(g.Facts) {
			continue // some entities have several relations
		}
		best, other := 0., 0. // the largest share of equal terms of entity 0 and another one, and the mean share
		for x := range int32(g.Entities) {
			equal, both := 0, 0
			for y := range int32(g.Entities) {
				first, ok := terms[[2]int32{0, y}]
				second, and := terms[[2]int32{x, y}]
				if x != 0 && ok && and {
					if both++; first == second {
						equal++
					}
				}
			}
			if both >= 5 {
				share := float64(equal) / float64(both)
				best, other = max(best, share), other+share/float64(g.Entities)
			}
		}
		if best > 0 && !(best > .5 && best > 1.5*other) {
			t.Errorf("seed %d: entity 0 shares %.2f of its terms with the entity most like it, %.2f with all: want a class", seed, best, other)
		}
	}
}
