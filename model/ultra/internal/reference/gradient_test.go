package reference_test

import (
	"math"
	"math/rand/v2"
	tagnet "tagnet/model/internal/reference"
	"testing"

	compare "tagnet/model/internal/golden"
	"tagnet/model/parameters"
	"tagnet/model/ultra"
	"tagnet/model/ultra/internal/reference"
	"tagnet/model/ultra/ultratest"
)

// TestGradientAgainstDifferences compares every tensor's gradient, along a random direction, with the central difference.
func TestGradientAgainstDifferences(t *testing.T) {
	t.Parallel()
	const step, tolerance = 1e-6, 1e-5
	rng := rand.New(rand.NewPCG(3, 4))
	p := compare.Widened(ultratest.Drawn(9))
	g := compare.RandomGraph(t, rng, 9, 2, 14)
	edges := tagnet.RelationGraph(g)
	// The weights of the negatives have no gradient; at temperature 0 they are constants.
	e := reference.Example{Source: 2, Relation: 3, Base: 1, Answer: 5, Negatives: []int32{0, 7, 7, 2}}
	gradient := parameters.NewSet[float64](ultra.Layout())
	reference.Loss(p, g, edges, e, gradient)
	for i, tensor := range p.Tensors {
		direction := make([]float64, len(tensor.Data))
		want := 0.0
		for j := range direction {
			direction[j] = rng.NormFloat64()
			want += direction[j] * gradient.Tensors[i].Data[j]
		}
		move := func(by float64) {
			for j := range direction {
				tensor.Data[j] += by * direction[j]
			}
		}
		move(step)
		above := reference.Loss(p, g, edges, e, nil)
		move(-2 * step)
		below := reference.Loss(p, g, edges, e, nil)
		move(step)
		if got := (above - below) / (2 * step); !(math.Abs(got-want) <= tolerance*max(1e-2, math.Abs(want))) {
			t.Errorf("%s: difference %.9g, gradient %.9g", tensor.Name, got, want)
		}
	}
}
