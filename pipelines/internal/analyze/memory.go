package analyze

import (
	"context"
	"errors"

	"tagnet/formats/counts"
	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/preprocess"
)

// checkReplaced refuses a --memory that is too small for the steps that --force repeats, before
// preprocess removes the graph. It applies where the graph will be made from the same texts again; the
// sizes of another dataset are not known before it is preprocessed.
func (f *flags) checkReplaced(ctx context.Context, e *command.Environment) error {
	if !e.Force || f.dataset == "" {
		return nil
	}
	same, err := preprocess.Unchanged(ctx, quiet(e), f.dataset, f.inference, f.onBadLine)
	if err != nil || !same {
		return err
	}
	s, err := counts.ReadDataset(ctx, e.Workspace.Graph())
	if err != nil {
		return err
	}
	names := s.Entities + s.Relations
	if s.InferenceGraph != nil {
		names += s.InferenceGraph.Entities
	}
	_, small := quiet(e).Plan(budget.Preprocess(names), f.memory, 0)
	var steps []step
	for _, split := range f.splitList {
		steps = append(steps, f.steps(e.Workspace, split)...)
	}
	return f.checkMemory(ctx, e, steps, small)
}

// checkMemory refuses a --memory that is too small for one of the steps that are not done, with the
// least that is enough for all of them. refused is the refusal of another step, or nil.
func (f *flags) checkMemory(ctx context.Context, e *command.Environment, steps []step, refused error) error {
	m, err := manifest.Read(ctx, e.Workspace.Graph())
	if err == nil {
		err = kg.Check(ctx, e.Workspace.Graph(), m)
	}
	if err != nil {
		return err
	}
	sources := map[string]int{}
	for _, s := range steps {
		if s.done {
			continue
		}
		if _, counted := sources[s.split]; !counted {
			queries, err := tables.ReadQueryTable(ctx, storage.Join(e.Workspace.Graph(), kg.QueriesFile(s.split)))
			if err != nil {
				return err
			}
			sources[s.split] = len(tables.SourcesOf(queries))
		}
		if sources[s.split] == 0 {
			continue // the pipeline reports the split without queries
		}
		err := s.plan(ctx, quiet(e), m, sources[s.split])
		var small, largest *budget.TooSmall
		switch {
		case err == nil:
		case !errors.As(err, &small):
			return err
		case !errors.As(refused, &largest) || small.Least > largest.Least:
			refused = err
		}
	}
	return refused
}
