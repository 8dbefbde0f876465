package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// newPartition makes receivers with lengths(i) senders each.
func newPartition(rng *rand.Rand, entities, receivers int, lengths func(i int) int) *Partition {
	p := &Partition{Positions: make([]int32, entities), Offsets: []int64{0}}
	for o := range p.Positions {
		p.Positions[o] = int32(rng.IntN(entities))
		if rng.IntN(5) == 0 {
			p.Positions[o] = Unreached
		}
	}
	for i := range entities {
		for range lengths(i) {
			p.Senders = append(p.Senders, int32(rng.IntN(entities)))
			p.Relations = append(p.Relations, rng.Int32())
		}
		p.Offsets = append(p.Offsets, int64(len(p.Senders)))
	}
	for range receivers {
		p.Receivers = append(p.Receivers, int32(rng.IntN(entities)))
	}
	first, second, third := rng.IntN(entities+1), rng.IntN(entities+1), rng.IntN(entities+1)
	sorted := []int{first, second, third}
	slices.Sort(sorted)
	for k, v := range sorted {
		p.Thresholds[k] = int32(v)
	}
	return p
}

// parted gives every kind something to append to, with no more room than it must have.
func parted(rng *rand.Rand, p *Partition) *[3]Parted {
	most := 0
	for _, o := range p.Receivers {
		most += int(p.Offsets[o+1] - p.Offsets[o])
	}
	var kinds [3]Parted
	for k := range kinds {
		before := rng.IntN(20)
		kind := &kinds[k]
		kind.Senders, kind.Relations = make([]int32, before, before+most+PartitionSlack), make([]int32, before, before+most+PartitionSlack)
		for i := range before {
			kind.Senders[i], kind.Relations[i] = int32(-i), int32(-2*i)
		}
		kind.Bounds = []int32{int32(before)}
	}
	return &kinds
}

// partedPlainly is what Part must leave.
func partedPlainly(p *Partition, kinds *[3]Parted) *[3]Parted {
	out := *kinds
	for k := range out {
		out[k] = Parted{slices.Clone(kinds[k].Bounds), slices.Clone(kinds[k].Senders), slices.Clone(kinds[k].Relations)}
	}
	for _, o := range p.Receivers {
		for e := p.Offsets[o]; e < p.Offsets[o+1]; e++ {
			position := p.Positions[p.Senders[e]]
			for k, threshold := range p.Thresholds {
				if position < threshold {
					out[k].Senders, out[k].Relations = append(out[k].Senders, position), append(out[k].Relations, p.Relations[e])
					break
				}
			}
		}
		for k := range out {
			out[k].Bounds = append(out[k].Bounds, int32(len(out[k].Senders)))
		}
	}
	return &out
}

func TestPart(t *testing.T) {
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(41, 42))
		check := func(what string, p *Partition) {
			kinds := parted(rng, p)
			want := partedPlainly(p, kinds)
			k.Part(p, kinds)
			for i := range kinds {
				if !slices.Equal(kinds[i].Bounds, want[i].Bounds) || !slices.Equal(kinds[i].Senders, want[i].Senders) || !slices.Equal(kinds[i].Relations, want[i].Relations) {
					t.Fatalf("%s: kind %d is %v, want %v", what, i, kinds[i], want[i])
				}
			}
		}
		for range 100 {
			check("short lists", newPartition(rng, 1+rng.IntN(30), rng.IntN(20), func(int) int { return rng.IntN(7) }))
		}
		check("every length", newPartition(rng, 301, 400, func(i int) int { return i }))
	})
}

func TestFold(t *testing.T) {
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(45, 46))
		for n := range 301 {
			a, b, c := normal(rng, n), normal(rng, n), normal(rng, n)
			x, y := float32(rng.NormFloat64()), float32(rng.NormFloat64())
			out, check := guarded(n)
			k.Fold(out, a, b, c, x, y)
			check(t, fmt.Sprint("fold of ", n))
			for i := range out {
				if want := a[i] + float32(x*b[i]) + float32(y*c[i]); out[i] != want {
					t.Fatalf("entry %d of %d is %v, want %v", i, n, out[i], want)
				}
			}
			ga, checkA := guarded(n)
			gb, checkB := guarded(n)
			gc, checkC := guarded(n)
			k.Unfold(ga, gb, gc, out, x, y)
			for _, check := range []func(*testing.T, string){checkA, checkB, checkC} {
				check(t, fmt.Sprint("unfold of ", n))
			}
			for i, g := range out {
				if ga[i] != guard+g || gb[i] != guard+float32(x*g) || gc[i] != guard+float32(y*g) {
					t.Fatalf("gradients of entry %d of %d are %v, %v, %v", i, n, ga[i], gb[i], gc[i])
				}
			}
		}
	})
}

func BenchmarkPart(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, degree := range []int{4, 37} {
		p := newPartition(rng, 15000, 10000, func(int) int { return degree })
		p.Thresholds = [3]int32{2000, 10000, 15000}
		kinds := parted(rng, p)
		eachVariantBench(b, fmt.Sprintf("degree%d", degree), func(b *testing.B, k Kernel) {
			b.ReportAllocs()
			for b.Loop() {
				for i := range kinds {
					kinds[i] = Parted{kinds[i].Bounds[:1], kinds[i].Senders[:0], kinds[i].Relations[:0]}
				}
				k.Part(p, kinds)
			}
			edges := 10000 * degree
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(edges), "ns/edge")
			perSecond(b, float64(edges)*16, "GB/s")
		})
	}
}

func BenchmarkFold(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 160 * 32
	out, x, y, z := aligned(rng, n), aligned(rng, n), aligned(rng, n), aligned(rng, n)
	eachVariantBench(b, "fold", func(b *testing.B, k Kernel) {
		for b.Loop() {
			k.Fold(out, x, y, z, 0.5, 2)
		}
		perSecond(b, 4*4*n, "GB/s")
		perSecond(b, 4*n, "GFLOP/s")
	})
	eachVariantBench(b, "unfold", func(b *testing.B, k Kernel) {
		for b.Loop() {
			k.Unfold(x, y, z, out, 1e-9, 2e-9)
		}
		perSecond(b, 4*7*n, "GB/s")
		perSecond(b, 5*n, "GFLOP/s")
	})
}
