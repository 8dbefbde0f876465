package model_test

import (
	"context"
	"errors"
	"io/fs"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
	"tagnet/model/weightstest"
)

// Load takes ULTRA's published weights for the facts of any graph: nothing is trained.
func ExampleLoad_withoutTraining() {
	ctx := context.Background()
	m, err := model.Load(ctx, model.Files{Train: "facts.txt"}, "ultra_4g.pth")
	if err != nil {
		log.Fatal(err)
	}
	answers, err := m.Ask(ctx, model.Query{Source: "Joan Eibe", Relation: "cousin_of"}, 3)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range answers.List {
		log.Println(a.Score, a.Entity)
	}
}

// drawn writes a file of ULTRA's weights that are drawn.
func drawn(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drawn.pth")
	if err := os.WriteFile(path, weightstest.File(t, weightstest.Drawn(3).Tensors), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWeightsOfAnyGraph asks and explains with ULTRA's weights, alone and concurrently.
func TestWeightsOfAnyGraph(t *testing.T) {
	t.Parallel()
	m, err := model.LoadFacts(t.Context(), model.Facts{Train: family()}, drawn(t), model.WithWorkers(3))
	if err != nil {
		t.Fatal(err)
	}
	if m.Checkpoint() != "drawn.pth" || len(m.Entities()) != 32 || m.Save(t.Context(), t.TempDir()) == nil {
		t.Errorf("the model is %s of %d entities", m.Checkpoint(), len(m.Entities()))
	}
	queries := everyQuery(m)
	want, err := m.AskAll(t.Context(), queries, 5)
	if err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for from := range 4 {
		asking.Go(func() {
			for i := from; i < len(queries); i += 4 {
				got, err := m.Ask(t.Context(), queries[i], 5)
				if err != nil || !cmp.Equal(want[i], got) {
					t.Errorf("%v: answers are %v, error %v, want %v", queries[i], got, err, want[i])
				}
				second := got.List[1]
				found, err := m.Explain(t.Context(), queries[i], second.Entity, 2, model.Walks())
				if err != nil || second.Hops > 0 && len(found.Paths) == 0 || second.Hops < 1 && len(found.Paths) > 0 {
					t.Errorf("%v: paths to %v are %v, error %v", queries[i], second, found.Paths, err)
				}
			}
		})
	}
	asking.Wait()
	if presumed, fitted := m.Presumed(); fitted || want[0].List[0].Probability != nil {
		t.Errorf("probabilities before they are fitted: %+v, %s", want[0].List[0], presumed)
	}
}

func TestWeightsThatCannotBeLoaded(t *testing.T) {
	t.Parallel()
	file := drawn(t)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.pth")
	if err := os.WriteFile(cut, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "folder.pth")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path, says string
		is         error
		options    []model.Option
	}{
		"missing":        {path: "nowhere.pth", is: model.ErrNotFound},
		"a folder":       {path: folder, says: "it is not a regular file"},
		"cut short":      {path: cut, says: "its zip archive is cut short or damaged"},
		"of another":     {path: "../formats/input/pytorch/testdata/optimizer.pth", says: "it is no ULTRA model"},
		"without kernel": {path: file, says: "mmx", options: []model.Option{model.WithKernel("mmx")}},
	} {
		_, err := model.LoadFacts(t.Context(), model.Facts{Train: family()}, c.path, c.options...)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error is %v, want %q and %v", name, err, c.says, c.is)
		}
	}
}

// published returns the folder of the datasets and the path of a file of ULTRA's weights in it.
func published(t *testing.T, name string) (data, weights string) {
	t.Helper()
	if data = os.Getenv("TAGNET_DATA"); data == "" {
		data = "../../shared/data"
	}
	data, err := filepath.Abs(data)
	if err != nil {
		t.Fatal(err)
	}
	weights = filepath.Join(data, "ultra", name)
	if _, err := os.Stat(weights); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no published weights of ULTRA (TAGNET_DATA names their folder): %v", err)
	}
	return data, weights
}

// TestPublishedWeights ranks the answers of Nations, which is in no training set of the weights.
func TestPublishedWeights(t *testing.T) {
	t.Parallel()
	data, weights := published(t, "ultra_3g.pth")
	files := model.Files{Train: data + "/nations/train.txt", Valid: data + "/nations/valid.txt", Test: data + "/nations/test.txt"}
	m, err := model.Load(t.Context(), files, weights, model.WithGraph("train"))
	if err != nil {
		t.Fatal(err)
	}
	facts, err := model.ReadTriples(t.Context(), files.Test)
	if err != nil {
		t.Fatal(err)
	}
	scored, err := m.Score(t.Context(), facts)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, s := range scored {
		sum += 1/float64(s.AsTail.Rank) + 1/float64(s.AsHead.Rank)
	}
	if mrr := sum / float64(2*len(scored)); !(math.Abs(mrr-.5424) < 5e-5) {
		t.Errorf("the MRR of %d queries is %.4f, want .5424", 2*len(scored), mrr)
	}
}

// TestProgramOfAnotherModule builds a program that has a module of its own, and has it ask with ULTRA's weights.
func TestProgramOfAnotherModule(t *testing.T) {
	t.Parallel()
	folder, weights := t.TempDir(), drawn(t)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	// A workspace of both modules, instead of a replacement, takes what is compiled for this one.
	for name, text := range map[string]string{
		"go.mod":    "module asker\n\ngo 1.26.0\n",
		"go.work":   "go 1.26.0\n\nuse (\n\t.\n\t" + root + "\n)\n",
		"facts.txt": "Ann\tparent_of\tBen\nBen\tparent_of\tEve\nAnn\tgrandparent_of\tEve\n",
		"main.go": `package main

import (
	"context"
	"fmt"
	"os"

	"tagnet/model"
)

func main() {
	ctx := context.Background()
	m, err := model.Load(ctx, model.Files{Train: "facts.txt"}, os.Args[1])
	if err != nil {
		panic(err)
	}
	answers, err := m.Ask(ctx, model.Query{Source: "Ann", Relation: "grandparent_of"}, 3)
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Checkpoint(), len(answers.List))
}
`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := exec.Command("go", "run", "-ldflags=-s -w", ".", weights)
	program.Dir = folder
	program.Env = append(os.Environ(), "GOPROXY=off", "GOWORK="+filepath.Join(folder, "go.work"))
	out, err := program.CombinedOutput()
	if strings.Contains(string(out), "disabled by GOPROXY=off") {
		t.Skipf("a module of this one's dependencies is not in the module cache; run go mod download:\n%s", out)
	}
	if err != nil || string(out) != "drawn.pth 1\n" {
		t.Errorf("%v, output:\n%s", err, out)
	}
}
