package analysis

import (
	"context"
	"math"

	"tagnet/formats/check"
	"tagnet/formats/counts"
	"tagnet/formats/storage"
)

// The files of analysis/.
const (
	File       = "analysis.json"
	SharesFile = "analysis.parquet" // the same numbers as rows of parquet.Share
)

// The names of the graphs of a dataset in the files.
const (
	Training  = "training"
	Inference = "inference"
)

// Analysis is the content of analysis.json. The embedded Graph is the training graph.
type Analysis struct {
	// Dataset is the name of the dataset's folder or catalog entry, Inference that of the inference
	// graph.
	Dataset   string `json:"dataset"`
	Inference string `json:"inference,omitempty"`
	// Relations is the number of base relations, which both graphs share.
	Relations int64 `json:"relations"`
	Graph
	// InferenceGraph is the graph of the test queries in the inductive setting.
	InferenceGraph *Graph `json:"inference_graph,omitempty"`
	// Splits has the counts of each split's queries.
	Splits map[string]Split `json:"splits"`
}

// Graph is the size and the degrees of a graph.
type Graph struct {
	Entities int64 `json:"entities"`
	Facts    int64 `json:"facts"`
	// Edges is the number of edges, two for each fact: the second has the inverse relation.
	Edges int64 `json:"edges"`
	// MeanDegree is facts per entity, as in the paper.
	MeanDegree float64 `json:"mean_degree"`
	// MostEdges is the largest number of edges that enter an entity, inverses included.
	MostEdges int64 `json:"most_edges"`
	// Degrees is a histogram of the entities by the number of edges that enter them, inverses
	// included: 0, 1, 2 to 3, 4 to 7, and so on up to MostEdges.
	Degrees []Degree `json:"degrees"`
}

// Degree counts the entities with From to To edges.
type Degree struct {
	From     int64 `json:"from"`
	To       int64 `json:"to"`
	Entities int64 `json:"entities"`
	// Share is the fraction of all entities.
	Share float64 `json:"share"`
}

// Split describes the queries of a split.
type Split struct {
	// Graph names the graph that is queried: Training or Inference.
	Graph string `json:"graph"`
	// Queries is the number of queries of both directions, with repeats.
	Queries int64 `json:"queries"`
	// MaxHops is the depth of the search. Answers farther away are unreached.
	MaxHops int `json:"max_hops"`
	// ByDistance has the queries by the distance of their answer: "1", "2", ..., "unreached", and
	// "0" where an answer is the source itself. Each query's own fact is in the graph.
	ByDistance map[string]AtDistance `json:"by_distance"`
	// Remove names what was removed from the graph of each query before its messages were counted.
	Remove string `json:"remove"`
	// Messages are the counts for each number of layers with each delta.
	Messages []Messages `json:"messages"`
	// AStar has the choices of a model of A*Net, if messages were counted with a checkpoint.
	AStar *counts.AStar `json:"astar,omitempty"`
}

// AtDistance counts the queries whose answers have the same distance.
type AtDistance struct {
	Queries int64 `json:"queries"`
	// Share is the fraction of the split's queries.
	Share float64 `json:"share"`
}

// Messages is the counts of messages with a number of layers and a delta.
type Messages struct {
	counts.Configuration
	// Shares are fractions of NBFNet, the messages of all layers.
	Shares Shares `json:"shares"`
	// PrunedEmptyShare and PrunedRedundantShare are fractions of the pruned messages; both are 0 if
	// none is pruned.
	PrunedEmptyShare     float64 `json:"pruned_empty_share"`
	PrunedRedundantShare float64 `json:"pruned_redundant_share"`
	// ByLayer has the counts of each layer.
	ByLayer []Layer `json:"by_layer"`
}

// Layer is the counts of the messages of a layer.
type Layer struct {
	counts.LayerSum
	// Shares are fractions of the layer's counts.
	Shares Shares `json:"shares"`
}

// Shares are fractions of the messages that propagation without truncation sends. They add up to 1.
type Shares struct {
	// Sent is the share of messages that are kept and not empty.
	Sent            float64 `json:"sent"`
	KeptEmpty       float64 `json:"kept_empty"`
	PrunedEmpty     float64 `json:"pruned_empty"`
	PrunedRedundant float64 `json:"pruned_redundant"`
}

// Check returns an error for numbers that no dataset has.
func (a Analysis) Check() error {
	if a.InferenceGraph != nil {
		if err := check.Value("inference_graph", *a.InferenceGraph); err != nil {
			return err
		}
	}
	return check.First(check.Count("relations", a.Relations), a.Graph.Check(), check.Map("splits", a.Splits))
}

// Check returns an error for numbers that no graph has.
func (g Graph) Check() error {
	return check.First(check.Count("entities", g.Entities), check.Count("facts", g.Facts), check.Count("edges", g.Edges), check.AtLeastZero("mean_degree", g.MeanDegree),
		check.Count("most_edges", g.MostEdges), check.List("degrees", g.Degrees))
}

// Check returns an error for numbers that no bin of a histogram has.
func (d Degree) Check() error {
	return check.First(check.Count("from", d.From), check.Between("to", d.To, d.From, math.MaxInt64), check.Count("entities", d.Entities), check.Share("share", d.Share))
}

// Check returns an error for numbers that no split has.
func (s Split) Check() error {
	if s.AStar != nil {
		if err := check.Value("astar", *s.AStar); err != nil {
			return err
		}
	}
	return check.First(check.Count("queries", s.Queries), check.Count("max_hops", s.MaxHops), check.Map("by_distance", s.ByDistance), check.List("messages", s.Messages))
}

// Check returns an error for numbers that no distance has.
func (d AtDistance) Check() error {
	return check.First(check.Count("queries", d.Queries), check.Share("share", d.Share))
}

// Check returns an error for numbers that no counting gives.
func (m Messages) Check() error {
	return check.First(m.Configuration.Check(), check.Value("shares", m.Shares), check.Share("pruned_empty_share", m.PrunedEmptyShare),
		check.Share("pruned_redundant_share", m.PrunedRedundantShare), check.List("by_layer", m.ByLayer))
}

// Check returns an error for numbers that no layer has.
func (l Layer) Check() error {
	return check.First(l.LayerSum.Check(), check.Value("shares", l.Shares))
}

// Check returns an error for numbers that are no fractions.
func (s Shares) Check() error {
	return check.First(check.Share("sent", s.Sent), check.Share("kept_empty", s.KeptEmpty), check.Share("pruned_empty", s.PrunedEmpty), check.Share("pruned_redundant", s.PrunedRedundant))
}

// Share returns n as a fraction of whole, 0 if whole is 0.
func Share(n, whole int64) float64 { return float64(n) / float64(max(1, whole)) }

// Read reads analysis.json of an analysis/ folder.
func Read(ctx context.Context, folder string) (Analysis, error) {
	return storage.ReadJSON[Analysis](ctx, storage.Join(folder, File))
}
