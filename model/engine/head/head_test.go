package head

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/internal/spec"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// plain multiplies in plain loops.
type plain[F parameters.Float] struct{}

// Multiply computes c = a b, or c += a b.
func (plain[F]) Multiply(c, a, b []F, p kernel.Product) {
	n, k, m := p.Rows, p.Inner, p.Columns
	if !p.Add {
		clear(c[:n*m])
	}
	for i := range n {
		row := c[i*m : (i+1)*m]
		for j, v := range a[i*k : (i+1)*k] {
			axpy(row, v, b[j*m:(j+1)*m])
		}
	}
}

// MultiplyTransposed computes c = aᵀ b, or c += aᵀ b.
func (plain[F]) MultiplyTransposed(c, a, b []F, p kernel.Product) {
	n, k, m := p.Rows, p.Inner, p.Columns
	if !p.Add {
		clear(c[:k*m])
	}
	for i := range n {
		row := b[i*m : (i+1)*m]
		for j, v := range a[i*k : (i+1)*k] {
			axpy(c[j*m:(j+1)*m], v, row)
		}
	}
}

// Add computes sum += a.
func (plain[F]) Add(sum, a []F) { axpy(sum[:len(a)], 1, a) }

// ReLU computes out = max(a, 0).
func (plain[F]) ReLU(out, a []F) {
	for i, v := range a {
		out[i] = max(v, 0)
	}
}

// ReLUBackward computes out = gradient where a is above 0, and 0 elsewhere.
func (plain[F]) ReLUBackward(out, a, gradient []F) {
	for i, v := range a {
		out[i] = 0
		if v > 0 {
			out[i] = gradient[i]
		}
	}
}

// fake is a propagation in one line: state t of entity e is sin(p_et * x_q). It has a parameter, p, and
// a gradient with respect to the query.
type fake[F parameters.Float] struct {
	depth, width    int
	query, p        []F // p is [entities, depth, width]
	gradient        []F // of p
	forwards, backs int
}

func (f *fake[F]) Depth() int     { return f.depth }
func (f *fake[F]) Width() int     { return f.width }
func (f *fake[F]) Forward() error { f.forwards++; return nil }

// valid: entity 0 is unreached, and the numbers of states of the others differ.
func (f *fake[F]) valid(entity int32) int32 { return min(entity, int32(f.depth)) }

func (f *fake[F]) Candidates(entities []int32, states []F, valid []int32) {
	clear(states)
	for i, e := range entities {
		valid[i] = f.valid(e)
		size := f.depth * f.width
		for j := range int(valid[i]) * f.width {
			states[i*size+j] = F(math.Sin(float64(f.p[int(e)*size+j] * f.query[j%f.width])))
		}
	}
}

func (f *fake[F]) Backward(entities []int32, gradient []F, query []F) error {
	f.backs++
	clear(f.gradient)
	clear(query)
	for i, e := range entities {
		size := f.depth * f.width
		for j := range int(f.valid(e)) * f.width {
			at := int(e)*size + j
			slope := gradient[i*size+j] * F(math.Cos(float64(f.p[at]*f.query[j%f.width])))
			f.gradient[at] += slope * f.query[j%f.width]
			query[j%f.width] += slope * f.p[at]
		}
	}
	return nil
}

const (
	fakeEntities = 9
	fakeRelation = 2
)

// trial is a head over a fake propagation, with random weights.
type trial[F parameters.Float] struct {
	c        configuration.Configuration
	set      *parameters.Set[F]
	fake     *fake[F]
	head     *Head[F]
	entities []int32
}

func newTrial[F parameters.Float](t testing.TB, c configuration.Configuration, scale float64) *trial[F] {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	set := parameters.NewSet[F](parameters.Layout(c, 4))
	for _, tensor := range set.Tensors {
		for i := range tensor.Data {
			tensor.Data[i] = F(scale * random.NormFloat64())
		}
	}
	depth, width := 1, c.Dim
	if c.Specific() {
		depth = c.Delta + 1
	}
	if c.Prioritized() {
		width = 1
	}
	f := &fake[F]{depth: depth, width: width,
		p: make([]F, fakeEntities*depth*width), gradient: make([]F, fakeEntities*depth*width)}
	for i := range f.p {
		f.p[i] = F(random.NormFloat64())
	}
	f.query = set.Data("query.weight")[fakeRelation*c.Dim:][:c.Dim]
	entities := make([]int32, 1+c.Negatives)
	for i := range entities {
		entities[i] = int32((3 + 5*i) % fakeEntities)
	}
	h, err := New(c, len(entities), set, Propagation[F](f), Products[F](plain[F]{}))
	if err != nil {
		t.Fatal(err)
	}
	return &trial[F]{c, set, f, h, entities}
}

