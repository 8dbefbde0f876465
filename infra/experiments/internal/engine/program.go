package engine

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"tagnet/infra/internal/program"
)

// Program is a built tagnet.
type Program struct {
	// Path is the program's file.
	Path string
	// Commit is the commit of its source, empty if the build did not record it. Modified reports that the source had changes that
	// were not in the commit.
	Commit   string
	Modified bool
}

// Build builds tagnet from the module of the current folder.
func Build(ctx context.Context, path string) (Program, error) {
	return build(ctx, "tagnet/pipelines/tagnet", path, "run this in the repository, or name a built program with --tagnet")
}

// OpenOrBuild opens the program of --tagnet, or builds one below the folder of a program's state where that is empty.
func OpenOrBuild(ctx context.Context, tagnet, state string, diagnostics io.Writer) (Program, error) {
	if tagnet != "" {
		p, err := Open(tagnet)
		if err != nil {
			return p, program.Usage("%w", err)
		}
		return p, nil
	}
	fmt.Fprintln(diagnostics, "building tagnet")
	return Build(ctx, filepath.Join(state, "bin", "tagnet"))
}

// BuildPackage builds the program of a package of that module.
func BuildPackage(ctx context.Context, name, path string) (Program, error) {
	return build(ctx, name, path, "run this in the repository")
}

func build(ctx context.Context, name, path, remedy string) (Program, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Program{}, err
	}
	if _, err := output(ctx, "go", "build", "-ldflags=-s -w", "-o", absolute, name); err != nil {
		return Program{}, fmt.Errorf("building %s: %w; %s", filepath.Base(name), err, remedy)
	}
	p, err := Open(absolute)
	if err != nil {
		return p, err
	}
	return p, p.stamp(ctx)
}

// sources are the files from which a program is built. Go's own stamp also counts new result files as modifications, and is missing in a linked
// worktree.
var sources = []string{"formats", "model", "stages", "pipelines", "go.mod", "go.sum", ":!*.md", ":!*_test.go"}

// stamp sets the commit from git. Without git, or outside of a repository, the program keeps the stamp of its build.
func (p *Program) stamp(ctx context.Context) error {
	folder, err := output(ctx, "go", "list", "-f", "{{.Module.Dir}}", "tagnet/pipelines/tagnet")
	if err != nil {
		return err
	}
	commit, err := output(ctx, "git", "-C", folder, "rev-parse", "HEAD")
	if err != nil {
		return ctx.Err()
	}
	changes, err := output(ctx, "git", append([]string{"-C", folder, "status", "--porcelain", "--"}, sources...)...)
	if err != nil {
		return err
	}
	p.Commit, p.Modified = commit, changes != ""
	return nil
}

// output runs a program and returns what it prints. The error has what it printed as an error.
func output(ctx context.Context, program string, arguments ...string) (string, error) {
	var printed bytes.Buffer
	c := exec.CommandContext(ctx, program, arguments...)
	c.Stderr = &printed
	text, err := c.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(printed.String()))
	}
	return strings.TrimSpace(string(text)), nil
}

// Open returns the program of a file that was built before.
func Open(path string) (Program, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return Program{}, fmt.Errorf("--tagnet %s is no program built by go build ./pipelines/tagnet: %w", path, err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return Program{}, err
	}
	p := Program{Path: path}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			p.Commit = setting.Value
		case "vcs.modified":
			p.Modified = setting.Value == "true"
		}
	}
	return p, nil
}
