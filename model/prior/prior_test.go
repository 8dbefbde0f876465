package prior_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/internal/reference"
	"tagnet/model/prior"
)

// TestByHand compares with numbers worked by hand. Relation 0 leads from entity 0 to 1 and from 2 to 1 and 3, relation 1 from 1 to 0; 4 has no
// facts. So relation 0 leaves {0, 2}, relation 1 leaves {1}, and the inverses, 2 and 3, leave {1, 3} and {0}.
func TestByHand(t *testing.T) {
	t.Parallel()
	g := newGraph(t, 5, 2, []graph.Fact{{Head: 0, Relation: 0, Tail: 1}, {Head: 2, Relation: 0, Tail: 1}, {Head: 2, Relation: 0, Tail: 3}, {Head: 1, Relation: 1, Tail: 0}})
	// Three facts answer queries with relation 0: 1 twice, which also has relation 1, and another fact with the inverse of 0 beside each; and
	// 3, which has nothing else.
	p := []float64{2.5 / 6, 1.5 / 6, 2.5 / 6, 1.5 / 6}
	a := []float64{(5 * p[0]) / 8, (2 + 5*p[1]) / 8, (2 + 5*p[2]) / 8, (5 * p[3]) / 8}
	constant := 0.0
	lambda := make([]float64, 4)
	for r := range a {
		constant += math.Log((1 - a[r]) / (1 - p[r]))
		lambda[r] = math.Log(a[r] / (1 - a[r]) * (1 - p[r]) / p[r])
	}
	counts := prior.Count(g)
	for r, want := range lambda {
		near(t, fmt.Sprintf("lambda of 0 and %d", r), counts.Lambda[r], want)
	}
	near(t, "constant of 0", counts.Constant[0], constant)
	added := (&prior.Prior{Counts: counts, Weight: prior.Weight{Beta: .5, Cap: .4}}).Of(g)
	scores := []float32{1, 1, 1, 1, 1}
	added.Add(0, graph.Removal{}, scores)
	nb := []float64{constant + lambda[0] + lambda[3], constant + lambda[1] + lambda[2], constant + lambda[0], constant + lambda[2], constant}
	for o, value := range nb {
		near(t, fmt.Sprintf("score of %d", o), scores[o], 1+.5*math.Min(value, .4))
		near(t, fmt.Sprintf("share of %d", o), added.Share(0, int32(o)), .5*math.Min(value, .4))
	}
	if !(nb[1] > .4) || !(nb[3] < .4) {
		t.Error("the cap cuts all values, or none")
	}
	// Without (2, 0, 3) entity 3 has no relation, and 2 still has relation 0, by its other fact.
	scores = []float32{1, 1, 1, 1, 1}
	added.Add(0, g.RemovalOf(2, 0, 3), scores)
	near(t, "score of the answer", scores[3], 1+.5*constant)
	near(t, "score of the source", scores[2], 1+.5*math.Min(nb[2], .4))
}

// TestMatchesReference compares with the specification, on another graph than that of the counts, too.
func TestMatchesReference(t *testing.T) {
	t.Parallel()
	const entities, base = 12, 3
	for seed := range uint64(6) {
		training, asked := newGraph(t, entities, base, facts(seed, entities, base)), newGraph(t, entities, base, facts(seed+50, entities, base))
		for _, g := range []*graph.Graph{training, asked} {
			added := (&prior.Prior{Counts: prior.Count(training), Weight: prior.Weight{Beta: 1, Cap: 100}}).Of(g)
			senders, relations := g.In(1)
			for _, removal := range []graph.Removal{{}, g.RemovalOf(senders[0], relations[0], 1), {Active: true, OneHop: true, Source: senders[0], Answer: 1}} {
				for q := range int32(2 * base) {
					scores := make([]float32, entities)
					added.Add(q, removal, scores)
					for o, score := range scores {
						near(t, fmt.Sprintf("seed %d, %v, entity %d, relation %d", seed, removal, o, q), score, reference.Prior(training, g, removal, int32(o), q))
					}
				}
			}
		}
	}
}

// TestRenumbering checks that neither the order of facts nor ids matter.
func TestRenumbering(t *testing.T) {
	t.Parallel()
	const entities, base = 15, 3
	list := facts(7, entities, base)
	random := rand.New(rand.NewPCG(7, 7))
	entity, relation := random.Perm(entities), random.Perm(base)
	renumbered := make([]graph.Fact, len(list))
	for i, f := range list {
		renumbered[i] = graph.Fact{Head: int32(entity[f.Head]), Relation: int32(relation[f.Relation]), Tail: int32(entity[f.Tail])}
	}
	slices.Reverse(renumbered)
	one, two := newGraph(t, entities, base, list), newGraph(t, entities, base, renumbered)
	counts, others := prior.Count(one), prior.Count(two)
	weight := prior.Weight{Beta: .3, Cap: 2}
	here, there := (&prior.Prior{Counts: counts, Weight: weight}).Of(one), (&prior.Prior{Counts: others, Weight: weight}).Of(two)
	over := (&prior.Prior{Counts: others.Over(relation), Weight: weight}).Of(one)
	for q := range int32(2 * base) {
		other := int32(relation[q%base])
		if q >= base {
			other += base
		}
		for o := range int32(entities) {
			want := float64(here.Share(q, o))
			near(t, fmt.Sprintf("relation %d, entity %d, renumbered", q, o), there.Share(other, int32(entity[o])), want)
			near(t, fmt.Sprintf("relation %d, entity %d, with counts over other ids of relations", q, o), over.Share(q, o), want)
		}
	}
}

func newGraph(t *testing.T, entities, base int, list []graph.Fact) *graph.Graph {
	t.Helper()
	g, err := graph.New(entities, base, list)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// facts draws facts, loops among them; an entity in four has none, except 1.
func facts(seed uint64, entities, base int32) []graph.Fact {
	random := rand.New(rand.NewPCG(seed, 1))
	list := []graph.Fact{{Head: 1, Relation: 0, Tail: 2}, {Head: 1, Relation: 1, Tail: 1}}
	for range 3 * entities / 2 {
		list = append(list, graph.Fact{Head: random.Int32N(entities * 3 / 4), Relation: random.Int32N(base), Tail: random.Int32N(entities * 3 / 4)})
	}
	return list
}

func near(t *testing.T, what string, got float32, want float64) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= 1e-5*(1+math.Abs(want))) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
