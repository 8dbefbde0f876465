package steps

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

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

// Step changes the weights of a model by its gradients, which it does not change. Both have the tensors of the layout,
// in its order. It returns a NotFiniteError, and changes nothing, where a gradient is not finite.
func (a *Adam) Step(weights, gradients *parameters.Set[float32]) error {
	if err := a.attach(weights, gradients); err != nil {
		return err
	}
	var failed atomic.Bool
	a.each(func(c chunk) {
		if !kernel.Finite(a.tensors[c.tensor].gradient[c.from:c.to]) {
			failed.Store(true)
		}
	})
	if failed.Load() {
		return NotFinite(gradients)
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

// NotFinite returns the NotFiniteError of the first value that is not finite, in the order of the layout, or nil.
func NotFinite(gradients *parameters.Set[float32]) error {
	for _, t := range gradients.Tensors {
		for _, g := range t.Data {
			if math.IsNaN(float64(g)) || math.IsInf(float64(g), 0) {
				return NotFiniteError{t.Name, g}
			}
		}
	}
	return nil
}

// attach keeps the model's arrays for this step, and checks that they have the layout's names and sizes.
func (a *Adam) attach(weights, gradients *parameters.Set[float32]) error {
	for _, set := range []*parameters.Set[float32]{weights, gradients} {
		if len(set.Tensors) != len(a.tensors) {
			return fmt.Errorf("a step of %d tensors, want %d", len(set.Tensors), len(a.tensors))
		}
		for i, got := range set.Tensors {
			if want := &a.tensors[i]; got.Name != want.Name || len(got.Data) != len(want.first) {
				return fmt.Errorf("tensor %d of the step is %s of %d values, want %s of %d", i, got.Name, len(got.Data), want.Name, len(want.first))
			}
		}
	}
	for i := range a.tensors {
		a.tensors[i].weight, a.tensors[i].gradient = weights.Tensors[i].Data, gradients.Tensors[i].Data
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
