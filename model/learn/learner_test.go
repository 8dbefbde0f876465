package learn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
)

// toy is a ring of entities: next points to the next one, back to the one before, and skip is next
// twice. The last fifth of the skips are validation facts.
func toy(t testing.TB) Data {
	t.Helper()
	const entities = 30
	var facts, held []graph.Fact
	for i := range int32(entities) {
		facts = append(facts,
			graph.Fact{Head: i, Relation: 0, Tail: (i + 1) % entities},
			graph.Fact{Head: (i + 1) % entities, Relation: 1, Tail: i})
		skip := graph.Fact{Head: i, Relation: 2, Tail: (i + 2) % entities}
		if i < entities*4/5 {
			facts = append(facts, skip)
		} else {
			held = append(held, skip)
		}
	}
	g, err := graph.New(entities, 3, facts)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, entities)
	for i := range names {
		names[i] = fmt.Sprint("node ", i)
	}
	return Data{
		TrainingGraph: TrainingGraph{Graph: g, Entities: names, BaseRelations: []string{"next", "back", "skip"}, Train: trainingSet(g, facts)},
		Valid:         requestsOf(g, held, append(slices.Clone(facts), held...)),
		Vocabulary:    checkpoint.Vocabulary{Relations: []string{"next", "back", "skip"}, Entities: entities, Hash: "toy"},
	}
}

// trainingSet returns the training set of some facts, in their order.
func trainingSet(g *graph.Graph, facts []graph.Fact) steps.TrainingSet {
	return steps.TrainingSet{Facts: facts, BaseRelations: int32(g.BaseRelations), Graph: g}
}

// requestsOf returns the queries of some facts, in both directions, and the answers of
// the known facts.
func requestsOf(g *graph.Graph, facts, known []graph.Fact) []answer.Request {
	var rows []answer.Row
	for _, f := range facts {
		n := int64(len(rows))
		rows = append(rows,
			answer.Row{Number: n, Query: graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail}},
			answer.Row{Number: n + 1, Query: graph.Query{Source: f.Tail, Relation: g.Inverse(f.Relation), Answer: f.Head}})
	}
	answers := map[[2]int32][]int32{}
	for _, f := range known {
		for _, a := range [][3]int32{{f.Head, f.Relation, f.Tail}, {f.Tail, g.Inverse(f.Relation), f.Head}} {
			answers[[2]int32{a[0], a[1]}] = append(answers[[2]int32{a[0], a[1]}], a[2])
		}
	}
	return answer.Group(rows, func(source, relation int32) []int32 {
		list := slices.Clone(answers[[2]int32{source, relation}])
		slices.Sort(list)
		return slices.Compact(list)
	})
}

func toyRun(folder string) Run {
	c := configuration.Default()
	c.Layers, c.Dim, c.Delta, c.Epochs, c.Negatives, c.Dropout = 3, 8, 1, 4, 8, 0.1
	return Run{
		Checkpoints: folder + "/checkpoints", History: folder + "/training.jsonl",
		Configuration: c, Seed: 5, Validation: metrics.Validation{Every: 1},
		Every: time.Hour, Threads: 2, Kernel: "portable",
	}
}

// contents returns the bytes of the files of a folder by name.
func contents(t testing.TB, folder string) map[string]string {
	t.Helper()
	return storagetest.Files(t, folder)
}

func sameFiles(t testing.TB, want, got map[string]string) {
	t.Helper()
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		} else if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is unexpected", name)
		}
	}
}

