package score

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/parquet"
	"tagnet/model/checkpoint"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/train"
)

// nbfnetFolder has checkpoints of NBFNet-PyG's modules with the scores of its model, and the program that makes them.
const nbfnetFolder = "../../../model/nbfnet/testdata"

// nbfnetCase is a checkpoint of NBFNet-PyG's modules, as make.py writes it.
type nbfnetCase struct {
	Message, Aggregate string
	Relations          []string
	Facts              [][]string
	Queries            []struct {
		Source, Relation string
		Scores           map[string]float64
	}

	weights, workspace, relations, queries string // files
}

// readCase reads a case and preprocesses its facts.
func readCase(t *testing.T, folder, name string) nbfnetCase {
	t.Helper()
	c := nbfnetCase{weights: filepath.Join(folder, name+".pth"), workspace: t.TempDir()}
	text, err := os.ReadFile(filepath.Join(folder, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	var facts, queries strings.Builder
	for _, f := range c.Facts {
		facts.WriteString(strings.Join(f, "\t") + "\n")
	}
	for _, q := range c.Queries {
		queries.WriteString(q.Source + "\t" + q.Relation + "\n")
	}
	c.relations, c.queries = file(t, "relations.txt", strings.Join(c.Relations, "\n")+"\n"), file(t, "queries.tsv", queries.String())
	first, _, _ := strings.Cut(facts.String(), "\n")
	dataset := pipelinetest.Dataset(t, map[string]string{"train.txt": facts.String(), "valid.txt": first + "\n", "test.txt": first + "\n"})
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", c.workspace, "--dataset", dataset)
	return c
}

// flags returns the flags that score with the weights, and more.
func (c nbfnetCase) flags(more ...string) []string {
	flags := []string{"--workspace", c.workspace, "--weights", c.weights, "--relation_names", c.relations, "--message", c.Message}
	if c.Aggregate != "pna" {
		flags = append(flags, "--aggregate", c.Aggregate)
	}
	return append(flags, more...)
}

// check compares all scores of the queries, within a tolerance, with those of the case.
func (c nbfnetCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	out := pipelinetest.Succeed(t, Pipeline(), c.flags("--queries", c.queries, "--top_k", "20")...)
	if !strings.Contains(out, "weights of "+c.weights+": NBFNet of") {
		t.Errorf("output:\n%s", out)
	}
	compared := 0
	for _, p := range rowsOf[parquet.Prediction](t, filepath.Join(c.workspace, "runs", "main", "evaluation", "queries", "predictions")) {
		q := c.Queries[p.Query]
		want, ok := q.Scores[p.Entity]
		if !ok || !(math.Abs(float64(p.Score)-want) <= tolerance) {
			t.Errorf("%s %s ? %s: score %g, NBFNet's is %g", q.Source, q.Relation, p.Entity, p.Score, want)
		}
		compared++
	}
	if want := len(c.Queries) * len(c.Queries[0].Scores); compared != want {
		t.Errorf("%d scores, want %d", compared, want)
	}
}

var nbfnetCases = []string{"pna_dependent", "pna", "rotate", "sum", "mean", "max"}

// TestWeights scores with checkpoints that PyTorch wrote and compares with the scores of NBFNet, in workspaces without a
// trained model.
func TestWeights(t *testing.T) {
	for _, name := range nbfnetCases {
		t.Run(name, func(t *testing.T) { readCase(t, nbfnetFolder, name).check(t, 1e-4) })
	}
}

// TestWeightsOfPyTorch does the same with checkpoints that PyTorch writes now.
func TestWeightsOfPyTorch(t *testing.T) {
	folder := t.TempDir()
	if out, err := python(t, filepath.Join(nbfnetFolder, "make.py"), folder, "7").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range nbfnetCases {
		t.Run(name, func(t *testing.T) { readCase(t, folder, name).check(t, 1e-4) })
	}
}

// python returns a command of the Python that TAGNET_PYTHON names, by default python3, if that has PyTorch.
func python(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	program := os.Getenv("TAGNET_PYTHON")
	if program == "" {
		program = "python3"
	}
	if err := exec.CommandContext(t.Context(), program, "-c", "import torch").Run(); err != nil {
		t.Skipf("%s has no PyTorch (%v): TAGNET_PYTHON names one that has", program, err)
	}
	return exec.CommandContext(t.Context(), program, arguments...)
}

// TestWeightsRankASplit ranks a split, once, and again with another model of the same numbers only with --force.
func TestWeightsRankASplit(t *testing.T) {
	c := readCase(t, nbfnetFolder, "sum")
	out := pipelinetest.Succeed(t, Pipeline(), c.flags("--split", "valid")...)
	if !strings.Contains(out, "MRR") || !strings.Contains(out, "NBFNet of 3 layers, 4 dimensions, sum, transe, relation embeddings that depend on the query") {
		t.Errorf("output:\n%s", out)
	}
	folder := checkpoint.Folder(filepath.Join(c.workspace, "runs", "main", "evaluation", "valid", "weights"))
	r, err := folder.Record(t.Context(), "epoch-000")
	if err != nil || r.Origin == nil || r.Origin.File != "sum.pth" || r.Configuration.Policy != "full" || r.Configuration.Message != "transe" {
		t.Errorf("the record is %+v, %v", r, err)
	}
	again := pipelinetest.Succeed(t, Pipeline(), c.flags("--split", "valid")...)
	if !strings.Contains(again, "is complete with the same configuration") {
		t.Errorf("output:\n%s", again)
	}
	other := c
	other.Message = "distmult" // the same numbers in the same order
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"given.message", "--force"}}, other.flags("--split", "valid")...)
	before := metricsOf(t, c.workspace, "valid").Pessimistic
	pipelinetest.Succeed(t, Pipeline(), other.flags("--split", "valid", "--force")...)
	if after := metricsOf(t, c.workspace, "valid").Pessimistic; after == before {
		t.Errorf("the model of another message ranks the same: %+v", after)
	}
	out = pipelinetest.Succeed(t, Pipeline(), c.flags("--queries", c.queries, "--explain", "--top_k", "3")...)
	if !strings.Contains(out, "->") {
		t.Errorf("no path explains an answer:\n%s", out)
	}
	out = pipelinetest.Succeed(t, Pipeline(), c.flags("--relation", c.Relations[0])...)
	if !strings.Contains(out, "weights of ") || !strings.Contains(out, "answers.tsv") {
		t.Errorf("output:\n%s", out)
	}
}

