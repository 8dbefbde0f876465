package statistics

import (
	"context"
	"encoding/json"
	"fmt"

	"tagnet/formats/storage"
	"tagnet/stages/messages"
)

// The files of analysis/.
const (
	File       = "analysis.json"
	SharesFile = "analysis.parquet" // the same as rows, parquet.Share
)

// The graphs of a data set, as files name them.
const (
	Training  = "training"
	Inference = "inference"
)

// Analysis is analysis.json. What stands at its top is the graph that is trained on.
type Analysis struct {
	// Dataset is the folder's or the catalogue's name; Inference that of the inference graph.
	Dataset   string `json:"dataset"`
	Inference string `json:"inference,omitempty"`
	// Relations counts base relations, which both graphs share.
	Relations int64 `json:"relations"`
	Graph
	// InferenceGraph is what test asks in the inductive setting.
	InferenceGraph *Graph `json:"inference_graph,omitempty"`
	// Splits has what was counted for the queries of each split.
	Splits map[string]Split `json:"splits"`
}

// Graph is the size and the degrees of one graph.
type Graph struct {
	Entities int64 `json:"entities"`
	Facts    int64 `json:"facts"`
	// Edges is two a fact, the second its reciprocal.
	Edges int64 `json:"edges"`
	// MeanDegree is facts per entity, as the paper counts.
	MeanDegree float64 `json:"mean_degree"`
	// MostEdges is the largest number of edges that enter an entity, reciprocals included.
	MostEdges int64 `json:"most_edges"`
	// Degrees parts the entities by how many edges enter them, reciprocals included: 0, 1,
	// 2 to 3, 4 to 7, and so on up to MostEdges.
	Degrees []Degree `json:"degrees"`
}

// Degree is the entities with From to To edges.
type Degree struct {
	From     int64 `json:"from"`
	To       int64 `json:"to"`
	Entities int64 `json:"entities"`
	// Share is the fraction of all entities.
	Share float64 `json:"share"`
}

// Split is what the queries of a split are like.
type Split struct {
	// Graph is the one that is asked: training or inference.
	Graph string `json:"graph"`
	// Queries counts both directions, repeats included.
	Queries int64 `json:"queries"`
	// MaxHops is how far was searched: beyond, an answer is unreached.
	MaxHops int `json:"max_hops"`
	// ByDistance has the queries by the distance of their answer: "1", "2", ..., "unreached", and
	// "0" where an answer is its own source. Each query's own fact is in the graph.
	ByDistance map[string]AtDistance `json:"by_distance"`
	// Remove is what left the graph of each query before its messages were counted.
	Remove string `json:"remove"`
	// Messages are the counts for each number of layers with each delta.
	Messages []Messages `json:"messages"`
	// AStar is what a model of A*Net chose, if messages were counted with a checkpoint.
	AStar *messages.AStar `json:"astar,omitempty"`
}

// AtDistance is the queries whose answers are equally far.
type AtDistance struct {
	Queries int64 `json:"queries"`
	// Share is the fraction of the split's queries.
	Share float64 `json:"share"`
}

// Messages is what becomes of the messages with a number of layers and a delta.
type Messages struct {
	messages.Configuration
	// Shares are those of all messages, NBFNet.
	Shares Shares `json:"shares"`
	// PrunedEmptyShare is the fraction of what is pruned that is empty, the rest of it is
	// redundant; both are 0 where nothing is pruned.
	PrunedEmptyShare     float64 `json:"pruned_empty_share"`
	PrunedRedundantShare float64 `json:"pruned_redundant_share"`
	// ByLayer has the same for each layer.
	ByLayer []Layer `json:"by_layer"`
}

// Layer is what becomes of the messages of one layer.
type Layer struct {
	messages.LayerSum
	// Shares are those of the layer's messages.
	Shares Shares `json:"shares"`
}

// Shares are fractions of the messages that untruncated propagation sends. They add up to 1.
type Shares struct {
	// Sent is kept and not empty.
	Sent            float64 `json:"sent"`
	KeptEmpty       float64 `json:"kept_empty"`
	PrunedEmpty     float64 `json:"pruned_empty"`
	PrunedRedundant float64 `json:"pruned_redundant"`
}

// share is a fraction of a whole, 0 of nothing.
func share(part, whole int64) float64 { return float64(part) / float64(max(1, whole)) }

// Read reads analysis.json of an analysis/ folder.
func Read(ctx context.Context, folder string) (Analysis, error) {
	var a Analysis
	url := storage.Join(folder, File)
	text, err := storage.ReadFile(ctx, url)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("reading %s: %w", url, err)
	}
	return a, nil
}
