package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/results"
	"tagnet/formats/storage"
	"tagnet/model/comparison"
	"tagnet/pipelines/internal/command"
)

// defaultPage is the file that --results writes.
const defaultPage = "comparison.html"

// comparisonFlags are the flags of a page about result files, which needs no workspace.
type comparisonFlags struct{ results, page string }

// write writes the page that compares the results, and returns its URL; empty without --results.
func (f comparisonFlags) write(ctx context.Context, e *command.Environment) (string, error) {
	var wrong error
	e.Flags.Visit(func(given *flag.Flag) {
		switch name := given.Name; {
		case f.results == "" && name == "page":
			wrong = command.Usage("--page names the page of --results; without that flag the page is in the workspace")
		case f.results != "" && (name == "workspace" || name == "run"):
			wrong = command.Usage("--%s has no effect with --results, which compares result files only: leave one of the two out", name)
		}
	})
	if f.results == "" || wrong != nil {
		return "", wrong
	}
	all, err := readResults(ctx, strings.Split(f.results, ","))
	if err != nil {
		return "", err
	}
	html, err := composeComparison(comparison.Groups(all)).html()
	if err != nil {
		return "", err
	}
	if err := storage.WriteFile(ctx, f.page, html); err != nil {
		return "", fmt.Errorf("--page: %w", err)
	}
	e.Wrote(f.page)
	return f.page, nil
}

// readResults reads result files, those named and those below folders, each once. Two files with different results of one run are an error.
func readResults(ctx context.Context, places []string) ([]results.Result, error) {
	var all []results.Result
	type source struct {
		url    string
		result results.Result
	}
	seen := map[string]source{} // by dataset and run
	for _, place := range places {
		urls := []string{place}
		if path.Ext(place) != ".json" {
			listed, err := storage.List(ctx, place)
			if err != nil {
				return nil, fmt.Errorf("--results: %w", err)
			}
			urls = slices.DeleteFunc(listed, func(url string) bool { return path.Ext(url) != ".json" })
		}
		if len(urls) == 0 {
			return nil, fmt.Errorf("--results: no result file (.json) in %s: make one with tagnet experiments (go run ./infra/experiments), or name another folder", place)
		}
		for _, url := range urls {
			r, err := results.Read(ctx, url)
			if errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("--results: %s does not exist", url)
			}
			if err != nil {
				return nil, err
			}
			before, twice := seen[r.Path()]
			switch {
			case !twice:
				all, seen[r.Path()] = append(all, r), source{url, r}
			case !reflect.DeepEqual(before.result, r):
				return nil, fmt.Errorf("--results: %s and %s are different results of the run %s of %s: leave one of them out, or train one with another --name",
					before.url, url, r.Run(), r.Dataset)
			}
		}
	}
	return all, nil
}

// composeComparison returns the page about groups of results, which are sorted, a section for each dataset.
func composeComparison(groups []comparison.Group) page {
	var sections []section
	trainings := 0
	for from := 0; from < len(groups); {
		to := from
		for to < len(groups) && groups[to].Dataset == groups[from].Dataset {
			trainings += len(groups[to].Results)
			to++
		}
		sections = append(sections, compareDataset(groups[from:to]))
		from = to
	}
	return page{
		Title: "Comparison",
		Subtitle: fmt.Sprintf("%s of %s on %s. Metrics are of filtered, pessimistic ranks; ± is the standard deviation over seeds.",
			plural(int64(trainings), "training", "trainings"), plural(int64(len(groups)), "model", "models"), plural(int64(len(sections)), "dataset", "datasets")),
		Sections: sections,
	}
}

// compareDataset returns the section about the groups of one dataset.
func compareDataset(groups []comparison.Group) section {
	dataset := groups[0].Dataset
	s := section{ID: "dataset-" + dataset, Title: dataset, Lead: []string{highest(groups)}}
	fields := make([]map[string]json.RawMessage, len(groups))
	for i, g := range groups {
		fields[i] = g.Fields()
	}
	different := comparison.Differing(fields)
	protocols := comparison.Protocols(groups)
	for _, protocol := range protocols {
		t := table{Title: "Models", Described: true, Head: []string{"Model", "Configuration", "Seeds", "MRR", "Hits@1", "Hits@10", "Messages saved", "Processor time"},
			Note: "The configuration shows only what differs between the models. Messages saved is the share of NBFNet's messages, one along each edge in each layer, that the model does not send; processor time is that of one training."}
		if len(protocols) > 1 {
			t.Title = "Protocol " + protocol
		}
		for i, g := range groups {
			mrr := g.Metric(protocol, comparison.MRR)
			if mrr.N == 0 {
				continue
			}
			saved, cpu := "–", "–"
			if sent := g.Sent(protocol); sent.N > 0 {
				saved = percent(1 - sent.Mean)
			}
			if seconds := g.CPUSeconds(); seconds.N > 0 {
				cpu = duration(seconds.Mean)
			}
			hyperparameters := cmp.Or(different[i], "–")
			if mixed := amongSeeds(g); mixed != "" {
				hyperparameters = "not the same for all seeds: " + mixed
			}
			t.add(g.Name(), hyperparameters, strconv.Itoa(mrr.N), mrr.Plus("%.3f"), g.Metric(protocol, comparison.Hits1).Plus("%.3f"),
				g.Metric(protocol, comparison.Hits10).Plus("%.3f"), saved, cpu)
		}
		s.Tables = append(s.Tables, t)
	}
	s.Figures = compareFigures(dataset, groups, protocols[0])
	s.Tables = append(s.Tables, everyTraining(groups, protocols[0]))
	return s
}

