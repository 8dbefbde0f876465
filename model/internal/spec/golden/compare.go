package golden

import (
	"errors"
	"fmt"
	"math"

	"tagnet/model/weights/parameters"
)

// The tolerances of a value, relative to the largest magnitude in its golden tensor.
const (
	Tolerance64 = 1e-9
	Tolerance32 = 1e-4
)

// smallest is the least magnitude that tolerances are relative to. Some gradients are exactly zero on paper, such as
// the gradient of the attention's last bias; with rounding, they are the noise of terms that cancel.
const smallest = 1e-3

// Compare returns an error that names the worst value if one of got differs from want by more than
// tolerance times the largest magnitude in want. A NaN always differs.
func Compare[F parameters.Float](name string, got []F, want []float64, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s has %d values, want %d", name, len(got), len(want))
	}
	largest := smallest
	for _, w := range want {
		largest = math.Max(largest, math.Abs(w))
	}
	bound := tolerance * largest
	differing, worst, worstAt := 0, -1.0, 0
	for i := range want {
		difference := math.Abs(float64(got[i]) - want[i])
		if difference <= bound {
			continue
		}
		differing++
		if math.IsNaN(difference) {
			difference = math.Inf(1)
		}
		if difference > worst {
			worst, worstAt = difference, i
		}
	}
	if differing == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d of %d values differ by more than %.3g; the worst, at %d, is %.17g, want %.17g",
		name, differing, len(want), bound, worstAt, float64(got[worstAt]), want[worstAt])
}

// CompareSets compares two sets of the same layout tensor by tensor and returns all differences.
func CompareSets[F parameters.Float](got *parameters.Set[F], want *parameters.Set[float64], tolerance float64) error {
	if len(got.Tensors) != len(want.Tensors) {
		return fmt.Errorf("%d tensors, want %d", len(got.Tensors), len(want.Tensors))
	}
	var differences []error
	for i, w := range want.Tensors {
		if g := got.Tensors[i]; g.Name != w.Name {
			differences = append(differences, fmt.Errorf("tensor %d is %s, want %s", i, g.Name, w.Name))
		} else {
			differences = append(differences, Compare(w.Name, g.Data, w.Data, tolerance))
		}
	}
	return errors.Join(differences...)
}
