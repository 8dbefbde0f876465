package gpu

import (
	"testing"

	"tagnet/model/gpu/interpreter"
	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// TestStepsMatchTheSpecification compares losses and gradients of steps with those of the float64 specification: of all
// scenarios, and of random configurations. A second step finds what the first one left in memory.
func TestStepsMatchTheSpecification(t *testing.T) {
	t.Parallel()
	all := append(scenarios(t), anyScenarios(t, 100)...)
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.configuration.Dropout = 0
			p := s.parameters()
			trainer, err := s.newTrainer(interpreter.New(ordered...), p, s.solver())
			if err != nil {
				t.Fatal(err)
			}
			defer trainer.Close()
			if s.capacity > 0 && trainer.capacity != s.capacity {
				t.Errorf("%d queries are computed together, want %d", trainer.capacity, s.capacity)
			}
			s.checkStep(t, trainer, p, 5)
			if s.again {
				s.checkStep(t, trainer, p, 6)
			}
		})
	}
}

// checkStep makes a step of a trainer of p, and compares its loss and gradients with the specification's.
func (s scenario) checkStep(t *testing.T, trainer *Trainer, p *parameters.Set[float32], seed uint64) {
	t.Helper()
	loss, want := s.differentiate(t, p, seed)
	result, err := trainer.Step(s.examples, seed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := trainer.Gradients()
	if err != nil {
		t.Fatal(err)
	}
	if err := golden.Compare("loss", []float64{result.Loss}, []float64{loss}, golden.Tolerance32); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
	if err := golden.CompareSets(got, want, golden.Tolerance32); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
	if err := trainer.Store(); err != nil {
		t.Fatal(err)
	}
}

// differentiate returns the specification's mean loss of the examples with parameters p, and its gradient.
func (s scenario) differentiate(t *testing.T, p *parameters.Set[float32], seed uint64) (loss float64, gradients *parameters.Set[float64]) {
	t.Helper()
	m, err := spec.New(s.graph, s.configuration, golden.Widened(p))
	if err != nil {
		t.Fatal(err)
	}
	gradients = parameters.NewSet[float64](s.layout())
	sampler, negatives := steps.NewSampler(s.graph.Entities, s.configuration.StrictNegatives), make([]int32, s.configuration.Negatives)
	for _, e := range s.examples {
		e.Removal = configuration.Removal(s.configuration.Remove)
		if err := sampler.Negatives(e, 0, nil, seed, negatives); err != nil {
			t.Fatal(err)
		}
		pass := m.Forward(spec.Query{Query: e.Query, Training: true})
		one, gradient := spec.Loss(s.configuration, pass.Scores, e.Answer, negatives)
		loss += one / float64(len(s.examples))
		for o := range gradient {
			gradient[o] /= float64(len(s.examples))
		}
		pass.Backward(gradient, gradients)
	}
	return loss, gradients
}
