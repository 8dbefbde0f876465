package explanation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/propagation"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/pretrained"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	"tagnet/model/weightstest"
)

// TestGoldenExplanations compares derivatives and best paths with the golden ones, on every kernel.
func TestGoldenExplanations(t *testing.T) {
	t.Parallel()
	for _, e := range golden.Explanations(t) {
		for _, k := range kernel.Available() {
			t.Run(fmt.Sprintf("%s/%d/%s", e.Case.Name, e.Answer, k.Name()), func(t *testing.T) {
				t.Parallel()
				explainer, err := New(e.Case.Graph, nil, e.Case.Configuration, e.Case.Parameters32(), k)
				if err != nil {
					t.Fatal(err)
				}
				w, q := explainer.Worker(), e.Query.Query
				score, layers, err := w.edges(t.Context(), q, e.Answer)
				if err != nil {
					t.Fatal(err)
				}
				if err := golden.Compare("score", []float64{score}, []float64{e.Score}, golden.Tolerance32); err != nil {
					t.Error(err)
				}
				want := make([][]propagation.Edge, len(layers))
				for l, edges := range e.Layers {
					for _, edge := range edges {
						want[l] = append(want[l], propagation.Edge{Sender: edge.Sender, Relation: edge.Relation, Receiver: edge.Receiver, Value: edge.Gradient})
					}
				}
				largest := compareEdgeValues(t, layers, want, golden.Tolerance32)
				explained, err := w.Explain(t.Context(), q, e.Answer, e.K, true)
				if err != nil {
					t.Fatal(err)
				}
				comparePaths(t, explained.Paths, e.Paths, golden.Tolerance32*largest)
			})
		}
	}
}

// compareEdgeValues compares the values of all edges, and returns the largest.
func compareEdgeValues(t *testing.T, got, want [][]propagation.Edge, tolerance float64) (largest float64) {
	t.Helper()
	largest = smallest
	values := make([]map[[3]int32]float64, len(got))
	for l, edges := range want {
		values[l] = make(map[[3]int32]float64)
		for _, e := range edges {
			values[l][[3]int32{e.Sender, e.Relation, e.Receiver}] = e.Value
			largest = math.Max(largest, math.Abs(e.Value))
		}
	}
	for l, edges := range got {
		for _, e := range edges {
			key := [3]int32{e.Sender, e.Relation, e.Receiver}
			if !(math.Abs(e.Value-values[l][key]) <= tolerance*largest) {
				t.Errorf("value of %v in layer %d is %g, want %g", key, l+1, e.Value, values[l][key])
			}
			delete(values[l], key)
		}
	}
	for l := range values {
		for key, value := range values[l] {
			if !(math.Abs(value) <= tolerance*largest) {
				t.Errorf("value of %v in layer %d is missing, want %g", key, l+1, value)
			}
		}
	}
	return largest
}

// smallest is the least magnitude that tolerances are relative to: tiny values are what is left of terms that cancel.
const smallest = 1e-3

// comparePaths compares paths with the golden ones. Paths whose weights differ by less than rounding may
// be in another order.
func comparePaths(t *testing.T, got []Path, want []golden.ExplainedPath, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d paths, want %d", len(got), len(want))
	}
	weights := make(map[string]float64)
	for _, path := range want {
		weights[fmt.Sprint(path.Edges)] = path.Weight
	}
	for i, path := range got {
		if !(math.Abs(path.Weight-want[i].Weight) <= tolerance) {
			t.Errorf("path %d has weight %g, want %g", i, path.Weight, want[i].Weight)
		}
		weight, found := weights[fmt.Sprint(triples(path))]
		if last := want[len(want)-1].Weight; !found && !(math.Abs(path.Weight-last) <= tolerance) || found && !(math.Abs(path.Weight-weight) <= tolerance) {
			t.Errorf("path %d is %v of weight %g, want %v", i, triples(path), path.Weight, want[i])
		}
	}
}

func triples(path Path) [][3]int32 {
	edges := make([][3]int32, len(path.Edges))
	for i, e := range path.Edges {
		edges[i] = [3]int32{e.Sender, e.Relation, e.Receiver}
	}
	return edges
}

// randomGraph returns a graph with loops and parallel relations.
func randomGraph(t testing.TB, rng *rand.Rand) *graph.Graph {
	t.Helper()
	entities, relations := 3+rng.IntN(20), 1+rng.IntN(3)
	return golden.RandomGraph(t, rng, entities, relations, 1+rng.IntN(2*entities))
}