// scores computes the same as the graph, in plain loops and float64.
func (t *trial[F]) scores() []float64 {
	d := t.c.Dim
	states := make([]F, len(t.entities)*t.fake.depth*t.fake.width)
	valid := make([]int32, len(t.entities))
	t.fake.Candidates(t.entities, states, valid)
	scores := make([]float64, len(t.entities))
	for i := range scores {
		if t.c.Prioritized() {
			scores[i] = float64(states[i])
			continue
		}
		x := make([]float64, d)
		state := func(k int) []F { return states[(i*t.fake.depth+k)*d:][:d] }
		if t.c.Specific() {
			module := "attention"
			if t.c.Attention == configuration.AttentionShared {
				module = "mlp"
			}
			total := 0.0
			weights := make([]float64, valid[i])
			for k := range weights {
				weights[k] = math.Exp(t.mlp(module, toFloat64(state(k))) / t.c.AttentionTemperature)
				total += weights[k]
			}
			for k, w := range weights {
				for j, v := range state(k) {
					x[j] += w / total * float64(v)
				}
			}
		} else {
			x = toFloat64(state(0))
		}
		scores[i] = t.mlp("mlp", x)
	}
	return scores
}

func (t *trial[F]) mlp(module string, x []float64) float64 {
	both := append(slices.Clone(x), toFloat64(t.fake.query)...)
	w0, b0 := t.set.Data(module+".0.weight"), t.set.Data(module+".0.bias")
	w2, b2 := t.set.Data(module+".2.weight"), t.set.Data(module+".2.bias")
	out := float64(b2[0])
	for i := range b0 {
		hidden := float64(b0[i])
		for j, v := range both {
			hidden += float64(w0[i*len(both)+j]) * v
		}
		out += float64(w2[i]) * max(hidden, 0)
	}
	return out
}

// loss returns the specification's loss of the scores, and its gradient.
func (t *trial[F]) loss(scores []float64) (loss float64, gradient []float64) {
	negatives := make([]int32, len(scores)-1)
	for k := range negatives {
		negatives[k] = int32(1 + k)
	}
	return spec.Loss(t.c, scores, 0, negatives)
}

func toFloat64[F parameters.Float](x []F) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// cases are all kinds of heads, and every choice for the training, such as that of a loss.
func cases() map[string]configuration.Configuration {
	base := configuration.Default()
	base.Dim, base.Layers, base.Negatives, base.AttentionTemperature = 6, 2, 11, 0.7
	all := map[string]configuration.Configuration{}
	add := func(name string, change func(c *configuration.Configuration)) {
		c := base
		change(&c)
		all[name] = c
	}
	add("fixed", func(c *configuration.Configuration) {})
	add("fixed, equal negatives", func(c *configuration.Configuration) { c.AdversarialTemperature = 0 })
	add("one negative", func(c *configuration.Configuration) { c.Negatives = 1 })
	for _, attention := range []string{configuration.AttentionOwn, configuration.AttentionShared} {
		add("specific, "+attention, func(c *configuration.Configuration) {
			c.DeltaMode, c.Attention = configuration.DeltaSpecific, attention
		})
	}
	add("specific, delta 0", func(c *configuration.Configuration) {
		c.DeltaMode, c.Attention, c.Delta = configuration.DeltaSpecific, configuration.AttentionOwn, 0
	})
	add("astar", func(c *configuration.Configuration) { c.Policy = configuration.PolicyAStar })
	for _, f := range configuration.Fields() {
		if f.Group != configuration.Training {
			continue
		}
		for _, choice := range f.Choices() {
			add(f.Name+" "+choice, func(c *configuration.Configuration) {
				if err := f.Set(c, choice); err != nil {
					panic(err) // the table accepts what it lists
				}
			})
		}
	}
	return all
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}

func TestLossAgreesWithItsDefinition(t *testing.T) {
	t.Parallel()
	for name, c := range cases() {
		t.Run(name, func(t *testing.T) {
			trial := newTrial[float64](t, c, .7)
			g := trial.head.NewGradients()
			for range 3 { // later runs must not depend on earlier ones
				loss, err := trial.head.Run(trial.fake.query, trial.entities, .25, g)
				if err != nil {
					t.Fatal(err)
				}
				want, _ := trial.loss(trial.scores())
				near(t, "loss", loss, .25*want, 1e-12)
				trial.set.Tensors[len(trial.set.Tensors)-2].Data[0] += .1 // the weights are shared, not copied
				trial.entities[1] = (trial.entities[1] + 1) % fakeEntities
			}
			if trial.fake.forwards != 3 || trial.fake.backs != 3 {
				t.Errorf("%d passes forward and %d backward in 3 runs", trial.fake.forwards, trial.fake.backs)
			}
		})
	}
}

