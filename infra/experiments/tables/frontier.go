package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tagnet/infra/experiments/internal/lists"
	"tagnet/infra/internal/engine"
)

// chosenFrom is the table that train --minutes chooses from, below the folder of the experiments.
const chosenFrom = "../../model/learn/frontier.tsv"

// frontierPage has the data of FRONTIER.md and of the table that train --minutes reads.
type frontierPage struct {
	lists.Frontier
	results map[string]*engine.Result // by the names of the runs
}

// studiedPoint is the quality of a choice on a graph after a number of queries.
type studiedPoint struct {
	Choice  lists.Choice
	Queries int64
	MRR     float64
	CPU     float64 // seconds of the training, 0 without one, and of an earlier point
}

// Points returns the points of a graph, those of a choice from few queries to many.
func (p *frontierPage) Points(s lists.Studied) (points []studiedPoint, err error) {
	for _, c := range p.Choices {
		first := len(points)
		for _, amount := range s.Trainings[c.Name] {
			r := p.results[s.RunName(c, amount)]
			if r == nil {
				continue
			}
			x := studiedPoint{Choice: c, MRR: r.Commands[lists.ScoreCommand].Evaluation.Pessimistic.MRR}
			if t := r.Commands[lists.TrainCommand]; t.Training != nil {
				x.Queries, x.CPU = t.Training.Queries, t.CPUSeconds
			}
			points = append(points, x)
		}
		for text, mrr := range s.Earlier[c.Name] {
			queries, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("frontier.json: %s: earlier: %s: %w", s.Name, c.Name, err)
			}
			points = append(points, studiedPoint{Choice: c, Queries: queries, MRR: mrr})
		}
		slices.SortFunc(points[first:], func(a, b studiedPoint) int { return cmp.Compare(a.Queries, b.Queries) })
	}
	return points, nil
}

// Measured returns the traits of a graph, nil without any result if the list does not have them.
func (p *frontierPage) Measured(s lists.Studied) (*lists.Traits, error) {
	for _, name := range slices.Sorted(maps.Keys(p.results)) {
		if strings.HasPrefix(name, s.Name+"/") {
			t := &lists.Traits{}
			return t, json.Unmarshal(p.results[name].Commands[lists.TraitsCommand].Made, t)
		}
	}
	if s.Traits.Facts == 0 {
		return nil, nil
	}
	return &s.Traits, nil
}

// table returns the points of all graphs as the lines that train --minutes reads.
func (p *frontierPage) table() ([]byte, error) {
	text := "# Written by go run ./infra/experiments/tables from infra/experiments/frontier.json and its results, which say how the points are made.\n" +
		"# graph\tfacts\tentities\trelations\tanswers per query\tflags\tqueries\tMRR\n"
	for _, s := range p.Studied {
		t, err := p.Measured(s)
		if err != nil {
			return nil, err
		}
		points, err := p.Points(s)
		if err != nil {
			return nil, err
		}
		if t == nil || len(points) == 0 {
			continue
		}
		for _, x := range points {
			text += fmt.Sprintf("%s\t%d\t%d\t%d\t%g\t%s\t%d\t%.4f\n", s.Name, t.Facts, t.Entities, t.Relations, t.Answers, x.Choice.Flags, x.Queries, x.MRR)
		}
	}
	return []byte(text), nil
}
