package relations

import (
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Source gives a propagation the embeddings and tables of relations. Load, Prepare and Backward must not run beside
// each other or a propagation; the other methods may be called concurrently.
type Source interface {
	// Load lays out parameters, which the source reads until the next Load.
	Load(k kernel.Kernel, p *parameters.Set[float32])
	// Prepare computes the tables for queries of these relations together, which is faster than one by one. It ignores
	// relations out of range. The next Load or Prepare discards it.
	Prepare(queries []int32)
	// Group returns the same number for relations that share long computations: their queries are
	// faster one after another.
	Group(relation int32) int32
	// Query returns the embedding of a query's relation, [dim], a view.
	Query(relation int32) []float32
	// Tables returns the tables for queries of a relation, by layer: rows that messages are multiplied by, [2R, dim].
	// They are read only, and stay until the next call with the same buffers.
	Tables(relation int32, b *Buffers) [][]float32
	// Backward sets the gradients of the source's parameters in into to the sum over a batch, in the order of its
	// queries: no bit depends on the number of threads.
	Backward(queries []int32, batch []Gradient, into *parameters.Set[float32])
}

// Buffers hold, for one propagator, the tables that a source makes for its queries alone.
type Buffers struct {
	tables   [][]float32 // by layer, views
	computed [][]float32 // by layer
}

// Gradient is the gradient of the embeddings that a source gave to one query.
type Gradient struct {
	// Query is the gradient of the embedding of the query's relation, [dim], except through the tables.
	// A head adds its own.
	Query []float32
	// Tables are the gradients of the tables, by layer, [2R, dim].
	Tables [][]float32
}

// NewGradient returns zeros for a model of configuration c over a number of relations, 2R.
func NewGradient(c configuration.Configuration, relations int) Gradient {
	g := Gradient{Query: make([]float32, c.Dim), Tables: make([][]float32, c.Layers)}
	for t := range g.Tables {
		g.Tables[t] = make([]float32, relations*c.Dim)
	}
	return g
}

// Clear sets the gradient to zeros.
func (g *Gradient) Clear() {
	clear(g.Query)
	for _, table := range g.Tables {
		clear(table)
	}
}

// New returns the source of a model of configuration c over g, to be filled by Load. Only a source made for training
// has a Backward. between is the graph of the relations of g, or nil: the source makes it from g if it needs one.
func New(g *graph.Graph, between *Graph, c configuration.Configuration, training bool) Source {
	return sources[c.Source()](g, between, c, embeddings{relations: g.RelationCount(), dim: c.Dim, training: training})
}

// sources has the constructors of sources by their names in configurations. embeddings are the queries' relations'
// embeddings, which a source may use.
var sources = map[string]func(g *graph.Graph, between *Graph, c configuration.Configuration, e embeddings) Source{
	configuration.RelationsTable: func(_ *graph.Graph, _ *Graph, c configuration.Configuration, e embeddings) Source {
		return &table{embeddings: e, layers: make([][]float32, c.Layers)}
	},
	configuration.RelationsLinear: func(_ *graph.Graph, _ *Graph, c configuration.Configuration, e embeddings) Source {
		return &linear{embeddings: e, layers: make([]relationMap, c.Layers)}
	},
	configuration.RelationsGraph: func(g *graph.Graph, between *Graph, c configuration.Configuration, _ embeddings) Source {
		if between == nil {
			between = GraphOf(g)
		}
		return newPropagated(g, between, c)
	},
}

// Between returns the graph of the relations of g, or nil if the source of a model of configuration c needs none.
func Between(g *graph.Graph, c configuration.Configuration) *Graph {
	if !c.Transfers() {
		return nil
	}
	return GraphOf(g)
}

// embeddings are parameters for the embeddings of queries' relations.
type embeddings struct {
	kernel         kernel.Kernel
	relations, dim int // 2R, d
	training       bool
	query          []float32 // [2R, dim]
}

func (e *embeddings) load(k kernel.Kernel, p *parameters.Set[float32]) {
	e.kernel, e.query = k, p.Data("query.weight")
}

// size returns the number of entries of a table.
func (e *embeddings) size() int { return e.relations * e.dim }

// Group returns 0 for all relations: sources that look tables up answer in any order.
func (e *embeddings) Group(int32) int32 { return 0 }

func (e *embeddings) Query(relation int32) []float32 { return row(e.query, e.dim, relation) }

// sum sets the gradients of the embeddings to their sum over a batch, except through the tables.
func (e *embeddings) sum(queries []int32, batch []Gradient, into *parameters.Set[float32]) {
	sum := into.Data("query.weight")
	clear(sum)
	for i, g := range batch {
		e.kernel.Add(row(sum, e.dim, queries[i]), g.Query)
	}
}
