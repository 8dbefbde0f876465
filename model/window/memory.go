package window

import (
	"tagnet/model/graph"
	"tagnet/model/kernel"
)

// Memory bounds the bytes of a layout for sources of a graph with V entities and E edges, of
// states of so many ages:
//
//	37 V + 10 E + 16 times the highest degree, 21 V ages, and 37 V of the entities that are compared
//
// an entity's row, rank, degree and number and its bounds in the list of senders, 8 bytes an
// edge there, those of one entity once more while they are parted, and who is alike; arrays grow
// by a quarter. It is reached where a source reaches everything.
// The graph in the order of rows, 20 V + 8 E, is shared by the layouts of a graph; it is counted
// in each.
func Memory(g *graph.Graph, ages int) int64 {
	entities, edges := int64(g.Entities), g.Edges()+16*kernel.PartitionSlack
	rows := 12*entities + grown(4*entities) + 5*entities // ranks, Entities, Degrees; numbers; rows and who is reached
	senders := grown(12*entities) + 2*grown(4*edges) + 16*int64(g.HighestDegree()+kernel.PartitionSlack)
	alike := int64(ages)*(grown(5*entities)+grown(12*entities)) + 32*entities + grown(4*entities)
	ranked := 20*entities + 8*g.Edges()
	return rows + senders + alike + ranked
}

// grown is what an array may take that was grown to some bytes by and by: a quarter more, and
// what the allocator rounds up.
func grown(bytes int64) int64 { return bytes + bytes/4 + 2048 }
