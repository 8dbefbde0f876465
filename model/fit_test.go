package model_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage/lock"
	"tagnet/model"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph/kg"
	"tagnet/model/pretrained"
	"tagnet/model/weights/checkpoint"
)

// inWorkspace returns the model zero over the family, whose probabilities a folder keeps.
func inWorkspace(t *testing.T, workspace string, facts []model.Triple) (*model.Model, error) {
	t.Helper()
	return presuming(t, workspace, facts, answer.Missing{Share: probability.DefaultMissing})
}

// presuming returns that model with what its probabilities presume.
func presuming(t *testing.T, workspace string, facts []model.Triple, missing answer.Missing) (*model.Model, error) {
	t.Helper()
	graph, err := kg.New(facts, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	variant, err := kernel.Named("")
	if err != nil {
		t.Fatal(err)
	}
	opened, err := answer.Open(t.Context(), graph, pretrained.Ref{Name: "zero"}, answer.Resources{Kernel: variant, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if opened, err = opened.OverAllFacts(t.Context()); err != nil {
		t.Fatal(err)
	}
	return model.Named(t.Context(), opened, workspace, missing)
}

// TestFitKeepsProbabilities fits probabilities once for a workspace.
func TestFitKeepsProbabilities(t *testing.T) {
	t.Parallel()
	workspace := t.TempDir()
	folder := filepath.Join(workspace, answer.ProbabilitiesFolder)
	ask := func(m *model.Model, err error) []model.Answers {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		answers, err := m.AskAll(t.Context(), everyQuery(m), 3)
		if err != nil {
			t.Fatal(err)
		}
		return answers
	}
	first, err := inWorkspace(t, workspace, family())
	for _, a := range ask(first, err)[0].List {
		if a.Probability != nil {
			t.Errorf("before they are fitted, %+v has a probability", a)
		}
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("opening and asking write")
	}
	if err := first.Fit(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, error %v, want one file", files, err)
	}
	second, err := inWorkspace(t, workspace, family())
	if diff := cmp.Diff(ask(first, nil), ask(second, err)); diff != "" {
		t.Errorf("answers (-fitted +read):\n%s", diff)
	}
	if err := second.Fit(t.Context(), func(int64, int64) { t.Error("fitted again") }); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(folder, files[0].Name()), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	third, err := inWorkspace(t, workspace, family())
	if err != nil {
		t.Fatal(err)
	}
	damaged := new(checkpoint.DamagedError)
	if err := third.Fit(t.Context(), nil); !errors.As(err, &damaged) || !strings.Contains(err.Error(), files[0].Name()+" is damaged") ||
		!strings.HasSuffix(err.Error(), "; remove this file, and it is made again") {
		t.Errorf("a damaged file: %v", err)
	}
}

// TestFitKeepsNothing has probabilities, and no error, where a file or a link stands in the place of their folder.
func TestFitKeepsNothing(t *testing.T) {
	t.Parallel()
	workspace, elsewhere := t.TempDir(), t.TempDir()
	folder := filepath.Join(workspace, answer.ProbabilitiesFolder)
	for what, put := range map[string]func() error{
		"file": func() error { return os.WriteFile(folder, nil, 0o644) }, "link": func() error { return os.Symlink(elsewhere, folder) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		m, err := inWorkspace(t, workspace, family())
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Fit(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, fitted := m.Presumed(); !fitted {
			t.Errorf("%s: there are no probabilities", what)
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
	}
	if files, err := os.ReadDir(elsewhere); len(files) > 0 || err != nil {
		t.Errorf("behind the link there are %v, %v", files, err)
	}
}

// TestFitBesideAnotherProcess leaves the file to a process that holds the lock, and has the same probabilities.
func TestFitBesideAnotherProcess(t *testing.T) {
	t.Parallel()
	workspace := t.TempDir()
	fit := func() {
		m, err := inWorkspace(t, workspace, family())
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Fit(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if _, fitted := m.Presumed(); !fitted {
			t.Error("there are no probabilities")
		}
	}
	fit()
	files, err := filepath.Glob(filepath.Join(workspace, answer.ProbabilitiesFolder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, error %v, want one file", files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	held, err := lock.Acquire(t.Context(), strings.TrimSuffix(files[0], ".json"), "another", false)
	if err != nil {
		t.Fatal(err)
	}
	fit()
	if _, err := os.Stat(files[0]); err == nil {
		t.Error("it wrote the file of a fit that another process has locked")
	}
	if err := held.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestTooFewFacts has scores and no probabilities.
func TestTooFewFacts(t *testing.T) {
	t.Parallel()
	m, err := model.LoadFacts(t.Context(), model.Facts{Train: family()[:6]}, "zero")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Fit(t.Context(), nil); !errors.Is(err, model.ErrTooFew) {
		t.Errorf("error %v", err)
	}
	if presumed, fitted := m.Presumed(); fitted {
		t.Error(presumed)
	}
	answers, err := m.Ask(t.Context(), everyQuery(m)[0], 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(answers.List) == 0 || answers.List[0].Probability != nil {
		t.Errorf("%+v", answers)
	}
}

// TestTooFewFactsIsKept keeps that there are no probabilities like probabilities.
func TestTooFewFactsIsKept(t *testing.T) {
	t.Parallel()
	workspace := t.TempDir()
	for range 2 {
		m, err := inWorkspace(t, workspace, family()[:6])
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Fit(t.Context(), nil); !errors.Is(err, model.ErrTooFew) {
			t.Errorf("error %v", err)
		}
		files, err := os.ReadDir(filepath.Join(workspace, answer.ProbabilitiesFolder))
		if err != nil || len(files) != 1 {
			t.Errorf("%v, error %v, want one file", files, err)
		}
	}
}

// TestMissing presumes other numbers of missing facts: of all, and of a relation.
func TestMissing(t *testing.T) {
	t.Parallel()
	best := func(relation string, list ...model.Option) float64 {
		answers, err := fitted(t, list...).Ask(t.Context(), model.Query{Source: "person 10", Relation: relation}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return *answers.List[0].Probability
	}
	of := func(share float64) model.Option { return model.WithMissingOf("grandparent_of", share) }
	few, usual, more := best("grandparent_of", of(.02)), best("grandparent_of"), best("grandparent_of", model.WithMissing(.1))
	if some := best("grandparent_of", of(.3)); !(few < usual && usual < more && more < some) {
		t.Errorf("probability %g where 2%% of the relation are missing, %g where 5%% of all, %g where 10%% of all, %g where 30%%", few, usual, more, some)
	}
	const all, one = "want more than 0 and at most 1", "want a number above 0"
	for option, want := range map[*model.Option]string{
		new(model.WithMissing(0)): all, new(model.WithMissing(-1)): all, new(model.WithMissing(1.1)): all,
		new(of(0)): one, new(of(-1)): one, new(of(math.Inf(1))): one, new(model.WithMissingOf("aunt", 0)): one, new(model.WithMissingOf("aunt", .1)): `"aunt"`,
	} {
		_, err := model.LoadFacts(t.Context(), model.Facts{Train: family()}, "zero", *option)
		if unknown := new(model.UnknownNameError); err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &unknown) != (want[0] == '"') {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	trains := func(model.Epoch) { t.Error("it trains before it refuses") }
	if _, err := model.Train(t.Context(), model.Facts{Train: family()}, small(), 1, trains, of(0)); err == nil {
		t.Error("a training takes any share")
	}
}

// TestTooFewFactsOfARelation presumes a share of a relation of which too few facts are known.
func TestTooFewFactsOfARelation(t *testing.T) {
	t.Parallel()
	workspace, facts := t.TempDir(), append(family(), model.Triple{Head: "person 01", Relation: "godparent_of", Tail: "person 09"})
	missing := answer.Missing{Share: .05, Relations: map[string]float64{"godparent_of": .1}}
	m, err := presuming(t, workspace, facts, missing)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), `relation "godparent_of" has too few facts`) {
			t.Errorf("error %v", err)
		}
	}
	refused(m.Fit(t.Context(), nil))
	refused(m.Fit(t.Context(), nil))
	if answers, err := m.Ask(t.Context(), everyQuery(m)[0], 3); err != nil || answers.List[0].Probability != nil {
		t.Errorf("%+v, error %v", answers, err)
	}
	_, err = presuming(t, workspace, facts, missing)
	refused(err)
	if _, err := inWorkspace(t, workspace, facts); err != nil {
		t.Error(err)
	}
}

// TestGraphs compares answers from the graph of all facts with those of a model to which validation and test facts are
// given as training facts, and those from the graph that an evaluation asks.
func TestGraphs(t *testing.T) {
	t.Parallel()
	facts := family()
	divided := model.Facts{Train: facts[8:], Valid: facts[:4], Test: facts[4:8]}
	ask := func(f model.Facts, list ...model.Option) []model.Answers {
		t.Helper()
		m, err := model.LoadFacts(t.Context(), f, "zero", list...)
		if err != nil {
			t.Fatal(err)
		}
		answers, err := m.AskAll(t.Context(), everyQuery(m), 3, model.WithKnown())
		if err != nil {
			t.Fatal(err)
		}
		return answers
	}
	all := ask(model.Facts{Train: facts})
	if diff := cmp.Diff(all, ask(divided)); diff != "" {
		t.Errorf("facts of three splits (-all in one +divided):\n%s", diff)
	}
	if cmp.Equal(all, ask(divided, model.WithGraph("train"))) {
		t.Error("WithGraph changes nothing")
	}
	m, err := model.LoadFacts(t.Context(), divided, "zero", model.WithGraph("train"))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Fit(t.Context(), nil); !errors.Is(err, model.ErrTrainingGraph) {
		t.Errorf("fitting to the graph of training: %v", err)
	}
	if _, err := model.LoadFacts(t.Context(), divided, "zero", model.WithGraph("test")); err == nil {
		t.Error("no error for another graph")
	}
}
