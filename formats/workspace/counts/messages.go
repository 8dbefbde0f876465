package counts

import (
	"context"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
)

// The outputs in messages/SPLIT: tables, which are folders of parts, and a file.
const (
	CountsTable = "messages"
	AStarTable  = "astar"        // the same columns, with a checkpoint of A*Net
	SummaryFile = "summary.json" // also in graph/
)

// Summary is the content of summary.json: the exact counts of all queries of a split.
type Summary struct {
	Split string `json:"split"`
	// Queries is the number of queries of both directions, with repeats. Edges is the number of edges
	// of the graph that is queried, inverses included.
	Queries int64 `json:"queries"`
	Edges   int64 `json:"edges"`
	// Remove names what is removed from the graph of each query.
	Remove string `json:"remove"`
	// Reach is the most entities that a query propagates through, 0 for all. Edges with an end at another
	// entity count as empty.
	Reach          int             `json:"reach,omitempty"`
	Configurations []Configuration `json:"configurations"`
	// ByLayer has the counts of each layer, in the order of Configurations.
	ByLayer []LayerSum `json:"by_layer"`
	// AStar has the choices of a model of A*Net, if there is a checkpoint.
	AStar *AStar `json:"astar,omitempty"`
}

// Totals are numbers of messages, summed over queries.
type Totals struct {
	// NBFNet is the number of messages without truncation: Kept + PrunedEmpty + PrunedRedundant.
	NBFNet int64 `json:"nbfnet"`
	// Kept is the number of messages that the window admits, KeptEmpty how many of them have a sender
	// that is not reached yet.
	Kept      int64 `json:"kept"`
	KeptEmpty int64 `json:"kept_empty"`
	// PrunedEmpty is the number of pruned messages whose sender is not reached yet, PrunedRedundant of
	// those whose sender is reached.
	PrunedEmpty     int64 `json:"pruned_empty"`
	PrunedRedundant int64 `json:"pruned_redundant"`
}

// Sent returns the number of messages that are sent: those kept, without the empty ones.
func (t Totals) Sent() int64 { return t.Kept - t.KeptEmpty }

// NotEmpty returns the number of messages without truncation whose sender is reached.
func (t Totals) NotEmpty() int64 { return t.Sent() + t.PrunedRedundant }

// Saved returns which fraction of NBFNet, and which of NotEmpty, is not sent. A propagation that sends a message along
// every edge in every layer saves the first, one that skips unreached senders the second.
func (t Totals) Saved() (ofAll, ofNotEmpty float64) {
	return Decrease(t.Sent(), t.NBFNet), Decrease(t.Sent(), t.NotEmpty())
}

// PrunedEmptyShare returns the share of the pruned messages that are empty, NaN if none is pruned.
func (t Totals) PrunedEmptyShare() float64 {
	return float64(t.PrunedEmpty) / float64(t.PrunedEmpty+t.PrunedRedundant)
}

// Configuration is the counts of one number of layers and delta, summed over all queries and layers.
type Configuration struct {
	// Layers is the depth of the model.
	Layers int `json:"layers"`
	// Delta is the number of layers in which an entity still receives after it is reached.
	Delta int `json:"delta"`
	Totals
	// Decrease is the fraction of NBFNet that is not sent.
	Decrease float64 `json:"decrease"`
	// DecreaseWithoutEmpty is Decrease if KeptEmpty is not sent either.
	DecreaseWithoutEmpty float64 `json:"decrease_without_empty"`
	// NBFNetPerQuery is NBFNet divided by the number of queries.
	NBFNetPerQuery float64 `json:"nbfnet_per_query"`
	// KeptPerQuery is Kept divided by the number of queries.
	KeptPerQuery float64 `json:"kept_per_query"`
}

// LayerSum is the counts of one layer of a configuration, summed over all queries.
type LayerSum struct {
	Layers int `json:"layers"`
	Delta  int `json:"delta"`
	Layer  int `json:"layer"`
	Totals
}

// AStar is the counts of a model's choices, summed over all queries.
type AStar struct {
	Checkpoint string `json:"checkpoint"`
	Policy     string `json:"policy"`
	Layers     int    `json:"layers"`
	Delta      int    `json:"delta"`
	NBFNet     int64  `json:"nbfnet"`
	// AStar is the number of messages that A*Net chooses, Kept how many of them are sent: all with
	// policy astar, and those that the window admits with policy window+astar.
	AStar int64 `json:"astar"`
	Kept  int64 `json:"kept"`
	// Decrease is the fraction of NBFNet that is not sent, DecreaseOfAStar the fraction of AStar.
	Decrease        float64 `json:"decrease"`
	DecreaseOfAStar float64 `json:"decrease_of_astar"`
	// ByLayer has the counts of each layer.
	ByLayer []AStarLayer `json:"by_layer"`
}

// AStarLayer counts what A*Net chooses and sends in one layer.
type AStarLayer struct {
	Layer int   `json:"layer"`
	AStar int64 `json:"astar"`
	Kept  int64 `json:"kept"`
}

// Check returns an error for numbers that no counting of messages gives.
func (s Summary) Check() error {
	return strict.First(strict.Optional("astar", s.AStar, strict.Value), strict.Count("queries", s.Queries), strict.Count("edges", s.Edges),
		strict.Count("reach", s.Reach), strict.List("configurations", s.Configurations), strict.List("by_layer", s.ByLayer))
}

// Check returns an error for negative numbers.
func (t Totals) Check() error {
	return strict.First(strict.Between("kept", t.Kept, 0, t.NBFNet), strict.Between("kept_empty", t.KeptEmpty, 0, t.Kept),
		strict.Between("pruned_empty", t.PrunedEmpty, 0, t.NBFNet), strict.Between("pruned_redundant", t.PrunedRedundant, 0, t.NBFNet))
}

// Check returns an error for numbers that no configuration has.
func (c Configuration) Check() error {
	return strict.First(strict.Count("layers", c.Layers), strict.Count("delta", c.Delta), c.Totals.Check())
}

// Check returns an error for numbers that no layer has.
func (l LayerSum) Check() error {
	return strict.First(strict.Count("layers", l.Layers), strict.Count("delta", l.Delta), strict.Between("layer", l.Layer, 1, l.Layers), l.Totals.Check())
}

// Check returns an error for numbers that no model's choices have.
func (a AStar) Check() error {
	return strict.First(strict.Count("layers", a.Layers), strict.Count("delta", a.Delta), strict.Between("astar", a.AStar, 0, a.NBFNet),
		strict.Between("kept", a.Kept, 0, a.AStar),
		strict.List("by_layer", a.ByLayer))
}

// Check returns an error for numbers that no layer has.
func (l AStarLayer) Check() error {
	return strict.First(strict.Count("layer", l.Layer), strict.Count("astar", l.AStar), strict.Between("kept", l.Kept, 0, l.AStar))
}

// ReadSummary reads summary.json of a messages/SPLIT folder.
func ReadSummary(ctx context.Context, folder string) (Summary, error) {
	return storage.ReadJSON[Summary](ctx, storage.Join(folder, SummaryFile))
}

// Decrease returns the fraction of all messages that is not sent.
func Decrease(sent, all int64) float64 { return 1 - float64(sent)/float64(max(1, all)) }
