package kernel

import "golang.org/x/sys/cpu"

//go:generate go -C generate run . -variant avx512 -out ../avx512_amd64.s -stubs ../avx512_stubs_amd64.go -pkg kernel
//go:generate go -C generate run . -variant avx2 -out ../avx2_amd64.s -stubs ../avx2_stubs_amd64.go -pkg kernel

// assembly is a variant whose inner loops are in assembly; it checks shapes, divides the
// work into pieces that those take, and leaves what they don't to portable, which also is
// the definition of what each must compute.
type assembly struct {
	portable
	vectors
	name string
	// lanes is how many numbers a vector holds.
	lanes int
	// multiply does a panel of 2 lanes columns, multiplyMasked one of lanes or fewer.
	multiply       func(c, a, b *float32, rows, terms, cRow, aRow, aTerm, bRow int, add bool)
	multiplyMasked func(c, a, b *float32, rows, terms, cRow, aRow, aTerm, bRow int, add bool, mask uint32)
	// stripes are the widths that aggregations are done in, widest first; the last divides
	// the others.
	stripes []stripe
	// fold and unfold do whole vectors.
	fold    func(count int, out, a, b, c *float32, x, y float32)
	foldTwo func(count int, out, other, a, b, c *float32, x, y, otherX, otherY float32)
	unfold  func(count int, a, b, c, gradient *float32, x, y float32)
	part    func(count int, receivers *int32, offsets *int64, senders, relations *int32,
		rows *int32, reached *uint64, parents, siblings, children, unreached, table int32,
		bounds, intoRows, intoRelations, siblingRows, siblingRelations, childRows, childRelations *int32, end *int64)
	score func(count, width int, values, hidden, output *float32, bias float32)
	// widths are the rows that normalizations take.
	widths []width
	// bits are the widths of rows of bits beyond a word.
	bits []rowBits
}

// stripe is the two directions of the aggregation over some columns of every row.
type stripe struct {
	columns   int
	aggregate func(count int, rows, at, bounds, ends, senders, relations *int32, last int, states, embeddings, own *float32, ownStride int,
		initial, second, degree, copies, divisor, features *float32, stride, featureStride, half int)
	backward func(count int, rows, at, bounds, ends, senders, relations *int32, last int, states, embeddings, byStates, byEmbeddings, byOwn,
		initial, second, degree, byDegree, copies, divisor, features, gradient *float32, stride int, smallestDeviation float32)
}

var avx512 = &assembly{
	name: "avx512", lanes: 16, vectors: vectorsAVX512,
	multiply: multiply32AVX512, multiplyMasked: multiplyMaskedAVX512,
	fold: foldAVX512, foldTwo: foldTwoAVX512, unfold: unfoldAVX512, score: scoreAVX512, part: partitionAVX512,
	stripes: []stripe{
		{64, aggregate64AVX512, aggregateBackward64AVX512},
		{32, aggregate32AVX512, aggregateBackward32AVX512},
		{16, aggregate16AVX512, aggregateBackward16AVX512},
	},
	widths: []width{
		{32, normalize32AVX512, normalizePair32AVX512, normalizeTraining32AVX512, normalizeBackward32AVX512},
		{64, normalize64AVX512, normalizePair64AVX512, normalizeTraining64AVX512, normalizeBackward64AVX512},
	},
	bits: []rowBits{bitsAVX2, bitsAVX512},
}

var avx2 = &assembly{
	name: "avx2", lanes: 8, vectors: vectorsAVX2,
	multiply: multiply16AVX2, multiplyMasked: multiplyMaskedAVX2,
	fold: foldAVX2, foldTwo: foldTwoAVX2, unfold: unfoldAVX2, score: scoreAVX2, part: partitionAVX2,
	stripes: []stripe{{16, aggregate16AVX2, aggregateBackward16AVX2}},
	widths: []width{
		{32, normalize32AVX2, normalizePair32AVX2, normalizeTraining32AVX2, normalizeBackward32AVX2},
		{64, normalize64AVX2, normalizePair64AVX2, normalizeTraining64AVX2, normalizeBackward64AVX2},
	},
	bits: []rowBits{bitsAVX2},
}

// accelerated is the variants in assembly that this machine can run, fastest last. The
// processor's features count only where the operating system saves their registers.
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

// Name is "avx512" or "avx2".
func (s *assembly) Name() string { return s.name }
