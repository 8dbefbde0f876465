package graph

import (
	"context"
	"encoding/json"
	"fmt"

	"tagnet/formats/externalsort"
	"tagnet/formats/storage"
	"tagnet/model/kg"
	"tagnet/stages/vocabulary"
)

// Summary is summary.json: what the tables of graph/ hold, for people and reports.
type Summary struct {
	// Dataset is the folder's or the catalogue's name; Inference that of the inference graph.
	Dataset   string `json:"dataset"`
	Inference string `json:"inference,omitempty"`
	// Entities, Relations (base relations), Facts (distinct) and Edges (two a fact) are those
	// of the graph that is trained on. MeanDegree is facts per entity.
	Entities   int64   `json:"entities"`
	Relations  int64   `json:"relations"`
	Facts      int64   `json:"facts"`
	Edges      int64   `json:"edges"`
	MeanDegree float64 `json:"mean_degree"`
	// Queries has the queries of each split, two for each of its facts; Distinct how many
	// pairs of source and relation are among them.
	Queries  map[string]int64 `json:"queries"`
	Distinct map[string]int64 `json:"distinct"`
	// InferenceGraph is the graph that test asks, in the inductive setting.
	InferenceGraph *GraphSummary `json:"inference_graph,omitempty"`
	// Repeated counts facts left out because they stood in the same split already, by split;
	// those of the inference graph's edges stand under inference.
	Repeated map[string]int64 `json:"repeated"`
	// Known counts facts of valid and test that are also facts of their graph. They are kept.
	Known map[string]int64 `json:"known"`
	// Rejected is the number of lines that were left out because they are no facts, or because
	// their relation is in no training fact; rejects.tsv has them.
	Rejected int64 `json:"rejected"`
}

// GraphSummary is the size of a graph.
type GraphSummary struct {
	Entities   int64   `json:"entities"`
	Facts      int64   `json:"facts"`
	Edges      int64   `json:"edges"`
	MeanDegree float64 `json:"mean_degree"`
}

// ReadSummary reads summary.json of a graph/ folder.
func ReadSummary(ctx context.Context, folder string) (Summary, error) {
	var s Summary
	url := storage.Join(folder, kg.SummaryFile)
	text, err := storage.ReadFile(ctx, url)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("reading %s: %w", url, err)
	}
	return s, nil
}

// summarizeFn writes the summary when all tables are there.
type summarizeFn struct{ Params WriteParams }

// ProcessElement gets the counts of all tables at once.
func (f *summarizeFn) ProcessElement(ctx context.Context, _ int, tables func(*Done) bool, written func(*vocabulary.Written) bool, emit func(string)) error {
	leave, err := externalsort.Enter(1)
	if err != nil {
		return err
	}
	defer leave()
	summary := Summary{
		Dataset: f.Params.Dataset, Inference: f.Params.InferenceDataset,
		Queries: map[string]int64{}, Distinct: map[string]int64{},
		Repeated: map[string]int64{}, Known: map[string]int64{},
	}
	inference := GraphSummary{}
	var w vocabulary.Written
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
	var d Done
	for tables(&d) {
		summary.add(d, &inference)
	}
	summary.Facts, inference.Facts = summary.Edges/2, inference.Edges/2
	if summary.Facts == 0 {
		return fmt.Errorf("no training fact is left (%d lines were rejected): there is nothing to learn from", summary.Rejected)
	}
	summary.MeanDegree = float64(summary.Facts) / float64(summary.Entities)
	if f.Params.InferenceDataset != "" {
		if inference.Facts == 0 {
			return fmt.Errorf("no fact of the inference graph's train.txt is left (%d lines were rejected)", summary.Rejected)
		}
		summary.Repeated["inference"] /= 2
		inference.MeanDegree = float64(inference.Facts) / float64(inference.Entities)
		summary.InferenceGraph = &inference
	}
	text, err := json.MarshalIndent(summary, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the summary: %w", err)
	}
	if err := storage.RemoveAll(ctx, f.Params.Spill); err != nil {
		return err
	}
	url := storage.Join(f.Params.Folder, kg.SummaryFile)
	if err := storage.WriteFile(ctx, url, append(text, '\n')); err != nil {
		return err
	}
	emit(url)
	return nil
}

// add notes the counts of one table.
func (s *Summary) add(d Done, inference *GraphSummary) {
	split, isQueries := kg.SplitOf(d.File)
	switch {
	case d.File == kg.RejectsFile:
		s.Rejected = d.RejectedLines
	case kg.IsInferenceEdges(d.File):
		inference.Edges += d.Rows
		s.Repeated["inference"] += d.Repeated // halved when all shards are counted
	case kg.IsEdges(d.File):
		s.Edges += d.Rows
	case isQueries:
		s.Queries[split] = d.Rows
		s.Distinct[split] = d.Distinct
		s.Repeated[split] = d.Repeated / 2
	case d.File == kg.InferenceAnswersFile:
		s.Known["test"] = d.KnownTest / 2 // its own train facts, not the training graph's
	case d.File == kg.AnswersFile:
		s.Known["valid"] = d.KnownValid / 2
		if _, inductive := s.Known["test"]; !inductive {
			s.Known["test"] = d.KnownTest / 2
		}
	}
}
