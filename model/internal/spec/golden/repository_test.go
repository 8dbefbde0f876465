package golden

import (
	"flag"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/internal/spec"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

var update = flag.Bool("update", false, "write the golden cases of the repository")

// repositoryCases are the configurations of the golden cases that the repository keeps.
var repositoryCases = map[string]func(*configuration.Configuration){
	"own_window_delta0_degree": func(c *configuration.Configuration) { c.Delta, c.DegreeMessages = 0, true },
	"own_window_delta2_degree": func(c *configuration.Configuration) {
		c.Delta, c.DegreeMessages, c.Layers, c.Dependent, c.Remove = 2, true, 4, false, configuration.RemoveOneHop
	},
	"own_full": func(c *configuration.Configuration) { c.Policy = configuration.PolicyFull },
	"own_specific": func(c *configuration.Configuration) {
		c.Delta, c.DeltaMode, c.Attention, c.Message = 1, configuration.DeltaSpecific, configuration.AttentionOwn, "transe"
	},
	"own_astar":               func(c *configuration.Configuration) { c.Policy = configuration.PolicyAStar },
	"own_window_sum_distmult": func(c *configuration.Configuration) { c.Delta, c.Aggregate, c.Bias = 1, "sum", false },
	"own_graph_window_sum": func(c *configuration.Configuration) {
		c.Relations, c.RelationLayers, c.Delta, c.Aggregate = configuration.RelationsGraph, 2, 2, "sum"
	},
	"own_graph_window_pna": func(c *configuration.Configuration) {
		c.Relations, c.RelationLayers, c.Delta = configuration.RelationsGraph, 3, 1
	},
	"own_graph_full": func(c *configuration.Configuration) {
		c.Relations, c.RelationLayers, c.Policy, c.Aggregate = configuration.RelationsGraph, 2, configuration.PolicyFull, "sum"
	},
	"own_window_rotate": func(c *configuration.Configuration) {
		c.Delta, c.DegreeMessages, c.Dim, c.Layers, c.Message = 1, true, 6, 2, configuration.MessageRotatE
	},
	"own_window_softmax": func(c *configuration.Configuration) { c.Delta, c.Loss = 2, configuration.LossSoftmax },
	"own_specific_softmax": func(c *configuration.Configuration) {
		c.Delta, c.DeltaMode, c.Attention, c.Loss = 1, configuration.DeltaSpecific, configuration.AttentionShared, configuration.LossSoftmax
	},
	"own_window_dim32": func(c *configuration.Configuration) { c.Delta, c.Dim, c.Layers, c.Dependent = 1, 32, 2, false },
}

// TestWriteGoldenCases writes the cases with -update. TestGoldenFloat64 of package spec compares them with it, and the
// tests of the kernels compare them with float32.
func TestWriteGoldenCases(t *testing.T) {
	t.Parallel()
	if !*update {
		t.Skip("the golden cases are written with -update")
	}
	for name, change := range repositoryCases {
		c := configuration.Default()
		c.Dim, c.Layers, c.NodeRatio, c.DegreeRatio, c.Aggregate, c.Message = 8, 3, 0.4, 1, "pna", "distmult"
		c.Dropout = 0
		change(&c)
		facts := repositoryFacts(rand.New(rand.NewPCG(11, 1)))
		g, err := graph.New(16, 2, facts)
		if err != nil {
			t.Fatal(err)
		}
		made := makeCase(t, g, c)
		if err := Write(filepath.Join("testdata", name+".json.gz"), made, facts); err != nil {
			t.Fatal(err)
		}
	}
}

// repositoryFacts returns facts of 16 entities and two relations: a loop, parallel relations, a chain longer than the
// layers, and an entity without facts.
func repositoryFacts(random *rand.Rand) []graph.Fact {
	facts := []graph.Fact{{Head: 1, Relation: 0, Tail: 1}, {Head: 0, Relation: 0, Tail: 1}, {Head: 0, Relation: 1, Tail: 1},
		{Head: 0, Relation: 1, Tail: 2}, {Head: 3, Relation: 0, Tail: 0}}
	for o := int32(10); o < 14; o++ {
		facts = append(facts, graph.Fact{Head: o, Relation: int32(random.IntN(2)), Tail: o + 1})
	}
	for range 20 {
		facts = append(facts, graph.Fact{Head: int32(random.IntN(11)), Relation: int32(random.IntN(2)), Tail: int32(random.IntN(11))})
	}
	return facts
}

// makeCase computes a case with random parameters: multiples of 1/16, which float32 has too. Of 32 dimensions some
// would be equal in messages along different relations, and so would sums, and which of those takes an extreme's
// gradient is arbitrary (see package gpu): the relations' embeddings, or the maps that they come from, are
// multiples of 1/4096 there.
func makeCase(t *testing.T, g *graph.Graph, c configuration.Configuration) *Case {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 2))
	p := parameters.NewSet[float64](parameters.Layout(c, g.RelationCount()))
	for _, tensor := range p.Tensors {
		units := 16.0
		if c.Dim == 32 && strings.HasSuffix(tensor.Name, ".relation.weight") || c.Message == "transe" && strings.Contains(tensor.Name, "relation_linear") {
			units = 4096
		}
		for i := range tensor.Data {
			tensor.Data[i] = math.Round(units*(random.NormFloat64()/2)/math.Sqrt(float64(c.Dim)/4)) / units
		}
	}
	m, err := spec.New(g, c, p)
	if err != nil {
		t.Fatal(err)
	}
	made := &Case{
		Configuration: c, Graph: g, Parameters: p,
		Gradients: parameters.NewSet[float64](parameters.Layout(c, g.RelationCount())),
	}
	random = rand.New(rand.NewPCG(3, 3))
	facts := []graph.Fact{{Head: 0, Relation: 0, Tail: 1}, {Head: 3, Relation: 0, Tail: 0}}
	for i, f := range facts {
		q := Query{Query: graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail}}
		if i == 1 { // the inverse query
			q.Query = graph.Query{Source: f.Tail, Relation: g.Inverse(f.Relation), Answer: f.Head}
		}
		q.Removal = configuration.Removal(c.Remove)
		for range 4 {
			q.Negatives = append(q.Negatives, int32(random.IntN(g.Entities)))
		}
		pass := m.Forward(spec.Query{Query: q.Query, Training: true})
		q.Distances, q.Hiddens, q.Final, q.Score = pass.Distances, pass.Hiddens, pass.Final, pass.Scores
		q.Attention, q.Priority = pass.Attention, pass.Priorities
		q.RawRankPessimistic = spec.RawRankPessimistic(pass.Scores, q.Answer)
		for _, n := range pass.Counts {
			q.Layers = append(q.Layers, Layer{
				Active: n.Active, AStar: n.AStar, Kept: n.Kept,
				KeptEmpty: n.KeptEmpty, PrunedEmpty: n.PrunedEmpty, PrunedRedundant: n.PrunedRedundant,
			})
		}
		var gradient []float64
		q.Loss, gradient = spec.Loss(c, pass.Scores, q.Answer, q.Negatives)
		made.BatchLoss += q.Loss / float64(len(facts))
		for o := range gradient {
			gradient[o] /= float64(len(facts))
		}
		pass.Backward(gradient, made.Gradients)
		made.Queries = append(made.Queries, q)
	}
	return made
}
