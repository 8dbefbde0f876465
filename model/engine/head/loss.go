package head

import (
	"math"

	"tagnet/model/weights/parameters"
)

// binaryLoss is the loss of an answer with scores z, [n], the answer's first:
//
//	(softplus(-z_0) + sum over k of w_k softplus(z_k)) / 2
//
// The weights w of the negatives add up to 1: equal ones or, with a temperature above 0, the softmax of their scores.
// They are constants, without a gradient.
type binaryLoss[F parameters.Float] struct {
	temperature float64
	share       *float64 // of the answer in the batch's mean, by which the loss is multiplied
	weights     []F      // of the terms, [n]
}

// forward sets the weights, and out, [1], to the loss.
func (l *binaryLoss[F]) forward(in [][]F, out []F) error {
	l.weigh(in[0])
	out[0] = 0
	for i, score := range in[0] {
		x := float64(signed(i, score))
		// Gorgonia's own softplus returns x beyond 16, an error of 1e-7 in float64.
		out[0] += F(l.weights[i] * F(max(x, 0)+math.Log1p(math.Exp(-math.Abs(x)))))
	}
	return nil
}

// backward sets the gradient of the scores.
func (l *binaryLoss[F]) backward(in [][]F, _, gradient []F, gradients [][]F) error {
	for i, score := range in[0] {
		gradients[0][i] = signed(i, gradient[0]*l.weights[i]*F(sigmoid(float64(signed(i, score)))))
	}
	return nil
}

// signed returns -v for the answer, which is the first, and v for a negative.
func signed[F parameters.Float](i int, v F) F {
	if i == 0 {
		return -v
	}
	return v
}

// weigh sets the weights: half of the share for the answer, and half for all negatives together.
func (l *binaryLoss[F]) weigh(scores []F) {
	half := F(*l.share / 2)
	l.weights[0] = half
	negatives := l.weights[1:]
	if l.temperature > 0 {
		softmax(negatives, scores[1:], l.temperature)
	} else {
		for i := range negatives {
			negatives[i] = 1 / F(len(negatives))
		}
	}
	for i := range negatives {
		negatives[i] *= half
	}
}

// sigmoid is 1 / (1 + exp(-x)), without overflow at either end.
func sigmoid(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x >= 0 {
		return 1 / (1 + e)
	}
	return e / (1 + e)
}

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
