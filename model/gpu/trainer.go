package gpu

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"

	"tagnet/model/engine/device"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Trainer trains one model on a device. It is not safe for concurrent use.
type Trainer struct {
	*engine
	parameters    *parameters.Set[float32]
	solver        *steps.Adam
	steps         int64
	first, second device.Pointer // Adam's moments, as the parameters
	size          int
	workers       []worker

	// Of a step's queries.
	queries                  []encodedQuery
	candidates, multiplicity []int32
	failures                 []error
	out                      []byte // output of a chunk: whether gradients are not finite, messages, losses

	announced func() ([]steps.Example, uint64) // the next step's examples and seed, or nil
	ahead     ahead
	ready     device.Mark // behind the queries of the other set
}

// worker prepares one query at a time on the CPU.
type worker struct {
	sampler   *steps.Sampler
	negatives []int32
}

// NewTrainer returns a trainer of p over g, from the state of the solver. between is the graph of the relations, or
// nil: the model makes it if it needs one. Nothing else may use the device before Close. p and the solver stay as they
// are until Store.
func NewTrainer(d device.Device, g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32],
	solver *steps.Adam) (*Trainer, error) {
	return newTrainer(d, g, between, c, p, solver, trainingChunk)
}

// newTrainer returns a trainer whose chunks take at most chunk bytes.
func newTrainer(d device.Device, g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32], solver *steps.Adam,
	chunk int64) (*Trainer, error) {
	e, err := newEngine(d, g, between, c, p, true)
	if err != nil {
		return nil, err
	}
	t := &Trainer{engine: e, parameters: p, solver: solver, size: e.padding.size}
	t.place()
	if err := e.placeBuffers(1+c.Negatives, c.BatchSize, chunk); err != nil {
		_ = e.close() // the first error says more
		return nil, err
	}
	for range runtime.GOMAXPROCS(0) {
		t.workers = append(t.workers, worker{steps.NewSampler(g.Entities, c.StrictNegatives), make([]int32, c.Negatives)})
	}
	return t, nil
}

// place puts the gradients and the solver's state on the device.
func (t *Trainer) place() {
	m, bytes := &t.memory, int64(4*t.size)
	t.batch.Gradients, t.first, t.second = m.allocate(bytes), m.allocate(bytes), m.allocate(bytes)
	t.loadState()
	m.clear(t.batch.Gradients, bytes)
}

// loadState copies the solver's state to the device.
func (t *Trainer) loadState() {
	state, steps := t.solver.State()
	t.steps = steps
	t.memory.copyIn(t.first, device.Bytes(t.padding.pad(state[:len(state)/2])))
	t.memory.copyIn(t.second, device.Bytes(t.padding.pad(state[len(state)/2:])))
}

// Load copies the weights and the solver's state that NewTrainer was given to the device again, and discards
// the steps since Store.
func (t *Trainer) Load() error {
	t.memory.copyIn(t.batch.Parameters, device.Bytes(t.padding.pad(t.parameters.Tensors)))
	t.loadState()
	return t.memory.err
}

// Step makes a step on the device, with steps.Trainer's negatives and dropout masks, and its error for a loss or
// gradient that is not finite.
func (t *Trainer) Step(examples []steps.Example, seed uint64) (steps.Result, error) {
	next := t.announced
	t.announced = nil
	if err := t.begin(examples, seed); err != nil {
		return steps.Result{}, err
	}
	var result steps.Result
	t.memory.clear(t.batch.Bad, badSize)
	for from := 0; from < len(examples); from += t.capacity {
		n := min(t.capacity, len(examples)-from)
		t.differentiate(n, from > 0)
		if from+n < len(examples) {
			t.prepareChunk(from+n, len(examples))
		} else {
			t.apply() // before the device is waited for: it does nothing where a loss is not finite
			t.prepareNext(next)
		}
		bad, err := t.read(examples[from:from+n], &result)
		if err != nil {
			return steps.Result{}, err
		}
		if bad {
			return steps.Result{}, t.notFinite()
		}
	}
	t.steps++
	return result, nil
}

