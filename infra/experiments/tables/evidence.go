package main

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/counts"
	"tagnet/infra/experiments/internal/lists"
	"tagnet/infra/internal/engine"
)

//go:embed published.json
var publishedText []byte

// published has the numbers of the paper, and of other methods of other papers.
type published struct {
	Paper   string   `json:"paper"`
	Methods []method `json:"methods"` // the rows of the paper's main tables
	Others  []method `json:"others"`
	// DegreeMessages has the figures of specific delta without and with degree messages.
	DegreeMessages struct {
		Without figures `json:"without"`
		With    figures `json:"with"`
	} `json:"degree_messages"`
	// AStarMessagesSaved has the shares of A*Net's messages that the windows save with 6, 7 and 8 layers, PrunedEmpty
	// the share of the pruned messages that are empty, Distances the shares of test queries whose answer is 1, 2, ...
	// edges away, the last one also beyond, and MeanDegree facts per entity.
	AStarMessagesSaved map[string][]float64 `json:"astar_messages_saved"`
	PrunedEmpty        map[string]float64   `json:"pruned_empty"`
	Distances          map[string][]float64 `json:"distances"`
	MeanDegree         map[string]float64   `json:"mean_degree"`
}

// method is a method with its numbers by dataset and metric. Experiment is the name of ours that repeats it, Protocol
// that of the evaluation.
type method struct {
	Method     string  `json:"method"`
	Experiment string  `json:"experiment"`
	Protocol   string  `json:"protocol"`
	Note       string  `json:"note"`
	Figures    figures `json:"figures"`
}

type figures map[string]map[string]float64

// The datasets of the paper's tables, in their order.
var (
	transductive = []string{"FB15k-237", "WN18RR"}
	inductive    = []string{"fb237_v1", "fb237_v2", "fb237_v3", "fb237_v4", "WN18RR_v1", "WN18RR_v2", "WN18RR_v3", "WN18RR_v4"}
	everywhere   = slices.Concat(transductive, inductive)
	counted      = []string{"FB15k-237", "WN18RR", "fb237_v1", "WN18RR_v1"} // those with a folder of counts
)

// paperFile is the grid of the paper's tables.
const paperFile = "paper.json"

// evidence has the results that the template of RESULTS.md shows.
type evidence struct {
	Published published
	Reach     *reachPage
	models    map[string]*model // by their cells, such as WN18RR_v1/fixed-delta-0
	// Notes are the hand-written paragraphs by the cells of their models, or by titles of trials that have no model;
	// Trials are these titles, in the order of the file.
	Notes  map[string]string
	Trials []string
	Counts map[string]datasetCounts // by dataset
	// figures are filled as the page is: the drawn files by name.
	figures map[string][]byte
}

// readEvidence reads everything below the folder.
func readEvidence(ctx context.Context, folder string) (*evidence, error) {
	e := &evidence{models: map[string]*model{}, Counts: map[string]datasetCounts{}, figures: map[string][]byte{}, Notes: map[string]string{}}
	if err := strict.Decode("published.json", publishedText, &e.Published); err != nil {
		return nil, err
	}
	if err := e.readGrids(ctx, folder); err != nil {
		return nil, err
	}
	for _, dataset := range counted {
		var err error
		if e.Counts[dataset], err = readCounts(ctx, filepath.Join(folder, "counts", dataset)); err != nil {
			return nil, err
		}
	}
	var err error
	e.Reach = &reachPage{}
	if e.Reach.Reach, e.Reach.results, err = readList[lists.Reach](ctx, filepath.Join(folder, "reach.json"), lists.ReachResults); err != nil {
		return nil, err
	}
	return e, e.readNotes(filepath.Join(folder, "notes.md"))
}

