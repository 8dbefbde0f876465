package spec

import (
	"cmp"
	"math"
	"slices"

	"tagnet/model/weights/parameters"
)

// Edge is an edge whose message a layer admits and whose sender it has reached, with the message's
// contribution to an answer's score.
type Edge struct {
	Sender, Relation, Receiver int32
	// Value is the derivative of the score by a factor of the message, which is 1. For A*Net it is the
	// sigmoid of the sender's priority, divided by the largest among the senders of the layer.
	Value float64
}

// Edges returns the edges of layer t at t-1, with what each carries of an answer's score. Where several
// messages attain a maximum or minimum, its gradient is shared evenly among them.
func (p *Pass) Edges(answer int32) [][]Edge {
	m, c := p.model, p.model.configuration
	if c.Prioritized() {
		return p.senderPriorities()
	}
	p.explained = make([][]Edge, c.Layers)
	defer func() { p.explained = nil }()
	scores := make([]float64, m.graph.Entities)
	scores[answer] = 1
	p.Backward(scores, parameters.NewSet[float64](parameters.Layout(c, m.graph.RelationCount())))
	return p.explained
}

// recordEdges records the messages of o in layer t that are not empty. set is the set that o aggregates,
// gradients has the gradients by its members; the messages are the last of them.
func (p *Pass) recordEdges(t int, l *layer, o int32, set []member, gradients [][]float64) {
	first := len(set) - len(l.edges[o])
	for i, e := range l.edges[o] {
		if p.distance(e.sender) > t-1 {
			continue
		}
		value := 0.0
		for j, gradient := range gradients[first+i] {
			value += gradient * set[first+i].vector[j]
		}
		p.explained[t-1] = append(p.explained[t-1], Edge{e.sender, e.relation, o, value})
	}
}

// senderPriorities returns the edges of A*Net's layers with the priorities of their senders, which weigh
// paths as A*Net's authors (arXiv 2206.04798, section 4.4).
func (p *Pass) senderPriorities() [][]Edge {
	layers := make([][]Edge, len(p.layers))
	for i, l := range p.layers {
		largest := 0.0
		for o, edges := range l.edges {
			for _, e := range edges {
				share := sigmoid(p.Priorities[i][e.sender])
				largest = math.Max(largest, share)
				layers[i] = append(layers[i], Edge{e.sender, e.relation, int32(o), share})
			}
		}
		for j := range layers[i] {
			layers[i][j].Value /= largest
		}
	}
	return layers
}

// Path is a way from the source of a query to an answer that takes one edge in each of the layers 1 to its length.
type Path struct {
	// Weight is the mean of the values of the path's edges.
	Weight float64
	Edges  []Edge
}

// BestPaths returns the k paths of highest weight from source to answer, best first, over the edges of layer t at t-1.
// Ties are ordered by length, then by the edges, compared as numbers (sender, relation, receiver).
func BestPaths(layers [][]Edge, source, answer int32, k int) []Path {
	if answer == source {
		return nil
	}
	// Weight is the sum of a path's values until the end.
	reached := map[int32][]Path{source: {{}}} // by entity, the k best to it
	var found []Path
	for _, edges := range layers {
		next := make(map[int32][]Path)
		for _, e := range edges {
			if e.Sender == answer {
				continue
			}
			for _, path := range reached[e.Sender] {
				longer := Path{path.Weight + e.Value, append(slices.Clone(path.Edges), e)}
				next[e.Receiver] = append(next[e.Receiver], longer)
			}
		}
		for o := range next {
			next[o] = best(next[o], k)
		}
		for _, path := range next[answer] {
			found = append(found, Path{path.Weight / float64(len(path.Edges)), path.Edges})
		}
		reached = next
	}
	return best(found, k)
}

// best returns the k best of paths.
func best(paths []Path, k int) []Path {
	slices.SortFunc(paths, func(a, b Path) int {
		return cmp.Or(
			cmp.Compare(b.Weight, a.Weight),
			cmp.Compare(len(a.Edges), len(b.Edges)),
			slices.CompareFunc(a.Edges, b.Edges, func(x, y Edge) int {
				return cmp.Or(cmp.Compare(x.Sender, y.Sender), cmp.Compare(x.Relation, y.Relation), cmp.Compare(x.Receiver, y.Receiver))
			}),
		)
	})
	return paths[:min(k, len(paths))]
}
