package lists

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/infra/internal/engine"
	"tagnet/model/weights/configuration"
)

// write writes a list and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "list.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// lines returns the commands of a run, measured ones with their names. Those that depend on what was written before are
// computed in a folder.
func lines(t *testing.T, work string, r engine.Run) (all []string) {
	t.Helper()
	for _, c := range r.Commands {
		if c.Make != nil {
			all = append(all, c.Name)
			continue
		}
		words, err := c.Words(t.Context(), work)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.TrimPrefix(c.Name+": "+strings.Join(words, " "), ": "))
	}
	return all
}

// TestCommitted checks that each committed list is read, that its results have its inputs, and that no result belongs
// to none of its runs.
func TestCommitted(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	folders := map[string]bool{}
	for _, path := range []string{"experiments/paper.json", "experiments/paper-rest.json", "experiments/own.json", "experiments/zeroshot.json",
		"experiments/reach.json", "experiments/frontier.json", "bench/commands.json", "truth/truth.json"} {
		l, err := Open(t.Context(), filepath.Join("../../..", filepath.FromSlash(path)), 1)
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		e := engine.Engine{Results: l.Results}
		for _, r := range l.Runs {
			known[filepath.Join(l.Results, filepath.FromSlash(r.Name)+".json")] = true
			switch state, why, _ := e.Inspect(t.Context(), r); state {
			case engine.Done:
				done++
			case engine.Stale:
				t.Errorf("%s: %s is stale: %s", path, r.Name, why)
			}
		}
		if folders[l.Results] = true; done == 0 {
			t.Errorf("%s: none of %d runs is done", path, len(l.Runs))
		}
	}
	for folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !known[path] {
				t.Errorf("%s is the result of no list", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

const grid = `{"experiments": [
	{"name": "fixed", "datasets": [{"dataset": "WN18RR_v1", "preset": "wn-v1"}, {"dataset": "umls", "flags": {"epochs": 8, "valid_limit": 50}}],
		"flags": {"dropout": 0.2, "degree_messages": true}, "vary": {"delta": [0, 1]}, "seeds": [1, 2], "protocols": ["test", "grail"]},
	{"name": "full", "datasets": [{"dataset": "umls"}], "flags": {"policy": "full"}, "seeds": [7], "memory": 2048}]}`

func TestGrid(t *testing.T) {
	t.Parallel()
	g, err := ReadGrid(t.Context(), write(t, grid))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	runs := g.Runs(3)
	for _, r := range runs {
		names = append(names, r.Name)
	}
	want := []string{
		"WN18RR_v1/fixed-delta-0-seed-1", "WN18RR_v1/fixed-delta-1-seed-1", "umls/fixed-delta-0-seed-1", "umls/fixed-delta-1-seed-1", "umls/full-seed-7",
		"WN18RR_v1/fixed-delta-0-seed-2", "WN18RR_v1/fixed-delta-1-seed-2", "umls/fixed-delta-0-seed-2", "umls/fixed-delta-1-seed-2",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the runs differ (-want +got):\n%s", diff)
	}
	if cell := g.Trainings[3].Cell(); cell != "umls/fixed-delta-1" {
		t.Errorf("the cell is %s", cell)
	}
	const with = " --threads 3 --memory 1024"
	work := t.TempDir()
	commands := []string{
		"tagnet preprocess --workspace WN18RR_v1 --dataset WN18RR_v1 --inference WN18RR_v1_ind",
		"train: tagnet train --workspace WN18RR_v1 --run fixed-delta-1-seed-2 --preset WN18RR_v1/fixed-delta-1-seed-2.json --delta=1 --dropout=0.2 --seed 2" +
			with,
		"test: tagnet score --workspace WN18RR_v1 --run fixed-delta-1-seed-2 --protocol test" + with,
		"grail: tagnet score --workspace WN18RR_v1 --run fixed-delta-1-seed-2 --protocol grail" + with,
	}
	if diff := cmp.Diff(commands, lines(t, work, runs[6])); diff != "" {
		t.Errorf("the commands differ (-want +got):\n%s", diff)
	}
	changed, err := configuration.OpenPreset(t.Context(), filepath.Join(work, "WN18RR_v1/fixed-delta-1-seed-2.json"))
	six := g.Trainings[6].Configuration
	six.Delta, six.Dropout = changed.Delta, changed.Dropout // flags
	if err != nil || changed != six || !changed.DegreeMessages {
		t.Errorf("the preset file has %+v, %v, want %+v", changed, err, six)
	}
	if c := runs[6].Commands; c[1].Training != "WN18RR_v1/runs/fixed-delta-1-seed-2" || c[3].Evaluation != c[1].Training+"/evaluation/grail" ||
		c[3].Graph != "WN18RR_v1/graph" {
		t.Errorf("outputs %+v", c)
	}
	inputs := runs[2].Inputs
	for name, want := range map[string]string{"delta": "0", "epochs": "8", "dropout": "0.2", "degree_messages": "true", "policy": "window", "seed": "1",
		"valid_limit": "50", "dataset": "umls", "inference": ""} {
		if inputs[name] != want {
			t.Errorf("the input %s is %q, want %q", name, inputs[name], want)
		}
	}
	if full := runs[4]; full.Inputs["policy"] != "full" || !strings.HasSuffix(lines(t, t.TempDir(), full)[1], "--memory 2048") {
		t.Errorf("the run is %+v", full)
	}
}

func TestGridMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, want string }{
		{`"fixed"`, `"full"`, ""}, // of other datasets and seeds
		{`"seeds": [7]`, `"seeds": []`, "list.json: experiment full: datasets and seeds are needed"},
		{`"dropout"`, `"droput"`, "train has no hyperparameter droput that an experiment can set; the closest are dropout"},
		{`{"dataset": "WN18RR_v1", "preset": "wn-v1"}`, `{"dataset": "WN18RR_v1", "preset": "wn-v1.json"}`, "wn-v1.json"},
		{`0.2`, `"wide"`, `--dropout "wide" is not`},
		{`0.2`, `1.5`, "dropout is 1.5"},
		{`"wn-v1"`, `"wn-v9"`, "wn-v9"},
		{`"seeds": [7]`, `"seeds": [7, 7]`, `the run "umls/full-seed-7": a name of its own`},
		{`"name": "full"`, `"name": "fixed-delta-1"`, "experiment fixed-delta-1: another experiment has umls/fixed-delta-1 with other hyperparameters"},
		{`"memory"`, `"memry"`, "memry"},
	} {
		_, err := Open(t.Context(), write(t, strings.Replace(grid, c.old, c.new, 1)), 1)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.new, err, c.want)
		}
	}
}

