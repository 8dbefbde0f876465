package graph

import (
	"context"
	"fmt"
	"math"

	"tagnet/formats/check"
	"tagnet/formats/storage"
	"tagnet/model/kg"
	"tagnet/model/split"
	"tagnet/stages/vocabulary"
	"tagnet/stages/worker"
)

// Summary is the content of summary.json: the sizes of the tables of graph/.
type Summary struct {
	// Dataset is the name of the dataset's folder or catalogue entry, Inference that of the inference
	// graph.
	Dataset   string `json:"dataset"`
	Inference string `json:"inference,omitempty"`
	// Entities, Relations (without inverses), Facts (distinct) and Edges (two a fact) count those of
	// the training graph. MeanDegree is facts per entity.
	Entities   int64   `json:"entities"`
	Relations  int64   `json:"relations"`
	Facts      int64   `json:"facts"`
	Edges      int64   `json:"edges"`
	MeanDegree float64 `json:"mean_degree"`
	// Background counts the facts of the graph that no query is about, those of facts.txt.
	Background int64 `json:"background,omitempty"`
	// Queries has the number of queries of each split, two for each of its facts, and Distinct the
	// number of different pairs (source, relation) among them.
	Queries  map[string]int64 `json:"queries"`
	Distinct map[string]int64 `json:"distinct"`
	// InferenceGraph is the graph of the test queries in the inductive setting.
	InferenceGraph *GraphSummary `json:"inference_graph,omitempty"`
	// Types counts the types of entities, if the dataset gives any.
	Types *TypesSummary `json:"types,omitempty"`
	// Repeated counts facts left out because they repeat one of the same split, by split; the key of
	// the inference graph's train facts is "inference".
	Repeated map[string]int64 `json:"repeated"`
	// Known counts facts of valid and test that are also facts of their graph: a model can look them up. They are
	// not left out. KnownShare is their share of the split's facts, 0 without facts.
	Known      map[string]int64   `json:"known"`
	KnownShare map[string]float64 `json:"known_share"`
	// Rejected is the number of lines left out because they are not facts, or because their relation
	// is in no training fact; rejects.tsv lists them.
	Rejected int64 `json:"rejected"`

	edgesRepeated int64 // rows of the training graph's edges

	// Unread are the names of the files of the dataset's folders that were not read.
	Unread []string `json:"unread,omitempty"`
	// Conversion says how the files were read, if they are not tab-separated text.
	Conversion *Conversion `json:"conversion,omitempty"`
}

// Conversion says how files became facts that are not three tab-separated texts.
type Conversion struct {
	// Formats are the formats of the files, separated by commas.
	Formats string `json:"formats,omitempty"`
	// Literals counts the statements of RDF that were left out because their object is a literal.
	Literals int64 `json:"literals,omitempty"`
	// Unlabelled counts the ids, as often as they occur, for which the files of names have none.
	Unlabelled int64 `json:"unlabelled,omitempty"`
	// Split says how one file was divided.
	Split *split.Summary `json:"split,omitempty"`
}

// GraphSummary is the size of a graph.
type GraphSummary struct {
	Entities   int64   `json:"entities"`
	Facts      int64   `json:"facts"`
	Edges      int64   `json:"edges"`
	MeanDegree float64 `json:"mean_degree"`
	// Types counts the types of entities, if the dataset gives any.
	Types *TypesSummary `json:"types,omitempty"`
}

// Check returns an error for numbers that no graph has.
func (s Summary) Check() error {
	if s.InferenceGraph != nil {
		if err := check.Value("inference_graph", *s.InferenceGraph); err != nil {
			return err
		}
	}
	for split, share := range s.KnownShare {
		if err := check.Share("known_share."+split, share); err != nil {
			return err
		}
	}
	graph := GraphSummary{Entities: s.Entities, Facts: s.Facts, Edges: s.Edges, MeanDegree: s.MeanDegree, Types: s.Types}
	return check.First(graph.Check(), check.Between("relations", s.Relations, 1, math.MaxInt32/2), check.Count("background", s.Background), check.Count("rejected", s.Rejected),
		check.Counts("queries", s.Queries), check.Counts("distinct", s.Distinct), check.Counts("repeated", s.Repeated), check.Counts("known", s.Known))
}