func TestGradientsAgreeWithDifferences(t *testing.T) {
	t.Parallel()
	for name, c := range cases() {
		t.Run(name, func(t *testing.T) {
			trial := newTrial[float64](t, c, .7)
			g := trial.head.NewGradients()
			if _, err := trial.head.Run(trial.fake.query, trial.entities, .5, g); err != nil {
				t.Fatal(err)
			}
			_, slopes := trial.loss(trial.scores())
			along := func() (sum float64) { // whose gradient is that of the loss
				for i, score := range trial.scores() {
					sum += slopes[i] * score
				}
				return sum
			}
			check := func(name string, data, gradient []float64) {
				for i := range data {
					const step = 1e-5
					before := data[i]
					data[i] = before + step
					above := along()
					data[i] = before - step
					below := along()
					data[i] = before
					near(t, fmt.Sprintf("%s[%d]", name, i), gradient[i], .5*(above-below)/(2*step), 1e-8)
				}
			}
			for i, name := range trial.head.names {
				check(name, trial.set.Data(name), g.Tensors[i])
			}
			check("query", trial.fake.query, g.Query)
			check("propagation", trial.fake.p, trial.fake.gradient)
		})
	}
}

func TestFloat32AgreesWithFloat64(t *testing.T) {
	t.Parallel()
	for name, c := range cases() {
		t.Run(name, func(t *testing.T) {
			exact, quick := newTrial[float64](t, c, .7), newTrial[float32](t, c, .7)
			ge, gq := exact.head.NewGradients(), quick.head.NewGradients()
			le, err := exact.head.Run(exact.fake.query, exact.entities, 1, ge)
			if err != nil {
				t.Fatal(err)
			}
			lq, err := quick.head.Run(quick.fake.query, quick.entities, 1, gq)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "loss", lq, le, 1e-6)
			compare := func(name string, got []float32, want []float64) {
				largest := 0.0
				for _, v := range want {
					largest = max(largest, math.Abs(v))
				}
				for i := range want {
					if !(math.Abs(float64(got[i])-want[i]) <= 1e-5*largest+1e-7) {
						t.Errorf("%s[%d]: %g, want %g", name, i, got[i], want[i])
					}
				}
			}
			for i, name := range exact.head.names {
				compare(name, gq.Tensors[i], ge.Tensors[i])
			}
			compare("query", gq.Query, ge.Query)
			compare("propagation", quick.fake.gradient, exact.fake.gradient)
		})
	}
}

// Scores of ±200 must neither overflow nor lose their gradient.
func TestLossIsStable(t *testing.T) {
	t.Parallel()
	c := cases()["fixed"]
	for _, z := range []float32{200, -200} {
		trial := newTrial[float32](t, c, 0)
		trial.set.Data("mlp.2.bias")[0] = z
		g := trial.head.NewGradients()
		loss, err := trial.head.Run(trial.fake.query, trial.entities, 1, g)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "loss", loss, 100, 1e-6)
		for i, name := range trial.head.names {
			if name == "mlp.2.bias" {
				near(t, "gradient", float64(g.Tensors[i][0]), math.Copysign(.5, float64(z)), 1e-6)
			}
		}
	}
}

func TestNotANumberIsNotHidden(t *testing.T) {
	t.Parallel()
	trial := newTrial[float32](t, cases()["specific, own"], .7)
	trial.set.Data("attention.0.weight")[0] = float32(math.NaN())
	loss, err := trial.head.Run(trial.fake.query, trial.entities, 1, trial.head.NewGradients())
	if err == nil && !math.IsNaN(loss) {
		t.Errorf("loss %g of weights that are not numbers", loss)
	}
}

