package encode

import (
	"context"
	"fmt"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/model/graph/kg"
	"tagnet/stages/worker"
)

// summarizeFn writes the summary when all tables are complete.
type summarizeFn struct{ Params WriteParams }

// ProcessElement receives the counts of all tables at once.
func (f *summarizeFn) ProcessElement(ctx context.Context, _ int, tables func(*TableCounts) bool, written func(*Names) bool, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
	ctx, leave, err := worker.Enter(ctx, 1)
	if err != nil {
		return err
	}
	defer leave()
	edgesRepeated := int64(0)
	summary := counts.Dataset{
		Dataset: f.Params.Dataset, Inference: f.Params.InferenceDataset, ValidOnInference: f.Params.ValidOnInference,
		Queries: map[string]int64{}, Distinct: map[string]int64{},
		Repeated: map[string]int64{}, Known: map[string]int64{}, KnownShare: map[string]float64{},
	}
	// The sizes of the vocabularies, then of the tables.
	inference := counts.Graph{}
	var w Names
	for written(&w) {
		switch w.File {
		case kg.EntitiesFile:
			summary.Entities = w.Names
		case kg.RelationsFile:
			summary.Relations = w.Names
		case kg.InferenceEntitiesFile:
			inference.Entities = w.Names
		}
	}
	var training, inferred Degrees
	for c := (TableCounts{}); tables(&c); {
		edgesRepeated += add(c, &summary, &inference)
		if kg.IsInferenceEdges(c.File) {
			inferred.merge(c.Degrees)
		} else {
			training.merge(c.Degrees)
		}
	}
	// An edge and its inverse are a fact.
	summary.Facts, inference.Facts = summary.Edges/2, inference.Edges/2
	if summary.Facts == 0 {
		return fmt.Errorf("the dataset has no training facts (%d lines were rejected)", summary.Rejected)
	}
	summary.Background = summary.Facts - summary.Queries["train"]/2
	if repeated := edgesRepeated/2 - summary.Repeated["train"]; repeated > 0 {
		summary.Repeated["facts"] = repeated
	}
	for split, known := range summary.Known {
		summary.KnownShare[split] = float64(known) / float64(max(1, summary.Queries[split]/2))
	}
	summary.MeanDegree = float64(summary.Facts) / float64(summary.Entities)
	summary.Degrees = training.summary(summary.Entities)
	if f.Params.InferenceDataset != "" {
		if inference.Facts == 0 {
			return fmt.Errorf("the train.txt of the inference graph has no facts (%d lines were rejected)", summary.Rejected)
		}
		summary.Repeated["inference"] /= 2
		inference.MeanDegree = float64(inference.Facts) / float64(inference.Entities)
		inference.Degrees = inferred.summary(inference.Entities)
		summary.InferenceGraph = &inference
	}
	// No table needs the spill files any more.
	if err := storage.RemoveAll(ctx, f.Params.Spill); err != nil {
		return err
	}
	url := storage.Join(f.Params.Folder, counts.SummaryFile)
	if err := storage.WriteJSON(ctx, url, summary); err != nil {
		return err
	}
	emit(url)
	return nil
}

// add adds the counts of one table. It returns how many rows of the training graph's edges were repeated.
func add(c TableCounts, s *counts.Dataset, inference *counts.Graph) (edgesRepeated int64) {
	split, isQueries := kg.SplitOf(c.File)
	switch {
	case c.File == kg.RejectsFile:
		s.Rejected = c.RejectedLines
	case kg.IsInferenceEdges(c.File):
		inference.Edges += c.Rows
		s.Repeated["inference"] += c.Repeated // halved when all shards are counted
	case kg.IsEdges(c.File):
		s.Edges += c.Rows
		return c.Repeated
	case isQueries:
		s.Queries[split] = c.Rows
		s.Distinct[split] = c.Distinct
		s.Repeated[split] = c.Repeated / 2
	case c.File == kg.InferenceAnswersFile:
		s.Known["test"] = c.KnownTest / 2 // its own train facts, not the training graph's
		if s.ValidOnInference {
			s.Known["valid"] = c.KnownValid / 2
		}
	case c.File == kg.AnswersFile:
		if !s.ValidOnInference {
			s.Known["valid"] = c.KnownValid / 2
		}
		if _, inductive := s.Known["test"]; !inductive {
			s.Known["test"] = c.KnownTest / 2
		}
	}
	return 0
}
