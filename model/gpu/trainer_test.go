package gpu

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// smallScenario has a graph of which a training step takes little time.
func smallScenario(t testing.TB, change func(*configuration.Configuration)) scenario {
	t.Helper()
	random := rand.New(rand.NewPCG(8, 9))
	s := scenario{graph: sparse(t, random, 18, 2, 25), configuration: small()}
	s.configuration.Layers, s.configuration.StrictNegatives, s.configuration.BatchSize = 2, true, 5
	if change != nil {
		change(&s.configuration)
	}
	s.examples = draw(random, s.graph, s.configuration.BatchSize)
	return s
}

// stepper is a trainer on the CPU or on a device.
type stepper interface {
	Step(examples []steps.Example, seed uint64) (steps.Result, error)
}

// learn makes steps, each with other examples, and returns the results.
func (s scenario) learn(t *testing.T, count int, make func(*parameters.Set[float32], *steps.Adam) (stepper, error)) []steps.Result {
	t.Helper()
	trainer, err := make(s.parameters(), s.solver())
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 5))
	var results []steps.Result
	for step := range count {
		result, err := trainer.Step(draw(random, s.graph, s.configuration.BatchSize), uint64(step))
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		results = append(results, result)
	}
	return results
}

// on returns what learn makes a trainer on a device with.
func (s scenario) on(d device.Device) func(*parameters.Set[float32], *steps.Adam) (stepper, error) {
	return func(p *parameters.Set[float32], solver *steps.Adam) (stepper, error) {
		return NewTrainer(d, s.graph, nil, s.configuration, p, solver)
	}
}

// TestTrainingMatchesTheCPU checks that a device learns what the CPU learns, from the same negatives and dropout masks,
// and the same bits when blocks run in another order. Each loss depends on all steps before it.
func TestTrainingMatchesTheCPU(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		steps  int
		change func(*configuration.Configuration)
	}{
		"default":  {3, nil},
		"full":     {2, func(c *configuration.Configuration) { c.Policy, c.Dim = "full", 8 }},
		"specific": {2, func(c *configuration.Configuration) { c.DeltaMode, c.Attention, c.Dim = "specific", "own", 8 }},
		"softmax":  {2, func(c *configuration.Configuration) { c.Loss, c.StrictNegatives, c.Dim = "softmax", false, 8 }},
		"all": {2, func(c *configuration.Configuration) {
			c.Reach, c.ReachNegatives, c.Policy, c.Dim = 1000, 0.4, "full", 8
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, count := smallScenario(t, test.change), test.steps
			want := s.learn(t, count, func(p *parameters.Set[float32], solver *steps.Adam) (stepper, error) {
				return steps.New(s.graph, nil, s.configuration, p, solver, 1, kernel.Available()[0])
			})
			got := s.learn(t, count, s.on(interpreter.New(interpreter.Seed(1))))
			for i := range want {
				if got[i].Messages != want[i].Messages || !(math.Abs(got[i].Loss-want[i].Loss) <= 1e-4*math.Abs(want[i].Loss)) {
					t.Errorf("step %d: loss %g and %d messages, the CPU's are %g and %d", i, got[i].Loss, got[i].Messages, want[i].Loss, want[i].Messages)
				}
			}
			if again := s.learn(t, 2, s.on(interpreter.New(interpreter.Seed(2)))); !slices.Equal(again, got[:len(again)]) {
				t.Errorf("losses and messages of a second run are %v, of the first %v", again, got[:2])
			}
		})
	}
}

// TestStore checks that a trainer made from what another stored continues with the same bits.
func TestStore(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, func(c *configuration.Configuration) { c.Dim = 8 })
	whole, parts := s.parameters(), s.parameters()
	train := func(p *parameters.Set[float32], solver *steps.Adam, seeds ...uint64) {
		trainer, err := NewTrainer(interpreter.New(), s.graph, nil, s.configuration, p, solver)
		if err != nil {
			t.Fatal(err)
		}
		for _, seed := range seeds {
			if _, err := trainer.Step(s.examples, seed); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(trainer.Store(), trainer.Close()); err != nil {
			t.Fatal(err)
		}
	}
	train(whole, s.solver(), 1, 2)
	solver := s.solver()
	train(parts, solver, 1)
	train(parts, solver, 2)
	sameBits(t, parts, whole)
}

// sameBits compares weights.
func sameBits(t *testing.T, got, want *parameters.Set[float32]) {
	t.Helper()
	for i, tensor := range want.Tensors {
		for j, w := range tensor.Data {
			if g := got.Tensors[i].Data[j]; math.Float32bits(g) != math.Float32bits(w) {
				t.Errorf("%s[%d] is %g, want %g", tensor.Name, j, g, w)
				break
			}
		}
	}
}

