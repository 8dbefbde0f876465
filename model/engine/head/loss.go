package head

import (
	"math"

	"tagnet/model/weights/parameters"
)

// The loss of a query with scores z, [n], the answer's first:
//
//	(softplus(-z_0) + sum over k of w_k softplus(z_k)) / 2
//
// In the graph: the sum of lossWeights(z) * softplus(sign * z).

// softplus is log(1 + exp(x)) of every entry. Gorgonia's own returns x beyond 16, an error of 1e-7 in
// float64.
type softplus[F parameters.Float] struct{}

func (softplus[F]) forward(in [][]F, out []F) error {
	for i, v := range in[0] {
		x := float64(v)
		out[i] = F(max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))))
	}
	return nil
}

func (softplus[F]) backward(in [][]F, _, gradient []F, gradients [][]F) error {
	for i, v := range in[0] {
		gradients[0][i] = gradient[i] * F(sigmoid(float64(v)))
	}
	return nil
}

// sigmoid is 1 / (1 + exp(-x)), without overflow at either end.
func sigmoid(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x >= 0 {
		return 1 / (1 + e)
	}
	return e / (1 + e)
}

// lossWeights computes the weights of the loss's terms from the scores: half of the query's share for
// the answer, and half for all negatives together, divided by a softmax of their scores, or evenly at
// temperature 0. The weights are constants, without a gradient.
type lossWeights[F parameters.Float] struct {
	temperature float64
	share       float64 // of the query in the batch's mean
}

func (w *lossWeights[F]) constant() {}

// forward sets the weights of the answer, first, and of the negatives: half the share each. The negatives' half is
// divided equally or, with a temperature, by the softmax of their scores.
func (w *lossWeights[F]) forward(in [][]F, out []F) error {
	half := F(w.share / 2)
	out[0] = half
	negatives, scores := out[1:], in[0][1:]
	if w.temperature > 0 {
		softmax(negatives, scores, w.temperature)
	} else {
		for i := range negatives {
			negatives[i] = 1 / F(len(negatives))
		}
	}
	for i := range negatives {
		negatives[i] *= half
	}
	return nil
}

func (w *lossWeights[F]) backward([][]F, []F, []F, [][]F) error { return nil }

// relu is max(x, 0) of every entry. Its gradient at 0 is 0, as PyTorch's.
type relu[F parameters.Float] struct{ products Products[F] }

func (r relu[F]) forward(in [][]F, out []F) error {
	r.products.ReLU(out, in[0])
	return nil
}

func (r relu[F]) backward(in [][]F, _, gradient []F, gradients [][]F) error {
	r.products.ReLUBackward(gradients[0], in[0], gradient)
	return nil
}

// collect adds up a gradient of the graph, over the answers of the current query, in the query's gradients.
type collect[F parameters.Float] struct {
	into *[]F
	*candidates
}

func (collect[F]) constant() {}

func (c collect[F]) forward(in [][]F, _ []F) error {
	if c.answer == 0 {
		copy(*c.into, in[0])
	} else {
		axpy(*c.into, 1, in[0])
	}
	return nil
}

func (collect[F]) backward([][]F, []F, []F, [][]F) error { return nil }
