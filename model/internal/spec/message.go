package spec

import "tagnet/model/weights/configuration"

// message returns the message of a sender with state x along a relation with embedding w. RotatE takes
// both as complex vectors, the first half of the dimensions as the real parts.
func message(kind string, x, w []float64) []float64 {
	vector := make([]float64, len(x))
	switch kind {
	case configuration.MessageDistMult:
		for j := range x {
			vector[j] = x[j] * w[j]
		}
	case configuration.MessageTransE:
		for j := range x {
			vector[j] = x[j] + w[j]
		}
	case configuration.MessageRotatE:
		half := len(x) / 2
		for re := range half {
			im := re + half
			vector[re] = x[re]*w[re] - x[im]*w[im]
			vector[im] = x[re]*w[im] + x[im]*w[re]
		}
	}
	return vector
}

// messageBackward adds to the gradients of x and w, given the gradient of the message.
func messageBackward(kind string, x, w, vector, gradientX, gradientW []float64) {
	switch kind {
	case configuration.MessageDistMult:
		for j := range x {
			gradientX[j] += vector[j] * w[j]
			gradientW[j] += vector[j] * x[j]
		}
	case configuration.MessageTransE:
		add(gradientX, vector)
		add(gradientW, vector)
	case configuration.MessageRotatE:
		half := len(x) / 2
		for re := range half {
			im := re + half
			gradientX[re] += vector[re]*w[re] + vector[im]*w[im]
			gradientX[im] += vector[im]*w[re] - vector[re]*w[im]
			gradientW[re] += vector[re]*x[re] + vector[im]*x[im]
			gradientW[im] += vector[im]*x[re] - vector[re]*x[im]
		}
	}
}
