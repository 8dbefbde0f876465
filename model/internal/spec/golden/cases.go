package golden

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// moduleRoot returns the folder of go.mod.
func moduleRoot(t testing.TB) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return root
		}
		if filepath.Dir(root) == root {
			t.Fatal("no go.mod above the test's folder")
		}
		root = filepath.Dir(root)
	}
}

// further returns the folder of further cases: the one that the environment variable GOLDEN_DIR names (a
// relative path starts at the module's root), or ../shared/golden beside the root.
func further(root string) string {
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

// Cases reads the golden cases of the repository and all cases of the folder of further ones, each ordered by
// name. Without that folder it logs so. A folder without cases, or with an invalid one, fails the test.
func Cases(t testing.TB) []*Case {
	t.Helper()
	root := moduleRoot(t)
	cases := readFolder(t, filepath.Join(root, "model", "internal", "spec", "golden", "testdata"))
	folder := further(root)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		t.Logf("only the golden cases of the repository: %s is absent (GOLDEN_DIR names another folder)", folder)
		return cases
	}
	return append(cases, readFolder(t, folder)...)
}

// readFolder reads the cases of a folder, by name. A folder without cases fails the test.
func readFolder(t testing.TB, folder string) []*Case {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"*.json", "*.json.gz"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		t.Fatalf("no golden cases: %s has no *.json or *.json.gz", folder)
	}
	slices.Sort(paths)
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
