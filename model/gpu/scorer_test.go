package gpu

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tagnet/formats/hop"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/graph"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// queries returns all queries of a graph with two entities as answers, of which some are known. A fact leaves the graph
// of those that have one.
func (s scenario) queries() (all []answer.Request) {
	v := int32(s.graph.Entities)
	for source := range v {
		for relation := range int32(s.graph.RelationCount()) {
			known := slices.Compact([]int32{source / 2, v - 1})
			q := answer.Request{Query: graph.Query{Source: source, Relation: relation, Answer: graph.None}, Rows: []int64{4, 7},
				Answers: []int32{(source + relation) % v, v - 1}, Known: known}
			for entity := range v {
				if s.graph.Has(source, relation, entity) {
					q.Answer, q.Removal, q.Answers[0] = entity, graph.RemoveFact, entity
				}
			}
			all = append(all, q)
		}
	}
	return all
}

// rankingAll returns a query whose labeled answers are all entities, in the rows of their ids.
func rankingAll(source, relation int32, g *graph.Graph) answer.Request {
	q := answer.Request{Query: graph.Query{Source: source, Relation: relation, Answer: graph.None}}
	for v := range int32(g.Entities) {
		q.Rows, q.Answers = append(q.Rows, int64(v)), append(q.Answers, v)
	}
	return q
}

// scores returns the scores of a query's labeled answers.
func scores(q answer.Ranked) (list []float32) {
	for _, r := range q.Results {
		list = append(list, r.Score)
	}
	return list
}

// answerOnTheCPU answers queries with packages inference and answer.
func (s scenario) answerOnTheCPU(t *testing.T, p *parameters.Set[float32], queries []answer.Request, list ranking.Selection) *answer.Scored {
	t.Helper()
	scorer, err := inference.New(s.graph, nil, s.configuration, p, kernel.Available()[0])
	if err != nil {
		t.Fatal(err)
	}
	pool := answer.NewPool(s.graph.Entities, s.graph.RelationCount(), 1, scorer.Group, func() answer.Worker { return scorer.Worker() })
	scored, err := pool.Rank(t.Context(), queries, list, nil)
	if err != nil {
		t.Fatal(err)
	}
	return scored
}

// near compares scores, of which a device adds the terms in another order.
var near = cmp.Comparer(func(x, y float32) bool {
	return x == y || math.Abs(float64(x-y)) <= 1e-4*max(1, math.Abs(float64(y)))
})

// TestScoringMatchesTheCPU compares ranks, best candidates, distances and messages of all queries of a graph. Entities
// that are not reached are tied.
func TestScoringMatchesTheCPU(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*configuration.Configuration){
		"default":   nil,
		"full":      func(c *configuration.Configuration) { c.Policy, c.Dependent, c.Dim = "full", false, 8 },
		"specific":  func(c *configuration.Configuration) { c.DeltaMode, c.Attention, c.Dim = "specific", "shared", 8 },
		"all, full": func(c *configuration.Configuration) { c.Reach, c.Policy, c.Dim = 1000, "full", 8 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := smallScenario(t, change)
			queries, p := s.queries()[:20], s.parameters()
			queries[0].Answers[0] = graph.None
			scorer, err := NewScorer(interpreter.New(interpreter.Seed(3)), s.graph, nil, s.configuration, p)
			if err != nil {
				t.Fatal(err)
			}
			compare := func(list ranking.Selection) *answer.Scored {
				got, err := scorer.Score(t.Context(), queries, list)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(s.answerOnTheCPU(t, p, queries, list), got, near); diff != "" {
					t.Errorf("%+v (-CPU +device):\n%s", list, diff)
				}
				return got
			}
			compare(ranking.Selection{K: 5})
			got := compare(ranking.Selection{K: 5, Candidates: []int32{1, 2, 3, 5}, Known: ranking.LeftOut})
			tied := slices.ContainsFunc(got.Queries, func(q answer.Ranked) bool {
				return slices.ContainsFunc(q.Results, func(r answer.Result) bool { return r.Rank.Tied() })
			})
			unreached := slices.ContainsFunc(got.Queries, func(q answer.Ranked) bool {
				return slices.ContainsFunc(q.Results, func(r answer.Result) bool { return r.Distance == hop.Column })
			})
			if !tied || !unreached {
				t.Errorf("ties: %t, entities that are not reached: %t; want both", tied, unreached)
			}
			queries = queries[:len(queries)/4]
			for i := range queries {
				queries[i].Sample = answer.Sample{Negatives: 3, Seed: 2}
			}
			compare(ranking.Selection{K: 5})
		})
	}
}