const targets = `{"protocol": ["Read."], "models": [
	{"name": "x", "file": "ultra/x.pth", "sha256": "9f", "epochs": 1, "tuned": true},
	{"name": "zero", "model": "zero", "epochs": 2, "epochs_alone": 3, "tuned": true}],
	"graphs": [{"name": "umls", "folder": "umls", "tuned": true},
	{"name": "v1", "folder": "v1_ind", "training": "v1", "protocol": "valid-and-test", "tuned": true}]}`

func TestZeroshot(t *testing.T) {
	t.Parallel()
	l, err := Read[Zeroshot](t.Context(), write(t, targets))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := l.Runs(1)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]engine.Run{}
	for _, r := range runs {
		byName[r.Name] = r
	}
	if len(byName) != 8 {
		t.Fatalf("%d runs, want 8", len(byName))
	}
	const with = " --device cpu --threads 1 --memory 1024"
	for name, want := range map[string][]string{
		"umls/zero": {
			"tagnet preprocess --workspace umls/zero --dataset $TAGNET_DATA/umls",
			"score: tagnet score --workspace umls/zero --run main --protocol test --model zero --top_k 0" + with,
		},
		"umls/zero-tuned": {
			"tagnet preprocess --workspace umls/zero-tuned --dataset $TAGNET_DATA/umls",
			"tagnet preprocess --workspace umls/zero-tuned-training --dataset $TAGNET_DATA/umls",
			"train: tagnet train --workspace umls/zero-tuned-training --run main --from zero --epochs 3" + with,
			"score: tagnet score --workspace umls/zero-tuned --run main --protocol test --model umls/zero-tuned-training/runs/main/checkpoints/best --top_k 0" +
				with,
		},
		"v1/zero-tuned": {
			"tagnet preprocess --workspace v1/zero-tuned --dataset $TAGNET_DATA/v1 --inference $TAGNET_DATA/v1_ind",
			"tagnet preprocess --workspace v1/zero-tuned-training --dataset $TAGNET_DATA/v1",
			"train: tagnet train --workspace v1/zero-tuned-training --run main --from zero --epochs 2" + with,
			"score: tagnet score --workspace v1/zero-tuned --run main --protocol valid-and-test --model " +
				"v1/zero-tuned-training/runs/main/checkpoints/best --top_k 0" + with,
		},
	} {
		if diff := cmp.Diff(want, lines(t, "", byName[name])); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", name, diff)
		}
	}
	if in := byName["v1/x-tuned"].Inputs; in["weights"] != "9f" || in["epochs"] != "1" || in["protocol"] != "valid-and-test" ||
		byName["v1/x"].Inputs["epochs"] != "" {
		t.Errorf("inputs %v", in)
	}
	if clean := byName["v1/x-tuned"].Clean; !slices.Equal(clean, []string{"v1/x-tuned", "v1/x-tuned-training"}) {
		t.Errorf("the run removes %v first", clean)
	}
}

