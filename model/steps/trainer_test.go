package steps

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

const entities, baseRelations = 60, 3

// family is a graph in which relation 2 is the composition of 0 and 1, so that there is
// something to learn; parallel edges among them.
func family(t testing.TB) (*graph.Graph, []graph.Fact) {
	t.Helper()
	random := rand.New(rand.NewPCG(2, 3))
	var facts []graph.Fact
	for range 70 {
		a, b, c := random.Int32N(entities), random.Int32N(entities), random.Int32N(entities)
		facts = append(facts, graph.Fact{Head: a, Relation: 0, Tail: b}, graph.Fact{Head: b, Relation: 1, Tail: c},
			graph.Fact{Head: a, Relation: 2, Tail: c})
		if random.IntN(4) == 0 {
			facts = append(facts, graph.Fact{Head: a, Relation: 1, Tail: b})
		}
	}
	g, err := graph.New(entities, baseRelations, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g, facts
}

// ask makes both queries of every fact.
func ask(g *graph.Graph, facts []graph.Fact) []Example {
	known := map[[2]int32][]int32{}
	var examples []Example
	for _, f := range facts {
		inverse := g.Inverse(f.Relation)
		known[[2]int32{f.Head, f.Relation}] = append(known[[2]int32{f.Head, f.Relation}], f.Tail)
		known[[2]int32{f.Tail, inverse}] = append(known[[2]int32{f.Tail, inverse}], f.Head)
		examples = append(examples, Example{Query: graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail}},
			Example{Query: graph.Query{Source: f.Tail, Relation: inverse, Answer: f.Head}})
	}
	for i := range examples {
		e := &examples[i]
		e.Key = uint64(i)
		e.Known = slices.Clone(known[[2]int32{e.Source, e.Relation}])
		slices.Sort(e.Known)
	}
	return examples
}

// variants are configurations that take different ways through a step.
func variants() map[string]configuration.Configuration {
	base := configuration.Default()
	base.Layers, base.Dim, base.Negatives, base.Dropout, base.WeightDecay, base.BatchSize = 3, 8, 9, .3, 1e-4, 7
	all := map[string]configuration.Configuration{"window": base}
	specific := base
	specific.DeltaMode, specific.Attention, specific.DegreeMessages, specific.Dependent = configuration.DeltaSpecific, configuration.AttentionOwn, true, false
	all["specific"] = specific
	full := base
	full.Policy, full.Remove = configuration.PolicyFull, configuration.RemoveOneHop
	all["full"] = full
	shared := full
	shared.Dropout, shared.Dependent, shared.ShareStates = 0, false, true
	all["full, shared"] = shared
	astar := base
	astar.Policy, astar.NodeRatio = configuration.PolicyWindowWithAStar, .5
	all["window+astar"] = astar
	within := base
	within.Reach, within.DegreeMessages = 40, true
	all["window, reach"] = within
	between := full
	between.Relations, between.RelationLayers, between.Aggregate = configuration.RelationsGraph, 2, configuration.AggregateSum
	all["full, relations from a graph"] = between
	return all
}

func newTrainer(t testing.TB, g *graph.Graph, c configuration.Configuration, threads int) *Trainer {
	t.Helper()
	return newTrainerWith(t, g, c, threads, kernel.Available()[0])
}

func newTrainerWith(t testing.TB, g *graph.Graph, c configuration.Configuration, threads int, k kernel.Kernel) *Trainer {
	t.Helper()
	layout := parameters.Layout(c, g.RelationCount())
	p := parameters.Initialize(layout, 3)
	trainer, err := New(g, nil, c, p, NewAdam(layout, c.LearningRate, c.WeightDecay, k), threads, k)
	if err != nil {
		t.Fatal(err)
	}
	return trainer
}

// train makes some steps, the last with a smaller batch, and returns all weights' bits and the losses.
func train(t *testing.T, trainer *Trainer, examples []Example) ([]uint32, []float64) {
	t.Helper()
	var losses []float64
	size := trainer.configuration.BatchSize
	for step, at := 0, 0; step < 5; step++ {
		n := size
		if step == 4 {
			n = 3
		}
		result, err := trainer.Step(examples[at:at+n], 11)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, result.Loss)
		at += n
	}
	var bits []uint32
	for _, tensor := range trainer.parameters.Tensors {
		for _, v := range tensor.Data {
			bits = append(bits, math.Float32bits(v))
		}
	}
	return bits, losses
}

