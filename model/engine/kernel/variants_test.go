package kernel

import (
	"bufio"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
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
	if _, err := Named(""); err == nil || !strings.Contains(err.Error(), "sse9") || !strings.Contains(err.Error(), "avx2") || !strings.HasPrefix(err.Error(), "TAGNET_KERNEL: ") {
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

// TestVariantsAgree compares every variant with portable.
func TestVariantsAgree(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(27, 28))
		r := newReceivers(rng, 32, 50, DistMult, PNA, options{degree: true, previous: true, draw: normal}, func(i, kind int) int { return rng.IntN(9) })
		_, tolerance := newExact(r).features()
		want, got := make([]float32, 50*r.Width()), make([]float32, 50*r.Width())
		portable{}.Aggregate(r, want)
		k.Aggregate(r, got)
		compare(t, "features", got, widen(want), func(i int) float64 { return tolerance[i] + 1e-7 })

		gradient := normal(rng, len(want))
		_, size := newExact(r).backward(widen(gradient))
		byPortable, _ := startGradients(r)
		portable{}.AggregateBackward(r, want, gradient, byPortable)
		by, _ := startGradients(r)
		k.AggregateBackward(r, got, gradient, by)
		compare(t, "gradient of relations", by.RelationEmbeddings, widen(byPortable.RelationEmbeddings),
			func(i int) float64 { return 1e-5 * (1 + size.relations[i]) })

		a, b := normal(rng, 50*160), normal(rng, 160*32)
		k.Multiply(got, a, b, 50, 160, 32, false)
		portable{}.Multiply(want, a, b, 50, 160, 32, false)
		compare(t, "product", got[:50*32], widen(want[:50*32]), func(int) float64 { return 1e-4 })
	})
}

// TestNoAllocation checks that no method allocates.
func TestNoAllocation(t *testing.T) {
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(29, 30))
		r := newReceivers(rng, 32, 50, DistMult, PNA, options{degree: true, previous: true, initial: true, zero: true, draw: normal}, func(i, kind int) int { return rng.IntN(9) })
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
			k.Multiply(c, a, b, 50, 50, 50, true)
			k.MultiplyTransposed(c, a, b, 50, 50, 50, true)
			k.MultiplyColumns(c, a, b, 50, 50, 50, 16, true)
			k.MultiplyRowsTransposed(c, a, 50, b, 50, 40, 50, true)
		}); count >= 1 {
			t.Errorf("%v allocations a round", count)
		}
	})
}

// TestGeneratedMarker checks the line by which tools recognize generated files.
func TestGeneratedMarker(t *testing.T) {
	t.Parallel()
	marker := regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.$`)
	files, err := filepath.Glob("*avx*_amd64.*")
	if err != nil || len(files) != 4 {
		t.Fatalf("generated files: %v, %v", files, err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Scan()
		if !marker.MatchString(lines.Text()) {
			t.Errorf("%s begins with %q", name, lines.Text())
		}
		f.Close()
	}
}
