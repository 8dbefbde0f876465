package statistics

import (
	"context"

	"tagnet/formats/storage"
	"tagnet/stages/messages"
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
	// Dataset is the name of the dataset's folder or catalogue entry, Inference that of the inference
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
	AStar *messages.AStar `json:"astar,omitempty"`
}

// AtDistance counts the queries whose answers have the same distance.
type AtDistance struct {
	Queries int64 `json:"queries"`
	// Share is the fraction of the split's queries.
	Share float64 `json:"share"`
}

// Messages is the counts of messages with a number of layers and a delta.
type Messages struct {
	messages.Configuration
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
	messages.LayerSum
	// Shares are fractions of the layer's messages.
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

// share returns n as a fraction of whole, 0 if whole is 0.
func share(n, whole int64) float64 { return float64(n) / float64(max(1, whole)) }

// Read reads analysis.json of an analysis/ folder.
func Read(ctx context.Context, folder string) (Analysis, error) {
	return storage.ReadJSON[Analysis](ctx, storage.Join(folder, File))
}
