package train

import (
	"path/filepath"
	"strings"
	"testing"

	"tagnet/pipelines/internal/bundle"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

// chain returns a workspace with a graph whose parts leave out entities.
func chain(t testing.TB) string {
	t.Helper()
	workspace := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(1, "e", 60)))
	return workspace
}

// TestBundles compares trainings that read parts of the graph, by one worker and by two, with those that hold it: all
// bytes of their folders are equal.
func TestBundles(t *testing.T) {
	w := chain(t)
	pipelinetest.Bundles(t, w, 12, 3, "train", "valid")
	trainings := map[string][]string{
		"one": small(w, "--reach", "12", "--epochs", "2", "--preset", presetFile(t, `{"batching": "relation"}`)),
		"two": byTwo(w, "--reach", "12", "--epochs", "2"),
	}
	for name, flags := range trainings {
		code, out, stderr := pipelinetest.Run(t, Pipeline(), append(flags, "--run", name+"-parts", "--bundles")...)
		if code != 0 || strings.Contains(stderr, "--device cuda") {
			t.Fatalf("%s: exit code %d, %s", name, code, stderr)
		}
		if next := "--run " + name + "-parts --bundles\n"; !strings.HasSuffix(out, next) || !strings.Contains(out, "/score --workspace ") {
			t.Errorf("the next command is not score with %s: %s", next, out)
		}
	}
	if pipelinetest.HoldsGraph(t, w) {
		t.Error("a training from parts loads the graph")
	}
	for name, flags := range trainings {
		pipelinetest.Succeed(t, Pipeline(), append(flags, "--run", name)...)
		if !pipelinetest.HoldsGraph(t, w) {
			t.Error("a training does not load the graph")
		}
		want, got := pipelinetest.Files(t, filepath.Join(w, "runs", name, "checkpoints")),
			pipelinetest.Files(t, filepath.Join(w, "runs", name+"-parts", "checkpoints"))
		if len(want) < 7 || want["best"] == "" {
			t.Fatalf("%s: files %v", name, len(want))
		}
		pipelinetest.Same(t, got, want)
	}
	weights := filepath.Join(w, "runs/one/checkpoints/epoch-001.safetensors")
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--run", "further", "--from", weights, "--bundles"); code != 2 ||
		!strings.Contains(stderr, "--bundles with --from") {
		t.Errorf("--bundles with --from: exit code %d, %s", code, stderr)
	}
}

// TestBundlesOfASample compares trainings that are validated on some queries, whose parts alone are there.
func TestBundlesOfASample(t *testing.T) {
	w := chain(t)
	of := []string{"--workspace", w, "--reach", "12", "--layers", "3"}
	pipelinetest.Succeed(t, bundle.Pipeline(), append(of, "--queries_per_epoch", "20", "--epochs", "2", "--batch_size", "4")...)
	pipelinetest.Succeed(t, bundle.Pipeline(), append(of, "--split", "valid", "--limit", "5")...)
	flags := small(w, "--reach", "12", "--epochs", "2", "--queries_per_epoch", "20", "--batch_size", "4")
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), append(flags, "--bundles")...); code != 1 ||
		!strings.Contains(stderr, "--force, or give score --limit 5 or train --valid_limit 5") {
		t.Errorf("all validation queries: exit code %d, %s", code, stderr)
	}
	flags = append(flags, "--valid_limit", "5")
	pipelinetest.Succeed(t, Pipeline(), append(flags, "--run", "parts", "--bundles")...)
	pipelinetest.Succeed(t, Pipeline(), append(flags, "--run", "graph")...)
	got, want := pipelinetest.Files(t, filepath.Join(w, "runs/parts/checkpoints")), pipelinetest.Files(t, filepath.Join(w, "runs/graph/checkpoints"))
	if len(want) < 8 {
		t.Fatalf("%d files", len(want))
	}
	pipelinetest.Same(t, got, want)
}

// TestBundlesAreRefused names the remedy of what parts of the graph cannot do, and of parts that are missing.
func TestBundlesAreRefused(t *testing.T) {
	w := chain(t)
	pipelinetest.Bundles(t, w, 12, 3, "train")
	for _, c := range []struct {
		flags []string
		code  int
		text  string
	}{
		{[]string{}, 2, "add --reach"},
		{[]string{"--reach", "1000"}, 2, "the graph has 60 entities"},
		{[]string{"--reach", "12", "--relations", "graph"}, 2, "made from all edges"},
		{[]string{"--reach", "12", "--answers_per_query", "4"}, 2, "queries of one answer"},
		{[]string{"--reach", "12", "--device", "cuda"}, 1, "use --device cpu"},
		{[]string{"--reach", "12"}, 1, "run go run ./pipelines/bundle --workspace W --split valid --reach 12 --layers 3"},
		{[]string{"--reach", "11"}, 1, "run go run ./pipelines/bundle --workspace W --split train --reach 11 --layers 3"},
		{[]string{"--reach", "11", "--queries_per_epoch", "40"}, 1,
			"run go run ./pipelines/bundle --workspace W --split train --reach 11 --layers 3 --queries_per_epoch 40 --epochs 4 --seed 0 --batch_size 16"},
		{[]string{"--reach", "12", "--remove", "one_hop"}, 1,
			"run go run ./pipelines/bundle --workspace W --split train --reach 12 --layers 3 --remove one_hop --force"},
	} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, append(c.flags, "--bundles")...)...)
		if code != c.code || !strings.Contains(stderr, strings.Replace(c.text, "W", w, 1)) {
			t.Errorf("%v: exit code %d, %s", c.flags, code, stderr)
		}
	}
	if files := pipelinetest.Files(t, filepath.Join(w, "runs")); len(files) > 0 {
		t.Errorf("files of %d trainings", len(files))
	}
	smaller := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", smaller, "--validate_on", "inference",
		"--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(1, "e", 60)), "--inference", pipelinetest.Dataset(t, pipelinetest.Chain(2, "o", 30)))
	pipelinetest.Bundles(t, smaller, 40, 3, "train")
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), small(smaller, "--reach", "40", "--bundles")...); code != 2 ||
		!strings.Contains(stderr, "leave --bundles out") {
		t.Errorf("a reach of more than the inference graph: exit code %d, %s", code, stderr)
	}
}
