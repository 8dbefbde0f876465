package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/engine/kernel"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// roundsRun is toyRun by several workers. An epoch has 6 batches, the last of 4 queries.
func roundsRun(folder string, workers, localSteps int) Run {
	run := toyRun(folder)
	run.Configuration.Epochs = 2
	run.Rounds = configuration.Rounds{Workers: workers, LocalSteps: localSteps}
	return run
}

// start returns the position of a run.
func start(t testing.TB, run Run, data Data) Position {
	t.Helper()
	at, err := Open(t.Context(), run, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// perform does what the functions of a task do, the shards in the given order.
func perform(ctx context.Context, run Run, data Data, task Task, order func([]int)) error {
	if task.EndsEpoch() {
		return FinishEpoch(ctx, run, data, task, nil)
	}
	w, err := NewWorker(run, data)
	if err != nil {
		return err
	}
	begun := time.Now()
	indices := make([]int, task.Round.Workers)
	for i := range indices {
		indices[i] = i
	}
	if order != nil {
		order(indices)
	}
	for _, i := range indices {
		if err := w.Train(ctx, run, task, i, func(Progress, int64, float64) {}); err != nil {
			return err
		}
	}
	return Average(ctx, run, task, task.Round.Workers, begun)
}

// trainRounds trains a whole run by rounds.
func trainRounds(t testing.TB, run Run, data Data, order func([]int)) {
	t.Helper()
	for _, task := range Tasks(run, data.Train.Keys(run.Configuration), start(t, run, data), math.MaxInt) {
		if err := perform(t.Context(), run, data, task, order); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTasks(t *testing.T) {
	t.Parallel()
	run := roundsRun("", 2, 2)
	facts := toy(t).Train.Keys(run.Configuration)
	at := Position{Checkpoint: "step-00000000", Epoch: 1}
	var got []string
	for _, task := range Tasks(run, facts, at, 100) {
		got = append(got, fmt.Sprintf("%s: epoch %d, %d batches from %d", task.From.Checkpoint, task.From.Epoch, task.Round.Batches, task.From.Batch))
	}
	want := []string{
		"step-00000000: epoch 1, 4 batches from 0", "step-00000002: epoch 1, 2 batches from 4", "step-00000003: epoch 1, 0 batches from 6",
		"epoch-001: epoch 2, 4 batches from 0", "step-00000005: epoch 2, 2 batches from 4", "step-00000006: epoch 2, 0 batches from 6",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	// Jobs of any length lead through the same tasks.
	for limit := 1; limit < 7; limit++ {
		var joined []Task
		for at := at; ; at = joined[len(joined)-1].To() {
			tasks := Tasks(run, facts, at, limit)
			if len(tasks) > limit {
				t.Errorf("%d tasks, want at most %d", len(tasks), limit)
			}
			if len(tasks) == 0 {
				break
			}
			joined = append(joined, tasks...)
		}
		if diff := cmp.Diff(Tasks(run, facts, at, 100), joined); diff != "" {
			t.Errorf("tasks of jobs with %d (-want +got):\n%s", limit, diff)
		}
	}
}

// TestRoundByHand compares the first round of two workers, of one local step each, with two trainers
// from the same weights, whose results are averaged here in float64.
func TestRoundByHand(t *testing.T) {
	run, data := roundsRun(inMemory(t, "run"), 2, 1), toy(t)
	task := Tasks(run, data.Train.Keys(run.Configuration), start(t, run, data), 1)[0]
	if err := perform(t.Context(), run, data, task, nil); err != nil {
		t.Fatal(err)
	}
	got, err := checkpoint.Folder(run.Checkpoints).State(t.Context(), "step-00000001")
	if err != nil {
		t.Fatal(err)
	}
	if p := got.Record.Partial; got.Record.Step != 1 || p.Step != 2 || p.Queries != 32 {
		t.Errorf("the round is at step %d, %+v; want step 1 of the solver, 2 batches, 32 queries", got.Record.Step, p)
	}
	c := run.Configuration
	layout := parameters.Layout(c, data.Graph.RelationCount())
	k, err := kernel.Named(run.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	batches := steps.Schedule(data.Train.Keys(c), c, uint64(run.Seed), 1)
	sums := map[string][]float64{}
	loss := 0.0
	for i := range 2 {
		weights := parameters.Initialize(layout, steps.WeightsSeed(uint64(run.Seed)))
		solver := steps.NewAdam(layout, c.LearningRate, c.WeightDecay, k)
		trainer, err := steps.New(data.Graph, nil, c, weights, solver, 1, k)
		if err != nil {
			t.Fatal(err)
		}
		examples, err := data.Train.Examples(batches[i], uint64(run.Seed), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		result, err := trainer.Step(examples, steps.StepSeed(uint64(run.Seed), 1, i))
		if err != nil {
			t.Fatal(err)
		}
		loss += result.Loss * 16
		state, _ := solver.State()
		for _, tensor := range slices.Concat(weights.Tensors, state) {
			if sums[tensor.Name] == nil {
				sums[tensor.Name] = make([]float64, len(tensor.Data))
			}
			for j, x := range tensor.Data {
				sums[tensor.Name][j] += float64(x)
			}
		}
	}
	if got.Record.Partial.Loss != loss {
		t.Errorf("loss %g, want %g", got.Record.Partial.Loss, loss)
	}
	for _, tensor := range slices.Concat(got.Weights, got.Optimizer) {
		for j, x := range tensor.Data {
			if want := float32(sums[tensor.Name][j] / 2); x != want {
				t.Fatalf("%s[%d] is %g, want %g", tensor.Name, j, x, want)
			}
		}
	}
}

// Neither threads, nor the order in which shards end, nor what is left of an interrupted round change
// a byte. Four workers have a last round of two shards.
func TestRoundsAreDeterministic(t *testing.T) {
	for _, rounds := range [][2]int{{2, 2}, {4, 1}} {
		data := toy(t)
		first := roundsRun(inMemory(t, fmt.Sprint("first", rounds)), rounds[0], rounds[1])
		trainRounds(t, first, data, nil)
		want := contents(t, first.Checkpoints)
		if len(want) != 7 {
			t.Errorf("%d files, want those of two epochs and best", len(want))
		}
		reversed := roundsRun(inMemory(t, fmt.Sprint("reversed", rounds)), rounds[0], rounds[1])
		reversed.Threads = 1
		trainRounds(t, reversed, data, slices.Reverse[[]int])
		sameFiles(t, want, contents(t, reversed.Checkpoints))
		epochs, err := metrics.ReadHistory(t.Context(), first.History)
		if err != nil || len(epochs) != 2 || epochs[1].Queries != 84 || epochs[1].Valid == nil ||
			slices.ContainsFunc(epochs, func(e metrics.Epoch) bool { return e.Seconds <= 0 || e.Seconds > 100 }) {
			t.Errorf("epochs %+v, %v", epochs, err)
		}
	}
}

// TestInterruptedRounds cancels a training in every shard and after every task; it continues from the
// last round, with the results of the shards that ended, and ends with the same bytes.
func TestInterruptedRounds(t *testing.T) {
	data := toy(t)
	whole := roundsRun(inMemory(t, "whole"), 2, 2)
	trainRounds(t, whole, data, nil)
	want := contents(t, whole.Checkpoints)
	broken := roundsRun(inMemory(t, "broken"), 2, 2)
	stops := 0
	for {
		tasks := Tasks(broken, data.Train.Keys(broken.Configuration), start(t, broken, data), 1)
		if len(tasks) == 0 {
			break
		}
		task := tasks[0]
		before := contents(t, broken.Checkpoints)
		for i := range task.Round.Workers {
			l, err := NewWorker(broken, data)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			steps := 0
			err = l.trainShard(ctx, task, i, func(int64, float64) {
				steps++
				cancel() // the shard is interrupted after one step, unless that is its last
			})
			cancel()
			if interrupted := len(task.Round.Shard(i)) > 1; interrupted != errors.Is(err, context.Canceled) || steps != 1 {
				t.Fatalf("%d steps, %v", steps, err)
			}
			if err != nil {
				stops++
				sameFiles(t, before, contents(t, broken.Checkpoints))
			}
			if err := l.trainShard(t.Context(), task, i, func(int64, float64) {}); err != nil {
				t.Fatal(err)
			}
			before = contents(t, broken.Checkpoints)
		}
		if err := perform(t.Context(), broken, data, task, nil); err != nil {
			t.Fatal(err)
		}
	}
	if stops != 4 {
		t.Errorf("%d interrupts, want 4", stops)
	}
	sameFiles(t, want, contents(t, broken.Checkpoints))
}

// TestFinishedShardsAreNotTrainedAgain kills a worker after the first of two shards: the second run of
// the round takes its result, and a result that is damaged is made again.
func TestFinishedShardsAreNotTrainedAgain(t *testing.T) {
	run, data := roundsRun(inMemory(t, "run"), 2, 2), toy(t)
	task := Tasks(run, data.Train.Keys(run.Configuration), start(t, run, data), 1)[0]
	results, name := task.result(checkpoint.Folder(run.Checkpoints), 0)
	for _, spoil := range []func([]byte) []byte{
		nil,
		func(data []byte) []byte { return data[:len(data)/2] },
		func(data []byte) []byte { data[len(data)-1] ^= 1; return data },
	} {
		l, err := NewWorker(run, data)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.trainShard(t.Context(), task, 0, func(int64, float64) {}); err != nil {
			t.Fatal(err)
		}
		whole := contents(t, string(results))
		want := []int64{32} // in one call, not one for each step
		if spoil != nil {
			want = []int64{16, 16}
			for file, text := range whole {
				if err := storage.WriteFile(t.Context(), storage.Join(string(results), file), spoil([]byte(text))); err != nil {
					t.Fatal(err)
				}
			}
		}
		var trained []int64
		if err := l.trainShard(t.Context(), task, 0, func(queries int64, _ float64) { trained = append(trained, queries) }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, trained); diff != "" {
			t.Errorf("queries of %s (-want +got):\n%s", name, diff)
		}
		sameFiles(t, whole, contents(t, string(results)))
	}
}

// TestTasksRunAgain runs every task again after all later ones, as a runner that lost their results
// does. None changes a file or makes a step.
func TestTasksRunAgain(t *testing.T) {
	run, data := roundsRun(inMemory(t, "run"), 2, 2), toy(t)
	tasks := Tasks(run, data.Train.Keys(run.Configuration), start(t, run, data), math.MaxInt)
	for i, task := range tasks {
		if err := perform(t.Context(), run, data, task, nil); err != nil {
			t.Fatal(err)
		}
		want := contents(t, run.Checkpoints)
		for _, earlier := range tasks[:i+1] {
			for shard := range earlier.Round.Workers {
				l, err := NewWorker(run, data)
				if err != nil {
					t.Fatal(err)
				}
				err = l.trainShard(t.Context(), earlier, shard, func(int64, float64) {
					t.Errorf("after %s, shard %d from %s is trained again", task.To().Checkpoint, shard, earlier.From.Checkpoint)
				})
				if err != nil {
					t.Error(err)
				}
			}
			if err := perform(t.Context(), run, data, earlier, nil); err != nil {
				t.Fatalf("after %s, from %s: %v", task.To().Checkpoint, earlier.From.Checkpoint, err)
			}
		}
		sameFiles(t, want, contents(t, run.Checkpoints))
	}
}

// A round whose start is nowhere, as on a worker that does not see the folder, is an error.
func TestRoundWithoutItsStart(t *testing.T) {
	run, data := roundsRun(inMemory(t, "run"), 2, 2), toy(t)
	tasks := Tasks(run, data.Train.Keys(run.Configuration), start(t, run, data), math.MaxInt)
	for _, task := range tasks[1:3] {
		if err := perform(t.Context(), run, data, task, nil); err == nil || !strings.Contains(err.Error(), task.From.Checkpoint) ||
			!strings.Contains(err.Error(), "every worker must see this folder") {
			t.Errorf("error %v", err)
		}
	}
}

// The checkpoint of a round names the epochs of the run that wrote it, from which a training resumes, not
// those of the checkpoint from which the round started.
func TestRoundsOfMoreOrFewerEpochs(t *testing.T) {
	data := toy(t)
	for _, epochs := range []int{2, 5} {
		run := roundsRun(inMemory(t, fmt.Sprint("run", epochs)), 2, 2)
		run.Configuration.Epochs = 3
		for i, task := range Tasks(run, data.Train.Keys(run.Configuration), start(t, run, data), 4) { // an epoch and a round
			if i == 3 {
				run.Configuration.Epochs = epochs
			}
			if err := perform(t.Context(), run, data, task, nil); err != nil {
				t.Fatal(err)
			}
		}
		r, err := checkpoint.Folder(run.Checkpoints).Record(t.Context(), "last")
		if err != nil || r.Partial == nil || r.Configuration.Epochs != epochs {
			t.Errorf("%s of %d epochs, %v, want a round of %d", r.Name(), r.Configuration.Epochs, err, epochs)
		}
	}
}

// Another n or K is another configuration, and so is a training by one worker.
func TestRoundsOfAnotherRunAreRefused(t *testing.T) {
	run, data := roundsRun(inMemory(t, "run"), 2, 2), toy(t)
	trainRounds(t, run, data, nil)
	for _, rounds := range []configuration.Rounds{{}, {Workers: 4, LocalSteps: 2}, {Workers: 2, LocalSteps: 1}} {
		other := run
		other.Rounds = rounds
		if _, err := Open(t.Context(), other, data, nil); err == nil || !strings.Contains(err.Error(), "another configuration") {
			t.Errorf("%+v: error %v", rounds, err)
		}
	}
}

// No file of a round appears after another run has taken over the folder.
func TestLostLockEndsRounds(t *testing.T) {
	run, data := roundsRun(inMemory(t, "run"), 2, 2), toy(t)
	var err error
	if run.Lock, err = lock.Acquire(t.Context(), run.Checkpoints, "train", true); err != nil {
		t.Fatal(err)
	}
	tasks := Tasks(run, data.Train.Keys(run.Configuration), start(t, run, data), math.MaxInt)
	if err := perform(t.Context(), run, data, tasks[0], nil); err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Acquire(t.Context(), run.Checkpoints, "train --force", true); err != nil {
		t.Fatal(err)
	}
	left := contents(t, run.Checkpoints)
	err = perform(t.Context(), run, data, tasks[1], nil)
	if lost := new(lock.Lost); !errors.As(err, &lost) {
		t.Errorf("error %v, want that the lock is lost", err)
	}
	sameFiles(t, left, contents(t, run.Checkpoints))
}
