package head

import "tagnet/model/weights/parameters"

// attend reduces the states of each entity to one, by a softmax over their logits:
//
//	out_i = sum over its valid t of a_t states_i,t,   a = softmax(logits_i / temperature)
//
// for states [n D, W] and logits [n D]. An entity without a valid state gets zeros.
type attend[F parameters.Float] struct {
	depth, width int
	temperature  float64
	*candidates
	attention []F // a, [n, D]
}

// forward sets each row of out to the sum of an entity's valid states, weighted by the softmax of their logits.
func (a *attend[F]) forward(in [][]F, out []F) error {
	states, logits := in[0], in[1]
	clear(out)
	for i, count := range a.validCounts {
		first := i * a.depth
		weights := a.attention[first : first+int(count)]
		softmax(weights, logits[first:], a.temperature)
		row := out[i*a.width : (i+1)*a.width]
		for t, weight := range weights {
			axpy(row, weight, states[(first+t)*a.width:(first+t+1)*a.width])
		}
	}
	return nil
}

// backward returns the gradients of states and logits, zeros for states that are not valid.
func (a *attend[F]) backward(in [][]F, out, gradient []F, gradients [][]F) error {
	states := in[0]
	dstates, dlogits := gradients[0], gradients[1]
	clear(dstates)
	clear(dlogits)
	for i, count := range a.validCounts {
		first := i * a.depth
		g := gradient[i*a.width : (i+1)*a.width]
		// The softmax's gradient is a_t (g·states_t - sum over u of a_u g·states_u), and that sum is g·out.
		gradientOut := dot(g, out[i*a.width:(i+1)*a.width])
		for t := range int(count) {
			at := first + t
			weight := a.attention[at]
			dlogits[at] = weight * (dot(g, states[at*a.width:(at+1)*a.width]) - gradientOut) / F(a.temperature)
			axpy(dstates[at*a.width:(at+1)*a.width], weight, g)
		}
	}
	return nil
}
