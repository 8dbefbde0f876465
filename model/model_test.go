package model_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
)

var trainedOnce = sync.OnceValues(func() (*model.Model, error) { return train(context.Background()) })

// trained returns the model of the family, which tests share.
func trained(t *testing.T) *model.Model {
	t.Helper()
	m, err := trainedOnce()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// saved saves the model of the family and returns the folder.
func saved(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "checkpoints")
	if err := trained(t).Save(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

// everyQuery returns all queries of the model, sources interleaved, one of them twice.
func everyQuery(m *model.Model) (queries []model.Query) {
	for _, relation := range m.Relations() {
		for _, source := range m.Entities() {
			queries = append(queries, model.Query{Source: source, Relation: relation}, model.Query{Source: source, Relation: relation, Inverse: true})
		}
	}
	return append(queries, queries[0])
}

func TestAskAllEqualsAsk(t *testing.T) {
	t.Parallel()
	folder := saved(t)
	queries := everyQuery(trained(t))
	var want []model.Answers
	for _, q := range queries {
		answers, err := trained(t).Ask(t.Context(), q, 5)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, answers)
	}
	for _, workers := range []int{1, 3, 16} {
		m, err := model.LoadFacts(t.Context(), model.Facts{Train: family()}, filepath.Join(folder, "epoch-030.safetensors"), model.WithWorkers(workers))
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.AskAll(t.Context(), queries, 5)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d workers (-want +got):\n%s", workers, diff)
		}
	}
}

func TestAskConcurrently(t *testing.T) {
	t.Parallel()
	m := trained(t)
	queries := everyQuery(m)[:8]
	want, err := m.AskAll(t.Context(), queries, 3)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i, q := range queries {
				got, err := m.Ask(t.Context(), q, 3)
				if diff := cmp.Diff(want[i], got); diff != "" || err != nil {
					t.Errorf("query %d: %v (-want +got):\n%s", i+1, err, diff)
				}
			}
		})
	}
	wait.Wait()
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	m := trained(t)
	answers, err := m.Ask(t.Context(), model.Query{Source: "person 03", Relation: "grandparent_of"}, 100, model.WithKnown())
	if err != nil {
		t.Fatal(err)
	}
	list := answers.List
	if len(list) != len(m.Entities())-1 || answers.Unlisted != 0 {
		t.Fatalf("%d answers and %d unlisted, want all %d entities but the source", len(list), answers.Unlisted, len(m.Entities()))
	}
	for i, a := range list {
		var number int
		if _, err := fmt.Sscanf(a.Entity, "person %d", &number); err != nil {
			t.Fatal(err)
		}
		if known := a.Entity == "person 05"; a.Known != known {
			t.Errorf("%s is known: %v", a.Entity, a.Known)
		}
		if number == 3 || number == 4 && a.Hops != 1 || number == 20 && a.Hops != model.Unreached {
			t.Errorf("%s is %d hops away", a.Entity, a.Hops)
		}
		if i > 0 && a.Score > list[i-1].Score {
			t.Errorf("answer %d is %+v after %+v", i+1, a, list[i-1])
		}
	}
}

func TestInverseIsTilde(t *testing.T) {
	t.Parallel()
	m := trained(t)
	answers, err := m.AskAll(t.Context(), []model.Query{
		{Source: "person 03", Relation: "~parent_of"}, {Source: "person 03", Relation: "parent_of", Inverse: true},
		{Source: "person 03", Relation: "parent_of"},
	}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
		t.Errorf("~parent_of and Inverse differ:\n%s", diff)
	}
	if cmp.Equal(answers[0], answers[2]) {
		t.Error("a relation and its inverse have the same answers")
	}
}

