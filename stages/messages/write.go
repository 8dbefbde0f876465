package messages

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/model/configuration"
	"tagnet/model/kg"
	"tagnet/model/messages"
	"tagnet/stages/graph"
)

// The files of messages/SPLIT.
const (
	CountsFile  = "messages.parquet"
	AStarFile   = "astar.parquet" // the same columns, with a checkpoint of A*Net
	SummaryFile = "summary.json"
)

// maxRows bounds the rows of messages.parquet that are held in memory, bytesPerRow each.
const maxRows = 8 << 20

// Summary is summary.json: the counts of all queries of a split, exact.
type Summary struct {
	Split string `json:"split"`
	// Queries counts both directions, repeats included. Edges is the number of edges of the
	// graph that is asked, reciprocals included.
	Queries int64 `json:"queries"`
	Edges   int64 `json:"edges"`
	// Remove is what left the graph of each query.
	Remove         string          `json:"remove"`
	Configurations []Configuration `json:"configurations"`
	// ByLayer parts each configuration by layer, in the order of Configurations.
	ByLayer []LayerSum `json:"by_layer"`
	// AStar is what a model of A*Net chose, with a checkpoint.
	AStar *AStar `json:"astar,omitempty"`
}

// AStar is the counts of a model's choices, summed over all queries.
type AStar struct {
	Checkpoint string `json:"checkpoint"`
	Policy     string `json:"policy"`
	Layers     int    `json:"layers"`
	Delta      int    `json:"delta"`
	NBFNet     int64  `json:"nbfnet"`
	// AStar is what A*Net chose, Kept what of it was sent: with policy window+astar what the
	// window admits too, with policy astar all.
	AStar int64 `json:"astar"`
	Kept  int64 `json:"kept"`
	// Decrease is the share of NBFNet that is not sent, DecreaseOfAStar the share of AStar.
	Decrease        float64 `json:"decrease"`
	DecreaseOfAStar float64 `json:"decrease_of_astar"`
	// ByLayer has the same for each layer.
	ByLayer []AStarLayer `json:"by_layer"`
}

// AStarLayer is the counts of one layer.
type AStarLayer struct {
	Layer int   `json:"layer"`
	AStar int64 `json:"astar"`
	Kept  int64 `json:"kept"`
}

// Configuration is the counts of one number of layers and delta, summed over all queries and
// layers.
type Configuration struct {
	// Layers is the depth of the model.
	Layers int `json:"layers"`
	// Delta is how many layers an entity still listens after it is reached.
	Delta int `json:"delta"`
	// NBFNet is what is sent without truncation: Kept, PrunedEmpty and PrunedRedundant.
	NBFNet int64 `json:"nbfnet"`
	// Kept is what the window lets through.
	Kept int64 `json:"kept"`
	// KeptEmpty are those of Kept whose sender is not reached yet.
	KeptEmpty int64 `json:"kept_empty"`
	// PrunedEmpty is not sent, and its sender is not reached yet.
	PrunedEmpty int64 `json:"pruned_empty"`
	// PrunedRedundant is not sent though its sender is reached.
	PrunedRedundant int64 `json:"pruned_redundant"`
	// Decrease is the share of NBFNet that is not sent.
	Decrease float64 `json:"decrease"`
	// DecreaseWithoutEmpty is Decrease if what is kept though empty is not sent either.
	DecreaseWithoutEmpty float64 `json:"decrease_without_empty"`
	// NBFNetPerQuery is the mean of NBFNet.
	NBFNetPerQuery float64 `json:"nbfnet_per_query"`
	// KeptPerQuery is the mean of Kept.
	KeptPerQuery float64 `json:"kept_per_query"`
}

// LayerSum is the counts of one layer of a configuration, summed over all queries; they are as
// in Configuration.
type LayerSum struct {
	Layers          int   `json:"layers"`
	Delta           int   `json:"delta"`
	Layer           int   `json:"layer"`
	NBFNet          int64 `json:"nbfnet"`
	Kept            int64 `json:"kept"`
	KeptEmpty       int64 `json:"kept_empty"`
	PrunedEmpty     int64 `json:"pruned_empty"`
	PrunedRedundant int64 `json:"pruned_redundant"`
}

// layerSums are the sums of a configuration's layers.
func layerSums(layers, delta int, sums []messages.Counts) []LayerSum {
	list := make([]LayerSum, len(sums))
	for i, c := range sums {
		list[i] = LayerSum{
			Layers: layers, Delta: delta, Layer: i + 1, NBFNet: c.Edges, Kept: c.Kept, KeptEmpty: c.KeptEmpty,
			PrunedEmpty: c.PrunedEmpty, PrunedRedundant: c.PrunedRedundant,
		}
	}
	return list
}

// newConfiguration derives the shares and means of summed counts.
func newConfiguration(layers, delta int, c messages.Counts, queries int64) Configuration {
	share := func(sent int64) float64 { return 1 - float64(sent)/float64(max(1, c.Edges)) }
	mean := func(sum int64) float64 { return float64(sum) / float64(max(1, queries)) }
	return Configuration{
		Layers: layers, Delta: delta, NBFNet: c.Edges, Kept: c.Kept, KeptEmpty: c.KeptEmpty,
		PrunedEmpty: c.PrunedEmpty, PrunedRedundant: c.PrunedRedundant,
		Decrease: share(c.Kept), DecreaseWithoutEmpty: share(c.Kept - c.KeptEmpty),
		NBFNetPerQuery: mean(c.Edges), KeptPerQuery: mean(c.Kept),
	}
}

