package window

import (
	"tagnet/model/graph"
	"tagnet/model/kernel"
)

// Memory bounds the bytes of a layout for sources of a graph with V entities and E edges:
//
//	33 V + 30 E
//
// an entity's place, degree, position and rank by degree and its bounds in three kinds of
// senders, and 8 bytes an edge in each kind, which has room for all; arrays grow by a quarter.
// It is reached where a source reaches everything and all edges are between neighbouring levels.
func Memory(g *graph.Graph) int64 {
	entities, edges := int64(g.Entities), g.Edges()+16*kernel.PartitionSlack
	places := 2 * grown(4*entities) // Entities and Degrees
	ranks := 2 * 4 * entities       // positions and byDegree
	kinds := 3 * (grown(4*(entities+1)) + 2*grown(4*edges))
	return places + ranks + kinds
}

// grown is what an array may take that was grown to some bytes by and by: a quarter more, and
// what the allocator rounds up.
func grown(bytes int64) int64 { return bytes + bytes/4 + 2048 }