func TestAskRefuses(t *testing.T) {
	t.Parallel()
	m := trained(t)
	_, err := m.AskAll(t.Context(), []model.Query{{Source: "person 01", Relation: "parent_of"}, {Source: "person 01", Relation: "parent"}}, 1)
	var unknown *model.UnknownNameError
	if !errors.As(err, &unknown) || unknown.Kind != "relation" || unknown.Name != "parent" || unknown.Closest[0] != "parent_of" ||
		!strings.HasPrefix(err.Error(), "query 2: ") {
		t.Errorf("unknown relation: %v", err)
	}
	if _, err := m.Ask(t.Context(), model.Query{Source: "person 01", Relation: "parent_of"}, 0); err == nil {
		t.Error("no error for 0 answers")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Ask(ctx, model.Query{Source: "person 01", Relation: "parent_of"}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	folder := saved(t)
	load := func(facts []model.Triple, path string) error {
		_, err := model.LoadFacts(t.Context(), model.Facts{Train: facts}, path)
		return err
	}
	if err := load(family(), filepath.Join(folder, "best")); err != nil {
		t.Fatal(err)
	}
	if err := load(family(), filepath.Join(folder, "epoch-099")); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("a checkpoint that does not exist: %v", err)
	}
	friends := []model.Triple{{Head: "person 31", Relation: "friend_of", Tail: "person 07"}}
	if err := load(friends, filepath.Join(folder, "best")); !errors.Is(err, model.ErrMismatch) || !strings.Contains(err.Error(), `"friend_of"`) {
		t.Errorf("no relation that the model knows: %v", err)
	}
	if err := load(append(family(), friends...), filepath.Join(folder, "best")); err != nil {
		t.Errorf("a relation that the model lacks: %v", err)
	}
	weights := filepath.Join(folder, "epoch-030.safetensors")
	data, err := os.ReadFile(weights)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(weights, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := load(family(), filepath.Join(folder, "best")); !errors.Is(err, model.ErrDamaged) || !strings.Contains(err.Error(), weights) {
		t.Errorf("damaged weights: %v", err)
	}
	if _, err := model.Load(t.Context(), model.Files{Train: filepath.Join(folder, "facts.txt")}, weights); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("facts that do not exist: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	workspace := t.TempDir()
	if _, err := model.Open(t.Context(), workspace); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("an empty workspace: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(workspace, "graph"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(workspace, "graph", "entities.arrow"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := model.Open(t.Context(), workspace); !errors.Is(err, model.ErrNotComplete) || !strings.Contains(err.Error(), workspace) {
		t.Errorf("a graph without a manifest: %v", err)
	}
	if _, err := model.Open(t.Context(), workspace, model.WithWorkers(0)); err == nil {
		t.Error("no error for 0 workers")
	}
}

func TestWithReach(t *testing.T) {
	t.Parallel()
	for _, reach := range []int{0, 3} {
		m, err := model.LoadFacts(t.Context(), model.Facts{Train: family()}, filepath.Join(saved(t), "best"), model.WithReach(reach))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Configuration().Reach; got != reach {
			t.Errorf("the model has reach %d, want %d", got, reach)
		}
	}
}

func TestSaveRefusesLoadedModels(t *testing.T) {
	t.Parallel()
	m, err := model.LoadFacts(t.Context(), model.Facts{Train: family()}, filepath.Join(saved(t), "best"))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Save(t.Context(), t.TempDir()); err == nil {
		t.Error("no error")
	}
}

func TestTrainIsDeterministicAndStops(t *testing.T) {
	t.Parallel()
	c := trained(t).Configuration()
	c.Epochs = 2
	losses := func(workers int) (losses []float64) {
		_, err := model.Train(t.Context(), model.Facts{Train: family()}, c, 7, func(e model.Epoch) { losses = append(losses, e.Loss) },
			model.WithWorkers(workers))
		if err != nil {
			t.Fatal(err)
		}
		return losses
	}
	want := losses(1)
	if diff := cmp.Diff(want, losses(3)); diff != "" || len(want) != 2 || !(want[1] < want[0]) {
		t.Errorf("losses %v; with 3 workers:\n%s", want, diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := model.Train(ctx, model.Facts{Train: family()}, c, 7, func(model.Epoch) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled after an epoch: %v", err)
	}
	hub := family() // with a person who knows everyone, whose queries have no negatives
	for _, entity := range trained(t).Entities() {
		hub = append(hub, model.Triple{Head: "person 00", Relation: "knows", Tail: entity})
	}
	c.StrictNegatives = true
	if _, err := model.Train(t.Context(), model.Facts{Train: hub}, c, 7, nil); err != nil {
		t.Errorf("queries without negatives: %v", err)
	}
	if _, err := model.Train(t.Context(), model.Facts{}, c, 7, nil); err == nil {
		t.Error("no error without facts")
	}
}

// TestNewAndKnown compares new answers with all answers, of which they are those that are not known.
func TestNewAndKnown(t *testing.T) {
	t.Parallel()
	m := trained(t)
	queries := everyQuery(m)
	all, err := m.AskAll(t.Context(), queries, len(m.Entities()), model.WithKnown())
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.AskAll(t.Context(), queries, len(m.Entities()))
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range queries {
		want := slices.DeleteFunc(slices.Clone(all[i].List), func(a model.Answer) bool { return a.Known })
		if diff := cmp.Diff(want, got[i].List); diff != "" {
			t.Errorf("new answers to %+v (-all +new):\n%s", q, diff)
		}
	}
	if types, err := m.Types(t.Context()); err != nil || len(types) > 0 {
		t.Errorf("types %q, %v of a model without any", types, err)
	}
	if _, err := m.Ask(t.Context(), queries[0], 1, model.OfType("person")); !errors.Is(err, model.ErrNoTypes) {
		t.Errorf("a type of a model without any: %v", err)
	}
}
