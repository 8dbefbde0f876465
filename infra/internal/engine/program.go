package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"tagnet/formats/input/datasets"
)

// Program is a built program. Commit is that of its source, empty if it is not known, and Modified reports changes that
// were not in the commit.
type Program struct {
	Path, Commit string
	Modified     bool
}

// program returns the program that words begin with, which it builds at its first use, and its arguments with the
// folder of the data.
func (e *Engine) program(ctx context.Context, words []string) (p Program, arguments []string, err error) {
	source := ""
	switch {
	case words[0] == "tagnet":
		source, words = "./pipelines/tagnet", words[1:]
	case len(words) > 2 && words[0] == "go" && words[1] == "run":
		source, words = words[2], words[3:]
	default:
		return p, nil, fmt.Errorf("%q is no command: begin with tagnet, or go run ./PACKAGE", strings.Join(words, " "))
	}
	for _, word := range words {
		arguments = append(arguments, strings.ReplaceAll(word, "$"+datasets.DataVariable, Data("")))
	}
	p, built := e.programs[source]
	if !built {
		fmt.Fprintln(e.Diagnostics, "building", source)
		if p, err = build(ctx, source, filepath.Join(e.bin, strings.ReplaceAll(filepath.Clean(source), "/", "-"))); err == nil {
			e.programs[source] = p
		}
	}
	return p, arguments, err
}

// sources are the files from which programs are built. Go's own stamp also counts new result files as modifications,
// and is missing in a linked worktree.
var sources = []string{"formats", "model", "stages", "pipelines", "infra/generate", "go.mod", "go.sum", ":!*.md", ":!*_test.go"}

// build builds a package of the module, and stamps it with git's commit, if there is one.
func build(ctx context.Context, source, path string) (Program, error) {
	module, err := output(ctx, "go", "list", "-m", "-f", "{{.Dir}}")
	if err == nil {
		_, err = output(ctx, "go", "build", "-C", module, "-ldflags=-s -w", "-o", path, source)
	}
	if err != nil {
		return Program{}, fmt.Errorf("building %s: %w; run this in the repository", source, err)
	}
	p := Program{Path: path}
	if commit, err := output(ctx, "git", "-C", module, "rev-parse", "HEAD"); err == nil {
		changes, err := output(ctx, "git", append([]string{"-C", module, "status", "--porcelain", "--"}, sources...)...)
		p.Commit, p.Modified = commit, changes != "" || err != nil
	}
	return p, ctx.Err()
}

func machine() Machine {
	m := Machine{Processor: runtime.GOARCH, Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	text, _ := os.ReadFile("/proc/cpuinfo") // of Linux
	if _, rest, ok := strings.Cut(string(text), "model name"); ok {
		line, _, _ := strings.Cut(rest, "\n")
		m.Processor = strings.TrimSpace(strings.TrimLeft(line, "\t :"))
	}
	return m
}

// load returns the mean number of processes that wanted to run in the last minute, 0 if the system does not say.
func load() (mean float64) {
	text, _ := os.ReadFile("/proc/loadavg") // of Linux
	_, _ = fmt.Sscan(string(text), &mean)
	return mean
}
