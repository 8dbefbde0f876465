package propagation_test

import (
	"fmt"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/propagation"
	"tagnet/model/internal/spec/golden"
)

// TestGoldenStates compares states and distances with the golden ones on every kernel variant: those of
// reached entities at each age of their windows, and of every entity for the policy full.
func TestGoldenStates(t *testing.T) {
	t.Parallel()
	for _, c := range golden.Cases(t) {
		for _, k := range kernel.Available() {
			t.Run(c.Name+"/"+k.Name(), func(t *testing.T) {
				weights := propagation.NewWeights(c.Graph, nil, c.Configuration, true)
				if err := weights.Load(k, c.Parameters32()); err != nil {
					t.Fatal(err)
				}
				p := propagation.New(c.Graph, c.Configuration, k)
				for i, q := range c.Queries {
					for _, training := range []bool{false, true} {
						query := propagation.Request{Query: q.Query, Training: training}
						if err := p.Forward(t.Context(), weights, query); err != nil {
							t.Fatal(err)
						}
						name := fmt.Sprintf("query %d, training %v", i, training)
						compareStates(t, name, p, c, q)
						compareDistances(t, name, p, q)
					}
				}
			})
		}
	}
}

func compareStates(t *testing.T, name string, p *propagation.Propagator, c *golden.Case, q golden.Query) {
	t.Helper()
	if c.Configuration.Prioritized() {
		scores := make([]float32, c.Graph.Entities)
		p.Priorities(scores)
		if err := golden.Compare(name+": score", scores, q.Score, golden.Tolerance32); err != nil {
			t.Error(err)
		}
		for layer, count := range p.LayerCounts() {
			want := q.Layers[layer]
			if count.AStar != want.AStar || count.Kept != want.Kept || count.Active != want.Active {
				t.Errorf("%s: layer %d counts %+v, want %+v", name, layer+1, count, want)
			}
		}
		return
	}
	compareWindows(t, name, p, c, q)
}

func compareWindows(t *testing.T, name string, p *propagation.Propagator, c *golden.Case, q golden.Query) {
	t.Helper()
	d := c.Configuration.Dim
	entities := make([]int32, c.Graph.Entities)
	for o := range entities {
		entities[o] = int32(o)
	}
	states := make([]float32, len(entities)*p.Depth()*d)
	valid := make([]int32, len(entities))
	p.Candidates(entities, states, valid)
	var got []float32
	var want []float64
	for o := range entities {
		for age := range int(valid[o]) {
			layer := c.Configuration.Layers
			if c.Configuration.Specific() {
				layer = int(q.Distances[o]) + age
			}
			at := (o*p.Depth() + age) * d
			got = append(got, states[at:at+d]...)
			want = append(want, q.Hiddens[layer][o*d:(o+1)*d]...)
		}
		if reached := q.Distances[o] != 255; valid[o] == 0 && reached {
			t.Errorf("%s: entity %d is reached, yet has no state", name, o)
		}
	}
	if err := golden.Compare(name+": states", got, want, golden.Tolerance32); err != nil {
		t.Error(err)
	}
}

// compareDistances compares Distance with the golden distances; 255 stands for unreached.
func compareDistances(t *testing.T, name string, p *propagation.Propagator, q golden.Query) {
	t.Helper()
	for o, want := range q.Distances {
		hops, reached := p.Distance(int32(o))
		if reached != (want != 255) || reached && hops != int(want) {
			t.Errorf("%s: entity %d is %d hops away, reached %v, want %d", name, o, hops, reached, want)
		}
	}
}
