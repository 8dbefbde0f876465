package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestMissingFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	check := func(path, want string) {
		t.Helper()
		err := MissingFile("queries", path, fs.ErrNotExist)
		if err.Error() != want || !errors.Is(err, fs.ErrNotExist) || !errors.As(err, new(*UsageError)) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	path := filepath.Join(folder, "queries.tsv")
	check(path, "--queries: "+path+" does not exist; the folder "+folder+" is empty")
	for i := range 10 {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("notes-%d.md", i)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "query.tsv"), 0o777); err != nil {
		t.Fatal(err)
	}
	check(path, "--queries: "+path+" does not exist; the folder "+folder+
		" has query.tsv/, notes-0.md, notes-1.md, notes-2.md, notes-3.md, notes-4.md, notes-5.md, notes-6.md and 3 more")
	below := filepath.Join(folder, "data", "q.tsv")
	check(below, "--queries: "+below+" does not exist, and neither does the folder "+filepath.Dir(below))
	check("gs://bucket/q.tsv", "--queries: gs://bucket/q.tsv does not exist")
}
