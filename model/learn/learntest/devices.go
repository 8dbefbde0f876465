package learntest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"tagnet/formats/remedy"
	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/gpu"
	"tagnet/model/graph"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Devices are the devices of an imaginary machine.
type Devices struct {
	// Kernel computes for them.
	Kernel kernel.Kernel
	// Number is the number of devices, or 0 for a device of every ordinal.
	Number int
	// Unsupported is the error of Supports, or nil for the error of real devices.
	Unsupported error
	// Fail, if not nil, is called before each operation, which returns its error.
	Fail func(operation string) error
	// Operations are the operations that succeeded: open, trainer, step, store, load, scorer, score, and close, close
	// trainer and close scorer. A step that was announced follows "announced".
	Operations []string
	recording  sync.Mutex
}

// Supports returns d.Unsupported, or what devices do not compute.
func (d *Devices) Supports(c configuration.Configuration) error {
	return cmp.Or(d.Unsupported, gpu.Supports(c))
}

// Open returns a device.
func (d *Devices) Open(ordinal int) (accelerator.Accelerator, error) {
	if d.Number > 0 && ordinal >= d.Number {
		return nil, outOfRange(ordinal)
	}
	if err := d.do("open"); err != nil {
		return nil, err
	}
	return &opened{d, ordinal}, nil
}

// outOfRange returns the error of a device that a machine lacks, as package cuda words it.
func outOfRange(ordinal int) error {
	return remedy.Errorf(remedy.Do("use %v", remedy.Flag("device", "cuda:0")), "opening CUDA device %d: %w", ordinal, device.ErrRange)
}

// do fails an operation if Fail does, and records it otherwise.
func (d *Devices) do(operation string) error {
	if d.Fail != nil {
		if err := d.Fail(operation); err != nil {
			return err
		}
	}
	d.record(operation)
	return nil
}

func (d *Devices) record(operation string) {
	d.recording.Lock()
	defer d.recording.Unlock()
	d.Operations = append(d.Operations, operation)
}

// Count counts the operations of a name.
func (d *Devices) Count(operation string) (n int) {
	d.recording.Lock()
	defer d.recording.Unlock()
	for _, o := range d.Operations {
		if o == operation {
			n++
		}
	}
	return n
}

// Machine is an imaginary machine of devices with operations of their own, so that they compute at the same time.
type Machine []*Devices

// NewMachine returns a machine with a number of devices, which compute what a kernel does.
func NewMachine(devices int, k kernel.Kernel) (m Machine) {
	for range devices {
		m = append(m, &Devices{Kernel: k})
	}
	return m
}

// Supports returns what real devices do not compute.
func (Machine) Supports(c configuration.Configuration) error { return gpu.Supports(c) }

// Open returns a device of the machine.
func (m Machine) Open(ordinal int) (accelerator.Accelerator, error) {
	if ordinal >= len(m) {
		return nil, outOfRange(ordinal)
	}
	return m[ordinal].Open(ordinal)
}

// Count counts the operations of a name on each device.
func (m Machine) Count(operation string) (counts []int) {
	for _, d := range m {
		counts = append(counts, d.Count(operation))
	}
	return counts
}

// Together makes the first operation of a name of each device wait for those of all others. Where they
// do not come it fails.
func (m Machine) Together(operation string) {
	var all sync.WaitGroup
	all.Add(len(m))
	for _, d := range m {
		var once sync.Once
		d.Fail = func(name string) (err error) {
			if name == operation {
				once.Do(func() { err = meet(&all) })
			}
			return err
		}
	}
}

// meet waits until all have come.
func meet(all *sync.WaitGroup) error {
	all.Done()
	together := make(chan struct{})
	go func() {
		all.Wait()
		close(together)
	}()
	select {
	case <-together:
		return nil
	case <-time.After(time.Minute):
		return errors.New("the other devices do nothing")
	}
}

type opened struct {
	*Devices
	ordinal int
}

