// Command tables writes the pages of results from the result files: RESULTS.md with its figures, ZEROSHOT.md and
// FRONTIER.md here, BENCHMARKS.md in ../bench and TRUTH.md in ../truth, and the table of train --minutes. What a page
// says is in its template, as are the columns of its tables.
package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"tagnet/formats/storage"
	"tagnet/infra/experiments/internal/lists"
	"tagnet/infra/internal/program"
	"tagnet/infra/truth"
)

func main() {
	os.Exit(program.Run("experiments/tables", "interrupted; the same command writes what is missing", run))
}

const does = "Writes RESULTS.md and figures/ from results/, counts/, reach/results/ and notes.md of the same folder, the experiments files there, and the " +
	"paper's numbers, ZEROSHOT.md and FRONTIER.md from zeroshot.json, frontier.json and their results, the table of train --minutes from the latter, " +
	"BENCHMARKS.md of ../bench and TRUTH.md of ../truth from the lists and results/ there."

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) error {
	set := flag.NewFlagSet("experiments/tables", flag.ContinueOnError)
	folder := set.String("folder", "infra/experiments", "`folder` of the experiments files, the results, the counts and the notes")
	check := set.Bool("check", false, "compare with the files that exist, and write nothing")
	if err := program.Parse(set, does, arguments, diagnostics); err != nil {
		return err
	}
	files, err := pages(ctx, *folder)
	if err != nil {
		return err
	}
	var stale []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(*folder, name)
		found, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if bytes.Equal(found, files[name]) {
			continue
		}
		if stale = append(stale, name); !*check {
			if err := storage.WriteFile(ctx, path, files[name]); err != nil {
				return err
			}
			fmt.Fprintln(out, "wrote", path)
		}
	}
	if *check && len(stale) > 0 {
		return fmt.Errorf("not current with the results: %s; make results writes them", strings.Join(stale, ", "))
	}
	return nil
}

// pages returns the generated files by their names below the folder of the experiments.
func pages(ctx context.Context, folder string) (map[string][]byte, error) {
	e, err := readEvidence(ctx, folder)
	if err != nil {
		return nil, err
	}
	z, err := readZeroshot(ctx, folder)
	if err != nil {
		return nil, err
	}
	f := &frontierPage{}
	if f.Frontier, f.results, err = readList[lists.Frontier](ctx, filepath.Join(folder, "frontier.json"), lists.FrontierResults); err != nil {
		return nil, err
	}
	b, err := readBenchmarks(ctx, filepath.Join(folder, "../bench"))
	if err != nil {
		return nil, err
	}
	list, err := lists.Read[truth.List](ctx, filepath.Join(folder, "../truth/truth.json"))
	if err != nil {
		return nil, err
	}
	t, err := list.Results(ctx, filepath.Join(folder, "../truth/results"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, data := range map[string]any{"RESULTS.md": e, "ZEROSHOT.md": z, "FRONTIER.md": f, "../bench/BENCHMARKS.md": b, "../truth/TRUTH.md": t} {
		if files[name], err = page(filepath.Base(name), data); err != nil {
			return nil, err
		}
	}
	maps.Copy(files, e.figures)
	files[chosenFrom], err = f.table()
	return files, err
}

//go:embed *.tmpl
var templates embed.FS

// page fills the template of a page.
func page(name string, data any) ([]byte, error) {
	t, err := template.New(name+".tmpl").Funcs(formats).ParseFS(templates, "*.tmpl")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, data); err != nil {
		return nil, err
	}
	return append(bytes.TrimRight(text.Bytes(), "\n"), '\n'), nil
}