// TestWeights refuses a file of weights that is not that of the list.
func TestWeights(t *testing.T) {
	data := t.TempDir()
	t.Setenv("TAGNET_DATA", data)
	line := verified(words("tagnet"), "x.pth", "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881") // of "x"
	for content, want := range map[string]string{"x": "", "y": "and the list 2d71"} {
		if err := os.WriteFile(filepath.Join(data, "x.pth"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := line(t.Context(), "")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: error %v, want %q", content, err, want)
		}
	}
}

const parts = `{"protocol": [], "percents": [5, 100], "sets": [{"name": "s", "dataset": "a", "inference": "a_ind", "train": "--epochs 2", "limit": 70}]}`

func TestReach(t *testing.T) {
	t.Parallel()
	l, err := Read[Reach](t.Context(), write(t, parts))
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.MkdirAll(filepath.Join(work, "s", "graph"), 0o750); err != nil {
		t.Fatal(err)
	}
	summary := `{"dataset": "a", "entities": 101, "relations": 1, "facts": 200, "edges": 400, "inference_graph": {"entities": 39, ` +
		`"relations": 1, "facts": 50, "edges": 100}}`
	if err := os.WriteFile(filepath.Join(work, "s", "graph", "summary.json"), []byte(summary), 0o600); err != nil {
		t.Fatal(err)
	}
	const with, scored = " --device cpu --threads 1 --memory 1024", " --protocol test --top_k 0 --device cpu --threads 1 --memory 1024 --limit 70"
	want := [][]string{{
		"tagnet preprocess --workspace s --dataset $TAGNET_DATA/a --inference $TAGNET_DATA/a_ind",
		"train: tagnet train --workspace s --run reach-100 --epochs 2" + with,
		"score: tagnet score --workspace s --run reach-100" + scored,
	}, {
		"tagnet preprocess --workspace s --dataset $TAGNET_DATA/a --inference $TAGNET_DATA/a_ind",
		"train: tagnet train --workspace s --run reach-5 --epochs 2" + with + " --reach 6",
		"score: tagnet score --workspace s --run reach-5" + scored + " --reach 2",
		"tagnet train --workspace s --run reach-100 --epochs 2" + with,
		"only-scored: tagnet score --workspace s --run reach-100" + scored + " --reach 2",
	}}
	runs, err := l.Runs(1)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range runs {
		if diff := cmp.Diff(want[i], lines(t, work, r)); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", r.Name, diff)
		}
	}
}