// read waits for the device and adds the losses and messages of the examples of a chunk. bad reports whether the
// gradients are not finite.
func (t *Trainer) read(examples []steps.Example, result *steps.Result) (bad bool, err error) {
	n := len(examples)
	sent := 8 * t.configuration.Layers * n
	out := values(t.engine, t.batch.Bad, t.out[:badSize+sent+4*n])
	if t.memory.err != nil {
		return false, t.memory.err
	}
	for i, e := range examples {
		loss := float64(math.Float32frombits(binary.NativeEndian.Uint32(out[badSize+sent+4*i:])))
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			return false, steps.Failed(e, fmt.Errorf("loss %g: %w", loss, steps.ErrNotFinite))
		}
		result.Loss += loss
	}
	for at := badSize; at < badSize+sent; at += 8 {
		result.Messages += int64(binary.NativeEndian.Uint64(out[at:]))
	}
	return binary.NativeEndian.Uint32(out) != 0, nil
}

// Announce gives the step after the next one: next is called at most once, while the device computes, and the step that
// it returns is prepared meanwhile. It may return no examples. If that step is made, it begins with the prepared chunk;
// another step is prepared again. next is not called if the device's memory does not hold two sets.
func (t *Trainer) Announce(next func() ([]steps.Example, uint64)) { t.announced = next }

// begin prepares the first chunk of a step, unless that was done ahead.
func (t *Trainer) begin(examples []steps.Example, seed uint64) error {
	done := t.ahead.isStep(examples, seed)
	t.ahead.examples = t.ahead.examples[:0]
	if done {
		return cmp.Or(t.memory.err, t.ahead.err)
	}
	if err := t.prepareQueries(examples, seed); err != nil {
		return err
	}
	t.prepareChunk(0, len(examples))
	return t.memory.err
}

// prepareNext prepares the first chunk of the step that was announced, if one was.
func (t *Trainer) prepareNext(announced func() ([]steps.Example, uint64)) {
	if announced == nil || !t.twice || t.memory.err != nil {
		return
	}
	examples, seed := announced()
	if len(examples) == 0 {
		return
	}
	t.ahead.examples, t.ahead.seed = append(t.ahead.examples, examples...), seed
	if t.ahead.err = t.prepareQueries(examples, seed); t.ahead.err == nil {
		t.prepareChunk(0, len(examples))
	}
}

// prepareChunk queues the preparation, which does not depend on the weights, of as many as possible of a step's queries
// from one on, in the other set. That set's earlier queries are complete, since their losses were read. With one set,
// they are computed first.
func (t *Trainer) prepareChunk(from, queries int) {
	n, stride := min(t.capacity, queries-from), 1+t.configuration.Negatives
	lists := func(all []int32) []int32 { return all[from*stride : (from+n)*stride] }
	if t.twice {
		t.memory.use(preparing)
	}
	t.swap()
	t.start(t.queries[from:from+n], lists(t.candidates), lists(t.multiplicity), func(b *batch) { b.Share, b.Accumulate = 1/float32(queries), flag(from > 0) })
	t.search(n)
	t.findRows(n)
	t.ready = t.memory.mark()
	t.swap()
	t.memory.use(computing)
}

// differentiate queues the forward and backward pass of the n queries that are prepared. further says that they are not
// a step's first.
func (t *Trainer) differentiate(n int, further bool) {
	stride := 1 + t.configuration.Negatives
	t.swap()
	t.memory.wait(t.ready)
	if !further {
		t.arrange()
	}
	t.embed(n)
	_ = t.propagate(context.Background(), n) // a step is made whole
	t.score(n, stride)
	t.launch(lossKernels[t.configuration.Loss], n, 256)
	t.countSent(n)
	t.backward(n, stride, further)
}

// apply queues Adam's step with the gradients on the device. If a loss or a gradient is not finite, the
// device makes no step.
func (t *Trainer) apply() {
	t.launch("check_finite", turns(t.size, 256), 256, int32(t.size))
	s := t.solver.Coefficients(t.steps + 1)
	t.launch("adam", turns(t.size, 256), 256, int32(t.size), t.batch.Parameters, t.first, t.second,
		s.Decay, s.OneMinusBeta1, s.Beta2, s.OneMinusBeta2, s.StepSize, s.Correction, s.Epsilon, t.solver.Keep())
}

