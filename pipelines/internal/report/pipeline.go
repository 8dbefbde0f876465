package report

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"tagnet/formats/storage"
	"tagnet/model/study/chart"
	"tagnet/pipelines/internal/cli/command"
)

// Pipeline is `go run ./pipelines/report`.
func Pipeline() command.Pipeline {
	var open bool
	return command.Pipeline{
		Name: "report", WithoutJobs: true,
		Summary: "Writes an HTML page about a workspace: data, rules, training, evaluation, messages, configuration.",
		Flags: func(flags *flag.FlagSet) {
			flags.BoolVar(&open, "open", false, "open the page in the browser")
		},
		Run: func(ctx context.Context, e *command.Environment) error {
			index, err := write(ctx, e)
			if err != nil || !open {
				return err
			}
			return show(ctx, e, index)
		},
	}
}

// write writes the figures and then the page, and returns the page's URL. It never skips the work,
// which is cheap, since training.jsonl may have grown.
func write(ctx context.Context, e *command.Environment) (string, error) {
	// Without a workspace, or without the run of --run, there is nothing to show.
	files, err := storage.List(ctx, e.Workspace.Root())
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", fmt.Errorf("the workspace %s does not exist or is empty: run %s first", e.Workspace.Root(), e.Workspace.Command("preprocess"))
	}
	if err := e.Workspace.CheckRunExists(ctx); err != nil {
		return "", err
	}
	// The page is composed before anything is written.
	found, err := collect(ctx, e.Workspace, e.Seed)
	if err != nil {
		return "", err
	}
	if err := found.findRules(ctx, e); err != nil {
		return "", err
	}
	p := found.compose()
	html, err := p.html()
	if err != nil {
		return "", err
	}
	folder := e.Workspace.Report()
	if err := storage.CheckRegular(ctx, e.Workspace.Root(), folder); err != nil {
		return "", err
	}
	if err := storage.CheckWritable(ctx, folder); err != nil {
		return "", err
	}
	index := storage.Join(folder, "index.html")
	for _, s := range p.Sections {
		for _, f := range s.Figures {
			if f.SVG == "" {
				continue
			}
			if err := storage.WriteFile(ctx, storage.Join(folder, f.Name+".svg"), chart.File(string(f.SVG))); err != nil {
				return "", fmt.Errorf("writing a figure: %w", err)
			}
		}
	}
	if err := storage.WriteFile(ctx, index, html); err != nil {
		return "", fmt.Errorf("writing the page: %w", err)
	}
	e.Wrote(index)
	printGaps(e, p)
	return index, nil
}

// printGaps prints the gaps of the page. Of gaps with the same command and reason it prints the first.
func printGaps(e *command.Environment, p page) {
	printed := map[gap]bool{}
	for _, s := range p.Sections {
		for _, g := range s.Gaps {
			if problem := (gap{Problem: g.Problem, Command: g.Command}); !printed[problem] {
				printed[problem] = true
				e.Say("not shown: %s", g.line())
			}
		}
	}
}

func (g gap) line() string {
	line := g.What
	if g.Problem != "" {
		line += " (" + g.Problem + ")"
	}
	return line + ": " + g.Command
}

// show opens the page in a browser. If none can be started, it says so: the page is written all the same.
func show(ctx context.Context, e *command.Environment, index string) error {
	if strings.Contains(index, "://") {
		return command.Usage("--open: %s is not on this machine; copy it and open it", index)
	}
	path, err := filepath.Abs(index)
	if err != nil {
		return fmt.Errorf("--open: %w", err)
	}
	if err := command.Browser(ctx, path).Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e.Say("the page is written, but no browser could be started (%v): open %s yourself", err, path)
	}
	return nil
}
