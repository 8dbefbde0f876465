package preprocess

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/encode"
)

// small is a dataset with a loop, parallel relations, and entities that train does not have.
func small() map[string]string {
	return map[string]string{
		"train.txt": "anna\tparent\tbert\nbert\tparent\tcora\nanna\tlikes\tbert\ncora\tlikes\tcora\ndora\tparent\tanna\n",
		"valid.txt": "anna\tlikes\tcora\n",
		"test.txt":  "dora\tlikes\temil\r\nbert\tlikes\tanna\r\n",
	}
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// named tells a query by names.
func named(l *kg.KG, split string, q graph.Query) string {
	names := l.View(split).Entities
	relation := l.Relations[int(q.Relation)%len(l.Relations)]
	if int(q.Relation) >= len(l.Relations) {
		relation = "~" + relation
	}
	return fmt.Sprintf("%s %s %s", names[q.Source], relation, names[q.Answer])
}

func answersOf(t *testing.T, read func(context.Context) (tables.Answers, error)) tables.Answers {
	t.Helper()
	a, err := read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTransductive(t *testing.T) {
	workspace := t.TempDir()
	out := pipelinetest.Succeed(t, Pipeline(), "--dataset", pipelinetest.Dataset(t, small()), "--workspace", workspace)
	if !strings.Contains(out, "wrote "+filepath.Join(workspace, "graph")) || !strings.Contains(out, "next: go run ./pipelines/") {
		t.Errorf("closing lines are missing: %s", out)
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := encode.Load(interrupted, filepath.Join(workspace, "graph")); !errors.Is(err, context.Canceled) {
		t.Errorf("loading with a context that is canceled: %v", err)
	}
	l, err := encode.Load(t.Context(), filepath.Join(workspace, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"anna", "bert", "cora", "dora", "emil"}; !slices.Equal(l.Train.Entities, want) {
		t.Errorf("entities %v, want %v", l.Train.Entities, want)
	}
	if want := []string{"likes", "parent"}; !slices.Equal(l.Relations, want) {
		t.Errorf("relations %v, want %v", l.Relations, want)
	}
	if l.Inductive() || l.Train.Graph.Edges() != 10 {
		t.Errorf("inductive %v, %d edges", l.Inductive(), l.Train.Graph.Edges())
	}
	ctx := context.Background()
	queries, err := l.Queries(ctx, "test")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range queries {
		got = append(got, named(l, "test", q))
	}
	want := []string{"anna ~likes bert", "bert likes anna", "dora likes emil", "emil ~likes dora"}
	if !slices.Equal(got, want) {
		t.Errorf("test queries %q, want %q", got, want)
	}
	// anna likes bert (train) and cora (valid); while training only bert is known.
	if known := answersOf(t, l.Train.Answers).Of(0, 0); !slices.Equal(known, []int32{1, 2}) {
		t.Errorf("anna likes %v", known)
	}
	if known := l.Train.Graph.Answers(0, 0); !slices.Equal(known, []int32{1}) {
		t.Errorf("anna likes %v while training", known)
	}
	// The inverse of likes is relation 2: who likes anna? bert (test).
	if known := answersOf(t, l.Train.Answers).Of(0, 2); !slices.Equal(known, []int32{1}) {
		t.Errorf("anna is liked by %v", known)
	}
}

func TestInductive(t *testing.T) {
	workspace := t.TempDir()
	inference := pipelinetest.Dataset(t, map[string]string{
		"train.txt": "xena\tparent\tyves\nyves\tlikes\tzoe\nyves\tlikes\tzoe\n", "valid.txt": "xena\tlikes\tyves\n",
		"test.txt": "xena\tlikes\tzoe\nyves\tlikes\tzoe\n",
	})
	out := pipelinetest.Succeed(t, Pipeline(), "--dataset", pipelinetest.Dataset(t, small()), "--inference", inference, "--workspace", workspace)
	if !strings.Contains(out, "1 repeated fact in the inference graph's train.txt") ||
		!strings.Contains(out, "warning: 1 of 2 facts of test (50.0%) also stand in the inference graph") {
		t.Errorf("nothing is said about the repeated fact, or the one known already: %s", out)
	}
	l, err := encode.Load(t.Context(), filepath.Join(workspace, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	if !l.Inductive() || l.View("valid") != l.Train || l.View("test") != l.Inference {
		t.Fatal("test must ask the inference graph, valid the training graph")
	}
	if want := []string{"xena", "yves", "zoe"}; !slices.Equal(l.Inference.Entities, want) {
		t.Errorf("entities %v, want %v", l.Inference.Entities, want)
	}
	if l.Inference.Graph.Edges() != 4 || l.Inference.Graph.BaseRelations != 2 {
		t.Errorf("%d edges, %d relations", l.Inference.Graph.Edges(), l.Inference.Graph.BaseRelations)
	}
	queries, err := l.Queries(context.Background(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if len(queries) != 4 || named(l, "test", queries[0]) != "xena likes zoe" {
		t.Errorf("%d test queries, the first %s", len(queries), named(l, "test", queries[0]))
	}
	if known := answersOf(t, l.Inference.Answers).Of(0, 0); !slices.Equal(known, []int32{1, 2}) { // valid and test of the inference graph
		t.Errorf("xena likes %v", known)
	}
}

// TestBadInputs checks that each of these ends with a non-zero code, one line that begins as
// expected, and nothing that looks whole.
func TestBadInputs(t *testing.T) {
	change := func(name, text string) map[string]string {
		files := small()
		files[name] = text
		return files
	}
	without := func(name string) map[string]string {
		files := small()
		delete(files, name)
		return files
	}
	whole := packed(t, small()["train.txt"])
	cut := without("train.txt")
	cut["train.txt.gz"] = whole[:len(whole)-9]
	both := small()
	both["train.txt.gz"] = whole
	tests := map[string]struct {
		files map[string]string
		begin string // DIR stands for the dataset's folder
		says  string
	}{
		"four fields": {change("train.txt", "a\tr\tb\na\tr\tb\tc\n"), "DIR/train.txt:2:",
			"4 fields instead of 3; separate head, relation and tail by single tabs, or skip such lines with --on_bad_line reject"},
		"empty file":       {change("valid.txt", ""), "DIR/valid.txt: ", "empty"},
		"gzip cut short":   {cut, "reading DIR/train.txt.gz", "cut short"},
		"plain and gzip":   {both, "DIR/train.txt and DIR/train.txt.gz", "remove one"},
		"missing file":     {without("train.txt"), "DIR/train.txt not found", "a folder with train.txt"},
		"unknown relation": {change("test.txt", "anna\tlikes\tbert\nanna\thates\tbert\n"), "DIR/test.txt:2:", `"hates"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			workspace, folder := t.TempDir(), pipelinetest.Dataset(t, test.files)
			code, _, stderr := pipelinetest.Run(t, Pipeline(), "--dataset", folder, "--workspace", workspace)
			if code != command.ExitFailure {
				t.Errorf("exit %d, want %d", code, command.ExitFailure)
			}
			begin := strings.ReplaceAll(test.begin, "DIR", folder)
			if !strings.HasPrefix(stderr, begin) || !strings.Contains(stderr, test.says) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("stderr is %q, want one line that begins %q and says %q", stderr, begin, test.says)
			}
			if left := pipelinetest.Files(t, workspace); len(left) != 0 {
				t.Errorf("%d files are left: %v", len(left), left)
			}
		})
	}
}

func TestBadFlags(t *testing.T) {
	folder := pipelinetest.Dataset(t, small())
	notFolder := filepath.Join(folder, "train.txt")
	tests := map[string]struct {
		arguments []string
		code      int
		says      string
	}{
		"unknown way with bad lines":   {[]string{"--dataset", folder, "--on_bad_line", "skip"}, command.ExitUsage, "--on_bad_line"},
		"missing folder":               {[]string{"--dataset", filepath.Join(folder, "nothing")}, command.ExitUsage, "--dataset"},
		"unknown name":                 {[]string{"--dataset", "fb15k-238"}, command.ExitUsage, "fb15k-237"},
		"empty dataset":                {[]string{"--dataset", ""}, command.ExitUsage, "--dataset is \"\""},
		"inference without dataset":    {[]string{"--inference", folder}, command.ExitUsage, "--inference"},
		"missing inference folder":     {[]string{"--dataset", folder, "--inference", filepath.Join(folder, "nothing")}, command.ExitUsage, "--inference"},
		"workspace that is a file":     {[]string{"--dataset", folder, "--workspace", notFolder}, command.ExitFailure, notFolder},
		"workspace of unknown scheme":  {[]string{"--dataset", folder, "--workspace", "ftp://host/x"}, command.ExitFailure, "ftp"},
		"workspace that holds a graph": {[]string{"--dataset", folder, "--workspace", foreign(t)}, command.ExitFailure, "notes.txt"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			arguments := append([]string{"--workspace", t.TempDir()}, test.arguments...)
			pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: test.code, Says: []string{test.says}}, arguments...)
		})
	}
}

// foreign is a workspace whose graph/ holds somebody's notes.
func foreign(t *testing.T) string {
	t.Helper()
	workspace := t.TempDir()
	if err := os.Mkdir(filepath.Join(workspace, "graph"), 0o777); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Write(t, filepath.Join(workspace, "graph", "notes.txt"), "mine")
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(workspace, "graph", "notes.txt")); err != nil {
			t.Errorf("the notes are gone: %v", err)
		}
	})
	return workspace
}

// TestAgain holds what a second run does: nothing with the same data, nor with the same data
// elsewhere; an error with other data; the same bytes with --force and over an interrupted run.
func TestAgain(t *testing.T) {
	workspace, first := t.TempDir(), pipelinetest.Dataset(t, small())
	folder := filepath.Join(workspace, "graph")
	pipelinetest.Succeed(t, Pipeline(), "--dataset", first, "--workspace", workspace)
	want := pipelinetest.Files(t, folder)
	stamp := func() int64 {
		info, err := os.Stat(filepath.Join(folder, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime().UnixNano()
	}
	before := stamp()
	code, out, stderr := pipelinetest.Run(t, Pipeline(), "--dataset", first, "--workspace", workspace)
	if code != 0 || !strings.Contains(out, "is complete") || stamp() != before {
		t.Errorf("a second run did something: exit %d, %s%s", code, out, stderr)
	}
	if code, out, _ := pipelinetest.Run(t, Pipeline(), "--dataset", pipelinetest.Dataset(t, small()), "--workspace", workspace); code != 0 ||
		!strings.Contains(out, "is complete") {
		t.Errorf("the same data elsewhere: exit %d, %s", code, out)
	}
	other := small()
	other["train.txt"] += "emil\tlikes\tanna\n"
	changed := pipelinetest.Dataset(t, other)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"--dataset is ", "--force", "--workspace"}},
		"--dataset", changed, "--workspace", workspace)
	pipelinetest.Same(t, pipelinetest.Files(t, folder), want)
	pipelinetest.Succeed(t, Pipeline(), "--dataset", changed, "--workspace", workspace, "--force")
	pipelinetest.Succeed(t, Pipeline(), "--dataset", first, "--workspace", workspace, "--force")
	pipelinetest.Same(t, pipelinetest.Files(t, folder), want)

	// What a killed run leaves: no manifest, the lock file, a table cut short, a temporary file.
	for name, text := range map[string]string{lock.FileName: "", "answers.arrow": "half", storage.TemporaryPrefix + "answers.arrow-0123456789abcdef": "half"} {
		pipelinetest.Write(t, filepath.Join(folder, name), text)
	}
	pipelinetest.Remove(t, filepath.Join(folder, "manifest.json"))
	pipelinetest.Succeed(t, Pipeline(), "--dataset", first, "--workspace", workspace)
	pipelinetest.Same(t, pipelinetest.Files(t, folder), want)
	if left, err := filepath.Glob(filepath.Join(folder, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

func TestDamagedFolder(t *testing.T) {
	workspace, folder := t.TempDir(), pipelinetest.Dataset(t, small())
	pipelinetest.Succeed(t, Pipeline(), "--dataset", folder, "--workspace", workspace)
	for _, name := range []string{"answers.arrow", "manifest.json"} {
		path := filepath.Join(workspace, "graph", name)
		data := pipelinetest.Read(t, path)
		for _, damage := range []func(testing.TB, ...string){pipelinetest.Flip, pipelinetest.Cut} {
			damage(t, path)
			pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{name, "--force"}}, "--dataset", folder,
				"--workspace", workspace)
			pipelinetest.Write(t, path, data)
		}
	}
}

// TestTakenOver checks that a run that lost its folder to another one writes nothing there.
func TestTakenOver(t *testing.T) {
	pipelinetest.TakenOver(t, Pipeline(), t.TempDir(), "graph", "--dataset", pipelinetest.Dataset(t, small()))
}