// writeFn makes rows and sums of all counts.
type writeFn struct {
	Params CountParams

	loaded *kg.KG
}

// Setup loads the graph, once per process: for the names.
func (f *writeFn) Setup(context.Context) (err error) {
	f.loaded, err = graph.Load(f.Params.Graph)
	return err
}

// ProcessElement writes both files.
func (f *writeFn) ProcessElement(ctx context.Context, _ int, elements func(*[]byte) bool, emit func(string)) (err error) {
	var all []Counted
	var choices []chosen
	var element []byte
	for elements(&element) {
		rows, choice, err := decode(element)
		if err != nil {
			return err
		}
		all, choices = append(all, rows...), append(choices, choice...)
	}
	slices.SortFunc(all, func(a, b Counted) int { return cmp.Compare(a.Source, b.Source) })
	view := f.loaded.Of(f.Params.Split)
	summary := Summary{Split: f.Params.Split, Edges: view.Graph.Edges(), Remove: f.Params.Remove}
	for _, c := range all {
		summary.Queries += c.Queries
	}
	perSource := f.Params.RowsPerSource()
	if n := len(all) * perSource; n > maxRows {
		return fmt.Errorf("%s would have %d rows, more than %d: give fewer --layers or --deltas at once", CountsFile, n, maxRows)
	}
	rows := make([]parquet.MessageCount, 0, len(all)*perSource)
	for _, layers := range f.Params.Layers {
		for _, delta := range f.Params.Deltas {
			sums := make([]messages.Counts, layers)
			for _, c := range all {
				for layer := 1; layer <= layers; layer++ {
					counts := c.Levels.Layer(layers, layer, delta)
					if f.Params.Remove == configuration.RemoveNone { // else they are summed already
						sums[layer-1] = sums[layer-1].Plus(counts.Times(c.Queries))
					} else {
						sums[layer-1] = sums[layer-1].Plus(counts)
					}
					rows = append(rows, row(view.Entities[c.Source], c.Queries, layers, layer, delta, counts))
				}
			}
			var whole messages.Counts
			for _, sum := range sums {
				whole = whole.Plus(sum)
			}
			summary.Configurations = append(summary.Configurations, newConfiguration(layers, delta, whole, summary.Queries))
			summary.ByLayer = append(summary.ByLayer, layerSums(layers, delta, sums)...)
		}
	}
	if f.Params.AStar != nil {
		if summary.AStar, err = f.writeChoices(ctx, choices, view.Entities); err != nil {
			return err
		}
	}
	url, err := write(ctx, f.Params.Folder, rows, summary)
	if err != nil {
		return err
	}
	emit(url)
	return nil
}

// writeChoices writes the rows of a model's choices and returns their sums.
func (f *writeFn) writeChoices(ctx context.Context, choices []chosen, names []string) (*AStar, error) {
	c := f.Params.AStar.Configuration
	slices.SortFunc(choices, func(a, b chosen) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Layer, b.Layer))
	})
	sum := &AStar{Checkpoint: f.Params.AStar.Checkpoint, Policy: c.Policy, Layers: c.Layers, Delta: c.Delta}
	for layer := range c.Layers {
		sum.ByLayer = append(sum.ByLayer, AStarLayer{Layer: layer + 1})
	}
	rows := make([]parquet.MessageCount, len(choices))
	for i, r := range choices {
		rows[i] = parquet.MessageCount{
			Source: names[r.Source], Queries: r.Queries, Layers: int32(c.Layers), Layer: int32(r.Layer), Delta: int32(c.Delta),
			// Only entities that were reached send, so nothing that is kept is empty.
			Edges: r.Edges, Kept: r.Kept, PrunedEmpty: r.Empty, PrunedRedundant: r.Edges - r.Kept - r.Empty, AStar: r.AStar,
		}
		layer := &sum.ByLayer[r.Layer-1]
		layer.AStar += r.Queries * r.AStar
		layer.Kept += r.Queries * r.Kept
		sum.AStar += r.Queries * r.AStar
		sum.Kept += r.Queries * r.Kept
		sum.NBFNet += r.Queries * r.Edges
	}
	sum.Decrease = 1 - float64(sum.Kept)/float64(max(1, sum.NBFNet))
	sum.DecreaseOfAStar = 1 - float64(sum.Kept)/float64(max(1, sum.AStar))
	return sum, parquet.Write(ctx, storage.Join(f.Params.Folder, AStarFile), rows)
}

func row(source string, queries int64, layers, layer, delta int, c messages.Counts) parquet.MessageCount {
	return parquet.MessageCount{
		Source: source, Queries: queries, Layers: int32(layers), Layer: int32(layer), Delta: int32(delta),
		Edges: c.Edges, Kept: c.Kept, KeptEmpty: c.KeptEmpty, PrunedEmpty: c.PrunedEmpty, PrunedRedundant: c.PrunedRedundant,
	}
}

// write writes both files and returns the URL of the second.
func write(ctx context.Context, folder string, rows []parquet.MessageCount, summary Summary) (string, error) {
	if err := parquet.Write(ctx, storage.Join(folder, CountsFile), rows); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(summary, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encoding the summary of messages: %w", err)
	}
	url := storage.Join(folder, SummaryFile)
	return url, storage.WriteFile(ctx, url, append(text, '\n'))
}

// ReadSummary reads summary.json of a messages/SPLIT folder.
func ReadSummary(ctx context.Context, folder string) (Summary, error) {
	var s Summary
	url := storage.Join(folder, SummaryFile)
	text, err := storage.ReadFile(ctx, url)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("reading %s: %w", url, err)
	}
	return s, nil
}
