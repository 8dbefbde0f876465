package propagation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tagnet/formats/hop"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	"tagnet/model/weightstest"
)

// randomGraph returns a graph with loops, parallel relations and entities without edges.
func randomGraph(t testing.TB, rng *rand.Rand) *graph.Graph {
	t.Helper()
	entities, relations := 2+rng.IntN(40), 1+rng.IntN(3)
	return golden.RandomGraph(t, rng, entities, relations, rng.IntN(3*entities))
}

// withIsolated returns a graph with more entities, which have no edges.
func withIsolated(t testing.TB, g *graph.Graph, more int) *graph.Graph {
	t.Helper()
	var facts []graph.Fact
	for o := range int32(g.Entities) {
		senders, relations := g.In(o)
		for i, u := range senders {
			if int(relations[i]) < g.BaseRelations {
				facts = append(facts, graph.Fact{Head: u, Relation: relations[i], Tail: o})
			}
		}
	}
	larger, err := graph.New(g.Entities+more, g.BaseRelations, facts)
	if err != nil {
		t.Fatal(err)
	}
	return larger
}

// newDraws returns random configurations, which cover every choice.
func newDraws() *weightstest.Draws {
	return &weightstest.Draws{Numbers: func(rng *rand.Rand, c *configuration.Configuration) {
		c.Layers, c.Delta = 1+rng.IntN(6), rng.IntN(5)
		c.Dim = []int{6, 10, 32, 40}[rng.IntN(4)]
		c.NodeRatio, c.DegreeRatio = 0.1+0.9*rng.Float64(), 0.5+rng.Float64()
		c.Dropout = []float64{0, 0.3}[rng.IntN(2)]
		c.RelationLayers, c.Reach = 0, 0
		if c.Transfers() {
			c.RelationLayers = 1 + rng.IntN(4)
		}
		if rng.IntN(3) == 0 {
			c.Reach = 1 + rng.IntN(25)
		}
	}}
}

// randomConfiguration draws a configuration. A*Net is rare: where priorities are nearly equal, rounding
// decides what it selects.
func randomConfiguration(rng *rand.Rand, draws *weightstest.Draws) configuration.Configuration {
	c := draws.Draw(rng)
	for c.Prioritized() && rng.IntN(4) > 0 {
		c = draws.Draw(rng)
	}
	return c
}

// randomQuery returns a query from a source, and removes an edge to one of its neighbors as a configuration does.
func randomQuery(rng *rand.Rand, g *graph.Graph, c configuration.Configuration, source int32) graph.Query {
	q := graph.Query{Source: source, Relation: int32(rng.IntN(g.RelationCount()))}
	if senders, relations := g.In(source); len(senders) > 0 {
		q.Answer, q.Removal = senders[0], configuration.Removal(c.Remove)
		if q.Removal == graph.RemoveFact {
			q.Relation = g.Inverse(relations[0])
		}
	}
	return q
}

// rounding is the tolerance of float32 with random weights, relative to a tensor's largest magnitude. It
// is more than on the golden cases: some random ones have standard deviations and norms close to zero,
// whose derivatives amplify rounding errors.
const rounding = 5e-3

// TestMatchesReference compares states and gradients with the float64 specification on random graphs and
// configurations, dropout included, on every kernel. A propagator serves several queries in a row: none
// may affect the next. Within a window, every other graph has so many more entities that only what the candidates
// depend on is laid out, where that is possible.
func TestMatchesReference(t *testing.T) {
	t.Parallel()
	draws := newDraws()
	narrowed := matchReference(t, 150, kernel.Available(), func(rng *rand.Rand) (*graph.Graph, configuration.Configuration) {
		g, c := randomGraph(t, rng), randomConfiguration(rng, draws)
		draws.Take(c)
		return g, c
	})
	draws.Check(t)
	if narrowed < 5*len(kernel.Available()) {
		t.Errorf("only %d layouts have left out reached entities", narrowed)
	}
}

