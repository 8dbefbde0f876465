package propagation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// batch has random gradients to sum, of a model whose relation embeddings take several blocks of Sum
// and of Prepare, the last of them shorter.
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
	b := &batch{weights: NewWeights(g, nil, c, true), set: parameters.NewSet[float32](layout), into: parameters.NewSet[float32](layout)}
	for _, tensor := range b.set.Tensors {
		quarter(rng, tensor.Data)
	}
	if err := b.weights.Load(kernel.Available()[0], b.set); err != nil {
		t.Fatal(err)
	}
	for range count {
		gradients := NewGradients(c, g.RelationCount())
		quarter(rng, gradients.Query)
		for _, table := range gradients.Tables {
			quarter(rng, table)
		}
		for i := range gradients.layers {
			l := &gradients.layers[i]
			for _, data := range [][]float32{l.maps[0], l.maps[1], l.maps[2], l.bias, l.scale, l.shift, l.degree} {
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
	d, relations := c.Dim, b.weights.relationCount
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
				plus(want.Layer(t+1, "relation.weight"), gradients.Tables[t])
				continue
			}
			plus(want.Layer(t+1, "relation_linear.bias"), gradients.Tables[t])
			by, stored, embedding := want.Layer(t+1, "relation_linear.weight"), b.set.Layer(t+1, "relation_linear.weight"), b.set.Data("query.weight")[q*d:]
			for out, v := range gradients.Tables[t] {
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
					b.weights.Relations.Load(k, b.set)
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
			for i := range gradients.Tables[t] {
				gradients.Tables[t][i] = float32(rng.NormFloat64())
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

// Load, Prepare and Sum must reuse their buffers. They allocate the names by which parameters are looked
// up. On one thread, since it varies which of several first needs a buffer.
func TestBatchesDoNotAllocateBuffers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b := newBatch(t, sumCases()["dependent"], 9)
	k := kernel.Available()[len(kernel.Available())-1]
	step := func() {
		if err := b.weights.Load(k, b.set); err != nil {
			t.Fatal(err)
		}
		b.weights.Relations.Prepare(b.queries)
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
				for t, l := range gradients.layers {
					bytes += 4 * (len(gradients.Tables[t]) + len(l.maps[0]) + len(l.maps[1]) + len(l.maps[2]))
				}
			}
			b.SetBytes(int64(bytes))
			k := kernel.Available()[len(kernel.Available())-1]
			batch.weights.Relations.Load(k, batch.set)
			b.ReportAllocs()
			for b.Loop() {
				if err := Sum(k, batch.weights, batch.batch, batch.queries, batch.into); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
