package steps

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"tagnet/formats/workspace/safetensors"
	"tagnet/model/engine/kernel"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// PyTorch's defaults.
const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// Adam is torch.optim.Adam (Kingma and Ba, arXiv 1412.6980): the weight times WeightDecay is added
// to the gradient, both moments are corrected for their start at zero, and epsilon is added outside
// of the square root. With Decoupled it is torch.optim.AdamW (Loshchilov and Hutter, arXiv 1711.05101).
type Adam struct {
	// LearningRate may change between steps.
	LearningRate float64
	// WeightDecay is L2 regularization: it enters the moments, unless Decoupled.
	WeightDecay float64
	// Decoupled multiplies each weight by 1 - LearningRate * WeightDecay before a step instead.
	Decoupled bool

	kernel  kernel.Vectors
	steps   int64
	tensors []moments
	chunks  []chunk
}

var _ gorgonia.Solver = (*Adam)(nil)

// moments are the running means of one tensor's gradient and of its square.
type moments struct {
	parameters.Shape
	first, second    []float32
	weight, gradient []float32 // of the current step
}

// chunk is a range of one tensor's values, the unit of parallel work.
type chunk struct{ tensor, from, to int }

const chunkSize = 1 << 14

// NewAdam returns a solver for parameters of the given layout, before its first step. Every
// variant of the kernel gives the same bits. NewSolver returns the solver for a model.
func NewAdam(layout []parameters.Shape, learningRate, weightDecay float64, k kernel.Vectors) *Adam {
	a := &Adam{LearningRate: learningRate, WeightDecay: weightDecay, kernel: k}
	for i, shape := range layout {
		size := shape.Size()
		a.tensors = append(a.tensors, moments{Shape: shape, first: make([]float32, size), second: make([]float32, size)})
		for from := 0; from < size; from += chunkSize {
			a.chunks = append(a.chunks, chunk{i, from, min(from+chunkSize, size)})
		}
	}
	return a
}

// NewSolver returns the solver for a model of configuration c over a number of relations (2R): AdamW for relations from
// a graph, as ULTRA's authors trained theirs, else Adam.
func NewSolver(c configuration.Configuration, relations int, k kernel.Vectors) *Adam {
	a := NewAdam(parameters.Layout(c, relations), c.LearningRate, c.WeightDecay, k)
	a.Decoupled = c.Transfers()
	return a
}

// Steps returns the number of steps made.
func (a *Adam) Steps() int64 { return a.steps }

// Skip counts a step that has nothing to learn from, and changes neither weights nor moments.
func (a *Adam) Skip() { a.steps++ }

// NotFiniteError reports a gradient that holds a NaN or an infinity. No weight was changed.
type NotFiniteError struct {
	// Name is the name of the tensor, Value its first value that is not finite.
	Name  string
	Value float32
}

// Error names the tensor.
func (e NotFiniteError) Error() string {
	return fmt.Sprintf("the gradient of %s is not finite (%g)", e.Name, e.Value)
}

// Step changes the weights of a model by its gradients, which it does not change. model has an entry
// per tensor of the layout, in its order, as pairs returns them. It returns a NotFiniteError, and
// changes nothing, where a gradient is not finite.
func (a *Adam) Step(model []gorgonia.ValueGrad) error {
	if err := a.attach(model); err != nil {
		return err
	}
	var failed atomic.Bool
	a.each(func(c chunk) {
		if !kernel.Finite(a.tensors[c.tensor].gradient[c.from:c.to]) {
			failed.Store(true)
		}
	})
	if failed.Load() {
		return a.notFinite()
	}
	a.steps++
	s := a.Coefficients(a.steps)
	a.each(func(c chunk) {
		t := &a.tensors[c.tensor]
		if keep := a.Keep(); a.Decoupled {
			for i := c.from; i < c.to; i++ {
				t.weight[i] *= keep
			}
		}
		a.kernel.Adam(t.weight[c.from:c.to], t.gradient[c.from:c.to], t.first[c.from:c.to], t.second[c.from:c.to], s)
	})
	return nil
}

