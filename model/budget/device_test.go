package budget_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"tagnet/model/budget"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/gpu"
	"tagnet/model/graph"
	"tagnet/model/learn/optimizer"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// weighing is a device without memory that computes nothing. It measures the host's live heap while much is copied.
type weighing struct {
	device.Device
	next device.Pointer
	most int64
}

func (w *weighing) Properties() device.Properties { return device.Properties{Free: 1 << 40} }

func (w *weighing) Load(_ string, names ...string) ([]device.Kernel, error) {
	return make([]device.Kernel, len(names)), nil
}

func (w *weighing) Allocate(bytes int64) (device.Pointer, error) {
	w.next += device.Pointer(bytes)
	return w.next, nil
}

func (w *weighing) weigh(content []byte) {
	if len(content) > 1<<20 {
		w.most = max(w.most, live())
	}
	runtime.KeepAlive(content)
}

func (w *weighing) Free(device.Pointer) error                    { return nil }
func (w *weighing) Synchronize() error                           { return nil }
func (w *weighing) Use(int) error                                { return nil }
func (w *weighing) Mark() (device.Mark, error)                   { return 0, nil }
func (w *weighing) Wait(device.Mark) error                       { return nil }
func (w *weighing) CopyIn(_ device.Pointer, from []byte) error   { w.weigh(from); return nil }
func (w *weighing) CopyOut(to []byte, _ device.Pointer) error    { w.weigh(to); return nil }
func (w *weighing) Clear(device.Pointer, int64) error            { return nil }
func (w *weighing) Launch(device.Kernel, int, int, ...any) error { return nil }

// TestTrainingOnDeviceIsBounded compares the host's live heap with the estimate while a trainer on a device is made, makes a step and stores.
func TestTrainingOnDeviceIsBounded(t *testing.T) {
	c := configuration.Default()
	random := rand.New(rand.NewPCG(5, 5))
	for name, test := range map[string]struct{ entities, relations, facts, dim int }{
		"many edges": {5000, 40, 600_000, 32}, "many parameters": {3000, 600, 20_000, 32}, "dim 20": {3000, 1000, 20_000, 20},
	} {
		facts := make([]graph.Fact, test.facts)
		for i := range facts {
			facts[i] = graph.Fact{Head: int32(random.IntN(test.entities)), Relation: int32(random.IntN(test.relations)), Tail: int32(random.IntN(test.entities))}
		}
		g, err := graph.New(test.entities, test.relations, facts)
		if err != nil {
			t.Fatal(err)
		}
		c.Dim, c.BatchSize = test.dim, 64
		layout := parameters.Layout(c, g.RelationCount())
		set := parameters.Initialize(layout, 1)
		solver := optimizer.NewAdam(layout, c.LearningRate, 0, kernel.Available()[0])
		w := &weighing{}
		before := live()
		trainer, err := gpu.NewTrainer(w, g, nil, c, set, solver)
		if err != nil {
			t.Fatal(err)
		}
		batch := make([]optimizer.Example, c.BatchSize)
		for i := range batch {
			f := facts[i]
			batch[i] = optimizer.Example{Query: graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail}, Key: uint64(i)}
		}
		if _, err := trainer.Step(batch, 1); err != nil {
			t.Fatal(err)
		}
		if err := trainer.Store(); err != nil {
			t.Fatal(err)
		}
		runtime.KeepAlive(trainer)
		runtime.KeepAlive(set)
		runtime.KeepAlive(facts)
		s := budget.Sizes{Entities: int64(g.Entities), Edges: g.Edges(), Relations: int64(g.RelationCount()), OnDevice: true}
		held, estimate := max(w.most, live())-before, row(budget.Train(s, c), "batch")+budget.Train(s, c).Thread
		t.Logf("%s: %.1f MiB held, estimate %.1f", name, float64(held)/(1<<20), float64(estimate)/(1<<20))
		if held > estimate || estimate > 2*held {
			t.Errorf("%s: %d bytes are held, the estimate is %d", name, held, estimate)
		}
	}
}
