package spec

import (
	"flag"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/internal/spec/golden"
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

// TestWriteGoldenCases writes the cases with -update. TestGoldenFloat64 compares them with this package, and the
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
		facts := sampleFacts(11, 16, 2)
		g, err := graph.New(16, 2, facts)
		if err != nil {
			t.Fatal(err)
		}
		made := makeCase(t, g, c)
		if err := golden.Write(filepath.Join("golden", "testdata", name+".json.gz"), made, facts); err != nil {
			t.Fatal(err)
		}
	}
}

// makeCase computes a case with random parameters: multiples of 1/16, which float32 has too. Of 32 dimensions some
// would be equal in messages along different relations, and so would sums, and which of those takes an extreme's
// gradient is arbitrary (see package gpu): the relations' embeddings, or the maps that they come from, are
// multiples of 1/4096 there.
func makeCase(t *testing.T, g *graph.Graph, c configuration.Configuration) *golden.Case {
	t.Helper()
	p := sampleParameters(c, g, 5)
	for _, tensor := range p.Tensors {
		units := 16.0
		if c.Dim == 32 && strings.HasSuffix(tensor.Name, ".relation.weight") || c.Message == "transe" && strings.Contains(tensor.Name, "relation_linear") {
			units = 4096
		}
		for i, value := range tensor.Data {
			tensor.Data[i] = math.Round(units*value/math.Sqrt(float64(c.Dim)/4)) / units
		}
	}
	m := newModel(t, g, c, p)
	made := &golden.Case{
		Configuration: c, Graph: g, Parameters: p,
		Gradients: parameters.NewSet[float64](parameters.Layout(c, g.RelationCount())),
	}
	random := rand.New(rand.NewPCG(3, 3))
	facts := []graph.Fact{{Head: 0, Relation: 0, Tail: 1}, {Head: 3, Relation: 0, Tail: 0}}
	for i, f := range facts {
		q := golden.Query{Query: graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail}}
		if i == 1 { // the inverse query
			q.Query = graph.Query{Source: f.Tail, Relation: g.Inverse(f.Relation), Answer: f.Head}
		}
		q.Removal = configuration.Removal(c.Remove)
		for range 4 {
			q.Negatives = append(q.Negatives, int32(random.IntN(g.Entities)))
		}
		pass := m.Forward(Query{Query: q.Query, Training: true})
		q.Distances, q.Hiddens, q.Final, q.Score = pass.Distances, pass.Hiddens, pass.Final, pass.Scores
		q.Attention, q.Priority = pass.Attention, pass.Priorities
		q.RawRankPessimistic = RawRankPessimistic(pass.Scores, q.Answer)
		for _, n := range pass.Counts {
			q.Layers = append(q.Layers, golden.Layer{
				Active: n.Active, AStar: n.AStar, Kept: n.Kept,
				KeptEmpty: n.KeptEmpty, PrunedEmpty: n.PrunedEmpty, PrunedRedundant: n.PrunedRedundant,
			})
		}
		var gradient []float64
		q.Loss, gradient = Loss(c, pass.Scores, q.Answer, q.Negatives)
		made.BatchLoss += q.Loss / float64(len(facts))
		for o := range gradient {
			gradient[o] /= float64(len(facts))
		}
		pass.Backward(gradient, made.Gradients)
		made.Queries = append(made.Queries, q)
	}
	return made
}