// TestWeightsOfMoreRelations scores over a graph that lacks a relation of the weights.
func TestWeightsOfMoreRelations(t *testing.T) {
	c := readCase(t, nbfnetFolder, "pna")
	var facts strings.Builder
	for _, f := range c.Facts {
		if f[1] != "likes 3" {
			facts.WriteString(strings.Join(f, "\t") + "\n")
		}
	}
	c.workspace = t.TempDir()
	first, _, _ := strings.Cut(facts.String(), "\n")
	dataset := pipelinetest.Dataset(t, map[string]string{"train.txt": facts.String(), "valid.txt": first + "\n", "test.txt": first + "\n"})
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", c.workspace, "--dataset", dataset)
	if out := pipelinetest.Succeed(t, Pipeline(), c.flags()...); !strings.Contains(out, `the graph lacks 1 of the relations of `+c.relations+` ("likes 3"); their weights are left out`) {
		t.Errorf("output:\n%s", out)
	}
}

func TestWeightsRefused(t *testing.T) {
	c, sum := readCase(t, nbfnetFolder, "pna"), readCase(t, nbfnetFolder, "sum")
	names := func(list ...string) string { return file(t, "relations.txt", strings.Join(list, "\n")) }
	with := func(c nbfnetCase, change func(*nbfnetCase), more ...string) []string {
		change(&c)
		return c.flags(more...)
	}
	cut := file(t, "cut.pth", "PK\x03\x04")
	for name, f := range map[string]struct {
		code      int
		says      []string
		arguments []string
	}{
		"no names": {2, []string{"--weights ", "add --relation_names"}, []string{"--workspace", c.workspace, "--weights", c.weights}},
		"no message": {2, []string{"--message for ", "give distmult, transe or rotate"},
			[]string{"--workspace", c.workspace, "--weights", c.weights, "--relation_names", c.relations}},
		"no aggregate": {2, []string{"--aggregate for ", "give sum, mean or max"},
			[]string{"--workspace", sum.workspace, "--weights", sum.weights, "--relation_names", sum.relations, "--message", "transe"}},
		"wrong message":     {2, []string{"--message", "rotat"}, with(c, func(c *nbfnetCase) { c.Message = "rotat" })},
		"wrong aggregate":   {2, []string{"--aggregate for ", "want pna"}, with(c, func(c *nbfnetCase) { c.Aggregate = "max" })},
		"with a checkpoint": {2, []string{"--checkpoint and --weights"}, c.flags("--checkpoint", "best")},
		"base rate":         {2, []string{"--base_rate: --weights have no calibration"}, c.flags("--base_rate", "0.1")},
		"without weights":   {2, []string{"--relation_names describes --weights"}, []string{"--workspace", c.workspace, "--relation_names", c.relations}},
		"missing file":      {2, []string{"--weights: ", "nowhere.pth"}, with(c, func(c *nbfnetCase) { c.weights = "nowhere.pth" })},
		"folder":            {2, []string{"--weights: ", "is not a regular file"}, with(c, func(c *nbfnetCase) { c.weights = c.workspace })},
		"device":            {2, []string{"--weights: ", "is not a regular file"}, with(c, func(c *nbfnetCase) { c.weights = "/dev/zero" })},
		"damaged":           {1, []string{"--weights: " + cut, "cut short or damaged"}, with(c, func(c *nbfnetCase) { c.weights = cut })},
		"missing names":     {2, []string{"--relation_names: ", "nowhere.txt"}, with(c, func(c *nbfnetCase) { c.relations = "nowhere.txt" })},
		"fewer names":       {2, []string{"--relation_names: ", "has 2 relations", "have 3"}, with(c, func(c *nbfnetCase) { c.relations = names(c.Relations[:2]...) })},
		"name twice":        {1, []string{"relations.txt:3: ", `"a" is already in line 1`}, with(c, func(c *nbfnetCase) { c.relations = names("a", "b", "a") })},
		"ids":               {1, []string{"relations.txt:1: a tab"}, with(c, func(c *nbfnetCase) { c.relations = names("0\ta", "1\tb", "2\tc") })},
		"other names":       {1, []string{"--relation_names: ", `relation "above 3" is not listed`}, with(c, func(c *nbfnetCase) { c.relations = names("a", "b", "c") })},
	} {
		t.Run(name, func(t *testing.T) {
			pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: f.code, Says: f.says}, f.arguments...)
			if _, err := os.Stat(filepath.Join(c.workspace, "runs")); err == nil {
				t.Error("something was written")
			}
		})
	}
}

