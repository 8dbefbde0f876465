package probability

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	facts := randomFacts(200, 4, 4000, random)
	s := Sample{Seed: 3, K: 10, Facts: 2700, Relations: 4, Rate: 1}
	all := s.Draw(nil, slices.Values(facts))
	shuffled := slices.Clone(facts)
	random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if diff := cmp.Diff(all, s.Draw(nil, slices.Values(shuffled))); diff != "" || len(all) != 2700 {
		t.Errorf("%d facts, want 2700 whatever their order\n%s", len(all), diff)
	}
	s.Seed = 4
	if other := s.Draw(nil, slices.Values(facts)); slices.Equal(all, other) {
		t.Error("another seed draws the same facts")
	}
	held := func(list []Drawn) (n int) {
		for _, d := range list {
			if d.HeldOut {
				n++
			}
		}
		return n
	}
	few := s.Draw(facts[:100], slices.Values(facts))
	if len(few) != heldOutFirst || held(few) != 100 {
		t.Errorf("%d facts, %d of them held out, want %d and 100", len(few), held(few), heldOutFirst)
	}
	distinct := map[graph.Fact]bool{}
	for _, d := range few {
		distinct[d.Fact] = true
	}
	if len(distinct) != len(few) {
		t.Errorf("%d distinct facts, want %d", len(distinct), len(few))
	}
	if many := s.Draw(facts[:2900], slices.Values(facts)); len(many) != 2700 || held(many) != 2700 {
		t.Errorf("%d facts, %d of them held out, want 2700", len(many), held(many))
	}
}

// TestWeight checks that candidates in the sample count, together, as the share of all that is drawn, by what their
// queries rank, and that each is found by a query that is drawn.
func TestWeight(t *testing.T) {
	t.Parallel()
	const entities = 200
	random := rand.New(rand.NewPCG(1, 1))
	around := NewSurroundings(newGraph(t, entities, 4, randomFacts(entities, 4, 400, random)))
	s := Sample{Seed: 3, K: 10, Relations: 4, Rate: .8, QueryDivisor: 3, CandidateDivisor: 4}
	for _, ranks := range [][2]int64{{1, 1}, {3, 1}, {10, 11}, {11, 10}, {11, 2}, {11, 11}} {
		sum, observed := 0, map[int]int{}
		for h := range int32(entities) {
			for tail := range int32(entities) {
				r := (h + tail) % 4
				o := Observation{Fact: graph.Fact{Head: h, Relation: r, Tail: tail}, Tails: Side{Rank: ranks[0]}, Heads: Side{Rank: ranks[1]}}
				weight := s.weight(around, &o)
				sum += weight
				observed[weight]++
				byTails := ranks[0] <= 10 && s.drawsQuery(h, r, around.hasAnswer(h, r)) && s.Keeps(o.Fact, ranks[0])
				byHeads := ranks[1] <= 10 && s.drawsQuery(tail, r+4, around.hasAnswer(tail, r+4)) && s.Keeps(o.Fact, ranks[1])
				if weight > 0 && !byTails && !byHeads {
					t.Fatalf("%v with ranks %v counts, but is not asked", o.Fact, ranks)
				}
			}
		}
		want := s.Rate
		if min(ranks[0], ranks[1]) > 10 {
			want = 0
		}
		if got := float64(sum) / entities / entities; !(math.Abs(got-want) <= .15*want) {
			t.Errorf("ranks %v: weights are %g of all candidates, want %g; observations by weight: %v", ranks, got, want, observed)
		}
		if thinned := observed[4] > 0 && observed[12] > 0; want > 0 && thinned == (min(ranks[0], 11) <= 2 || ranks[0] > 10 && ranks[1] <= 2) {
			t.Errorf("ranks %v: observations by weight: %v", ranks, observed)
		}
	}
}

// TestDrawQueries compares the drawn queries with a call of Query for each pair of a source and a relation, and their
// numbers with the rates of queries with and without an answer.
func TestDrawQueries(t *testing.T) {
	t.Parallel()
	const entities, relations = 900, 12
	around := NewSurroundings(newGraph(t, entities, relations, randomFacts(entities, relations, 9000, rand.New(rand.NewPCG(1, 1)))))
	for _, s := range []Sample{{Rate: 1, QueryDivisor: 1}, {Rate: .7, QueryDivisor: 1}, {Rate: .9, QueryDivisor: 3}, {Rate: .3, QueryDivisor: 7},
		{Rate: .01, QueryDivisor: 33}} {
		var want []graph.Query
		var all, taken [2]float64 // without and with an answer
		for relation := range int32(2 * relations) {
			for source := range int32(entities) {
				answered, kind := around.hasAnswer(source, relation), 0
				if answered {
					kind = 1
				}
				all[kind]++
				if s.drawsQuery(source, relation, answered) {
					want = append(want, graph.Query{Source: source, Relation: relation, Answer: graph.None})
					taken[kind]++
				}
			}
		}
		got, err := s.DrawQueries(t.Context(), around)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%+v: error %v (-want +got)\n%s", s, err, diff)
		}
		for kind, rate := range []float64{s.Rate / float64(s.QueryDivisor), s.Rate} {
			mean := rate * all[kind]
			if !(math.Abs(taken[kind]-mean) <= 4*math.Sqrt(mean*(1-rate))) {
				t.Errorf("%+v: %g queries with %d answers or more, want about %g", s, taken[kind], kind, mean)
			}
		}
	}
}

