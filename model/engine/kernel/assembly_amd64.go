package kernel

import "golang.org/x/sys/cpu"

//go:generate go -C generate run . -variant avx512 -out ../avx512_amd64.s -stubs ../avx512_stubs_amd64.go -pkg kernel
//go:generate go -C generate run . -variant avx2 -out ../avx2_amd64.s -stubs ../avx2_stubs_amd64.go -pkg kernel

// assembly is a variant with inner loops in assembly. Its methods check shapes, divide the
// work into blocks that the assembly supports, and leave the rest to portable, which defines
// what each function computes.
//
// The functions' arguments follow one convention. Tables and lists are pointers to their first
// entry; nil stands for an optional table that is absent. count is the number of entries of
// the list that the outer loop goes over. Names that begin with by are gradients with respect
// to the table of the rest of the name. Strides (stride, aRow, plane, ...) are in bytes.
type assembly struct {
	portable
	vectors
	name string
	// floats is the number of float32 that a vector register holds.
	floats int
	// multiply computes a panel of twice floats columns, multiplyMasked one of at most floats
	// columns. Element (i, p) of a is at i*aRow + p*aTerm.
	multiply       func(c, a, b *float32, rows, terms, cRow, aRow, aTerm, bRow int, add bool)
	multiplyMasked func(c, a, b *float32, rows, terms, cRow, aRow, aTerm, bRow int, add bool, mask uint32)
	// stripes are the widths of columns that aggregations support, widest first; the last one
	// divides the others.
	stripes []stripe
	// sumsBackward add the gradients of a sum of DistMult's messages to one receiver, sumsBackward[i] for i+1 vectors
	// of every row.
	sumsBackward [2]sumBackward
	// sums are the widths of columns that sums of messages support, widest first.
	sums []sumStripe
	// fold, foldTwo and unfold are WeightFolder's functions for whole vectors; x, y, otherX and
	// otherY are defined there.
	fold    func(count int, out, a, b, c *float32, x, y float32)
	foldTwo func(count int, out, other, a, b, c *float32, x, y, otherX, otherY float32)
	unfold  func(count int, a, b, c, gradient *float32, x, y float32)
	// partition is PartitionSenders. Its groups are the graph's edges; Partition's Rows and Reached; its limits and
	// TableRows; the lists of Senders to write; the buffers in which siblings and children wait; and the end of the
	// lists so far.
	partition func(count int, receivers *int32, offsets *int64, senders, relations *int32,
		rows *int32, reached *uint64, parents, siblings, children, unreached, table int32,
		listedOffsets, intoRows, intoRelations, siblingRows, siblingRelations, childRows, childRelations *int32, end *int64)
	score func(count, width int, values, hidden, output *float32, bias float32)
	// widths are the lengths of rows that normalizations support.
	widths []width
	// bitWidths are the widths of rows of bits beyond one word.
	bitWidths []bitFunctions
}

// stripe has the two directions of the aggregation over some columns of every row.
//
// rows, featureRows, meanFactor and copies are Receivers.Rows, FeatureRows, MeanFactor and Copies.
// begins and ends point to where the first receiver's range of senders begins and ends in
// Senders.Offsets; last is the index of the last sender of all, which bounds the prefetch.
// states points to the stripe's first column in row StateOffset. initial and second are rows
// that every set holds, the second for max and min only. previousStride is 0 where all previous
// states are zero.
type stripe struct {
	columns   int
	aggregate func(count int, rows, featureRows, begins, ends, senders, relations *int32, last int, states, embeddings, previous *float32, previousStride int,
		initial, second, degree, copies, meanFactor, features *float32, stride int)
	backward func(count int, rows, featureRows, begins, ends, senders, relations *int32, last int, states, embeddings, byStates, byEmbeddings, byPrevious,
		initial, second, degree, byDegree, copies, meanFactor, features, gradient *float32, stride int, smallestDeviation float32)
}

// sumStripe has the forward direction of the reduction Sum over some columns of every row. Its
// arguments are a stripe's.
type sumStripe struct {
	columns int
	sum     func(count int, rows, featureRows, begins, ends, senders, relations *int32, last int, states, embeddings, previous *float32, previousStride int,
		initial, degree, copies, features *float32, stride int)
}

var avx512 = &assembly{
	name: "avx512", floats: 16, vectors: vectorsAVX512,
	multiply: multiply32AVX512, multiplyMasked: multiplyMaskedAVX512,
	sumsBackward: [2]sumBackward{backwardProductsAVX512, backwardTwoProductsAVX512},
	fold:         foldAVX512, foldTwo: foldTwoAVX512, unfold: unfoldAVX512, score: scoreAVX512, partition: partitionAVX512,
	stripes: []stripe{
		{64, aggregate64AVX512, aggregateBackward64AVX512},
		{32, aggregate32AVX512, aggregateBackward32AVX512},
		{16, aggregate16AVX512, aggregateBackward16AVX512},
	},
	sums: []sumStripe{{64, sum64AVX512}, {32, sum32AVX512}, {16, sum16AVX512}},
	widths: []width{
		{16, normalize16AVX2, normalizeTraining16AVX2, normalizeBackward16AVX2},
		{32, normalize32AVX512, normalizeTraining32AVX512, normalizeBackward32AVX512},
		{64, normalize64AVX512, normalizeTraining64AVX512, normalizeBackward64AVX512},
	},
	bitWidths: []bitFunctions{bitsAVX2, bitsAVX512},
}

var avx2 = &assembly{
	name: "avx2", floats: 8, vectors: vectorsAVX2,
	multiply: multiply16AVX2, multiplyMasked: multiplyMaskedAVX2,
	sumsBackward: [2]sumBackward{backwardProductsAVX2, backwardTwoProductsAVX2},
	fold:         foldAVX2, foldTwo: foldTwoAVX2, unfold: unfoldAVX2, score: scoreAVX2, partition: partitionAVX2,
	stripes: []stripe{{16, aggregate16AVX2, aggregateBackward16AVX2}},
	sums:    []sumStripe{{64, sum64AVX2}, {32, sum32AVX2}, {16, sum16AVX2}, {8, sum8AVX2}},
	widths: []width{
		{16, normalize16AVX2, normalizeTraining16AVX2, normalizeBackward16AVX2},
		{32, normalize32AVX2, normalizeTraining32AVX2, normalizeBackward32AVX2},
		{64, normalize64AVX2, normalizeTraining64AVX2, normalizeBackward64AVX2},
	},
	bitWidths: []bitFunctions{bitsAVX2},
}

// accelerated returns the variants in assembly that this machine can run, fastest last. It
// counts a processor's feature only where the operating system saves its registers.
func accelerated() []Kernel {
	var out []Kernel
	x := &cpu.X86
	if x.HasAVX2 && x.HasFMA && x.HasBMI1 && x.HasBMI2 && x.HasPOPCNT {
		out = append(out, avx2)
	}
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasBMI1 && x.HasBMI2 && x.HasPOPCNT {
		out = append(out, avx512)
	}
	return out
}

// Name returns "avx512" or "avx2".
func (s *assembly) Name() string { return s.name }