// newDraws returns random configurations, which cover every choice.
func newDraws() *weightstest.Draws {
	return &weightstest.Draws{Numbers: func(rng *rand.Rand, c *configuration.Configuration) {
		c.Layers, c.Delta, c.Dim = 1+rng.IntN(5), rng.IntN(4), []int{6, 16}[rng.IntN(2)]
		c.AttentionTemperature = 0.7
		c.NodeRatio, c.DegreeRatio, c.EvaluationNodeRatio = 0.1, 0.5, 0.4+0.5*rng.Float64()
		c.Dropout = []float64{0, 0.3}[rng.IntN(2)]
		c.RelationLayers, c.Reach = 0, 0
		if c.Transfers() {
			c.RelationLayers = 1 + rng.IntN(3)
		}
		if rng.IntN(3) == 0 {
			c.Reach = 1 + rng.IntN(12)
		}
	}}
}

// TestMatchesReference compares the values of all edges with the float64 specification, for every
// option, and removed edges.
func TestMatchesReference(t *testing.T) {
	t.Parallel()
	compared, draws := 0, newDraws()
	for seed := range uint64(260) {
		rng := rand.New(rand.NewPCG(seed, 9))
		g, c := randomGraph(t, rng), draws.Draw(rng)
		draws.Take(c)
		set, rounded := golden.RandomWeights(rng, c, g.RelationCount())
		m, err := spec.New(g, c, set)
		if err != nil {
			t.Fatal(err)
		}
		explainer, err := New(g, nil, c, rounded, kernel.Available()[seed%uint64(len(kernel.Available()))])
		if err != nil {
			t.Fatal(err)
		}
		w := explainer.Worker()
		for range 12 {
			q := graph.Query{Source: int32(rng.IntN(g.Entities)), Relation: int32(rng.IntN(g.RelationCount()))}
			if senders, relations := g.In(q.Source); len(senders) > 0 && rng.IntN(2) == 0 {
				q.Relation, q.Answer, q.Removal = g.Inverse(relations[0]), senders[0], graph.RemoveFact+graph.Removals(rng.IntN(2))
			}
			pass := m.Forward(spec.Query{Query: q, Inside: spec.Inside(g, c.Within(g.Entities), q)})
			answer := int32(rng.IntN(g.Entities))
			score, layers, err := w.edges(t.Context(), q, answer)
			if err != nil {
				t.Fatal(err)
			}
			if err := golden.Compare("score", []float64{score}, pass.Scores[answer:answer+1], 1e-3); err != nil {
				t.Error(err)
			}
			checkNeighbors(t, layers)
			want := within(pass, answer, q, &golden.Case{Graph: g, Configuration: c})
			for _, edges := range want {
				compared += len(edges)
			}
			compareEdgeValues(t, layers, want, 5e-3)
		}
		if t.Failed() {
			t.Fatalf("seed %d, graph of %d entities and %d edges, configuration %s", seed, g.Entities, g.Edges(), c)
		}
	}
	if compared < 10000 {
		t.Errorf("only %d edges were compared", compared)
	}
	draws.Check(t)
}

// checkNeighbors checks that the edges of a receiver are neighbors, and among these those of a sender.
func checkNeighbors(t *testing.T, layers [][]propagation.Edge) {
	t.Helper()
	for l, edges := range layers {
		joined := slices.CompactFunc(slices.Clone(edges), func(a, b propagation.Edge) bool { return a.Receiver == b.Receiver && a.Sender == b.Sender })
		receivers := slices.CompactFunc(slices.Clone(joined), func(a, b propagation.Edge) bool { return a.Receiver == b.Receiver })
		pairs, ends := map[[2]int32]bool{}, map[int32]bool{}
		for _, e := range joined {
			pairs[[2]int32{e.Sender, e.Receiver}], ends[e.Receiver] = true, true
		}
		if len(pairs) != len(joined) || len(ends) != len(receivers) {
			t.Errorf("layer %d: the edges of a receiver or a sender are no neighbors", l+1)
		}
	}
}

