package main

import (
	"tagnet/model/configuration"
	"tagnet/model/gpu"
	"tagnet/model/graph"
	"tagnet/model/parameters"
)

// cost holds the bytes that a phase must read and write, and its arithmetic operations; a fused multiply-add counts as two.
type cost struct{ bytes, operations float64 }

// costs maps the names of phases to their costs. Reads that caches serve count; reads that turn out useless, such as edges that carry no
// message, do not.
type costs map[string]cost

// counts are the numbers that costs depend on: of one step, or of some queries that are scored together.
type counts struct {
	dim, layers, relations, entities, edges float64 // relations with inverses
	features, scalers                       float64 // vectors of a row's features, and of them those of its messages under each scaler
	extremes                                float64 // 1 if messages get a gradient because they attain an extreme, else 0
	terms                                   float64 // vectors of a row that the gradients of its set are made of, beside those of its features
	queries, rows, messages                 float64
	candidates                              float64 // scores
	mlps                                    float64 // evaluations of an MLP for each of them
	parameters                              float64
	dependent, training                     bool
	between                                 *counts // of the propagation between relations, nil unless they come from their graph
}

// count returns the counts of some work. candidates are scored for each query.
func count(g *graph.Graph, c configuration.Configuration, w gpu.Work, candidates int, training bool) counts {
	n := counts{
		dim: float64(c.Dim), layers: float64(c.Layers), relations: float64(g.RelationCount()), entities: float64(g.Entities), edges: float64(g.Edges()),
		queries: float64(w.Queries), candidates: float64(w.Queries * candidates), mlps: 1, dependent: c.Source() == configuration.RelationsLinear, training: training,
	}
	n.features, n.scalers = 2, 1
	switch c.Aggregate {
	case configuration.AggregatePNA:
		n.features, n.scalers, n.extremes, n.terms = 5, 3, 1, 2
	case configuration.AggregateMax:
		n.extremes = 1
	}
	if c.DegreeMessages && n.extremes > 0 { // the extremes, and which messages attain them
		n.terms += 3
		if c.Aggregate == configuration.AggregatePNA {
			n.terms++
		}
	}
	if c.Specific() {
		n.mlps += float64(c.Ages())
	}
	for t := range w.Rows {
		n.rows += float64(w.Rows[t])
		n.messages += float64(w.Messages[t])
	}
	if b := w.Between; b != nil {
		n.between = &counts{
			dim: n.dim, layers: float64(len(b.Rows)), relations: parameters.RelationTypes, entities: float64(b.Relations), edges: float64(b.Edges),
			features: 2, scalers: 1, queries: float64(b.Queries), training: training,
		}
		for t := range b.Rows {
			n.between.rows, n.between.messages = n.between.rows+float64(b.Rows[t]), n.between.messages+float64(b.Messages[t])
		}
	}
	for _, shape := range parameters.Layout(c, g.RelationCount()) {
		n.parameters += float64(shape.Size())
	}
	return n
}

// Sizes in bytes.
const (
	value    = 4         // a number
	sender   = 9         // of an edge, with its relation and the sender's distance
	receiver = 21        // of an edge in the backward pass: also its inverse, run and row
	attained = 8         // which extremes it attains
	record   = 8 * value // a row
)

// Operations.
const (
	fused     = 2
	reduction = 2 + 2*fused // of a message in each dimension: the product, the sum, the squares, the extremes
	spreading = 2           // of a message in each dimension in the backward pass
	norm      = 20          // of a row in each dimension: scalers, layer norm, ReLU, residual
	terms     = 10          // of a row in each dimension: what its messages' gradients are made of, at most
	adam      = 12          // of a parameter
)

// phases returns the costs; see the README for the formulas.
func (n counts) phases() costs {
	c := n.own()
	if n.between != nil { // the same phases, without a search and scores
		for name, more := range n.between.own() {
			if name != "search" {
				c[name] = cost{c[name].bytes + more.bytes, c[name].operations + more.operations}
			}
		}
		c["relation tables"] = n.tables()
	}
	return c
}

