package preprocess

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestSample checks that the built-in sample is used, and said to be, without --dataset; that
// the seed decides it; and that a workspace may lie anywhere that storage knows.
func TestSample(t *testing.T) {
	workspace := "mem://" + t.Name()
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", workspace, "--seed", "1")
	if !strings.HasPrefix(out, "no --dataset: using the built-in sample") {
		t.Errorf("the sample is not announced: %s", out)
	}
	s, err := counts.ReadDataset(context.Background(), workspace+"/graph")
	if err != nil || s.Dataset != "sample" || s.Facts == 0 || s.Queries["test"] == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if code, out, _ := pipelinetest.Run(t, Pipeline(), "--workspace", workspace, "--seed", "1"); code != 0 || !strings.Contains(out, "is complete") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", workspace, "--seed", "2"); code == 0 ||
		!strings.Contains(stderr, "another configuration (it is not the built-in sample of this --seed)") {
		t.Errorf("another seed: exit %d, %s", code, stderr)
	}
}

// TestSampleBesideAnotherGraph checks that a forgotten --dataset writes nothing into a workspace,
// and that the sample itself may be forgotten.
func TestSampleBesideAnotherGraph(t *testing.T) {
	w := t.TempDir()
	sample := filepath.Join(w, "sample", "train.txt")
	dataset := pipelinetest.Dataset(t, small())
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", dataset)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure,
		Says: []string{"(--dataset is " + filepath.Base(dataset) + " there, not given (the built-in sample) here)", w + " --force"}}, "--workspace", w)
	if _, err := os.Stat(sample); err == nil {
		t.Error("the sample was made all the same")
	}
	if code, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--force"); code != 0 || !strings.Contains(out, "built-in sample") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	before, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, _ := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--seed", "9"); code != command.ExitFailure {
		t.Errorf("another seed: exit %d", code)
	}
	if after, err := os.ReadFile(sample); err != nil || string(after) != string(before) {
		t.Errorf("another seed's sample stands in the place of the one that was read: %v", err)
	}
	pipelinetest.Remove(t, filepath.Dir(sample))
	if code, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w); code != 0 || !strings.Contains(out, "is complete with the same data") {
		t.Errorf("without its texts: exit %d: %s%s", code, out, stderr)
	}
}

// TestDifferencesNameFlags changes what --dataset and --inference name since the graph was made.
func TestDifferencesNameFlags(t *testing.T) {
	dataset := pipelinetest.Dataset(t, small())
	inference := pipelinetest.Dataset(t, map[string]string{"train.txt": "x\tparent\ty\n", "test.txt": "x\tparent\ty\n"})
	w := t.TempDir()
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", dataset, "--inference", inference)
	for _, c := range []struct {
		change func()
		flags  []string
		says   string
	}{
		{func() {}, []string{"--dataset", dataset}, "(--inference is " + filepath.Base(inference) + " there, not given here)"},
		{func() { pipelinetest.Write(t, filepath.Join(dataset, "valid.txt"), "anna\tlikes\tbert\n") }, []string{"--dataset", dataset, "--inference", inference},
			"(valid.txt of --dataset differs)"},
		{func() { pipelinetest.Write(t, filepath.Join(inference, "test.txt"), "y\tparent\tx\n") },
			[]string{"--dataset", dataset, "--inference", inference, "--on_bad_line", "reject"},
			"(test.txt of --inference differs; valid.txt of --dataset differs; on_bad_line is "},
	} {
		c.change()
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{c.says}}, append(c.flags, "--workspace", w)...)
	}
}

// TestDifferencesNameFiles changes files of other names and formats since the graph was made.
func TestDifferencesNameFiles(t *testing.T) {
	csv := map[string]string{}
	for name, text := range small() {
		csv[strings.Replace(name, "txt", "csv", 1)] = strings.ReplaceAll(text, "\t", ",")
	}
	ids := map[string]string{"train.txt": "0\t0\t1\n1\t0\t2\n", "valid.txt": "0\t0\t2\n", "test.txt": "2\t0\t0\n", "entities.dict": "0\ta\n1\tb\n2\tc\n"}
	var one strings.Builder
	for i := range 200 {
		fmt.Fprintf(&one, "e%d\tknows\te%d\n", i*i%37, i*7%31)
	}
	for _, c := range []struct {
		files              map[string]string
		change, text, says string
		flags, otherwise   []string
	}{
		{csv, "valid.csv", "anna,likes,bert\n", "(valid.csv of --dataset differs)", nil, nil},
		{ids, "entities.dict", "0\ta\n1\tb\n2\td\n", "(the file of entity names of --dataset differs)", nil, nil},
		{map[string]string{"mine.tsv": one.String()}, "mine.tsv", one.String() + "e1\tknows\te2\n", "(mine.tsv of --dataset differs)",
			[]string{"--split", "60,20,20"}, nil},
		{map[string]string{"mine.tsv": one.String()}, "mine.tsv", one.String(), `(split is "60,20,20" there, "50,25,25" here)`, []string{"--split", "60,20,20"},
			[]string{"--split", "50,25,25"}},
	} {
		folder, w := pipelinetest.Dataset(t, c.files), t.TempDir()
		pipelinetest.Succeed(t, Pipeline(), append(c.flags, "--workspace", w, "--dataset", folder)...)
		pipelinetest.Write(t, filepath.Join(folder, c.change), c.text)
		flags := c.flags
		if c.otherwise != nil {
			flags = c.otherwise
		}
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{c.says}},
			append(flags, "--workspace", w, "--dataset", folder)...)
	}
	folder, w := pipelinetest.Dataset(t, small()), t.TempDir()
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", folder)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure,
		Says: []string{"--dataset " + folder + " --format csv --force to overwrite it"}}, "--workspace", w, "--dataset", folder, "--format", "csv")
	w = t.TempDir()
	names := filepath.Join(folder, "names.tsv")
	flags := []string{"--workspace", w, "--dataset", folder, "--entity_names", names}
	pipelinetest.Write(t, names, "anna\tAnna\n")
	pipelinetest.Succeed(t, Pipeline(), flags...)
	pipelinetest.Write(t, names, "anna\tAnne\n")
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"(the file of --entity_names differs)"}}, flags...)
}

// TestNextLeavesOutWhatExists runs again beside outputs of the commands that it would name.
func TestNextLeavesOutWhatExists(t *testing.T) {
	w := t.TempDir()
	flags := []string{"--workspace", w, "--dataset", pipelinetest.Dataset(t, small())}
	for _, c := range []struct{ folder, next string }{
		{"graph", "next: go run ./pipelines/discover --workspace " + w + "\nnext: go run ./pipelines/train --workspace " + w + "\n"},
		{"distances/test", "next: go run ./pipelines/discover --workspace " + w + "\nnext: go run ./pipelines/train --workspace " + w + "\n"},
		{"runs/main/checkpoints", "next: go run ./pipelines/score --workspace " + w + "\n"},
		{"runs/main/evaluation/test", "next: go run ./pipelines/report --workspace " + w + "\n"},
	} {
		if c.folder != "graph" {
			if err := manifest.Write(t.Context(), filepath.Join(w, c.folder), manifest.Manifest{Stage: "test"}); err != nil {
				t.Fatal(err)
			}
		}
		out := pipelinetest.Succeed(t, Pipeline(), flags...)
		if _, next, _ := strings.Cut(out, "summary.json\n"); next != c.next {
			t.Errorf("with %s: %q, want %q", c.folder, next, c.next)
		}
	}
}
