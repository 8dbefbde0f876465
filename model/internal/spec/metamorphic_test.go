package spec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/formats/hop"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// everyPolicy returns configurations of all policies by name.
func everyPolicy() map[string]configuration.Configuration {
	cases := map[string]configuration.Configuration{}
	for _, policy := range []string{configuration.PolicyWindow, configuration.PolicyFull, configuration.PolicyAStar, configuration.PolicyWindowWithAStar} {
		c := small()
		c.Policy = policy
		cases[policy] = c
	}
	c := small()
	c.DeltaMode, c.Attention, c.DegreeMessages = configuration.DeltaSpecific, configuration.AttentionOwn, true
	cases["specific with degree messages"] = c
	return cases
}

// TestRenumberingEntities checks that ids of entities change no result. A*Net breaks ties by id, so here
// it may send along all edges.
func TestRenumberingEntities(t *testing.T) {
	t.Parallel()
	for name, c := range everyPolicy() {
		c.NodeRatio, c.DegreeRatio = 1, 100
		facts := sampleFacts(5, 20, 3)
		g, err := graph.New(20, 3, facts)
		if err != nil {
			t.Fatal(err)
		}
		renamed := rand.New(rand.NewPCG(5, 4)).Perm(20)
		for i, f := range facts {
			facts[i] = graph.Fact{Head: int32(renamed[f.Head]), Relation: f.Relation, Tail: int32(renamed[f.Tail])}
		}
		slices.Reverse(facts)
		other, err := graph.New(20, 3, facts)
		if err != nil {
			t.Fatal(err)
		}
		p := sampleParameters(c, g, 5)
		fact := graph.Fact{Head: 0, Relation: 1, Tail: 2}
		there := graph.Fact{Head: int32(renamed[0]), Relation: 1, Tail: int32(renamed[2])}
		one := newModel(t, g, c, p).Forward(Query{Query: without(fact, false)})
		two := newModel(t, other, c, p).Forward(Query{Query: without(there, false)})
		if !slices.Equal(one.Counts, two.Counts) {
			t.Errorf("%s: counts are %v, renumbered %v", name, one.Counts, two.Counts)
		}
		weights := normals(rand.New(rand.NewPCG(5, 5)), g.Entities)
		elsewhere := make([]float64, len(weights))
		for o, other := range renamed {
			if one.Distances[o] != two.Distances[other] {
				t.Errorf("%s: distance of %d is %d, renumbered %d", name, o, one.Distances[o], two.Distances[other])
			}
			near(t, fmt.Sprintf("%s: score of %d renumbered", name, o), two.Scores[other], one.Scores[o])
			elsewhere[other] = weights[o]
		}
		got, want := parameters.NewSet[float64](parameters.Layout(c, 6)), parameters.NewSet[float64](parameters.Layout(c, 6))
		one.Backward(weights, want)
		two.Backward(elsewhere, got)
		for i, tensor := range want.Tensors {
			for j := range tensor.Data {
				near(t, fmt.Sprintf("%s: gradient of %s at %d renumbered", name, tensor.Name, j), got.Tensors[i].Data[j], tensor.Data[j])
			}
		}
	}
}

// TestWideWindowIsFull checks that a window that never closes equals full propagation as long as
// entities that are not reached keep zero states. They do without bias, where the message of a zero
// state is zero, and without PNA's standard deviation, which has a positive minimum. Otherwise full
// propagation changes entities before they are reached, and no window equals it.
func TestWideWindowIsFull(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{configuration.MessageDistMult, configuration.MessageRotatE} {
		for _, aggregate := range []string{configuration.AggregateSum, configuration.AggregateMean, configuration.AggregateMax} {
			c := small()
			c.Aggregate, c.Message, c.Bias, c.Delta = aggregate, kind, false, c.Layers
			g := sampleGraph(t, 6, 20, 3)
			p := sampleParameters(c, g, 6)
			window := newModel(t, g, c, p).Forward(Query{Query: graph.Query{Source: 4, Relation: 2}})
			c.Policy = configuration.PolicyFull
			full := newModel(t, g, c, p).Forward(Query{Query: graph.Query{Source: 4, Relation: 2}})
			if !slices.Contains(window.Distances, hop.Unreached) || slices.Equal(window.Counts, full.Counts) {
				t.Fatal("everything is reached: the comparison says little")
			}
			for layer := range full.Hiddens {
				for i, want := range full.Hiddens[layer] {
					near(t, fmt.Sprintf("%s %s: state %d after %d layers", aggregate, kind, i, layer), window.Hiddens[layer][i], want)
				}
			}
		}
	}
}

