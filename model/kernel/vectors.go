package kernel

// Vectors is the arithmetic of a training step outside of the propagation: it goes over long
// arrays entry by entry. Unlike those of the rest of Kernel, its results have the same bits
// in every variant: what is drawn, summed and updated depends on no machine. (The payload of
// a NaN may differ.) No operation fuses a product with a sum.
type Vectors interface {
	// Add computes sum += a for a [n] and the first n entries of sum. An empty a adds nothing.
	Add(sum, a []float32)

	// ReLU computes out = max(a, 0), [n] each. A NaN stays.
	ReLU(out, a []float32)

	// ReLUBackward computes out = gradient where a is above 0, and 0 elsewhere, [n] each.
	ReLUBackward(out, a, gradient []float32)

	// Finite says that no entry of a is NaN or an infinity.
	Finite(a []float32) bool

	// Adam moves n weights by their gradients; first and second are the running means of the
	// gradient and of its square. All are [n].
	Adam(weight, gradient, first, second []float32, s AdamStep)

	// Keep draws the dropout masks of n rows: kept is [n, words], with dimension j of a row in
	// bit j%32 of word j/32, set where it is kept. A row's mask depends on d and on its
	// entity alone, and a narrower mask is the beginning of a wider one.
	DropoutMasks(kept []uint32, entities []int32, words int, d Dropout)

	// Transpose computes out = aᵀ for a [rows, columns].
	Transpose(out, a []float32, rows, columns int)
}

// AdamStep is what a step of Adam holds besides the arrays. For every weight w with gradient
// g and means m and v, each operation rounded to float32:
//
//	g = g + Decay w
//	m = m + First (g - m)
//	v = Keep v + Second (g g)
//	w = w - Size (m / (sqrt(v) / Correction + Epsilon))
type AdamStep struct {
	Decay, OneMinusBeta1, Beta2, OneMinusBeta2, StepSize, Correction, Epsilon float32
}

// Dropout says how masks are drawn. Each 64 bits of a SplitMix64 sequence decide four
// dimensions, the lowest 16 bits the first of them: it is kept where they are at least
// Threshold. The sequence starts from a mix of Seed, Layer and the row's entity.
type Dropout struct {
	Seed      uint64
	Layer     int // 0-based
	Threshold uint16
}
