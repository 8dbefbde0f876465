package kernel

// Vectors is element-wise arithmetic on long arrays: a training step's sums, activations, dropout
// masks and Adam. All variants give the same bits (except for the payload of a NaN), so a
// training does not depend on the machine in what is drawn, summed and updated. No operation
// fuses a product with a sum.
type Vectors interface {
	// Add computes sum += a for a [n] and the first n entries of sum. An empty a adds nothing.
	Add(sum, a []float32)

	// Product computes out = a b, entry by entry, [n] each. out may be a or b.
	Product(out, a, b []float32)

	// ReLU computes out = max(a, 0), [n] each. A NaN stays.
	ReLU(out, a []float32)

	// ReLUBackward computes out = gradient where a is above 0, and 0 elsewhere, [n] each.
	ReLUBackward(out, a, gradient []float32)

	// Adam updates n weights by their gradients; first and second are the running means of the
	// gradient and of its square. All are [n].
	Adam(weight, gradient, first, second []float32, s AdamStep)

	// DropoutMasks draws the dropout masks of n rows: masks is [n, words], with dimension j of a
	// row in bit j%32 of word j/32, set where it is kept. A row's mask depends only on d and on
	// its entity, and a narrower mask is the beginning of a wider one.
	DropoutMasks(masks []uint32, entities []int32, words int, d Dropout)

	// Transpose computes out = aᵀ for a [rows, columns].
	Transpose(out, a []float32, rows, columns int)
}

// AdamStep has the scalars of a step of Adam. For every weight w with gradient g and means m and
// v, with each operation rounded to float32:
//
//	g = g + Decay w
//	m = m + OneMinusBeta1 (g - m)
//	v = Beta2 v + OneMinusBeta2 (g g)
//	w = w - StepSize (m / (sqrt(v) / Correction + Epsilon))
type AdamStep struct {
	Decay, OneMinusBeta1, Beta2, OneMinusBeta2, StepSize, Correction, Epsilon float32
}

// Dropout selects how masks are drawn. Each 64 bits of a SplitMix64 sequence decide four
// dimensions, the lowest 16 bits the first of them: a dimension is kept if its bits are at least
// Threshold. The sequence starts from a mix of Seed, Layer and the row's entity.
type Dropout struct {
	Seed      uint64
	Layer     int // 0-based
	Threshold uint16
}

// Finite reports whether no entry of a is NaN or infinite: any other number minus itself is 0. Its four sums do not
// wait for each other.
func Finite(a []float32) bool {
	var first, second, third, fourth float32
	for ; len(a) >= 4; a = a[4:] {
		first += a[0] - a[0]
		second += a[1] - a[1]
		third += a[2] - a[2]
		fourth += a[3] - a[3]
	}
	for _, v := range a {
		first += v - v
	}
	return first+second+third+fourth == 0
}
