package evaluation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/graph"
)

// TestBaselines ranks the answers of two facts by hand: 4 likes 1, in both directions, and 0 likes 1. It is known, too,
// that 4 likes 2. Entities 2 and 1 are liked twice and once, and one of the two that know somebody likes them.
func TestBaselines(t *testing.T) {
	t.Parallel()
	const likes, knows, likedBy = 0, 1, 2
	g, err := graph.New(5, 2, []graph.Fact{
		{Head: 0, Relation: likes, Tail: 2}, {Head: 1, Relation: likes, Tail: 2}, {Head: 3, Relation: likes, Tail: 1},
		{Head: 0, Relation: knows, Tail: 2}, {Head: 4, Relation: knows, Tail: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	known := map[graph.Query][]int32{
		{Source: 4, Relation: likes}: {1, 2}, {Source: 1, Relation: likedBy}: {0, 3, 4}, {Source: 0, Relation: likes}: {1, 2},
	}
	ranked := func(source, relation, answered int32, rank int64) answer.Ranked {
		r := answer.Result{Answer: answered, Rank: ranking.Rank{Pessimistic: rank, Optimistic: rank, Candidates: 5}}
		return answer.Ranked{Query: graph.Query{Source: source, Relation: relation}, Results: []answer.Result{r}}
	}
	bundles := []*answer.Scored{
		{Queries: []answer.Ranked{ranked(4, likes, 1, 3), ranked(1, likedBy, 4, 4)}},
		{Queries: []answer.Ranked{ranked(0, likes, 1, 2)}},
	}
	b := NewBaselines(g)
	measured := func(sample answer.Sample) metrics.Evaluation {
		all := NewGatherer()
		for _, s := range bundles {
			one := gather(s)
			one.AddBaselines(s, someNames.Relations, b, func(q graph.Query) answer.Request {
				return answer.Request{Query: q, Known: known[q], Sample: sample}
			})
			all.Merge(sent(t, one))
		}
		return all.Metrics("test", "")
	}
	type mrrs struct{ pessimistic, optimistic float64 }
	of := func(r metrics.Ranks) mrrs { return mrrs{r.Pessimistic.MRR, r.Optimistic.MRR} }
	m := measured(answer.Sample{})
	for name, c := range map[string]struct{ got, want mrrs }{
		"model, tail":         {of(m.ByLinks["tail"].Ranks), mrrs{(1./3 + 1./4) / 2, (1./3 + 1./4) / 2}},
		"model, both":         {of(m.ByLinks["both"].Ranks), mrrs{1. / 2, 1. / 2}},
		"popularity":          {of(m.Baselines.Popularity.Ranks), mrrs{(1 + 1./3 + 1) / 3, (1 + 1./2 + 1) / 3}},
		"popularity of likes": {of(m.Baselines.Popularity.ByRelation["likes"]), mrrs{(1 + 1./3 + 1) / 3, (1 + 1./2 + 1) / 3}},
		"popularity, tail":    {of(m.Baselines.Popularity.ByLinks["tail"]), mrrs{(1 + 1./3) / 2, (1 + 1./2) / 2}},
		"popularity, both":    {of(m.Baselines.Popularity.ByLinks["both"]), mrrs{1, 1}},
		"rules":               {of(m.Baselines.Rules.Ranks), mrrs{(1 + 1 + 1./4) / 3, 1}},
		"rules, tail":         {of(m.Baselines.Rules.ByLinks["tail"]), mrrs{1, 1}},
		"rules, both":         {of(m.Baselines.Rules.ByLinks["both"]), mrrs{1. / 4, 1}},
	} {
		if diff := cmp.Diff(c.want, c.got, cmp.AllowUnexported(mrrs{}),
			cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if n := m.ByLinks["tail"].Queries; n != 2 || len(m.ByLinks) != 2 {
		t.Errorf("%d answers have the links of the tail, and %d classes have answers, want 2 and 2", n, len(m.ByLinks))
	}
	// Who likes 1, among five times entity 2, the only one that is neither known nor asked about: all tie.
	sampled := measured(answer.Sample{Negatives: 5, Seed: 1})
	if got, want := of(sampled.Baselines.Popularity.ByLinks["tail"]), (mrrs{(1 + 1./6) / 2, 1}); got != want {
		t.Errorf("among random negatives popularity has %v, want %v", got, want)
	}
	if m := gather(bundles...).Metrics("test", ""); m.ByLinks != nil || m.Baselines != nil {
		t.Errorf("without a graph there are baselines: %+v, %+v", m.ByLinks, m.Baselines)
	}
}
