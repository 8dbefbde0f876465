package steps

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"tagnet/formats/workspace/safetensors"
	"tagnet/model/engine/kernel"
	"tagnet/model/weights/parameters"
)

var fastest = kernel.Available()[len(kernel.Available())-1]

var layout = []parameters.Shape{{Name: "a", Shape: []int{2, 3}}, {Name: "b.bias", Shape: []int{1}}, {Name: "large", Shape: []int{300, 401}}}

func sets(t testing.TB) (weights, gradients *parameters.Set[float32]) {
	t.Helper()
	weights, gradients = parameters.NewSet[float32](layout), parameters.NewSet[float32](layout)
	random := rand.New(rand.NewPCG(1, 1))
	for _, tensor := range weights.Tensors {
		for i := range tensor.Data {
			tensor.Data[i] = float32(random.NormFloat64())
		}
	}
	return weights, gradients
}

// fillGradients gives step t's gradients, some of them zero or of very different sizes.
func fillGradients(gradients *parameters.Set[float32], t int) {
	random := rand.New(rand.NewPCG(9, uint64(t)))
	for _, tensor := range gradients.Tensors {
		for i := range tensor.Data {
			tensor.Data[i] = float32(random.NormFloat64() * math.Pow(10, float64(i%7-4)))
			if i%11 == 3 {
				tensor.Data[i] = 0
			}
		}
	}
}

// textbook is the Algorithm 1 of Kingma and Ba, with the decay added to the gradient, or, decoupled,
// subtracted from the weight.
func textbook(theta float64, gradients []float64, rates []float64, decay float64, decoupled bool) float64 {
	m, v := 0.0, 0.0
	for i, g := range gradients {
		t := float64(i + 1)
		if decoupled {
			theta -= rates[i] * decay * theta
		} else {
			g += decay * theta
		}
		m = .9*m + .1*g
		v = .999*v + .001*g*g
		theta -= rates[i] * (m / (1 - math.Pow(.9, t))) / (math.Sqrt(v/(1-math.Pow(.999, t))) + 1e-8)
	}
	return theta
}

// Worked by hand: two steps from 1 with gradients 2 and -1 and rate 0.1, without decay.
// t=1: m=.2, v=.004, corrected 2 and 4: 1 - .1·2/2 = .9.
// t=2: m=.08, v=.004996, corrected .08/.19 and .004996/.001999:
// .9 - .1·.42105263/1.58090064 = .87336629.
func TestStepByHand(t *testing.T) {
	one := []parameters.Shape{{Name: "w", Shape: []int{1}}}
	w, g := parameters.NewSet[float32](one), parameters.NewSet[float32](one)
	w.Data("w")[0] = 1
	a := NewAdam(one, .1, 0, fastest)
	for i, want := range []float64{.9, .87336629} {
		g.Data("w")[0] = []float32{2, -1}[i]
		if err := a.Step(w, g); err != nil {
			t.Fatal(err)
		}
		if got := float64(w.Data("w")[0]); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("step %d: %.8f, want %.8f", i+1, got, want)
		}
	}
}

func TestStepsAgreeWithTextbook(t *testing.T) {
	for _, of := range []struct {
		decay     float64
		decoupled bool
	}{{0, false}, {1e-2, false}, {1, true}} {
		decay := of.decay
		weights, gradients := sets(t)
		const steps = 40
		start := slices.Clone(weights.Data("large"))
		seen := make([][]float64, len(start))
		var rates []float64
		a := NewAdam(layout, .01, decay, fastest)
		a.Decoupled = of.decoupled
		for step := range steps {
			a.LearningRate = .01 * math.Pow(.97, float64(step))
			rates = append(rates, a.LearningRate)
			fillGradients(gradients, step)
			for i, v := range gradients.Data("large") {
				seen[i] = append(seen[i], float64(v))
			}
			if err := a.Step(weights, gradients); err != nil {
				t.Fatal(err)
			}
		}
		for i, got := range weights.Data("large") {
			want := textbook(float64(start[i]), seen[i], rates, decay, of.decoupled)
			if !(math.Abs(float64(got)-want) <= 1e-5) {
				t.Fatalf("decay %g, weight %d: %.8f, want %.8f", decay, i, got, want)
			}
		}
		if a.Steps() != steps {
			t.Errorf("%d steps, want %d", a.Steps(), steps)
		}
	}
}