func TestReplicasChangeNoBit(t *testing.T) {
	g, facts := family(t)
	examples := ask(g, facts)
	for name, c := range variants() {
		t.Run(name, func(t *testing.T) {
			want, losses := train(t, newTrainer(t, g, c, 1), examples)
			for _, threads := range []int{2, 5, 9} {
				trainer := newTrainer(t, g, c, threads)
				if threads == 5 {
					slices.Reverse(trainer.workers)
				}
				got, other := train(t, trainer, examples)
				if !slices.Equal(got, want) || !slices.Equal(other, losses) {
					t.Errorf("%d threads end in other weights or losses than one", threads)
				}
			}
			fresh := parameters.Initialize(parameters.Layout(c, g.RelationCount()), 3)
			moved, i := 0, 0
			for _, tensor := range fresh.Tensors {
				for _, v := range tensor.Data {
					if math.Float32bits(v) != want[i] {
						moved++
					}
					i++
				}
			}
			if moved < i/2 {
				t.Errorf("only %d of %d weights moved", moved, i)
			}
		})
	}
}

// Another seed, or another key of an example, draws something else.
func TestStepDependsOnSeedAndKeys(t *testing.T) {
	g, facts := family(t)
	for _, dropout := range []float64{0, .5} { // without it, negatives alone tell
		c := variants()["window"]
		c.Dropout = dropout
		loss := func(seed, keys uint64, fixedNegatives bool) float64 {
			examples := ask(g, facts)[:4]
			for i := range examples {
				examples[i].Key += keys
				if fixedNegatives {
					examples[i].Negatives = make([]int32, c.Negatives)
				}
			}
			result, err := newTrainer(t, g, c, 1).differentiate(examples, seed)
			if err != nil {
				t.Fatal(err)
			}
			return result.Loss
		}
		if loss(1, 0, false) != loss(1, 0, false) {
			t.Error("the same seed gives another loss")
		}
		if loss(1, 0, false) == loss(2, 0, false) || loss(1, 0, false) == loss(1, 1000, false) {
			t.Error("another seed or key gives the same loss")
		}
		if same := loss(1, 0, true) == loss(2, 0, true); same != (dropout == 0) {
			t.Errorf("dropout %g, fixed negatives: that two seeds give the same loss is %t", dropout, same)
		}
		if same := loss(1, 0, true) == loss(1, 1000, true); same != (dropout == 0) {
			t.Errorf("dropout %g, fixed negatives: that other keys give the same loss is %t", dropout, same)
		}
	}
}

func TestTrainingLearns(t *testing.T) {
	g, facts := family(t)
	examples := ask(g, facts)
	for name, c := range variants() {
		t.Run(name, func(t *testing.T) {
			c.Dropout = 0
			trainer := newTrainer(t, g, c, 2)
			var first, last float64
			for epoch := range 4 {
				total := 0.0
				for _, batch := range slices.Collect(slices.Chunk(examples, 16)) {
					result, err := trainer.Step(batch, uint64(epoch))
					if err != nil {
						t.Fatal(err)
					}
					total += result.Loss * float64(len(batch)) / float64(len(examples))
				}
				if epoch == 0 {
					first = total
				}
				last = total
			}
			if !(last < .95*first) {
				t.Errorf("the loss went from %.4f to %.4f in four epochs", first, last)
			}
		})
	}
}

func TestStepNamesWhatIsWrong(t *testing.T) {
	g, facts := family(t)
	c := variants()["window"]
	good := ask(g, facts)[0]
	everything := make([]int32, entities)
	for i := range everything {
		everything[i] = int32(i)
	}
	for _, bad := range []struct {
		name   string
		change func(e *Example)
		want   string
	}{
		{"source", func(e *Example) { e.Source = entities }, "outside 0..59"},
		{"answer", func(e *Example) { e.Answer = -1 }, "outside 0..59"},
		{"relation", func(e *Example) { e.Relation = 6 }, "outside 0..5"},
		{"negatives", func(e *Example) { e.Negatives = make([]int32, 3) }, "3 negatives, want 9"},
		{"a negative", func(e *Example) { e.Negatives = append(make([]int32, 8), entities) }, "negative 60"},
		{"other answers", func(e *Example) { e.Others, e.OtherKeys = &graph.Others{7, 3}, []uint64{1, 2} }, "other answers [7 3] with 2 keys"},
		{"other keys", func(e *Example) { e.Others = &graph.Others{3} }, "other answers [3] with 0 keys"},
		{"another answer", func(e *Example) { e.Others, e.OtherKeys = &graph.Others{entities}, []uint64{1} }, "answer 60"},
		{"everything known", func(e *Example) { e.Known = everything }, "every entity is a known answer"},
	} {
		e := good
		bad.change(&e)
		trainer := newTrainer(t, g, c, 2)
		_, err := trainer.Step([]Example{good, e}, 1)
		if err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: error %v, want one that says %q", bad.name, err, bad.want)
		}
		if trainer.solver.Steps() != 0 {
			t.Errorf("%s: the solver moved", bad.name)
		}
	}
	if _, err := newTrainer(t, g, c, 1).Step(nil, 1); err == nil {
		t.Error("an empty batch was taken")
	}
	layout := parameters.Layout(c, g.RelationCount())
	if _, err := New(g, nil, c, parameters.Initialize(layout, 1), NewAdam(layout, 1, 0, kernel.Available()[0]), 0, kernel.Available()[0]); err == nil {
		t.Error("a trainer without threads was made")
	}
	if _, err := New(g, nil, c, parameters.Initialize(layout[:4], 1), NewAdam(layout, 1, 0, kernel.Available()[0]), 1, kernel.Available()[0]); err == nil {
		t.Error("a trainer without all parameters was made")
	}
}