// TestMatchesReferenceInDepth does so on larger graphs with hubs, with up to 14 layers and any window, on
// the fastest kernel.
func TestMatchesReferenceInDepth(t *testing.T) {
	t.Parallel()
	seeds, all := uint64(40), kernel.Available()
	if testing.Short() {
		seeds = 8
	}
	draws := newDraws()
	matchReference(t, seeds, all[len(all)-1:], func(rng *rand.Rand) (*graph.Graph, configuration.Configuration) {
		g, c := graphWithHubs(t, rng), randomConfiguration(rng, draws)
		c.Layers, c.Delta = 7+rng.IntN(8), rng.IntN(16)
		return g, c
	})
}

// graphWithHubs returns a graph of 60 to 160 entities, of which up to three are at one end of half of the facts.
func graphWithHubs(t testing.TB, rng *rand.Rand) *graph.Graph {
	t.Helper()
	entities, relations, hubs := 60+rng.IntN(101), 1+rng.IntN(3), 1+rng.IntN(3)
	facts := make([]graph.Fact, entities+rng.IntN(3*entities))
	for i := range facts {
		f := graph.Fact{Head: int32(rng.IntN(entities)), Relation: int32(rng.IntN(relations)), Tail: int32(rng.IntN(entities))}
		switch rng.IntN(4) {
		case 0:
			f.Head = int32(rng.IntN(hubs))
		case 1:
			f.Tail = int32(rng.IntN(hubs))
		}
		facts[i] = f
	}
	g, err := graph.New(entities, relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// matchReference compares graphs and configurations that draw returns, and returns the number of layouts that have left
// out reached entities.
func matchReference(t *testing.T, seeds uint64, kernels []kernel.Kernel, draw func(rng *rand.Rand) (*graph.Graph, configuration.Configuration)) (narrowed int) {
	t.Helper()
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 3))
		g, c := draw(rng)
		entities := g.Entities // that queries are about
		if seed%2 == 0 && c.Policy == configuration.PolicyWindow {
			g = withIsolated(t, g, 80)
		}
		set, rounded := golden.RandomWeights(rng, c, g.RelationCount())
		tame(c, set, rounded)
		model, err := spec.New(g, c, set)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range kernels {
			weights := NewWeights(g, nil, c, true)
			if err := weights.Load(k, rounded); err != nil {
				t.Fatal(err)
			}
			p := New(g, c, k)
			for number := range 3 {
				source := int32(rng.IntN(entities))
				q := Request{Query: randomQuery(rng, g, c, source), Training: true, Seed: seed}
				candidates := []int32{source}
				for range 6 {
					candidates = append(candidates, int32(rng.IntN(entities)))
				}
				name := fmt.Sprintf("seed %d, %s, query %d, %s", seed, k.Name(), number, c.Policy)
				reached := compareWithReference(t, name, p, weights, model, q, candidates, number > 0, rng)
				if p.policy.sharesEqual() && p.layout.Count() < reached {
					narrowed++
				}
			}
		}
		if t.Failed() {
			t.Fatalf("configuration %s", c)
		}
	}
	return narrowed
}

// tame scales the maps from states of relations, which are sums over relations and layers, to embeddings of relations:
// as large as they come, products of them amplify rounding errors from layer to layer.
func tame(c configuration.Configuration, set *parameters.Set[float64], rounded *parameters.Set[float32]) {
	for i, tensor := range rounded.Tensors {
		if !strings.Contains(tensor.Name, ".relation_projection.") {
			continue
		}
		for j := range tensor.Data {
			tensor.Data[j] /= float32(math.Sqrt(float64(c.Dim)))
			set.Tensors[i].Data[j] = float64(tensor.Data[j])
		}
	}
}

