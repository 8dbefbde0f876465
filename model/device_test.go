package model_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/remedy"
	"tagnet/model"
	"tagnet/model/accelerator"
	"tagnet/model/engine/device"
	"tagnet/model/gpu"
	"tagnet/model/gpu/cuda"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/weights/configuration"
)

// cards are the devices of the tests' machine: two, of which the interpreter of PTX takes the place.
var cards = gpu.Driver(func(ordinal int) (device.Device, error) {
	if ordinal > 1 {
		return nil, remedy.Errorf("use --device cuda:0", "opening CUDA device %d: %w", ordinal, device.ErrRange)
	}
	return interpreter.New(), nil
})

func init() { accelerator.Register(cards) }

// A program that scores on GPUs registers them when it starts, here those of NVIDIA's driver. Without a GPU that the driver finds, "cuda"
// is an error and "auto" the CPU.
func ExampleWithDevice() {
	accelerator.Register(gpu.Driver(cuda.Open)) // imports tagnet/model/accelerator, tagnet/model/gpu and tagnet/model/gpu/cuda
	m, err := model.Open(context.Background(), "./workspace", model.WithDevice("cuda"))
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	fmt.Println(m.Device())
}

// near compares scores and probabilities, of which a device adds the terms in another order.
var near = cmp.Options{
	cmp.Comparer(func(x, y float32) bool { return math.Abs(float64(x-y)) <= 1e-4*max(1, math.Abs(float64(y))) }),
	cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) <= 1e-4 }),
}

// onBoth opens the saved model of the family with validation facts twice: on the CPU and on a device.
func onBoth(t *testing.T, choice string) (cpu, card *model.Model) {
	t.Helper()
	path := filepath.Join(saved(t), "best")
	facts := model.Facts{Train: family(), Valid: []model.Triple{
		{Head: "person 05", Relation: "grandparent_of", Tail: "person 07"}, {Head: "person 10", Relation: "grandparent_of", Tail: "person 12"},
	}}
	var models [2]*model.Model
	for i, device := range []string{"cpu", choice} {
		var err error
		if models[i], err = model.LoadFacts(t.Context(), facts, path, model.WithDevice(device)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { models[i].Close() })
	}
	return models[0], models[1]
}

// TestDeviceAnswersAsTheCPU compares all that a model answers.
func TestDeviceAnswersAsTheCPU(t *testing.T) {
	t.Parallel()
	for _, choice := range []string{"cuda:all", "auto"} {
		t.Run(choice, func(t *testing.T) {
			t.Parallel()
			cpu, card := onBoth(t, choice)
			if cpu.Device() != "" || !strings.HasPrefix(card.Device(), "computing on cuda:") {
				t.Errorf("%q and %q", cpu.Device(), card.Device())
			}
			compareModels(t, cpu, card)
			if choice == "auto" {
				return // probabilities take the interpreter most of the time
			}
			compare(t, "probabilities", cpu, card, func(m *model.Model) (any, error) {
				if err := m.Fit(t.Context(), nil); err != nil {
					return nil, err
				}
				return m.Ask(t.Context(), model.Query{Source: "person 05", Relation: "grandparent_of"}, 5)
			})
		})
	}
}

// compare asks two models the same.
func compare(t *testing.T, what string, cpu, card *model.Model, ask func(m *model.Model) (any, error)) {
	t.Helper()
	want, err := ask(cpu)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ask(card)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("%s (-CPU +device):\n%s", what, diff)
	}
}

func compareModels(t *testing.T, cpu, card *model.Model) {
	t.Helper()
	compare := func(what string, ask func(m *model.Model) (any, error)) { compare(t, what, cpu, card, ask) }
	queries := everyQuery(cpu)[:6]
	compare("answers", func(m *model.Model) (any, error) { return m.AskAll(t.Context(), queries, 5, model.WithKnown()) })
	compare("answers of some", func(m *model.Model) (any, error) {
		return m.Ask(t.Context(), queries[3], 5, model.Among([]string{"person 02", "person 03", "person 04"}))
	})
	compare("triples", func(m *model.Model) (any, error) { return m.Score(t.Context(), family()[:4]) })
	compare("relations", func(m *model.Model) (any, error) { return m.Between(t.Context(), "person 03", "person 05", 2) })
	compare("paths", func(m *model.Model) (any, error) {
		return m.Explain(t.Context(), model.Query{Source: "person 05", Relation: "grandparent_of"}, "person 07", 3)
	})
}

// TestDeviceTakesTurns asks two models on one device at the same time.
func TestDeviceTakesTurns(t *testing.T) {
	t.Parallel()
	cpu, card := onBoth(t, "cuda")
	_, other := onBoth(t, "cuda")
	queries := everyQuery(cpu)[:2]
	want, err := cpu.AskAll(t.Context(), queries, 3)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			got, err := []*model.Model{card, other}[i%2].AskAll(t.Context(), queries, 3)
			if diff := cmp.Diff(want, got, near); diff != "" || err != nil {
				t.Errorf("%v (-CPU +device):\n%s", err, diff)
			}
		})
	}
	wait.Wait()
	if err := errors.Join(card.Close(), other.Close()); err != nil {
		t.Error(err)
	}
}

// TestDeviceOfNoUse opens a model on what cannot be used.
func TestDeviceOfNoUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(saved(t), "best")
	for choice, want := range map[string]string{
		"cuda:2": "opening CUDA device 2: no CUDA device: out of range; use --device cuda:0",
		"gpu":    `device "gpu": want auto, cpu, cuda, cuda:n, the number of a device from 0, or cuda:all`,
	} {
		_, err := model.LoadFacts(t.Context(), model.Facts{Train: family()}, path, model.WithDevice(choice))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", choice, err, want)
		}
	}
	c := configuration.Default()
	c.Policy, c.Layers, c.Dim, c.Epochs = configuration.PolicyAStar, 2, 8, 1
	if _, err := model.Train(t.Context(), model.Facts{Train: family()}, c, 1, nil, model.WithDevice("cuda")); err == nil || !strings.Contains(err.Error(), "policy astar runs on the CPU alone") {
		t.Errorf("A*Net: %v", err)
	}
}
