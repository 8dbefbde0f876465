package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/engine/device"
	"tagnet/model/learn"
	"tagnet/model/learn/learntest"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/pipelinetest"
	stagegraph "tagnet/stages/encode"
	"tagnet/stages/train"
	"tagnet/stages/worker"
)

// share makes the first card of two wait with each shard until the second one has one too, and lets
// the second one fail.
func share(m learntest.Machine, fail func(operation string) error) {
	begun := make(chan bool, 100)
	m[0].Fail = func(operation string) error {
		if operation != "load" {
			return nil
		}
		select {
		case <-begun:
			return nil
		case <-time.After(time.Minute):
			return errors.New("the second card has no shard")
		}
	}
	m[1].Fail = func(operation string) error {
		if operation == "load" {
			begun <- true
		}
		return fail(operation)
	}
}

// TestRoundsOnCards trains on cards that compute the bits of the CPU, at the same time: the checkpoints are those of
// its workers, which take turns. Trainers are made once an epoch on each card, and closed before each validation and at
// the end. Without --device the CPU trains.
func TestRoundsOnCards(t *testing.T) {
	w, onCPU := ring(t, 40), ring(t, 40)
	pipelinetest.Succeed(t, Pipeline(), byTwo(onCPU, "--workers", "4")...)
	want := pipelinetest.Files(t, filepath.Join(onCPU, "runs/main/checkpoints"))
	for _, cards := range []int{1, 2, 3} {
		m := pipelinetest.UseDevices(t, cards)
		m.Together("step")
		code, _, stderr := pipelinetest.Run(t, Pipeline(), byTwo(w, "--workers", "4", "--device", "cuda:all", "--force")...)
		last := fmt.Sprintf("cuda:%d (imaginary): 4 workers, rounds of 2 steps each", cards-1)
		if code != 0 || !strings.Contains(stderr, "computing on cuda:0 (") || !strings.Contains(stderr, last) {
			t.Fatalf("%d cards: %d, %s", cards, code, stderr)
		}
		got := pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints"))
		pipelinetest.Same(t, got, want)
		made, closed := m.Count("trainer"), m.Count("close trainer")
		if diff := cmp.Diff(made, closed); diff != "" || made[0] != 3 {
			t.Errorf("%d cards: %v trainers are made in 3 epochs, %v closed", cards, made, closed)
		}
		if history := pipelinetest.Read(t, w, "runs/main/training.jsonl"); strings.Count(history, `"kernel":"cuda"`) != 3 {
			t.Errorf("training.jsonl does not say that a device trained: %s", history)
		}
	}
	m := pipelinetest.UseDevices(t, 3)
	pipelinetest.Succeed(t, Pipeline(), byTwo(w, "--force")...)
	if made := m.Count("trainer"); slices.Max(made) > 0 {
		t.Errorf("trainers on cards that were not asked for: %v", made)
	}
}

