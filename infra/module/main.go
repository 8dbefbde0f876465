// Module gives this module another path, such as github.com/owner/tagnet: in go.mod, in imports, and wherever else a
// tracked file names one of its packages. make module MODULE=PATH runs it.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./infra/module PATH\n\nGives the module the path PATH, in every file that git tracks. Run it at the top of the repository.")
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	changed, err := rename(".", flag.Arg(0))
	if err != nil {
		fmt.Fprintf(os.Stderr, "module: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("%d files changed: git diff shows them; make lint and make test check them\n", changed)
}

// rename gives the module of a work tree another path, and returns the number of files that changed. It writes no file
// unless all could be changed.
func rename(root, path string) (int, error) {
	if err := module.CheckPath(path); err != nil {
		return 0, fmt.Errorf("%w; want host/owner/name, such as github.com/owner/tagnet", err)
	}
	files, err := tracked(root)
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return 0, fmt.Errorf("reading the module's path: %w", err)
	}
	r := newRenaming(modfile.ModulePath(text), path, files)
	changed := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, but not yet committed
		}
		if err != nil {
			return 0, err
		}
		renamed, err := r.apply(file, text)
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(renamed, text) {
			changed[file] = renamed
		}
	}
	for file, text := range changed {
		if err := os.WriteFile(filepath.Join(root, file), text, 0o644); err != nil { // keeps the mode of a file that exists
			return 0, err
		}
	}
	return len(changed), nil
}

// tracked returns the regular files that git tracks, from the top of the work tree.
func tracked(root string) ([]string, error) {
	c := exec.Command("git", "ls-files", "-z")
	c.Dir = root
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the files that git tracks: %w", err)
	}
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(file string) bool {
		info, err := os.Lstat(filepath.Join(root, file))
		return file == "" || err == nil && !info.Mode().IsRegular()
	}), nil
}

// renaming replaces the path of a module.
type renaming struct {
	new string
	// named matches the old path and the first folder below it. The name of the program is the last part of the path, so
	// only where a folder of packages follows is it certain that the module is meant.
	named *regexp.Regexp
}

func newRenaming(old, new string, files []string) renaming {
	var folders []string
	for _, file := range files {
		if folder, _, below := strings.Cut(file, "/"); below && strings.HasSuffix(file, ".go") {
			folders = append(folders, regexp.QuoteMeta(folder))
		}
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
	return renaming{new, regexp.MustCompile(`(^|[^\w./~-])` + regexp.QuoteMeta(old) + `/(` + strings.Join(folders, "|") + `)\b`)}
}

// apply returns the text of a file with the new path. Binary files stay.
func (r renaming) apply(file string, text []byte) ([]byte, error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return text, nil
	}
	text = r.named.ReplaceAll(text, []byte("${1}"+r.new+"/${2}"))
	switch {
	case file == "go.mod":
		parsed, err := modfile.Parse(file, text, nil)
		if err != nil {
			return nil, err
		}
		if err := parsed.AddModuleStmt(r.new); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return parsed.Format()
	case strings.HasSuffix(file, ".go"):
		formatted, err := format.Source(text) // the order of imports changes
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return formatted, nil
	}
	return text, nil
}