func train(t testing.TB, run Run, data Data) checkpoint.Record {
	t.Helper()
	r, err := Train(t.Context(), run, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// inMemory returns a URL in memory that is removed after the test.
func inMemory(t testing.TB, name string) string {
	return storage.Join(storagetest.Memory(t), name)
}

func TestTrainingLearns(t *testing.T) {
	for _, batching := range []string{configuration.BatchingRandom, configuration.BatchingGrouped} {
		run := toyRun(inMemory(t, batching))
		run.Configuration.Batching = batching
		run.Configuration.Epochs = 12
		run.Configuration.LearningRate = 2e-2
		r := train(t, run, toy(t))
		if r.Valid == nil || r.Valid.Queries != 12 || !(r.Valid.Pessimistic.MRR > 0.8) {
			t.Errorf("%s: valid %+v, want 12 queries of MRR above 0.8", batching, r.Valid)
		}
		history, err := metrics.ReadHistory(t.Context(), run.History)
		if err != nil || len(history) != 12 {
			t.Fatalf("%d lines of history, %v", len(history), err)
		}
		if !(history[11].Loss < history[0].Loss/2) {
			t.Errorf("%s: loss %g, then %g", batching, history[0].Loss, history[11].Loss)
		}
		if h := history[11]; h.Epoch != 12 || h.Queries != 84 || h.Messages == 0 || h.Seconds <= 0 || h.Kernel != "portable" {
			t.Errorf("%s: the last line is %+v", batching, h)
		}
	}
}

// The number of threads changes no byte of any checkpoint.
func TestThreadsChangeNothing(t *testing.T) {
	first := toyRun(inMemory(t, "first"))
	train(t, first, toy(t))
	want := contents(t, first.Checkpoints)
	for _, threads := range []int{1, 3} {
		run := toyRun(inMemory(t, fmt.Sprint(threads)))
		run.Threads = threads
		train(t, run, toy(t))
		t.Run(fmt.Sprint(threads), func(t *testing.T) { sameFiles(t, want, contents(t, run.Checkpoints)) })
	}
	other := toyRun(inMemory(t, "seed"))
	other.Seed++
	train(t, other, toy(t))
	if contents(t, other.Checkpoints)["epoch-001.safetensors"] == want["epoch-001.safetensors"] {
		t.Error("another seed gives the same checkpoints")
	}
}

// A run that is stopped after each step ends with the same bytes.
func TestInterruptedTrainingEndsInTheSameBytes(t *testing.T) {
	for _, share := range []float64{0, 0.6} {
		t.Run(fmt.Sprint(share), func(t *testing.T) { testInterruptedTraining(t, share) })
	}
}

// interrupted trains a run that is stopped after every few steps, and returns how often it was.
func interrupted(t *testing.T, run Run, data Data) (stops int) {
	t.Helper()
	run.Every = 0 // a checkpoint after each step
	for {
		ctx, cancel := context.WithCancel(t.Context())
		steps := 0
		_, err := Train(ctx, run, data, func(p Progress) {
			if p.Validated > 0 {
				return // validation starts over after an interrupt, so the training would never end
			}
			time.Sleep(time.Millisecond)
			if steps++; steps > stops%3+1 {
				cancel()
			}
		})
		cancel()
		if err == nil {
			return stops
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if stops++; stops > 1000 {
			t.Fatal("no end")
		}
	}
}

func testInterruptedTraining(t *testing.T, weightAverage float64) {
	whole := toyRun(inMemory(t, "whole"))
	whole.Configuration.WeightAverage = weightAverage
	train(t, whole, toy(t))
	want := contents(t, whole.Checkpoints)
	broken := toyRun(inMemory(t, "broken"))
	broken.Configuration = whole.Configuration
	stops := interrupted(t, broken, toy(t))
	if stops < 10 {
		t.Errorf("stopped only %d times", stops)
	}
	sameFiles(t, want, contents(t, broken.Checkpoints))
	history, err := metrics.ReadHistory(t.Context(), broken.History)
	if err != nil || len(history) != 4 {
		t.Errorf("%d lines of history, want 4: %v", len(history), err)
	}
	before := int64(0)
	for i, e := range history {
		if e.Epoch != i+1 {
			t.Errorf("line %d is of epoch %d", i+1, e.Epoch)
		}
		if least := float64(e.Steps-before) / 1000; e.Seconds < least {
			t.Errorf("epoch %d: %v s in the history, but the steps took %v", e.Epoch, e.Seconds, least)
		}
		before = e.Steps
	}
}

// A training that is stopped during validation has made all steps of the epoch, and validates it after
// it is resumed.
func TestInterruptedValidationKeepsTheEpoch(t *testing.T) {
	whole := toyRun(inMemory(t, "whole"))
	whole.Configuration.WeightAverage = 0.6
	train(t, whole, toy(t))
	want := contents(t, whole.Checkpoints)
	broken := toyRun(inMemory(t, "broken"))
	broken.Configuration = whole.Configuration
	data := toy(t)
	for epoch := 1; epoch <= broken.Configuration.Epochs; epoch++ {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Train(ctx, broken, data, func(p Progress) {
			if p.Epoch == epoch && p.Validated > 0 {
				cancel()
			}
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("epoch %d: %v, want an interruption", epoch, err)
		}
		state, _, err := checkpoint.Folder(broken.Checkpoints).Newest(t.Context())
		if r := state.Record; err != nil || r.Epoch != epoch || r.Partial == nil || r.Partial.Queries != int64(len(data.Train.Facts)) {
			t.Fatalf("epoch %d: newest is %+v (%v), want all queries of the epoch, which is not validated", epoch, r, err)
		}
	}
	train(t, broken, data)
	sameFiles(t, want, contents(t, broken.Checkpoints))
}

// TestLostLockEndsTraining checks that a training writes nothing after another run has taken over its folder.
func TestLostLockEndsTraining(t *testing.T) {
	for _, moment := range []func(Progress) bool{
		func(p Progress) bool { return p.Epoch == 2 && p.Queries > 0 },
		func(p Progress) bool { return p.Epoch == 2 && p.Validated > 0 },
	} {
		run := toyRun(inMemory(t, "toy"))
		run.Every = 0 // a checkpoint after each step
		var err error
		if run.Lock, err = lock.Acquire(t.Context(), run.Checkpoints, "train", true); err != nil {
			t.Fatal(err)
		}
		var left map[string]string
		_, err = Train(t.Context(), run, toy(t), func(p Progress) {
			if left == nil && moment(p) {
				if _, err := lock.Acquire(t.Context(), run.Checkpoints, "train --force", true); err != nil {
					t.Error(err)
				}
				left = contents(t, run.Checkpoints)
			}
		})
		if lost := new(lock.Lost); !errors.As(err, &lost) {
			t.Fatalf("error %v, want that the lock is lost", err)
		}
		sameFiles(t, left, contents(t, run.Checkpoints))
		if history, err := metrics.ReadHistory(t.Context(), run.History); err != nil || len(history) != 1 {
			t.Errorf("%d lines of history, want that of epoch 1: %v", len(history), err)
		}
	}
}

// A checkpoint with a damaged file is skipped and reported; the training ends with the same bytes.
func TestDamagedCheckpointIsPassedOver(t *testing.T) {
	whole := toyRun(inMemory(t, "whole"))
	train(t, whole, toy(t))
	want := contents(t, whole.Checkpoints)
	for _, name := range []string{"epoch-004.json", "epoch-004.safetensors", "epoch-004.optimizer.safetensors"} {
		for damage, spoil := range map[string]func([]byte) []byte{
			"cut":  func(data []byte) []byte { return data[:len(data)/2] },
			"flip": func(data []byte) []byte { data = bytes.Clone(data); data[len(data)/2] ^= 4; return data },
			"none": nil,
		} {
			t.Run(name+"/"+damage, func(t *testing.T) {
				run := toyRun(inMemory(t, name+damage))
				for file, data := range want {
					text := []byte(data)
					if file == name {
						if spoil == nil {
							continue
						}
						text = spoil(text)
					}
					if err := storage.WriteFile(t.Context(), run.Checkpoints+"/"+file, text); err != nil {
						t.Fatal(err)
					}
				}
				// The previous epoch's solver state is needed.
				var reported []string
				_, err := Train(t.Context(), run, toy(t), func(p Progress) {
					if p.Resumed != "" {
						reported = append(append(reported, p.Resumed), p.Damaged...)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if len(reported) == 0 || reported[0] != "epoch-003" {
					t.Errorf("resumed from %q, want epoch-003", reported)
				}
				if missingRecord := damage == "none" && strings.HasSuffix(name, ".json"); !missingRecord &&
					(len(reported) < 2 || !strings.Contains(reported[1], name)) {
					t.Errorf("reported %q, want the name of %s", reported, name)
				}
				sameFiles(t, want, contents(t, run.Checkpoints))
			})
		}
	}
}

func TestTrainingWithoutAWholeCheckpointStops(t *testing.T) {
	run := toyRun(inMemory(t, "run"))
	train(t, run, toy(t))
	for name := range contents(t, run.Checkpoints) {
		if strings.HasSuffix(name, ".optimizer.safetensors") {
			if err := storage.WriteFile(t.Context(), run.Checkpoints+"/"+name, []byte("?")); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err := Train(t.Context(), run, toy(t), nil)
	if err == nil || !strings.Contains(err.Error(), "no checkpoint") || !strings.Contains(err.Error(), "--force") {
		t.Errorf("error %v", err)
	}
}

func TestAnotherRunsCheckpointsAreRefused(t *testing.T) {
	run := toyRun(inMemory(t, "run"))
	train(t, run, toy(t))
	for name, change := range map[string]func(*Run, *Data){
		"configuration": func(r *Run, _ *Data) { r.Configuration.Dropout = 0.2 },
		"seed":          func(r *Run, _ *Data) { r.Seed++ },
		"validation":    func(r *Run, _ *Data) { r.Validation.Limit = 3 },
		"vocabulary":    func(_ *Run, d *Data) { d.Vocabulary.Hash = "other" },
	} {
		other, data := run, toy(t)
		change(&other, &data)
		if _, err := Train(t.Context(), other, data, nil); err == nil {
			t.Errorf("another %s: no error", name)
		}
	}
	longer := run
	longer.Configuration.Epochs++
	if r := train(t, longer, toy(t)); r.Epoch != 5 {
		t.Errorf("with one more epoch it ends at epoch %d", r.Epoch)
	}
}

// A record that claims more batches than the epoch has would end the epoch untrained.
func TestForgedPosition(t *testing.T) {
	run := toyRun(inMemory(t, "run"))
	train(t, run, toy(t))
	folder := checkpoint.Folder(run.Checkpoints)
	state, _, err := folder.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	forged := state.Record
	forged.Step, forged.Partial = forged.Step+1, &checkpoint.Partial{Step: 1e15}
	if err := folder.Save(t.Context(), forged, state.Weights, state.Optimizer); err != nil {
		t.Fatal(err)
	}
	if _, err := Train(t.Context(), run, toy(t), nil); err == nil || !strings.Contains(err.Error(), "1000000000000000 of the") {
		t.Errorf("error %v", err)
	}
}

// Weights that overflow end the training with an error; the last good checkpoint remains.
func TestLossThatIsNotFinite(t *testing.T) {
	run := toyRun(inMemory(t, "run"))
	train(t, run, toy(t))
	run.Configuration.Epochs = 9
	r, weights, err := checkpoint.Folder(run.Checkpoints).Load(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	state, _, err := checkpoint.Folder(run.Checkpoints).Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range weights[0].Data {
		weights[0].Data[i] = 1e38
	}
	if err := checkpoint.Folder(run.Checkpoints).Save(t.Context(), r, weights, state.Optimizer); err != nil {
		t.Fatal(err)
	}
	before := contents(t, run.Checkpoints)
	_, err = Train(t.Context(), run, toy(t), nil)
	if err == nil || !strings.Contains(err.Error(), "epoch 5, step 1 of") || !strings.Contains(err.Error(), ": training on (\"node ") ||
		!strings.Contains(err.Error(), "epoch-004") {
		t.Errorf("error %v", err)
	}
	sameFiles(t, before, contents(t, run.Checkpoints))
}

func TestTrainingSetWantsFacts(t *testing.T) {
	t.Parallel()
	k, err := kg.New([]kg.Triple{{Head: "a", Relation: "r", Tail: "b"}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := steps.NewTrainingSet(t.Context(), k)
	if err != nil || len(set.Facts) != 1 {
		t.Fatalf("%d facts, %v, want 1", len(set.Facts), err)
	}
	examples, err := set.Examples([]steps.Draw{{Fact: 0}, {Fact: 0, Inverse: true}}, 1, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := examples[0], examples[1]; a.Answer != b.Source || b.Answer != a.Source || !slices.Equal(a.Known, []int32{a.Answer}) ||
		!slices.Equal(b.Known, []int32{b.Answer}) {
		t.Errorf("examples %+v", examples)
	}
	if _, err := steps.NewTrainingSet(t.Context(), &kg.KG{Train: k.Train, Inference: k.Train}); err == nil {
		t.Error("without queries: no error")
	}
}