// Which kernel computes a step, and on how many threads, is not to be seen in its bits.
func TestStepsAreTheSameEverywhere(t *testing.T) {
	run := func(k kernel.Kernel, threads int) []float32 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		weights, gradients := sets(t)
		a := NewAdam(layout, .01, 1e-3, k)
		for step := range 3 {
			fillGradients(gradients, step)
			if err := a.Step(weights, gradients); err != nil {
				t.Fatal(err)
			}
		}
		return weights.Data("large")
	}
	want := run(kernel.Available()[0], 1)
	for _, k := range kernel.Available() {
		for _, threads := range []int{1, 2, 5} {
			if !slices.Equal(run(k, threads), want) {
				t.Errorf("%s on %d threads: other weights than portable's on one", k.Name(), threads)
			}
		}
	}
}

func TestStepRefusesWhatIsNotFinite(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		weights, gradients := sets(t)
		a := NewAdam(layout, .01, 0, fastest)
		fillGradients(gradients, 0)
		gradients.Data("large")[77777] = bad
		before := slices.Clone(weights.Data("large"))
		err := a.Step(weights, gradients)
		var refused NotFiniteError
		if !errors.As(err, &refused) || refused.Name != "large" {
			t.Errorf("a gradient of %g: error %v", bad, err)
		}
		if !slices.Equal(before, weights.Data("large")) || a.Steps() != 0 {
			t.Errorf("a gradient of %g changed the weights", bad)
		}
	}
}

func TestStepChecksTheModel(t *testing.T) {
	weights, gradients := sets(t)
	a := NewAdam(layout, .01, 0, fastest)
	missing, reordered := *gradients, *gradients
	missing.Tensors = gradients.Tensors[:2]
	if err := a.Step(weights, &missing); err == nil {
		t.Error("a tensor is missing, and none missed it")
	}
	reordered.Tensors = []safetensors.Tensor[float32]{gradients.Tensors[1], gradients.Tensors[0], gradients.Tensors[2]}
	if err := a.Step(weights, &reordered); err == nil {
		t.Error("tensors in another order were taken")
	}
	weights.Tensors[2].Data, gradients.Tensors[2].Data = weights.Tensors[2].Data[:401], gradients.Tensors[2].Data[:401]
	weights.Tensors[2].Shape, gradients.Tensors[2].Shape = []int{1, 401}, []int{1, 401}
	if err := a.Step(weights, gradients); err == nil {
		t.Error("a tensor of another size was taken")
	}
}

// A solver that was stopped and restored reaches the same bits.
func TestRestoreContinues(t *testing.T) {
	run := func(breakAfter int) []float32 {
		weights, gradients := sets(t)
		a := NewAdam(layout, .01, 1e-3, fastest)
		for step := range 12 {
			if step == breakAfter {
				tensors, steps := a.State()
				slices.Reverse(tensors) // any order
				a = NewAdam(layout, .01, 1e-3, fastest)
				if err := a.Restore(tensors, steps); err != nil {
					t.Fatal(err)
				}
			}
			fillGradients(gradients, step)
			if err := a.Step(weights, gradients); err != nil {
				t.Fatal(err)
			}
		}
		return weights.Data("large")
	}
	whole := run(-1)
	for _, at := range []int{0, 5} {
		if !slices.Equal(whole, run(at)) {
			t.Errorf("a break after %d steps changed the weights", at)
		}
	}
}

func TestRestoreChecksTheState(t *testing.T) {
	a := NewAdam(layout, .01, 0, fastest)
	tensors, _ := a.State()
	other := slices.Clone(tensors)
	other[0].Shape = []int{3, 2}
	for name, given := range map[string][]safetensors.Tensor[float32]{
		"missing": tensors[1:], "another shape": other,
		"unknown": append(slices.Clone(tensors), safetensors.Tensor[float32]{Name: "exp_avg.c"}),
	} {
		if err := a.Restore(given, 3); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
	if err := a.Restore(tensors, -1); err == nil {
		t.Error("a negative number of steps was taken")
	}
}

// BenchmarkStep is a step of about FB15k-237's 3.1 million weights.
func BenchmarkAdam(b *testing.B) {
	large := []parameters.Shape{{Name: "w", Shape: []int{6, 474 * 32, 32}}, {Name: "bias", Shape: []int{64}}}
	w, g := parameters.NewSet[float32](large), parameters.NewSet[float32](large)
	a := NewAdam(large, 1e-3, 1e-4, fastest)
	b.SetBytes(32 * int64(large[0].Size()+large[1].Size()))
	for b.Loop() {
		if err := a.Step(w, g); err != nil {
			b.Fatal(err)
		}
	}
}