// tables is the cost of the maps from states of relations to tables.
func (n counts) tables() cost {
	rows, state := n.between.queries*n.embedded()/n.dim, value*n.dim
	if !n.training {
		return cost{2 * rows * state, rows * 2 * fused * n.dim * n.dim}
	}
	return cost{11 * rows * state, rows * 6 * fused * n.dim * n.dim}
}

// own returns the costs of a propagation.
func (n counts) own() costs {
	state := value * n.dim
	linear := fused * n.features * n.dim * n.dim
	weights := n.linearMaps()
	row := (n.features + 1) * state // features, and what they become or come from
	c := costs{
		"search":      {(n.layers-1)*n.words()*n.edges*2*value + n.queries*n.entities, 0},
		"rows":        {6*(n.layers+1)*n.queries*n.entities + n.rows*record, 0},
		"embeddings":  n.embeddings(),
		"aggregation": {n.messages*(2*state+sender) + n.rows*(row+record), n.dim * (n.messages*reduction + n.rows*norm)},
		"node update": {n.rows*row + weights, n.rows * (linear + norm*n.dim)},
	}
	mlp := fused * (2*n.dim*n.dim + 2*n.dim)
	if !n.training {
		c["head and loss"] = cost{n.candidates * (n.mlps*state + value), n.candidates * n.mlps * mlp}
		c["ranking"] = cost{2 * n.candidates * value, 0}
		return c
	}
	c["node update"] = cost{n.rows*(row+state) + weights, c["node update"].operations}
	c["head and loss"] = cost{n.candidates * n.mlps * 14 * state, n.candidates * n.mlps * 3 * mlp}
	c["aggregation"] = cost{c["aggregation"].bytes + n.extremes*n.rows*2*state, c["aggregation"].operations}
	c["state gradients"] = cost{n.messages*(n.messageTerms()*state+receiver+n.extremes*attained) + n.rows*(7*state+record), n.dim * (n.messages*spreading + n.rows*norm)}
	c["feature gradients"] = cost{n.rows*(row+n.terms*state+record) + weights, n.rows * (linear + terms*n.dim)}
	c["message gradients"] = cost{n.extremes * n.rows * (2*state + record), 0}
	c["relation gradients"] = n.relationGradients()
	c["weight gradients"] = cost{n.rows*row + weights, n.rows * linear}
	c["optimizer"] = cost{8 * n.parameters * value, adam * n.parameters}
	return c
}

// words is the number of words that hold a bit of each query.
func (n counts) words() float64 { return float64((int(n.queries) + 31) / 32) }

// linearMaps is the size of all linear maps, in bytes.
func (n counts) linearMaps() float64 {
	return n.layers * n.features * n.scalers * n.dim * n.dim * value
}

// messageTerms is the number of vectors that the gradient of every message is made of: base and slope, or one of them.
func (n counts) messageTerms() float64 { return min(2, n.features-1) }

// embedded is the number of dimensions of all relation embeddings of all layers.
func (n counts) embedded() float64 { return n.layers * n.relations * n.dim }

// embeddings is the cost of embeddings that depend on the query, and of the linear maps' layout while training.
func (n counts) embeddings() cost {
	var c cost
	if n.training {
		c.bytes = 3 * n.linearMaps()
	}
	if n.dependent {
		c.bytes += n.embedded() * value * (n.dim + n.queries)
		c.operations = fused * n.queries * n.embedded() * n.dim
	}
	return c
}

// relationGradients is the cost from the sums of each relation to the gradients of parameters.
func (n counts) relationGradients() cost {
	c := cost{2 * n.queries * n.embedded() * value, n.queries * n.embedded()}
	if n.dependent { // of the map and of the query's embedding
		c.bytes += n.embedded() * value * (2*n.dim + n.queries)
		c.operations = 2 * fused * n.queries * n.embedded() * n.dim
	}
	return c
}

// per returns the costs divided by a number, such as that of queries.
func (c costs) per(n float64) costs {
	out := costs{}
	for name, each := range c {
		out[name] = cost{each.bytes / n, each.operations / n}
	}
	return out
}

// add adds other costs.
func (c costs) add(other costs) {
	for name, each := range other {
		c[name] = cost{c[name].bytes + each.bytes, c[name].operations + each.operations}
	}
}
