package head

import (
	"math"
	"testing"
)

// TestSoftmaxOfASureAnswer checks the loss and the gradient where the answer's probability is 1 in float32, and where
// it is 0.
func TestSoftmaxOfASureAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scores                 []float32
		loss, answer, negative float64
	}{
		"sure":   {[]float32{20, 0, 0}, math.Log1p(2 * math.Exp(-20)), -2 * math.Exp(-20), math.Exp(-20)},
		"unsure": {[]float32{-1e4, 1e4, 1e4}, 2e4 + math.Ln2, -1, .5},
	} {
		share := .5
		l := softmaxLoss[float32]{share: &share, probabilities: make([]float32, len(c.scores))}
		loss, gradient := []float32{0}, make([]float32, len(c.scores))
		if err := l.forward([][]float32{c.scores}, loss); err != nil {
			t.Fatal(err)
		}
		if err := l.backward(nil, nil, []float32{1}, [][]float32{gradient}); err != nil {
			t.Fatal(err)
		}
		for what, pair := range map[string][2]float64{
			"loss": {float64(loss[0]), c.loss}, "gradient of the answer": {float64(gradient[0]), c.answer},
			"gradient of a negative": {float64(gradient[2]), c.negative},
		} {
			if got, want := pair[0], share*pair[1]; !(math.Abs(got-want) <= 1e-6*math.Abs(want)) {
				t.Errorf("%s: the %s is %.9g, want %.9g", name, what, got, want)
			}
		}
	}
}