// TestRemovalOfSeveralAnswers checks that a query of several answers equals one in a graph without the
// facts of all of them.
func TestRemovalOfSeveralAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range everyPolicy() {
		if c.Prioritized() {
			c.NodeRatio, c.DegreeRatio = 1, 100
		}
		for _, remove := range []graph.Removals{graph.RemoveFact, graph.RemoveOneHop} {
			facts := append(sampleFacts(7, 20, 3), graph.Fact{Head: 2, Relation: 1, Tail: 5}, graph.Fact{Head: 2, Relation: 1, Tail: 8},
				graph.Fact{Head: 2, Relation: 1, Tail: 9},
				graph.Fact{Head: 2, Relation: 1, Tail: 11}, graph.Fact{Head: 8, Relation: 0, Tail: 2})
			whole, err := graph.New(20, 3, facts)
			if err != nil {
				t.Fatal(err)
			}
			q := graph.Query{Source: 2, Relation: 1, Answer: 9, Others: &graph.Others{5, 8}, Removal: remove}
			answers := map[int32]bool{5: true, 8: true, 9: true}
			left, err := graph.New(20, 3, slices.DeleteFunc(facts, func(f graph.Fact) bool {
				ends := f.Head == 2 && answers[f.Tail] || f.Tail == 2 && answers[f.Head]
				return ends && (remove == graph.RemoveOneHop || f.Head == 2 && f.Relation == 1)
			}))
			if err != nil {
				t.Fatal(err)
			}
			left.MeanLogDegree = whole.MeanLogDegree
			p := sampleParameters(c, whole, 7)
			removed := newModel(t, whole, c, p).Forward(Query{Query: q})
			missing := newModel(t, left, c, p).Forward(Query{Query: graph.Query{Source: 2, Relation: 1}})
			if !slices.Equal(removed.Scores, missing.Scores) {
				t.Errorf("%s, removal %d: scores are %v, in a graph that lacks the facts %v", name, remove, removed.Scores, missing.Scores)
			}
		}
	}
}

// TestRemovalIsAbsence checks that removing a fact's edges for a query equals a graph without the fact,
// except for the mean degree, which is that of the whole graph.
func TestRemovalIsAbsence(t *testing.T) {
	t.Parallel()
	for name, c := range everyPolicy() {
		if c.Prioritized() {
			c.NodeRatio, c.DegreeRatio = 1, 100
		}
		for _, oneHop := range []bool{false, true} {
			for _, fact := range []graph.Fact{{Head: 0, Relation: 1, Tail: 1}, {Head: 1, Relation: 0, Tail: 1}, {Head: 3, Relation: 0, Tail: 0}} {
				facts := sampleFacts(7, 20, 3)
				whole, err := graph.New(20, 3, facts)
				if err != nil {
					t.Fatal(err)
				}
				left, err := graph.New(20, 3, slices.DeleteFunc(facts, func(f graph.Fact) bool {
					ends := f.Head == fact.Head && f.Tail == fact.Tail || f.Head == fact.Tail && f.Tail == fact.Head
					return f == fact || oneHop && ends
				}))
				if err != nil {
					t.Fatal(err)
				}
				left.MeanLogDegree = whole.MeanLogDegree
				p := sampleParameters(c, whole, 7)
				removed := newModel(t, whole, c, p).Forward(Query{Query: without(fact, oneHop)})
				missing := newModel(t, left, c, p).Forward(Query{Query: graph.Query{Source: fact.Head, Relation: fact.Relation}})
				if !slices.Equal(removed.Scores, missing.Scores) {
					t.Errorf("%s, one hop %v: scores without %v are %v, in a graph that lacks it %v", name, oneHop, fact, removed.Scores, missing.Scores)
				}
				if !slices.Equal(removed.Counts, missing.Counts) {
					t.Errorf("%s, one hop %v: counts without %v are %v, in a graph that lacks it %v", name, oneHop, fact, removed.Counts, missing.Counts)
				}
			}
		}
	}
}