func TestHeadsOfImpossibleShapes(t *testing.T) {
	t.Parallel()
	c := cases()["fixed"]
	trial := newTrial[float64](t, c, 1)
	if _, err := New(c, 1, trial.set, Propagation[float64](trial.fake), Products[float64](plain[float64]{})); err == nil {
		t.Error("a head without negatives was built")
	}
	if _, err := New(c, 5, parameters.NewSet[float64](nil), Propagation[float64](trial.fake), Products[float64](plain[float64]{})); err == nil {
		t.Error("a head without parameters was built")
	}
	trial.fake.depth = 3
	if _, err := New(c, 5, trial.set, Propagation[float64](trial.fake), Products[float64](plain[float64]{})); err == nil {
		t.Error("fixed delta with three states was built")
	}
	if _, err := trial.head.Run(trial.fake.query, trial.entities[:3], 1, trial.head.NewGradients()); err == nil {
		t.Error("fewer candidates than the graph has were taken")
	}
}

// A few thousand steps must not grow the heap.
func TestHeapIsFlat(t *testing.T) {
	trial := newTrial[float32](t, cases()["specific, shared"], .7)
	g := trial.head.NewGradients()
	run := func(steps int) uint64 {
		for range steps {
			if _, err := trial.head.Run(trial.fake.query, trial.entities, 1, g); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := run(200)
	if after := run(3000); after > before+1<<19 {
		t.Errorf("the heap grew from %d to %d bytes in 3000 steps", before, after)
	}
}

// still is a propagation without cost, for the benchmark.
type still struct{ *fake[float32] }

func (s still) Candidates(_ []int32, _ []float32, valid []int32) {
	for i := range valid {
		valid[i] = int32(s.depth)
	}
}

func (still) Backward([]int32, []float32, []float32) error { return nil }

// BenchmarkRun measures what the head adds to a query's propagation.
func BenchmarkRun(b *testing.B) {
	kernels := kernel.Available()
	for _, k := range []int{128, 256, 2048} {
		for _, mode := range []string{configuration.DeltaFixed, configuration.DeltaSpecific} {
			c := configuration.Default()
			c.Negatives, c.DeltaMode, c.Attention = k, mode, configuration.AttentionOwn
			b.Run(fmt.Sprintf("%s/%d", mode, k), func(b *testing.B) {
				trial := newTrial[float32](b, c, .2)
				h, err := New(c, 1+k, trial.set, Propagation[float32](still{trial.fake}), Products[float32](kernels[len(kernels)-1]))
				if err != nil {
					b.Fatal(err)
				}
				g := h.NewGradients()
				b.ReportAllocs()
				for b.Loop() {
					if _, err := h.Run(trial.fake.query, trial.entities, 1, g); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestAnswersAddUp runs a query of three answers: its loss and gradients are the sums over the answers alone,
// around one propagation.
func TestAnswersAddUp(t *testing.T) {
	t.Parallel()
	for name, c := range cases() {
		t.Run(name, func(t *testing.T) {
			trial := newTrial[float64](t, c, .7)
			var all []int32
			for answer := range int32(3) {
				for i := range trial.entities {
					all = append(all, (7*answer+2*int32(i)+1)%fakeEntities)
				}
			}
			g, want := trial.head.NewGradients(), trial.head.NewGradients()
			loss, propagated := 0., make([]float64, len(trial.fake.gradient))
			for one := range slices.Chunk(all, len(trial.entities)) {
				single, err := trial.head.Run(trial.fake.query, one, .25, g)
				if err != nil {
					t.Fatal(err)
				}
				loss += single
				for i, tensor := range g.Tensors {
					axpy(want.Tensors[i], 1, tensor)
				}
				axpy(want.Query, 1, g.Query)
				axpy(propagated, 1, trial.fake.gradient)
			}
			trial.fake.forwards, trial.fake.backs = 0, 0
			got, err := trial.head.Run(trial.fake.query, all, .25, g)
			if err != nil {
				t.Fatal(err)
			}
			if trial.fake.forwards != 1 {
				t.Errorf("%d forward passes, want 1", trial.fake.forwards)
			}
			if trial.fake.backs != 1 {
				t.Errorf("%d backward passes, want 1", trial.fake.backs)
			}
			near(t, "loss", got, loss, 1e-12)
			compare := func(name string, got, want []float64) {
				for i := range want {
					near(t, fmt.Sprintf("%s[%d]", name, i), got[i], want[i], 1e-12)
				}
			}
			for i, name := range trial.head.names {
				compare(name, g.Tensors[i], want.Tensors[i])
			}
			compare("query", g.Query, want.Query)
			compare("propagation", trial.fake.gradient, propagated)
		})
	}
	if _, err := newTrial[float64](t, cases()["fixed"], .7).head.Run(nil, make([]int32, 13), 1, nil); err == nil {
		t.Error("13 candidates in groups of 12 give no error")
	}
}
