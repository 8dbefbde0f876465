package golden

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"testing"
)

// Directory is the folder of golden cases: the one that the environment variable GOLDEN_DIR
// names (a relative path starts at the project's root), or ../shared/golden beside the root.
func Directory(t testing.TB) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(root) == root {
			t.Fatal("no go.mod above the test's folder")
		}
		root = filepath.Dir(root)
	}
	folder := os.Getenv("GOLDEN_DIR")
	switch {
	case folder == "":
		return filepath.Join(root, "..", "shared", "golden")
	case filepath.IsAbs(folder):
		return folder
	default:
		return filepath.Join(root, folder)
	}
}

// Cases reads every golden case there is, ordered by name. It skips the test where the
// folder is absent, and fails it where the folder holds no case, or one that cannot be read
// or is not understood.
func Cases(t testing.TB) []*Case {
	t.Helper()
	folder := Directory(t)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no golden cases: %s is absent (GOLDEN_DIR names another folder)", folder)
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatalf("no golden cases: %s holds no *.json", folder)
	}
	sort.Strings(paths)
	var cases []*Case
	for _, path := range paths {
		c, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}
