package propagation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// batch has random gradients to sum, of a model whose relation embeddings take several blocks of Sum
// and of Embed, the last of them shorter.
type batch struct {
	weights   *Weights
	set, into *parameters.Set[float32]
	batch     []*Gradients
	queries   []int32
}

// quarter draws a multiple of a quarter. Sums of them are exact in any order.
func quarter(rng *rand.Rand, into []float32) {
	for i := range into {
		into[i] = float32(rng.IntN(17)-8) / 4
	}
}

func newBatch(t testing.TB, c configuration.Configuration, count int) *batch {
	t.Helper()
	const relations = 70
	rng := rand.New(rand.NewPCG(61, uint64(count)))
	facts := make([]graph.Fact, 200)
	for i := range facts {
		facts[i] = graph.Fact{Head: int32(rng.IntN(40)), Relation: int32(rng.IntN(relations)), Tail: int32(rng.IntN(40))}
	}
	g, err := graph.New(40, relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	layout := parameters.Layout(c, g.RelationCount())
	b := &batch{weights: NewWeights(g, c, true), set: parameters.NewSet[float32](layout), into: parameters.NewSet[float32](layout)}
	for _, tensor := range b.set.Tensors {
		quarter(rng, tensor.Data)
	}
	if err := b.weights.Load(kernel.Available()[0], b.set); err != nil {
		t.Fatal(err)
	}
	for range count {
		gradients := NewGradients(c, g.RelationCount())
		quarter(rng, gradients.Query)
		for i := range gradients.layers {
			l := &gradients.layers[i]
			for _, data := range [][]float32{l.relation, l.maps[0], l.maps[1], l.maps[2], l.bias, l.scale, l.shift, l.degree} {
				quarter(rng, data)
			}
		}
		b.batch = append(b.batch, gradients)
		b.queries = append(b.queries, int32(rng.IntN(2*relations)))
	}
	b.queries[count-1] = b.queries[0] // two ask for the same
	return b
}

// want returns the sum by its definition: entry by entry, query by query, in float64.
func (b *batch) want() *parameters.Set[float64] {
	c := b.weights.configuration
	d, relations := c.Dim, b.weights.relations
	want := parameters.NewSet[float64](parameters.Layout(c, relations))
	plus := func(into []float64, from []float32) {
		for i, v := range from {
			into[i] += float64(v)
		}
	}
	for i, gradients := range b.batch {
		q := int(b.queries[i])
		queryGradient := want.Data("query.weight")[q*d : (q+1)*d]
		plus(queryGradient, gradients.Query)
		for t, g := range gradients.layers {
			plus(want.Layer(t+1, "linear.bias"), g.bias)
			plus(want.Layer(t+1, "layer_norm.weight"), g.scale)
			plus(want.Layer(t+1, "layer_norm.bias"), g.shift)
			plus(want.Layer(t+1, "degree"), g.degree)
			weight, columns := want.Layer(t+1, "linear.weight"), d+c.UpdateWidth()
			for out := range d {
				for in := range d {
					weight[out*columns+in] += float64(g.maps[0][in*d+out])
				}
				for u := range c.UpdateWidth() {
					feature, k := b.weights.feature(u)
					weight[out*columns+d+u] += float64(g.maps[k][(d+feature)*d+out])
				}
			}
			if !c.Dependent {
				plus(want.Layer(t+1, "relation.weight"), g.relation)
				continue
			}
			plus(want.Layer(t+1, "relation_linear.bias"), g.relation)
			by, stored, embedding := want.Layer(t+1, "relation_linear.weight"), b.set.Layer(t+1, "relation_linear.weight"), b.set.Data("query.weight")[q*d:]
			for out, v := range g.relation {
				for in := range d {
					by[out*d+in] += float64(v) * float64(embedding[in])
					queryGradient[in] += float64(v) * float64(stored[out*d+in])
				}
			}
		}
	}
	return want
}

func sumCases() map[string]configuration.Configuration {
	base := configuration.Default()
	base.Layers, base.Dim, base.DegreeMessages, base.Dependent, base.Bias = 3, 16, true, true, true
	plain, sum, odd := base, base, base
	plain.Dependent, plain.Bias, plain.DegreeMessages = false, false, false
	sum.Aggregate = configuration.AggregateSum
	odd.Dim = 11
	return map[string]configuration.Configuration{"dependent": base, "plain": plain, "sum": sum, "odd": odd}
}

// All numbers have exact float32 sums and products, so the test needs no tolerance.
func TestSum(t *testing.T) {
	t.Parallel()
	for name, c := range sumCases() {
		for _, k := range kernel.Available() {
			for _, count := range []int{1, 2, 5, 19} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, k.Name(), count), func(t *testing.T) {
					b := newBatch(t, c, count)
					want := b.want()
					for range 2 { // again, in another order: the buffers hold the first's numbers
						slices.Reverse(b.batch)
						slices.Reverse(b.queries)
						if err := Sum(k, b.weights, b.batch, b.queries, b.into); err != nil {
							t.Fatal(err)
						}
						for i, tensor := range b.into.Tensors {
							for j, got := range tensor.Data {
								if float64(got) != want.Tensors[i].Data[j] {
									t.Fatalf("%s[%d] = %g, want %g", tensor.Name, j, got, want.Tensors[i].Data[j])
								}
							}
						}
					}
				})
			}
		}
	}
}

