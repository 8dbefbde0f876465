package relations

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// linearModel returns a model whose tables take several blocks of Prepare, the last of them shorter,
// with random parameters.
func linearModel(t testing.TB) (*graph.Graph, configuration.Configuration, *parameters.Set[float32]) {
	t.Helper()
	g, err := graph.New(40, 70, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := configuration.Default()
	c.Layers, c.Dim, c.Dependent = 3, 16, true
	p := parameters.NewSet[float32](parameters.Layout(c, g.RelationCount()))
	rng := rand.New(rand.NewPCG(65, 66))
	for _, tensor := range p.Tensors {
		for i := range tensor.Data {
			tensor.Data[i] = float32(rng.NormFloat64())
		}
	}
	return g, c, p
}

// What Prepare computes must equal what a query computes for itself, bit for bit, for training and for scoring.
func TestPrepare(t *testing.T) {
	t.Parallel()
	g, c, p := linearModel(t)
	for _, k := range kernel.Available() {
		s, idle := New(g, nil, c, true), New(g, nil, c, false)
		for _, queries := range [][]int32{{5}, {1, 1, 139, 7, -1, 140}, {3, 2, 1, 0, 9, 8, 4, 100, 101}} {
			s.Load(k, p)
			idle.Load(k, p)
			known := slices.DeleteFunc(slices.Clone(queries), func(q int32) bool { return q < 0 || int(q) >= g.RelationCount() })
			var alone [][]float32
			for _, q := range known {
				for _, table := range s.Tables(q, &Buffers{}) {
					alone = append(alone, slices.Clone(table))
				}
			}
			s.Prepare(queries)
			for i, q := range known {
				of := idle.Tables(q, &Buffers{})
				for layer, table := range s.Tables(q, &Buffers{}) {
					if !slices.Equal(table, alone[i*c.Layers+layer]) {
						t.Fatalf("%s, queries %v: relation %d, layer %d differs from the query's own", k.Name(), queries, q, layer)
					}
					if !slices.Equal(table, of[layer]) {
						t.Fatalf("%s, queries %v: relation %d, layer %d differs from that of a source not for training", k.Name(), queries, q, layer)
					}
					wantTable(t, p, layer, q, c.Dim, table)
				}
			}
		}
	}
}

// wantTable compares with the definition, W q + b, in float64.
func wantTable(t *testing.T, p *parameters.Set[float32], layer int, q int32, d int, got []float32) {
	t.Helper()
	weight, bias, query := p.Layer(layer+1, "relation_linear.weight"), p.Layer(layer+1, "relation_linear.bias"), p.Data("query.weight")[int(q)*d:]
	for i, g := range got {
		want := float64(bias[i])
		for j := range d {
			want += float64(weight[i*d+j]) * float64(query[j])
		}
		if !(math.Abs(float64(g)-want) <= 1e-4) {
			t.Fatalf("relation %d, layer %d: [%d] = %g, want %g", q, layer, i, g, want)
		}
	}
}

func BenchmarkPrepare(b *testing.B) {
	g, c, p := linearModel(b)
	s := New(g, nil, c, true)
	s.Load(kernel.Available()[len(kernel.Available())-1], p)
	queries := make([]int32, 16)
	for i := range queries {
		queries[i] = int32(i)
	}
	b.SetBytes(4 * int64(c.Layers*len(p.Layer(1, "relation_linear.weight"))))
	b.ReportAllocs()
	for b.Loop() {
		s.Prepare(queries)
	}
}
