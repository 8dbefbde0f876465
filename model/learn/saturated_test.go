package learn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer/workload"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph/kg"
	"tagnet/model/learn/learntest"
	"tagnet/model/steps"
)

// saturated returns a graph in which every one of 6 entities has the fact "all" to every one, so that its queries have
// no negatives, and a ring of "next", which have some. The batches of saturatedRun have 2 queries: some have negatives,
// some not, and some partly.
func saturated(t *testing.T) (*kg.KG, Data) {
	t.Helper()
	var facts []kg.Triple
	name := func(i int) string { return fmt.Sprint("e", i%6) }
	for i := range 6 {
		for j := range 6 {
			facts = append(facts, kg.Triple{Head: name(i), Relation: "all", Tail: name(j)})
		}
		facts = append(facts, kg.Triple{Head: name(i), Relation: "next", Tail: name(i + 1)})
	}
	k, err := kg.New(facts, []kg.Triple{{Head: "e0", Relation: "next", Tail: "e2"}, {Head: "e3", Relation: "next", Tail: "e1"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	k.Manifest.Checksum = "hubs"
	data, err := NewData(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	if data.Valid, err = workload.List(t.Context(), k, workload.Params{QueriedGraph: workload.QueriedGraph{Split: "valid"}}); err != nil {
		t.Fatal(err)
	}
	return k, data
}

func saturatedRun(t *testing.T, name string) Run {
	run := roundsRun(inMemory(t, name), 0, 0)
	run.Configuration.BatchSize = 2
	return run
}

// TestSaturatedQueriesAreLeftOut checks that they are counted, and in no mean: the loss of an epoch is the
// mean of the six others.
func TestSaturatedQueriesAreLeftOut(t *testing.T) {
	t.Parallel()
	_, data := saturated(t)
	run := saturatedRun(t, "whole")
	train(t, run, data)
	epochs, err := metrics.ReadHistory(t.Context(), run.History)
	if err != nil || len(epochs) != 2 {
		t.Fatalf("%d epochs, %v", len(epochs), err)
	}
	for _, e := range epochs {
		if e.LeftOut != 36 || e.Queries != 42 {
			t.Errorf("%d of %d queries are left out, want 36 of 42", e.LeftOut, e.Queries)
		}
		if !(e.Loss > 0.3 && e.Loss < 1) {
			t.Errorf("the mean loss is %g, want that of queries that are learned", e.Loss)
		}
		if want := int64(21 * e.Epoch); e.Steps != want {
			t.Errorf("epoch %d ends with %d steps, want %d: batches without examples count", e.Epoch, e.Steps, want)
		}
	}
}

// TestSaturatedQueriesChangeNoBytes trains with other threads, interrupts, on a device and from parts of the graph.
func TestSaturatedQueriesChangeNoBytes(t *testing.T) {
	t.Parallel()
	k, data := saturated(t)
	whole := saturatedRun(t, "whole")
	whole.Configuration.Reach = 5
	train(t, whole, data)
	want := contents(t, whole.Checkpoints)
	again := func(name string) Run {
		run := saturatedRun(t, name)
		run.Configuration = whole.Configuration
		return run
	}
	threads := again("threads")
	threads.Threads = 1
	train(t, threads, data)
	sameFiles(t, want, contents(t, threads.Checkpoints))

	broken := again("broken")
	if stops := interrupted(t, broken, data); stops < 5 {
		t.Errorf("stopped only %d times", stops)
	}
	sameFiles(t, want, contents(t, broken.Checkpoints))

	read := again("parts")
	train(t, read, outlined(t, k, data, read, nil))
	sameFiles(t, want, contents(t, read.Checkpoints))

	onCPU, onDevice, onto := saturatedRun(t, "cpu"), saturatedRun(t, "device"), data // of whole queries
	train(t, onCPU, data)
	of, err := kernel.Named(whole.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	onDevice.Device, onto.Devices = device.Choice{Mode: device.CUDA}, &learntest.Devices{Kernel: of}
	train(t, onDevice, onto)
	sameFiles(t, contents(t, onCPU.Checkpoints), contents(t, onDevice.Checkpoints))
}

// TestSaturatedQueriesInRounds deals batches without examples to workers, whose steps are counted.
func TestSaturatedQueriesInRounds(t *testing.T) {
	t.Parallel()
	_, data := saturated(t)
	first, reversed := roundsRun(inMemory(t, "first"), 3, 2), roundsRun(inMemory(t, "reversed"), 3, 2)
	first.Configuration.BatchSize, reversed.Configuration.BatchSize = 2, 2
	trainRounds(t, first, data, nil)
	trainRounds(t, reversed, data, slices.Reverse[[]int])
	sameFiles(t, contents(t, first.Checkpoints), contents(t, reversed.Checkpoints))
	epochs, err := metrics.ReadHistory(t.Context(), first.History)
	if err != nil || len(epochs) != 2 || epochs[1].LeftOut != 36 {
		t.Errorf("%+v, %v, want 36 queries left out of each epoch", epochs, err)
	}
}

// TestOnlySaturatedQueries is an error, of which nothing is written.
func TestOnlySaturatedQueries(t *testing.T) {
	t.Parallel()
	k, err := kg.New([]kg.Triple{{Head: "a", Relation: "r", Tail: "a"}, {Head: "a", Relation: "r", Tail: "b"},
		{Head: "b", Relation: "r", Tail: "a"}, {Head: "b", Relation: "r", Tail: "b"}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := NewData(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	run := saturatedRun(t, "only")
	_, err = Train(t.Context(), run, data, nil)
	if !errors.Is(err, steps.ErrNoNegatives) || !strings.Contains(err.Error(), "none of its 4 training queries has negatives") {
		t.Errorf("error %v", err)
	}
	if files := contents(t, run.Checkpoints); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
	run.Configuration.StrictNegatives = false
	train(t, run, data)
}
