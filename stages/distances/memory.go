package distances

import (
	"fmt"

	"tagnet/model/budget"
	"tagnet/model/multisource"
	"tagnet/stages/graph"
)

// Size is what the memory of a search depends on.
type Size struct {
	// Entities and Edges are those of the graph that is searched, Sources and Queries those of
	// the split.
	Entities, Edges, Sources, Queries int64
	// EdgeShards is how many files take the edges.
	EdgeShards int
}

// What writing a table takes: a batch of rows of about 1 MiB, and the same compressed.
const leastOfWriter = 4 * budget.MiB

func writerMemory(entities int64) int64 { return max(leastOfWriter, 2*entities) }

// queriesMemory is that of the queries, as the pipeline reads them and as a worker does, which
// is the same process with Beam's local runner, and of the sources as they are cut into
// elements: 16 a query and 4 a source, three times.
func (s Size) queriesMemory() budget.Part {
	return budget.Part{Name: "queries", Bytes: 32*s.Queries + 12*s.Sources}
}

// maxNeighbourEdges is how many edges a graph may have for a copy of it without those that stand
// beside another: 256 MiB of them. Beyond, memory has more use elsewhere.
const maxNeighbourEdges = 64 << 20

func neighboursMemory(s Size) int64 {
	if s.Edges > maxNeighbourEdges {
		return 0
	}
	return multisource.NeighboursMemory(s.Entities, s.Edges)
}

// WorkerNeed states what a worker of Search takes whose threads search so many words of 64
// sources at once, with as many cores. The graph is all of graph.Load: 8 an entity
// and 8 an edge, and names; loading it takes a shard of edges as they are read (12 an edge)
// beside it.
func WorkerNeed(s Size, loaded int64, cores, words int) budget.Need {
	shards, gather := int64(max(1, s.EdgeShards)), multisource.Gather{Distances: true}
	waiting := 64 * int64(words) * ((s.Entities + 1) / 2)
	return budget.Need{
		Fixed: []budget.Part{
			{Name: "graph", Bytes: loaded},
			{Name: "loading", Bytes: 12 * (s.Edges + shards - 1) / shards},
			{Name: "neighbours", Bytes: neighboursMemory(s)},
			s.queriesMemory(),
			// The table that is written waits for rows in their order.
			{Name: "rows", Bytes: int64(cores)*waiting + writerMemory(s.Entities)},
		},
		Thread: SweepMemory(s.Entities, words, gather),
	}
}

// LoadedMemory bounds the bytes that graph.Load will hold, before anything is loaded: what
// Loaded.Memory says of it, with names as long as compressed texts of that size may be. Known
// answers are not among it: a search asks for none.
func LoadedMemory(s graph.Summary, bytesOfNames int64) int64 {
	const compressed = 4 // times smaller than the letters, at most
	edges, entities := s.Edges, s.Entities
	if s.InferenceGraph != nil {
		edges, entities = edges+s.InferenceGraph.Edges, entities+s.InferenceGraph.Entities
	}
	return budget.MiB + 8*(entities+2) + 8*edges + 16*(entities+s.Relations) + compressed*bytesOfNames
}

// copiesOfBarrier is how often Beam's local runner has an element in the memory of the process, as
// it is sent, joined, kept and handed on.
const copiesOfBarrier = 6

// maxBarrierBytes is how much of a barrier the local runner can be given.
const maxBarrierBytes = 500 << 20

// chunkEdges returns the most edges of a chunk.
func (p JoinParams) chunkEdges() int64 {
	return max(1, (p.ChunkBytes-chunkBytes(0, int64(p.maxRange())))/4)
}

// Barrier bounds the bytes that cross a barrier for so many words of sources: 13 for each entity
// and word that a run of edges leads to, 37 for each that is reached. There are as many runs as
// ranges, or more where a range's edges exceed ChunkBytes.
func (p JoinParams) Barrier(words int, edges int64) int64 {
	const element = 1 << 10 // beside its rows
	v, ranges := int64(p.Entities), int64(p.Ranges)
	runs := ranges + edges/p.chunkEdges()
	elements := int64((words+p.Words-1)/p.Words) * runs * (ranges + 1)
	return int64(words)*(frontierRow*min(edges, runs*v)+stateRow*v) + elements*element
}

// threadMemory is the bytes of a thread that searches. In a round: two frontiers, 8 bytes an
// entity of a range and word each; a run of edges, 4 an edge, twice while it grows; 32 for each
// entity that is gone on from; and elements and a batch of edges at hand. In the last round: a
// frontier, and rows of half a byte an entity and source twice. Then a part of the rows, a byte
// an entity and source.
func (p JoinParams) threadMemory(edges int64) int64 {
	const elements = 16 * budget.MiB
	v, n := int64(p.Entities), int64(p.maxRange())
	frontier := 8 * n * int64(p.Words)
	round := 2*frontier + frontier/64 + 2*min(p.ChunkBytes, chunkBytes(edges, n)) + 32*n
	last := frontier + 2*32*n*int64(p.Words)
	part := max(maxSpanBytes, v) + writerMemory(v)
	return max(round, last, part) + elements
}

// Need states what a worker of Join and Tables takes; where it is the process of Beam's local
// runner, too, with what crosses a barrier for so many words of sources.
func (p JoinParams) Need(s Size, words int, local bool) budget.Need {
	need := budget.Need{Fixed: []budget.Part{s.queriesMemory(), {Name: "edges", Bytes: p.CacheBytes}}, Thread: p.threadMemory(s.Edges)}
	if local {
		need.Fixed = append(need.Fixed, budget.Part{Name: fmt.Sprintf("rounds of %d sources", min(words*SourcesPerWord, int(s.Sources))), Bytes: copiesOfBarrier * p.Barrier(words, s.Edges)})
	}
	return need
}
