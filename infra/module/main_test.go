package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestApply has the places in which the path of a package stands, and those where its name is the program's or a folder's. The module is called
// graphs here, so that renaming this repository leaves the test as it is.
func TestApply(t *testing.T) {
	t.Parallel()
	const path = "example.org/someone/trees"
	r := newRenaming("graphs", path, []string{"go.mod", "model/model.go", "formats/names/doc.go", "docs/page.md"})
	for name, test := range map[string]struct{ file, text, want string }{
		"imports": {"a.go",
			"package a\n\nimport (\n\t\"zebra.org/z\"\n\t_ \"graphs/formats/names\"\n\t\"graphs/model\"\n)\n",
			"package a\n\nimport (\n\t_ \"example.org/someone/trees/formats/names\"\n\t\"example.org/someone/trees/model\"\n\t\"zebra.org/z\"\n)\n"},
		"go.mod":      {"go.mod", "module graphs\n\ngo 1.26.0\n", "module " + path + "\n\ngo 1.26.0\n"},
		"a submodule": {"model/kernel/go.mod", "module graphs/model/kernel\n", "module " + path + "/model/kernel\n"},
		"build flags": {"Makefile", "-X graphs/formats/names.x=1 -X=graphs/model.y=2", "-X " + path + "/formats/names.x=1 -X=" + path + "/model.y=2"},
		"a document":  {"README.md", "Package `graphs/model` of graphs.", "Package `" + path + "/model` of graphs."},
		"the program": {"README.md", "graphs model; bin/graphs/model; gs://b/graphs/model; graphs/models; my-graphs/model; graphs/docs", "="},
		"a name":      {"a.go", "package a\n\nconst graphs, hash = \"graphs\", \"graphs/%s\"\n", "="},
		"binary":      {"a.arrow", "\x00graphs/model", "="},
	} {
		if test.want == "=" {
			test.want = test.text
		}
		got, err := r.apply(test.file, []byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		again := newRenaming(path, "graphs", []string{"model/model.go", "formats/names/doc.go"})
		if back, err := again.apply(test.file, got); err != nil || len(back) != len(test.text) {
			t.Errorf("%s, and back: %v, %s", name, err, back)
		}
	}
}

func TestPathsThatGoRefuses(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"tagnet", "github.com/a b/c", "-x.org/y", ""} {
		if _, err := rename(t.TempDir(), path); err == nil || !strings.Contains(err.Error(), "want host/owner/name") {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// TestTheTreeBuildsUnderAnotherPath renames a copy of the files that git tracks, vets it, tests included, and runs the
// repository's rules on it. Renamed back, the files are the same.
func TestTheTreeBuildsUnderAnotherPath(t *testing.T) {
	if os.Getenv("TAGNET_RENAMED") == "" {
		t.Skip("it compiles all packages once more: make test-module runs it")
	}
	copied := t.TempDir()
	root := filepath.Join("..", "..")
	files, err := tracked(root)
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if os.IsNotExist(err) {
			continue // removed, but not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		before[file] = string(text)
		target := filepath.Join(copied, file)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, arguments ...string) string {
		t.Helper()
		c := exec.Command(name, arguments...)
		c.Dir = copied
		c.Env = append(os.Environ(), "TAGNET_RENAMED=") // or this test would run itself in the copy
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, out)
		}
		return string(out)
	}
	run("git", "init", "-q")
	run("git", "add", "--all", "--force")
	old := strings.TrimSpace(run("go", "list", "-m"))
	const path = "example.org/someone/graphs"
	changed, err := rename(copied, path)
	if err != nil {
		t.Fatal(err)
	}
	if changed < len(files)/4 {
		t.Errorf("%d of %d files changed: too few to be all that import a package of the module", changed, len(files))
	}
	if module := strings.TrimSpace(run("go", "list", "-m")); module != path {
		t.Errorf("the module is %s, want %s", module, path)
	}
	back := newRenaming(path, old, files)
	for file, want := range before {
		text, err := os.ReadFile(filepath.Join(copied, file))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := back.apply(file, text); err != nil || string(got) != want {
			t.Errorf("%s, renamed and back, differs: %v", file, err)
		}
	}
	run("go", "vet", "./...")
	run("go", "test", "./infra/lint", "./infra/module") // which know the path
}