// TestLoad checks that a trainer which has made steps continues from other weights, moments and number of steps with
// the bits of a trainer that was made from them.
func TestLoad(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, func(c *configuration.Configuration) { c.Dim = 8 })
	at, solver := s.parameters(), s.solver() // after two steps
	step := func(trainer *Trainer, seed uint64) {
		t.Helper()
		if _, err := trainer.Step(s.examples, seed); err != nil {
			t.Fatal(err)
		}
	}
	trained := func(p *parameters.Set[float32], solver *steps.Adam) *Trainer {
		t.Helper()
		trainer, err := NewTrainer(interpreter.New(), s.graph, nil, s.configuration, p, solver)
		if err != nil {
			t.Fatal(err)
		}
		return trainer
	}
	first := trained(at, solver)
	step(first, 1)
	step(first, 2)
	if err := first.Store(); err != nil {
		t.Fatal(err)
	}
	got, gotSolver := s.parameters(), s.solver()
	used := trained(got, gotSolver)
	step(used, 7)
	for i := range at.Tensors {
		copy(got.Tensors[i].Data, at.Tensors[i].Data)
	}
	if err := errors.Join(gotSolver.Restore(solver.State()), used.Load()); err != nil {
		t.Fatal(err)
	}
	for _, trainer := range []*Trainer{first, used} {
		step(trainer, 3)
		if err := trainer.Store(); err != nil {
			t.Fatal(err)
		}
	}
	sameBits(t, got, at)
	if gotSolver.Steps() != 3 {
		t.Errorf("%d steps, want 3", gotSolver.Steps())
	}
}

// TestChunks checks that a batch which the device computes in chunks has the same loss and gradients.
func TestChunks(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, nil)
	s.configuration.BatchSize = 7
	s.examples = draw(rand.New(rand.NewPCG(1, 1)), s.graph, 7)
	step := func(s scenario) (steps.Result, *parameters.Set[float32]) {
		trainer, err := s.newTrainer(interpreter.New(ordered...), s.parameters(), s.solver())
		if err != nil {
			t.Fatal(err)
		}
		if s.capacity > 0 && trainer.capacity != s.capacity {
			t.Fatalf("%d queries fit, want %d", trainer.capacity, s.capacity)
		}
		result, err := trainer.Step(s.examples, 3)
		if err != nil {
			t.Fatal(err)
		}
		gradients, err := trainer.Gradients()
		if err != nil {
			t.Fatal(err)
		}
		return result, gradients
	}
	want, wantGradients := step(s)
	s.capacity = 3
	got, gradients := step(s)
	if got.Messages != want.Messages || !(math.Abs(got.Loss-want.Loss) <= 1e-6*want.Loss) {
		t.Errorf("loss %g and %d messages in chunks, want %g and %d", got.Loss, got.Messages, want.Loss, want.Messages)
	}
	for i, tensor := range wantGradients.Tensors {
		largest := 1e-6
		for _, w := range tensor.Data {
			largest = max(largest, math.Abs(float64(w)))
		}
		for j, w := range tensor.Data {
			if g := gradients.Tensors[i].Data[j]; !(math.Abs(float64(g-w)) <= 1e-5*largest) {
				t.Errorf("the gradient of %s[%d] is %g in chunks, want %g", tensor.Name, j, g, w)
				break
			}
		}
	}
}

// TestFreeMemoryChangesNoBit trains and scores on devices with less and less free memory, until it is too little:
// weights and scores have the same bits, though fewer queries are scored together.
func TestFreeMemoryChangesNoBit(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, nil)
	s.configuration.BatchSize, s.capacity = 7, 4
	s.examples = draw(rand.New(rand.NewPCG(1, 1)), s.graph, 7)
	queries := s.queries()[:9]
	type result struct {
		Weights [][]float32
		Answers *answer.Scored
	}
	var want result
	trained, capacities := 0, map[int]bool{}
	for memory := int64(6 << 20); memory > 1<<10; memory = memory * 5 / 7 { // the first has room for all
		p, solver := s.parameters(), s.solver()
		var got result
		trainer, err := s.newTrainer(interpreter.New(interpreter.Memory(memory)), p, solver)
		if err == nil {
			_, stepping := trainer.Step(s.examples, 3)
			if err := errors.Join(stepping, trainer.Store(), trainer.Close()); err != nil {
				t.Fatal(err)
			}
			for _, tensor := range p.Tensors {
				got.Weights = append(got.Weights, tensor.Data)
			}
			trained++
		} else if !errors.Is(err, device.ErrMemory) {
			t.Fatal(err)
		}
		scorer, err := NewScorer(interpreter.New(interpreter.Memory(memory)), s.graph, nil, s.configuration, s.parameters())
		if errors.Is(err, device.ErrMemory) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		capacities[scorer.capacity] = true
		if got.Answers, err = scorer.Score(t.Context(), queries, ranking.Selection{K: 3}); err != nil && !errors.Is(err, device.ErrMemory) {
			t.Fatal(err)
		}
		if want.Answers == nil {
			want = got
		}
		if got.Weights != nil && !reflect.DeepEqual(got.Weights, want.Weights) {
			t.Errorf("other weights with %d bytes of memory", memory)
		}
		if got.Answers != nil && !reflect.DeepEqual(got.Answers, want.Answers) {
			t.Errorf("other answers with %d bytes of memory", memory)
		}
	}
	if trained < 4 || len(capacities) < 4 {
		t.Errorf("trained with %d amounts of memory, and scored %v queries together: want more", trained, capacities)
	}
}