// Check returns an error for numbers that no graph has.
func (g GraphSummary) Check() error {
	if t := g.Types; t != nil {
		if err := check.First(check.Count("types.types", t.Types), check.Count("types.entities", t.Entities), check.Count("types.listed", t.Listed), check.Count("types.unknown", t.Unknown)); err != nil {
			return err
		}
	}
	return check.First(check.Between("entities", g.Entities, 1, math.MaxInt32), check.Between("facts", g.Facts, 1, math.MaxInt64/2),
		check.Between("edges", g.Edges, 2*g.Facts, 2*g.Facts), check.AtLeastZero("mean_degree", g.MeanDegree))
}

// ReadSummary reads summary.json of a graph/ folder.
func ReadSummary(ctx context.Context, folder string) (Summary, error) {
	return storage.ReadJSON[Summary](ctx, storage.Join(folder, kg.SummaryFile))
}

// summarizeFn writes the summary when all tables are complete.
type summarizeFn struct{ Params WriteParams }

// ProcessElement receives the counts of all tables at once.
func (f *summarizeFn) ProcessElement(ctx context.Context, _ int, tables func(*TableCounts) bool, written func(*vocabulary.Written) bool, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
	ctx, leave, err := worker.Enter(ctx, 1)
	if err != nil {
		return err
	}
	defer leave()
	summary := Summary{
		Dataset: f.Params.Dataset, Inference: f.Params.InferenceDataset,
		Queries: map[string]int64{}, Distinct: map[string]int64{},
		Repeated: map[string]int64{}, Known: map[string]int64{}, KnownShare: map[string]float64{},
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
	var c TableCounts
	for tables(&c) {
		summary.add(c, &inference)
	}
	summary.Facts, inference.Facts = summary.Edges/2, inference.Edges/2
	if summary.Facts == 0 {
		return fmt.Errorf("the dataset has no training facts (%d lines were rejected)", summary.Rejected)
	}
	summary.Background = summary.Facts - summary.Queries["train"]/2
	if repeated := summary.edgesRepeated/2 - summary.Repeated["train"]; repeated > 0 {
		summary.Repeated["facts"] = repeated
	}
	for split, known := range summary.Known {
		summary.KnownShare[split] = float64(known) / float64(max(1, summary.Queries[split]/2))
	}
	summary.MeanDegree = float64(summary.Facts) / float64(summary.Entities)
	if f.Params.InferenceDataset != "" {
		if inference.Facts == 0 {
			return fmt.Errorf("the train.txt of the inference graph has no facts (%d lines were rejected)", summary.Rejected)
		}
		summary.Repeated["inference"] /= 2
		inference.MeanDegree = float64(inference.Facts) / float64(inference.Entities)
		summary.InferenceGraph = &inference
	}
	if err := storage.RemoveAll(ctx, f.Params.Spill); err != nil {
		return err
	}
	url := storage.Join(f.Params.Folder, kg.SummaryFile)
	if err := storage.WriteJSON(ctx, url, summary); err != nil {
		return err
	}
	emit(url)
	return nil
}

// add adds the counts of one table.
func (s *Summary) add(c TableCounts, inference *GraphSummary) {
	split, isQueries := kg.SplitOf(c.File)
	switch {
	case c.File == kg.RejectsFile:
		s.Rejected = c.RejectedLines
	case kg.IsInferenceEdges(c.File):
		inference.Edges += c.Rows
		s.Repeated["inference"] += c.Repeated // halved when all shards are counted
	case kg.IsEdges(c.File):
		s.Edges += c.Rows
		s.edgesRepeated += c.Repeated
	case isQueries:
		s.Queries[split] = c.Rows
		s.Distinct[split] = c.Distinct
		s.Repeated[split] = c.Repeated / 2
	case c.File == kg.InferenceAnswersFile:
		s.Known["test"] = c.KnownTest / 2 // its own train facts, not the training graph's
	case c.File == kg.AnswersFile:
		s.Known["valid"] = c.KnownValid / 2
		if _, inductive := s.Known["test"]; !inductive {
			s.Known["test"] = c.KnownTest / 2
		}
	}
}
