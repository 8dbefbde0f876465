package model_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
	"tagnet/model/accelerator"
	"tagnet/model/engine/kernel"
	"tagnet/model/gpu"
	"tagnet/model/gpu/cuda"
	"tagnet/model/learn/learntest"
	"tagnet/model/weights/configuration"
)

// cards are the devices of the tests' machine, which compute on the CPU.
var cards = func() learntest.Machine {
	k, err := kernel.Named("")
	if err != nil {
		panic(err)
	}
	return learntest.NewMachine(2, k)
}()

func init() { accelerator.Register(cards) }

// A program that scores on GPUs registers them when it starts, here those of NVIDIA's driver. Without a GPU that the
// driver finds, "cuda" is an error and "auto" the CPU.
func ExampleWithDevice() {
	accelerator.Register(gpu.Driver(cuda.Open)) // imports tagnet/model/accelerator, tagnet/model/gpu and tagnet/model/gpu/cuda
	m, err := model.Open(context.Background(), "./workspace", model.WithDevice("cuda"))
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	fmt.Println(m.Device())
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

// TestDeviceAnswersAsTheCPU compares all that a model answers, and checks that a device computes it.
func TestDeviceAnswersAsTheCPU(t *testing.T) {
	for _, choice := range []string{"cuda:all", "auto"} {
		cpu, card := onBoth(t, choice)
		if cpu.Device() != "" || !strings.HasPrefix(card.Device(), "computing on cuda:0 (imaginary)") {
			t.Errorf("%q and %q", cpu.Device(), card.Device())
		}
		queries := everyQuery(cpu)[:6]
		for _, test := range []struct {
			what  string
			onCPU bool
			ask   func(m *model.Model) (any, error)
		}{
			{"answers", false, func(m *model.Model) (any, error) { return m.AskAll(t.Context(), queries, 5, model.WithKnown()) }},
			{"answers of some", false, func(m *model.Model) (any, error) {
				return m.Ask(t.Context(), queries[3], 5, model.Among([]string{"person 02", "person 03", "person 04"}))
			}},
			{"triples", false, func(m *model.Model) (any, error) { return m.Score(t.Context(), family()[:4]) }},
			{"relations", false, func(m *model.Model) (any, error) { return m.Between(t.Context(), "person 03", "person 05", 2) }},
			{"paths", true, func(m *model.Model) (any, error) {
				return m.Explain(t.Context(), model.Query{Source: "person 05", Relation: "grandparent_of"}, "person 07", 3)
			}},
			{"a fit", false, func(m *model.Model) (any, error) { return nil, m.Fit(t.Context(), nil) }},
			{"probabilities", false, func(m *model.Model) (any, error) {
				return m.Ask(t.Context(), model.Query{Source: "person 05", Relation: "grandparent_of"}, 5)
			}},
		} {
			want, err := test.ask(cpu)
			before := scored()
			got, onDevice := test.ask(card)
			if diff := cmp.Diff(want, got); diff != "" || errors.Join(err, onDevice) != nil {
				t.Errorf("%s, %s: %v, %v (-CPU +device):\n%s", choice, test.what, err, onDevice, diff)
			}
			if onCPU := scored() == before; onCPU != test.onCPU {
				t.Errorf("%s, %s: computed on the CPU: %t", choice, test.what, onCPU)
			}
		}
	}
}

// scored counts the scorings of all cards.
func scored() (n int) {
	for _, of := range cards.Count("score") {
		n += of
	}
	return n
}

// TestDeviceIsShared asks two models on one device at the same time: it is opened once, and has its memory back when
// they are closed.
func TestDeviceIsShared(t *testing.T) {
	before := cards[0].Count("open")
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
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-CPU +device):\n%s", err, diff)
			}
		})
	}
	wait.Wait()
	if err := errors.Join(card.Close(), other.Close()); err != nil {
		t.Error(err)
	}
	if opened := cards[0].Count("open") - before; opened > 1 || cards[0].Count("scorer") != cards[0].Count("close scorer") {
		t.Errorf("opened %d times: %q", opened, cards[0].Operations)
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
	if _, err := model.Train(t.Context(), model.Facts{Train: family()}, c, 1, nil, model.WithDevice("cuda")); err == nil ||
		!strings.Contains(err.Error(), "policy astar runs on the CPU alone") {
		t.Errorf("A*Net: %v", err)
	}
}