// TestGoldenCasesMatchReference compares the values of all edges with the float64 specification on every golden case,
// for some answers.
func TestGoldenCasesMatchReference(t *testing.T) {
	t.Parallel()
	for i, c := range golden.Cases(t) {
		m, err := spec.New(c.Graph, c.Configuration, c.Parameters)
		if err != nil {
			t.Fatal(err)
		}
		k := kernel.Available()[i%len(kernel.Available())]
		explainer, err := New(c.Graph, nil, c.Configuration, c.Parameters32(), k)
		if err != nil {
			t.Fatal(err)
		}
		w := explainer.Worker()
		for number, q := range c.Queries {
			pass := m.Forward(spec.Query{Query: q.Query})
			for answer := int32(number); int(answer) < c.Graph.Entities; answer += 13 {
				_, layers, err := w.edges(t.Context(), q.Query, answer)
				if err != nil {
					t.Fatal(err)
				}
				compareEdgeValues(t, layers, within(pass, answer, q.Query, c), golden.Tolerance32)
			}
		}
		if t.Failed() {
			t.Fatalf("%s, %s", c.Name, k.Name())
		}
	}
}

// within returns the specification's edges from whose receivers the remaining layers reach the answer.
func within(pass *spec.Pass, answer int32, q graph.Query, c *golden.Case) [][]propagation.Edge {
	layers := c.Configuration.Layers
	hops := spec.Distances(c.Graph, answer, layers, q)
	kept := make([][]propagation.Edge, layers)
	for l, edges := range pass.Edges(answer) {
		for _, e := range edges {
			if int(hops[e.Receiver]) <= layers-l-1 {
				kept[l] = append(kept[l], propagation.Edge(e))
			}
		}
	}
	return kept
}

// TestBestPaths compares the dynamic program with the specification's, path by path and bit by bit, on
// edges with many ties.
func TestBestPaths(t *testing.T) {
	t.Parallel()
	found, tied := 0, 0
	finders := map[int]*finder{} // by number of entities: each serves several answers, and none may affect the next
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 10))
		g := randomGraph(t, rng)
		layers, specified := randomLayers(g, rng)
		source, answer, k := int32(rng.IntN(g.Entities)), int32(rng.IntN(g.Entities)), 1+rng.IntN(12)
		if finders[g.Entities] == nil {
			finders[g.Entities] = newFinder(g.Entities, g.BaseRelations)
		}
		got, err := finders[g.Entities].best(t.Context(), layers, source, answer, k, true)
		if err != nil {
			t.Fatal(err)
		}
		if difference := cmp.Diff(specifiedPaths(specified, source, answer, k), got, cmpopts.EquateEmpty()); difference != "" {
			t.Fatalf("seed %d: paths differ (-want +got):\n%s", seed, difference)
		}
		found += len(got)
		for i := range got[min(1, len(got)):] {
			if got[i].Weight == got[i+1].Weight {
				tied++
			}
		}
	}
	if found < 500 || tied < 100 {
		t.Errorf("%d paths with %d ties: the comparison says little", found, tied)
	}
}

// randomLayers returns most edges of a graph for each of some layers, with values of which many are equal.
func randomLayers(g *graph.Graph, rng *rand.Rand) ([][]propagation.Edge, [][]spec.Edge) {
	layers := make([][]propagation.Edge, 1+rng.IntN(5))
	specified := make([][]spec.Edge, len(layers))
	for l := range layers {
		for receiver := range int32(g.Entities) {
			senders, relations := g.In(receiver)
			for i, sender := range senders {
				if rng.IntN(8) > 0 {
					e := propagation.Edge{Sender: sender, Relation: relations[i], Receiver: receiver, Value: float64(rng.IntN(4)-1) / 3}
					layers[l], specified[l] = append(layers[l], e), append(specified[l], spec.Edge(e))
				}
			}
		}
	}
	return layers, specified
}

func specifiedPaths(layers [][]spec.Edge, source, answer int32, k int) (paths []Path) {
	for _, path := range spec.BestPaths(layers, source, answer, k) {
		edges := make([]propagation.Edge, len(path.Edges))
		for i, e := range path.Edges {
			edges[i] = propagation.Edge(e)
		}
		paths = append(paths, Path{path.Weight, edges})
	}
	return paths
}

