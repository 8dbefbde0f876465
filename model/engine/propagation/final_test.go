package propagation

import (
	"slices"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// TestScoreHasCandidatesStates expects every entity's final states, as Candidates copies them, in the values of Score.
// Many entities have equal ones, of which Score gets one.
func TestScoreHasCandidatesStates(t *testing.T) {
	facts := []graph.Fact{{Head: 0, Relation: 3, Tail: 1}, {Head: 1, Relation: 4, Tail: 2}, {Head: 2, Relation: 5, Tail: 3}}
	for leaf := int32(4); leaf < 600; leaf++ {
		facts = append(facts, graph.Fact{Head: leaf, Relation: leaf % 11, Tail: leaf % 4})
	}
	g, err := graph.New(600, 20, facts)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{configuration.DeltaFixed, configuration.DeltaSpecific} {
		c := configuration.Default()
		c.DeltaMode, c.Delta, c.Layers, c.Dim = mode, 2, 4, 32
		s := newSteady(t, c, 600, 700, false)
		s.weights.frequent, s.weights.scalers = nil, [2][]float32{}
		s.weights.scaleDegrees(g)
		p, depth, entities := New(g, c, s.propagator.kernel), s.propagator.Depth(), make([]int32, 600)
		for i := range entities {
			entities[i] = int32(i)
		}
		states, valid, scored, reached := make([]float32, 600*depth*c.Dim), make([]int32, 600), 0, 0
		sum := func(tables [][]float32, values []float32) {
			for i := range values {
				values[i] = 0
				for age, table := range tables {
					for j, x := range table[i*c.Dim : (i+1)*c.Dim] {
						values[i] += x * float32(1+j+100*age)
					}
				}
			}
		}
		for _, q := range s.queries {
			if err := p.Forward(t.Context(), s.weights, q); err != nil {
				t.Fatal(err)
			}
			got, want := make([]float32, 600), make([]float32, 600)
			p.Score(got, func(tables [][]float32, values []float32) {
				scored += len(values)
				sum(tables, values)
			})
			p.Candidates(entities, states, valid)
			for o, ages := range valid {
				var tables [][]float32
				for age := range int(ages) {
					tables = append(tables, states[(o*depth+age)*c.Dim:][:c.Dim])
				}
				if ages > 0 {
					reached++
					sum(tables, want[o:o+1])
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s, source %d: the values of Score are not those of Candidates", mode, q.Source)
			}
		}
		if !(scored < reached*9/10) {
			t.Errorf("%s: %d states scored of %d entities, want fewer", mode, scored, reached)
		}
	}
}