// TestDrawQueriesOfManyRelations draws from 6 billion queries, which is as quick as from few, and
// ends with its context.
func TestDrawQueriesOfManyRelations(t *testing.T) {
	t.Parallel()
	const entities, relations, most = 80_000, 40_001, 1_000
	g := newGraph(t, entities, relations, randomFacts(entities, relations, 1000, rand.New(rand.NewPCG(1, 1))))
	around, size := NewSurroundings(g), SizeOf(g)
	size.Answered, size.Work = around.Queries(), mostWork/most
	s := size.Sample(0, 0)
	drawn, err := s.DrawQueries(t.Context(), around)
	asked := s.Rate * (float64(size.Answered) + (size.queries()-float64(size.Answered))/float64(s.QueryDivisor))
	if n := float64(len(drawn)); err != nil || !(math.Abs(n-asked) <= 4*math.Sqrt(asked)) {
		t.Errorf("%g queries, want about %g, error %v", n, asked, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("interrupted")
	cancel(ended)
	if _, err := s.DrawQueries(ctx, around); !errors.Is(err, ended) {
		t.Errorf("interrupted: error %v", err)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	c.Epochs, c.QueriesPerEpoch = 4, 0
	facts := make([]graph.Fact, 1000) // of one source, and of 500 tails
	for i := range facts {
		facts[i] = graph.Fact{Tail: int32(i / 2)}
	}
	if got, want := Training(c, facts), int64(12_000); got != want {
		t.Errorf("a training of %d propagations, want %d", got, want)
	}
	if c.QueriesPerEpoch = 10; Training(c, facts) != 120 {
		t.Errorf("a training of %d propagations, want 120", Training(c, facts))
	}
	// Half of the queries have ten answers each, the others one.
	if c.AnswersPerQuery, c.RemovedShare = 10, .5; Training(c, facts) != 66 {
		t.Errorf("a training of %d propagations with ten answers of a query, want 66", Training(c, facts))
	}
	for name, v := range map[string]struct {
		size     Size
		training int64
		most     float64
	}{
		"FB15k-237": {Size{Entities: 14_541, Relations: 237, Facts: 310_116, Answered: 180_000, Work: 1.2e8}, 1_632_000, 163_200},
		"FB15k-237, by a model that comes trained": {
			Size{Entities: 14_541, Relations: 237, Facts: 310_116, Answered: 180_000, Work: 1.2e8}, 0, 10_000},
		"FB15k-237, for two minutes":  {Size{Entities: 14_541, Relations: 237, Facts: 310_116, Answered: 180_000, Work: 3.6e7}, 12_000, 12_000},
		"a small graph, for a minute": {Size{Entities: 1594, Relations: 180, Facts: 5226, Answered: 6500, Work: 6.5e5}, 12_000, 96_000},
		"a small graph, for minutes":  {Size{Entities: 1594, Relations: 180, Facts: 5226, Answered: 6500, Work: 6.5e5}, 120_000, 120_000},
		"a graph of many relations": {
			Size{Entities: 100_000, Relations: 5000, Facts: 3_000_000, Answered: 3_000_000, Work: 6e8}, 9_000_000, 900_000},
		"a large graph":              {Size{Entities: 5_000_000, Relations: 800, Facts: 20_000_000, Answered: 9_000_000, Work: 1e10}, 0, leastPropagations},
		"all candidates of a graph":  {Size{Entities: 335, Relations: 12, Facts: 4435, Answered: 2907, Work: 6e5}, 300_000, 2*4435 + 2*8040},
		"all queries with an answer": {Size{Entities: 2746, Relations: 9, Facts: 6032, Answered: 7344, Work: 1e6}, 1_200_000, 2*6032 + 2*49_428},
	} {
		v.size.K = 10
		s := v.size.Sample(v.training, 1)
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := float64(v.size.Propagations(s, 1))
		if !(got <= v.most) {
			t.Errorf("%s: %g propagations for %+v, want at most %g", name, got, s, v.most)
		}
		_, observations := v.size.unlabeled(s)
		if enough := s.Rate == 1 || observations > .99*mostUnlabeled || got > .99*v.most; !enough || observations > 1.01*mostUnlabeled {
			t.Errorf("%s: %g propagations and %g observations for %+v, want about %g or %d", name, got, observations, s, v.most, mostUnlabeled)
		}
		if all := strings.HasPrefix(name, "all candidates"); all != (s.QueryDivisor == 1) || all != (s.CandidateDivisor == 1) {
			t.Errorf("%s: %+v, want a sample of all: %t", name, s, all)
		}
		if all := strings.HasPrefix(name, "all"); all != (s.Rate == 1) {
			t.Errorf("%s: %+v, want a rate of 1: %t", name, s, all)
		}
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	facts := randomFacts(20, 3, 60, rand.New(rand.NewPCG(1, 1)))
	all := len(facts)
	got := slices.Collect(Facts(newGraph(t, 20, 3, facts)))
	slices.SortFunc(got, graph.Fact.Compare)
	facts = slices.DeleteFunc(facts, func(f graph.Fact) bool { return f.Head == f.Tail })
	if len(facts) == all {
		t.Fatal("no fact is one of an entity with itself")
	}
	if diff := cmp.Diff(facts, got); diff != "" {
		t.Error(diff)
	}
}
