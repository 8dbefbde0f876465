package graph

// Memory is the bytes that the graph holds: 8 an entity, and 8 an edge, reciprocals included.
func (g *Graph) Memory() int64 {
	return 8*int64(cap(g.Offsets)) + 4*int64(cap(g.Senders)+cap(g.Relations))
}
