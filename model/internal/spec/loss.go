package spec

import (
	"math"
	"slices"

	"tagnet/model/weights/configuration"
)

// Loss returns a configuration's loss of the scores of all entities, for one answer and K negatives (repeats
// count), and its gradient with respect to the scores.
func Loss(c configuration.Configuration, scores []float64, answer int32, negatives []int32) (loss float64, gradient []float64) {
	if c.Loss == configuration.LossSoftmax {
		return softmaxLoss(scores, answer, negatives)
	}
	return binaryLoss(c.AdversarialTemperature, scores, answer, negatives)
}

// softmaxLoss is the cross entropy of the softmax over the answer and its negatives: -log p(answer), where a negative
// that repeats has a term each time.
func softmaxLoss(scores []float64, answer int32, negatives []int32) (loss float64, gradient []float64) {
	gradient = make([]float64, len(scores))
	candidates := append([]int32{answer}, negatives...)
	logits := make([]float64, len(candidates))
	for i, candidate := range candidates {
		logits[i] = scores[candidate]
	}
	for i, p := range softmax(logits) {
		gradient[candidates[i]] += p
	}
	gradient[answer]--
	largest, sum := slices.Max(logits), 0.0
	for _, logit := range logits {
		sum += math.Exp(logit - largest)
	}
	return largest - scores[answer] + math.Log(sum), gradient
}

// binaryLoss is half of the answer's loss and half of that of the negatives, weighted. The lower the temperature, the
// more negatives of high score weigh; at 0 all weigh equally. The weights have no gradient.
func binaryLoss(temperature float64, scores []float64, answer int32, negatives []int32) (loss float64, gradient []float64) {
	gradient = make([]float64, len(scores))
	loss = softplus(-scores[answer]) / 2
	gradient[answer] -= sigmoid(-scores[answer]) / 2
	for k, weight := range negativeWeights(scores, negatives, temperature) {
		score := scores[negatives[k]]
		loss += weight * softplus(score) / 2
		gradient[negatives[k]] += weight * sigmoid(score) / 2
	}
	return loss, gradient
}

// negativeWeights returns the softmax of the negatives' scores over the temperature, or equal weights without one.
func negativeWeights(scores []float64, negatives []int32, temperature float64) []float64 {
	logits := make([]float64, len(negatives))
	if temperature > 0 {
		for k, negative := range negatives {
			logits[k] = scores[negative] / temperature
		}
	}
	return softmax(logits) // of equal logits: 1/K
}

// RawRankPessimistic returns the rank of the answer among all entities, unfiltered; entities of equal
// score rank before it.
func RawRankPessimistic(scores []float64, answer int32) int64 {
	rank := int64(1)
	for o, score := range scores {
		if o != int(answer) && !(score < scores[answer]) {
			rank++
		}
	}
	return rank
}

// softplus is log(1 + exp(x)).
func softplus(x float64) float64 {
	return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
}

// sigmoid is 1 / (1 + exp(-x)), the derivative of softplus.
func sigmoid(x float64) float64 {
	return 1 / (1 + math.Exp(-x))
}
