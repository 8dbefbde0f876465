package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tagnet/formats/reach"
	"tagnet/model/configuration"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/graph"
	"tagnet/model/inference"
	"tagnet/model/internal/golden"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
	"tagnet/model/ranking"
)

// queries returns all queries of a graph with two entities as answers, of which some are known. A fact leaves the graph of those that
// have one.
func (s scenario) queries() (all []Query) {
	v := int32(s.graph.Entities)
	for source := range v {
		for relation := range int32(s.graph.RelationCount()) {
			known := []int32{source / 2, source / 2, v - 1}
			q := Query{Source: source, Relation: relation, Answers: []int32{(source + relation) % v, v - 1}, Known: known}
			for answer := range v {
				if r := s.graph.RemovalOf(source, relation, answer); r.Active {
					q.Removal, q.Answers[0] = r, answer
				}
			}
			all = append(all, q)
		}
	}
	return all
}

// answerOnTheCPU answers queries with packages inference and ranking.
func (s scenario) answerOnTheCPU(t *testing.T, p *parameters.Set[float32], queries []Query, best int) []Answered {
	t.Helper()
	scorer, err := inference.New(s.graph, nil, s.configuration, p, kernel.Available()[0])
	if err != nil {
		t.Fatal(err)
	}
	worker, out := scorer.Worker(), make([]Answered, len(queries))
	for i, q := range queries {
		scores := make([]float32, s.graph.Entities)
		if err := worker.ScoresWithout(t.Context(), q.Source, q.Removal, nil, []int32{q.Relation}, [][]float32{scores}); err != nil {
			t.Fatal(err)
		}
		distance := func(entity int32) int32 {
			if hops, reached := worker.Distance(entity); reached {
				return int32(hops)
			}
			return reach.Column
		}
		for _, answer := range q.Answers {
			out[i].Scores = append(out[i].Scores, scores[answer])
			out[i].Ranks = append(out[i].Ranks, ranking.Filtered(scores, answer, q.Known))
			out[i].Distances = append(out[i].Distances, distance(answer))
		}
		listed := ranking.Top(scores, best, nil)
		if q.Choose != nil {
			listed = q.Choose(scores)
		}
		for _, c := range listed {
			out[i].Best = append(out[i].Best, Candidate{c.Entity, c.Score, distance(c.Entity)})
		}
		out[i].Messages = worker.Sent()
	}
	return out
}

// near compares scores, of which a device adds the terms in another order.
var near = cmp.Comparer(func(x, y float32) bool {
	return x == y || math.Abs(float64(x-y)) <= 1e-4*max(1, math.Abs(float64(y)))
})

// TestScoringMatchesTheCPU compares ranks, best candidates, distances and messages of all queries of a graph. Entities that are not
// reached are tied.
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
			queries, p := s.queries(), s.parameters()
			scorer, err := NewScorer(interpreter.New(interpreter.Seed(3)), s.graph, nil, s.configuration, p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := scorer.Score(t.Context(), queries, 5)
			if err != nil {
				t.Fatal(err)
			}
			want := s.answerOnTheCPU(t, p, queries, 5)
			if diff := cmp.Diff(want, got, near); diff != "" {
				t.Errorf("answers (-CPU +device):\n%s", diff)
			}
			for i, q := range queries {
				queries[i].Choose = func(scores []float32) []ranking.Candidate {
					return ranking.Selection{K: 5, Candidates: []int32{q.Source, 2, 3, 5}, Known: ranking.LeftOut}.Top(scores, q.Source, q.Known, nil)
				}
			}
			if got, err = scorer.Score(t.Context(), queries, 5); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s.answerOnTheCPU(t, p, queries, 5), got, near); diff != "" {
				t.Errorf("chosen answers (-CPU +device):\n%s", diff)
			}
			tied := slices.ContainsFunc(got, func(a Answered) bool { return slices.ContainsFunc(a.Ranks, ranking.Rank.Tied) })
			unreached := slices.ContainsFunc(got, func(a Answered) bool { return slices.Contains(a.Distances, reach.Column) })
			if !tied || !unreached {
				t.Errorf("ties: %t, entities that are not reached: %t; want both", tied, unreached)
			}
		})
	}
}

// TestScenariosAreScoredAsOnTheCPU compares scores, distances and messages of the examples' queries, of all scenarios.
func TestScenariosAreScoredAsOnTheCPU(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			scorer, err := NewScorer(interpreter.New(ordered...), s.graph, nil, s.configuration, s.parameters())
			if err != nil {
				t.Fatal(err)
			}
			defer scorer.Close()
			var all []int32
			for v := range int32(s.graph.Entities) {
				all = append(all, v)
			}
			var queries []Query
			for _, e := range s.examples {
				queries = append(queries, Query{Source: e.Source, Relation: e.Relation, Answers: all})
			}
			got, err := scorer.Score(t.Context(), queries, 0)
			if err != nil {
				t.Fatal(err)
			}
			want := s.answerOnTheCPU(t, s.parameters(), queries, 0)
			ranks := cmpopts.IgnoreFields(Answered{}, "Ranks") // scores that differ in the last bits may change them
			if diff := cmp.Diff(want, got, near, ranks); diff != "" {
				t.Errorf("answers (-CPU +device):\n%s", diff)
			}
		})
	}
}

// TestScoresThatAreNotFinite checks that such a score is an error that names its query, that of the CPU, also where nothing asks for the
// score.
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
			q := Query{Source: 4, Relation: 1}
			onCPU := cpu.Worker().Scores(t.Context(), q.Source, []int32{q.Relation}, [][]float32{make([]float32, s.graph.Entities)})
			_, onDevice := scorer.Score(t.Context(), []Query{q}, 0)
			if onCPU == nil || !errors.Is(onDevice, ranking.ErrNotFinite) || !strings.HasPrefix(onDevice.Error(), "scoring (4, 1, ?): ") || onCPU.Error() != onDevice.Error() {
				t.Errorf("%v on the device, %v on the CPU, want one that names (4, 1, ?)", onDevice, onCPU)
			}
		})
	}
}

// TestQueriesOutsideTheGraph checks the errors.
func TestQueriesOutsideTheGraph(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, nil)
	scorer, err := NewScorer(interpreter.New(), s.graph, nil, s.configuration, s.parameters())
	if err != nil {
		t.Fatal(err)
	}
	v, relations := int32(s.graph.Entities), int32(s.graph.RelationCount())
	for _, q := range []Query{
		{Source: -1}, {Source: v}, {Relation: -1}, {Relation: relations}, {Answers: []int32{v}}, {Known: []int32{-1}},
		{Removal: graph.Removal{Active: true, Answer: v}}, {Removal: graph.Removal{Active: true, Source: 1}},
	} {
		if _, err := scorer.Score(t.Context(), []Query{q}, 1); err == nil {
			t.Errorf("no error for %s", fmt.Sprintf("%+v", q))
		}
	}
}

// TestScoringIsCanceled ends a scoring in the second layer. The scorer then answers as another one does.
func TestScoringIsCanceled(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, nil)
	queries := s.queries()[:3]
	var answers [2][]Answered
	for i := range answers {
		scorer, err := NewScorer(interpreter.New(), s.graph, nil, s.configuration, s.parameters())
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if _, err := scorer.Score(golden.Ending(t.Context(), 1), queries, 3); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
		if answers[i], err = scorer.Score(t.Context(), queries, 3); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
		t.Errorf("after a scoring that was canceled (-without +after):\n%s", diff)
	}
}