// Numbers that went astray stop the training, and leave the weights and the next step alone.
func TestStepStopsAtNaN(t *testing.T) {
	g, facts := family(t)
	c := variants()["window"]
	trainer := newTrainer(t, g, c, 2)
	examples := ask(g, facts)[:4]
	bias := trainer.parameters.Data("mlp.2.bias")
	for _, v := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		before := bias[0]
		bias[0] = v
		if _, err := trainer.Step(examples, 1); !errors.Is(err, ErrNotFinite) {
			t.Errorf("a bias of %g: error %v, want ErrNotFinite", v, err)
		}
		bias[0] = before
	}
	if trainer.solver.Steps() != 0 {
		t.Error("the solver moved")
	}
	got, err := trainer.Step(examples, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := newTrainer(t, g, c, 1).Step(examples, 1); err != nil || got != want {
		t.Errorf("after an error the step gives %+v, want %+v (%v)", got, want, err)
	}
}

// A batch's gradient is all its own, whatever the one before left: every tensor is set.
func TestGradientsAreOfOneBatch(t *testing.T) {
	g, facts := family(t)
	examples := ask(g, facts)
	for name, c := range variants() {
		for _, k := range kernel.Available() {
			used, fresh := newTrainerWith(t, g, c, 2, k), newTrainerWith(t, g, c, 1, k)
			if _, err := used.differentiate(examples[4:9], 1); err != nil {
				t.Fatal(err)
			}
			for _, tensor := range used.gradients.Tensors {
				for i := range tensor.Data {
					tensor.Data[i] = float32(math.NaN())
				}
			}
			for _, trainer := range []*Trainer{used, fresh} {
				if _, err := trainer.differentiate(examples[:4], 2); err != nil {
					t.Fatal(err)
				}
			}
			for i, tensor := range used.gradients.Tensors {
				if !slices.Equal(tensor.Data, fresh.gradients.Tensors[i].Data) {
					t.Errorf("%s, %s: the gradient of %s depends on the batch before", name, k.Name(), tensor.Name)
				}
			}
		}
	}
}

// Steady steps leave the heap as it was.
func TestHeapIsFlat(t *testing.T) {
	g, facts := family(t)
	trainer := newTrainer(t, g, variants()["specific"], 2)
	examples := ask(g, facts)[:8]
	run := func(steps int) uint64 {
		for i := range steps {
			if _, err := trainer.Step(examples, uint64(i)); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := run(20)
	if after := run(150); after > before+1<<19 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

// BenchmarkStep is a batch of 16 queries of a random graph about as large as WN18RR_v1 and
// FB15k-237's hundredth: small, so that what surrounds the propagation shows.
func BenchmarkStep(b *testing.B) {
	const v, r, n = 2700, 9, 5400
	rng := rand.New(rand.NewPCG(7, 7))
	facts := make([]graph.Fact, n)
	for i := range facts {
		facts[i] = graph.Fact{Head: rng.Int32N(v), Relation: rng.Int32N(r), Tail: rng.Int32N(v)}
	}
	g, err := graph.New(v, r, facts)
	if err != nil {
		b.Fatal(err)
	}
	examples := ask(g, facts[:8])
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			c := configuration.Default()
			c.Dependent = false
			layout := parameters.Layout(c, g.RelationCount())
			kernels := kernel.Available()
			trainer, err := New(g, nil, c, parameters.Initialize(layout, 1), NewAdam(layout, 1e-3, 0, kernels[len(kernels)-1]), threads,
				kernels[len(kernels)-1])
			if err != nil {
				b.Fatal(err)
			}
			step := uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				step++
				if _, err := trainer.Step(examples, parallel.Seed(1, step)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
