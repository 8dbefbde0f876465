package messages

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/model/kg"
	"tagnet/model/messages"
	"tagnet/stages/graph"
)

// maxRows is the most rows of messages.parquet, which are held in memory.
const maxRows = 8 << 20

// writeFn writes the rows and sums of all counts.
type writeFn struct {
	Params CountParams

	view *kg.View
}

// Setup loads the graph, once per process, for its names.
func (f *writeFn) Setup(context.Context) error {
	loaded, err := graph.Load(f.Params.Graph)
	if err != nil {
		return err
	}
	f.view = loaded.Of(f.Params.Split)
	return nil
}

// ProcessElement receives the counts of all shards and emits the URL of the summary.
func (f *writeFn) ProcessElement(ctx context.Context, _ int, shards func(*shardCounts) bool, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
	var all, shard shardCounts
	for shards(&shard) {
		all.Sources, all.Choices = append(all.Sources, shard.Sources...), append(all.Choices, shard.Choices...)
	}
	summary := Summary{Split: f.Params.Split, Edges: f.view.Graph.Edges(), Remove: f.Params.Remove}
	rows, err := f.sum(all.Sources, &summary)
	if err != nil {
		return err
	}
	if f.Params.Model != nil {
		choices, sum := f.sumChoices(all.Choices)
		summary.AStar = sum
		if err := parquet.Write(ctx, storage.Join(f.Params.Folder, AStarFile), choices); err != nil {
			return err
		}
	}
	if err := parquet.Write(ctx, storage.Join(f.Params.Folder, CountsFile), rows); err != nil {
		return err
	}
	url := storage.Join(f.Params.Folder, SummaryFile)
	if err := storage.WriteJSON(ctx, url, summary); err != nil {
		return err
	}
	emit(url)
	return nil
}

// sum adds the counts of all sources to the summary and returns their rows.
func (f *writeFn) sum(all []sourceCounts, summary *Summary) ([]parquet.MessageCount, error) {
	slices.SortFunc(all, func(a, b sourceCounts) int { return cmp.Compare(a.Source, b.Source) })
	for _, c := range all {
		summary.Queries += c.Queries
	}
	total := len(all) * f.Params.RowsPerSource()
	if total > maxRows {
		return nil, fmt.Errorf("%s would have %d rows, the limit is %d: give fewer --layers or --deltas", CountsFile, total, maxRows)
	}
	rows := make([]parquet.MessageCount, 0, total)
	for _, layers := range f.Params.Layers {
		for _, delta := range f.Params.Deltas {
			sums := make([]messages.Counts, layers)
			for _, c := range all {
				queries := c.Queries
				if f.Params.removes() {
					queries = 1 // the levels are the sum over the queries
				}
				for layer := 1; layer <= layers; layer++ {
					counts := c.Levels.Layer(layers, layer, delta)
					sums[layer-1] = sums[layer-1].Plus(counts.Times(queries))
					rows = append(rows, parquet.MessageCount{
						Source: f.view.Entities[c.Source], Queries: c.Queries, Layers: int32(layers), Layer: int32(layer), Delta: int32(delta),
						Edges: counts.Edges, Kept: counts.Kept, KeptEmpty: counts.KeptEmpty,
						PrunedEmpty: counts.PrunedEmpty, PrunedRedundant: counts.PrunedRedundant,
					})
				}
			}
			summary.add(layers, delta, sums)
		}
	}
	return rows, nil
}

// sumChoices returns the rows of a model's choices and their sums.
func (f *writeFn) sumChoices(choices []choice) ([]parquet.MessageCount, *AStar) {
	c := f.Params.Model.Configuration
	slices.SortFunc(choices, func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Layer, b.Layer))
	})
	sum := &AStar{Checkpoint: f.Params.Model.Checkpoint, Policy: c.Policy, Layers: c.Layers, Delta: c.Delta}
	for layer := range c.Layers {
		sum.ByLayer = append(sum.ByLayer, AStarLayer{Layer: layer + 1})
	}
	rows := make([]parquet.MessageCount, len(choices))
	for i, r := range choices {
		rows[i] = parquet.MessageCount{
			Source: f.view.Entities[r.Source], Queries: r.Queries, Layers: int32(c.Layers), Layer: r.Layer, Delta: int32(c.Delta),
			// Only reached entities send, so KeptEmpty is 0.
			Edges: r.Edges, Kept: r.Kept, PrunedEmpty: r.Empty, PrunedRedundant: r.Edges - r.Kept - r.Empty, AStar: r.AStar,
		}
		layer := &sum.ByLayer[r.Layer-1]
		layer.AStar += r.Queries * r.AStar
		layer.Kept += r.Queries * r.Kept
		sum.AStar += r.Queries * r.AStar
		sum.Kept += r.Queries * r.Kept
		sum.NBFNet += r.Queries * r.Edges
	}
	sum.Decrease, sum.DecreaseOfAStar = decrease(sum.Kept, sum.NBFNet), decrease(sum.Kept, sum.AStar)
	return rows, sum
}