// TestScenariosAreScoredAsOnTheCPU compares scores, distances and messages of the examples' queries, of random
// configurations and of those scenarios that score otherwise than a step does.
func TestScenariosAreScoredAsOnTheCPU(t *testing.T) {
	t.Parallel()
	stepOnly := func(s scenario) bool { return !s.scored }
	for _, s := range append(slices.DeleteFunc(scenarios(t), stepOnly), anyScenarios(t, 100)...) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			scorer, err := NewScorer(interpreter.New(ordered...), s.graph, nil, s.configuration, s.parameters())
			if err != nil {
				t.Fatal(err)
			}
			defer scorer.Close()
			var queries []answer.Request
			for _, e := range s.examples {
				queries = append(queries, rankingAll(e.Source, e.Relation, s.graph))
			}
			got, err := scorer.Score(t.Context(), queries, ranking.Selection{})
			if err != nil {
				t.Fatal(err)
			}
			want := s.answerOnTheCPU(t, s.parameters(), queries, ranking.Selection{})
			ranks := cmpopts.IgnoreFields(answer.Result{}, "Rank") // scores that differ in the last bits may change them
			if diff := cmp.Diff(want, got, near, ranks); diff != "" {
				t.Errorf("answers (-CPU +device):\n%s", diff)
			}
		})
	}
}

// TestScoresThatAreNotFinite checks that such a score is an error that names its query, that of the CPU, also where
// nothing asks for the score.
func TestScoresThatAreNotFinite(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, nil)
	for name, bad := range map[string]float64{ // scores of all entities, and of those that are reached
		"mlp.2.bias": math.NaN(), "mlp.0.bias": math.Inf(1), "layers.1.linear.weight": math.NaN(), "layers.1.layer_norm.bias": math.Inf(1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := s.parameters()
			data := p.Data(name)
			for i := range data {
				data[i] = float32(bad)
			}
			scorer, err := NewScorer(interpreter.New(), s.graph, nil, s.configuration, p)
			if err != nil {
				t.Fatal(err)
			}
			cpu, err := inference.New(s.graph, nil, s.configuration, p, kernel.Available()[0])
			if err != nil {
				t.Fatal(err)
			}
			q := answer.Request{Query: graph.Query{Source: 4, Relation: 1, Answer: graph.None}, Rows: []int64{0}, Answers: []int32{graph.None}}
			onCPU := cpu.Worker().Scores(t.Context(), q.Source, q.Relation, make([]float32, s.graph.Entities))
			_, onDevice := scorer.Score(t.Context(), []answer.Request{q}, ranking.Selection{})
			if onCPU == nil || !errors.Is(onDevice, inference.ErrNotFinite) || !strings.HasPrefix(onDevice.Error(), "scoring (4, 1, ?): ") ||
				onCPU.Error() != onDevice.Error() {
				t.Errorf("%v on the device, %v on the CPU, want one that names (4, 1, ?)", onDevice, onCPU)
			}
		})
	}
}

// TestScoringIsCanceled ends a scoring in the second layer. The scorer then answers as another one does.
func TestScoringIsCanceled(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, nil)
	queries := s.queries()[:3]
	var answers [2]*answer.Scored
	for i := range answers {
		scorer, err := NewScorer(interpreter.New(), s.graph, nil, s.configuration, s.parameters())
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if _, err := scorer.Score(golden.Ending(t.Context(), 1), queries, ranking.Selection{K: 3}); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
		if answers[i], err = scorer.Score(t.Context(), queries, ranking.Selection{K: 3}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
		t.Errorf("after a scoring that was canceled (-without +after):\n%s", diff)
	}
}