// TestGroupsAreCanonical checks, for what changes the memory of a query, that a step has the same groups of queries,
// and weights the same bits, on a device with hardly enough memory as on one with much.
func TestGroupsAreCanonical(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*configuration.Configuration){
		"specific": func(c *configuration.Configuration) { c.DeltaMode, c.Attention, c.Dim = "specific", "own", 8 },
		"dim 64":   func(c *configuration.Configuration) { c.Dim = 64 },
		"maximum":  func(c *configuration.Configuration) { c.Aggregate, c.Dependent = "max", false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := smallScenario(t, change)
			s.capacity = 2
			train := func(memory int64) (weights [][]float32, capacity int, used int64) {
				d, p := interpreter.New(interpreter.Memory(memory)), s.parameters()
				trainer, err := s.newTrainer(d, p, s.solver())
				if err != nil {
					t.Fatal(err)
				}
				used = memory - d.Properties().Free
				_, stepping := trainer.Step(s.examples, 3)
				if err := errors.Join(stepping, trainer.Store()); err != nil {
					t.Fatal(err)
				}
				for _, tensor := range p.Tensors {
					weights = append(weights, tensor.Data)
				}
				return weights, trainer.capacity, used
			}
			want, groups, used := train(16 << 30)
			got, again, _ := train(used * 5 / 4) // an eighth of what is free stays so
			if groups != 2 || again != groups || !reflect.DeepEqual(got, want) {
				t.Errorf("groups of %d and %d queries, want 2, with equal weights", groups, again)
			}
		})
	}
}

// TestInfiniteLoss checks that a loss that is infinite, with finite gradients, is an error that leaves the
// weights as they are.
func TestInfiniteLoss(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, func(c *configuration.Configuration) { c.AdversarialTemperature = 0 })
	p, solver := s.parameters(), s.solver()
	p.Data("mlp.2.bias")[0] = float32(math.Inf(1))
	trainer, err := NewTrainer(interpreter.New(), s.graph, nil, s.configuration, p, solver)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trainer.Step(s.examples, 1); !errors.Is(err, steps.ErrNotFinite) || !strings.Contains(err.Error(), "loss +Inf") {
		t.Errorf("error %v, want an infinite loss", err)
	}
	gradients, err := trainer.Gradients()
	if err != nil {
		t.Fatal(err)
	}
	for _, tensor := range gradients.Tensors {
		for _, g := range tensor.Data {
			if math.IsNaN(float64(g)) || math.IsInf(float64(g), 0) {
				t.Fatalf("a gradient of %s is %g: the test is of finite ones", tensor.Name, g)
			}
		}
	}
	if err := trainer.Store(); err != nil {
		t.Fatal(err)
	}
	want := s.parameters()
	want.Data("mlp.2.bias")[0] = float32(math.Inf(1))
	if !reflect.DeepEqual(p, want) || solver.Steps() != 0 {
		t.Errorf("the weights are others after %d steps", solver.Steps())
	}
}

// TestWeightsThatAreNotFinite checks that a NaN is not lost on its way to the scores, nor in each loss.
func TestWeightsThatAreNotFinite(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"query.weight", "layers.0.linear.weight", "layers.1.layer_norm.bias", "mlp.0.weight", "mlp.2.bias"} {
		for loss := range lossKernels {
			if name != "mlp.2.bias" && loss != configuration.Default().Loss {
				continue
			}
			t.Run(name+", "+loss, func(t *testing.T) {
				t.Parallel()
				s := smallScenario(t, func(c *configuration.Configuration) { c.Loss = loss })
				p := s.parameters()
				data := p.Data(name)
				for i := range data {
					data[i] = float32(math.NaN())
				}
				trainer, err := NewTrainer(interpreter.New(), s.graph, nil, s.configuration, p, s.solver())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := trainer.Step(s.examples, 1); !errors.Is(err, steps.ErrNotFinite) || !strings.Contains(err.Error(), "loss NaN") {
					t.Errorf("error %v, want the loss NaN", err)
				}
			})
		}
	}
}
