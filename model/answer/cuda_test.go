package answer_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/gpu"
	"tagnet/model/gpu/interpreter"
)

// TestScoringOnTheInterpreter ranks with the kernels of a CUDA device and compares with the CPU: all but the last bits of the
// scores.
func TestScoringOnTheInterpreter(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	b := manyQueries(m)
	b = b[:40]
	want, _, _, err := rankOn(t, t.Context(), m, nil, device.CPU, b, ranking.Selection{K: 5})
	if err != nil {
		t.Fatal(err)
	}
	devices := accelerator.New(gpu.Driver(func(int) (device.Device, error) { return interpreter.New(), nil }))
	got, done, _, err := rankOn(t, t.Context(), m, devices, device.CUDA, b, ranking.Selection{K: 5})
	if err != nil || int64(done) != answer.Rows(b) {
		t.Fatalf("%d rows, %v", done, err)
	}
	close := cmp.Comparer(func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 })
	if diff := cmp.Diff(want, got, close); diff != "" {
		t.Errorf("-cpu +interpreter:\n%s", diff)
	}
}
