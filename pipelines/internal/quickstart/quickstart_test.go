package quickstart

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/stages/evaluate"
)

// TestQuickstart runs the whole way twice: it must learn the rules of the sample, and a second
// run must find everything done.
func TestQuickstart(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a model: about half a minute")
	}
	root := t.TempDir()
	run := func() string {
		var out, problems bytes.Buffer
		if code := command.Run(context.Background(), Pipeline(), []string{"--workspace", root}, &out, &problems); code != command.ExitOK {
			t.Fatalf("exit code %d: %s", code, problems.String())
		}
		return out.String()
	}
	first := run()
	text, err := os.ReadFile(filepath.Join(root, "evaluation", "test", "metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m evaluate.Metrics
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if !(m.Pessimistic.MRR >= 0.9) || m.Queries < 500 {
		t.Errorf("filtered pessimistic MRR %.4f over %d queries, want at least 0.9 over 500", m.Pessimistic.MRR, m.Queries)
	}
	page, err := os.ReadFile(filepath.Join(root, "report", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(page), `class="gap"`) {
		t.Error("the report of a whole run says that something is missing")
	}
	// The page lets long names break, which is no part of a name.
	said := first + strings.ReplaceAll(string(page), "<wbr>", "")
	for _, want := range []string{"MRR ", "report: ", "index.html", "cousin_of"} {
		if !strings.Contains(said, want) {
			t.Errorf("neither the terminal nor the page says %q", want)
		}
	}
	checkpoint := filepath.Join(root, "checkpoints", "epoch-001.safetensors")
	before, err := os.Stat(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	second := run()
	after, err := os.Stat(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	if !before.ModTime().Equal(after.ModTime()) {
		t.Error("a second run trained again")
	}
	// Of all that the first run wrote the second writes the page alone, and says so.
	written := lines(first, "wrote ")
	index := filepath.Join(root, "report", "index.html")
	others := slices.DeleteFunc(slices.Clone(written), func(url string) bool { return url == index })
	if got := lines(second, "wrote "); !slices.Equal(got, []string{index}) {
		t.Errorf("a second run says that it wrote %q", got)
	}
	if got := lines(second, "there already: "); len(got) < 10 || !slices.Equal(got, others) {
		t.Errorf("a second run says that %q are there, want %q", got, others)
	}
}

// lines are what stands behind a prefix in the lines that have it.
func lines(text, prefix string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			found = append(found, rest)
		}
	}
	return found
}

func TestShownLeavesDefaultsOut(t *testing.T) {
	got := strings.Join(shown([]string{"--workspace", "./workspace", "--seed", "0", "--split", "test", "--workspace", "w", "--seed", "7"}), " ")
	if want := "--split test --workspace w --seed 7"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAnotherGraph holds that quickstart names its own --force where a step would replace something.
func TestAnotherGraph(t *testing.T) {
	dataset, root := t.TempDir(), t.TempDir()
	for _, split := range []string{"train", "valid", "test"} {
		pipelinetest.Write(t, filepath.Join(dataset, split+".txt"), "a\tr\tb\n")
	}
	var out, problems bytes.Buffer
	if code := command.Run(t.Context(), preprocess.Pipeline(), []string{"--workspace", root, "--dataset", dataset}, &out, &problems); code != command.ExitOK {
		t.Fatal(problems.String())
	}
	code := command.Run(t.Context(), Pipeline(), []string{"--workspace", root}, &out, &problems)
	want := "; go run ./pipelines/quickstart --workspace " + root + " --force does so with every step\n"
	if code != command.ExitFailure || !strings.HasSuffix(problems.String(), want) {
		t.Errorf("exit code %d, %q: want 1 and %q at the end", code, problems.String(), want)
	}
}
