package budget

import "tagnet/model/ultra"

// Ultra estimates scoring with ULTRA's weights, as Score does with a model's: meetings is the number of edges of the relation
// graph. The states that queries of a base relation share are in memory once, whatever the number of threads.
func Ultra(s Sizes, meetings int64, topK, shardRows int) Estimate {
	const (
		perRow = 280 // as for Score
		state  = 4 * ultra.Dim
		// tables of entity states of a base relation: those of the layers' linear maps, the ground states after the last and
		// a middle layer, and one more while they are computed
		shared = ultra.Layers + 3
	)
	weights := int64(0)
	for _, tensor := range ultra.Layout() {
		weights += 4 * int64(tensor.Size())
	}
	topK = int(min(int64(topK), s.Entities))
	return Estimate{
		Task: "scoring this graph",
		Rows: []Row{
			{"graph", s.graph()},
			{"queries", s.queries() + s.answers()},
			{"parameters", 2*weights + 16*meetings + s.Relations*s.Relations/8 + 24*s.Entities + 16*s.Edges}, // with the order of scoring
			{"base relation", s.Entities*(shared*state+8) + s.Relations*state*(ultra.Layers+3)},
			{"rankings", Shards * perRow * min(s.Queries*int64(1+topK), int64(shardRows+topK))},
		},
		// States before and after a layer, the layout of what the source reaches, and scores.
		Thread: 2*state*s.Entities + 68*s.Entities + 12*s.Edges + 512<<10 + 16*int64(topK),
	}
}