// compareWithReference compares the states of entities, and gradients. few has the propagator compute only what these
// depend on. It returns the number of entities that the search reaches.
func compareWithReference(t *testing.T, name string, p *Propagator, weights *Weights, model *spec.Model, q Request, entities []int32, few bool,
	rng *rand.Rand) (reached int) {
	t.Helper()
	c := p.configuration
	if few {
		q.Candidates = entities
		q.ShareStates = p.policy.sharesEqual() && c.ShareStates
	}
	if err := p.Forward(t.Context(), weights, q); err != nil {
		t.Fatal(err)
	}
	want := model.Forward(spec.Query{
		Query: q.Query, Training: true, Dropout: p.dropoutOf(q.Seed), Inside: spec.Inside(p.whole, p.configuration, q.Query),
	})
	size := p.Depth() * p.Width()
	states, valid := make([]float32, len(entities)*size), make([]int32, len(entities))
	p.Candidates(entities, states, valid)
	gradient := make([]float32, len(states))
	for i := range gradient {
		gradient[i] = float32(rng.NormFloat64())
	}

	expected := parameters.NewSet[float64](parameters.Layout(c, p.whole.RelationCount()))
	expectedStates := make([]float64, len(states))
	if c.Prioritized() {
		scores := make([]float64, p.whole.Entities)
		for i, o := range entities {
			expectedStates[i] = want.Scores[o]
			scores[o] += float64(gradient[i])
		}
		want.Backward(scores, expected)
	} else {
		hiddens := make([][]float64, c.Layers+1)
		for layer := range hiddens {
			hiddens[layer] = make([]float64, p.whole.Entities*c.Dim)
		}
		for i, o := range entities {
			for age := range int(valid[i]) {
				layer := c.Layers
				if c.Specific() {
					layer = int(want.Distances[o]) + age
				}
				for j := range c.Dim {
					at := (i*p.Depth()+age)*c.Dim + j
					expectedStates[at] = want.Hiddens[layer][int(o)*c.Dim+j]
					hiddens[layer][int(o)*c.Dim+j] += float64(gradient[at])
				}
			}
		}
		want.BackwardStates(hiddens, expected)
	}
	if err := golden.Compare(name+": states", states, expectedStates, rounding); err != nil {
		t.Error(err)
	}
	gradients := NewGradients(c, p.whole.RelationCount())
	if err := p.Backward(entities, gradient, gradients); err != nil {
		t.Fatal(err)
	}
	got := parameters.NewSet[float32](parameters.Layout(c, p.whole.RelationCount()))
	if err := Sum(p.kernel, weights, []*Gradients{gradients}, []int32{q.Relation}, got); err != nil {
		t.Fatal(err)
	}
	largest := 0.0
	for _, tensor := range expected.Tensors {
		largest = max(largest, magnitude(tensor.Data))
	}
	for i, tensor := range expected.Tensors {
		// Where a tensor's gradient nearly cancels, the rounding errors of its terms remain.
		share := max(magnitude(tensor.Data), largest/100)
		for j, value := range tensor.Data {
			if difference := math.Abs(float64(got.Tensors[i].Data[j]) - value); !(difference <= rounding*share) {
				t.Errorf("%s: gradient of %s differs at %d: %g, want %g", name, tensor.Name, j, got.Tensors[i].Data[j], value)
				break
			}
		}
	}
	for _, distance := range want.Distances {
		if distance != hop.Unreached {
			reached++
		}
	}
	return reached
}

func magnitude(values []float64) float64 {
	largest := 0.0
	for _, value := range values {
		largest = max(largest, math.Abs(value))
	}
	return largest
}

// dropoutOf returns the propagator's dropout for the reference.
func (p *Propagator) dropoutOf(seed uint64) func(layer int, entity int32, dimension int) float64 {
	return func(layer int, entity int32, dimension int) float64 {
		if p.dropout.threshold == 0 {
			return 1
		}
		kept := make([]uint32, p.maskWords())
		p.kernel.DropoutMasks(kept, []int32{entity}, len(kept), p.dropout.of(seed, layer-1))
		if kept[dimension/32]>>(dimension%32)&1 == 0 {
			return 0
		}
		return float64(p.dropout.scale)
	}
}
