package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/comparison"
	"tagnet/infra/experiments/internal/plan"
	"tagnet/model/weights/configuration"
)

// paperFile is the experiments file of the paper's tables.
const paperFile = "paper.json"

// evidence holds the inputs of the page.
type evidence struct {
	folder    string
	published published
	// cells are the planned and the measured models by their keys, such as WN18RR_v1/fixed-delta-0.
	cells map[string]*cell
	// notes are the hand-written paragraphs by the keys of their cells, or by titles of trials that have no cell; trials are these
	// titles, in the order of the file.
	notes  map[string]string
	trials []string
	// counts are the message counts and distances of datasets.
	counts map[string]counted
	// transfer has the models of any graph, nil without their list.
	transfer *transfer
	// parts has models whose queries propagate through a part of the graph, nil without their list.
	parts *parts
	// benchmarks has what commands take, nil without their list.
	benchmarks *benchmarks
	// figures are filled by page: the drawn files by name.
	figures map[string][]byte
}

// cell is a model that the page shows.
type cell struct {
	comparison.Group
	// file is the experiments file that plans it, empty if none does, and seeds are the planned ones.
	file  string
	seeds []int64
	// configuration is the planned one, and stale is set where a result was made with another one.
	configuration configuration.Configuration
	stale         bool
}

// read reads everything below the folder.
func read(ctx context.Context, folder string) (*evidence, error) {
	e := &evidence{folder: filepath.ToSlash(folder), cells: map[string]*cell{}, counts: map[string]counted{}, figures: map[string][]byte{}}
	var err error
	if e.published, err = readPublished(); err != nil {
		return nil, err
	}
	if err := e.readPlans(ctx); err != nil {
		return nil, err
	}
	all, err := results.ReadAll(ctx, path.Join(e.folder, "results"))
	if err != nil {
		return nil, err
	}
	for _, g := range comparison.Groups(all) {
		c := e.cells[g.Key()]
		if c == nil {
			c = &cell{}
			e.cells[g.Key()] = c
		}
		c.Group = g
		for _, r := range g.Results {
			var made configuration.Configuration
			if err := r.Configure(&made); err != nil {
				return nil, fmt.Errorf("%s/results/%s: configuration: %w", e.folder, r.Path(), err)
			}
			c.stale = c.stale || c.file != "" && made != c.configuration
		}
	}
	datasets, err := filepath.Glob(filepath.Join(folder, countsFolder, "*"))
	if err != nil {
		return nil, err
	}
	for _, dataset := range datasets {
		if e.counts[filepath.Base(dataset)], err = readCounts(ctx, dataset); err != nil {
			return nil, err
		}
	}
	if e.transfer, err = readTransfer(ctx, folder); err != nil {
		return nil, err
	}
	if e.parts, err = readParts(ctx, folder); err != nil {
		return nil, err
	}
	if e.benchmarks, err = readBenchmarks(ctx, folder); err != nil {
		return nil, err
	}
	return e, e.readNotes()
}

// counted holds the counts that commands make of a dataset without a model.
type counted struct {
	graph     counts.Dataset            // by preprocess
	distances counts.Distribution       // of the test queries
	messages  map[string]counts.Summary // by split
}

// countsFolder has a folder of counts for each dataset.
const countsFolder = "counts"

// readCounts reads the counts of a dataset.
func readCounts(ctx context.Context, folder string) (c counted, err error) {
	if c.graph, err = storage.ReadJSON[counts.Dataset](ctx, filepath.Join(folder, "graph.json")); err != nil {
		return c, err
	}
	if c.distances, err = storage.ReadJSON[counts.Distribution](ctx, filepath.Join(folder, "distances.json")); err != nil {
		return c, err
	}
	c.messages = map[string]counts.Summary{}
	for _, split := range []string{"train", "test"} {
		if c.messages[split], err = storage.ReadJSON[counts.Summary](ctx, filepath.Join(folder, "messages-"+split+".json")); err != nil {
			return c, err
		}
	}
	return c, nil
}

