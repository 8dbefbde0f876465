package train

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"

	"tagnet/formats/manifest"
	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/stages/bundle"
	"tagnet/stages/learn"
)

// need states what a training takes before its bundles are there.
func (f *flags) need(ctx context.Context, loaded *kg.KG) (budget.Need, error) {
	train, err := loaded.Queries(ctx, "train")
	if err != nil {
		return budget.Need{}, err
	}
	valid, err := loaded.Queries(ctx, "valid")
	if err != nil {
		return budget.Need{}, err
	}
	known, err := loaded.TrainAnswers(ctx)
	if err != nil {
		return budget.Need{}, err
	}
	all, err := loaded.Train.Answers(ctx) // of which validation leaves out
	if err != nil {
		return budget.Need{}, err
	}
	threads := f.replicas
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	g, queries := loaded.Train.Graph, len(train)+len(valid)
	parts, thread := learn.Memory(g, f.configuration, threads, len(train)/2)
	return budget.Need{
		Fixed: append([]budget.Part{
			{Name: "graph", Bytes: loaded.Memory(queries, known, all) + bundle.Memory(len(train), g.Entities, threads)},
			{Name: "questions", Bytes: learn.DeckMemory(0, 0, queries, len(train)/2)},
		}, parts...),
		Thread: thread,
	}, nil
}

// withoutDistances says in a refusal what its figure lacks.
func withoutDistances(err error) error {
	var usage *command.UsageError
	if errors.As(err, &usage) {
		return command.Usage("%s, and what the distances of its bundles take, which is known once they are made", usage.Text)
	}
	return err
}

// holds looks again once the bundles are there, all of which a training holds: how small their
// distances have become is not known before.
func (f *flags) holds(ctx context.Context, e *command.Environment, need budget.Need) error {
	files := map[string]int64{}
	for _, split := range []string{"train", "valid"} {
		m, err := manifest.Read(ctx, e.Workspace.Path("bundles/"+split))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a split without queries has no bundles
		}
		if err != nil {
			return err
		}
		for _, file := range m.Files {
			if strings.HasSuffix(file.Name, ".arrow") {
				files[split] += file.Size
			}
		}
	}
	need.Fixed = append(need.Fixed, budget.Part{Name: "distances", Bytes: learn.DeckMemory(files["train"], files["valid"], 0, 0)})
	share, err := e.Divide(need, f.memory, f.replicas)
	f.share.Most = share.Most
	return err
}