func readCounts(ctx context.Context, folder string) (c datasetCounts, err error) {
	if c.Graph, err = storage.ReadJSON[counts.Dataset](ctx, filepath.Join(folder, "graph.json")); err != nil {
		return c, err
	}
	c.Messages = map[string]counts.Summary{}
	for _, split := range []string{"train", "test"} {
		if c.Messages[split], err = storage.ReadJSON[counts.Summary](ctx, filepath.Join(folder, "messages-"+split+".json")); err != nil {
			return c, err
		}
	}
	c.Distances, err = storage.ReadJSON[counts.Distribution](ctx, filepath.Join(folder, "distances.json"))
	return c, err
}

// readList reads a list of one kind, and the results of its runs from a folder beside it.
func readList[L interface {
	Runs(threads int) ([]engine.Run, error)
}](ctx context.Context, file, folder string) (list L, results map[string]*engine.Result, err error) {
	list, runs, err := lists.ReadRuns[L](ctx, file, 0)
	if err == nil {
		results, err = readResults(ctx, filepath.Join(filepath.Dir(file), folder), runs)
	}
	return list, results, err
}

// readResults reads the results of runs, by their names.
func readResults(ctx context.Context, folder string, runs []engine.Run) (map[string]*engine.Result, error) {
	found := map[string]*engine.Result{}
	for _, run := range runs {
		r, err := engine.Read(ctx, folder, run.Name)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		if differences := r.Differences(run.Inputs); len(differences) > 0 {
			return nil, fmt.Errorf("the result of %s is stale: %s", run.Name, strings.Join(differences, ", "))
		}
		found[run.Name] = r
	}
	return found, nil
}

// readGrids reads the grids of the folder, and the results of their trainings.
func (e *evidence) readGrids(ctx context.Context, folder string) error {
	for _, list := range []string{paperFile, "paper-rest.json", "own.json"} {
		g, err := lists.ReadGrid(ctx, filepath.Join(folder, list))
		if err != nil {
			return fmt.Errorf("--folder: %w", err)
		}
		results, err := readResults(ctx, filepath.Join(folder, "results"), g.Runs(0))
		if err != nil {
			return err
		}
		for _, t := range g.Trainings {
			m := e.models[t.Cell()]
			if m == nil {
				m = &model{Training: t, List: list}
				e.models[t.Cell()] = m
			}
			if m.Seeds++; m.List != list {
				return fmt.Errorf("%s is in %s and in %s: name one of the two experiments otherwise", t.Cell(), m.List, list)
			}
			if r := results[t.Name()]; r != nil {
				m.Results = append(m.Results, r)
			}
		}
	}
	return nil
}

// readNotes reads the paragraphs below the headings of the notes: "## DATASET/MODEL", or the title of a trial, which
// has no slash. What is above the first one is for its readers.
func (e *evidence) readNotes(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	known := slices.Collect(maps.Keys(e.models))
	for _, part := range strings.Split("\n"+string(text), "\n## ")[1:] {
		heading, note, _ := strings.Cut(part, "\n")
		heading = strings.TrimSpace(heading)
		if !strings.Contains(heading, "/") {
			e.Trials = append(e.Trials, heading)
		} else if e.models[heading] == nil {
			return fmt.Errorf("%s: no list has %q; the closest is %s", file, heading, strings.Join(names.Closest(heading, known, 1), ""))
		}
		if _, twice := e.Notes[heading]; twice {
			return fmt.Errorf("%s: %s has two notes", file, heading)
		}
		e.Notes[heading] = strings.TrimSpace(note)
	}
	return nil
}

// Model returns the model of an experiment, an empty one if no list has it.
func (e *evidence) Model(dataset, experiment string) *model {
	if m := e.models[path.Join(dataset, experiment)]; m != nil {
		return m
	}
	return &model{Training: lists.Training{Dataset: dataset, Experiment: experiment}}
}

// all returns the models by their cells.
func (e *evidence) all() (list []*model) {
	for _, cell := range slices.Sorted(maps.Keys(e.models)) {
		list = append(list, e.models[cell])
	}
	return list
}