// readPlans reads the experiments files of the folder. Other JSON files there lack the key experiments.
func (e *evidence) readPlans(ctx context.Context) error {
	if _, err := os.Stat(path.Join(e.folder, paperFile)); err != nil {
		return fmt.Errorf("--folder: %w; run this at the top of the repository", err)
	}
	files, err := filepath.Glob(filepath.Join(e.folder, "*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var experiments struct{ Experiments json.RawMessage }
		if err := json.Unmarshal(text, &experiments); err == nil && experiments.Experiments == nil {
			continue
		}
		runs, err := plan.Read(ctx, file)
		if err != nil {
			return err
		}
		for _, r := range runs {
			c := e.cells[r.Cell()]
			if c == nil {
				c = &cell{Group: comparison.Group{Dataset: r.Dataset, Experiment: r.Experiment, Varied: r.Varied}, file: filepath.Base(file), configuration: r.Configuration}
				e.cells[r.Cell()] = c
			}
			if c.file != filepath.Base(file) {
				return fmt.Errorf("%s: %s is in %s, too: name one of the two experiments otherwise", file, r.Cell(), c.file)
			}
			c.seeds = append(c.seeds, r.Seed)
		}
	}
	return nil
}

const notesFile = "notes.md"

// readNotes reads the paragraphs below the headings of the notes: "## DATASET/RUN", or the title of a trial, which has no slash.
// What is above the first one is for its readers.
func (e *evidence) readNotes() error {
	e.notes = map[string]string{}
	file := path.Join(e.folder, notesFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	key, number := "", 0
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		number++
		heading, is := strings.CutPrefix(lines.Text(), "## ")
		if !is {
			if key != "" {
				e.notes[key] += lines.Text() + "\n"
			}
			continue
		}
		key = strings.TrimSpace(heading)
		if known := e.keys(); !strings.Contains(key, "/") {
			e.trials = append(e.trials, key)
		} else if !slices.Contains(known, key) {
			return fmt.Errorf("%s:%d: no results and no experiments file have %q; the closest is %s", file, number, key, strings.Join(names.Closest(key, known, 1), ""))
		}
		if _, twice := e.notes[key]; twice {
			return fmt.Errorf("%s:%d: %s has a note already", file, number, key)
		}
		e.notes[key] = ""
	}
	for key, note := range e.notes {
		e.notes[key] = strings.TrimSpace(note)
	}
	return lines.Err()
}

// keys returns the keys of all cells, sorted.
func (e *evidence) keys() []string {
	var keys []string
	for key := range e.cells {
		keys = append(keys, key)
	}
	for _, m := range e.published.Methods { // also those that no file plans
		for dataset := range m.Figures {
			keys = append(keys, dataset+"/"+m.Experiment)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// cell returns the cell of a key, an empty one if nothing plans or measures it.
func (e *evidence) cell(dataset, run string) *cell {
	if c := e.cells[dataset+"/"+run]; c != nil {
		return c
	}
	return &cell{Group: comparison.Group{Dataset: dataset, Experiment: run}}
}

// command returns the markup of the command that repeats the first seed of the cell, or trains what is missing; and a note where neither
// is possible.
func (e *evidence) command(c *cell) string {
	if c.file == "" {
		return "not planned"
	}
	words := "go run ./infra/experiments"
	if c.file != paperFile {
		words += " " + path.Join("infra/experiments", c.file)
	}
	if len(c.Results) == 0 {
		return fmt.Sprintf("`%s --only '%s-seed-*'`", words, c.Key())
	}
	first := c.Results[0]
	if len(first.Kernels) > 1 {
		return "not to the last digit: several kernel variants computed the epochs, " + strings.Join(first.Kernels, " and ")
	}
	return fmt.Sprintf("`%s --only '%s/%s' --verify`", words, c.Dataset, first.Run())
}
