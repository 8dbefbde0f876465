package study

import (
	"cmp"
	"slices"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/study"
)

// maxRows bounds the rows of a shard's tables, which a worker holds.
const maxRows = 1 << 17

// part returns the URL of a shard's part of a table.
func (p CountParams) part(table string, s Shard) string {
	return parquet.PartFile(storage.Join(p.Folder, table), s.Number, s.Of)
}

// each yields every combination of a number of layers and a delta.
func (p CountParams) each(yield func(layers, delta int) bool) {
	for _, layers := range p.Layers {
		for _, delta := range p.Deltas {
			if !yield(layers, delta) {
				return
			}
		}
	}
}

// sum returns the rows of a shard's sources, by layers, delta, source and layer, and their sums.
func (p CountParams) sum(all []sourceCounts, entities []string) ([]parquet.MessageCount, sums) {
	var total sums
	for _, c := range all {
		total.Queries += c.Queries
	}
	rows := make([]parquet.MessageCount, 0, len(all)*p.RowsPerSource())
	for layers, delta := range p.each {
		byLayer := make([]study.Counts, layers)
		for _, c := range all {
			queries := c.Queries
			if p.removes() {
				queries = 1 // the levels are the sum over the queries
			}
			for layer := 1; layer <= layers; layer++ {
				counts := c.levels(slices.Index(p.Layers, layers)).Layer(layers, layer, delta)
				byLayer[layer-1] = byLayer[layer-1].Plus(counts.Times(queries))
				rows = append(rows, parquet.MessageCount{
					Source: entities[c.Source], Queries: c.Queries, Layers: int32(layers), Layer: int32(layer), Delta: int32(delta),
					Edges: counts.Edges, Kept: counts.Kept, KeptEmpty: counts.KeptEmpty,
					PrunedEmpty: counts.PrunedEmpty, PrunedRedundant: counts.PrunedRedundant,
				})
			}
		}
		total.Counts = append(total.Counts, byLayer...)
	}
	return rows, total
}

// sumChoices returns the rows of a model's choices, by source, relation and layer, and their sums.
func (p CountParams) sumChoices(choices []choice, entities []string) ([]parquet.MessageCount, sums) {
	c := p.Model.Configuration
	slices.SortFunc(choices, func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Layer, b.Layer))
	})
	total := sums{Kept: make([]int64, c.Layers), Chosen: make([]int64, c.Layers)}
	rows := make([]parquet.MessageCount, len(choices))
	for i, r := range choices {
		rows[i] = parquet.MessageCount{
			Source: entities[r.Source], Queries: r.Queries, Layers: int32(c.Layers), Layer: r.Layer, Delta: int32(c.Delta),
			// Only reached entities send, so KeptEmpty is 0.
			Edges: r.Edges, Kept: r.Kept, PrunedEmpty: r.Empty, PrunedRedundant: r.Edges - r.Kept - r.Empty, AStar: r.AStar,
		}
		total.Chosen[r.Layer-1] += r.Queries * r.AStar
		total.Kept[r.Layer-1] += r.Queries * r.Kept
		total.Edges += r.Queries * r.Edges
	}
	return rows, total
}