// TestLostCard loses the second card of two in a training: the error says what to do, the last round is kept, and the
// training continues with the bytes that it would have had.
func TestLostCard(t *testing.T) {
	w, onCPU := ring(t, 40), ring(t, 40)
	flags := func(w string, more ...string) []string {
		return byTwo(w, append(more, "--batch_size", "8")...)
	}
	pipelinetest.Succeed(t, Pipeline(), flags(onCPU)...)
	m := pipelinetest.UseDevices(t, 2)
	steps := 0
	share(m, func(operation string) error {
		if operation == "step" {
			steps++
		}
		if steps > 4 && operation != "close" {
			return fmt.Errorf("imaginary:1: %w", device.ErrLost)
		}
		return nil
	})
	code, _, stderr := pipelinetest.Run(t, Pipeline(), flags(w, "--device", "cuda:all")...)
	remedy := "imaginary:1: the device was lost; continue with --resume, or on the CPU with --resume --device cpu; the last checkpoint, step-00000004, is kept"
	if last := lastLine(stderr); code != 1 || !strings.Contains(last, remedy) {
		t.Errorf("%d, %s, want a line with %q", code, stderr, remedy)
	}
	if made, closed := m.Count("trainer"), m.Count("close"); made[1] != 1 || closed[0] != 0 || closed[1] != 1 {
		t.Errorf("%v trainers were made and %v cards closed, want that the lost card is closed", made, closed)
	}
	pipelinetest.UseDevices(t, 2)
	code, _, stderr = pipelinetest.Run(t, Pipeline(), flags(w, "--device", "cuda:all", "--resume")...)
	if code != 0 || !strings.Contains(stderr, "resuming from step-00000004") {
		t.Errorf("%d, %s", code, stderr)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints")), pipelinetest.Files(t, filepath.Join(onCPU, "runs/main/checkpoints")))
}

// TestARoundIsRepeatedWithoutALostCard runs the job of an epoch in which a card is lost, and runs it again in the same
// process, as Flink does. The lost card is not taken again where there is another; the only one is opened again.
func TestARoundIsRepeatedWithoutALostCard(t *testing.T) {
	for _, cards := range []int{1, 2} {
		m := pipelinetest.UseDevices(t, cards)
		params := func(name string) train.Params {
			w := ring(t, 40)
			c := configuration.Default()
			c.Layers, c.Dim, c.Epochs, c.Negatives = 2, 8, 1, 4
			return train.Params{Graph: filepath.Join(w, "graph"), Together: 2, Run: learn.Run{
				Checkpoints: filepath.Join(w, name), History: filepath.Join(w, name+".jsonl"), Configuration: c, Seed: 1, Kernel: "portable", Every: time.Hour,
				Rounds: configuration.Rounds{Workers: 2, LocalSteps: 2}, Device: device.Choice{Mode: device.CUDA, All: true},
			}}
		}
		run := func(p train.Params) error {
			worker.Start()
			at, err := train.Open(t.Context(), p, true)
			if err != nil {
				t.Fatal(err)
			}
			tasks := learn.Tasks(p.Run, facts(t, p), at, 10)
			err = pipelinetest.Environment().RunBeam(t.Context(), BuildRounds(p, tasks))
			worker.Stop()
			return err
		}
		whole := params("whole")
		if err := run(whole); err != nil {
			t.Fatal(err)
		}
		broken, last := params("broken"), m[cards-1]
		last.Operations = nil
		last.Fail = func(operation string) error {
			if operation == "load" && !slices.Contains(last.Operations, "close") {
				return fmt.Errorf("imaginary:%d: %w", cards-1, device.ErrLost)
			}
			return nil
		}
		if cards == 2 {
			share(m, last.Fail)
		}
		if err := run(broken); err == nil || !strings.Contains(err.Error(), device.ErrLost.Error()) {
			t.Fatalf("%d cards: error %v, want that one was lost", cards, err)
		}
		m[0].Fail = nil
		if err := run(broken); err != nil {
			t.Fatalf("%d cards, again: %v", cards, err)
		}
		if again := m.Count("trainer")[cards-1] > 1; again != (cards == 1) {
			t.Errorf("the lost one of %d cards: %q", cards, last.Operations)
		}
		if err := train.Forget(); err != nil {
			t.Error(err)
		}
		pipelinetest.Same(t, pipelinetest.Files(t, broken.Run.Checkpoints), pipelinetest.Files(t, whole.Run.Checkpoints))
	}
}

// facts returns what the batches of the training facts are made by.
func facts(t *testing.T, p train.Params) steps.Keys {
	t.Helper()
	loaded, err := stagegraph.Load(t.Context(), p.Graph)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := loaded.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return steps.KeysOf(facts, p.Run.Configuration)
}

// TestMemoryOfCards expects that the budget counts a trainer for each card that workers train on at the same time.
func TestMemoryOfCards(t *testing.T) {
	w := ring(t, 40)
	least := func(cards int, more ...string) (mib int) {
		t.Helper()
		pipelinetest.UseDevices(t, cards)
		line := pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 2, Begin: "--memory 10 is too small"},
			byTwo(w, append(more, "--memory", "10", "--dim", "64")...)...)
		_, rest, _ := strings.Cut(line, "takes at least ")
		if _, err := fmt.Sscanf(rest, "%d MiB", &mib); err != nil {
			t.Fatal(err)
		}
		return mib
	}
	one := least(3, "--device", "cuda")
	if got := least(1, "--device", "cuda:all"); got != one {
		t.Errorf("%d MiB for the only card, %d for the first", got, one)
	}
	two := least(2, "--device", "cuda:all")
	if two <= one {
		t.Errorf("%d MiB for two cards, %d for one", two, one)
	}
	if got := least(3, "--device", "cuda:all"); got != two {
		t.Errorf("%d MiB for two workers on three cards, %d on two", got, two)
	}
}

// TestNoCard asks for what the machine does not have: nothing is written.
func TestNoCard(t *testing.T) {
	w := ring(t, 40)
	for device, says := range map[string]string{
		"cuda":     "--device cuda: no CUDA driver; install NVIDIA's driver or use --device cpu",
		"cuda:all": "--device cuda:all: no CUDA driver; install NVIDIA's driver or use --device cpu",
	} {
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 1, Begin: says}, byTwo(w, "--device", device)...)
	}
	pipelinetest.UseDevices(t, 2)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 1,
		Begin: "--device cuda:2: opening CUDA device 2: no CUDA device: out of range; use --device cuda:0"}, byTwo(w, "--device", "cuda:2")...)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 1, Begin: "--device cuda:all: ", Says: []string{"policy astar"}},
		byTwo(w, "--device", "cuda:all", "--policy", "astar")...)
	if _, err := os.Stat(filepath.Join(w, "runs")); !os.IsNotExist(err) {
		t.Errorf("the mistakes left a run: %v", err)
	}
}
