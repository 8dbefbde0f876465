package reference

import "tagnet/model/configuration"

// message is what a sender of state x says along a relation of embedding w. RotatE reads
// both as complex vectors, the first half of the dimensions being the real parts.
func message(kind string, x, w []float64) []float64 {
	said := make([]float64, len(x))
	switch kind {
	case configuration.MessageDistMult:
		for j := range x {
			said[j] = x[j] * w[j]
		}
	case configuration.MessageTransE:
		for j := range x {
			said[j] = x[j] + w[j]
		}
	case configuration.MessageRotatE:
		half := len(x) / 2
		for re := range half {
			im := re + half
			said[re] = x[re]*w[re] - x[im]*w[im]
			said[im] = x[re]*w[im] + x[im]*w[re]
		}
	}
	return said
}

// messageBackward adds to the gradients of x and w what the gradient of the message makes
// of them.
func messageBackward(kind string, x, w, said, gradientX, gradientW []float64) {
	switch kind {
	case configuration.MessageDistMult:
		for j := range x {
			gradientX[j] += said[j] * w[j]
			gradientW[j] += said[j] * x[j]
		}
	case configuration.MessageTransE:
		add(gradientX, said)
		add(gradientW, said)
	case configuration.MessageRotatE:
		half := len(x) / 2
		for re := range half {
			im := re + half
			gradientX[re] += said[re]*w[re] + said[im]*w[im]
			gradientX[im] += said[im]*w[re] - said[re]*w[im]
			gradientW[re] += said[re]*x[re] + said[im]*x[im]
			gradientW[im] += said[im]*x[re] - said[re]*x[im]
		}
	}
}
