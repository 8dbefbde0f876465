package calibrate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/calibration"
)

// TestElements checks that candidates are the same after they were sent.
func TestElements(t *testing.T) {
	t.Parallel()
	want := []calibration.Candidate{{Query: 1 << 40, Relation: 5, Score: -2.5, True: true}, {Query: 3, Score: float32(math.Inf(1))}}
	var got []calibration.Candidate
	for _, part := range [][]calibration.Candidate{want[:1], nil, want[1:]} {
		element, err := encode(part)
		if err != nil || len(element) != 17*len(part) {
			t.Fatalf("%d bytes, %v", len(element), err)
		}
		if got, err = decode(got, element); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := decode(nil, make([]byte, 18)); err == nil {
		t.Error("an element that was cut: no error")
	}
}