func (o *opened) Name() string   { return "cuda" }
func (o *opened) String() string { return fmt.Sprintf("cuda:%d (imaginary)", o.ordinal) }
func (o *opened) Close() error   { return o.do("close") }

// trainer trains copies of parameters and solver.
type trainer struct {
	*steps.Trainer
	devices              *Devices
	parameters, copy     *parameters.Set[float32]
	solver, copiedSolver *steps.Adam
	next                 func() ([]steps.Example, uint64)
	announced            []steps.Example
	seed                 uint64 // of announced
}

// NewTrainer returns a trainer with a copy of the parameters and of the solver, as a device has them;
// store copies them back.
func (o *opened) NewTrainer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32],
	solver *steps.Adam) (steps.Stepper, error) {
	if err := o.do("trainer"); err != nil {
		return nil, err
	}
	layout := parameters.Layout(c, g.RelationCount())
	t := &trainer{
		devices: o.Devices, parameters: p, copy: parameters.NewSet[float32](layout),
		solver: solver, copiedSolver: steps.NewAdam(layout, solver.LearningRate, solver.WeightDecay, o.Kernel),
	}
	t.copiedSolver.Decoupled = solver.Decoupled
	copySet(t.copy, p)
	if err := t.copiedSolver.Restore(solver.State()); err != nil {
		return nil, err
	}
	var err error
	t.Trainer, err = steps.New(g, between, c, t.copy, t.copiedSolver, 1, o.Kernel)
	return t, err
}

func copySet(to, from *parameters.Set[float32]) {
	for i := range to.Tensors {
		copy(to.Tensors[i].Data, from.Tensors[i].Data)
	}
}

func (t *trainer) Announce(next func() ([]steps.Example, uint64)) { t.next = next }

// Step records whether the step before announced the examples, and makes the step on the trainer's copies.
func (t *trainer) Step(examples []steps.Example, seed uint64) (steps.Result, error) {
	if seed == t.seed && reflect.DeepEqual(examples, t.announced) {
		t.devices.record("announced")
	}
	if err := t.devices.do("step"); err != nil {
		return steps.Result{}, err
	}
	t.copiedSolver.LearningRate, t.copiedSolver.WeightDecay = t.solver.LearningRate, t.solver.WeightDecay
	if t.announced = nil; t.next != nil {
		t.announced, t.seed = t.next()
		t.announced, t.next = slices.Clone(t.announced), nil
	}
	return t.Trainer.Step(examples, seed)
}

func (t *trainer) Store() error {
	if err := t.devices.do("store"); err != nil {
		return err
	}
	copySet(t.parameters, t.copy)
	return t.solver.Restore(t.copiedSolver.State())
}

func (t *trainer) Load() error {
	if err := t.devices.do("load"); err != nil {
		return err
	}
	copySet(t.copy, t.parameters)
	return t.copiedSolver.Restore(t.solver.State())
}

func (t *trainer) Close() error { return t.devices.do("close trainer") }

// scorer scores with one thread of the CPU.
type scorer struct {
	devices *Devices
	pool    *answer.Pool
}

// NewScorer returns a scorer with a copy of the parameters.
func (o *opened) NewScorer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32]) (answer.Scorer, error) {
	if err := o.do("scorer"); err != nil {
		return nil, err
	}
	own := parameters.NewSet[float32](parameters.Layout(c, g.RelationCount()))
	copySet(own, p)
	s, err := inference.New(g, between, c, own, o.Kernel)
	if err != nil {
		return nil, err
	}
	return &scorer{o.Devices, answer.NewPool(g.Entities, g.RelationCount(), 1, s.Group, func() answer.Worker { return s.Worker() })}, nil
}

func (s *scorer) Score(ctx context.Context, queries []answer.Request, list ranking.Selection) (*answer.Scored, error) {
	if err := s.devices.do("score"); err != nil {
		return nil, err
	}
	return s.pool.Rank(ctx, queries, list, nil)
}

func (s *scorer) Close() error { return s.devices.do("close scorer") }
