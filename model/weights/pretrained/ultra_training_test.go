package pretrained_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/learn/optimizer"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	"tagnet/model/weights/pretrained"
	"tagnet/model/weights/weightstest"
)

// TestTrainingGradientsAreThoseOfTheReference compares losses and the gradients of all parameters of batches on random graphs, of
// queries whose facts leave the graph or stay, and of one whose candidates nothing reaches. After one step of Adam, its first moments are a tenth of the gradients.
func TestTrainingGradientsAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	wide := golden.Widened(weightstest.Drawn(7))
	eachVariant(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(5, 7))
		for i := range 4 {
			c := pretrained.ULTRAConfiguration()
			c.Negatives, c.AdversarialTemperature = 5, []float64{1, 0}[i%2]
			c.Remove = []string{configuration.RemoveTriple, configuration.RemoveOneHop, configuration.RemoveNone}[i%3]
			entities := 12 + rng.IntN(30)
			const isolated = 3 // entities without facts
			facts := randomFacts(rng, entities-isolated, 1+rng.IntN(4), 2*entities)
			g := graphOf(t, entities, 4, facts)
			m, err := spec.New(g, c, wide)
			if err != nil {
				t.Fatal(err)
			}
			want, loss := parameters.NewSet[float64](pretrained.ULTRALayout()), 0.0
			var batch []optimizer.Example
			for n := range 3 {
				f := facts[rng.IntN(len(facts))]
				e := optimizer.Example{Query: graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail}}
				if n == 1 {
					e = optimizer.Example{Query: graph.Query{Source: f.Tail, Relation: g.Inverse(f.Relation), Answer: f.Head}}
				}
				first := 0
				if n == 2 {
					first = entities - isolated
					e.Relation, e.Answer = 3, int32(first)
				}
				for range c.Negatives {
					e.Negatives = append(e.Negatives, int32(first+rng.IntN(entities-first)))
				}
				batch = append(batch, e)
				e.Removal = configuration.Removal(c.Remove)
				pass := m.Forward(spec.Query{Query: e.Query, Training: true})
				own, gradient := spec.Loss(c, pass.Scores, e.Answer, e.Negatives)
				loss += own
				pass.Backward(gradient, want)
			}
			for _, tensor := range want.Tensors {
				for j := range tensor.Data {
					tensor.Data[j] /= float64(len(batch))
				}
			}
			p, solver := weightstest.Drawn(7), optimizer.NewSolver(c, g.RelationCount(), k)
			trainer, err := optimizer.New(g, relations.GraphOf(g), c, p, solver, 1, k)
			if err != nil {
				t.Fatal(err)
			}
			result, err := trainer.Step(batch, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := golden.Compare("loss", []float64{result.Loss}, []float64{loss / float64(len(batch))}, golden.Tolerance32); err != nil {
				t.Errorf("batch %d: %v", i, err)
			}
			got := parameters.NewSet[float32](pretrained.ULTRALayout())
			moments, _ := solver.State()
			for _, m := range moments {
				if name, first := strings.CutPrefix(m.Name, "exp_avg."); first {
					for j, v := range m.Data {
						got.Data(name)[j] = 10 * v
					}
				}
			}
			if err := golden.CompareSets(got, want, golden.Tolerance32); err != nil {
				t.Errorf("batch %d, remove %s: %v", i, c.Remove, err)
			}
		}
	})
}

// randomFacts returns distinct facts.
func randomFacts(rng *rand.Rand, entities, relations, count int) (facts []graph.Fact) {
	for len(facts) < count {
		f := graph.Fact{Head: int32(rng.IntN(entities)), Relation: int32(rng.IntN(relations)), Tail: int32(rng.IntN(entities))}
		if !slices.Contains(facts, f) {
			facts = append(facts, f)
		}
	}
	return facts
}

func graphOf(t *testing.T, entities, relations int, facts []graph.Fact) *graph.Graph {
	t.Helper()
	g, err := graph.New(entities, relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