// TestSimplePaths compares simple paths with those among all walks: all of them where so many are kept, else as many,
// each of them one of these, and in most cases the same.
func TestSimplePaths(t *testing.T) {
	t.Parallel()
	cases, same, left := 0, 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 12))
		g := golden.RandomGraph(t, rng, 3+rng.IntN(8), 1+rng.IntN(2), 8+rng.IntN(16))
		layers, specified := randomLayers(g, rng)
		source, answer := int32(rng.IntN(g.Entities)), int32(rng.IntN(g.Entities))
		const every = 1 << 20
		walks := specifiedPaths(specified, source, answer, every)
		var want []Path
		seen := map[string]bool{}
		for _, path := range walks {
			visited, form, simple := map[int32]bool{source: true}, "", true
			for _, e := range path.Edges {
				simple = simple && !visited[e.Receiver]
				visited[e.Receiver] = true
				form += fmt.Sprint(e.Receiver, " ", int(e.Relation)%g.BaseRelations, " ")
			}
			if simple && !seen[form] {
				want = append(want, path)
			}
			seen[form] = true
		}
		f := newFinder(g.Entities, g.BaseRelations)
		all, err := f.best(t.Context(), layers, source, answer, len(walks)+1, false)
		if err != nil {
			t.Fatal(err)
		}
		if difference := cmp.Diff(want, all, cmpopts.EquateEmpty()); difference != "" {
			t.Fatalf("seed %d: all paths differ (-want +got):\n%s", seed, difference)
		}
		few, err := f.best(t.Context(), layers, source, answer, 5, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(few) < min(1, len(want)) || len(few) > 5 {
			t.Errorf("seed %d: %d paths of %d", seed, len(few), len(want))
		}
		for _, path := range few {
			if !slices.ContainsFunc(want, func(w Path) bool { return cmp.Equal(w, path) }) {
				t.Errorf("seed %d: %v is no simple path that another one does not stand for", seed, path)
			}
		}
		if len(want) > 5 {
			cases++
			if cmp.Equal(want[:5], few) {
				same++
			}
		}
		left += len(walks) - len(want)
	}
	if cases < 50 || same < cases*95/100 || left < 1000 {
		t.Errorf("the 5 best are the same in %d of %d cases, %d walks were left out", same, cases, left)
	}
}

// TestEqualEvidence explains an answer to which two chains lead that differ in the names of their entities only: their
// paths have equal weights. The senders of the chains' ends are in another order, so that sums are rounded otherwise.
func TestEqualEvidence(t *testing.T) {
	t.Parallel()
	// Source 0, answer 1; chains 0-2-3-1 and 0-5-4-1. Entities 6 to 9 hang on 3 and 4 with relations
	// in opposite orders.
	facts := []graph.Fact{
		{Head: 0, Relation: 0, Tail: 2}, {Head: 2, Relation: 1, Tail: 3}, {Head: 3, Relation: 0, Tail: 1},
		{Head: 0, Relation: 0, Tail: 5}, {Head: 5, Relation: 1, Tail: 4}, {Head: 4, Relation: 0, Tail: 1},
		{Head: 0, Relation: 0, Tail: 6}, {Head: 0, Relation: 1, Tail: 7}, {Head: 0, Relation: 1, Tail: 8}, {Head: 0, Relation: 0, Tail: 9},
		{Head: 6, Relation: 0, Tail: 3}, {Head: 7, Relation: 1, Tail: 3}, {Head: 8, Relation: 1, Tail: 4}, {Head: 9, Relation: 0, Tail: 4},
	}
	g, err := graph.New(10, 2, facts)
	if err != nil {
		t.Fatal(err)
	}
	c := configuration.Default()
	c.Layers, c.Dim = 4, 32
	p := parameters.Initialize(parameters.Layout(c, g.RelationCount()), 1)
	for _, k := range kernel.Available() {
		explainer, err := New(g, nil, c, p, k)
		if err != nil {
			t.Fatal(err)
		}
		explained, err := explainer.Worker().Explain(t.Context(), graph.Query{Source: 0, Relation: 1}, 1, 100, true)
		if err != nil {
			t.Fatal(err)
		}
		weights := make(map[string]float64)
		for _, path := range explained.Paths {
			weights[fmt.Sprint(triples(path))] = path.Weight
		}
		one, other := weights["[[0 0 2] [2 1 3] [3 0 1]]"], weights["[[0 0 5] [5 1 4] [4 0 1]]"]
		if one == 0 || !(math.Abs(one-other) <= 1e-4*math.Abs(one)) {
			t.Errorf("%s: weights are %g and %g, want equal ones", k.Name(), one, other)
		}
	}
}

