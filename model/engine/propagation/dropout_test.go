package propagation

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/weights/configuration"
)

// TestDropout checks the share that is kept, and that masks depend on seed, layer and entity, each
// independently of the others.
func TestDropout(t *testing.T) {
	t.Parallel()
	const rows = 4000
	entities := make([]int32, rows)
	for i := range entities {
		entities[i] = int32(i)
	}
	draw := func(p float64, seed uint64, layer int) (kept []uint32, share float64) {
		kept = make([]uint32, rows)
		kernel.Available()[0].DropoutMasks(kept, entities, 1, newDropout(p).of(seed, layer))
		count := 0
		for _, word := range kept {
			count += bits.OnesCount32(word)
		}
		return kept, float64(count) / (32 * rows)
	}
	for _, p := range []float64{0, .1, .5, .7, 1} {
		_, share := draw(p, 3, 1)
		if !(math.Abs(share-(1-p)) <= .01) {
			t.Errorf("dropout %g keeps %g", p, share)
		}
	}
	start, _ := draw(.5, 3, 1)
	again, _ := draw(.5, 3, 1)
	seed, _ := draw(.5, 4, 1)
	layer, _ := draw(.5, 3, 2)
	if !slices.Equal(start, again) {
		t.Error("equal arguments give different masks")
	}
	for name, other := range map[string][]uint32{"seed": seed, "layer": layer, "entity": append(start[1:], start[0])} {
		same := 0
		for i, word := range other {
			same += 32 - bits.OnesCount32(word^start[i])
		}
		if share := float64(same) / (32 * rows); !(math.Abs(share-.5) <= .01) {
			t.Errorf("different %s: %g of the dimensions agree, want half", name, share)
		}
	}
}

// TestEveryRowHasItsMask checks that the mask of every row is drawn for its entity and layer, in
// layers of several chunks too.
func TestEveryRowHasItsMask(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	c.Dropout = .3
	s := newSteady(t, c, 3000, 6000, true)
	p, q := s.propagator, s.queries[0]
	q.Seed = 99
	if err := p.Forward(t.Context(), s.weights, q); err != nil {
		t.Fatal(err)
	}
	words := p.maskWords()
	want := make([]uint32, words)
	for layer := 1; layer <= c.Layers; layer++ {
		p.policy.(*windowPolicy).windowUpdate(layer)
		x := &p.update
		seen := 0
		for chunk := p.chunks(x); chunk.next(); {
			for group := range x.groups {
				for i, row := range chunk.rows(group) {
					first := (x.firstRow + chunk.first + int(chunk.positions[group][i])) * words
					entity := x.entities[row]
					kernel.Available()[0].DropoutMasks(want, []int32{entity}, words, p.dropout.of(q.Seed, layer-1))
					if got := p.activations.masks[first : first+words]; !slices.Equal(got, want) {
						t.Fatalf("layer %d, entity %d: mask %#x, want %#x", layer, entity, got, want)
					}
					seen++
				}
			}
		}
		if layer == c.Layers && seen <= 2*chunkRows {
			t.Fatalf("the last layer updates %d entities, want more than two chunks", seen)
		}
	}
}