// amongSeeds describes in what the configurations of a group's results differ, as those do that were trained before and after a change of
// the experiment; empty if in nothing.
func amongSeeds(g comparison.Group) string {
	fields := make([]map[string]json.RawMessage, len(g.Results))
	for i, r := range g.Results {
		fields[i] = comparison.ResultFields(r)
	}
	var texts []string
	for _, text := range comparison.Differing(fields) {
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}

// highest returns a sentence on the model with the highest validation MRR.
func highest(groups []comparison.Group) string {
	best, ok := comparison.Best(groups)
	if !ok {
		return "No training was validated."
	}
	mrr := best.Validation()
	return fmt.Sprintf("The highest validation MRR is that of %s: %s, over %s.", best.Name(), mrr.Plus("%.3f"), plural(int64(mrr.N), "seed", "seeds"))
}

// compareFigures returns the figures of a dataset: curves, quality by each varied value, and quality against messages.
func compareFigures(dataset string, groups []comparison.Group, protocol string) []figure {
	figures := parts(groups, func(chunk []comparison.Group) figure {
		return newFigure("curves", "Validation MRR by epoch", "Means over the seeds; a bar is one standard deviation to either side.", comparison.Curves(chunk, comparison.Group.Name))
	})
	flags, lines := comparison.Sweeps(groups)
	for _, flag := range flags {
		figures = append(figures, parts(lines[flag], func(chunk []comparison.Line) figure {
			return newFigure("by-"+flag, "MRR by "+flag, "Protocol "+protocol+"; means and standard deviations over the seeds.", comparison.ByValue(flag, protocol, comparison.MRR, chunk))
		})...)
	}
	if len(groups) < 2 {
		return figures
	}
	return append(figures, parts(comparison.ByExperiment(groups, protocol), func(chunk []comparison.Line) figure {
		return newFigure("against-messages", "MRR against messages", "Messages sent for the queries of "+dataset+" by protocol "+protocol+", of those that NBFNet sends.",
			comparison.AgainstMessages(protocol, comparison.MRR, chunk))
	})...)
}

// parts draws as many figures as a list of groups or lines needs. Their titles count them.
func parts[T any](list []T, draw func(part []T) figure) []figure {
	var figures []figure
	for part := range slices.Chunk(list, comparison.MostSeries) {
		figures = append(figures, draw(part))
	}
	for i := range figures {
		if len(figures) > 1 {
			figures[i].Title += fmt.Sprintf(", %d of %d", i+1, len(figures))
		}
	}
	return figures
}

// everyTraining returns a table with a row for each result.
func everyTraining(groups []comparison.Group, protocol string) table {
	t := table{Title: "Every training", Folded: true, Head: []string{"Run", "MRR", "Hits@1", "Hits@10", "Best epoch", "Epochs", "Time", "Processor time", "Kernels", "Commit"}}
	for _, g := range groups {
		for _, r := range g.Results {
			metrics := []string{"–", "–", "–"}
			if e, ok := r.Evaluation[protocol]; ok {
				metrics = []string{metric(e.Pessimistic.MRR), metric(e.Pessimistic.Hits1), metric(e.Pessimistic.Hits10)}
			}
			cpu := "–"
			if r.Training.CPUSeconds > 0 {
				cpu = duration(r.Training.CPUSeconds)
			}
			t.add(r.Run(), metrics[0], metrics[1], metrics[2], strconv.Itoa(r.Training.BestEpoch), strconv.Itoa(r.Training.Epochs), duration(r.Training.Seconds), cpu,
				strings.Join(r.Kernels, ", "), r.Commit[:min(len(r.Commit), 9)])
		}
	}
	return t
}
