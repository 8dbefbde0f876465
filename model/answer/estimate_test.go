package answer_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/graph/graphtest"
	"tagnet/model/graph/kg"
	"tagnet/model/pretrained"
)

// traits returns zero over a graph of traits, with an estimator, and the estimates of all facts without and with those
// that they share a query with.
var traits = sync.OnceValues(func() (*judging, error) {
	ctx := context.Background()
	g, err := kg.New(graphtest.Traits(), nil, nil)
	if err != nil {
		return nil, err
	}
	k, err := kernel.Named("")
	if err != nil {
		return nil, err
	}
	m, err := answer.Open(ctx, g, pretrained.Ref{Name: "zero"}, answer.Resources{Kernel: k, Threads: 2})
	if err != nil {
		return nil, err
	}
	if m, err = m.OverAllFacts(ctx); err != nil {
		return nil, err
	}
	s, err := m.Sampling(ctx)
	if err != nil {
		return nil, err
	}
	if err := m.Fit(ctx, s, nil); err != nil {
		return nil, err
	}
	presumed, err := m.Presume(ctx, answer.Missing{Share: graphtest.Others, Relations: graphtest.Missing})
	if err != nil {
		return nil, err
	}
	j := &judging{m: m, divided: map[graph.Fact]float64{}}
	if j.e, err = m.Estimator(presumed); err != nil {
		return nil, err
	}
	return j, j.judge(ctx)
})

// judging is a model with the probabilities of all facts, in their order.
type judging struct {
	m        *answer.Model
	e        *probability.Estimator
	observed []probability.Observation
	divided  map[graph.Fact]float64
	// apart counts facts by the number of their directions of which one is true at most, and those beyond the best.
	apart  [3]int
	beyond int
}

// judge divides the probabilities by the definition: each query with at most one answer by the sum of its
// ten new answers of highest score.
func (j *judging) judge(ctx context.Context) error {
	g := j.m.Graph
	var all []graph.Fact
	for f := range probability.Facts(complete(g)) {
		all = append(all, f)
	}
	slices.SortFunc(all, graph.Fact.Compare)
	var err error
	if j.observed, err = j.m.Observe(ctx, all, nil); err != nil {
		return err
	}
	type answered struct {
		fact  graph.Fact
		score float32
		p     float64
	}
	queries := map[graph.Query][]answered{}
	for _, o := range j.observed {
		p := j.e.Estimate(&o).Probability
		j.divided[o.Fact] = p
		tail, head := o.Queries(int32(g.BaseRelations))
		for i, q := range []graph.Query{tail, head} {
			if !g.Has(o.Head, o.Relation, o.Tail) {
				q.Answer = graph.None
				queries[q] = append(queries[q], answered{o.Fact, []float32{o.Tails.Score, o.Heads.Score}[i], p})
			}
		}
	}
	divisors, directions := map[graph.Fact]float64{}, map[graph.Fact]int{}
	for q, list := range queries {
		if !j.e.OneAnswer(q) {
			continue
		}
		slices.SortFunc(list, func(a, b answered) int { return cmp.Or(cmp.Compare(b.score, a.score), a.fact.Compare(b.fact)) })
		likely, rest := 0., 0.
		for _, a := range list[:min(10, len(list))] {
			if a.p >= .1 {
				likely += a.p
			} else {
				rest += a.p
			}
		}
		for i, a := range list {
			if a.p < .1 {
				continue
			}
			directions[a.fact]++
			if i < 10 {
				divisors[a.fact] = max(divisors[a.fact], likely/(1-rest), 1)
				continue
			}
			j.beyond++
			divisors[a.fact] = max(divisors[a.fact], likely+rest+a.p, 1)
		}
	}
	for f, divisor := range divisors {
		j.divided[f] /= divisor
		if divisor > 1 {
			j.apart[directions[f]]++
		}
	}
	for q, list := range queries {
		sum := 0.
		for _, a := range list[:min(10, len(list))] {
			sum += j.divided[a.fact]
		}
		if j.e.OneAnswer(q) && !(sum <= 1+1e-9) {
			return fmt.Errorf("the best answers of %v add up to %v", q, sum)
		}
	}
	return nil
}

// complete returns the graph of all facts among the entities of another one.
func complete(g *graph.Graph) *graph.Graph {
	var facts []graph.Fact
	for h := range int32(g.Entities) {
		for r := range int32(g.BaseRelations) {
			for t := range int32(g.Entities) {
				facts = append(facts, graph.Fact{Head: h, Relation: r, Tail: t})
			}
		}
	}
	all, err := graph.New(g.Entities, g.BaseRelations, facts)
	if err != nil {
		panic(err)
	}
	return all
}

// TestEstimate compares with judge what is estimated of all facts together, of few and alone, and what Ask says.
func TestEstimate(t *testing.T) {
	t.Parallel()
	j, err := traits()
	if err != nil {
		t.Fatal(err)
	}
	if min(j.apart[1], j.apart[2], j.beyond) < 1000 {
		t.Errorf("%v facts are divided by directions, %d beyond the best, want more", j.apart, j.beyond)
	}
	check := func(what string, list []answer.Estimated) {
		t.Helper()
		for _, got := range list {
			if want := j.divided[got.Fact]; !(math.Abs(got.Probability-want) <= 1e-9) {
				t.Fatalf("%s: probability of %v is %g, want %g, %g before it is divided", what, got.Fact, got.Probability, want,
					j.e.Estimate(&got.Observation).Probability)
			}
		}
	}
	estimate := func(observed []probability.Observation) []answer.Estimated {
		t.Helper()
		done := 0
		list, queries, err := j.m.Estimate(t.Context(), observed, j.e, func(n int) { done += n })
		if err != nil || len(list) != len(observed) || done < queries {
			t.Fatalf("%d estimates of %d after %d queries, done %d, error %v", len(list), len(observed), queries, done, err)
		}
		return list
	}
	all := estimate(j.observed)
	check("all", all)
	random := rand.New(rand.NewPCG(1, 1))
	for n := 1; n <= 4096; n *= 8 {
		var some []probability.Observation
		var want []answer.Estimated
		for range n {
			i := random.IntN(len(all))
			if likely := all[i].Probability >= .02; likely || n > 64 {
				some, want = append(some, j.observed[i]), append(want, all[i])
			}
		}
		if got := estimate(some); !slices.Equal(got, want) {
			t.Errorf("the estimates of %d facts are others than those of all", len(some))
		}
	}
	if list, queries, err := j.m.Estimate(t.Context(), j.observed[:2], nil, nil); len(list) != 2 || list[1].Probability > 0 || queries > 0 || err != nil {
		t.Errorf("without an estimator: %+v, %d queries, error %v", list, queries, err)
	}
	var queries []graph.Query
	for r := range int32(j.m.Graph.RelationCount()) {
		for source := range int32(j.m.Graph.Entities) {
			queries = append(queries, graph.Query{Source: source, Relation: r, Answer: graph.None})
		}
	}
	var some []int32
	for e := range int32(j.m.Graph.Entities / 3) {
		some = append(some, 3*e)
	}
	for what, a := range map[string]answer.Asking{"one": {Best: 1}, "many": {Best: 25, Known: true}, "among some": {Best: 5, Among: some, Known: true}} {
		a.Estimator = j.e
		answers, err := j.m.Ask(t.Context(), queries, a)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range answers {
			check(what, of.List)
			if !slices.IsSortedFunc(of.List, func(x, y answer.Estimated) int { return x.Compare(y.Estimate) }) {
				t.Errorf("%s: answers are not in the order of their probabilities", what)
			}
		}
	}
}