func TestNoPaths(t *testing.T) {
	t.Parallel()
	g, err := graph.New(4, 1, []graph.Fact{{Head: 0, Tail: 1}, {Head: 0, Tail: 0}, {Head: 2, Tail: 3}})
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{configuration.PolicyWindow, configuration.PolicyFull, configuration.PolicyAStar} {
		c := configuration.Default()
		c.Layers, c.Dim, c.Policy, c.NodeRatio = 2, 8, policy, 1
		explainer, err := New(g, nil, c, parameters.Initialize(parameters.Layout(c, g.RelationCount()), 1), kernel.Available()[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range []int32{0, 3} { // the source, and an entity that is not reached
			explained, err := explainer.Worker().Explain(t.Context(), graph.Query{Source: 0}, answer, 10, true)
			if err != nil || len(explained.Paths) != 0 {
				t.Errorf("%s: paths to %d are %v, error %v; want none", policy, answer, explained.Paths, err)
			}
		}
		if _, err := explainer.Worker().Explain(t.Context(), graph.Query{Source: 0}, 4, 10, true); err == nil {
			t.Errorf("%s: an answer out of range is no error", policy)
		}
		if _, err := explainer.Worker().Explain(t.Context(), graph.Query{Source: 9}, 1, 10, true); err == nil {
			t.Errorf("%s: a source out of range is no error", policy)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := explainer.Worker().Explain(canceled, graph.Query{Source: 0}, 1, 10, true); err == nil {
			t.Errorf("%s: a canceled context is no error", policy)
		}
	}
}

// TestRelationsFromAGraph compares the values of all edges with the float64 specification where relations come from a
// graph of them: for a query, what the source gives is constant, so that the specification takes it as parameters.
func TestRelationsFromAGraph(t *testing.T) {
	t.Parallel()
	small := pretrained.ULTRAConfiguration()
	small.Dim, small.Layers, small.RelationLayers = 8, 3, 2
	window := small
	window.Policy, window.Delta, window.Aggregate = configuration.PolicyWindow, 1, configuration.AggregatePNA
	compared, unreached := 0, 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 11))
		g, k := randomGraph(t, rng), kernel.Available()[seed%uint64(len(kernel.Available()))]
		for name, c := range map[string]configuration.Configuration{"ULTRA": pretrained.ULTRAConfiguration(), "small": small, "window": window} {
			p := parameters.Initialize(parameters.Layout(c, 0), seed)
			if name == "ULTRA" {
				p = weightstest.Drawn(seed)
			}
			explainer, err := New(g, nil, c, p, k)
			if err != nil {
				t.Fatal(err)
			}
			w := explainer.Worker()
			for range 4 {
				q := graph.Query{Source: int32(rng.IntN(g.Entities)), Relation: int32(rng.IntN(g.RelationCount()))}
				fixed, set := tabled(g, c, p, q.Relation, k)
				m, err := spec.New(g, fixed, set)
				if err != nil {
					t.Fatal(err)
				}
				pass, answer := m.Forward(spec.Query{Query: q}), int32(rng.IntN(g.Entities))
				score, layers, err := w.edges(t.Context(), q, answer)
				if err != nil {
					t.Fatal(err)
				}
				if err := golden.Compare("score", []float64{score}, pass.Scores[answer:answer+1], golden.Tolerance32); err != nil {
					t.Error(err)
				}
				want := within(pass, answer, q, &golden.Case{Graph: g, Configuration: c})
				for _, edges := range want {
					compared += len(edges)
				}
				if int(pass.Distances[answer]) > c.Layers && score != 0 {
					unreached++
				}
				compareEdgeValues(t, layers, want, golden.Tolerance32)
			}
			if t.Failed() {
				t.Fatalf("%s, seed %d, graph of %d entities and %d edges", name, seed, g.Entities, g.Edges())
			}
		}
	}
	if compared < 1000 || unreached == 0 {
		t.Errorf("%d edges were compared, %d answers were out of reach: the comparison says little", compared, unreached)
	}
}

// tabled returns the model whose relation embeddings are parameters: those that the source of another
// model gives to a query.
func tabled(g *graph.Graph, c configuration.Configuration, p *parameters.Set[float32], relation int32,
	k kernel.Kernel) (configuration.Configuration, *parameters.Set[float64]) {
	source := relations.New(g, nil, c, true)
	source.Load(k, p)
	tables := source.Tables(relation, nil)
	c.Relations, c.RelationLayers, c.Dependent = "", 0, false
	set := parameters.NewSet[float32](parameters.Layout(c, g.RelationCount()))
	for _, tensor := range set.Tensors {
		copy(tensor.Data, p.Data(tensor.Name))
	}
	for t, table := range tables {
		copy(set.Layer(t+1, "relation.weight"), table)
	}
	copy(set.Data("query.weight")[int(relation)*c.Dim:], source.Query(relation))
	return c, golden.Widened(set)
}
