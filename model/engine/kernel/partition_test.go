package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// newPartition makes entities that have lengths(i) senders each, some of them reached.
func newPartition(rng *rand.Rand, entities, receivers int, lengths func(i int) int) *Partition {
	p := &Partition{Offsets: []int64{0}, Reached: make([]uint64, entities/64+1), Rows: make([]int32, entities)}
	p.Kinds, p.Expand = 1+rng.IntN(3), rng.IntN(2) == 0
	p.LevelBegin = int32(rng.IntN(entities))
	p.LevelEnd = p.LevelBegin + int32(rng.IntN(entities))
	for o := range p.Rows {
		switch rng.IntN(4) {
		case 0:
			p.Rows[o] = NoRow
		case 1:
			p.Rows[o] = NewlyReached
		default:
			p.Rows[o] = rng.Int32N(p.LevelEnd + 1)
		}
	}
	for i := range entities {
		for range lengths(i) {
			p.Senders = append(p.Senders, int32(rng.IntN(entities)))
			p.Relations = append(p.Relations, rng.Int32())
		}
		p.Offsets = append(p.Offsets, int64(len(p.Senders)))
	}
	for _, o := range rng.Perm(entities)[:min(receivers, entities)] {
		p.Receivers = append(p.Receivers, int32(o))
	}
	p.FirstRow = int32(rng.IntN(entities - len(p.Receivers) + 1))
	p.TableRows = p.LevelEnd + int32(rng.IntN(entities))
	for o := range entities {
		p.MaxSenders = max(p.MaxSenders, int(p.Offsets[o+1]-p.Offsets[o]))
	}
	return p
}

// sendersBefore returns a list to append to, with the least capacity that is allowed.
func sendersBefore(rng *rand.Rand, p *Partition) *Senders {
	most := 0
	for _, o := range p.Receivers {
		most += int(p.Offsets[o+1] - p.Offsets[o])
	}
	before := rng.IntN(20)
	into := &Senders{
		Offsets: make([]int32, 3*len(p.Rows)+1),
		Rows:    make([]int32, before, before+most+PartitionSlack), Relations: make([]int32, before, before+most+PartitionSlack),
	}
	for i := range before {
		into.Rows[i], into.Relations[i] = int32(-i), int32(-2*i)
	}
	return into
}

// partitionOneByOne returns the senders, rows and reached bits that PartitionSenders must give.
func partitionOneByOne(p *Partition, into *Senders) (out Senders, rows []int32, reached []uint64) {
	rows, reached = slices.Clone(p.Rows), slices.Clone(p.Reached)
	out = Senders{slices.Clone(into.Offsets), slices.Clone(into.Rows), slices.Clone(into.Relations)}
	for i, o := range p.Receivers {
		var kinds [4][][2]int32 // how a sender is listed, and its relation
		for e := p.Offsets[o]; e < p.Offsets[o+1]; e++ {
			u := p.Senders[e]
			if rows[u] == NoRow && p.Expand {
				rows[u] = NewlyReached
				reached[u/64] |= 1 << (u % 64)
			}
			kind, sender := 3, rows[u]
			switch {
			case rows[u] < p.LevelBegin:
				kind = 0
			case rows[u] < p.LevelEnd:
				kind, sender = 1, rows[u]-p.TableRows
			case rows[u] == NewlyReached:
				kind, sender = 2, u
			}
			kinds[kind] = append(kinds[kind], [2]int32{sender, p.Relations[e]})
		}
		offsets := out.Offsets[3*(int(p.FirstRow)+i):]
		offsets[0] = int32(len(out.Rows))
		for kind := range 3 {
			for _, sender := range kinds[kind] {
				if kind < p.Kinds {
					out.Rows, out.Relations = append(out.Rows, sender[0]), append(out.Relations, sender[1])
				}
			}
			offsets[kind+1] = int32(len(out.Rows))
		}
	}
	return out, rows, reached
}

func TestPartitionSenders(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(41, 42))
		check := func(what string, p *Partition) {
			got := sendersBefore(rng, p)
			want, rows, reached := partitionOneByOne(p, got)
			k.PartitionSenders(p, got)
			if !slices.Equal(got.Offsets, want.Offsets) || !slices.Equal(got.Rows, want.Rows) || !slices.Equal(got.Relations, want.Relations) {
				t.Fatalf("%s: the senders are %v, want %v", what, got, want)
			}
			if !slices.Equal(p.Rows, rows) || !slices.Equal(p.Reached, reached) {
				t.Fatalf("%s: rows %v, want %v; reached %x, want %x", what, p.Rows, rows, p.Reached, reached)
			}
		}
		for range 300 {
			check("short lists", newPartition(rng, 1+rng.IntN(100), rng.IntN(20), func(int) int { return rng.IntN(7) }))
		}
		for range 5 {
			check("every length", newPartition(rng, 301, 301, func(i int) int { return i }))
		}
	})
}

func TestFold(t *testing.T) {
	t.Parallel()
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
			first, checkFirst := guarded(n)
			other, checkOther := guarded(n)
			k.FoldTwo(Folded{first, x, y}, Folded{other, y, -x}, a, b, c)
			checkFirst(t, fmt.Sprint("first fold of ", n))
			checkOther(t, fmt.Sprint("second fold of ", n))
			for i := range other {
				if want := a[i] + float32(y*b[i]) + float32(-x*c[i]); first[i] != out[i] || other[i] != want {
					t.Fatalf("entry %d of %d of two is %v and %v, want %v and %v", i, n, first[i], other[i], out[i], want)
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

func BenchmarkPartitionSenders(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, degree := range []int{4, 37} {
		p := newPartition(rng, 15000, 10000, func(int) int { return degree })
		p.LevelBegin, p.LevelEnd, p.Kinds, p.Expand = 2000, 10000, 3, true
		for o := range p.Rows {
			if p.Rows[o] = rng.Int32N(15000); p.Rows[o] >= p.LevelEnd {
				p.Rows[o] = NewlyReached
			}
		}
		into := sendersBefore(rng, p)
		eachVariantBench(b, fmt.Sprintf("degree%d", degree), func(b *testing.B, k Kernel) {
			b.ReportAllocs()
			for b.Loop() {
				into.Rows, into.Relations = into.Rows[:0], into.Relations[:0]
				k.PartitionSenders(p, into)
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
	eachVariantBench(b, "foldTwo", func(b *testing.B, k Kernel) {
		other := aligned(rng, n)
		for b.Loop() {
			k.FoldTwo(Folded{out, 0.5, 2}, Folded{other, 0.25, 4}, x, y, z)
		}
		perSecond(b, 4*5*n, "GB/s")
		perSecond(b, 8*n, "GFLOP/s")
	})
	eachVariantBench(b, "unfold", func(b *testing.B, k Kernel) {
		for b.Loop() {
			k.Unfold(x, y, z, out, 1e-9, 2e-9)
		}
		perSecond(b, 4*7*n, "GB/s")
		perSecond(b, 5*n, "GFLOP/s")
	})
}
