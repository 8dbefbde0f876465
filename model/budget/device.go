package budget

import "tagnet/model/weights/configuration"

// compiled bounds the bytes of the kernels as text and of what is kept of each.
const compiled = 4 << 20

// placing bounds the bytes of what goes to a device, while it is put together: edges with their links, which take 28 bytes each, and then so
// many copies of the parameters in the kernels' dimensions. The driver's own memory is not counted.
func placing(s Sizes, c configuration.Configuration, copies int64) int64 {
	padded := c
	for padded.Dim = 32; padded.Dim < c.Dim; {
		padded.Dim *= 2
	}
	return max(29*(s.Edges+s.RelationEdges)+24*s.Entities+16*s.Relations, 4*copies*parameterCount(s, padded)) + compiled
}

// rankingOnDevice is ranking on a device, which is given queries together and returns the best candidates of each. Where the host chooses
// these, it has the scores and distances of a query.
func rankingOnDevice(s Sizes, c configuration.Configuration, topK int) (shared, thread int64) {
	const together, candidate = 512, 40
	return placing(s, c, 1) + together*candidate*int64(topK) + 4*s.Answers, 5 * s.Entities
}

// trainingOnDevice bounds the bytes of a training on a device beside the weights and the solver: those that threads share, and those of a
// thread, which draws negatives.
func trainingOnDevice(s Sizes, c configuration.Configuration) (shared, thread int64) {
	candidates := int64(1 + c.Negatives)
	shared = placing(s, c, 5) + int64(c.BatchSize)*(8*candidates+8*int64(c.Layers)+256)
	if c.Transfers() { // every relation is a candidate of a propagation between relations
		shared += 8 * int64(c.BatchSize) * s.Relations
	}
	return shared, 4*s.Entities + 4*candidates
}
