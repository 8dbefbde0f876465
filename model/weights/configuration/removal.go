package configuration

import "tagnet/model/graph"

// Removal returns the edges that a value of Remove takes out of the graph of a training query.
func Removal(remove string) graph.Removals {
	switch remove {
	case RemoveTriple:
		return graph.RemoveFact
	case RemoveOneHop:
		return graph.RemoveOneHop
	}
	return graph.RemoveNothing
}