// readmeLines returns the lines of Python in pipelines/score/weights.md that write a checkpoint for NBFNet-PyG.
func readmeLines(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../score/weights.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```python\n")
	lines, _, ended := strings.Cut(rest, "```\n")
	if !found || !ended || !strings.Contains(lines, "load_file(") {
		t.Fatal("pipelines/score/weights.md has no lines of Python that load a checkpoint")
	}
	return lines
}

// nbfnetScores computes the scores of a .pth by the modules and the equations of make.py, from what the test gives it.
const nbfnetScores = `
import json, sys
sys.path.insert(0, sys.argv[1])
import make, torch
torch.set_num_threads(1)
given = json.load(open("given.json"))
make.ENTITIES, make.RELATIONS = given["entities"], given["relations"]
c = given["configuration"]
model = make.modules(c["layers"], c["dim"], c["aggregate"], c["dependent"])
model.load_state_dict(torch.load("model.pth")["model"], strict=True)
scores = [make.scores(model.state_dict(), given["facts"], s, q, c["layers"], c["dim"], c["message"], c["aggregate"], c["dependent"])
          for s, q in given["queries"]]
json.dump(scores, open("scores.json", "w"))
`

// TestWeightsForNBFNet runs the lines of weights.md on a trained model: the modules of NBFNet take what they write, and
// score with it as this model does; and score --weights reads it.
func TestWeightsForNBFNet(t *testing.T) {
	here, err := filepath.Abs(nbfnetFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"distmult", []string{"--layers", "2", "--dim", "4"}},
		{"rotate", []string{"--layers", "2", "--dim", "4", "--message", "rotate", "--dependent=false"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			lines := strings.ReplaceAll(readmeLines(t), "epoch-020", "epoch-001")
			script, scorer := filepath.Join(folder, "lines.py"), filepath.Join(folder, "scores.py")
			pipelinetest.Write(t, script, lines)
			pipelinetest.Write(t, scorer, nbfnetScores)
			run := python(t, script)
			if err := exec.CommandContext(t.Context(), run.Path, "-c", "import safetensors.torch").Run(); err != nil {
				t.Skipf("%s has no safetensors: %v", run.Path, err)
			}
			w := filepath.Join(folder, "workspace")
			pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", 12)))
			pipelinetest.Succeed(t, train.Pipeline(), append(c.flags, "--workspace", w, "--policy", "full", "--epochs", "1", "--negatives", "4")...)
			run.Dir = folder
			out, err := run.CombinedOutput()
			if err != nil || string(out) != "['back', 'next', 'skip']\n" {
				t.Fatalf("%v: %s", err, out)
			}
			queries := file(t, "queries.tsv", "e000\tskip\ne005\t~next\ne007\tback\n")
			pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", queries, "--top_k", "12")
			own := rowsOf[parquet.Prediction](t, filepath.Join(w, "runs", "main", "evaluation", "queries", "predictions"))

			record, err := checkpoint.Folder(filepath.Join(w, "runs", "main", "checkpoints")).Record(t.Context(), "epoch-001")
			if err != nil {
				t.Fatal(err)
			}
			given, err := json.Marshal(map[string]any{
				"entities": 12, "relations": 3, "configuration": record.Configuration, "facts": ringFacts(12), "queries": [][2]int{{0, 2}, {5, 1 + 3}, {7, 0}},
			})
			if err != nil {
				t.Fatal(err)
			}
			pipelinetest.Write(t, filepath.Join(folder, "given.json"), string(given))
			run = exec.CommandContext(t.Context(), run.Path, scorer, here)
			run.Dir = folder
			if out, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			text, err := os.ReadFile(filepath.Join(folder, "scores.json"))
			if err != nil {
				t.Fatal(err)
			}
			var scores [][]float64
			if err := json.Unmarshal(text, &scores); err != nil {
				t.Fatal(err)
			}
			for _, p := range own {
				var entity int
				if _, err := fmt.Sscanf(p.Entity, "e%d", &entity); err != nil {
					t.Fatal(err)
				}
				if want := scores[p.Query][entity]; !(math.Abs(float64(p.Score)-want) <= 1e-4) {
					t.Errorf("query %d, %s: score %g, in Python %g", p.Query, p.Entity, p.Score, want)
				}
			}
			relations := file(t, "relations.txt", "back\nnext\nskip\n")
			pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", queries, "--top_k", "12",
				"--weights", filepath.Join(folder, "model.pth"), "--relation_names", relations, "--message", record.Configuration.Message)
			again := rowsOf[parquet.Prediction](t, filepath.Join(w, "runs", "main", "evaluation", "queries", "predictions"))
			for i := range own { // the calibration is that of the checkpoint
				own[i].Probability = nil
			}
			if diff := cmp.Diff(own, again); diff != "" || len(own) != 36 {
				t.Errorf("%d rows (-checkpoint +weights):\n%s", len(own), diff)
			}
		})
	}
}

// ringFacts returns the training facts of pipelinetest.Ring by ids, of the relations back, next and skip.
func ringFacts(entities int) [][3]int {
	var facts [][3]int
	for i := range entities {
		facts = append(facts, [3]int{i, 1, (i + 1) % entities}, [3]int{(i + 1) % entities, 0, i})
		if i%5 > 0 {
			facts = append(facts, [3]int{i, 2, (i + 2) % entities})
		}
	}
	return facts
}
