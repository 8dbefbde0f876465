package analysis

import (
	"fmt"
	"strconv"

	"tagnet/formats/counts"
	"tagnet/formats/parquet"
	"tagnet/formats/reach"
)

// Rows returns the rows of analysis.parquet: those of the graphs, then those of the splits.
func (a Analysis) Rows() []parquet.Share {
	rows := a.Graph.rows(Training)
	if a.InferenceGraph != nil {
		rows = append(rows, a.InferenceGraph.rows(Inference)...)
	}
	for _, name := range []string{"train", "valid", "test"} {
		if split, ok := a.Splits[name]; ok {
			rows = append(rows, split.rows(name)...)
		}
	}
	return rows
}

// rows returns a row for each range of degrees.
func (g Graph) rows(name string) []parquet.Share {
	rows := make([]parquet.Share, len(g.Degrees))
	for i, d := range g.Degrees {
		rows[i] = parquet.Share{Graph: name, What: "degree", Part: d.Name(), Layers: -1, Layer: -1, Delta: -1, Count: d.Entities, Share: d.Share}
	}
	return rows
}

// Name returns the range of degrees as text, such as "0", "1" or "2-3".
func (d Degree) Name() string {
	if d.From == d.To {
		return strconv.FormatInt(d.From, 10)
	}
	return fmt.Sprintf("%d-%d", d.From, d.To)
}

// rows returns a row for each distance, and four for each number of messages: sent, kept though empty,
// pruned as empty, and pruned as redundant.
func (s Split) rows(name string) []parquet.Share {
	var rows []parquet.Share
	for _, at := range reach.Keys(s.ByDistance) {
		d := s.ByDistance[at]
		rows = append(rows, parquet.Share{Graph: s.Graph, Split: name, What: "distance", Part: at, Layers: -1, Layer: -1, Delta: -1, Count: d.Queries, Share: d.Share})
	}
	add := func(m Messages, layer int, t counts.Totals, shares Shares) {
		row := parquet.Share{Graph: s.Graph, Split: name, What: "message", Layers: int32(m.Layers), Layer: int32(layer), Delta: int32(m.Delta)}
		for _, part := range []struct {
			name  string
			count int64
			share float64
		}{
			{"sent", t.Kept - t.KeptEmpty, shares.Sent},
			{"kept_empty", t.KeptEmpty, shares.KeptEmpty},
			{"pruned_empty", t.PrunedEmpty, shares.PrunedEmpty},
			{"pruned_redundant", t.PrunedRedundant, shares.PrunedRedundant},
		} {
			row.Part, row.Count, row.Share = part.name, part.count, part.share
			rows = append(rows, row)
		}
	}
	for _, m := range s.Messages {
		add(m, 0, m.Totals, m.Shares)
		for _, l := range m.ByLayer {
			add(m, l.Layer, l.Totals, l.Shares)
		}
	}
	return rows
}
