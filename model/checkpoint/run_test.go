package checkpoint

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/history"
	"tagnet/formats/lock"
	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
)

func TestCheckRun(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"main": true, "wide-2": true, "0.5_dropout": true, strings.Repeat("x", 128): true,
		"": false, ".": false, "..": false, ".hidden": false, "-rf": false, "a/b": false, `a\b`: false, "a b": false, "a\nb": false,
		"gs:": false, "ä": false, strings.Repeat("x", 129): false,
	} {
		if err := CheckRun(name); (err == nil) != valid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestCheckLayout runs the command that an old workspace's error names.
func TestCheckLayout(t *testing.T) {
	t.Parallel()
	w := filepath.Join(t.TempDir(), "it's mine")
	write := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := storage.WriteFile(t.Context(), storage.Join(w, name), []byte(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("graph/manifest.json", "training.jsonl", "checkpoints/best", "messages/mine.txt")
	if err := CheckLayout(t.Context(), w); err != nil {
		t.Errorf("folders that no pipeline wrote: %v", err)
	}
	write("checkpoints/"+lock.FileName, "evaluation/test/"+manifest.FileName)
	old := new(OldLayout)
	err := CheckLayout(t.Context(), w)
	if !errors.As(err, &old) {
		t.Fatalf("error %v", err)
	}
	if diff := cmp.Diff([]string{"checkpoints", "evaluation", "training.jsonl"}, old.Names); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(err.Error(), old.Command()) {
		t.Errorf("%v does not name %s", err, old.Command())
	}
	if output, err := exec.CommandContext(t.Context(), "sh", "-c", old.Command()).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", old.Command(), err, output)
	}
	if err := CheckLayout(t.Context(), w); err != nil {
		t.Error(err)
	}
	for _, name := range []string{FolderName + "/best", "evaluation/test/manifest.json", history.File} {
		if data, err := os.ReadFile(filepath.Join(w, RunFolder(DefaultRun), name)); err != nil || string(data) != strings.TrimPrefix(name, "runs/main/") {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

func TestCheckLayoutOfBucket(t *testing.T) {
	t.Parallel()
	want := "gcloud storage mv gs://b/w/checkpoints gs://b/w/training.jsonl gs://b/w/runs/main/"
	if got := (&OldLayout{"gs://b/w", []string{"checkpoints", "training.jsonl"}}).Command(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := CheckLayout(t.Context(), storagetest.Memory(t)); err != nil {
		t.Errorf("no workspace: %v", err)
	}
}

// TestUnknownNamesAreBounded checks that the error of an unknown epoch of a long training lists a few.
func TestUnknownNamesAreBounded(t *testing.T) {
	t.Parallel()
	f := folderOf(t)
	for epoch := 1; epoch <= 9; epoch++ {
		save(t, f, record(epoch, 0))
	}
	_, err := f.Record(t.Context(), "epoch-999")
	if want := "there are best, last, epoch-001, epoch-002, epoch-003, 3 more, epoch-007, epoch-008, epoch-009"; !errors.Is(err, ErrUnknown) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %q at the end", err, want)
	}
}
