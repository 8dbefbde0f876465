package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// eachVariant runs a test for every variant that this machine supports.
func eachVariant(t *testing.T, test func(t *testing.T, k Kernel)) {
	for _, k := range Available() {
		t.Run(k.Name(), func(t *testing.T) { test(t, k) })
	}
}

const guard = float32(-12345.5)

// guarded returns an unaligned slice between guard zones, and a check that nothing was written to the zones.
func guarded(length int) (slice []float32, check func(t *testing.T, what string)) {
	const zone = 67
	all := make([]float32, length+2*zone)
	for i := range all {
		all[i] = guard
	}
	check = func(t *testing.T, what string) {
		t.Helper()
		for i, v := range all {
			if (i < zone || i >= zone+length) && v != guard {
				t.Fatalf("%s: wrote outside, at %d of %d", what, i-zone, length)
			}
		}
	}
	return all[zone : zone+length : zone+length], check
}

// shifted copies x to memory that is aligned to 4 bytes only.
func shifted(x []float32) []float32 {
	if x == nil {
		return nil
	}
	return append(make([]float32, 1, len(x)+1), x...)[1:]
}

// normal draws numbers; grid draws multiples of a quarter, whose sums and products are exact
// and often tie.
func normal(rng *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return shifted(out)
}

func grid(rng *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.IntN(5)-2) / 4
	}
	return shifted(out)
}

// options select what receivers have.
type options struct {
	initial, zero, degree, previous bool
	silent                          int // kinds of senders that are not heard
	draw                            func(*rand.Rand, int) []float32
}

func (o options) String() string {
	return fmt.Sprintf("initial=%v zero=%v degree=%v previous=%v silent=%v", o.initial, o.zero, o.degree, o.previous, o.silent)
}

// permutation returns the numbers below n in random order.
func permutation(rng *rand.Rand, n int) []int32 {
	out := make([]int32, n)
	for i, v := range rng.Perm(n) {
		out[i] = int32(v)
	}
	return out
}

// newReceivers makes receivers of which that in row i has lengths(i, kind) senders of each kind. As in a
// window, each kind is read from the table before that of the previous kind.
func newReceivers(rng *rand.Rand, dim, n int, message Message, reduction Reduction, o options, lengths func(i, kind int) int) *Receivers {
	const entities, relations = 23, 7
	r := &Receivers{
		Dim: dim, Message: message, Reduction: reduction, RelationEmbeddings: o.draw(rng, relations*dim),
		Kinds: 3 - o.silent, States: o.draw(rng, 3*entities*dim), StateOffset: 2 * entities,
	}
	senders := &r.Senders
	for i := range n {
		count := 0
		for k := range 3 {
			senders.Offsets = append(senders.Offsets, int32(len(senders.Rows)))
			for range lengths(i, k) {
				senders.Rows = append(senders.Rows, int32(rng.IntN(entities)-k*entities))
				senders.Relations = append(senders.Relations, int32(rng.IntN(relations)))
				count++
			}
		}
		r.Copies = append(r.Copies, float32(rng.IntN(3)))
		r.MeanFactor = append(r.MeanFactor, 1/float32(count+1+int(r.Copies[i])))
	}
	senders.Offsets = append(senders.Offsets, int32(len(senders.Rows)))
	r.Rows, r.FeatureRows = permutation(rng, n), permutation(rng, n)
	if o.initial {
		r.Initial, r.EmptyMessages = o.draw(rng, dim), o.zero
	}
	if o.previous {
		r.Previous = o.draw(rng, n*dim)
	}
	if o.degree {
		r.DegreeMessage = o.draw(rng, dim)
	} else if rng.IntN(2) == 0 {
		r.Copies = nil
	}
	return r
}

// compare compares with float64 numbers: NaN and infinities must be at the same indices, everything else
// within its tolerance.
func compare(t *testing.T, what string, got []float32, want []float64, tolerance func(i int) float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if math.IsNaN(w) && g != g || math.IsInf(w, 0) && float64(g) == w {
			continue
		}
		if !(math.Abs(float64(g)-w) <= tolerance(i)) {
			t.Fatalf("%s: [%d] = %g, want %g within %g", what, i, g, w, tolerance(i))
		}
	}
}
