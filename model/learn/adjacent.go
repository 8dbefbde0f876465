package learn

import "tagnet/model/graph"

// Adjacent returns the share of queries whose source and answer are the ends of an edge of the graph, 0 without
// queries. A training in which those edges leave the graph (remove one_hop) learns nothing of them.
func Adjacent(g *graph.Graph, queries []graph.Query) float64 {
	adjacent := 0
	for _, q := range queries {
		q.Removal = graph.RemoveOneHop
		if removed, _ := g.Between(q); removed > 0 {
			adjacent++
		}
	}
	return float64(adjacent) / float64(max(1, len(queries)))
}
