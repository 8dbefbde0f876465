package budget

import "tagnet/model/weights/configuration"

// between bounds the bytes of a source that takes relations from their graph: that graph, and what it keeps of its base relations.
func between(s Sizes, c configuration.Configuration) int64 {
	const kept = 8 // base relations
	state := 4 * int64(c.Dim)
	return 9*s.RelationEdges + 20*s.Relations + s.Relations*state*(kept*int64(c.Layers+1)+5)
}

// ranking bounds the bytes of ranking all entities beside the parameters: those that threads share, and those of a thread.
func ranking(s Sizes, c configuration.Configuration, topK int) (shared, thread int64) {
	thread = 16 * int64(topK)
	if s.OnDevice {
		shared, scores := rankingOnDevice(s, c, topK)
		return shared, thread + scores
	}
	return 0, thread + scorer(s, c)
}

// trainingBetween bounds the bytes of what a source that takes relations from their graph adds to a training: those of a batch, and
// those of a thread.
func trainingBetween(s Sizes, c configuration.Configuration) (shared, thread int64) {
	if c.Source() != configuration.RelationsGraph {
		return 0, 0
	}
	state, layers := 4*int64(c.Dim), int64(c.RelationLayers)
	bases := min(int64(c.BatchSize), max(1, s.Relations/2))
	// A thread has states of relations before the first layer and after each, and gradients.
	return bases * (4*parameterCount(s, c) + s.Relations*int64(c.Layers+1)*state), s.Relations*(layers+9)*state + 1<<20
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
