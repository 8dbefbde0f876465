package head

import (
	"math"

	"tagnet/model/weights/parameters"
)

// softmaxLoss is the loss of an answer with scores z, [n], the answer's first: the cross entropy of the softmax p over
// all of them,
//
//	-log p_0 = log(sum over i of exp(z_i)) - z_0
type softmaxLoss[F parameters.Float] struct {
	share         *float64 // of the answer in the batch's mean, by which the loss is multiplied
	probabilities []F      // p, [n]
}

// forward sets the probabilities, and out, [1], to the loss.
func (l *softmaxLoss[F]) forward(in [][]F, out []F) error {
	scores := in[0]
	out[0] = F(*l.share * (softmax(l.probabilities, scores, 1) - float64(scores[0])))
	return nil
}

// backward sets the gradient of the scores: p_i for a negative. That of the answer, p_0 - 1, is computed as the
// negative sum of the others, which is exact where p_0 is close to 1.
func (l *softmaxLoss[F]) backward(_ [][]F, _, gradient []F, gradients [][]F) error {
	scale, sum := float64(gradient[0])**l.share, 0.0
	for i, p := range l.probabilities[1:] {
		gradients[0][1+i] = F(scale * float64(p))
		sum += float64(p)
	}
	gradients[0][0] = F(-scale * sum)
	return nil
}

// softmax sets weights to the softmax of as many logits, divided by the temperature, and returns the logarithm of the
// sum of their exponentials.
func softmax[F parameters.Float](weights, logits []F, temperature float64) (logSum float64) {
	if len(weights) == 0 {
		return math.Inf(-1)
	}
	largest := logits[0]
	for _, v := range logits[1:len(weights)] {
		largest = max(largest, v)
	}
	sum := 0.0
	for i := range weights {
		e := math.Exp(float64(logits[i]-largest) / temperature)
		weights[i] = F(e)
		sum += e
	}
	for i := range weights {
		weights[i] = F(float64(weights[i]) / sum)
	}
	return float64(largest)/temperature + math.Log(sum)
}
