package gpu

import (
	"slices"
	"strings"
	"testing"

	"tagnet/model/device/interpreter"
	"tagnet/model/internal/golden"
	"tagnet/model/internal/reference"
	"tagnet/model/optimizer"
	"tagnet/model/parameters"
)

// TestStepsMatchTheSpecification compares steps with the float64 specification: on graphs with entities of many edges, which golden cases
// do not have, with policy full, with a reach, with all message functions, with relations from a graph, and of random configurations.
func TestStepsMatchTheSpecification(t *testing.T) {
	t.Parallel()
	all := slices.DeleteFunc(scenarios(t), func(s scenario) bool {
		return !strings.HasPrefix(s.name, "hubs") && !strings.HasPrefix(s.name, "full") && !strings.HasPrefix(s.name, "relations") && !strings.HasPrefix(s.name, "reach") && s.configuration.Message == "distmult"
	})
	all = append(all, anyScenarios(t, 100)...)
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.configuration.Dropout = 0
			trainer, err := NewTrainer(interpreter.New(), s.graph, nil, s.configuration, s.parameters(), s.solver())
			if err != nil {
				t.Fatal(err)
			}
			result, err := trainer.Step(s.examples, 5)
			if err != nil {
				t.Fatal(err)
			}
			got, err := trainer.Gradients()
			if err != nil {
				t.Fatal(err)
			}
			loss, want := s.differentiate(t, 5)
			if err := golden.Compare("loss", []float64{result.Loss}, []float64{loss}, golden.Tolerance32); err != nil {
				t.Error(err)
			}
			if err := golden.CompareSets(got, want, golden.Tolerance32); err != nil {
				t.Error(err)
			}
		})
	}
}

// differentiate returns the specification's mean loss of the examples, and its gradient.
func (s scenario) differentiate(t *testing.T, seed uint64) (loss float64, gradients *parameters.Set[float64]) {
	t.Helper()
	m, err := reference.New(s.graph, s.configuration, golden.Widened(s.parameters()))
	if err != nil {
		t.Fatal(err)
	}
	gradients = parameters.NewSet[float64](s.layout())
	sampler, negatives := optimizer.NewSampler(s.graph.Entities, s.configuration.StrictNegatives), make([]int32, s.configuration.Negatives)
	for _, e := range s.examples {
		removal := optimizer.Removal(e, s.graph, s.configuration)
		inside := reference.Inside(s.graph, s.configuration, e.Source, removal)
		var among []int32
		for o, is := range inside {
			if is {
				among = append(among, int32(o))
			}
		}
		if s.configuration.ReachNegatives > 0 && !inside[e.Answer] {
			continue
		}
		if err := sampler.Negatives(e, s.configuration.ReachNegatives, among, seed, negatives); err != nil {
			t.Fatal(err)
		}
		pass := m.Forward(reference.Query{Source: e.Source, Relation: e.Relation, Removal: removal, Training: true, Inside: inside})
		one, gradient := reference.Loss(pass.Scores, e.Answer, negatives, s.configuration.AdversarialTemperature)
		loss += one / float64(len(s.examples))
		for o := range gradient {
			gradient[o] /= float64(len(s.examples))
		}
		pass.Backward(gradient, gradients)
	}
	return loss, gradients
}
