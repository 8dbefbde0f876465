package rules

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
)

// made returns the graph of facts among 200 entities.
func made(t *testing.T, relations int, facts []graph.Fact) *graph.Graph {
	t.Helper()
	g, err := graph.New(200, relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// chain returns facts of a relation of heads from 0 on, each with a tail of its own.
func chain(relation int32, n int32) (facts []graph.Fact) {
	for i := range n {
		facts = append(facts, graph.Fact{Head: i, Relation: relation, Tail: i + 100})
	}
	return facts
}

func TestFunctional(t *testing.T) {
	t.Parallel()
	two := func(facts []graph.Fact, heads int32) []graph.Fact {
		for i := range heads {
			facts = append(facts, graph.Fact{Head: i, Relation: facts[0].Relation, Tail: i + 150})
		}
		return facts
	}
	for name, c := range map[string]struct {
		facts        []graph.Fact
		tails, heads bool
	}{
		"too few heads":            {chain(0, 19), false, false},
		"one tail and one head":    {chain(0, 20), true, true},
		"one of 34 heads has two":  {two(chain(0, 34), 1), true, true},
		"one of 33 heads has two":  {two(chain(0, 33), 1), false, true},
		"heads share their tails":  {append(chain(0, 40), graph.Fact{Head: 50, Tail: 100}, graph.Fact{Head: 51, Tail: 101}), true, false},
		"a head with three counts": {append(two(chain(0, 34), 1), graph.Fact{Tail: 199}), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, want := Functional(made(t, 1, c.facts)), []bool{c.tails, c.heads}; !slices.Equal(got, want) {
				t.Errorf("functional are %v, want %v", got, want)
			}
		})
	}
}

func TestMirrors(t *testing.T) {
	t.Parallel()
	reversed := func(facts []graph.Fact, relation int32) (list []graph.Fact) {
		for _, f := range facts {
			list = append(list, graph.Fact{Head: f.Tail, Relation: relation, Tail: f.Head})
		}
		return list
	}
	loops := []graph.Fact{{Head: 7, Tail: 7}, {Head: 8, Tail: 8}}
	for name, c := range map[string]struct {
		facts []graph.Fact
		want  []Mirror
	}{
		"inverse relations": {
			slices.Concat(chain(0, 20), reversed(chain(0, 14), 1), loops),
			[]Mirror{{0, 1, 14, 20, 14}, {1, 0, 14, 14, 20}},
		},
		"too seldom":     {slices.Concat(chain(0, 24), reversed(chain(0, 14), 1)), nil},
		"too few":        {slices.Concat(chain(0, 9), reversed(chain(0, 9), 1)), nil},
		"a symmetric":    {slices.Concat(chain(1, 20), reversed(chain(1, 15), 1)), []Mirror{{1, 1, 30, 35, 35}}},
		"one way":        {chain(0, 50), nil},
		"the same order": {slices.Concat(chain(0, 50), chain(1, 50)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := made(t, 2, c.facts)
			got := Mirrors(g)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Fatalf("mirrors (-want +got):\n%s", diff)
			}
			for _, m := range got { // without a fact that has its mirror
				without := slices.DeleteFunc(slices.Clone(c.facts), func(f graph.Fact) bool {
					return f == graph.Fact{Head: 0, Relation: m.Relation, Tail: 100} ||
						m.Relation == 1 && c.want[0].Relation == 0 && f == graph.Fact{Head: 100, Relation: 1}
				})
				want := 0.
				for _, o := range Mirrors(made(t, 2, without)) {
					if o.Relation == m.Relation {
						want = o.Confidence()
					}
				}
				if got := m.Without().Confidence(); got != want {
					t.Errorf("confidence of %v without a fact is %v, want %v", m, got, want)
				}
			}
		})
	}
}
