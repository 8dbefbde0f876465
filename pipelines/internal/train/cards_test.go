package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/accelerator"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/learn"
	"tagnet/model/learn/learntest"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/pipelinetest"
	stagegraph "tagnet/stages/encode"
	"tagnet/stages/train"
	"tagnet/stages/worker"
)

// byThree returns the flags of a training by three workers in two rounds.
func byThree(workspace string, more ...string) []string {
	return small(workspace, append([]string{"--workers", "3", "--local_steps", "1", "--epochs", "1", "--queries_per_epoch", "12", "--batch_size", "2", "--layers", "2", "--valid_limit", "2"}, more...)...)
}

// card is an interpreter. Its first launch waits until all cards of its machine launch something.
type card struct {
	device.Device
	all  *sync.WaitGroup
	once sync.Once
}

func (c *card) Launch(k device.Kernel, blocks, threads int, arguments ...any) error {
	var err error
	c.once.Do(func() {
		c.all.Done()
		together := make(chan struct{})
		go func() {
			c.all.Wait()
			close(together)
		}()
		select {
		case <-together:
		case <-time.After(time.Minute):
			err = errors.New("the other cards do nothing")
		}
	})
	return errors.Join(err, c.Device.Launch(k, blocks, threads, arguments...))
}

// useCards makes so many cards those of the machine.
func useCards(t *testing.T, number int) {
	var all sync.WaitGroup
	all.Add(number)
	pipelinetest.UseDriver(t, func(ordinal int) (device.Device, error) {
		if ordinal >= number {
			return nil, fmt.Errorf("opening CUDA device %d: %w", ordinal, device.ErrRange)
		}
		return &card{Device: interpreter.New(), all: &all}, nil
	})
}

// TestRoundsOnCards trains by three workers on one card and on three, which compute at the same time: the weights have the same
// bytes. They are others than those of the CPU, which rounds otherwise.
func TestRoundsOnCards(t *testing.T) {
	w := ring(t, 6) // too few facts for probabilities, which would take most of the time
	folder := filepath.Join(w, "runs/main/checkpoints")
	pipelinetest.Interpret(t)
	code, _, stderr := pipelinetest.Run(t, Pipeline(), byThree(w, "--device", "cuda")...)
	if code != 0 || !strings.Contains(stderr, "computing on cuda:0 (") || !strings.Contains(stderr, "): 3 workers, rounds of 1 steps each") {
		t.Fatalf("%d, %s", code, stderr)
	}
	want := pipelinetest.Files(t, folder)
	if history := pipelinetest.Read(t, w, "runs/main/training.jsonl"); strings.Count(history, `"kernel":"cuda"`) != 1 {
		t.Errorf("training.jsonl does not say that a device trained: %s", history)
	}
	useCards(t, 3)
	code, _, stderr = pipelinetest.Run(t, Pipeline(), byThree(w, "--device", "cuda:all", "--force")...)
	if code != 0 || !strings.Contains(stderr, "cuda:2 (") {
		t.Fatalf("3 cards: %d, %s", code, stderr)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, folder), want)
	pipelinetest.Succeed(t, Pipeline(), byThree(w, "--force")...) // auto
	if onCPU := pipelinetest.Files(t, folder); onCPU["epoch-001.safetensors"] == want["epoch-001.safetensors"] {
		t.Error("the CPU has the bytes of a card")
	}
}

// machine is an imaginary machine, with what happens on each of its cards.
type machine []*learntest.Devices

// useMachine makes an imaginary machine with so many cards this one until the test ends.
func useMachine(t *testing.T, cards int) machine {
	k, err := kernel.Named("portable")
	if err != nil {
		t.Fatal(err)
	}
	var m machine
	for range cards {
		m = append(m, &learntest.Devices{Kernel: k})
	}
	before := accelerator.Process
	t.Cleanup(func() { accelerator.Process = before })
	accelerator.Process = m
	return m
}

func (m machine) Supports(configuration.Configuration) error { return nil }

func (m machine) Open(ordinal int) (accelerator.Accelerator, error) {
	if ordinal >= len(m) {
		return nil, fmt.Errorf("imaginary:%d: %w", ordinal, device.ErrRange)
	}
	return m[ordinal].Open(ordinal)
}

// count counts what happened on each card.
func (m machine) count(operation string) (counts []int) {
	for _, card := range m {
		n := 0
		for _, o := range card.Operations {
			if o == operation {
				n++
			}
		}
		counts = append(counts, n)
	}
	return counts
}

