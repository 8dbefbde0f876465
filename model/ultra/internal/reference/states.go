package reference

import (
	"fmt"

	"tagnet/formats/reach"
	"tagnet/model/graph"
	tagnet "tagnet/model/internal/reference"
	"tagnet/model/parameters"
)

// RelationStates returns the states of all relations after 0 to 6 layers, [2R, 64] each, of the queries of a base relation, of
// both directions: its own state starts with ones, the others' with zeros.
func RelationStates(p *parameters.Set[float64], edges tagnet.Edges, relations int, base int32) [][]float64 {
	start := make([]float64, relations*dim)
	for j := range dim {
		start[int(base)*dim+j] = 1
	}
	states := [][]float64{start}
	for t := range layers {
		name := fmt.Sprintf("relation_model.layers.%d.", t)
		weight, x := p.Data(name+"relation.weight"), states[t]
		total := append([]float64(nil), start...)
		for k, ofType := range edges {
			for _, e := range ofType {
				addMessage(row(total, e[0]), row(x, e[1]), row(weight, int32(k)))
			}
		}
		states = append(states, updateAll(p, name, x, total))
	}
	return states
}

// Tables returns the rows that messages of each of the six layers are multiplied by, [2R, 64] each, given the final states of the
// relations.
func Tables(p *parameters.Set[float64], relations []float64) (tables [][]float64) {
	for t := range layers {
		name := fmt.Sprintf("entity_model.layers.%d.relation_projection.", t)
		var table []float64
		for r := range int32(len(relations) / dim) {
			table = append(table, affine(p, name+"2", relu(affine(p, name+"0", row(relations, r))))...)
		}
		tables = append(tables, table)
	}
	return tables
}

// EntityStates returns the states of all entities after 0 to 6 layers, [V, 64] each, where the source's state starts as given.
// Those of a propagation without a source, whose states all start as zeros, are the ground states.
//
// Along a fact (h, r, t), h sends to t with the row of the inverse of r, and t to h with the row of r.
func EntityStates(p *parameters.Set[float64], g *graph.Graph, tables [][]float64, source int32, query []float64) [][]float64 {
	return propagate(p, g, tables, source, query, func(int, []float64) {})
}

// StatesWithin returns what EntityStates does where entities farther than radius edges from the source keep their ground states.
func StatesWithin(p *parameters.Set[float64], g *graph.Graph, tables [][]float64, source int32, query []float64, radius int) [][]float64 {
	ground := EntityStates(p, g, tables, -1, nil)
	distances := tagnet.Distances(g, source, radius, graph.Removal{})
	return propagate(p, g, tables, source, query, func(t int, states []float64) {
		for o, distance := range distances {
			if distance == reach.Unreached {
				copy(row(states, int32(o)), row(ground[t], int32(o)))
			}
		}
	})
}

// propagate computes the states after each layer, which change may change.
func propagate(p *parameters.Set[float64], g *graph.Graph, tables [][]float64, source int32, query []float64, change func(layer int, states []float64)) [][]float64 {
	start := make([]float64, g.Entities*dim)
	if source >= 0 {
		copy(row(start, source), query)
	}
	states := [][]float64{start}
	for t, table := range tables {
		x := states[t]
		total := append([]float64(nil), start...)
		for o := range int32(g.Entities) {
			senders, relations := g.In(o)
			for i, u := range senders {
				addMessage(row(total, o), row(x, u), row(table, g.Inverse(relations[i])))
			}
		}
		next := updateAll(p, fmt.Sprintf("entity_model.layers.%d.", t), x, total)
		change(t+1, next)
		states = append(states, next)
	}
	return states
}

// updateAll returns the next states of all entities or relations.
func updateAll(p *parameters.Set[float64], name string, x, total []float64) (next []float64) {
	for o := range int32(len(x) / dim) {
		next = append(next, update(p, name, row(x, o), row(total, o))...)
	}
	return next
}

// addMessage adds the product of a sender's state and a row of a table.
func addMessage(total, x, w []float64) {
	for j := range total {
		total[j] += x[j] * w[j]
	}
}

// row returns a view of a row of 64.
func row(table []float64, i int32) []float64 { return table[int(i)*dim : (int(i)+1)*dim] }
