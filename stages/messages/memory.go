package messages

import (
	"tagnet/model/budget"
	"tagnet/model/configuration"
	modelgraph "tagnet/model/graph"
	"tagnet/model/multisource"
	"tagnet/model/optimizer"
	"tagnet/model/propagation"
	"tagnet/stages/distances"
)

// Size is what the memory of counting depends on, beside the graph: how many sources are counted,
// and how many distinct questions, which matter with a model alone.
type Size struct{ Sources, Questions int64 }

// What is held at the end, in the process that writes.
const (
	bytesPerCounted = 8 * (3 + 2*levels) // of a source
	bytesPerChosen  = 8 * 8              // of a question and layer
	// copies of each: as it is encoded, in the memory of Beam's local runner, and decoded into a
	// list that grows.
	copies      = 10
	bytesPerRow = 150 // of messages.parquet and astar.parquet
	// bytesOfGroup are those of a group of rows as it is written.
	bytesOfGroup = 32 * budget.MiB
)

// Gather is what is gathered of each search.
func (p CountParams) Gather() multisource.Gather {
	return multisource.Gather{Levels: true, Distances: p.Remove != configuration.RemoveNone}
}

// rowsPerSource is how many rows of messages.parquet a source has.
func (p CountParams) rowsPerSource() int {
	rows := 0
	for _, layers := range p.Layers {
		rows += layers * len(p.Deltas)
	}
	return rows
}

// Need states what a worker takes that holds g, of loaded bytes with all that was loaded with it,
// and whose threads search so many words of 64 sources at once.
func (p CountParams) Need(g *modelgraph.Graph, loaded int64, s Size, words int) budget.Need {
	entities := int64(g.Entities)
	need := budget.Need{
		Fixed: []budget.Part{
			{Name: "graph", Bytes: loaded},
			{Name: "counts", Bytes: copies * bytesPerCounted * s.Sources},
			{Name: "rows", Bytes: bytesOfGroup + bytesPerRow*int64(p.rowsPerSource())*s.Sources},
		},
		Thread: distances.SweepMemory(entities, words, p.Gather()),
	}
	if p.Remove != configuration.RemoveNone {
		need.Thread += 24 * entities // a corrector and its lists
	}
	if p.AStar == nil {
		return need
	}
	c := p.AStar.Configuration
	need.Fixed = append(need.Fixed,
		budget.Part{Name: "weights", Bytes: 8*optimizer.Parameters(g, c) + propagation.WeightsMemory(g, c, 0, 0)},
		budget.Part{Name: "choices", Bytes: (copies*bytesPerChosen + bytesPerRow) * int64(c.Layers) * s.Questions})
	// A search of its own and its distances.
	need.Thread += propagation.Memory(g, c, false) + 9*entities
	return need
}
