package spec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// choices returns the values of a hyperparameter.
func choices(name string) []string {
	f, _ := configuration.FieldNamed(name)
	return f.Choices()
}

// TestGradientAgainstDifferences compares every tensor's gradient, along a random direction,
// with the central difference, for every aggregate, message function and policy.
func TestGradientAgainstDifferences(t *testing.T) {
	t.Parallel()
	i := 0
	for _, aggregate := range choices("aggregate") {
		for _, kind := range choices("message") {
			for _, policy := range choices("policy") {
				c := small()
				c.Aggregate, c.Message, c.Policy = aggregate, kind, policy
				// The other options alternate, so that each is combined with each of these.
				c.Dependent, c.Bias, c.DegreeMessages = i%2 == 0, i/4%2 == 0, i%3 < 2
				if c.Validate() != nil {
					c.DegreeMessages = false
				}
				differentiate(t, fmt.Sprintf("%s %s %s", aggregate, kind, policy), c, uint64(i), i%2 == 1)
				i++
			}
		}
	}
	for _, attention := range []string{configuration.AttentionOwn, configuration.AttentionShared} {
		for delta := range 4 {
			c := small()
			c.Delta, c.DeltaMode, c.Attention, c.AttentionTemperature = delta, configuration.DeltaSpecific, attention, 0.7
			c.DegreeMessages = delta < 2
			differentiate(t, fmt.Sprintf("specific %s, delta %d", attention, delta), c, uint64(delta), delta%2 == 0)
		}
	}
}

// TestGradientOfRelationsFromAGraph does so where relations are states of a propagation between them.
func TestGradientOfRelationsFromAGraph(t *testing.T) {
	t.Parallel()
	for i, aggregate := range choices("aggregate") {
		c := small()
		c.Relations, c.RelationLayers, c.Aggregate = configuration.RelationsGraph, 1+i, aggregate
		c.Policy = []string{configuration.PolicyWindow, configuration.PolicyFull}[i/2%2]
		if i == 1 {
			c.DeltaMode, c.Attention = configuration.DeltaSpecific, configuration.AttentionShared
		}
		differentiate(t, aggregate+", relations from a graph", c, uint64(i), i%2 == 1)
	}
}

func differentiate(t *testing.T, name string, c configuration.Configuration, seed uint64, dropout bool) {
	t.Helper()
	g := sampleGraph(t, seed, 14, 2)
	p := sampleParameters(c, g, seed)
	m := newModel(t, g, c, p)
	q := Query{Query: without(graph.Fact{Head: 0, Relation: 1, Tail: 1}, seed%3 == 0), Training: true}
	if dropout {
		q.Dropout = func(layer int, entity int32, dimension int) float64 {
			return float64((layer+int(entity)+dimension)%3) * 0.5
		}
	}
	// The function is a random linear function of the scores and, separately, of all states.
	random := rand.New(rand.NewPCG(seed, 3))
	scores := normals(random, g.Entities)
	gradient := parameters.NewSet[float64](parameters.Layout(c, g.RelationCount()))
	pass := m.Forward(q)
	pass.Backward(scores, gradient)
	compareDifferences(t, name+", scores", p, gradient, random, func() float64 { return dot(scores, m.Forward(q).Scores) })

	if c.Prioritized() {
		return
	}
	var states [][]float64
	for _, hidden := range pass.Hiddens {
		states = append(states, normals(random, len(hidden)))
	}
	gradient = parameters.NewSet[float64](parameters.Layout(c, g.RelationCount()))
	pass.BackwardStates(states, gradient)
	compareDifferences(t, name+", states", p, gradient, random, func() float64 {
		value := 0.0
		for l, hidden := range m.Forward(q).Hiddens {
			value += dot(states[l], hidden)
		}
		return value
	})
}

// compareDifferences moves each tensor along a random direction and back. The step's own
// error is about 1e-12/2e-6 in the values' size of about 10, and the curvature of a standard
// deviation near its floor adds to it.
func compareDifferences(t *testing.T, name string, p, gradient *parameters.Set[float64], random *rand.Rand, value func() float64) {
	t.Helper()
	const step, tolerance = 1e-6, 1e-5
	nonzero := 0
	for i, tensor := range p.Tensors {
		direction := normals(random, len(tensor.Data))
		start := append([]float64(nil), tensor.Data...)
		at := func(distance float64) float64 {
			for j := range tensor.Data {
				tensor.Data[j] = start[j] + distance*direction[j]
			}
			return value()
		}
		want := (at(step) - at(-step)) / (2 * step)
		copy(tensor.Data, start)
		got := dot(direction, gradient.Tensors[i].Data)
		if !(math.Abs(got-want) <= tolerance*math.Max(1, math.Abs(want))) {
			t.Errorf("%s: gradient of %s along a direction is %g, the difference %g", name, tensor.Name, got, want)
		}
		if got != 0 {
			nonzero++
		}
	}
	if nonzero < len(p.Tensors)/2 {
		t.Errorf("%s: only %d of %d tensors have a gradient: the comparison says little", name, nonzero, len(p.Tensors))
	}
}

func normals(random *rand.Rand, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = random.NormFloat64()
	}
	return values
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