// Sums that are rounded must have the same bits on any number of threads.
func TestSumOnAnyNumberOfThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	b := newBatch(t, sumCases()["dependent"], 9)
	rng := rand.New(rand.NewPCG(63, 64))
	for _, gradients := range b.batch {
		for t := range gradients.layers {
			for i := range gradients.layers[t].relation {
				gradients.layers[t].relation[i] = float32(rng.NormFloat64())
			}
			for _, matrix := range gradients.layers[t].maps {
				for i := range matrix {
					matrix[i] = float32(rng.NormFloat64())
				}
			}
		}
	}
	var want []uint32
	for _, threads := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(threads)
		if err := Sum(kernel.Available()[0], b.weights, b.batch, b.queries, b.into); err != nil {
			t.Fatal(err)
		}
		var bits []uint32
		for _, tensor := range b.into.Tensors {
			for _, v := range tensor.Data {
				bits = append(bits, math.Float32bits(v))
			}
		}
		if want == nil {
			want = bits
		}
		if !slices.Equal(bits, want) {
			t.Errorf("%d threads: other bits than one", threads)
		}
	}
}

func TestSumRefusesAnotherNumberOfQueries(t *testing.T) {
	t.Parallel()
	b := newBatch(t, sumCases()["plain"], 2)
	if err := Sum(kernel.Available()[0], b.weights, b.batch, b.queries[:1], b.into); err == nil {
		t.Error("two batch for one query were taken")
	}
	if err := Sum(kernel.Available()[0], b.weights, nil, nil, b.into); err == nil {
		t.Error("a batch without queries was taken")
	}
}

// Embed must equal what a query computes for itself, bit for bit, for training and for scoring.
func TestEmbed(t *testing.T) {
	t.Parallel()
	c := sumCases()["dependent"]
	b := newBatch(t, c, 3)
	rng := rand.New(rand.NewPCG(65, 66))
	for _, tensor := range b.set.Tensors {
		for i := range tensor.Data {
			tensor.Data[i] = float32(rng.NormFloat64())
		}
	}
	g, err := graph.New(40, b.weights.relations/2, nil)
	if err != nil {
		t.Fatal(err)
	}
	idle := NewWeights(g, c, false)
	if err := idle.Load(kernel.Available()[0], b.set); err != nil {
		t.Fatal(err)
	}
	size := b.weights.relations * c.Dim
	for _, k := range kernel.Available() {
		for _, queries := range [][]int32{{5}, {1, 1, 139, 7, -1, 140}, {3, 2, 1, 0, 9, 8, 4, 100, 101}} {
			b.weights.batch.forget()
			var alone [][]float32
			for _, q := range queries {
				for t := range c.Layers {
					if q >= 0 && int(q) < b.weights.relations {
						alone = append(alone, slices.Clone(b.weights.relationEmbeddings(k, t, q, make([]float32, size))))
					}
				}
			}
			b.weights.Embed(k, queries)
			at := 0
			for _, q := range queries {
				for layer := range c.Layers {
					if q < 0 || int(q) >= b.weights.relations {
						continue
					}
					embedded := b.weights.relationEmbeddings(k, layer, q, nil)
					if !slices.Equal(embedded, alone[at]) {
						t.Fatalf("%s, queries %v: relation %d, layer %d differs from the query's own", k.Name(), queries, q, layer)
					}
					if !slices.Equal(embedded, idle.relationEmbeddings(k, layer, q, make([]float32, size))) {
						t.Fatalf("%s, queries %v: relation %d, layer %d differs from that of weights not for training", k.Name(), queries, q, layer)
					}
					wantEmbedding(t, b.set, layer, q, c.Dim, embedded)
					at++
				}
			}
		}
	}
}

// wantEmbedding compares with the definition, W q + b, in float64.
func wantEmbedding(t *testing.T, set *parameters.Set[float32], layer int, q int32, d int, got []float32) {
	t.Helper()
	weight, bias, query := set.Layer(layer+1, "relation_linear.weight"), set.Layer(layer+1, "relation_linear.bias"), set.Data("query.weight")[int(q)*d:]
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

// Load, Embed and Sum must reuse their buffers. They allocate the names by which parameters are looked
// up. On one thread, since it varies which of several first needs a buffer.
func TestBatchesDoNotAllocateBuffers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b := newBatch(t, sumCases()["dependent"], 9)
	k := kernel.Available()[len(kernel.Available())-1]
	step := func() {
		if err := b.weights.Load(kernel.Available()[0], b.set); err != nil {
			t.Fatal(err)
		}
		b.weights.Embed(k, b.queries)
		if err := Sum(k, b.weights, b.batch, b.queries, b.into); err != nil {
			t.Fatal(err)
		}
	}
	step()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const rounds = 20
	for range rounds {
		step()
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / rounds; each > 20<<10 {
		t.Errorf("%d bytes a batch", each)
	}
}

func BenchmarkSum(b *testing.B) {
	for _, count := range []int{16, 64} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			c := configuration.Default()
			batch := newBatch(b, c, count)
			bytes := 0
			for _, gradients := range batch.batch {
				for _, l := range gradients.layers {
					bytes += 4 * (len(l.relation) + len(l.maps[0]) + len(l.maps[1]) + len(l.maps[2]))
				}
			}
			b.SetBytes(int64(bytes))
			k := kernel.Available()[len(kernel.Available())-1]
			b.ReportAllocs()
			for b.Loop() {
				if err := Sum(k, batch.weights, batch.batch, batch.queries, batch.into); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEmbed(b *testing.B) {
	batch := newBatch(b, configuration.Default(), 16)
	k := kernel.Available()[len(kernel.Available())-1]
	b.SetBytes(4 * int64(batch.weights.configuration.Layers*len(batch.set.Layer(1, "relation_linear.weight"))))
	b.ReportAllocs()
	for b.Loop() {
		batch.weights.Embed(k, batch.queries)
	}
}