// TestCountsAddUp checks that every edge is kept or pruned, and that A*Net without limits sends all
// messages of reached entities.
func TestCountsAddUp(t *testing.T) {
	t.Parallel()
	for delta := range 6 {
		c := small()
		c.Delta, c.NodeRatio, c.DegreeRatio = delta, 1, 100
		g := sampleGraph(t, 8, 24, 2)
		q := Query{Query: graph.Query{Source: 2, Relation: 1}}
		window := newModel(t, g, c, sampleParameters(c, g, 8)).Forward(q)
		c.Policy = configuration.PolicyWindowWithAStar
		both := newModel(t, g, c, sampleParameters(c, g, 8)).Forward(q)
		for i, counts := range window.Counts {
			if sum := counts.Kept + counts.PrunedEmpty + counts.PrunedRedundant; sum != g.Edges() {
				t.Errorf("delta %d, layer %d: %+v add up to %d, want %d", delta, i+1, counts, sum, g.Edges())
			}
			if want := counts.Kept - counts.KeptEmpty; both.Counts[i].Kept != want {
				t.Errorf("delta %d, layer %d: with A*Net %d are kept, want %d", delta, i+1, both.Counts[i].Kept, want)
			}
			if want := g.Edges() - counts.KeptEmpty - counts.PrunedEmpty; both.Counts[i].AStar != want {
				t.Errorf("delta %d, layer %d: A*Net chooses %d, want %d", delta, i+1, both.Counts[i].AStar, want)
			}
		}
	}
}

// TestUnreachedShareOneScore checks that windows leave unreached entities at zero.
func TestUnreachedShareOneScore(t *testing.T) {
	t.Parallel()
	for name, c := range everyPolicy() {
		if !c.Windowed() {
			continue
		}
		g := sampleGraph(t, 9, 20, 3)
		pass := newModel(t, g, c, sampleParameters(c, g, 9)).Forward(Query{Query: graph.Query{Source: 4, Relation: 2}})
		scores := map[float64]bool{}
		for o, distance := range pass.Distances {
			if distance == hop.Unreached {
				scores[pass.Scores[o]] = true
			}
		}
		if len(scores) != 1 {
			t.Errorf("%s: unreached entities have scores %v, want one", name, scores)
		}
	}
}

// TestRatiosOfEvaluation checks that A*Net has ratios of its own for evaluation.
func TestRatiosOfEvaluation(t *testing.T) {
	t.Parallel()
	c := small()
	c.Policy, c.NodeRatio, c.EvaluationNodeRatio = configuration.PolicyAStar, 0.1, 1
	g := sampleGraph(t, 10, 20, 3)
	m := newModel(t, g, c, sampleParameters(c, g, 10))
	training := m.Forward(Query{Query: graph.Query{Source: 2}, Training: true}).Counts[3].AStar
	evaluation := m.Forward(Query{Query: graph.Query{Source: 2}}).Counts[3].AStar
	if !(training < evaluation) {
		t.Errorf("%d edges are chosen while training, %d at evaluation: want fewer", training, evaluation)
	}
}

// near fails the test where two values differ by more than rounding.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-10*math.Max(1, math.Abs(want))) {
		t.Errorf("%s is %.15g, want %.15g", what, got, want)
	}
}
