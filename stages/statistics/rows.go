package statistics

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"tagnet/formats/parquet"
	"tagnet/model/kg"
)

// rows are the rows of analysis.parquet: graphs first, then the splits in the order of
// training.
func (a Analysis) rows() []parquet.Share {
	rows := a.Graph.rows(Training)
	if a.InferenceGraph != nil {
		rows = append(rows, a.InferenceGraph.rows(Inference)...)
	}
	for _, name := range kg.Splits {
		if split, ok := a.Splits[name]; ok {
			rows = append(rows, split.rows(name)...)
		}
	}
	return rows
}

// rows part a graph's entities by degree.
func (g Graph) rows(name string) []parquet.Share {
	rows := make([]parquet.Share, len(g.Degrees))
	for i, d := range g.Degrees {
		rows[i] = parquet.Share{Graph: name, What: "degree", Part: d.Name(), Layers: -1, Layer: -1, Delta: -1, Count: d.Entities, Share: d.Share}
	}
	return rows
}

// Name writes the numbers of edges: "0", "1", "2-3".
func (d Degree) Name() string {
	if d.From == d.To {
		return strconv.FormatInt(d.From, 10)
	}
	return fmt.Sprintf("%d-%d", d.From, d.To)
}

// rows part a split's queries by distance, and its messages by what becomes of them.
func (s Split) rows(name string) []parquet.Share {
	var rows []parquet.Share
	for _, at := range s.Distances() {
		d := s.ByDistance[at]
		rows = append(rows, parquet.Share{Graph: s.Graph, Split: name, What: "distance", Part: at, Layers: -1, Layer: -1, Delta: -1, Count: d.Queries, Share: d.Share})
	}
	add := func(layers, layer, delta int, part string, count int64, share float64) {
		rows = append(rows, parquet.Share{Graph: s.Graph, Split: name, What: "message", Part: part,
			Layers: int32(layers), Layer: int32(layer), Delta: int32(delta), Count: count, Share: share})
	}
	for _, m := range s.Messages {
		add(m.Layers, 0, m.Delta, "sent", m.Kept-m.KeptEmpty, m.Shares.Sent)
		add(m.Layers, 0, m.Delta, "kept_empty", m.KeptEmpty, m.Shares.KeptEmpty)
		add(m.Layers, 0, m.Delta, "pruned_empty", m.PrunedEmpty, m.Shares.PrunedEmpty)
		add(m.Layers, 0, m.Delta, "pruned_redundant", m.PrunedRedundant, m.Shares.PrunedRedundant)
		for _, l := range m.ByLayer {
			add(m.Layers, l.Layer, m.Delta, "sent", l.Kept-l.KeptEmpty, l.Shares.Sent)
			add(m.Layers, l.Layer, m.Delta, "kept_empty", l.KeptEmpty, l.Shares.KeptEmpty)
			add(m.Layers, l.Layer, m.Delta, "pruned_empty", l.PrunedEmpty, l.Shares.PrunedEmpty)
			add(m.Layers, l.Layer, m.Delta, "pruned_redundant", l.PrunedRedundant, l.Shares.PrunedRedundant)
		}
	}
	return rows
}

// Distances are the keys of ByDistance, the nearest first and what is unreached last.
func (s Split) Distances() []string {
	keys := make([]string, 0, len(s.ByDistance))
	for key := range s.ByDistance {
		keys = append(keys, key)
	}
	place := func(key string) int {
		if n, err := strconv.Atoi(key); err == nil {
			return n
		}
		return math.MaxInt
	}
	slices.SortFunc(keys, func(x, y string) int { return place(x) - place(y) })
	return keys
}
