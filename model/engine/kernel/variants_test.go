package kernel

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestNamed(t *testing.T) {
	available := Available()
	fastest := available[len(available)-1].Name()
	if available[0].Name() != "portable" {
		t.Fatalf("the first variant is %s", available[0].Name())
	}
	for _, k := range available {
		t.Setenv("TAGNET_KERNEL", k.Name())
		for _, name := range []string{"", k.Name()} {
			if got, err := Named(name); err != nil || got.Name() != k.Name() {
				t.Errorf("Named(%q) with TAGNET_KERNEL=%s: %v, %v", name, k.Name(), got, err)
			}
		}
		if got, err := Named("auto"); err != nil || got.Name() != fastest {
			t.Errorf("auto: %v, %v", got, err)
		}
	}
	for _, value := range []string{"", "auto"} {
		t.Setenv("TAGNET_KERNEL", value)
		if got, err := Named(""); err != nil || got.Name() != fastest {
			t.Errorf("TAGNET_KERNEL=%q: %v, %v", value, got, err)
		}
	}
	t.Setenv("TAGNET_KERNEL", "sse9")
	if _, err := Named(""); err == nil || !strings.Contains(err.Error(), "sse9") || !strings.Contains(err.Error(), "avx2") ||
		!strings.HasPrefix(err.Error(), "TAGNET_KERNEL: ") {
		t.Errorf("an unknown name: %v", err)
	}
	for _, name := range Names {
		_, err := Named(name)
		has := slices.ContainsFunc(available, func(k Kernel) bool { return k.Name() == name })
		if has != (err == nil) {
			t.Errorf("Named(%s), which the machine has: %v, gives %v", name, has, err)
		}
		if !has && !strings.HasSuffix(err.Error(), available[len(available)-1].Name()) {
			t.Errorf("Named(%s) does not name the fastest that there is: %v", name, err)
		}
	}
}

// TestNoAllocation checks that no method allocates.
func TestNoAllocation(t *testing.T) {
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(29, 30))
		r := newReceivers(rng, 32, 50, DistMult, PNA, options{degree: true, previous: true, initial: true, zero: true, draw: normal},
			func(i, kind int) int { return rng.IntN(9) })
		sums := *r
		sums.Reduction = Sum
		features := make([]float32, 50*r.Width())
		gradient := normal(rng, len(features))
		g, _ := startGradients(r)
		u := newUpdate(rng, 32, 50, 7)
		scoring := newUpdate(rng, 32, 50, 5)
		scoring.InverseDeviation = nil
		by := &NodeUpdateGradients{Linear: make([]float32, 50*32)}
		a, b, c := normal(rng, 50*50), normal(rng, 50*50), make([]float32, 50*50)
		if count := testing.AllocsPerRun(50, func() {
			k.Aggregate(&sums, features)
			k.Aggregate(r, features)
			k.AggregateBackward(r, features, gradient, g)
			k.Normalize(u)
			k.Normalize(scoring)
			k.NormalizeBackward(u, gradient, by)
			k.Multiply(c, a, b, Product{Rows: 50, Inner: 50, Columns: 50, Add: true})
			k.MultiplyTransposed(c, a, b, Product{Rows: 50, Inner: 50, Columns: 50, Add: true})
			k.MultiplyTransposed(c, a, b, Product{Rows: 50, Inner: 40, Columns: 50, Stride: 50, Add: true})
		}); count >= 1 {
			t.Errorf("%v allocations a round", count)
		}
	})
}
