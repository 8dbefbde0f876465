package budget

import "tagnet/model/ultra"

// Ultra estimates scoring with ULTRA's weights, as Score does with a model's, with a relation graph of so many edges. The states
// that queries of a base relation share are in memory once, whatever the number of threads.
func Ultra(s Sizes, relationEdges int64, topK, shardRows int) Estimate {
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
			{"parameters", 2*weights + 9*relationEdges + 20*s.Relations + 24*s.Entities + 16*s.Edges}, // with the order of scoring
			{"base relation", s.Entities*(shared*state+8) + s.Relations*state*(ultra.Layers+3)},
			{"rankings", Shards * perRow * min(s.Queries*int64(1+topK), int64(shardRows+topK))},
		},
		// States before and after a layer, the layout of what the source reaches, and scores.
		Thread: 2*state*s.Entities + 68*s.Entities + 12*s.Edges + 512<<10 + 16*int64(topK),
	}
}

// MeetingShards is how many shards of edges a process reads at a time into rows of bits of their own.
const MeetingShards = 4

// Meet estimates making the relation graph of the graph with so many relations in rows of bits.
func Meet(s Sizes) Estimate {
	const (
		bundles = 8 // of Beam's local runner, each with rows of its own; there are no more than files of edges
		merging = 2
	)
	shards := max(1, s.EdgeFiles)
	own := min(bundles, shards)
	return Estimate{
		Task: "making the relation graph",
		Rows: []Row{
			{"graph", s.graph()},
			{"meetings", (min(MeetingShards, shards) + merging + (1+runnerCopies)*own) * s.Relations * s.Relations / 8},
		},
		Thread: 4 * MiB, // a batch of edges
	}
}

// MeetInPairs estimates the same in pairs of relations, without the worker that merges them: it holds 12 bytes a pair, a sixth of
// what scoring with the relation graph takes.
func MeetInPairs(s Sizes) Estimate {
	return Estimate{
		Task:   "making the relation graph",
		Rows:   []Row{{"graph", s.graph()}},
		Thread: 40 * MiB, // a batch of edges, buffers of spill files, a table of recent pairs
	}
}