// Gradients returns the gradients of the last step.
func (t *Trainer) Gradients() (*parameters.Set[float32], error) {
	gradients := parameters.NewSet[float32](parameters.Layout(t.configuration, t.graph.RelationCount()))
	t.padding.cut(values(t.engine, t.batch.Gradients, make([]float32, t.size)), gradients.Tensors)
	return gradients, t.memory.err
}

// notFinite returns the error for the first gradient that is not finite.
func (t *Trainer) notFinite() error {
	gradients, err := t.Gradients()
	if err != nil {
		return err
	}
	return steps.NotFinite(gradients)
}

// Store copies the weights and the solver's state back to NewTrainer's arguments.
func (t *Trainer) Store() error {
	weights, first, second := make([]float32, t.size), make([]float32, t.size), make([]float32, t.size)
	values(t.engine, t.batch.Parameters, weights)
	values(t.engine, t.first, first)
	values(t.engine, t.second, second)
	if t.memory.err != nil {
		return t.memory.err
	}
	t.padding.cut(weights, t.parameters.Tensors)
	state, _ := t.solver.State()
	moments := slices.Clone(state)
	for i := range moments {
		moments[i].Data = make([]float32, len(state[i].Data))
	}
	t.padding.cut(first, moments[:len(moments)/2])
	t.padding.cut(second, moments[len(moments)/2:])
	return t.solver.Restore(moments, t.steps)
}

// Close gives the device's memory back. The device stays open.
func (t *Trainer) Close() error { return t.close() }

// prepareQueries encodes the examples of a step and draws their negatives, on all cores.
func (t *Trainer) prepareQueries(examples []steps.Example, seed uint64) error {
	if t.memory.err != nil {
		return t.memory.err
	}
	if len(examples) == 0 {
		return fmt.Errorf("a training step without examples")
	}
	n, stride := len(examples), 1+t.configuration.Negatives
	if len(t.queries) < n {
		t.queries, t.failures = make([]encodedQuery, n), make([]error, n)
		t.candidates, t.multiplicity = make([]int32, n*stride), make([]int32, n*stride)
		t.out = make([]byte, badSize+n*(8*t.configuration.Layers+4))
	}
	parallel.Workers(min(len(t.workers), n), n, func(worker, i int) {
		t.failures[i] = t.prepare(&t.workers[worker], examples[i], seed, &t.queries[i],
			t.candidates[i*stride:(i+1)*stride], t.multiplicity[i*stride:(i+1)*stride])
	})
	for i, err := range t.failures[:n] {
		if e := examples[i]; err != nil {
			return steps.Failed(e, err)
		}
	}
	return nil
}

// prepare encodes an example of a step. candidates receives the answer and the distinct negatives, multiplicity how
// often each was drawn: equal candidates have equal scores, and each state's gradient has one source.
func (t *Trainer) prepare(w *worker, e steps.Example, seed uint64, q *encodedQuery, candidates, multiplicity []int32) error {
	if err := steps.Check(e, t.graph, t.configuration.Negatives); err != nil {
		return err
	}
	e.Removal = configuration.Removal(t.configuration.Remove)
	*q = t.encode(e.Query)
	if err := w.sampler.Negatives(e, 0, nil, seed, w.negatives); err != nil {
		return err
	}
	q.Seed = parallel.Seed(seed, e.Key, 2)
	q.Candidates = int32(distinct(e.Answer, w.negatives, candidates, multiplicity))
	return nil
}

// distinct sets candidates to the answer and the other negatives without duplicates, ascending, and multiplicity to how
// often each stands among the negatives. It returns their number. Both have one entry more than negatives.
func distinct(answer int32, negatives, candidates, multiplicity []int32) int {
	candidates[0], multiplicity[0] = answer, 0
	rest := candidates[1:]
	copy(rest, negatives)
	slices.Sort(rest)
	n := 1
	for _, entity := range rest {
		switch {
		case entity == answer:
			multiplicity[0]++
		case n > 1 && candidates[n-1] == entity:
			multiplicity[n-1]++
		default:
			candidates[n], multiplicity[n] = entity, 1
			n++
		}
	}
	return n
}
