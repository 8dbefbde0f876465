package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var messages = map[Message]string{DistMult: "DistMult", TransE: "TransE", RotatE: "RotatE"}
var reductions = map[Reduction]string{PNA: "PNA", Sum: "Sum", Mean: "Mean", Max: "Max"}

// TestEveryReductionIsTested holds that the tests' reductions are all that the kernels know.
func TestEveryReductionIsTested(t *testing.T) {
	known := 0
	defer func() {
		if recover() == nil || known != len(reductions) {
			t.Errorf("the kernels know %d reductions, the tests %d", known, len(reductions))
		}
	}()
	for r := (&Receivers{Dim: 1}); ; r.Reduction++ {
		r.setIn(make([]float32, 5)) // panics beyond the last
		known++
	}
}

// eachOption yields every combination of options.
func eachOption(yield func(options) bool) {
	for bits := range 16 {
		o := options{initial: bits&1 != 0, zero: bits&2 != 0, degree: bits&4 != 0, previous: bits&8 != 0, draw: normal}
		if o.zero && !o.initial {
			continue
		}
		for silent := range 4 {
			o.silent = silent
			if !yield(o) {
				return
			}
		}
	}
}

// checkReceivers compares both directions of an aggregation with the float64 computation.
func checkReceivers(t *testing.T, k Kernel, r *Receivers, rng *rand.Rand) {
	t.Helper()
	what := fmt.Sprintf("%s %s dim %d, %d receivers", messages[r.Message], reductions[r.Reduction], r.Dim, r.Count())
	e := newExact(r)
	want, tolerance := e.features()
	features, check := guarded(r.Count() * r.Width())
	k.Aggregate(r, features)
	check(t, what)
	compare(t, what, features, want, func(i int) float64 { return tolerance[i] + 1e-7 })

	before := slices.Clone(features)
	gradient := normal(rng, len(features))
	g, checks := startGradients(r)
	k.AggregateBackward(r, features, gradient, g)
	if !slices.Equal(before, features) {
		t.Fatalf("%s: backward changed the features", what)
	}
	for _, check := range checks {
		check(t, what+" backward")
	}
	sum, size := e.backward(widen(gradient))
	compareGradients(t, what, g, sum, size)
}

// startGradients returns gradients of ones, since AggregateBackward adds.
func startGradients(r *Receivers) (*Gradients, []func(*testing.T, string)) {
	var checks []func(*testing.T, string)
	like := func(x []float32) []float32 {
		if x == nil {
			return nil
		}
		out, check := guarded(len(x))
		for i := range out {
			out[i] = 1
		}
		checks = append(checks, check)
		return out
	}
	g := &Gradients{States: like(r.States), RelationEmbeddings: like(r.RelationEmbeddings), Previous: like(r.Previous), Initial: like(r.Initial),
		DegreeMessage: like(r.DegreeMessage)}
	return g, checks
}

func compareGradients(t *testing.T, what string, g *Gradients, sum, size *exact) {
	t.Helper()
	one := func(name string, got []float32, want, size []float64) {
		t.Helper()
		for i := range want {
			want[i]++
		}
		compare(t, what+" gradient of "+name, got, want, func(i int) float64 { return 1e-5 * (size[i] + 1) })
	}
	one("states", g.States, sum.states, size.states)
	one("relations", g.RelationEmbeddings, sum.relations, size.relations)
	one("previous", g.Previous, sum.previous, size.previous)
	one("initial", g.Initial, sum.initial, size.initial)
	one("degree", g.DegreeMessage, sum.degree, size.degree)
}

func TestAggregateEveryOption(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(1, 2))
		for message := range messages {
			for reduction := range reductions {
				for o := range eachOption {
					for _, dim := range []int{6, 32} {
						r := newReceivers(rng, dim, 5, message, reduction, o, func(i, kind int) int { return rng.IntN(4) })
						checkReceivers(t, k, r, rng)
					}
				}
			}
		}
	})
}

