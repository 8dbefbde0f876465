package golden

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tagnet/model/graph"
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

// foreign reads the cases of independent implementations in the folder that an environment variable names, or else in a
// folder of ../shared beside the module's root, by name. It skips the test where there are none.
func foreign[C any](t testing.TB, variable, beside string, parse func(text []byte) (C, error)) map[string]C {
	t.Helper()
	folder := cmp.Or(os.Getenv(variable), filepath.Join(moduleRoot(t), "..", "shared", beside))
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skipf("%s has no golden cases (%s names another folder)", folder, variable)
	}
	cases := map[string]C{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if cases[filepath.Base(path)], err = parse(text); err != nil {
			t.Fatalf("reading golden case %s: %v", path, err)
		}
	}
	return cases
}

// newGraph returns the graph of triples of ids.
func newGraph(entities, baseRelations int, triples [][3]int32) (*graph.Graph, error) {
	facts := make([]graph.Fact, len(triples))
	for i, t := range triples {
		facts[i] = graph.Fact{Head: t[0], Relation: t[1], Tail: t[2]}
	}
	return graph.New(entities, baseRelations, facts)
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
