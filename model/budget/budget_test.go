package budget

import (
	"errors"
	"math"
	"runtime/debug"
	"strings"
	"testing"
)

func TestDivide(t *testing.T) {
	need := Need{Fixed: []Part{{"graph", 100 * MiB}, {"weights", 20 * MiB}}, Thread: 40 * MiB}
	// 160 + 9/8 (120 + threads 40 + 24 bundle)
	for _, test := range []struct {
		budget         int64
		threads, cores int
		want           Share
	}{
		{160 + 9*(120+40+24)/8, 1, 8, Share{1, 1, MiB}},
		{160 + 9*(120+80+24)/8, 2, 1, Share{2, 2, MiB}},
		{160 + 9*(120+80+24)/8, 0, 8, Share{2, 2, MiB}},
		{159 + 9*(120+80+24)/8, 0, 8, Share{1, 1, 2 * MiB}},
		{160 + 9*(120+80+48)/8, 2, 8, Share{2, 2, 2 * MiB}},
		{160 + 9*(120+40*4+24*64)/8, 0, 3, Share{3, 4, MostBundle}},
		{160 + 9*(120+40*99+24*64)/8 + 3, 0, 4, Share{4, 99, MostBundle}},
	} {
		got, err := need.Divide(test.budget*MiB, test.threads, test.cores)
		if err != nil || got != test.want {
			t.Errorf("%+v: %+v, %v", test, got, err)
		}
	}
}

// TestLeastWouldDo holds that the budget which an error names does, and one less does not.
func TestLeastWouldDo(t *testing.T) {
	for _, thread := range []int64{0, 1, 7 * MiB, 100*MiB + 1} {
		for threads := range 4 {
			need := Need{Fixed: []Part{{"graph", 12345678}}, Thread: thread}
			_, err := need.Divide(MiB, threads, 1)
			var small *TooSmall
			if !errors.As(err, &small) {
				t.Fatalf("%v", err)
			}
			if _, err := need.Divide(small.Least, threads, 1); err != nil {
				t.Errorf("%d threads of %d: %d bytes do not do: %v", threads, thread, small.Least, err)
			}
			if _, err := need.Divide(small.Least-2*MiB, threads, 1); err == nil {
				t.Errorf("%d threads of %d: less than %d bytes do", threads, thread, small.Least)
			}
			for _, word := range []string{"Go and Beam 160", "graph 12", " threads ", "bundles 24", "garbage"} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		}
	}
}

func TestLimit(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	restore := Limit(1024 * MiB)
	if got := debug.SetMemoryLimit(-1); got != 944*MiB {
		t.Errorf("the limit is %d", got)
	}
	inner := Limit(2048 * MiB)
	if got := debug.SetMemoryLimit(-1); got != 944*MiB {
		t.Errorf("a larger budget makes the limit %d", got)
	}
	inner()
	restore()
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("afterwards the limit is %d", got)
	}
}