// notFinite returns the error for the first value that is not finite, in the order of the layout.
func (a *Adam) notFinite() error {
	for _, t := range a.tensors {
		for _, g := range t.gradient {
			if math.IsNaN(float64(g)) || math.IsInf(float64(g), 0) {
				return NotFiniteError{t.Name, g}
			}
		}
	}
	return nil
}

// attach keeps the model's arrays for this step, and checks that they have the layout's names and sizes.
func (a *Adam) attach(model []gorgonia.ValueGrad) error {
	if len(model) != len(a.tensors) {
		return fmt.Errorf("a step of %d tensors, want %d", len(model), len(a.tensors))
	}
	for i, m := range model {
		t := &a.tensors[i]
		if named, ok := m.(gorgonia.Namer); ok && named.Name() != t.Name {
			return fmt.Errorf("tensor %d of the step is %s, want %s", i, named.Name(), t.Name)
		}
		gradient, err := m.Grad()
		if err != nil {
			return fmt.Errorf("gradient of %s: %w", t.Name, err)
		}
		var ok bool
		if t.weight, ok = m.Value().Data().([]float32); !ok || len(t.weight) != len(t.first) {
			return fmt.Errorf("%s is %T of %d values, want %d of float32", t.Name, m.Value().Data(), len(t.weight), len(t.first))
		}
		if t.gradient, ok = gradient.Data().([]float32); !ok || len(t.gradient) != len(t.first) {
			return fmt.Errorf("the gradient of %s is %T of %d values, want %d of float32", t.Name, gradient.Data(), len(t.gradient), len(t.first))
		}
	}
	return nil
}

// Keep returns the share of each weight that a step keeps before it changes it: 1, unless Decoupled.
func (a *Adam) Keep() float32 {
	if !a.Decoupled {
		return 1
	}
	return float32(1 - a.LearningRate*a.WeightDecay)
}

// Coefficients returns the scalars of a step's formula, from step 1, at the current learning rate.
func (a *Adam) Coefficients(step int64) kernel.AdamStep {
	t, decay := float64(step), a.WeightDecay
	if a.Decoupled {
		decay = 0
	}
	return kernel.AdamStep{
		Decay:         float32(decay),
		OneMinusBeta1: 1 - beta1,
		Beta2:         beta2, OneMinusBeta2: 1 - beta2,
		StepSize:   float32(a.LearningRate / (1 - math.Pow(beta1, t))),
		Correction: float32(math.Sqrt(1 - math.Pow(beta2, t))),
		Epsilon:    epsilon,
	}
}

// each calls visit for every chunk, in parallel if there are many. Chunks do not overlap,
// so the result does not depend on the number of threads.
func (a *Adam) each(visit func(chunk)) {
	workers := min(runtime.GOMAXPROCS(0), len(a.chunks)/4)
	parallel.Workers(workers, len(a.chunks), func(_, i int) { visit(a.chunks[i]) })
}

// pairs returns each tensor of a set with its gradient, for Step. Both share the sets' memory.
func pairs(weights, gradients *parameters.Set[float32]) []gorgonia.ValueGrad {
	model := make([]gorgonia.ValueGrad, len(weights.Tensors))
	for i, w := range weights.Tensors {
		model[i] = pair{w.Name, dense(w), dense(gradients.Tensors[i])}
	}
	return model
}

func dense(t safetensors.Tensor[float32]) *tensor.Dense {
	return tensor.New(tensor.WithShape(t.Shape...), tensor.WithBacking(t.Data))
}

// pair is a weight and its gradient, as Gorgonia's solvers take them.
type pair struct {
	name             string
	weight, gradient *tensor.Dense
}

func (p pair) Name() string                  { return p.name }
func (p pair) Value() gorgonia.Value         { return p.weight }
func (p pair) Grad() (gorgonia.Value, error) { return p.gradient, nil }
