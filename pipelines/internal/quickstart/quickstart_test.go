package quickstart

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/report"
)

// TestQuickstart runs all steps twice: the model must learn the rules of the sample, and the second
// run must find everything complete. So must a playground.
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
	text, err := os.ReadFile(filepath.Join(root, "runs/main/evaluation", "test", "metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m metrics.Evaluation
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
		t.Error("the report of a complete run has gaps")
	}
	// The page has line break opportunities within long names.
	said := first + strings.ReplaceAll(string(page), "<wbr>", "")
	for _, want := range []string{"MRR ", "report: ", "index.html", "cousin_of"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in the output or the page", want)
		}
	}
	checkpoint := filepath.Join(root, "runs/main/checkpoints", "epoch-001.safetensors")
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
	// The line of the step, not the advice to train for longer.
	if strings.Contains(second, "--epochs 4 --resume") {
		t.Errorf("it resumes a complete training: %s", second)
	}
	askProgram(t, root)
	// The second run rewrites the page alone.
	written := lines(first, "wrote ")
	index := filepath.Join(root, "report", "index.html")
	others := slices.DeleteFunc(slices.Clone(written), func(url string) bool {
		return url == index || strings.HasPrefix(url, filepath.Join(root, answer.ProbabilitiesFolder)) // which a complete training does not open
	})
	if got := lines(second, "wrote "); !slices.Equal(got, []string{index}) {
		t.Errorf("the second run wrote %q", got)
	}
	if got := lines(second, "already exists: "); len(got) < 10 || !slices.Equal(got, others) {
		t.Errorf("the second run found %q, want %q", got, others)
	}
	play(t, root)
}

// askProgram runs the program of model/README.md on two relations of the sample, which takes a small part of the time
// that all take.
func askProgram(t *testing.T, workspace string) {
	t.Helper()
	_, text, _ := strings.Cut(pipelinetest.Read(t, "..", "..", "..", "model", "README.md"), "```go\n")
	program, _, found := strings.Cut(text, "```")
	folder := t.TempDir()
	kinship := regexp.MustCompile(`.*\t(parent_of|child_of)\t.*\n`)
	facts := kinship.FindAllString(pipelinetest.Read(t, workspace, "sample", "train.txt"), -1)
	pipelinetest.Write(t, filepath.Join(folder, "facts.txt"), strings.Join(facts, ""))
	program = strings.Replace(program, `"facts.txt"`, strconv.Quote(filepath.Join(folder, "facts.txt")), 1)
	file := filepath.Join(folder, "main.go")
	pipelinetest.Write(t, file, program)
	out, err := exec.Command("go", "run", "-ldflags=-s -w", file).CombinedOutput()
	want := regexp.MustCompile(`^([01]\.\d\d  [^{}\n]+\n){20}$`)
	if !found || err != nil || !want.Match(out) {
		t.Errorf("%v: it prints\n%s", err, out)
	}
}

// lines returns the rest of the lines that begin with a prefix.
func lines(text, prefix string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			found = append(found, rest)
		}
	}
	return found
}

// TestSharedFlags checks that a step has the flags of the run that are not the defaults.
func TestSharedFlags(t *testing.T) {
	s := Step{Pipeline: report.Pipeline(), Arguments: []string{"--open"}}
	for want, e := range map[string]*command.Environment{
		"--open":                        {Workspace: workspace.New("./workspace")},
		"--workspace w --seed 7 --open": {Workspace: workspace.New("w"), Seed: 7},
	} {
		if got, err := s.command(t.Context(), e); err != nil || strings.Join(got, " ") != want {
			t.Errorf("got %q, %v, want %s", got, err, want)
		}
	}
}

// TestAnotherGraph checks that the error names quickstart's own --force if a step would overwrite another graph.
func TestAnotherGraph(t *testing.T) {
	dataset, root := t.TempDir(), t.TempDir()
	for _, split := range []string{"train", "valid", "test"} {
		pipelinetest.Write(t, filepath.Join(dataset, split+".txt"), "a\tr\tb\n")
	}
	var out, problems bytes.Buffer
	if code := command.Run(t.Context(), preprocess.Pipeline(), []string{"--workspace", root, "--dataset", dataset}, &out, &problems); code != command.ExitOK {
		t.Fatal(problems.String())
	}
	code := command.Run(t.Context(), Pipeline(), []string{"--workspace", root, "--dataset", "sample-shop"}, &out, &problems)
	want := "(--dataset is " + filepath.Base(dataset) + " there, sample-shop here)"
	if !strings.Contains(problems.String(), want) {
		t.Errorf("%q: want %q in it", problems.String(), want)
	}
	want = "; go run ./pipelines/quickstart --workspace " + root + " --dataset sample-shop --force does so with every step\n"
	if code != command.ExitFailure || !strings.HasSuffix(problems.String(), want) {
		t.Errorf("exit code %d, %q: want 1 and %q at the end", code, problems.String(), want)
	}
}
