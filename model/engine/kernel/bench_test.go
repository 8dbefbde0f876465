package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// eachVariantBench runs a benchmark once for every variant that this machine can run.
func eachVariantBench(b *testing.B, name string, run func(b *testing.B, k Kernel)) {
	for _, k := range Available() {
		b.Run(name+"/"+k.Name(), func(b *testing.B) { run(b, k) })
	}
}

// aligned draws numbers into memory as the allocator gives it; normal's are unaligned.
func aligned(rng *rand.Rand, n int) []float32 { return append([]float32(nil), normal(rng, n)...) }

func perSecond(b *testing.B, each float64, unit string) {
	b.ReportMetric(each*float64(b.N)/b.Elapsed().Seconds()/1e9, unit)
}

func BenchmarkMultiply(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][3]int{{1000, 160, 32}, {1000, 32, 160}, {1000, 64, 64}, {11, 160, 32}, {3, 160, 32}, {1, 160, 32}} {
		n, inner, m := s[0], s[1], s[2]
		x, y, c := aligned(rng, n*inner), aligned(rng, inner*m), make([]float32, n*m)
		eachVariantBench(b, fmt.Sprintf("%dx%dx%d", n, inner, m), func(b *testing.B, k Kernel) {
			for b.Loop() {
				k.Multiply(c, x, y, Product{Rows: n, Inner: inner, Columns: m})
			}
			perSecond(b, 2*float64(n*inner*m), "GFLOP/s")
			perSecond(b, 4*float64(n*inner+inner*m+n*m), "GB/s")
		})
	}
}

func BenchmarkMultiplyTransposed(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][3]int{{1000, 160, 32}, {1000, 64, 64}, {5, 160, 32}} {
		n, inner, m := s[0], s[1], s[2]
		x, y, c := aligned(rng, n*inner), aligned(rng, n*m), make([]float32, inner*m)
		eachVariantBench(b, fmt.Sprintf("%dx%dx%d", inner, n, m), func(b *testing.B, k Kernel) {
			for b.Loop() {
				k.MultiplyTransposed(c, x, y, Product{Rows: n, Inner: inner, Columns: m})
			}
			perSecond(b, 2*float64(n*inner*m), "GFLOP/s")
			perSecond(b, 4*float64(n*inner+n*m+inner*m), "GB/s")
		})
	}
}

// benchReceivers makes receivers with so many messages each, from three tables of entities rows.
func benchReceivers(dim, n, each, entities, relations int) *Receivers {
	rng := rand.New(rand.NewPCG(1, 1))
	r := &Receivers{Dim: dim, RelationEmbeddings: aligned(rng, relations*dim), Previous: aligned(rng, n*dim), States: aligned(rng, 3*entities*dim),
		StateOffset: 2 * entities, Kinds: 3}
	senders := &r.Senders
	for i := range n {
		for k := range 3 {
			senders.Offsets = append(senders.Offsets, int32(len(senders.Rows)))
			for range (each + 2 - k) / 3 {
				senders.Rows = append(senders.Rows, int32(rng.IntN(entities)-k*entities))
				senders.Relations = append(senders.Relations, int32(rng.IntN(relations)))
			}
		}
		r.MeanFactor = append(r.MeanFactor, 1/float32(each+1))
		r.Rows, r.FeatureRows = append(r.Rows, int32(i)), append(r.FeatureRows, int32(i))
	}
	senders.Offsets = append(senders.Offsets, int32(len(senders.Rows)))
	return r
}

// eachBenchReceivers runs a benchmark with tables inside and outside of the second-level cache, and with
// many and few senders.
func eachBenchReceivers(b *testing.B, run func(b *testing.B, k Kernel, r *Receivers)) {
	for _, s := range []struct {
		dim, n, senders, entities int
	}{{32, 500, 30, 500}, {32, 2000, 3, 500}, {32, 1000, 30, 15000}, {64, 500, 30, 500}, {64, 1000, 30, 15000}} {
		r := benchReceivers(s.dim, s.n, s.senders, s.entities, 100)
		eachVariantBench(b, fmt.Sprintf("dim%d/%dsenders/%dentities", s.dim, s.senders, s.entities), func(b *testing.B, k Kernel) { run(b, k, r) })
	}
}

