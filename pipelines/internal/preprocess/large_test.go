package preprocess

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tagnet/formats/storage/lock"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/encode"
)

// hub is a star: so many entities that know one, and one that knows as many.
func hub(n int) map[string]string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "e%d\tknows\thub\nother hub\tknows\te%d\n", i, i)
	}
	return map[string]string{"train.txt": text.String(), "valid.txt": "hub\tknows\thub\n", "test.txt": "hub\tknows\tother hub\n"}
}

func TestOneEntity(t *testing.T) {
	workspace := t.TempDir()
	loop := "me\tknows\tme\n"
	pipelinetest.Succeed(t, Pipeline(), "--dataset", pipelinetest.Dataset(t, map[string]string{"train.txt": loop, "valid.txt": loop, "test.txt": loop}),
		"--workspace", workspace)
	l, err := encode.Load(t.Context(), filepath.Join(workspace, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	if g := l.Train.Graph; g.Entities != 1 || g.Edges() != 2 || g.Degree(0) != 2 {
		t.Errorf("%+v", g)
	}
}

// TestPackedTextGivesTheSameTables also holds that a packed file's lines are numbered.
func TestPackedTextGivesTheSameTables(t *testing.T) {
	plain, gzip := t.TempDir(), t.TempDir()
	files := small()
	pipelinetest.Succeed(t, Pipeline(), "--dataset", pipelinetest.Dataset(t, files), "--workspace", plain)
	files["train.txt.gz"] = packed(t, files["train.txt"])
	delete(files, "train.txt")
	pipelinetest.Succeed(t, Pipeline(), "--dataset", pipelinetest.Dataset(t, files), "--workspace", gzip)
	got, want := pipelinetest.Files(t, filepath.Join(gzip, "graph")), pipelinetest.Files(t, filepath.Join(plain, "graph"))
	for _, texts := range []map[string]string{got, want} {
		delete(texts, "manifest.json") // has the hash of the text
		delete(texts, "summary.json")  // has the name of the folder
	}
	pipelinetest.Same(t, got, want)
	files["train.txt.gz"] = packed(t, "a\tr\tb\nbad\n")
	folder := pipelinetest.Dataset(t, files)
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--dataset", folder, "--workspace", t.TempDir()); code == 0 ||
		!strings.HasPrefix(stderr, folder+"/train.txt.gz:2:") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// refused returns the least memory that the refusal of less names.
func refused(t *testing.T, folder, workspace, memory string) (least string) {
	t.Helper()
	code, _, stderr := pipelinetest.Run(t, Pipeline(), "--dataset", folder, "--workspace", workspace, "--memory", memory)
	found := regexp.MustCompile(`(?m)^--memory ` + memory + ` is too small: .* takes at least (\d+) MiB`).FindStringSubmatch(stderr)
	if code != command.ExitUsage || found == nil {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	return found[1]
}

// TestMemory asks for too little, and then for what the error names; the tables are those of any other budget.
func TestMemory(t *testing.T) {
	folder, first, second := pipelinetest.Dataset(t, small()), t.TempDir(), t.TempDir()
	pipelinetest.Succeed(t, Pipeline(), "--dataset", folder, "--workspace", first, "--memory", refused(t, folder, first, "1"))
	pipelinetest.Succeed(t, Pipeline(), "--dataset", folder, "--workspace", second)
	pipelinetest.Same(t, pipelinetest.Files(t, first), pipelinetest.Files(t, second))
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--dataset", folder, "--workspace", first, "--memory", "0"); code != command.ExitUsage ||
		!strings.HasPrefix(stderr, "--memory") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestNamesBeyondTheBudget has more names than the least budget for any has room for, which is
// known when they are counted.
func TestNamesBeyondTheBudget(t *testing.T) {
	folder, workspace := pipelinetest.Dataset(t, hub(60_000)), t.TempDir()
	least := refused(t, folder, workspace, refused(t, folder, workspace, "1"))
	if left := pipelinetest.Files(t, workspace); len(left) != 0 {
		t.Errorf("%d files are left", len(left))
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--dataset", folder, "--workspace", workspace, "--memory", least); code != 0 {
		t.Errorf("with the least that would do: exit %d: %s", code, stderr)
	}
}

// TestNothingUnsortedIsLeft checks that what is sorted on disk goes with a run, be it complete,
// refused or killed.
func TestNothingUnsortedIsLeft(t *testing.T) {
	workspace, folder := t.TempDir(), pipelinetest.Dataset(t, small())
	spill := filepath.Join(workspace, "graph", spillFolder)
	gone := func(after string) {
		t.Helper()
		if _, err := os.Stat(spill); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after %s %s is there: %v", after, spill, err)
		}
	}
	pipelinetest.Succeed(t, Pipeline(), "--dataset", folder, "--workspace", workspace)
	gone("a whole run")
	want := pipelinetest.Files(t, workspace)
	bad := small()
	bad["test.txt"] = "anna\thates\tbert\n"
	if code, _, _ := pipelinetest.Run(t, Pipeline(), "--dataset", pipelinetest.Dataset(t, bad), "--workspace", workspace, "--force"); code == 0 {
		t.Fatal("an unknown relation was accepted")
	}
	gone("an error")
	pipelinetest.Same(t, pipelinetest.Files(t, workspace), want) // the graph stays
	pipelinetest.Remove(t, filepath.Join(workspace, "graph", "manifest.json"))
	for path, text := range map[string]string{filepath.Join(workspace, "graph", lock.FileName): "",
		filepath.Join(spill, "edges-training-train-0-00000"): "half"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		pipelinetest.Write(t, path, text)
	}
	pipelinetest.Succeed(t, Pipeline(), "--dataset", folder, "--workspace", workspace)
	gone("a killed run and a whole one")
	pipelinetest.Same(t, pipelinetest.Files(t, workspace), want)
}
