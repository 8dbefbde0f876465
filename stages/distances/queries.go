package distances

import (
	"sort"

	"tagnet/formats/tables"
)

// QueriesOf returns the queries that share a source, a view of queries, which are sorted by source.
func QueriesOf(queries []tables.Query, source int32) []tables.Query {
	from := sort.Search(len(queries), func(i int) bool { return queries[i].Source >= source })
	to := from
	for to < len(queries) && queries[to].Source == source {
		to++
	}
	return queries[from:to]
}

// Sources returns the distinct sources of queries, which are sorted by source, in that order.
func Sources(queries []tables.Query) []int32 {
	var sources []int32
	for i, q := range queries {
		if i == 0 || queries[i-1].Source != q.Source {
			sources = append(sources, q.Source)
		}
	}
	return sources
}