// sent returns the number of messages.
func (r *Receivers) sent() int {
	return len(r.Senders.Rows)
}

func perMessage(b *testing.B, messages int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(messages), "ns/message")
}

func BenchmarkAggregate(b *testing.B) {
	eachBenchReceivers(b, func(b *testing.B, k Kernel, r *Receivers) {
		features := make([]float32, r.Count()*r.Width())
		b.ReportAllocs()
		for b.Loop() {
			k.Aggregate(r, features)
		}
		perMessage(b, r.sent())
		perSecond(b, float64(4*(2*r.sent()*r.Dim+len(features))), "GB/s")
		perSecond(b, float64(6*r.sent()*r.Dim+6*len(features)/5), "GFLOP/s")
	})
}

func BenchmarkSum(b *testing.B) {
	eachBenchReceivers(b, func(b *testing.B, k Kernel, r *Receivers) {
		r.Reduction = Sum
		features := make([]float32, r.Count()*r.Width())
		for b.Loop() {
			k.Aggregate(r, features)
		}
		perMessage(b, r.sent())
		perSecond(b, float64(2*r.sent()*r.Dim), "GFLOP/s")
	})
}

func zeroGradients(r *Receivers) *Gradients {
	like := func(x []float32) []float32 { return make([]float32, len(x)) }
	return &Gradients{States: like(r.States), RelationEmbeddings: like(r.RelationEmbeddings), Previous: like(r.Previous)}
}

func BenchmarkAggregateBackward(b *testing.B) {
	eachBenchReceivers(b, func(b *testing.B, k Kernel, r *Receivers) {
		features := make([]float32, r.Count()*r.Width())
		k.Aggregate(r, features)
		gradient := aligned(rand.New(rand.NewPCG(1, 1)), len(features))
		g := zeroGradients(r)
		b.ReportAllocs()
		for b.Loop() {
			k.AggregateBackward(r, features, gradient, g)
		}
		perMessage(b, r.sent())
		perSecond(b, float64(4*(6*r.sent()*r.Dim+2*len(features))), "GB/s")
		perSecond(b, float64(9*r.sent()*r.Dim), "GFLOP/s")
	})
}

func BenchmarkNormalize(b *testing.B) {
	for _, dim := range []int{32, 64} {
		const n = 500
		rng := rand.New(rand.NewPCG(1, 1))
		u := newUpdate(rng, dim, n, 7)
		scoring := newUpdate(rng, dim, n, 13)
		scoring.InverseDeviation = nil
		eachVariantBench(b, fmt.Sprintf("dim%d/scoring", dim), func(b *testing.B, k Kernel) {
			for b.Loop() {
				k.Normalize(scoring)
			}
			perSecond(b, 3*4*n*float64(dim), "GB/s")
			perSecond(b, 9*n*float64(dim), "GFLOP/s")
		})
		gradient := aligned(rng, n*dim)
		g := &NodeUpdateGradients{Linear: make([]float32, n*dim), Scale: make([]float32, dim), Shift: make([]float32, dim)}
		eachVariantBench(b, fmt.Sprintf("dim%d/forward", dim), func(b *testing.B, k Kernel) {
			for b.Loop() {
				k.Normalize(u)
			}
			perSecond(b, 4*4*n*float64(dim), "GB/s")
			perSecond(b, 10*n*float64(dim), "GFLOP/s")
		})
		eachVariantBench(b, fmt.Sprintf("dim%d/backward", dim), func(b *testing.B, k Kernel) {
			for b.Loop() {
				k.NormalizeBackward(u, gradient, g)
			}
			perSecond(b, 3*4*n*float64(dim), "GB/s")
			perSecond(b, 14*n*float64(dim), "GFLOP/s")
		})
	}
}
