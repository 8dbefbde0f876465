package probability

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/configuration"
	"tagnet/model/graph"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	facts := randomFacts(200, 4, 2000, random)
	s := Sample{Seed: 3, K: 10, Facts: 700, Relations: 4, Rate: 1}
	all := s.Draw(nil, slices.Values(facts))
	shuffled := slices.Clone(facts)
	random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if diff := cmp.Diff(all, s.Draw(nil, slices.Values(shuffled))); diff != "" || len(all) != 700 {
		t.Errorf("%d facts, want 700 whatever their order\n%s", len(all), diff)
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
	if len(few) != HeldOutFirst || held(few) != 100 {
		t.Errorf("%d facts, %d of them held out, want %d and 100", len(few), held(few), HeldOutFirst)
	}
	distinct := map[graph.Fact]bool{}
	for _, d := range few {
		distinct[d.Fact] = true
	}
	if len(distinct) != len(few) {
		t.Errorf("%d distinct facts, want %d", len(distinct), len(few))
	}
	if many := s.Draw(facts[:900], slices.Values(facts)); len(many) != 700 || held(many) != 700 {
		t.Errorf("%d facts, %d of them held out, want 700", len(many), held(many))
	}
}

// TestTakes checks that each candidate is taken with the same probability, by what its queries rank, and only if its query is drawn.
func TestTakes(t *testing.T) {
	t.Parallel()
	s := Sample{Seed: 3, K: 10, Relations: 4, Rate: .3}
	for _, ranks := range [][2]int64{{1, 1}, {10, 11}, {11, 10}, {11, 11}} {
		taken := 0
		for h := range int32(100) {
			for tail := range int32(100) {
				o := Observation{Fact: graph.Fact{Head: h, Relation: 2, Tail: tail}, Tails: Side{Rank: ranks[0]}, Heads: Side{Rank: ranks[1]}}
				if !s.Takes(&o) {
					continue
				}
				taken++
				if asked := ranks[0] <= 10 && s.Query(h, 2) || ranks[1] <= 10 && s.Query(tail, 6); !asked {
					t.Fatalf("%v with ranks %v is taken, but not asked", o.Fact, ranks)
				}
			}
		}
		want := .3
		if min(ranks[0], ranks[1]) > 10 {
			want = 0
		}
		if got := float64(taken) / 1e4; !(math.Abs(got-want) <= .5*want) {
			t.Errorf("ranks %v: the share taken is %g, want %g", ranks, got, want)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	c.Epochs, c.QueriesPerEpoch = 4, 0
	if got, want := Training(c, 1000), int64(12_000); got != want {
		t.Errorf("a training of %d propagations, want %d", got, want)
	}
	if c.QueriesPerEpoch = 10; Training(c, 1000) != 120 {
		t.Errorf("a training of %d propagations, want 120", Training(c, 1000))
	}
	for name, v := range map[string]struct {
		size     Size
		training int64
		most     int64
	}{
		"FB15k-237":                      {Size{Entities: 14_541, Relations: 237, Facts: 310_116, K: 10}, 1_632_000, 163_200},
		"a graph of many relations":      {Size{Entities: 100_000, Relations: 5000, Facts: 3_000_000, K: 10}, 9_000_000, 900_000},
		"a short training":               {Size{Entities: 335, Relations: 12, Facts: 4435, K: 10}, 42_000, leastPropagations},
		"all candidates of a tiny graph": {Size{Entities: 30, Relations: 3, Facts: 60, K: 10}, 500, 2*60 + 2*180},
	} {
		s := v.size.Sample(v.training, 1)
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := v.size.Propagations(s); got > v.most {
			t.Errorf("%s: %d propagations for %+v, want at most %d", name, got, s, v.most)
		}
		if s.Rate < 1 && s.Rate*v.size.queries()*10 < .9*mostUnlabeled && float64(v.size.Propagations(s)) < .99*float64(v.most) {
			t.Errorf("%s: %d propagations for %+v, want about %d", name, v.size.Propagations(s), s, v.most)
		}
	}
	if s := (Size{Entities: 30, Relations: 3, Facts: 60, K: 10}).Sample(500, 1); s.Rate != 1 || s.Facts != 60 {
		t.Errorf("of a tiny graph %+v, want all", s)
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	facts := randomFacts(20, 3, 60, rand.New(rand.NewPCG(1, 1)))
	got := slices.Collect(Facts(newGraph(t, 20, 3, facts)))
	slices.SortFunc(got, graph.Fact.Compare)
	if diff := cmp.Diff(facts, got); diff != "" {
		t.Error(diff)
	}
}