const studied = `{"protocol": [], "choices": [{"name": "zero", "flags": "--from zero"}, {"name": "small", "flags": "--layers 4"}],
	"studied": [{"name": "umls", "folder": "umls", "trainings": {"zero": ["untrained"]}},
	{"name": "shop", "made": "--kind shop", "trainings": {"small": ["8x100"]}}]}`

func TestFrontier(t *testing.T) {
	t.Parallel()
	l, err := Open(t.Context(), write(t, studied), 1)
	if err != nil {
		t.Fatal(err)
	}
	const with = " --device cpu --threads 1 --memory 3072"
	want := map[string][]string{
		"umls/zero-untrained": {
			"tagnet preprocess --workspace umls --dataset $TAGNET_DATA/umls",
			"traits",
			"score: tagnet score --workspace umls --run zero-untrained --model zero --split valid --limit 2000 --top_k 0" + with,
		},
		"shop/small-8x100": {
			"go run ./infra/generate --out shop-facts --kind shop",
			"tagnet preprocess --workspace shop --dataset shop-facts",
			"traits",
			"train: tagnet train --workspace shop --run small-8x100 --layers 4 --epochs 8 --queries_per_epoch 100" +
				" --learning_rate_decay 0.739 --validate_every 8 --valid_limit 400 --seed 1" + with,
			"score: tagnet score --workspace shop --run small-8x100 --split valid --limit 2000 --top_k 0" + with,
		},
	}
	if len(l.Runs) != len(want) || !l.Fresh {
		t.Errorf("the list is %+v", l)
	}
	for _, r := range l.Runs {
		if diff := cmp.Diff(want[r.Name], lines(t, "", r)); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", r.Name, diff)
		}
	}
	if c := l.Runs[1].Commands[3]; !c.Unfitted {
		t.Error("the training fits probabilities")
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	commands := `{"protocol": [], "entries": [{"name": "a", "what": "", "measure": "tagnet x", "count": 1, "unit": "facts"}, ` +
		`{"name": "b", "what": "", "measure": "tagnet y", "prepare": ["tagnet x"], "count": 1, "unit": "facts"}]}`
	for _, c := range []struct{ list, old, new, want string }{
		{commands, "", "", ""},
		{commands, `"b"`, `"A"`, `the run "A": a name of its own`},
		{commands, `"b"`, `"../b"`, `the run "../b"`},
		{commands, `"count": 1`, `"count": "1"`, "list.json:1:88: entries.count: a text instead of a whole number"},
		{targets, `"zero", "model": "zero"`, `"zero", "model": "none"`, "model zero: "},
		{targets, `"name": "v1"`, `"name": "umls"`, `the run "umls/x"`},
		{targets, `"tuned": true}]}`, `"tund": true}]}`, "tund"},
		{parts, `"s"`, `"s/x"`, `the run "s/x/100"`},
		{studied, `"zero": [`, `"one": [`, `umls: trainings: there is no choice "one"`},
		{studied, `"8x100"`, `"8x"`, `trainings: "8x": want a number of epochs`},
		{studied, `"8x100"`, `"1x100"`, `trainings: "1x100"`},
		{studied, `"8x100"`, `"8x100x"`, `trainings: "8x100x"`},
		{`{"runs": []}`, "", "", "is no list"},
		{`{"entries": [`, "", "", "list.json:1:"},
	} {
		l, err := Open(context.Background(), write(t, strings.Replace(c.list, c.old, c.new, 1)), 1)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s instead of %s: error %v, want %q", c.new, c.old, err, c.want)
		}
		if c.want == "" && (len(l.Runs) != 2 || !l.Fresh || fmt.Sprint(lines(t, "", l.Runs[1])) != "[tagnet x measure: tagnet y]") {
			t.Errorf("the list is %+v", l)
		}
	}
}
