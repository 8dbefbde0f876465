package budget_test

import (
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"tagnet/model/budget"
	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/weights/parameters"
	"tagnet/model/weights/ultra"
)

// TestUltraEstimateBoundsWhatIsHeld compares the live heap with the estimate, on a random graph that sources reach all of, and on
// WN18RR. It is not parallel: the heap is the process's.
func TestUltraEstimateBoundsWhatIsHeld(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	facts := make([]graph.Fact, 30_000)
	for i := range facts {
		facts[i] = graph.Fact{Head: int32(random.IntN(3000)), Relation: int32(random.IntN(40)), Tail: int32(random.IntN(3000))}
	}
	dense, err := graph.New(3000, 40, facts)
	if err != nil {
		t.Fatal(err)
	}
	compareUltra(t, dense, facts)
	sparse, facts := read(t, filepath.Join("../../../shared/data/wn18rr/train.txt"))
	compareUltra(t, sparse, facts)
}

func compareUltra(t *testing.T, g *graph.Graph, facts []graph.Fact) {
	t.Helper()
	k, err := kernel.Named("")
	if err != nil {
		t.Fatal(err)
	}
	before := live()
	p := parameters.Initialize(ultra.Layout(), 1)
	relations := relations.GraphOf(g)
	s, err := inference.New(g, relations, ultra.Configuration(), p, k)
	if err != nil {
		t.Fatal(err)
	}
	w, scores := s.Worker(), make([]float32, g.Entities)
	for i := range 8 {
		if err := w.Scores(t.Context(), facts[i].Head, []int32{0}, [][]float32{scores}); err != nil {
			t.Fatal(err)
		}
	}
	held := live() - before
	for i := range 8 {
		f := facts[i]
		if err := w.ScoresWithout(t.Context(), graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail, Removal: graph.RemoveFact}, nil, []int32{f.Relation}, [][]float32{scores}); err != nil {
			t.Fatal(err)
		}
	}
	withFacts := live() - before
	runtime.KeepAlive([]any{p, relations, s, w, scores})
	sizes := budget.Sizes{Entities: int64(g.Entities), Edges: g.Edges(), Relations: int64(g.RelationCount()), RelationEdges: relations.Edges()}
	e := budget.Score(sizes, ultra.Configuration(), 10, 1<<17)
	estimate := row(e, "parameters") + e.Thread
	t.Logf("%.1f MiB held, estimate %.1f", float64(held)/(1<<20), float64(estimate)/(1<<20))
	if held > estimate || estimate > 3*held/2 {
		t.Errorf("%d bytes are held, the estimate is %d", held, estimate)
	}
	e = budget.Triples(sizes, ultra.Configuration(), 8, 1, 1, 1<<17)
	estimate = row(e, "parameters") + e.Thread
	t.Logf("with queries without a fact %.1f MiB held, estimate %.1f", float64(withFacts)/(1<<20), float64(estimate)/(1<<20))
	if withFacts > estimate || estimate > 3*withFacts/2 {
		t.Errorf("with queries without a fact %d bytes are held, the estimate is %d", withFacts, estimate)
	}
}
