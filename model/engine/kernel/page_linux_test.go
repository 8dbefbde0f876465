package kernel

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// pageEnd copies x to the end of a page that is followed by an unmapped one: reading one number too many
// ends the test program.
func pageEnd[T float32 | int32 | uint32 | uint64 | uint8](t *testing.T, x []T) []T {
	t.Helper()
	if len(x) == 0 {
		return nil
	}
	page, bytes := syscall.Getpagesize(), int(unsafe.Sizeof(x[0]))*len(x)
	size := (bytes+page-1)/page*page + page
	memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("no memory map: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	if err := syscall.Mprotect(memory[size-page:], syscall.PROT_NONE); err != nil {
		t.Skipf("no memory protection: %v", err)
	}
	out := unsafe.Slice((*T)(unsafe.Pointer(&memory[size-page-bytes])), len(x))
	copy(out, x)
	return out
}

func TestNothingBeyondTheEndIsRead(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(31, 32))
		for m := 1; m <= 70; m++ {
			n, inner := 1+m%14, 1+m%5
			a, b := pageEnd(t, normal(rng, n*inner)), pageEnd(t, normal(rng, inner*m))
			c := pageEnd(t, normal(rng, n*m))
			k.Multiply(c, a, b, Product{Rows: n, Inner: inner, Columns: m, Add: m%2 == 0})
			k.MultiplyTransposed(b, a, c, Product{Rows: n, Inner: inner, Columns: m, Add: m%3 == 0})
			k.MultiplyTransposed(make([]float32, inner*m), pageEnd(t, normal(rng, (n-1)*(inner+2)+inner)), c,
				Product{Rows: n, Inner: inner, Columns: m, Stride: inner + 2, Add: m%3 == 0})
			k.FoldTwo(Folded{pageEnd(t, make([]float32, m)), 1, 2}, Folded{pageEnd(t, make([]float32, m)), 3, 4}, pageEnd(t, normal(rng, m)),
				pageEnd(t, normal(rng, m)), pageEnd(t, normal(rng, m)))
			k.Score(pageEnd(t, make([]float32, n)), c, pageEnd(t, normal(rng, m)), 1)
		}
		for _, dim := range []int{16, 32, 48, 64, 7} {
			r := newReceivers(rng, dim, 9, DistMult, PNA, options{degree: true, previous: true, initial: true, draw: normal},
				func(i, kind int) int { return rng.IntN(4) })
			r.Rows, r.FeatureRows = pageEnd(t, r.Rows), pageEnd(t, r.FeatureRows)
			r.RelationEmbeddings, r.Previous, r.Initial = pageEnd(t, r.RelationEmbeddings), pageEnd(t, r.Previous), pageEnd(t, r.Initial)
			r.DegreeMessage, r.Copies, r.MeanFactor = pageEnd(t, r.DegreeMessage), pageEnd(t, r.Copies), pageEnd(t, r.MeanFactor)
			g, _ := startGradients(r)
			senders := &r.Senders
			senders.Offsets, senders.Rows, senders.Relations = pageEnd(t, senders.Offsets), pageEnd(t, senders.Rows), pageEnd(t, senders.Relations)
			r.States, g.States = pageEnd(t, r.States), pageEnd(t, g.States)
			features := pageEnd(t, make([]float32, 9*r.Width()))
			k.Aggregate(r, features)
			k.AggregateBackward(r, features, pageEnd(t, normal(rng, len(features))), g)

			u := newUpdate(rng, dim, 5, 15)
			u.Linear, u.InverseDeviation, u.Output, u.Residual = pageEnd(t, u.Linear), pageEnd(t, u.InverseDeviation), pageEnd(t, u.Output),
				pageEnd(t, u.Residual)
			u.Rows, u.LinearRows = pageEnd(t, u.Rows), pageEnd(t, u.LinearRows)
			u.Bias, u.Scale, u.Shift, u.Mask = pageEnd(t, u.Bias), pageEnd(t, u.Scale), pageEnd(t, u.Shift), pageEnd(t, u.Mask)
			k.Normalize(u)
			scoring := *u
			scoring.InverseDeviation, scoring.Mask, scoring.Linear = nil, nil, pageEnd(t, normal(rng, 5*dim))
			k.Normalize(&scoring)
			k.NormalizeBackward(u, u.Output, &NodeUpdateGradients{Linear: u.Output, Bias: pageEnd(t, u.Bias), Scale: pageEnd(t, u.Scale),
				Shift: pageEnd(t, u.Shift)})
		}
	})
}

func TestPartitionReadsNothingBeyondTheEnd(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(43, 44))
		for length := range 40 {
			p := newPartition(rng, 3, 3, func(int) int { return length })
			p.Senders, p.Relations, p.Reached = pageEnd(t, p.Senders), pageEnd(t, p.Relations), pageEnd(t, p.Reached)
			p.Rows = pageEnd(t, p.Rows)
			p.Receivers, p.FirstRow = pageEnd(t, []int32{0, 1, 2}), 0
			into := sendersBefore(rng, p)
			used := len(into.Rows)
			into.Rows, into.Relations = pageEnd(t, into.Rows[:cap(into.Rows)])[:used], pageEnd(t, into.Relations[:cap(into.Relations)])[:used]
			into.Offsets = pageEnd(t, into.Offsets[:3*3+1])
			k.PartitionSenders(p, into)
		}
	})
}
