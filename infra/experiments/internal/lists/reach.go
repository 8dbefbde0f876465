package lists

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/metrics"
	"tagnet/infra/internal/engine"
)

// ReachResults is the folder of the results of models of a part of the graph, beside their list.
const ReachResults = "reach/results"

// Whole is the percentage without a reach.
const Whole = 100

// OnlyScored is the command in a result, beside TrainCommand and ScoreCommand, that ranks with the model
// of the whole graph.
const OnlyScored = "only-scored"

// Reach lists sets, and the shares of their entities that queries propagate through, in percent and ascending to 100.
// Protocol says in words how they are measured.
type Reach struct {
	Protocol []string `json:"protocol"`
	Percents []int    `json:"percents"`
	Sets     []Set    `json:"sets"`
}

// Set is a dataset with the way to train on it.
type Set struct {
	Name string `json:"name"`
	// Dataset and Inference are folders below that of the data, as for preprocess. Inference is empty where the
	// training graph is queried.
	Dataset   string `json:"dataset"`
	Inference string `json:"inference"`
	// Train are flags of train, without the reach, and Limit is the number of test queries that are ranked, 0 for all.
	Train string `json:"train"`
	Limit int64  `json:"limit"`
}

// RunName returns the name of the result of a percentage.
func (s Set) RunName(percent int) string { return fmt.Sprintf("%s/%d", s.Name, percent) }

// Runs returns the runs, for each set first that of the whole graph, whose model the others rank with.
func (l Reach) Runs(int) (runs []engine.Run, err error) {
	for _, s := range l.Sets {
		for _, percent := range slices.Backward(l.Percents) {
			runs = append(runs, s.run(percent))
		}
	}
	return runs, nil
}

func (s Set) run(percent int) engine.Run {
	run, whole := fmt.Sprintf("reach-%d", percent), fmt.Sprintf("reach-%d", Whole)
	with := slices.Concat([]string{"--top_k", "0"}, oneThread)
	if s.Limit > 0 {
		with = append(with, "--limit", fmt.Sprint(s.Limit))
	}
	trained := func(name, run string) engine.Command {
		return train(name, s.Name, run, slices.Concat(strings.Fields(s.Train), oneThread)...)
	}
	scored := func(name, run string) engine.Command { return score(name, s.Name, run, string(metrics.Test), with...) }
	r := engine.Run{
		Name: s.RunName(percent), Clean: []string{s.Name + "/runs/" + run},
		Inputs: map[string]string{"dataset": s.Dataset, "inference": s.Inference, "train": s.Train, "limit": fmt.Sprint(s.Limit),
			"percent": fmt.Sprint(percent)},
		Commands: []engine.Command{preprocess(s.Name, below(s.Dataset), below(s.Inference)), trained(TrainCommand, run), scored(ScoreCommand, run)},
	}
	if percent != Whole {
		r.Commands = append(r.Commands, trained("", whole), scored(OnlyScored, whole))
		for _, at := range []int{1, 2, 4} {
			r.Commands[at].Words = s.within(r.Commands[at].Words, percent, at > 1)
		}
	}
	return r
}

// within adds the reach to the words of a command: a share of the entities of the graph that is trained on or queried.
func (s Set) within(line engine.Words, percent int, queried bool) engine.Words {
	return func(ctx context.Context, work string) ([]string, error) {
		d, err := counts.ReadDataset(ctx, filepath.Join(work, s.Name, "graph"))
		if err != nil {
			return nil, err
		}
		entities := d.Entities
		if queried && d.InferenceGraph != nil {
			entities = d.InferenceGraph.Entities
		}
		words, err := line(ctx, work)
		return append(slices.Clone(words), "--reach", fmt.Sprint(Share(entities, percent))), err
	}
}

// Share returns a share of entities, rounded up.
func Share(entities int64, percent int) int64 { return (entities*int64(percent) + Whole - 1) / Whole }