func TestAggregateEveryNumberOfSenders(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, dim := range []int{16, 32, 64} {
			r := newReceivers(rng, dim, 301, DistMult, PNA, options{degree: true, previous: true, draw: normal}, func(i, kind int) int {
				// i senders in all, divided among the kinds in varying proportions.
				first := i * (i % 4) / 3
				return [3]int{first, (i - first) / 2, i - first - (i-first)/2}[kind]
			})
			checkReceivers(t, k, r, rng)
		}
	})
}

func TestAggregateEveryDim(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(5, 6))
		for dim := 1; dim <= 300; dim++ {
			message, reduction := Message(rng.IntN(len(messages))), Reduction(rng.IntN(len(reductions)))
			if dim%16 == 0 {
				message, reduction = DistMult, PNA
			}
			r := newReceivers(rng, dim, 3, message, reduction, options{degree: true, previous: true, initial: true, zero: true, draw: normal},
				func(i, kind int) int { return rng.IntN(5) })
			checkReceivers(t, k, r, rng)
		}
	})
}

func TestAggregateTies(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(7, 8))
		for reduction := range reductions {
			for o := range eachOption {
				o.draw = grid
				r := newReceivers(rng, 32, 20, DistMult, reduction, o, func(i, kind int) int { return rng.IntN(6) })
				checkReceivers(t, k, r, rng)
			}
		}
	})
}

func TestAggregateNotANumber(t *testing.T) {
	t.Parallel()
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(9, 10))
		for message := range messages {
			for reduction := range reductions {
				for _, bad := range []float32{nan, inf, -inf} {
					o := options{initial: rng.IntN(2) == 0, zero: true, degree: true, previous: true, draw: normal}
					r := newReceivers(rng, 32, 40, message, reduction, o, func(i, kind int) int { return rng.IntN(6) })
					for range 8 {
						r.States[rng.IntN(3*20*32)] = bad
						r.RelationEmbeddings[rng.IntN(5*32)] = bad
					}
					r.DegreeMessage[rng.IntN(32)], r.Previous[40] = bad, bad
					if o.initial {
						r.Initial[7] = bad
					}
					want, tolerance := newExact(r).features()
					features, check := guarded(len(want))
					k.Aggregate(r, features)
					check(t, "features")
					compare(t, fmt.Sprint(messages[message], reductions[reduction], bad), features, want, func(i int) float64 { return tolerance[i] + 1e-7 })
				}
			}
		}
	})
}

// TestSumsKeepTheirBits compares Sum and Mean of every variant with portable, bit by bit, over every way of
// dividing a row into vectors, also where numbers are not finite.
func TestSumsKeepTheirBits(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(13, 14))
		for _, reduction := range []Reduction{Sum, Mean} {
			for o := range eachOption {
				for dim := 8; dim <= 112; dim += 8 {
					rarity := 50 * rng.IntN(2)
					o.draw = func(rng *rand.Rand, n int) []float32 { return wild(rng, n, rarity) }
					r := newReceivers(rng, dim, 6, DistMult, reduction, o, func(i, kind int) int { return rng.IntN(4) })
					features, want := make([]float32, 6*r.Width()), make([]float32, 6*r.Width())
					k.Aggregate(r, features)
					portable{}.Aggregate(r, want)
					sameBits(t, "features", features, want)
					gradient := normal(rng, len(features))
					got, checks := startGradients(r)
					expected, _ := startGradients(r)
					k.AggregateBackward(r, features, gradient, got)
					portable{}.AggregateBackward(r, features, gradient, expected)
					for _, check := range checks {
						check(t, "gradients")
					}
					sameBits(t, "states", got.States, expected.States)
					sameBits(t, "relations", got.RelationEmbeddings, expected.RelationEmbeddings)
					sameBits(t, "previous", got.Previous, expected.Previous)
					sameBits(t, "initial", got.Initial, expected.Initial)
					sameBits(t, "degree", got.DegreeMessage, expected.DegreeMessage)
				}
			}
		}
	})
}
