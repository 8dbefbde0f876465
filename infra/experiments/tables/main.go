// Command tables writes RESULTS.md and its figures from the result files of experiments and of reach, the paper's numbers, counts of messages and hand-written notes,
// ZEROSHOT.md from those of models of any graph, and BENCHMARKS.md in ../bench from those of commands.
package main

import (
	"bytes"
	"context"
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

	"tagnet/formats/storage"
	"tagnet/infra/internal/program"
)

func main() {
	os.Exit(program.Run("experiments/tables", "interrupted; the same command writes what is missing", run))
}

const does = `Writes RESULTS.md and figures/ from results/, counts/, reach/results/ and notes.md of the same folder, the experiments files there, and the paper's numbers,
ZEROSHOT.md from zeroshot.json and zeroshot/results/, and ../bench/BENCHMARKS.md from commands.json and results/ there.`

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) error {
	set := flag.NewFlagSet("experiments/tables", flag.ContinueOnError)
	folder := set.String("folder", "infra/experiments", "`folder` of the experiments files, the results, the counts and the notes")
	check := set.Bool("check", false, "compare with the files that exist, and write nothing")
	if err := program.Parse(set, does, arguments, diagnostics); err != nil {
		return err
	}
	e, err := read(ctx, *folder)
	if err != nil {
		return err
	}
	files := e.files()
	stale, err := stale(*folder, files)
	if err != nil {
		return err
	}
	if *check {
		if len(stale) > 0 {
			return fmt.Errorf("not current with the results: %s; make results writes them", strings.Join(stale, ", "))
		}
		return nil
	}
	for _, name := range stale {
		path, did := filepath.Join(*folder, name), "wrote"
		if content, ok := files[name]; ok {
			err = storage.WriteFile(ctx, path, content)
		} else {
			did, err = "removed", os.Remove(path)
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(out, did, path)
	}
	return nil
}

// The generated files.
const (
	resultsPage   = "RESULTS.md"
	figuresFolder = "figures"
)

// stale returns the names of the files that differ from what is generated, and of figures that are no longer generated.
func stale(folder string, files map[string][]byte) ([]string, error) {
	var names []string
	for name, content := range files {
		found, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !bytes.Equal(found, content) {
			names = append(names, name)
		}
	}
	figures, err := filepath.Glob(filepath.Join(folder, figuresFolder, "*"))
	if err != nil {
		return nil, err
	}
	for _, path := range figures {
		if name := filepath.ToSlash(filepath.Join(figuresFolder, filepath.Base(path))); files[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// files returns the generated files by their names below the folder.
func (e *evidence) files() map[string][]byte {
	files := map[string][]byte{}
	text := e.page()
	maps.Copy(files, e.figures)
	files[resultsPage] = []byte(text)
	if e.transfer != nil {
		files[zeroshotPage] = []byte(e.transfer.page())
	}
	if e.benchmarks != nil {
		files[benchmarksPage] = []byte(e.benchmarks.page())
	}
	return files
}