// share makes the first card of two wait with each shard until the second one has one too, and lets the second one fail.
func (m machine) share(fail func(operation string) error) {
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

// TestRoundsOnImaginaryCards trains on cards that compute the bits of the CPU: the checkpoints are those of its workers, which take
// turns. Trainers are made once an epoch on each card, and closed before each validation and at the end.
func TestRoundsOnImaginaryCards(t *testing.T) {
	w, onCPU := ring(t, 40), ring(t, 40)
	pipelinetest.Succeed(t, Pipeline(), byTwo(onCPU, "--kernel", "portable", "--workers", "4")...)
	want := pipelinetest.Files(t, filepath.Join(onCPU, "runs/main/checkpoints"))
	for _, cards := range []int{1, 2, 3} {
		m := useMachine(t, cards)
		code, _, stderr := pipelinetest.Run(t, Pipeline(), byTwo(w, "--kernel", "portable", "--workers", "4", "--device", "cuda:all", "--force")...)
		if code != 0 {
			t.Fatalf("%d cards: %d, %s", cards, code, stderr)
		}
		got := pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints"))
		pipelinetest.Same(t, got, want)
		made, closed := m.count("trainer"), m.count("close trainer")
		if diff := cmp.Diff(made, closed); diff != "" || made[0] != 3 {
			t.Errorf("%d cards: %v trainers are made in 3 epochs, %v closed", cards, made, closed)
		}
	}
}

// TestLostCard loses the second card of two in a training: the error says what to do, the last round is kept, and the training continues with
// the bytes that it would have had.
func TestLostCard(t *testing.T) {
	w, onCPU := ring(t, 40), ring(t, 40)
	flags := func(w string, more ...string) []string {
		return byTwo(w, append(more, "--kernel", "portable", "--batch_size", "8")...)
	}
	pipelinetest.Succeed(t, Pipeline(), flags(onCPU)...)
	m := useMachine(t, 2)
	steps := 0
	m.share(func(operation string) error {
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
	if made, closed := m.count("trainer"), m.count("close"); made[1] != 1 || closed[0] != 0 || closed[1] != 1 {
		t.Errorf("%v trainers were made and %v cards closed, want that the lost card is closed", made, closed)
	}
	useMachine(t, 2)
	code, _, stderr = pipelinetest.Run(t, Pipeline(), flags(w, "--device", "cuda:all", "--resume")...)
	if code != 0 || !strings.Contains(stderr, "resuming from step-00000004") {
		t.Errorf("%d, %s", code, stderr)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints")), pipelinetest.Files(t, filepath.Join(onCPU, "runs/main/checkpoints")))
}

// TestARoundIsRepeatedWithoutALostCard runs the job of an epoch in which a card is lost, and runs it again in the same process, as Flink
// does. The lost card is not taken again where there is another; the only one is opened again.
func TestARoundIsRepeatedWithoutALostCard(t *testing.T) {
	for _, cards := range []int{1, 2} {
		m := useMachine(t, cards)
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
			m.share(last.Fail)
		}
		if err := run(broken); err == nil || !strings.Contains(err.Error(), device.ErrLost.Error()) {
			t.Fatalf("%d cards: error %v, want that one was lost", cards, err)
		}
		m[0].Fail = nil
		if err := run(broken); err != nil {
			t.Fatalf("%d cards, again: %v", cards, err)
		}
		if again := m.count("trainer")[cards-1] > 1; again != (cards == 1) {
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
		useMachine(t, cards)
		line := pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 2, Begin: "--memory 10 is too small"}, byTwo(w, append(more, "--memory", "10", "--dim", "64")...)...)
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
		"cuda": "--device cuda: no CUDA driver; install NVIDIA's driver or use --device cpu", "cuda:all": "--device cuda:all: no CUDA driver; install NVIDIA's driver or use --device cpu",
	} {
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 1, Begin: says}, byTwo(w, "--device", device)...)
	}
	pipelinetest.InterpretAs(t, 2)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 1, Begin: "--device cuda:2: opening CUDA device 2: no CUDA device: out of range; use --device cuda:0"}, byTwo(w, "--device", "cuda:2")...)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 1, Begin: "--device cuda:all: ", Says: []string{"policy astar"}}, byTwo(w, "--device", "cuda:all", "--policy", "astar")...)
	if _, err := os.Stat(filepath.Join(w, "runs")); !os.IsNotExist(err) {
		t.Errorf("the mistakes left a run: %v", err)
	}
}
