package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// module is the path that go.mod gives.
var module = func() string {
	out, err := exec.Command("go", "list", "-m").Output()
	if err != nil {
		panic(fmt.Sprintf("asking go for the module: %v", err))
	}
	return strings.TrimSpace(string(out))
}()

// goPackage holds the fields of `go list -json` that the rules use.
type goPackage struct {
	ImportPath, Name, Dir              string
	GoFiles, TestGoFiles, SFiles       []string
	Imports, TestImports, XTestImports []string
	Deps                               []string
	IgnoredGoFiles                     []string
	Standard                           bool
}

// below returns the path of a package within the module: "model/graph".
func (p goPackage) below() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// layer returns the top-level folder of a package.
func (p goPackage) layer() string {
	layer, _, _ := strings.Cut(p.below(), "/")
	return layer
}

// root returns the folder of go.mod.
var root = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("asking go for the module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(path))), nil
})

// listed returns the packages of the module.
var listed = sync.OnceValues(func() ([]goPackage, error) {
	top, err := root()
	if err != nil {
		return nil, err
	}
	command := exec.Command("go", "list", "-e", "-json", "./...")
	command.Dir = top
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("reading go list: %w", err)
		}
		packages = append(packages, p)
	}
})

// packages returns the packages of the module, and fails the test if there are none.
func packages(t *testing.T) []goPackage {
	t.Helper()
	list, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 5 {
		t.Fatalf("go list names %d packages: the rules would check nothing", len(list))
	}
	return list
}

// source is a parsed file that is not a test.
type source struct {
	path string // from the root
	file *ast.File
	set  *token.FileSet
}

// at returns the position of a node as "path:line".
func (s source) at(node ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.set.Position(node.Pos()).Line)
}

// sources parses the files of a package without tests, including those for other platforms.
func (p goPackage) sources(t *testing.T) []source {
	t.Helper()
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	var list []source
	for _, name := range append(append([]string(nil), p.GoFiles...), p.IgnoredGoFiles...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		path := filepath.Join(p.Dir, name)
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		below, err := filepath.Rel(top, path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, source{below, file, set})
	}
	return list
}

// tracked lists the files that git tracks and those that "git add" would add. It leaves out top-level
// folders without a tracked file, which are data or workspaces.
func tracked(t *testing.T) (top string, files []string) {
	t.Helper()
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	list := func(arguments ...string) []string {
		command := exec.Command("git", append([]string{"ls-files", "-z"}, arguments...)...)
		command.Dir = top
		out, err := command.Output()
		if err != nil {
			t.Skipf("not a git work tree, or no git: %v", err)
		}
		return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	}
	files = list("--cached")
	known := map[string]bool{}
	for _, file := range files {
		if folder, _, inside := strings.Cut(file, "/"); inside {
			known[folder] = true
		}
	}
	for _, file := range list("--others", "--exclude-standard") {
		if folder, _, inside := strings.Cut(file, "/"); inside && known[folder] {
			files = append(files, file)
		}
	}
	return top, files
}
