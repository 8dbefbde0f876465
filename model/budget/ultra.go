package budget

import (
	"tagnet/model/configuration"
	"tagnet/model/ultra"
)

// Ultra estimates scoring with ULTRA's weights, as Score does with a model's, with a relation graph of so many edges. The states
// that queries of a base relation share are in memory once, whatever the number of threads.
func Ultra(s Sizes, relationEdges int64, topK, shardRows int) Estimate {
	const perRow = 280 // as for Score
	topK = int(min(int64(topK), s.Entities))
	return Estimate{
		Task: "scoring this graph",
		Rows: []Row{
			{"graph", s.graph()},
			{"queries", s.queries() + s.answers()},
			{"parameters", 8*ultraParameters() + s.ordered(relationEdges)},
			s.baseRelation(),
			{"rankings", Shards * perRow * min(s.Queries*int64(1+topK), int64(shardRows+topK))},
		},
		Thread: s.ultraScorer(topK),
	}
}

// ultraState is the bytes of a state.
const ultraState = 4 * ultra.Dim

func ultraParameters() (count int64) {
	for _, tensor := range ultra.Layout() {
		count += int64(tensor.Size())
	}
	return count
}

// ordered bounds the bytes of a relation graph of so many edges, and of the graph in the order of scoring.
func (s Sizes) ordered(relationEdges int64) int64 {
	return 9*relationEdges + 20*s.Relations + 24*s.Entities + 16*s.Edges
}

// baseRelation bounds the bytes of what queries of a base relation share.
func (s Sizes) baseRelation() Row {
	// tables of entity states: those of the layers' linear maps, the ground states after the last and a middle layer, and one
	// more while they are computed
	const shared = ultra.Layers + 3
	return Row{"base relation", s.Entities*(shared*ultraState+8) + s.Relations*ultraState*(2*ultra.Layers+6)}
}

// ultraScorer bounds the bytes of a thread that scores: states before and after a layer, the layout of what the source reaches,
// and scores.
func (s Sizes) ultraScorer(topK int) int64 {
	return 2*ultraState*s.Entities + 68*s.Entities + 12*s.Edges + 512<<10 + 16*int64(topK)
}

// CalibrateUltra is Calibrate for ULTRA's weights.
func CalibrateUltra(s Sizes, relationEdges int64, topK, shardRows int) Estimate {
	return calibrating(Ultra(s, relationEdges, topK, shardRows), s, topK, shardRows)
}

// TrainUltra is Train for ULTRA's weights.
func TrainUltra(s Sizes, c configuration.Configuration, relationEdges int64) Estimate {
	const (
		shared = ultra.Layers + 1 // tables of what queries of a base relation share: states and the layers' messages
		// tables of a thread that computes them: states before the first layer and after each, and gradients
		between = ultra.Layers + 9
	)
	parameters, bases := ultraParameters(), min(int64(c.BatchSize), max(1, s.Relations/2))
	thread := trainer(s, c) + s.Relations*between*ultraState + 1<<20
	return Estimate{
		Task: "training on this graph",
		Rows: []Row{
			{"graph", s.graph()},
			{"queries", 48*s.Edges + s.queries() + 2*s.answers()}, // as for Train
			{"parameters", 24*parameters + s.ordered(relationEdges)},
			{"batch", batch(s, c) + bases*(4*parameters+s.Relations*shared*ultraState)},
			s.baseRelation(), // of validation
		},
		Thread: max(thread, s.ultraScorer(0)), // validation releases the trainer
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
