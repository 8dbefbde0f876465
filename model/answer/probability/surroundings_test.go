package probability

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tagnet/model/graph"
)

// randomFacts returns distinct facts of a graph with loops, pairs of entities with several relations, and
// relations of few facts.
func randomFacts(entities, relations int32, n int, random *rand.Rand) []graph.Fact {
	var facts []graph.Fact
	for range n {
		f := graph.Fact{Head: random.Int32N(entities), Relation: random.Int32N(1 + random.Int32N(relations)), Tail: random.Int32N(entities)}
		facts = append(facts, f)
		switch random.IntN(6) {
		case 0:
			facts = append(facts, graph.Fact{Head: f.Head, Relation: f.Relation, Tail: f.Head})
		case 1:
			facts = append(facts, graph.Fact{Head: f.Tail, Relation: random.Int32N(relations), Tail: f.Head})
		}
	}
	slices.SortFunc(facts, graph.Fact.Compare)
	return slices.Compact(facts)
}

func newGraph(t *testing.T, entities, relations int, facts []graph.Fact) *graph.Graph {
	t.Helper()
	g, err := graph.New(entities, relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// near reports whether features are equal but for rounding.
func near(a, b row) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 1e-9) {
			return false
		}
	}
	return true
}

// TestFeaturesLackTheFact checks that the features of each fact are those in a graph from which it was removed, but for
// what is usual of its relation (TestNoFeatureTellsHowObservationsAreMade).
func TestFeaturesLackTheFact(t *testing.T) {
	t.Parallel()
	facts := randomFacts(14, 4, 45, rand.New(rand.NewPCG(1, 2)))
	g := newGraph(t, 14, 4, facts)
	s := NewSurroundings(g)
	few := []*Surroundings{newSurroundings(g, 0), newSurroundings(g, 16), newSurroundings(g, 36)} // which hold fewer pairs
	for i, f := range facts {
		without := NewSurroundings(newGraph(t, 14, 4, slices.Delete(slices.Clone(facts), i, i+1)))
		o := Observation{Fact: f, Tails: Side{Score: 1, Rank: 2}, Heads: Side{Score: -1, Rank: 40}, Hops: 2}
		got, want := s.features(&o, 10), without.features(&o, 10)
		for f := range features {
			if strings.HasPrefix(features[f].name, "usual") {
				want[f] = got[f]
			}
		}
		if !near(got, want) {
			t.Errorf("%v: features\n%v, without the fact\n%v", f, got, want)
		}
		for _, s := range few {
			if got := s.features(&o, 10); !near(got, want) {
				t.Errorf("%v: from %d entities on, features\n%v, want\n%v", f, s.many, got, want)
			}
		}
	}
}

// TestPairsAreBounded has an entity of many relations, which go with each other in all pairs.
func TestPairsAreBounded(t *testing.T) {
	t.Parallel()
	const relations = 1000
	var facts []graph.Fact
	for r := range int32(relations) {
		for o := range max(1+r%3, 7-r/20) {
			facts = append(facts, graph.Fact{Head: o, Relation: r, Tail: 7 + (r+o)%2})
		}
	}
	g := newGraph(t, 9, relations, facts)
	s := NewSurroundings(g)
	pairs := int64(0)
	for q, row := range s.rows {
		for i, r := range row.relations {
			if both := s.common(r, int32(q)); both != row.both[i] || both == 0 {
				t.Fatalf("relations %d and %d leave %d entities together, and %d the other way around", q, r, row.both[i], both)
			}
		}
		pairs += int64(len(row.relations))
	}
	if pairs == 0 || pairs > pairsPerEdge*g.Edges() {
		t.Errorf("%d pairs are held, want at most %d for each of %d edges", pairs, pairsPerEdge, g.Edges())
	}
}

// TestSurroundings compares with counts of a table of all entities and relations.
func TestSurroundings(t *testing.T) {
	t.Parallel()
	const entities, relations = 30, 4
	g := newGraph(t, entities, relations, randomFacts(entities, relations, 60, rand.New(rand.NewPCG(3, 4))))
	s := NewSurroundings(g)
	var has [entities][2 * relations]float64
	for o := range int32(entities) {
		_, entering := g.In(o)
		for _, r := range entering {
			has[o][g.Inverse(r)]++
		}
	}
	habit := func(o, q int32) (sum float64) {
		for r := range int32(2 * relations) {
			if r == q {
				continue
			}
			var both, ofQ, ofR float64
			for _, counts := range has {
				inQ, inR := min(counts[q], 1), min(counts[r], 1)
				both, ofQ, ofR = both+inQ*inR, ofQ+inQ, ofR+inR
			}
			rate := (ofR + .5) / (entities + 1)
			with := min(max((both+2*rate)/(ofQ+2), 1e-4), 1-1e-4)
			without := min(max((ofR-both+2*rate)/(entities-ofQ+2), 1e-4), 1-1e-4)
			if has[o][r] > 0 {
				sum += math.Log(with / without)
			} else {
				sum += math.Log((1 - with) / (1 - without))
			}
		}
		return sum
	}
	usual := func(o, q int32) float64 {
		one, edges := 0., 0.
		for _, counts := range has {
			edges += counts[q]
			if counts[q] == 1 {
				one++
			}
		}
		if has[o][q] > 0 {
			return math.Log((edges - one + 1) / (edges + 2))
		}
		return math.Log((one + 1) / (edges + 2))
	}
	asked := 0
	for h := range int32(entities) {
		for r := range int32(relations) {
			f := graph.Fact{Head: h, Relation: r, Tail: (h + 7*r + 1) % entities}
			if g.Has(f.Head, f.Relation, f.Tail) {
				continue
			}
			asked++
			inverse := g.Inverse(r)
			is := func(n float64) float64 { return min(n, 1) }
			got := s.features(&Observation{Fact: f, Tails: Side{Score: 10, Rank: 3}, Heads: Side{Score: -20, Rank: 11}, Hops: 3}, 10)
			high, low := 10*math.Asinh(1), -10*math.Asinh(2)
			want := row{
				low, high, low, math.Log(3), math.Log(11), 0, 1,
				habit(h, r) * is(has[h][r]), habit(f.Tail, inverse) * is(has[f.Tail][inverse]),
				habit(h, r) * (1 - is(has[h][r])), habit(f.Tail, inverse) * (1 - is(has[f.Tail][inverse])),
				math.Log1p(has[h][r]), math.Log1p(has[f.Tail][inverse]), is(has[h][r]), is(has[f.Tail][inverse]), usual(h, r), usual(f.Tail, inverse),
				math.Log1p(float64(g.Degree(h))), math.Log1p(float64(g.Degree(f.Tail))), 0, 0, 1,
			}
			if !near(got, want) {
				t.Errorf("%v: features\n%v, want\n%v", f, got, want)
			}
		}
	}
	if asked < 80 {
		t.Errorf("%d facts were asked, want 80", asked)
	}
}
