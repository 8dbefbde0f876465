package score

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/pipelines/internal/bundle"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/train"
	"tagnet/stages/worker"
)

// within returns a workspace with a model that was trained with a reach, and an inference graph of other entities.
func within(t testing.TB) string {
	t.Helper()
	return pipelinetest.Template(t, "within", func(workspace string) {
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace,
			"--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(1, "e", 40)), "--inference", pipelinetest.Dataset(t, pipelinetest.Chain(2, "o", 80)))
		pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--layers", "3", "--dim", "4", "--epochs", "1", "--negatives", "2", "--reach", "9")
	})
}

// TestBundles compares evaluations that read parts of the graph with those that hold it.
func TestBundles(t *testing.T) {
	w := within(t)
	pipelinetest.Bundles(t, w, 9, 3, "test", "valid")
	pipelinetest.Bundles(t, w, 5, 3, "test")
	for _, flags := range [][]string{{}, {"--split", "valid", "--top_k", "3"}, {"--reach", "5", "--top_k", "0"}, {"--limit", "11"}} {
		flags = append(flags, "--workspace", w, "--force")
		worker.Forget("graph")
		if code, _, stderr := pipelinetest.Run(t, Pipeline(), append(flags, "--bundles")...); code != 0 || strings.Contains(stderr, "--device cuda") {
			t.Fatalf("%v: exit code %d, %s", flags, code, stderr)
		}
		if pipelinetest.HoldsGraph(t, w) {
			t.Errorf("%v: scoring from parts loads the graph", flags)
		}
		got := pipelinetest.Files(t, filepath.Join(w, "runs/main/evaluation"))
		pipelinetest.Succeed(t, Pipeline(), flags...)
		want := pipelinetest.Files(t, filepath.Join(w, "runs/main/evaluation"))
		rankings := 0
		for name := range want {
			if strings.Contains(name, "rankings") {
				rankings++
			}
		}
		if rankings == 0 {
			t.Errorf("%v: no rankings among %d files", flags, len(want))
		}
		sameButBaselines(t, got, want)
	}
	if code, out, _ := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--limit", "11", "--bundles"); code != 0 ||
		!strings.Contains(out, "is complete with the same configuration") {
		t.Errorf("an evaluation that is there: exit code %d, %s", code, out)
	}
}

// sameButBaselines compares evaluations that read parts of the graph with those that hold it. Only metrics of these
// have what a look at the whole graph gives, and manifests have the checksum of metrics.
func sameButBaselines(t *testing.T, parts, whole map[string]string) {
	t.Helper()
	for _, files := range []map[string]string{parts, whole} {
		for name, text := range files {
			switch filepath.Base(name) {
			case manifest.FileName:
				delete(files, name)
			case metrics.File:
				files[name] = withoutBaselines(t, text)
			}
		}
	}
	pipelinetest.Same(t, parts, whole)
}

// withoutBaselines returns a text of metrics without what compares them with baselines.
func withoutBaselines(t *testing.T, text string) string {
	t.Helper()
	var m metrics.Evaluation
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	m.ByLinks, m.Baselines = nil, nil
	without := "mem://" + t.Name() + "/" + metrics.File
	if err := storage.WriteJSON(t.Context(), without, m); err != nil {
		t.Fatal(err)
	}
	rest, err := storage.ReadFile(t.Context(), without)
	if err != nil {
		t.Fatal(err)
	}
	return string(rest)
}

// TestBundlesOfASample scores from parts of some queries as from the graph, and refuses others.
func TestBundlesOfASample(t *testing.T) {
	w := within(t)
	pipelinetest.Succeed(t, bundle.Pipeline(), "--workspace", w, "--split", "test", "--reach", "9", "--layers", "3", "--limit", "11")
	flags := []string{"--workspace", w, "--limit", "11", "--force"}
	pipelinetest.Succeed(t, Pipeline(), append(flags, "--bundles")...)
	got := pipelinetest.Files(t, filepath.Join(w, "runs/main/evaluation"))
	if text := got["test/metrics.json"]; text != withoutBaselines(t, text) {
		t.Errorf("parts of the graph give baselines: %s", text)
	}
	pipelinetest.Succeed(t, Pipeline(), flags...)
	sameButBaselines(t, got, pipelinetest.Files(t, filepath.Join(w, "runs/main/evaluation")))
	for limit, remedy := range map[string]string{"0": "--layers 3 --force", "12": "--layers 3 --limit 12 --force"} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--bundles", "--force", "--limit", limit)
		if code != 1 || !strings.Contains(stderr, "a sample of 11 of the ") ||
			!strings.Contains(stderr, "run go run ./pipelines/bundle --workspace "+w+" --split test --reach 9 "+remedy) {
			t.Errorf("--limit %s: exit code %d, %s", limit, code, stderr)
		}
	}
}

// TestBundlesAreRefused names the remedy of what parts of the graph cannot do, and of parts that are missing.
func TestBundlesAreRefused(t *testing.T) {
	w := within(t)
	pipelinetest.Bundles(t, w, 9, 3, "train")
	for _, c := range []struct {
		flags []string
		code  int
		text  string
	}{
		{[]string{}, 1, "run go run ./pipelines/bundle --workspace W --split test --reach 9 --layers 3"},
		{[]string{"--reach", "7"}, 1, "run go run ./pipelines/bundle --workspace W --split test --reach 7 --layers 3"},
		{[]string{"--reach", "0"}, 2, "give --reach"},
		{[]string{"--reach", "100"}, 2, "the graph has 79 entities"},
		{[]string{"--model", "zero"}, 2, "--bundles with a model of --relations graph"},
		{[]string{"--protocol", "grail"}, 2, "--bundles with --protocol"},
		{[]string{"--split", "train"}, 2, "--bundles with --split train"},
	} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), append(c.flags, "--workspace", w, "--bundles")...)
		if code != c.code || !strings.Contains(stderr, strings.Replace(c.text, "W", w, 1)) {
			t.Errorf("%v: exit code %d, %s", c.flags, code, stderr)
		}
	}
	untrained := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", untrained, "--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(1, "e", 40)))
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", untrained, "--bundles"); code != 2 ||
		!strings.Contains(stderr, "--bundles with a model of --relations graph") {
		t.Errorf("without a model: exit code %d, %s", code, stderr)
	}
}
